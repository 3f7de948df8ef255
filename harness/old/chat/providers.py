"""A model's name, the flags, models.toml and the environment → its endpoint; and from there to a chat model.

    builtin/…                                     built in, needs nothing
    any name with --model-path                    local weights, in this process
    a name in models.toml                         as stated there; flags take precedence
    any name with --conv-template                 /v1/completions at --base-url or OPENAI_BASE_URL
    any name with --base-url                      OpenAI-compatible; its key only from the variable --api-key-env
    a known beginning (gpt-…, o3, claude-…)       its provider
    any other name, OPENAI_BASE_URL set           OpenAI-compatible
    else                                          UsageError with near names

The providers themselves are in the table of `services`; each is one file here.
"""

import difflib
import os
import pathlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.old.chat.catalog import Catalog, Entry, load_catalog
from harness.old.chat.endpoint import Endpoint, Limits, Weights
from harness.old.chat.keys import address, key, key_variable
from harness.old.chat.model import ChatModel
from harness.old.chat.parameters import check_sampling
from harness.old.chat.prices import FREE, list_price
from harness.old.chat.services import (
    BUILTIN,
    COMPATIBLE,
    LOCAL,
    TEMPLATED,
    Caching,
    own_address,
    provider_of,
    require,
    service,
    services,
)
from harness.old.errors import UsageError
from harness.old.names import check_model_name
from harness.old.records import Sampling


def resolve(
    name: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    conv_template: str | None = None,
    timeout: float | None = None,
    weights: tuple[str, Weights] | None = None,
    models: pathlib.Path | str | None = None,
    environ: Mapping[str, str] | None = None,
    key_needed: bool = True,
) -> Endpoint:
    """Return the endpoint of the chat model of this name; no connection is made.

    `models` is the file that names endpoints (default: ./models.toml, if it exists). A pool's first member is the
    endpoint itself, the others are its `pool`. `weights` are a folder or repository, and how to load it. Where no call
    will be made, as for an estimate, no key is needed.

    Raises:
        UsageError: the name, the address or the template cannot work.
        DataError: models.toml is invalid.
        MissingError: the key that a call would need is not in the environment.
    """
    check_model_name(name)
    if name.startswith(BUILTIN):
        from harness.old.chat.builtin import open_builtin

        endpoint = Endpoint(name, "builtin", open_builtin(name).name, price=FREE)
        return endpoint if timeout is None else replace(endpoint, timeout=timeout)
    environment = os.environ if environ is None else environ
    catalog = load_catalog(models)
    entry = catalog.entries.get(name, Entry())
    if weights is not None or entry.path is not None or entry.provider == LOCAL:
        return _local(name, entry, weights, base_url or entry.base_url, conv_template)
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


def _local(
    name: str, entry: Entry, weights: tuple[str, Weights] | None, base_url: str | None, conv_template: str | None
) -> Endpoint:
    """Return where local weights are; nothing is loaded."""
    if base_url is not None:
        raise UsageError(f"{name}: local weights have no address; leave out one of --base-url and the path")
    path, how = weights or (entry.path, Weights(entry.dtype or "auto", entry.device, entry.batch_size or 16))
    if path is None:
        raise UsageError(f"{name}: provider local needs path, a folder or a repository of the Hugging Face hub")
    template = conv_template or entry.conv_template
    return Endpoint(name, LOCAL, path, conv_template=template, price=FREE, weights=how, sampling=entry.sampling)


def open_chat_model(endpoint: Endpoint, *, environ: Mapping[str, str] | None = None) -> ChatModel:
    """Return the chat model at an endpoint; connections are made by its first call and released by `close()`.

    Raises:
        MissingError: the key or the provider's package is not there.
    """
    if endpoint.provider == "builtin":
        from harness.old.chat.builtin import open_builtin

        return open_builtin(endpoint.model)
    spoken = service(endpoint.provider)
    for package, minimum in spoken.packages:
        require(package, minimum)
    environment = os.environ if environ is None else environ
    value = key(endpoint.name, endpoint.api_key_env, environment) if endpoint.api_key_env else None
    return spoken.open(endpoint, value, endpoint.base_url or spoken.address)


