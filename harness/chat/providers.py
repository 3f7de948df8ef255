"""The table of providers: which model names are whose, where their keys and addresses are found, and how one is opened.

    builtin/…                                     built in, needs nothing
    any name with --conv-template                 /v1/completions at --base-url or OPENAI_BASE_URL
    any name with --base-url                      OpenAI-compatible; its key only from the variable --api-key-env
    a known beginning (gpt-…, o3, claude-…)       its provider
    any other name, OPENAI_BASE_URL set           OpenAI-compatible
    else                                          UsageError with near names

Keys are read from the environment only, when a model is opened, and are held by nothing but its client.
"""

import difflib
import importlib.metadata
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from harness.chat.endpoint import Endpoint, Provider
from harness.chat.model import ChatModel
from harness.errors import MissingError, UsageError
from harness.names import check_model_name

BUILTIN = "builtin/"
FSCHAT = (0, 2, 36)
"""The least version of fschat whose templates are known to us."""


@dataclass(frozen=True, slots=True)
class Service:
    """One provider of chat models, as the table knows it."""

    provider: Provider
    title: str
    prefixes: tuple[str, ...]
    """How its models' names begin; one without a final `-` or `:` is a whole name or goes on with `-`."""
    examples: tuple[str, ...]
    """Names shown to a user who mistyped one."""
    key_variable: str
    url_variable: str
    address: str
    package: str
    minimum: tuple[int, ...]

    def knows(self, name: str) -> bool:
        """Return whether this name is one of the provider's."""
        return any(
            name.startswith(p) if p[-1] in "-:" else name == p or name.startswith(f"{p}-") for p in self.prefixes
        )


OPENAI = Service(
    provider="openai",
    title="OpenAI",
    prefixes=("gpt-", "chatgpt-", "o1", "o3", "o4", "ft:gpt-"),
    examples=("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o3", "o4-mini", "chatgpt-4o-latest"),
    key_variable="OPENAI_API_KEY",
    url_variable="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    package="openai",
    minimum=(3, 0),
)
ANTHROPIC = Service(
    provider="anthropic",
    title="Anthropic",
    prefixes=("claude-",),
    examples=("claude-sonnet-4", "claude-opus-4", "claude-haiku-4"),
    key_variable="ANTHROPIC_API_KEY",
    url_variable="ANTHROPIC_BASE_URL",
    address="https://api.anthropic.com",
    package="anthropic",
    minimum=(2, 0),
)
SERVICES: dict[Provider, Service] = {
    "openai": OPENAI,
    "anthropic": ANTHROPIC,
    "completions": replace(OPENAI, provider="completions", prefixes=(), examples=()),
}


def resolve(
    name: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    conv_template: str | None = None,
    timeout: float | None = None,
    environ: Mapping[str, str] | None = None,
) -> Endpoint:
    """Return where the chat model of this name is and how to speak to it; no connection is made.

    Raises:
        UsageError: the name, the address, the template or the time limit cannot work.
        MissingError: the key that a call would need is not in the environment.
    """
    check_model_name(name)
    endpoint = _endpoint(name, base_url, api_key_env, conv_template, os.environ if environ is None else environ)
    if timeout is None:
        return endpoint
    if not (math.isfinite(timeout) and timeout > 0):
        raise UsageError(f"the time limit of a call must be a number of seconds above 0, not {timeout}")
    return replace(endpoint, timeout=timeout)


def open_chat_model(endpoint: Endpoint, *, environ: Mapping[str, str] | None = None) -> ChatModel:
    """Return the chat model at an endpoint; connections are made by its first call and released by `close()`.

    Raises:
        MissingError: the key or the provider's package is not there.
    """
    if endpoint.provider == "builtin":
        from harness.chat.builtin import open_builtin

        return open_builtin(endpoint.name)
    service = SERVICES[endpoint.provider]
    _require(service.package, service.minimum)
    environment = os.environ if environ is None else environ
    key = _key(endpoint.name, endpoint.api_key_env, environment) if endpoint.api_key_env else None
    address = endpoint.base_url or service.address
    if endpoint.provider == "anthropic":
        from harness.chat import anthropic_messages

        return anthropic_messages.open_model(endpoint, key, address)
    if endpoint.provider == "completions":
        from harness.chat import openai_completions

        _require("fschat", FSCHAT)
        return openai_completions.open_model(endpoint, key, address)
    from harness.chat import openai_chat

    return openai_chat.open_model(endpoint, key, address)


def open_pool(endpoint: Endpoint, *, environ: Mapping[str, str] | None = None) -> tuple[ChatModel, ...]:
    """Return the chat models that may answer for an endpoint: its own, and one for each further member of its pool.

    Raises:
        MissingError: a key or the provider's package is not there.
    """
    return tuple(open_chat_model(member, environ=environ) for member in (endpoint, *endpoint.pool))


