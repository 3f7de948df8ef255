"""models.toml: endpoints with names of the user's choice; `docs/models.md` is its manual.

    [models."judge"]
    provider = "azure"
    model = "gpt-4.1"
    base_url = "https://acme.openai.azure.com"
    api_version = "2024-10-21"
    price = {prompt = 2.0, completion = 8.0}

People type this file, so an unknown key is an error that names the nearest valid one. It never holds a key, and an
error repeats no value of it, which may be one all the same; only a number where a number belongs.
"""

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

from harness.old.bounds import COUNT, SECONDS
from harness.old.chat.endpoint import DTYPE, Limits
from harness.old.chat.keys import address, is_variable
from harness.old.chat.price import Price
from harness.old.chat.services import PROVIDERS
from harness.old.errors import DataError, UsageError
from harness.old.names import check_model_name
from harness.old.records import Sampling
from harness.old.written import FILLED, Wanted, decoded, line_of, nearest, read_toml

USUAL = "models.toml"
_VARIABLE = Wanted("the name of an environment variable that holds the key, never the key", is_variable)


@dataclass(frozen=True, slots=True)
class Member:
    """The settings of one endpoint of a pool in models.toml; None if unset."""

    model: Annotated[str, FILLED] | None = None
    base_url: Annotated[str, FILLED] | None = None
    api_key_env: Annotated[str, _VARIABLE] | None = None
    api_version: Annotated[str, FILLED] | None = None
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class Entry(Member):
    """The settings of one model in models.toml; None if unset."""

    provider: Annotated[str, FILLED] | None = None
    """A name in the table of `services.py`."""
    conv_template: Annotated[str, FILLED] | None = None
    path: Annotated[str, FILLED] | None = None
    """Local weights: a folder, or a repository of the Hugging Face hub."""
    dtype: Annotated[str, DTYPE] | None = None
    device: Annotated[str, FILLED] | None = None
    batch_size: Annotated[int, COUNT] | None = None
    timeout: Annotated[float, SECONDS] | None = None
    price: Price | None = None
    sampling: Sampling = field(default_factory=Sampling)
    endpoints: Annotated[tuple[Member, ...], Wanted("tables, one for each: [[models.NAME.endpoints]]")] = ()
    """The members of the pool; empty: there is no pool."""

    def members(self) -> "tuple[Entry, ...]":
        """Return the endpoints of the model: its pool, or only itself.

        A member inherits from its model what it does not state. A member with its own address but no own variable gets
        the model's key: both are in the same file.
        """
        return tuple(replace(self, endpoints=(), **_stated(member)) for member in self.endpoints) or (self,)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models that a models.toml names."""

    path: pathlib.Path | None = None
    entries: Mapping[str, Entry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _File:
    models: Mapping[str, Entry] = field(default_factory=dict)


def load_catalog(path: pathlib.Path | str | None = None) -> Catalog:
    """Return the contents of a models.toml; without a path of the one in this folder, or an empty catalog.

    Raises:
        UsageError: the named file does not exist.
        DataError: it is invalid.
    """
    file = pathlib.Path(USUAL if path is None else path)
    if path is None and not file.is_file():
        return Catalog()
    if not file.exists():
        raise UsageError(f"no file {file}; --models takes a file like models.toml")
    models = decoded(read_toml(file), _File, file, repeat=False).models
    return Catalog(file, {name: _checked(name, entry, file) for name, entry in models.items()})


def _checked(name: str, entry: Entry, file: pathlib.Path) -> Entry:
    """Return an entry with its addresses as they are called."""
    try:
        check_model_name(name)
        if entry.provider is not None and entry.provider not in PROVIDERS:
            raise UsageError(f"models.{name}.provider: no {entry.provider!r}; {nearest(entry.provider, PROVIDERS)}")
        where = f"models.{name}.base_url"
        pool = tuple(replace(member, base_url=address(member.base_url, where)) for member in entry.endpoints)
        return replace(entry, base_url=address(entry.base_url, where), endpoints=pool)
    except UsageError as error:
        raise DataError(str(error), path=file, line=line_of(("models", name), file)) from error


def _stated(member: Member) -> dict[str, Any]:
    values = {each.name: getattr(member, each.name) for each in fields(Member)}
    return {name: value for name, value in values.items() if value is not None}
