"""The request to `show_result`: checked before anything is read, and completed once the observations are found.

Wanted    the caller's options other than the query
Shown     the observations of the table, and their questions: nothing below uses the query again
"""

import contextlib
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

from harness.old.bench import Bench
from harness.old.errors import TurnbenchError, UsageError
from harness.old.judgments.case import SCORE
from harness.old.judgments.file_name import OWN_JUDGE_SET
from harness.old.judgments.observations import Observations
from harness.old.records import MODES, UNSTATED, Mode
from harness.old.results.about import About, about
from harness.old.results.answers import home_of
from harness.old.results.finding import Found, ask, of_models, of_turns
from harness.old.results.grades.aggregates import NONE, Aggregate, column_of
from harness.old.results.measured import read_main_numbers, read_metric
from harness.old.results.query import Query
from harness.old.results.replaced import NOT_CHECKED, says_what_was_judged, without_replaced
from harness.old.results.table import Kind

if TYPE_CHECKING:  # judge sets are imported only where they are needed
    from harness.old.judging.sets import JudgeSet

LengthControl: TypeAlias = Literal["own", "compatible", "off"]


NO_JUDGE = "no judge"
"""The source of a metric's numbers."""


class Wanted(NamedTuple):
    """The caller's options other than the query; `show_result` describes each field."""

    query: Query
    baseline: str | None = None
    count_failed: bool = False
    intervals: bool | None = None
    common: bool = False
    against: pathlib.Path | None = None
    allow: Sequence[str] = ()
    margin: float | None = None
    difference: float | None = None
    sort: str | None = None
    metrics: Sequence[str] = ()
    variant: str | None = None
    aggregate: Aggregate | None = None
    length_control: LengthControl | None = None
    board: pathlib.Path | None = None
    overwrite: bool = False
    check_answers: bool = True

    def check(self) -> None:
        """Raise `UsageError` if an option has no meaning for this request."""
        for fault in self._faults():
            raise UsageError(fault)

    def _faults(self) -> Iterator[str]:
        mode, several = self.query.mode, self.query.several
        if mode not in MODES:
            yield f"no mode {mode!r}; there are: {', '.join(MODES)}"
        if self.board is not None or self.length_control not in {None, "off"}:
            if several:
                yield "a board and length control are for one judge; name one with --judge-model"
            if mode != "pairwise-baseline":
                told = "a board and length control are for pairs with a baseline: give --mode pairwise-baseline"
                yield f"{told}, or a judge set that names a baseline; not {mode}"
        if self.overwrite and self.board is None:
            yield "--overwrite replaces rows of a board; name it with --board FILE"
        column_of(self.aggregate)
        if self.aggregate not in {None, NONE} and (mode != "single" or several or self.count_failed):
            yield "--aggregate is for one judge's grades: leave out --mode, a panel and --count-failed"
        if self.against is not None and several:
            yield "two runs can be compared by one judge; name one with --judge-model"
        if self.metrics and (mode != "single" or several):
            yield "metrics need no judge, and are shown without judgments: leave out --mode and a panel"
        if self.against is not None and (len(self.metrics) > 1 or SCORE in self.metrics):
            yield "two runs can be compared by one metric; name one with --metric"


class Shown(NamedTuple):
    """What a table is made of."""

    wanted: Wanted
    """The request, with defaults filled in."""
    mode: Mode
    found: Sequence[Found]
    """Whose observations they are, with those of models that are not shown."""
    notes: list[str]
    """On what was left out of these."""
    records: Observations
    """Of the models that are shown: of pairs with a baseline, those with that one."""
    kind: Kind
    judges: Sequence[str]
    subject: About
    baseline: str | None
    """Of pairs with a baseline, which it is."""
    home: Bench | None
    """The benchmark whose answers were judged, where that matters and is known."""
    judge_set: "JudgeSet | None"
    """The judge set that the judgments name, if it is found; it only provides defaults."""


