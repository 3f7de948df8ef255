"""A model's name, the flags, turnbench.toml and the environment → its endpoint.

builtin/…                                 built in, needs nothing
any name with --model-path                local weights, in this process
a name in [models] of turnbench.toml      as stated there; flags take precedence
any name with --conv-template             /v1/completions at --base-url or OPENAI_BASE_URL
any name with --base-url                  OpenAI-compatible
a known beginning (gpt-…, o3, claude-…)   its provider
any other name, OPENAI_BASE_URL set       OpenAI-compatible
else                                      UsageError with near names
"""

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

import msgspec

from harness import registry
from harness.errors import UsageError
from harness.models.endpoint import (
    TIMEOUT,
    Endpoint,
    EndpointOptions,
    Limits,
    ModelConfig,
    PoolMember,
    Weights,
)
from harness.models.prices import FREE, list_price
from harness.models.providers import PROVIDERS, provider_of

BUILTIN_MODELS = ("builtin/reference", "builtin/outline", "builtin/eliza", "builtin/user")
BUILTIN_JUDGES = ("builtin/overlap", "builtin/longest", "builtin/first", "builtin/random")
COMPATIBLE = "openai"
"""The provider whose protocol is assumed for a server with a stated address."""
AZURE_VERSION_VARIABLE = "OPENAI_API_VERSION"


def resolve(
    name: str,
    options: EndpointOptions | None = None,
    models: Mapping[str, ModelConfig] | None = None,
    *,
    typed: frozenset[str] = frozenset(),
    key_needed: bool = True,
) -> Endpoint:
    """Return the endpoint of the chat model of this name; no connection is made.

    `models` are the tables `[models.NAME]` of turnbench.toml, `typed` the sampling parameters that
    the user gave as flags. Where no call will be made, as for an estimate, no key is needed.

    Raises:
        UsageError: the name, the address or the template cannot work.
        MissingError: the key that a call would need is not in the environment.
    """
    check_model_name(name)
    options = options or EndpointOptions()
    if name.startswith("builtin/"):
        return Endpoint(name=name, provider=_builtin(name), model=name, price=FREE, typed=typed)
    models = models or {}
    config = models.get(name, ModelConfig())
    if options.model_path or config.path or config.provider == "local":
        return _local(name, options, config, typed)
    if options.base_url is not None:
        config = _merged(config, base_url=options.base_url, api_key_env=None, endpoints=[])
    if options.api_key_env is not None:
        config = _merged(config, api_key_env=_variable(options.api_key_env))
    if options.conv_template is not None:
        config = _merged(config, conv_template=options.conv_template)
    if options.timeout is not None:
        config = _merged(config, timeout=options.timeout)
    members = [
        _merged(config, endpoints=[], **_stated(member))
        for member in config.endpoints or [PoolMember()]
    ]
    where = "--base-url" if options.base_url else f'base_url of [models."{name}"]'
    first, *others = [_remote(name, member, models, typed, where) for member in members]
    if key_needed:
        for endpoint in (first, *others):
            endpoint.key()
    return msgspec.structs.replace(first, pool=tuple(others))


def check_model_name(name: str) -> None:
    """Raise `UsageError` for a name that no file could be named after."""
    if not name.strip() or "\0" in name or len(name.encode()) > 200:
        raise UsageError(f"{name[:40]!r} cannot be a model's name: it has 1 to 200 bytes of text")


def near_names(name: str, models: Mapping[str, ModelConfig]) -> list[str]:
    """Return names that the user may have meant, the nearest first."""
    last = name.rpartition("/")[2].lower()
    near = get_close_matches(name, list(models), 3, 0.6)
    if provider_of(last) is not None:
        near.append(last)
    known = {example: example for each in PROVIDERS.values() for example in each.examples}
    known |= {each.rpartition("/")[2]: each for each in BUILTIN_MODELS}
    near += [known[match] for match in get_close_matches(last, known, 3, 0.6)]
    return list(dict.fromkeys(near))[:3]


def _builtin(name: str) -> str:
    if name in BUILTIN_JUDGES:
        return "builtin_judge"
    if name in BUILTIN_MODELS:
        return "builtin"
    everything = (*BUILTIN_MODELS, *BUILTIN_JUDGES)
    near = get_close_matches(name, everything, 3, 0.8) or everything
    raise UsageError(f"there is no built-in model {name!r}; near names: {', '.join(near)}")


def _local(
    name: str, options: EndpointOptions, config: ModelConfig, typed: frozenset[str]
) -> Endpoint:
    path = options.model_path or config.path
    if options.base_url or config.base_url:
        raise UsageError(f"{name}: local weights have no address; leave out --base-url or the path")
    if path is None:
        raise UsageError(f"{name}: provider local needs path, a folder or a repository")
    weights = Weights(
        dtype=options.dtype or config.dtype or "auto",
        device=options.device or config.device,
        batch_size=options.batch_size or config.batch_size or 16,
    )
    return Endpoint(
        name=name,
        provider="local",
        model=path,
        conv_template=options.conv_template or config.conv_template,
        weights=weights,
        price=config.price or FREE,
        sampling=config.sampling,
        typed=typed,
    )