def _endpoint(
    name: str,
    base_url: str | None,
    api_key_env: str | None,
    conv_template: str | None,
    environment: Mapping[str, str],
) -> Endpoint:
    """Return the endpoint with the usual time limit."""
    if name.startswith(BUILTIN):
        from harness.chat.builtin import open_builtin

        return Endpoint(name, "builtin", open_builtin(name).name)
    if conv_template is not None:
        from harness.chat.openai_completions import check_template

        _require("fschat", FSCHAT)
        check_template(conv_template)
    service = _service(name, base_url, conv_template, environment)
    address = _address(base_url, "--base-url") or _address(environment.get(service.url_variable), service.url_variable)
    if conv_template is not None and address is None:
        raise UsageError(
            f"{name}: --conv-template needs a server; give its address with --base-url or in {service.url_variable}"
        )
    return Endpoint(
        name=name,
        provider=service.provider,
        model=name,
        base_url=address,
        api_key_env=_key_variable(name, service, environment, api_key_env, given=base_url, address=address),
        conv_template=conv_template,
    )


def _service(name: str, base_url: str | None, conv_template: str | None, environment: Mapping[str, str]) -> Service:
    """Return the provider that a name belongs to, given what else was said."""
    if conv_template is not None:
        return SERVICES["completions"]
    if base_url is not None:
        return OPENAI
    for service in SERVICES.values():
        if service.knows(name):
            return service
    if environment.get(OPENAI.url_variable, "").strip():
        return OPENAI
    near = _near(name)
    raise UsageError(
        f"unknown model {name!r}"
        + (f"; did you mean {' or '.join(near)}?" if near else "")
        + f"; for a server of your own give its address with --base-url or in {OPENAI.url_variable}"
        + f"; known names begin with {', '.join((BUILTIN, *OPENAI.prefixes, *ANTHROPIC.prefixes))}"
    )


def _near(name: str) -> list[str]:
    """Return names that the user may have meant, nearest first."""
    from harness.chat.builtin import builtin_names

    services = (OPENAI, ANTHROPIC)
    near: list[str] = []
    last = name.rpartition("/")[2].lower()
    if any(service.knows(last) for service in services):
        near.append(last)
    known = [example for service in services for example in service.examples]
    known += builtin_names()
    short = {known_name.rpartition("/")[2]: known_name for known_name in known}
    near += [short[found] for found in difflib.get_close_matches(last, short, n=3, cutoff=0.6)]
    return list(dict.fromkeys(near))[:3]


def _address(url: str | None, source: str) -> str | None:
    """Return a server's address, None if none is given, or raise `UsageError` if it cannot be one."""
    if url is None or (not url.strip() and source != "--base-url"):
        return None
    url = url.strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable, parts = False, urlsplit("")
    if parts.username or parts.password:
        raise UsageError(
            f"{source} holds a user name or password; put a key into a variable and name it with --api-key-env"
        )
    if not usable or any(character.isspace() or not character.isprintable() for character in url):
        raise UsageError(f"{source} {url!r} is not an address: it must look like http://localhost:8000/v1")
    return url.rstrip("/")


def _key_variable(
    name: str,
    service: Service,
    environment: Mapping[str, str],
    api_key_env: str | None,
    *,
    given: str | None,
    address: str | None,
) -> str | None:
    """Return the variable whose key is to be sent, checked to hold one; None if no key is sent."""
    if api_key_env is not None:
        _key(name, api_key_env, environment)
        return api_key_env
    if given is not None:
        return None
    if address is not None and not environment.get(service.key_variable, "").strip():
        return None
    _key(name, service.key_variable, environment)
    return service.key_variable


def _key(name: str, variable: str, environment: Mapping[str, str]) -> str:
    """Return the key in a variable, or raise `MissingError` that says which variable was looked at."""
    key = environment.get(variable, "").strip()
    if not key:
        raise MissingError(f"{name}: no key in the environment variable {variable}; set it: export {variable}=…")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise MissingError(f"{name}: what {variable} holds cannot be a key: it has spaces or characters outside ASCII")
    return key


def _require(package: str, minimum: tuple[int, ...]) -> None:
    """Raise `MissingError` that says what to install unless a package is there in a version that is new enough."""
    needed = ".".join(map(str, minimum))
    install = f"install it: pip install '{package}>={needed}'"
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise MissingError(f"the package {package} is not installed; {install}") from None
    numbers = tuple(int(part) for part in version.split(".")[: len(minimum)] if part.isdigit())
    if numbers < minimum:
        raise MissingError(f"the package {package} is version {version}, too old; {install}")
