"""A model's name, the flags, models.toml and the environment → where it is; and from there to a chat model.

    builtin/…                                     built in, needs nothing
    a name in models.toml                         as it says there; a flag counts before it
    any name with --conv-template                 /v1/completions at --base-url or OPENAI_BASE_URL
    any name with --base-url                      OpenAI-compatible; its key only from the variable --api-key-env
    a known beginning (gpt-…, o3, claude-…)       its provider
    any other name, OPENAI_BASE_URL set           OpenAI-compatible
    else                                          UsageError with near names

The providers themselves are in the table of `services`; each is opened by one file here.
"""

import difflib
import importlib.metadata
import math
import os
import pathlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.chat.catalog import Catalog, Entry, load_catalog
from harness.chat.endpoint import Endpoint, Limits
from harness.chat.keys import address, key, key_variable
from harness.chat.model import ChatModel
from harness.chat.prices import FREE, list_price
from harness.chat.services import (
    ANTHROPIC,
    AZURE,
    AZURE_VERSION_VARIABLE,
    BUILTIN,
    OPENAI,
    SERVICES,
    Service,
    own_address,
    service_of,
)
from harness.errors import MissingError, UsageError
from harness.names import check_model_name

FSCHAT = (0, 2, 36)
"""The least version of fschat whose templates are known to us."""


def resolve(
    name: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    conv_template: str | None = None,
    timeout: float | None = None,
    models: pathlib.Path | str | None = None,
    environ: Mapping[str, str] | None = None,
    key_needed: bool = True,
) -> Endpoint:
    """Return where the chat model of this name is and how to speak to it; no connection is made.

    `models` is the file that names endpoints (default: ./models.toml, if it is there). A pool's first member is the
    endpoint itself, the others are its `pool`. Where no call will be made, as for an estimate, no key is needed.

    Raises:
        UsageError: the name, the address, the template or the time limit cannot work.
        DataError: models.toml is not what it must be.
        MissingError: the key that a call would need is not in the environment.
    """
    check_model_name(name)
    if timeout is not None and not (math.isfinite(timeout) and timeout > 0):
        raise UsageError(f"the time limit of a call must be a number of seconds above 0, not {timeout}")
    if name.startswith(BUILTIN):
        from harness.chat.builtin import open_builtin

        endpoint = Endpoint(name, "builtin", open_builtin(name).name, price=FREE)
        return endpoint if timeout is None else replace(endpoint, timeout=timeout)
    environment = os.environ if environ is None else environ
    catalog = load_catalog(models)
    entry = catalog.entries.get(name, Entry())
    flags = {"api_key_env": api_key_env, "conv_template": conv_template, "timeout": timeout}
    stated: dict[str, Any] = {flag: value for flag, value in flags.items() if value is not None}
    if base_url is not None:
        at = address(base_url, "--base-url")
        stated = {"base_url": at, "api_key_env": None, "endpoints": (), **stated}
        members: tuple[Entry, ...] = (replace(entry, **stated),)
    else:
        members = tuple(replace(member, **stated) for member in entry.members())
    first, *others = [_endpoint(name, member, catalog, environment, key_needed) for member in members]
    return replace(first, pool=tuple(others))


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
    value = key(endpoint.name, endpoint.api_key_env, environment) if endpoint.api_key_env else None
    at = endpoint.base_url or service.address
    if endpoint.provider == "anthropic":
        from harness.chat import anthropic_messages

        return anthropic_messages.open_model(endpoint, value, at)
    if endpoint.provider == "completions":
        from harness.chat import openai_completions

        _require("fschat", FSCHAT)
        return openai_completions.open_model(endpoint, value, at)
    if endpoint.provider == "azure":
        from harness.chat import openai_azure

        return openai_azure.open_model(endpoint, value, at)
    from harness.chat import openai_chat

    return openai_chat.open_model(endpoint, value, at)


def open_pool(endpoint: Endpoint, *, environ: Mapping[str, str] | None = None) -> tuple[ChatModel, ...]:
    """Return the chat models that may answer for an endpoint: its own, and one for each further member of its pool.

    Raises:
        MissingError: a key or the provider's package is not there.
    """
    return tuple(open_chat_model(member, environ=environ) for member in (endpoint, *endpoint.pool))


