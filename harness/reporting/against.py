"""The page of `--against`: this run against a stored one, as a gate or to look at.

    my-model is worse than in the other run on 80 questions: a difference of -0.61 (-0.98 to -0.24).
    It is worse in coding than elsewhere by 2.3 (0.4 to 4.1).
    The judge gives the same 96 answers 0.53 (0.25 to 0.81) more than then; …
    Does not pass: my-model: may be worse by 0.92, more than the margin of 0.3.

One benchmark, or several with a stored run each.
"""

import contextlib
import math
import pathlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from msgspec.structs import replace as changed

from harness import store
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.judging.anchors import anchor_files
from harness.judging.current import unchecked_in_words
from harness.options import Gate, GenJudgment, Judging, ShowResult, command_line
from harness.reporting import Column, Note, Page, Table, interval_columns
from harness.reporting.outcome import REST, Measure
from harness.reporting.pages import PageKind, Result
from harness.reporting.ranked import comparison_row
from harness.reporting.remarks import slice_in_words
from harness.reporting.results_page import results
from harness.reporting.section import measure_of
from harness.reporting.selecting import other_run, read_judged
from harness.results import Panel, panels, read
from harness.results.drift import contents_of
from harness.results.estimate import LEAST
from harness.results.gate import (
    NONE_IN_COMMON,
    PAIRS_AND_OTHERS,
    WORSE,
    Gated,
    GateResult,
    allowed_differences,
    at_levels,
    false_alarm,
    gate,
)
from harness.results.panels import most_alike
from harness.results.series import (
    Series,
    nominal_level,
    read_series,
    series_beside,
    write_series,
)
from harness.results.slices import Worst, differences_between, worst_slice
from harness.results.spent import Cost
from harness.results.summarize import summarize
from harness.types import UNSTATED
from harness.words import counted, first_lines, listed, percent


def check_gate(options: Gate, benchmarks: int = 1) -> None:
    """Refuse what the flags of a gate cannot be, before anything is read.

    Raises:
        UsageError: one of them is written wrongly, or they exclude each other.
        MissingError: there is no such file.
    """
    if wrong := [pair for pair in options.compare if "=" not in pair]:
        raise UsageError(f"--compare {wrong[0]}: write NEW=OLD")
    if len(options.against) != benchmarks:
        files, names = counted(len(options.against), "file"), counted(benchmarks, "benchmark")
        raise UsageError(f"--against has {files} for {names}: name one each, in the same order")
    if options.any and options.margin is not None:
        raise UsageError("--any and --margin exclude each other: a margin is for each benchmark")
    _series_of(options)
    for path in options.against:
        if not path.is_file():
            raise MissingError(f"--against {path}: no such file")


def _series_of(options: Gate) -> tuple[int, pathlib.Path] | None:
    """Return how many gates a series has, and its file."""
    if not options.series:
        if options.record:
            raise UsageError("--record writes into the FILE of --series N FILE")
        return None
    number, *path = options.series
    if not number.isdecimal() or int(number) < 1 or len(path) != 1:
        raise UsageError(f"--series {' '.join(options.series)}: write --series N FILE")
    if len(options.against) > 1:
        raise UsageError("--series is for one benchmark")
    return int(number), pathlib.Path(path[0])


@dataclass
class _Part:
    """One benchmark's run against its stored one."""

    bench: Bench
    panel: Panel
    result: GateResult
    page: Page
    """Of this run's results."""
    notes: list[Note] = field(default_factory=list)
    slices: dict[str, Worst | None] = field(default_factory=dict)
    """By model."""

    @property
    def others(self) -> Sequence[str]:
        """The criteria that are not compared."""
        return self.panel.asked[1:] if self.panel.form == "grade" else ()

    @property
    def measure(self) -> Measure:
        """How its numbers are written."""
        return measure_of(self.panel)