def _remote(
    name: str,
    config: ModelConfig,
    models: Mapping[str, ModelConfig],
    typed: frozenset[str],
    where: str,
) -> Endpoint:
    """Return one endpoint over the network."""
    provider = _provider(name, config, models)
    about = PROVIDERS.get(provider, PROVIDERS[COMPATIBLE]._replace(key_variables=(), address=""))
    from_environment = os.environ.get(about.url_variable, "").strip()
    base_url = config.base_url or from_environment or about.address
    if base_url:
        base_url = checked_address(base_url, where if config.base_url else about.url_variable)
    key_variable = config.api_key_env
    if key_variable is None and config.base_url is None and about.key_variables:
        set_ones = [each for each in about.key_variables if os.environ.get(each, "").strip()]
        # A server of the user's own in OPENAI_BASE_URL may need no key.
        usual = None if from_environment else about.key_variables[0]
        key_variable = set_ones[0] if set_ones else usual
    model = config.model or name
    endpoint = Endpoint(
        name=name,
        provider=provider,
        model=model,
        base_url=base_url,
        stated=config.base_url is not None,
        api_key_env=key_variable,
        conv_template=config.conv_template,
        api_version=config.api_version,
        timeout=config.timeout or TIMEOUT,
        limits=config.limits or Limits(),
        sampling=config.sampling,
        typed=typed,
    )
    price = config.price or (FREE if endpoint.is_loopback else list_price(model))
    return _with_needs(msgspec.structs.replace(endpoint, price=price))


def _provider(name: str, config: ModelConfig, models: Mapping[str, ModelConfig]) -> str:
    if config.provider is not None:
        registry.find("provider", config.provider)  # raises for an unknown one
        return config.provider
    if config.conv_template is not None:
        return "completions"
    if config.base_url is not None:
        return COMPATIBLE
    if known := provider_of(config.model or name):
        return known
    if os.environ.get("OPENAI_BASE_URL", "").strip():
        return COMPATIBLE
    if name in models:
        raise UsageError(f'[models."{name}"] of turnbench.toml needs a provider or a base_url')
    near = near_names(name, models)
    beginnings = [prefix for each in PROVIDERS.values() for prefix in each.prefixes]
    raise UsageError(
        f"unknown model {name!r}"
        + (f"; did you mean {' or '.join(near)}?" if near else "")
        + "; for your own server give its address with --base-url or in OPENAI_BASE_URL"
        + f"; known names begin with builtin/, {', '.join(beginnings)}"
        + (", or are in [models] of turnbench.toml" if models else "")
    )


def _with_needs(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with what its provider needs besides, or raise `UsageError`."""
    if endpoint.provider == "completions":
        if not endpoint.conv_template or not endpoint.base_url:
            what = "a server: --base-url" if endpoint.conv_template else "--conv-template"
            raise UsageError(f"{endpoint.name}: completions by an fschat template need {what}")
        endpoint.about.require_packages()
        from harness.models.completions import check_template

        check_template(endpoint.conv_template)
    if endpoint.provider == "azure":
        version = endpoint.api_version or os.environ.get(AZURE_VERSION_VARIABLE, "").strip()
        needed = {
            "base_url, the address of your resource": endpoint.base_url,
            "api_key_env, the variable that holds the key": endpoint.api_key_env,
            f"api_version (or {AZURE_VERSION_VARIABLE})": version,
        }
        for what, value in needed.items():
            if not value:
                raise UsageError(f"{endpoint.name}: azure needs {what}; state it in turnbench.toml")
        return msgspec.structs.replace(endpoint, api_version=version)
    return endpoint


def checked_address(url: str, where: str) -> str:
    """Return a server's address without a final slash, or raise `UsageError` if it can be none."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise UsageError(
            f"{where} has a user, a password or something after ? or #; put a key into a variable"
            " and name that with --api-key-env"
        )
    if not usable or not url.isprintable() or " " in url:
        raise UsageError(f"{where} {url!r} is no address; one looks like http://localhost:8000/v1")
    return url.rstrip("/")


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or (
        name not in os.environ and name != name.upper()
    ):
        raise UsageError(
            "--api-key-env takes the name of an environment variable, such as MY_KEY, never a key"
        )
    return name


def _stated(member: PoolMember) -> dict[str, object]:
    values = {field: getattr(member, field) for field in PoolMember.__struct_fields__}
    return {field: value for field, value in values.items() if value is not None}


def _merged(config: ModelConfig, **changes: object) -> ModelConfig:
    return msgspec.structs.replace(config, **changes)