def _endpoint(name: str, entry: Entry, catalog: Catalog, environment: Mapping[str, str], key_needed: bool) -> Endpoint:
    """Return one endpoint of the model with this name; `entry` holds what flags and models.toml say of it."""
    if entry.conv_template is not None:
        from harness.chat.openai_completions import check_template

        _require("fschat", FSCHAT)
        check_template(entry.conv_template)
    service = _service(name, entry, catalog, environment)
    at = entry.base_url or address(own_address(service, environment), service.url_variable)
    if service.provider == "completions" and (at is None or entry.conv_template is None):
        lacking = "a server; give its address with --base-url or in" if at is None else "--conv-template beside"
        raise UsageError(f"{name}: --conv-template needs {lacking} {service.url_variable}")
    variable = key_variable(
        name, service, environment, entry.api_key_env, given=entry.base_url, address=at, needed=key_needed
    )
    endpoint = Endpoint(
        name=name,
        provider=service.provider,
        model=entry.model or name,
        base_url=at,
        api_key_env=variable,
        conv_template=entry.conv_template,
        limits=entry.limits or Limits(),
        price=entry.price or list_price(entry.model or name),
        sampling=entry.sampling,
    )
    if entry.timeout is not None:
        endpoint = replace(endpoint, timeout=entry.timeout)
    return _azure(endpoint, entry, environment) if service is AZURE else endpoint


def _azure(endpoint: Endpoint, entry: Entry, environment: Mapping[str, str]) -> Endpoint:
    """Return an endpoint at Azure with all that one needs."""
    version = entry.api_version or environment.get(AZURE_VERSION_VARIABLE, "").strip()
    lacking = {
        f"base_url (or {AZURE.url_variable}), the address of your resource": endpoint.base_url,
        "api_key_env, the variable that holds the key": endpoint.api_key_env,
        f"api_version (or {AZURE_VERSION_VARIABLE})": version,
    }
    for what, value in lacking.items():
        if not value:
            raise UsageError(f"{endpoint.name}: provider azure needs {what}; say it in models.toml")
    return replace(endpoint, api_version=version)


def _service(name: str, entry: Entry, catalog: Catalog, environment: Mapping[str, str]) -> Service:
    """Return the provider that a name belongs to, given what else was said."""
    if entry.provider is not None:
        return next(service for service in SERVICES.values() if service.provider == entry.provider)
    if entry.conv_template is not None:
        return SERVICES["completions"]
    if entry.base_url is not None:
        return OPENAI
    service = service_of(entry.model or name)
    if service is not None:
        return service
    if own_address(OPENAI, environment):
        return OPENAI
    if name in catalog.entries:
        raise UsageError(f'{catalog.path}: [models."{name}"]: say its provider, or the base_url of its server')
    near = _near(name, catalog)
    raise UsageError(
        f"unknown model {name!r}"
        + (f"; did you mean {' or '.join(near)}?" if near else "")
        + f"; for a server of your own give its address with --base-url or in {OPENAI.url_variable}"
        + f"; known names begin with {', '.join((BUILTIN, *OPENAI.prefixes, *ANTHROPIC.prefixes))}"
        + (f", or stand in {catalog.path}" if catalog.entries else "")
    )


def _near(name: str, catalog: Catalog) -> list[str]:
    """Return names that the user may have meant, nearest first."""
    from harness.chat.builtin import builtin_names

    last = name.rpartition("/")[2].lower()
    near = difflib.get_close_matches(name, catalog.entries, n=3, cutoff=0.6)
    if service_of(last) is not None:
        near.append(last)
    known = [example for service in (OPENAI, ANTHROPIC) for example in service.examples]
    known += builtin_names()
    short = {known_name.rpartition("/")[2]: known_name for known_name in known}
    near += [short[found] for found in difflib.get_close_matches(last, short, n=3, cutoff=0.6)]
    return list(dict.fromkeys(near))[:3]


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