def _show_against(options: ShowResult, cost: Cost) -> Result:
    names, files = options.bench.bench_name, options.gate.against
    parts: list[_Part] = []
    missing: list[str] = []
    for name, path in zip(names, files, strict=True):
        one = changed(options, bench=changed(options.bench, bench_name=(name,)))
        try:
            parts.append(_part(one, path))
        except MissingError as error:
            if len(names) == 1:
                raise
            missing.append(f"{name} is missing: {error}")
    if not parts:
        raise MissingError("; ".join(missing))
    page, passes = _page(options, parts, missing)
    return Result(page, int(options.gate.fail_if_worse and not passes))


AGAINST = PageKind(
    _show_against,
    lambda options: check_gate(options.gate, len(options.bench.bench_name)),
)


def _part(options: ShowResult, path: pathlib.Path) -> _Part:
    """Return one benchmark's run compared with a stored one.

    Raises:
        UsageError: the runs are not comparable, or have no model in common.
    """
    judged = read_judged(options)
    bench, chosen = judged.bench, options.gate
    stored = other_run(bench, path, options.slice)
    if not stored:
        raise MissingError(f"{path}: no verdict on these questions, turns and criteria")
    panel = most_alike(stored[0], judged.groups)
    shown = results(options, judged)
    old = most_alike(panel, stored)
    planned = _series_of(chosen)
    level, notes, faults = None, list[Note](), list[str]()
    used = Series(series=0, against="")
    look, of_stored = "", store.fingerprint(path, path.stat().st_size)
    if planned is not None:
        number, file = planned
        used = read_series(file, number, of_stored)
        look = contents_of(panel, options.slice.model_list or panel.scores.models_present)
        places = [*used.looks, *([look] if look not in used.looks else [])]
        if places.index(look) >= number:
            faults.append(f"the {number} gates of {file} are made; store a new baseline")
        questions = len(set(panel.scores.question.tolist()))
        level = None if chosen.margin is not None else nominal_level(number, max(questions - 1, 1))
        notes.append(Note(f"Gate {places.index(look) + 1} of the {number} of {file}"))
    elif (beside := series_beside(path, of_stored)) is not None:
        text = f"{beside} is a series of gates against this run; without --series nothing is "
        notes.append(Note(f"{text}corrected for there being several"))
    result = gate(
        panel,
        old,
        margin=chosen.margin,
        renamed=dict(pair.split("=", 1) for pair in chosen.compare) or None,
        models=options.slice.model_list or None,
        baseline=shown.view.baseline,
        allow=options.board.allow,
        max_missing=chosen.max_missing,
        anchors=_anchors(bench, panel),
        level=level,
    )
    if planned is not None and chosen.record and not faults:
        write_series(planned[1], used, look)
    result = replace(result, faults=(*result.faults, *faults))
    notes += [Note(note) for note in result.notes[:2]]
    if result.wants_anchors:
        notes.append(Note("Answers of the stored run judged anew", _command(bench, panel, path)))
    if unchecked := old.scores.unchecked:
        notes.append(Note(f"{path}: {unchecked_in_words(unchecked)}"))
    part = _Part(bench, panel, result, shown.page, notes)
    if part.others:
        alone = f"Compared by {panel.metrics[0]} alone, not by {listed(part.others)}"
        notes.insert(0, Note(alone, "--criterion NAME"))
    for row in result.models:
        found = differences_between(panel, old, row.model, row.old)
        part.slices[row.model] = worst_slice(found, bench.by_id) if found else None
    return part


def _anchors(bench: Bench, panel: Panel) -> Panel | None:
    """Return the anchors that were judged by the judges of a panel, if there are any."""
    files = anchor_files(bench)
    if not files or not panel.is_judged:
        return None
    with contextlib.suppress(MissingError):
        scores = read(bench, files=files).of(judges=panel.judges, metric=panel.metrics)
        for found in panels(scores, named=panel.judges):
            alike = found.form == panel.form and found.judge_set == panel.judge_set
            if alike and set(found.judges) == set(panel.judges):
                return found
    return None