def settled(wanted: Wanted) -> Shown:
    """Return what the table is made of, with defaults filled in; raises as `show_result` does."""
    mode = wanted.query.mode or _usual_mode(wanted.query)
    query = wanted.query._replace(mode=mode)
    wanted = wanted._replace(query=query)
    wanted.check()
    notes: list[str] = []
    found = _measured(wanted) if wanted.metrics else _judged(wanted, notes)
    path = found[0].path
    found = [one._replace(observations=of_turns(one.observations, query.turns, one.path)) for one in found]
    records = Observations.joined([one.observations for one in found])
    kind = "metric" if wanted.metrics and wanted.against is None else _kind(found)
    if wanted.against is not None and kind not in ("grades", "pairs"):
        raise UsageError(f"two runs can be compared by grades and by pairs, not by {_SEVERAL.get(kind, kind)}")
    subject = about(query, records, path)
    name = records.cases[0].source.judge_set
    home, judge_set, baseline = None, None, None
    graded = kind == "grades" and name not in (OWN_JUDGE_SET, UNSTATED)  # which are known to say nothing of grades
    if not query.several and (graded or mode == "pairwise-baseline"):
        with contextlib.suppress(TurnbenchError):
            home = home_of(query, path)
        judge_set = _set_named(name, None if home is None else home.folder)
    if mode == "pairwise-baseline":
        baseline = baseline_of(records, wanted.baseline, None if judge_set is None else judge_set.baseline)
    usual = judge_set.aggregate if judge_set is not None and graded else None
    aggregate = wanted.aggregate or cast("Aggregate | None", usual)
    return Shown(
        wanted._replace(aggregate=None if aggregate == NONE or wanted.count_failed else aggregate),
        mode,
        found,
        notes,
        of_models(records, query.models, baseline),
        kind,
        list(dict.fromkeys(one.judge for one in found)),
        subject,
        baseline,
        home,
        judge_set,
    )


def _judged(wanted: Wanted, notes: list[str]) -> list[Found]:
    """Return the judgments but for those of answers that have been replaced, which are noted."""
    found = ask(wanted.query._replace(every_sample=True, every_metric=wanted.query.mode == "single"))
    if wanted.check_answers:
        return without_replaced(found, notes)
    if says_what_was_judged(found):
        notes.append(NOT_CHECKED)
    return found


def _measured(wanted: Wanted) -> list[Found]:
    """Return the observations of metrics, each as a source; for two runs the main numbers; `score`: the judge's
    grades."""
    found = []
    query, variant = wanted.query, wanted.variant
    bench = query.bench
    for name in wanted.metrics:
        if name == SCORE:
            found += ask(query._replace(every_metric=True))
            continue
        observations = read_metric(bench, name, variant)
        if wanted.against is not None:
            observations = read_main_numbers(bench.metric_file(name), variant)
        found.append(Found(bench.metric_file(name), NO_JUDGE, name, 0, observations, 0))
    return found


def _usual_mode(query: Query) -> Mode:
    """Return the mode that the named judge set states; single if it states none, or none is named."""
    named = None if query.judge_set is None else _set_named(query.judge_set, query.folder)
    return (named.mode if named is not None else None) or "single"


def _set_named(name: str, folder: pathlib.Path | None) -> "JudgeSet | None":
    """Return the judge set that judgments name, if it is found; it only provides defaults."""
    from harness.old.judging.sets import load_judge_set

    try:
        return load_judge_set(name, folder)
    except TurnbenchError:
        return None


def _kind(found: Sequence[Found]) -> Kind:
    """Return the kind of the judgments, which decides the table; `criterion` means grades by several criteria.

    Raises:
        UsageError: the judges of a panel gave verdicts of different kinds.
    """
    kinds: dict[str, Kind] = {one.judge: _kind_of(one.observations) for one in found}
    if len(set(kinds.values())) > 1:
        told = ", ".join(f"{judge}: {_SEVERAL.get(kind, kind)}" for judge, kind in kinds.items())
        raise UsageError(f"the judges gave no verdicts of one kind ({told}); name one judge with --judge-model")
    return next(iter(kinds.values()))


def _kind_of(found: Observations) -> Kind:
    form = found.cases[0].source.form
    if found.paired:
        return "pairs"
    if form == "label":
        return "label"
    if form == "dimensions":
        return "dimension"
    return "criterion" if form == "grade" and len(found.metrics()) > 1 else "grades"


_SEVERAL: Mapping[Kind, str] = {"label": "labels", "dimension": "dimensions", "criterion": "criteria"}


def baseline_of(pairs: Observations, named: str | None, usual: str | None) -> str:
    """Return the baseline of pairs: the one named, the usual one, or the model that is in every pair.

    Raises:
        UsageError: it is in no pair, or none is named and several could be it.
    """
    models = {model for case in pairs.cases for model in case.models}
    baseline = named or (usual if usual in models else None)
    if baseline is None:
        common = set.intersection(*(set(case.models) for case in pairs.cases))
        if len(common) != 1:
            raise UsageError(f"pairwise-baseline needs --baseline-model; the models are: {', '.join(sorted(models))}")
        return common.pop()
    if baseline not in models:
        raise UsageError(f"no pair with the baseline {baseline!r}; the models are: {', '.join(sorted(models))}")
    return baseline
