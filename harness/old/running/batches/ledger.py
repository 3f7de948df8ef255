"""Which of an output file's requests are at a provider in batches, stored in `.turnbench/batches/` until collected.

One line for each event; plans and names are on the disk before the next step is taken:

    {"plan": TOKEN, "origin": [ADDRESS, MODEL], "at": SECONDS, "asks": [[JOB, PLACE, CONTENT, [PARAMETERS], ROW], ...]}
                                              written before a batch is submitted
    {"made": TOKEN, "batch": ID}              the provider has it under this id
    {"settled": TOKEN, "asks": [0, 1, ...]}   these need not be collected any more: their rows or replies are stored,
                                              they have failed, or they are no longer needed
    {"dropped": TOKEN}                        nothing of it was or will be collected
    {"unsupported": PARAMETER}                the model does not accept it

A batch with a plan but no id may have been submitted: the process ended in between. The provider is asked before its
requests are submitted again.
"""

import logging
import pathlib
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypedDict

import msgspec

from harness.old.jsonl import StateJournal, sound_rows, taken_as

log = logging.getLogger("turnbench")

KEPT_DAYS = 29
"""How long providers keep results; a batch older than that is of no use."""


class Ask(NamedTuple):
    """One request in a batch."""

    job: str
    """The job's key."""
    place: int
    """The request's place in the job; the first is 0."""
    content: str
    """The hash of the request."""
    names: tuple[str, ...]
    """The parameters that were sent."""
    row: str = ""
    """The row that the job's record goes into."""


class _Planned(TypedDict):
    """The line of a plan; like all lines here, one of another form is skipped."""

    plan: str
    origin: tuple[str, str]
    at: Annotated[float, msgspec.Meta(ge=0, le=1e11)]
    asks: list[Ask]


class _Made(TypedDict):
    """The line of a name."""

    made: str
    batch: str


class _Settled(TypedDict):
    """The line of what need not be collected any more."""

    settled: str
    asks: list[int]


class _Dropped(TypedDict):
    """The line of a batch that is given up."""

    dropped: str


class _Unsupported(TypedDict):
    """The line of a parameter that is not taken."""

    unsupported: str


@dataclass(slots=True, eq=False)
class Batch:
    """One batch that is to be collected."""

    token: str
    origin: tuple[str, str]
    """The address and the model string that it was made for."""
    at: float
    """When it was planned, in seconds since 1970."""
    asks: tuple[Ask, ...]
    name: str | None = None
    """Its id at the provider; None: it is not known whether it was submitted."""
    open: set[int] = field(default_factory=set)
    """The asks that are not settled."""
    wanted: dict[int, Any] = field(default_factory=dict)
    """Who waits in this run for which of the asks."""
    processed: int = 0
    """Asks that are through, by the provider's last word."""

    @property
    def age(self) -> float:
        """Seconds since it was planned."""
        return time.time() - self.at


class Ledger(StateJournal):
    """The batches of one output file; a context manager, with one writer."""

    def __init__(self, path: pathlib.Path) -> None:
        """`path` is the ledger's own file, see `ledger_file`."""
        super().__init__(path, path.parent)
        self.batches: dict[str, Batch] = {}
        """Those with something to collect, by token."""
        self.unsupported: list[str] = []
        """Parameters that the model does not take, in the order in which that was found out."""

    def read(self) -> None:
        """Take over what earlier runs left; what is too old is given up."""
        self.batches, self.unsupported = _read(self.path)
        for batch in list(self.batches.values()):
            if batch.age > KEPT_DAYS * 86400:
                log.warning("%s is too old to be collected; its requests are submitted again", described(batch))
                self.drop(batch)

    @property
    def needed(self) -> bool:
        """Whether anything is to be collected."""
        return bool(self.batches)

    def plan(self, token: str, origin: tuple[str, str], asks: Sequence[Ask]) -> Batch:
        """Return a new batch under a `new_token`, recorded before it is submitted."""
        batch = Batch(token, origin, time.time(), tuple(asks), open=set(range(len(asks))))
        self._write({"plan": batch.token, "origin": list(origin), "at": batch.at, "asks": [list(ask) for ask in asks]})
        self.batches[batch.token] = batch
        return batch

    def made(self, batch: Batch, name: str) -> None:
        """Write down what the provider calls a batch."""
        batch.name = name
        self._write({"made": batch.token, "batch": name})

    def settle(self, batch: Batch, numbers: Iterable[int]) -> None:
        """Record that these need not be collected any more; `sync` writes it to disk."""
        settled = sorted(batch.open.intersection(numbers))
        if settled:
            self.append({"settled": batch.token, "asks": settled})
            batch.open.difference_update(settled)
        if not batch.open:
            self.batches.pop(batch.token, None)

    @property
    def rows(self) -> AbstractSet[str]:
        """The rows for which something is to be collected."""
        return _rows(self.batches)

    def served(self, rows: AbstractSet[str]) -> None:
        """Write down that nothing need be collected for these rows any more."""
        for batch in list(self.batches.values()):
            self.settle(batch, [number for number in batch.open if batch.asks[number].row in rows])

    def drop(self, batch: Batch) -> None:
        """Write down that nothing of a batch will be collected."""
        self._write({"dropped": batch.token})
        self.batches.pop(batch.token, None)

    def learn(self, parameter: str) -> None:
        """Write down that the model does not take a parameter."""
        if parameter not in self.unsupported:
            self.unsupported.append(parameter)
            self._write({"unsupported": parameter})

    def _write(self, line: dict[str, Any]) -> None:
        self.append(line)
        self.sync()