def _command(bench: Bench, panel: Panel, path: pathlib.Path) -> str:
    """Return the command that judges anchors."""
    usual = bench.settings.usual_judge_set
    judging = Judging(
        judge_model=panel.judges,
        judge_set=None if panel.judge_set in (usual, UNSTATED) else panel.judge_set,
    )
    return command_line(GenJudgment(judging=judging, anchors=(str(path), "all"), bench=bench.named))


# The page


def _page(options: ShowResult, parts: Sequence[_Part], missing: Sequence[str]) -> tuple[Page, bool]:
    """Return the page of one benchmark or several, and whether the run passes."""
    several = len(options.bench.bench_name) > 1
    if options.gate.any:
        parts = _tested_together(parts)
    lines, rows, faults = [], [], list(missing)
    for part in parts:
        prefix = f"{part.bench.name}: " if several else ""
        prefix += f"{part.panel.metrics[0]}: " if part.others else ""
        worst_first = sorted(part.result.models, key=lambda model: model.difference.value)
        said = []
        for model in worst_first:
            said.append(prefix + _run_in_words(model, part.measure, options.gate.margin))
            names = {"model_1": model.model, "model_2": model.old, "verdict": _verdict(model)}
            row = comparison_row(names, model) | {"questions": model.questions}
            row |= {"missing": model.missing, "missing_before": model.missing_before}
            row |= {"false_alarm": model.false_alarm, **_slice_row(part.slices[model.model])}
            rows.append(({"bench": part.bench.name} if several else {}) | row)
        lines += first_lines(said, 3, REST)
        if len(worst_first) == 1 or options.details:
            for model in worst_first:
                if (worst := part.slices[model.model]) is not None and model.p is not None:
                    lines.append(prefix + slice_in_words(model.model, worst, part.measure))
        lines += [prefix + text for text in _judge_in_words(part, options.gate.margin)]
        faults += [prefix + fault for fault in part.result.faults]
    if options.gate.fail_if_worse or options.gate.margin is not None:
        by = f" by {parts[0].panel.metrics[0]}" if len(parts) == 1 and parts[0].others else ""
        lines += [f"Does not pass: {fault}." for fault in faults] or [f"The run passes{by}."]
    columns = [
        *([Column("bench", "benchmark", always=True)] if several else []),
        Column("model_1", "model"),
        *interval_columns("difference", "", parts[0].measure.form),
        Column("verdict", always=True),
        Column("questions", always=True),
        Column("missing", format="%", help="of what the other run was asked, in percent"),
    ]
    if any(row["model_1"] != row["model_2"] for row in rows):
        at = next(at for at, column in enumerate(columns) if column.key == "model_1")
        both = [Column("model_1", "this run"), Column("model_2", "other run", always=True)]
        columns[at : at + 1] = both
    bench = parts[0].page.facts["bench"] if not several else counted(len(parts), "benchmark")
    title = f"{bench}, this run less the other, question by question"
    tables = [Table(title, columns, rows, name="against")]
    for part in parts:
        name = f"results_{part.bench.name}" if several else "results"
        own = part.page.rows or ()
        tables.append(Table("", [Column("model")], own, name=name, only="json"))
    page = replace(
        parts[0].page,
        outcome="\n".join(lines),
        tables=tables,
        charts=(),
        notes=[note for part in parts for note in part.notes],
        rows=rows,
    )
    return page, not faults


