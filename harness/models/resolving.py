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

import functools
import logging
import os
import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from harness import registry
from harness.bench import check_model_name
from harness.errors import TurnbenchError, UsageError, near
from harness.models.endpoint import (
    TIMEOUT,
    Endpoint,
    ModelConfig,
    PoolMember,
    RateLimits,
    Weights,
)
from harness.models.prices import FREE, list_price
from harness.models.providers import BUILTIN, PROVIDERS, Provider, provider_of
from harness.options import Address
from harness.types import Sampling

log = logging.getLogger("turnbench")

COMPATIBLE = "openai"
"""The provider whose protocol is assumed for a server with a stated address."""


def resolve(
    name: str,
    flags: ModelConfig | None = None,
    models: Mapping[str, ModelConfig] | None = None,
    *,
    typed: frozenset[str] = frozenset(),
    key_needed: bool = True,
) -> Endpoint:
    """Return the endpoint of the chat model of this name; no connection is made.

    `flags` are what the user says of its endpoint, which precedes `models`, the tables
    `[models.NAME]` of turnbench.toml; `typed` are the sampling parameters given as flags. Where no
    call will be made, as for an estimate, no key is needed.

    Raises:
        UsageError: the name, the address or the template cannot work.
        MissingError: the key that a call would need is not in the environment.
    """
    check_model_name(name)
    if name.startswith("builtin/"):
        if name not in BUILTIN:
            raise UsageError(f"no built-in model {name!r}{near(name, BUILTIN)}")
        return Endpoint(name=name, provider=BUILTIN[name], model=name, price=FREE, typed=typed)
    models = models or {}
    config = _with_flags(models.get(name, ModelConfig()), flags or ModelConfig())
    endpoints: list[Endpoint] = []
    for member in config.endpoints or [PoolMember()]:
        merged = replace(config, **_stated(member))
        endpoints.append(_endpoint(name, merged, models, typed))
        if key_needed:
            endpoints[-1].key()
    return replace(endpoints[0], pool=tuple(endpoints[1:]))


def address_of(name: str, configs: Mapping[str, ModelConfig] | None = None) -> Address:
    """Return what a printed command says of where a model is: nothing, or `--base-url URL`.

    Rows hold no addresses: what neither the name nor turnbench.toml tells, the user has to put in.
    """
    try:
        resolve(name, models=configs, key_needed=False)
    except TurnbenchError:
        return Address(base_url="URL")
    return Address()


def _with_flags(config: ModelConfig, flags: ModelConfig) -> ModelConfig:
    """Return a model's table with what flags say; to another address goes no other's key."""
    if flags.api_key_env and not re.fullmatch("[A-Z_][A-Z0-9_]*", flags.api_key_env):
        raise UsageError(
            "--api-key-env takes the name of an environment variable, such as MY_KEY, never a key"
        )
    if flags.base_url is not None:
        config = replace(config, api_key_env=None, endpoints=[])
    return replace(config, **_stated(flags))


def _stated(record: PoolMember) -> dict[str, Any]:
    values = {field: getattr(record, field) for field in record.__struct_fields__}
    return {field: value for field, value in values.items() if value not in (None, [], Sampling())}


def _endpoint(
    name: str, config: ModelConfig, models: Mapping[str, ModelConfig], typed: frozenset[str]
) -> Endpoint:
    """Return the endpoint that a table and the environment describe."""
    provider = _provider(name, config, models)
    about = PROVIDERS.get(provider, Provider())
    is_local = provider == "local"
    if is_local and config.base_url:
        raise UsageError(f"{name}: local weights have no address; leave out --base-url or the path")
    variable_url = os.environ.get(about.url_variable, "").strip()
    key_variable = config.api_key_env
    if key_variable is None and config.base_url is None and about.key_variables:
        usable = [name for name in about.key_variables if os.environ.get(name, "").strip()]
        # A server of the user's own in OPENAI_BASE_URL may need no key.
        usual = None if variable_url else about.key_variables[0]
        key_variable = usable[0] if usable else usual
    endpoint = Endpoint(
        name=name,
        provider=provider,
        model=(config.path or "") if is_local else config.model or name,
        base_url=_address(name, config.base_url or variable_url or about.address),
        stated=config.base_url is not None,
        api_key_env=key_variable,
        conv_template=config.conv_template,
        api_version=config.api_version,
        timeout=config.timeout or TIMEOUT,
        limits=config.limits or RateLimits(),
        weights=Weights(config.dtype or "auto", config.device, config.batch_size or 16)
        if is_local
        else None,
        sampling=config.sampling,
        typed=typed,
    )
    for field, words in about.needs.items():
        if not getattr(endpoint, field):
            raise UsageError(f"{name}: provider {provider} needs {words}")
    if provider == "completions":
        from harness.models.completions import check_template

        check_template(endpoint.conv_template or "")
    free = FREE if endpoint.is_loopback else None
    if free and config.price is None and endpoint.base_url and list_price(endpoint.model):
        _say_free(name, endpoint.base_url)
    return replace(endpoint, price=config.price or free or list_price(endpoint.model))


@functools.cache
def _say_free(name: str, address: str) -> None:
    """Say, once, that a model with a list price is counted as free at an address."""
    log.warning(
        "%s at %s is counted as free, although its name has a list price; if that is a proxy to a "
        "provider, state its price in turnbench.toml (a cost that the proxy reports is counted)",
        name,
        address,
    )


def _provider(name: str, config: ModelConfig, models: Mapping[str, ModelConfig]) -> str:
    if config.provider is not None:
        registry.find("provider", config.provider)  # raises for an unknown one
        return config.provider
    if config.path is not None:
        return "local"
    if config.conv_template is not None:
        return "completions"
    if config.base_url is not None:
        return COMPATIBLE
    if provider := provider_of(config.model or name):
        return provider
    if os.environ.get("OPENAI_BASE_URL", "").strip():
        return COMPATIBLE
    if name in models:
        raise UsageError(f'[models."{name}"] of turnbench.toml needs a provider or a base_url')
    examples = [example for about in PROVIDERS.values() for example in about.examples]
    known = [about.examples[0] for about in PROVIDERS.values() if about.examples]
    raise UsageError(
        f"unknown model {name!r}"
        + near(name.rpartition("/")[2], [*models, *examples], every=False)
        + "; for your own server give its address with --base-url or in OPENAI_BASE_URL"
        + f"; names like {', '.join(known)} need none"
        + "; others stand in [models] of turnbench.toml"
    )


_ADDRESS = re.compile(r"https?://(?:\[[\da-f:]+\]|[^\s/:]+)(?::([1-9]\d*))?(?:/\S*)?")
_LAST_PORT = 65535


def _address(name: str, url: str) -> str:
    """Return a server's address without a final slash, or raise `UsageError` if it is none."""
    url = url.strip()
    if re.search(r"[?#]|//[^/]*@", url):
        raise UsageError(
            f"{name}: its address has a user, a password or something after ? or #; put a key into"
            " a variable and name that with --api-key-env"
        )
    match = _ADDRESS.fullmatch(url)
    if url and not (match and url.isprintable() and int(match[1] or 80) <= _LAST_PORT):
        raise UsageError(f"{name}: {url!r} is no address; one is http://localhost:8000/v1")
    return url.rstrip("/")
