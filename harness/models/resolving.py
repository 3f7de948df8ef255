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
from typing import Any

import msgspec
from msgspec.structs import replace

from harness import registry
from harness.bench import check_model_name
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
from harness.models.providers import PROVIDERS, Provider, provider_of

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
    if name.startswith("builtin/"):
        return Endpoint(name=name, provider=_builtin(name), model=name, price=FREE, typed=typed)
    models = models or {}
    options = options or EndpointOptions()
    config = _with_flags(models.get(name, ModelConfig()), options)
    if config.path or config.provider == "local":
        return _local(name, config, typed)
    where = "--base-url" if options.base_url else f'base_url of [models."{name}"]'
    endpoints: list[Endpoint] = []
    for member in config.endpoints or [PoolMember()]:
        merged = replace(config, **_stated(member), endpoints=[])
        endpoints.append(_remote(name, merged, models, typed, where))
    if key_needed:
        for endpoint in endpoints:
            endpoint.key()
    return replace(endpoints[0], pool=tuple(endpoints[1:]))


def _with_flags(config: ModelConfig, options: EndpointOptions) -> ModelConfig:
    """Return a model's table with what flags say; to another address goes no other's key."""
    flags = _stated(options)
    if "model_path" in flags:
        flags["path"] = flags.pop("model_path")
    if "base_url" in flags:
        flags = {"api_key_env": None, "endpoints": [], **flags}
    variable = options.api_key_env
    if variable and variable not in os.environ and not re.fullmatch("[A-Z_][A-Z0-9_]*", variable):
        raise UsageError(
            "--api-key-env takes the name of an environment variable, such as MY_KEY, never a key"
        )
    return replace(config, **flags)


def _stated(record: msgspec.Struct) -> dict[str, Any]:
    values = {field: getattr(record, field) for field in record.__struct_fields__}
    return {field: value for field, value in values.items() if value is not None}


def _builtin(name: str) -> str:
    if name in BUILTIN_JUDGES:
        return "builtin_judge"
    if name in BUILTIN_MODELS:
        return "builtin"
    everything = (*BUILTIN_MODELS, *BUILTIN_JUDGES)
    near = get_close_matches(name, everything, 3, 0.8) or everything
    raise UsageError(f"there is no built-in model {name!r}; near names: {', '.join(near)}")


def _local(name: str, config: ModelConfig, typed: frozenset[str]) -> Endpoint:
    if config.base_url:
        raise UsageError(f"{name}: local weights have no address; leave out --base-url or the path")
    if config.path is None:
        raise UsageError(f"{name}: provider local needs path, a folder or a repository")
    return Endpoint(
        name=name,
        provider="local",
        model=config.path,
        conv_template=config.conv_template,
        weights=Weights(
            dtype=config.dtype or "auto", device=config.device, batch_size=config.batch_size or 16
        ),
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
    about = PROVIDERS.get(provider, Provider())
    from_environment = os.environ.get(about.url_variable, "").strip()
    base_url = config.base_url or from_environment or about.address
    if base_url:
        base_url = _checked_address(base_url, where if config.base_url else about.url_variable)
    key_variable = config.api_key_env
    if key_variable is None and config.base_url is None and about.key_variables:
        set_ones = [each for each in about.key_variables if os.environ.get(each, "").strip()]
        # A server of the user's own in OPENAI_BASE_URL may need no key.
        usual = None if from_environment else about.key_variables[0]
        key_variable = set_ones[0] if set_ones else usual
    endpoint = Endpoint(
        name=name,
        provider=provider,
        model=config.model or name,
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
    if provider == "azure":
        endpoint = _azure(endpoint)
    if provider == "completions":
        _check_completions(endpoint)
    free = FREE if endpoint.is_loopback else None
    return replace(endpoint, price=config.price or free or list_price(endpoint.model))


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
    examples = [example for each in PROVIDERS.values() for example in each.examples]
    near = get_close_matches(name.rpartition("/")[2], [*models, *examples], 3)
    beginnings = [prefix for each in PROVIDERS.values() for prefix in each.prefixes]
    raise UsageError(
        f"unknown model {name!r}"
        + (f"; did you mean {' or '.join(near)}?" if near else "")
        + "; for your own server give its address with --base-url or in OPENAI_BASE_URL"
        + f"; known names begin with builtin/, {', '.join(beginnings)}"
        + (", or are in [models] of turnbench.toml" if models else "")
    )


def _check_completions(endpoint: Endpoint) -> None:
    if not endpoint.conv_template or not endpoint.base_url:
        what = "a server: --base-url" if endpoint.conv_template else "--conv-template"
        raise UsageError(f"{endpoint.name}: completions by an fschat template need {what}")
    from harness.models.completions import check_template

    check_template(endpoint.conv_template)


def _azure(endpoint: Endpoint) -> Endpoint:
    version = endpoint.api_version or os.environ.get(AZURE_VERSION_VARIABLE, "").strip()
    needed = {
        "base_url, the address of your resource": endpoint.base_url,
        "api_key_env, the variable that holds the key": endpoint.api_key_env,
        f"api_version (or {AZURE_VERSION_VARIABLE})": version,
    }
    for what, value in needed.items():
        if not value:
            raise UsageError(f"{endpoint.name}: azure needs {what}; state it in turnbench.toml")
    return replace(endpoint, api_version=version)


_ADDRESS = re.compile(r"https?://(?:\[[\da-f:]+\]|[^\s/:]+)(?::[1-9]\d*)?(?:/\S*)?")


def _checked_address(url: str, where: str) -> str:
    """Return a server's address without a final slash, or raise `UsageError` if it can be none."""
    url = url.strip()
    if re.search(r"[?#]|//[^/]*@", url):
        raise UsageError(
            f"{where} has a user, a password or something after ? or #; put a key into a variable"
            " and name that with --api-key-env"
        )
    if not _ADDRESS.fullmatch(url):
        raise UsageError(f"{where} {url!r} is no address; one looks like http://localhost:8000/v1")
    return url.rstrip("/")