def _tested_together(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts with the levels of Holm's method over the models of all benchmarks."""
    every = iter(at_levels([row for part in parts for row in part.result.models]))
    tested = []
    for part in parts:
        rows = tuple(next(every) for _ in part.result.models)
        kept = [fault for fault in part.result.faults if WORSE not in fault]
        worse = [f"{row.model}: {WORSE}" for row in rows if row.worse]
        result = replace(part.result, models=rows, faults=(*kept, *worse))
        tested.append(replace(part, result=result))
    return tested


def _verdict(model: Gated) -> str:
    if model.p is None:
        return "too few questions"
    return "worse" if model.worse else "better" if model.better else "not decided"


def _run_in_words(model: Gated, measure: Measure, margin: float | None) -> str:
    """Return a sentence about one model of the run."""
    name = model.model if model.model == model.old else f"{model.model} (before: {model.old})"
    verdict, on = _verdict(model), counted(model.questions, "question")
    if verdict == "too few questions":
        return f"{name} cannot be compared with the other run: {on} in common, {LEAST} are needed."
    change = f"{measure.gap(model.difference.value)}{measure.ends(model.interval, 0)}"
    run = f"the other run on {on}: a difference of {change}"
    chance = _chance(model.false_alarm)
    if verdict in ("better", "worse"):
        return f"{name} is {verdict} than in {run}{chance}."
    enough = f"; not worse by more than {measure.gap(margin)}" if margin and not model.fault else ""
    return f"{name} is not decided against {run}{enough}{chance}."


def _chance(share: float | None) -> str:
    if share is None:
        return ""
    return f"; an unchanged model fails this margin in {percent(share, 0)} of such runs"


def _slice_row(worst: Worst | None) -> dict[str, object]:
    """Return the slice that stands out, for programs."""
    named = worst is not None and worst.stands_out
    return {"slice": str(worst.slice) if worst is not None and named else None}


def _judge_in_words(part: _Part, margin: float | None) -> Iterator[str]:
    """Yield what the two runs say of the judge."""
    drift, measure = part.result.drift, part.measure
    if not drift.known or not any(drift.differences.values()):
        return
    shift = drift.shift
    size, more = abs(shift.value), "more" if shift.value >= 0 else "less"
    ends = shift.interval if shift.value >= 0 else shift.scaled(-1).interval
    text = f"The judge gives the same {shift.count} answers "
    same = shift.value == 0 and shift.se == 0
    text += (
        "what it gave then"
        if same
        else f"{measure.gap(size)}{measure.ends(ends, 0)} {more} than then"
    )
    if drift.anchored and not same:
        text += "; that is subtracted, as if it were the same for the new answers"
    yield f"{text}."


# Before the judge is paid


def check_comparable(
    bench: Bench,
    options: Gate,
    *,
    judges: Collection[str],
    judge_set: str,
    paired: bool,
    models: Collection[str],
    allow: Collection[str],
) -> Panel:
    """Return the stored verdicts with which a run that is still to be made will be compared.

    Versions of the judge set are not looked at: which of them the rows will be of is not known yet.

    Raises:
        UsageError: they cannot be compared.
    """
    alike = [p for p in panels(read(bench, files=options.against)) if (p.form == "pair") == paired]
    if not alike:
        raise UsageError(PAIRS_AND_OTHERS)
    old = max(alike, key=lambda p: (p.judge_set == judge_set, set(p.judges) == set(judges)))
    here = {"judge": ", ".join(sorted(judges)), "judge-set": judge_set}
    there = {"judge": ", ".join(sorted(old.judges)), "judge-set": old.judge_set}
    allowed_differences(here, there, allow)
    present = set(old.scores.models_present)
    if not options.compare and not present & set(models) and max(len(present), len(models)) > 1:
        raise UsageError(NONE_IN_COMMON)
    return old


def forecast(old: Panel, margin: float | None) -> str:
    """Return how often an unchanged model would fail the margin, from the stored run's error.

    The difference of two runs that nothing connects has the error √2 · that of one; the same
    questions in both make it smaller, which one run does not tell, so it is the most.
    """
    if margin is None:
        return ""
    measure = measure_of(old)
    shares = []
    for row in summarize(old.combined.of(metric=old.metrics[0]), ("model",)):
        share = false_alarm(row.mean.scaled(math.sqrt(2)), margin)
        shares += [] if share is None else [share]
    if not shares:
        return ""
    return (
        f"An unchanged model would fail the margin of {measure.gap(margin)} in up to "
        f"{percent(max(shares), 0)} of such runs, by the stored run's error."
    )