def new_token() -> str:
    """Return what no other batch is called."""
    return secrets.token_hex(8)


def custom_id(token: str, number: int) -> str:
    """Return the name of a request in its batch."""
    return f"{token}-{number}"


def ledger_file(path: pathlib.Path, state: pathlib.Path) -> pathlib.Path:
    """Return the file in which the batches of an output file are kept."""
    return state / "batches" / path.name


def starts_anew(path: pathlib.Path, state: pathlib.Path, *, redo: bool) -> bool:
    """Return whether a run ignores replies kept by an earlier one: when everything is redone, except by a batch run
    that continues what it had begun."""
    return redo and not ledger_file(path, state).exists()


def ledger_beside(pending: pathlib.Path) -> pathlib.Path:
    """Return the same, from the file of the output file's pending replies."""
    return pending.parent.parent / "batches" / pending.name


def described(batch: Batch) -> str:
    """Return a batch as messages name it."""
    name = f"batch {batch.name}" if batch.name else "a batch without a known name"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(batch.at))
    requests = "1 request" if len(batch.asks) == 1 else f"{len(batch.asks)} requests"
    return f"{name} ({requests}, submitted {when})"


def warn_of_batches(path: pathlib.Path) -> None:
    """Warn about direct calls while requests of the same file are at a provider in batches."""
    for batch in _read(path)[0].values():
        results = "1 result is" if len(batch.open) == 1 else f"{len(batch.open)} results are"
        log.warning(
            "%s: %s not collected; run with --batch to use them instead of asking again", described(batch), results
        )


def rows_awaited(path: pathlib.Path) -> AbstractSet[str]:
    """Return the rows with something to collect according to a ledger; nothing is changed."""
    return _rows(_read(path)[0])


def _rows(batches: Mapping[str, Batch]) -> AbstractSet[str]:
    return {batch.asks[number].row for batch in batches.values() for number in batch.open}


def _read(path: pathlib.Path) -> tuple[dict[str, Batch], list[str]]:
    """Return the contents of a file: the batches with something to collect, and the parameters that are not
    accepted."""
    batches: dict[str, Batch] = {}
    unsupported: list[str] = []
    for _, line in sound_rows(path):
        if planned := taken_as(line, _Planned):
            asks = tuple(ask._replace(row=ask.row or ask.job) for ask in planned["asks"])
            token = planned["plan"]
            batches[token] = Batch(token, planned["origin"], planned["at"], asks, open=set(range(len(asks))))
        elif unknown := taken_as(line, _Unsupported):
            unsupported.append(unknown["unsupported"])
        elif dropped := taken_as(line, _Dropped):
            batches.pop(dropped["dropped"], None)
        elif made := taken_as(line, _Made):
            if made["made"] in batches:
                batches[made["made"]].name = made["batch"]
        elif (settled := taken_as(line, _Settled)) and (batch := batches.get(settled["settled"])):
            batch.open.difference_update(settled["asks"])
            if not batch.open:
                del batches[batch.token]
    return batches, unsupported