def caching(endpoint: Endpoint) -> Caching | None:
    """Return the published rules of the provider's cache for the prompts of a model; None: unknown."""
    return None if endpoint.provider == "builtin" else service(endpoint.provider).caching(endpoint)


def open_pool(endpoint: Endpoint, *, environ: Mapping[str, str] | None = None) -> tuple[ChatModel, ...]:
    """Return the chat models that may answer for an endpoint: its own, and one for each further member of its pool.

    Raises:
        MissingError: a key or the provider's package is not there.
    """
    return tuple(open_chat_model(member, environ=environ) for member in (endpoint, *endpoint.pool))


def check_parameters(endpoint: Endpoint, sampling: Sampling) -> None:
    """Raise `UsageError` if an endpoint, or a member of its pool, cannot be asked with these parameters."""
    for member in (endpoint, *endpoint.pool):
        if member.provider != "builtin":
            check_sampling(sampling, service(member.provider).sampling, endpoint.name)


def _endpoint(name: str, entry: Entry, catalog: Catalog, environment: Mapping[str, str], key_needed: bool) -> Endpoint:
    """Return one endpoint of the model with this name; `entry` has its settings from flags and models.toml."""
    provider = _provider(name, entry, catalog, environment)
    spoken = service(provider)
    at = entry.base_url or address(own_address(spoken, environment), spoken.url_variable)
    endpoint = Endpoint(
        name=name,
        provider=provider,
        model=entry.model or name,
        base_url=at,
        stated=entry.base_url is not None,
        api_key_env=key_variable(spoken, environment, entry.api_key_env, given=entry.base_url, address=at),
        conv_template=entry.conv_template,
        api_version=entry.api_version,
        limits=entry.limits or Limits(),
        price=entry.price or list_price(entry.model or name),
        sampling=entry.sampling,
    )
    if entry.timeout is not None:
        endpoint = replace(endpoint, timeout=entry.timeout, silence=entry.timeout)
    endpoint = spoken.settled(endpoint, environment)
    if key_needed and endpoint.api_key_env is not None:
        key(name, endpoint.api_key_env, environment)
    return endpoint


def _provider(name: str, entry: Entry, catalog: Catalog, environment: Mapping[str, str]) -> str:
    """Return the provider that a name belongs to, given the other settings."""
    if entry.provider is not None:
        return entry.provider
    if entry.conv_template is not None:
        return TEMPLATED
    if entry.base_url is not None:
        return COMPATIBLE
    known = provider_of(entry.model or name)
    if known is not None:
        return known
    compatible = service(COMPATIBLE)
    if own_address(compatible, environment):
        return COMPATIBLE
    if name in catalog.entries:
        raise UsageError(f'{catalog.path}: [models."{name}"]: state its provider, or the base_url of its server')
    beginnings = (BUILTIN, *(prefix for each in services().values() for prefix in each.prefixes))
    near = _near(name, catalog)
    raise UsageError(
        f"unknown model {name!r}"
        + (f"; did you mean {' or '.join(near)}?" if near else "")
        + "; for your own server give its address with --base-url (in run_bench a judge's with --judge-base-url) "
        + f"or in {compatible.url_variable}"
        + f"; known names begin with {', '.join(beginnings)}"
        + (f", or are in {catalog.path}" if catalog.entries else "")
    )


def _near(name: str, catalog: Catalog) -> list[str]:
    """Return names that the user may have meant, nearest first."""
    from harness.old.chat.builtin import builtin_names

    last = name.rpartition("/")[2].lower()
    near = difflib.get_close_matches(name, catalog.entries, n=3, cutoff=0.6)
    if provider_of(last) is not None:
        near.append(last)
    known = [example for each in services().values() for example in each.examples]
    known += builtin_names()
    short = {known_name.rpartition("/")[2]: known_name for known_name in known}
    near += [short[found] for found in difflib.get_close_matches(last, short, n=3, cutoff=0.6)]
    return list(dict.fromkeys(near))[:3]
