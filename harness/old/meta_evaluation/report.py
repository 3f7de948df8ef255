"""What all reports about judges share: the rows of numbers, and what a reader must know about them."""

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.old.errors import MissingError, UsageError
from harness.old.judging.builtin import notices
from harness.old.judgments.case import CONFIDENCE, SHARE, TOTAL, Case
from harness.old.judgments.observations import Observations
from harness.old.names import counted
from harness.old.records import Failure, Scale
from harness.old.results.about import About, about
from harness.old.results.common import common_questions
from harness.old.results.failures import lost_by
from harness.old.results.finding import Found, ask, replaced_note
from harness.old.results.matrix import Ints, tally
from harness.old.results.query import Query
from harness.old.results.replaced import without_replaced
from harness.old.results.statistics.bootstrap import COVERAGE, LEAST, Estimate, estimates

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Report:
    """One report about a judge: rows of numbers, and what a reader must know about them."""

    name: str
    judge: str
    """The judge, or all of them."""
    bench: str | None
    """None if it is not known which questions the judgments are about."""
    rows: list[dict[str, Any]]
    """By column name, as json and csv show them; numbers unrounded. The 95% interval of `x` is `x_low` to `x_high`."""
    more: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Further tables, by name."""
    notes: list[str] = field(default_factory=list)
    paths: tuple[pathlib.Path, ...] = ()
    failures: Sequence[Failure] = ()
    """Of a report that calls a judge: the calls that failed."""

    def frame(self) -> "pandas.DataFrame":
        """Return the rows as a frame; pandas must be installed."""
        import pandas

        return pandas.DataFrame(self.rows)


OF_WHOLE = {"label": SHARE, "dimensions": TOTAL}
"""The overall grade of a judgment that gives several numbers, by its form."""
_CLUSTERED, _MANY = 2.0, 0.1
"""A model is named that has lost so many times the share of verdicts that all have lost, and at least so many."""


class Asked(NamedTuple):
    """What most reports start from: the requested judgments, and what they are about."""

    query: Query
    sources: Sequence[Found]
    judged: Observations
    """Those of all sources."""
    subject: About
    replaced: tuple[str, ...] = ()
    """What a reader must know of judgments that are left out because their answers have been replaced since."""

    @property
    def verdicts(self) -> Observations:
        """The verdicts; of a judgment that gives several numbers the overall grade.

        Raises:
            MissingError: no judgment has a verdict.
            UsageError: there is no overall grade.
        """
        need_verdicts(self.judged, self.sources[0].path)
        metrics = self.judged.metrics()
        if len(metrics) == 1:
            return self.judged
        kept = self.judged.keep(lambda case: case.metric == OF_WHOLE.get(case.source.form))
        if not kept:
            several = f"{self.sources[0].path} contains no grade of the whole answer"
            raise UsageError(f"{several}; choose one with --criterion: {', '.join(metrics)}")
        return kept

    def report(
        self,
        name: str,
        rows: Sequence[Mapping[str, Any]],
        notes: Sequence[str],
        more: Mapping[str, Iterable[Mapping[str, Any]]] = {},
        *,
        explained: bool = True,
        few: str = "judged on far fewer questions than other models",
        lost: bool = True,
    ) -> Report:
        """Return the report, its notes between those that every report has; `more` are further tables.

        A row may hold estimates and tuples of names (see `columns`); a note says how the estimates' intervals are made,
        if they are not `explained` otherwise. `few` is what is said of models that were judged on few questions; what
        gave no verdict is counted, unless a report does that itself (`lost` is false).
        """
        judges = list(dict.fromkeys(source.judge for source in self.sources))
        why_not = [self.subject.why_not] if self.subject.why_not else []
        incomplete = (
            self.subject.reach(self.judged, self.query.turns),
            common_questions(self.judged).few_note(few),
            lost_note(self.judged) if lost else None,
        )
        first = [*replaced_note(self.sources), *self.replaced]
        every = [*first, *filter(None, incomplete), *notes, *notices(judges), *why_not]
        given = {title: list(own) for title, own in {"": rows, **more}.items()}
        if explained:
            every += interval_notes(value for own in given.values() for row in own for value in row.values())
        paths = tuple(dict.fromkeys(source.path for source in self.sources))
        tables = {title: list(map(columns, given[title])) for title in more}
        return Report(name, ", ".join(judges), self.subject.bench, list(map(columns, rows)), tables, every, paths)


def asked(query: Query) -> Asked:
    """Return the judgments that a query asks for, but for those of answers that have been replaced since.

    Raises:
        UsageError: there are several judges or judge sets; the message lists them.
        MissingError: there are no judgments.
    """
    replaced: list[str] = []
    sources = without_replaced(ask(query), replaced)
    judged = Observations.joined([source.observations for source in sources])
    return Asked(query, sources, judged, about(query, judged, sources[0].path), tuple(replaced))


def need_verdicts(judged: Observations, path: pathlib.Path) -> None:
    """Raise `MissingError` if no judgment has a verdict, so that there is nothing to report."""
    if judged.failed.all():
        raise MissingError(f"no {'pair' if judged.paired else 'judgment'} of {path} has a verdict")


class Lost(NamedTuple):
    """How many judgments give no verdict, and whose they are."""

    failed: int
    every: int
    where: str
    """By which of several judges, and about which models far more of them than about others; empty if that says
    nothing."""


def lost_of(judged: Observations) -> Lost:
    """Return how many judgments give no verdict; of those that give several numbers each counts once."""
    metrics = judged.metrics()
    label = next((name for name in metrics if name not in {SHARE, CONFIDENCE}), None)
    one = {"label": label, "dimensions": TOTAL if TOTAL in metrics else None}
    own = judged.keep(lambda case: one.get(case.source.form) in {None, case.metric})
    failed, every = int(own.failed.sum()), len(own)
    if not failed:
        return Lost(0, every, "")

    def told(word: str, names: Callable[[Case], Sequence[str]], least: float) -> str:
        """Return the counts of those names of cases that have lost at least a share of their judgments."""
        each = lost_by(own, names).items()
        return ", ".join(f"{word} {name} {gone} of {there}" for name, (gone, there) in each if gone >= least * there)

    several = len({case.source.judge for case in own.cases}) > 1
    by = told("by", lambda case: (case.source.judge,), 1e-9) if several else ""
    about = told("about", lambda case: case.models, max(_CLUSTERED * failed / every, _MANY))
    return Lost(failed, every, "; ".join(filter(None, (by, about))))


def lost_note(judged: Observations) -> str | None:
    """Return how many judgments give no verdict, by whom and about what; None if all give one."""
    lost = lost_of(judged)
    if not lost.failed:
        return None
    where = f": {lost.where}" if lost.where else ""
    return f"{lost.failed} of {counted(lost.every, 'judgment')} give no verdict and are left out{where}"


def interval_notes(values: Iterable[Any]) -> list[str]:
    """Return how the intervals of the estimates among these values are made, and why there is none where there is
    none."""
    shown = [one for one in values if isinstance(one, Estimate) and one.value is not None]
    methods = dict.fromkeys(one.method for one in shown if one.method)
    questions = [one.questions for one in shown if one.low is None and one.questions]
    if questions and not methods and max(questions) < LEAST:
        return ["too few questions for intervals"]
    notes = [f"intervals: {COVERAGE[method]}" for method in methods]
    notes += [f"no interval on fewer than {LEAST} questions"] if any(own < LEAST for own in questions) else []
    return notes + (["no interval where the questions do not differ"] if any(q >= LEAST for q in questions) else [])


def ratio(
    question: Sequence[int] | Ints, values: Any, counts: Any, questions: int | None = None, **how: Any
) -> Estimate:
    """Return the sum of values over the sum of counts, of items, with an interval that resamples their questions.

    Args:
        question: for each item, the place of its question.
        values: what each item adds.
        counts: how much it counts, or the same for all.
        questions: how many there are (default: up to the last one with an item).
        how: further words of `estimates`.
    """
    places = np.asarray(question, dtype=np.int64)
    size = questions if questions is not None else int(places.max(initial=-1)) + 1
    sums, total = (
        tally((size,), places, weights=np.broadcast_to(own, places.shape))[:, None] for own in (values, counts)
    )
    return estimates(sums, total, **how)[0]


def of_turn(turn: int | None, case: Case) -> bool:
    """Return whether a case is of that turn; None is every turn."""
    return turn in {None, case.turn}


def columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as json and csv show it: an estimate as three columns, names as one text.

    The ends of an estimate called `value` or `ratio` are `low` and `high`, those of any other `x` `x_low` and `x_high`.
    """
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Estimate):
            lead = "" if name in {"value", "ratio"} else f"{name}_"
            found |= {name: value.value, f"{lead}low": value.low, f"{lead}high": value.high}
        else:
            found[name] = ", ".join(value) if isinstance(value, tuple) else value
    return found


def grade_from(scale: Scale | None, named: float | None, share: float, what: str) -> float:
    """Return the grade that is named, else the one at a share of the scale; `what` is how it is named."""
    if named is not None:
        return named
    if scale is None:
        raise UsageError(f"the scale of these grades is unknown; name the lowest {what}")
    return scale[0] + (scale[1] - scale[0]) * share


def left_out(counts: Mapping[str, int], what: str) -> list[str]:
    """Return a line for each reason for which things were left out; `what` is the name of one of them."""
    return [f"{counted(number, what)} {why} left out" for why, number in counts.items() if number]


def last_if_none(value: float | None) -> float:
    """Return the value, or what sorts behind all."""
    return float("-inf") if value is None else value
