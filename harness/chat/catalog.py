"""models.toml: endpoints with a name of the user's own, said once; `docs/models.md` is its manual.

    [models."judge"]
    provider = "azure"
    model = "gpt-4.1"
    base_url = "https://acme.openai.azure.com"
    api_version = "2024-10-21"
    price = {prompt = 2.0, completion = 8.0}

People type this file, so an unknown key is an error that names the nearest valid one. It never holds a key, and what
stands where the name of a key's variable belongs is never repeated: it may be the key.
"""

import dataclasses
import difflib
import math
import pathlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from harness.chat.endpoint import Limits, Price
from harness.chat.keys import address, is_variable
from harness.chat.services import PROVIDERS
from harness.errors import DataError, UsageError
from harness.names import check_model_name
from harness.records import Sampling

USUAL = "models.toml"


@dataclass(frozen=True, slots=True)
class Entry:
    """What models.toml says of one model, or of one endpoint in its pool; None where it says nothing."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    api_version: str | None = None
    conv_template: str | None = None
    timeout: float | None = None
    price: Price | None = None
    limits: Limits = field(default_factory=Limits)
    sampling: Sampling = field(default_factory=Sampling)
    endpoints: "tuple[Entry, ...]" = ()
    """The members of the pool, each with what it does not say itself taken from the model; empty: there is no pool."""

    def members(self) -> "tuple[Entry, ...]":
        """Return the endpoints of the model: its pool, or itself alone."""
        return self.endpoints or (self,)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models that a models.toml names."""

    path: pathlib.Path | None = None
    entries: Mapping[str, Entry] = field(default_factory=dict)


def load_catalog(path: pathlib.Path | str | None = None) -> Catalog:
    """Return what a models.toml says; without a path the one in this folder, or an empty one if there is none.

    Raises:
        UsageError: the file that was named is not there.
        DataError: it is not what it must be.
    """
    file = pathlib.Path(USUAL if path is None else path)
    if path is None and not file.is_file():
        return Catalog()
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"no file {file}; --models takes a file like models.toml") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"this is not TOML: {error}", path=file) from error
    top = _Table(data, file, "")
    top.check_keys(("models",))
    models = top.table("models")
    entries = {}
    for name in models.values:
        try:
            check_model_name(name)
        except UsageError as error:
            raise DataError(str(error), path=file) from error
        entries[name] = _entry(models.table(name))
    return Catalog(file, entries)


def _entry(table: "_Table") -> Entry:
    """Return what a `[models."NAME"]` table says."""
    table.check_keys([each.name for each in dataclasses.fields(Entry)])
    common = replace(
        _endpoint(table),
        provider=table.choice("provider", tuple(PROVIDERS)),
        conv_template=table.text("conv_template"),
        timeout=table.number("timeout", _above_0, "a number of seconds above 0"),
        price=_price(table),
        sampling=_sampling(table),
    )
    members = []
    for member in table.tables("endpoints"):
        member.check_keys(("base_url", "api_key_env", "limits", "model", "api_version"))
        members.append(_member(common, _endpoint(member), stated=member.values.keys()))
    return replace(common, endpoints=tuple(members))


def _endpoint(table: "_Table") -> Entry:
    """Return what a model and a member of its pool may both say."""
    url = table.text("base_url")
    try:
        url = address(url, f"{table.where}base_url")
    except UsageError as error:
        raise DataError(str(error), path=table.path) from error
    limits = table.table("limits")
    limits.check_keys([each.name for each in dataclasses.fields(Limits)])
    return Entry(
        model=table.text("model"),
        base_url=url,
        api_key_env=table.variable("api_key_env"),
        api_version=table.text("api_version"),
        limits=Limits(
            parallel=limits.whole("parallel"),
            rpm=limits.number("rpm", _above_0, "a number of calls in a minute above 0"),
            tpm=limits.number("tpm", _above_0, "a number of tokens in a minute above 0"),
        ),
    )


def _member(common: Entry, own: Entry, *, stated: Any) -> Entry:
    """Return a member of a pool: what it states, and the rest from its model.

    An address of its own without a variable of its own gets the model's key: both stand in the same file.
    """
    names = [name for name in ("base_url", "api_key_env", "limits", "model", "api_version") if name in stated]
    return replace(common, **{name: getattr(own, name) for name in names})


