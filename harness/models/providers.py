"""What is known of each provider before the first call: its names, keys, address and protocol.

How a provider is called is in its own file, which the registry's kind `provider` names.
"""

import pathlib
from typing import Literal

import msgspec
from msgspec import Struct

from harness.types import Finish


class Provider(Struct, frozen=True, forbid_unknown_fields=True):
    """One provider of chat models; the defaults are those of a package that adds one."""

    prefixes: tuple[str, ...] = ()
    """How its models' names begin."""
    examples: tuple[str, ...] = ()
    """Names that a user may have meant."""
    key_variables: tuple[str, ...] = ()
    """Environment variables of the key, the first that is set counts."""
    key_headers: dict[str, str] = {}
    """The headers in which the protocol carries a key."""
    url_variable: str = ""
    address: str = ""
    """Its own address; empty where every customer has one of their own."""
    needs: dict[str, str] = {}
    """The fields of an endpoint without a default, in words."""
    extra: str = ""
    """The extra of ours that it needs."""
    modules: tuple[str, ...] = ()
    """What that installs."""
    parameters: dict[str, str] = {}
    """Each parameter of `Sampling` that the protocol has, and its name there; empty: unknown."""
    aliases: dict[str, tuple[str, ...]] = {}
    """For some of what is sent the other names that a refusal may give it."""
    model_field: str = "model"
    """Where an answer says which model gave it."""
    usage: dict[str, list[str]] = {}
    """Each number of `Usage`: the places in an answer whose sum it is."""
    total: str = ""
    """Where an answer has the tokens of prompt and reply together."""
    cost: str = "usage.cost"
    """Where an answer says what it cost, in dollars: proxies do."""
    finish: dict[str, Finish | Literal["failed"]] = {}
    """What the protocol's finish reasons mean."""


def _read() -> tuple[dict[str, Provider], dict[str, tuple[str, ...]]]:
    tables = msgspec.toml.decode(pathlib.Path(__file__).with_suffix(".toml").read_bytes())
    companies = msgspec.convert(tables.pop("companies"), dict[str, tuple[str, ...]])
    for table in tables.values():
        for key, value in tables.get(table.pop("like", None), {}).items():
            table.setdefault(key, value)
    return msgspec.convert(tables, dict[str, Provider]), companies


PROVIDERS, COMPANIES = _read()
"""The tables of `providers.toml`: providers, and how the names of each company's models begin."""


BUILTIN = {
    name: provider
    for provider in ("builtin", "builtin_judge")
    for name in PROVIDERS[provider].examples
}
"""The provider of each built-in model."""


def provider_of(name: str) -> str | None:
    """Return the provider that a model's name belongs to by its beginning, if any."""
    for provider, about in PROVIDERS.items():
        if name.startswith(about.prefixes):
            return provider
    return None


def company_of(name: str) -> str | None:
    """Return whose model this is, by how its name begins; None: unknown."""
    beginning = name.rpartition("/")[2].lower()
    return next((who for who, names in COMPANIES.items() if beginning.startswith(names)), None)