def _price(table: "_Table") -> Price | None:
    if "price" not in table.values:
        return None
    price = table.table("price")
    price.check_keys([each.name for each in dataclasses.fields(Price)])
    dollars: dict[str, float] = {}
    for name in price.values:
        wanted = "a share from 0 to 1" if name == "batch" else "dollars for a million tokens, from 0"
        value = price.number(name, _share if name == "batch" else _from_0, wanted)
        assert value is not None
        dollars[name] = value
    for name in ("prompt", "completion"):
        if name not in dollars:
            price.wrong(f"{name} is missing: a price has both prompt and completion")
    return Price(**dollars)


def _sampling(table: "_Table") -> Sampling:
    sampling = table.table("sampling")
    sampling.check_keys([each.name for each in dataclasses.fields(Sampling)])
    return Sampling(
        temperature=sampling.number("temperature", lambda n: 0 <= n <= 2, "a number from 0 to 2"),
        max_tokens=sampling.whole("max_tokens"),
        top_p=sampling.number("top_p", lambda n: 0 < n <= 1, "a number above 0, at most 1"),
        seed=sampling.whole("seed", least=None),
    )


def _above_0(number: float) -> bool:
    return number > 0


def _from_0(number: float) -> bool:
    return number >= 0


def _share(number: float) -> bool:
    return 0 <= number <= 1


@dataclass(frozen=True, slots=True)
class _Table:
    """One table of the file with its place, for look-ups that complain."""

    values: Mapping[str, Any]
    path: pathlib.Path
    place: str

    @property
    def where(self) -> str:
        return f"{self.place}: " if self.place else ""

    def wrong(self, message: str) -> NoReturn:
        raise DataError(f"{self.where}{message}", path=self.path)

    def check_keys(self, known: Any) -> None:
        """Complain of the first key that is not known, without its value, which may be a secret."""
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, list(known), n=1, cutoff=0.5)
                hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
                self.wrong(f"unknown key {key!r}; {hint}")

    def table(self, name: str) -> "_Table":
        """Return a table in this one; an absent one is empty."""
        value = self.values.get(name, {})
        place = (
            f'[models."{name}"]' if self.place == "[models]" else f"{self.place} {name}" if self.place else f"[{name}]"
        )
        if not isinstance(value, dict):
            self.wrong(f"{name} must be a table")
        return _Table(value, self.path, place)

    def tables(self, name: str) -> "Iterator[_Table]":
        """Yield the tables of a list."""
        value = self.values.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            self.wrong(f"{name} must be tables, one for each: [[models.NAME.{name}]]")
        for number, each in enumerate(value, 1):
            yield _Table(each, self.path, f"{self.place} {name} {number}")

    def text(self, name: str) -> str | None:
        """Return a text that is not blank."""
        value = self.values.get(name)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.wrong(f"{name} must be a text that is not empty")
        return value

    def choice(self, name: str, among: tuple[str, ...]) -> str | None:
        """Return one of several words."""
        value = self.text(name)
        if value is not None and value not in among:
            near = difflib.get_close_matches(value, among, n=1, cutoff=0.5)
            self.wrong(
                f"{name} {value!r} is none of {', '.join(among)}" + (f"; did you mean {near[0]}?" if near else "")
            )
        return value

    def variable(self, name: str) -> str | None:
        """Return the name of a variable; what cannot be one is not repeated, for it may be a key."""
        value = self.text(name)
        if value is not None and not is_variable(value):
            self.wrong(f"{name} must be the name of an environment variable that holds the key, never the key")
        return value

    def number(self, name: str, fits: Callable[[float], bool], wanted: str) -> float | None:
        """Return a finite number that fits."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not fits(value):
            self.wrong(f"{name} must be {wanted}")
        return float(value)

    def whole(self, name: str, *, least: int | None = 1) -> int | None:
        """Return a whole number, not under the least."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
            self.wrong(f"{name} must be a whole number{'' if least is None else f' from {least}'}")
        return int(value)
