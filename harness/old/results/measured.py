"""Files of metrics -> observations, so that numbers without a judge are shown, compared and reported like grades.

    {"metric": "bleu", "value": 0.31, "values": {"bleu_1": 0.5, "bleu_4": 0.31}, ...}  ->  bleu_1 0.5, bleu_4 0.31

A metric with several numbers gives one observation for each; the name contains the metric's ("checks strict"). Numbers
of two variants, tokenizers or libraries are never in one table.

Rows of checks also have the result of each check (`read_checks`). By kind, a turn's share is over its
checks of that kind: of two counts and an ending, with one count and the ending kept, the share of count is 0.5 and that
of ends 1, "all" of count is 0 and of ends 1.
"""

import pathlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import is_there, logical_files, read_rows
from harness.old.judgments.observations import Observations
from harness.old.names import name_of
from harness.old.records import Form, Measurement, Observation, QuestionId, Source
from harness.old.results.query import KIND
from harness.old.results.table import Mean, Table
from harness.old.rows import measurement_from_row
from harness.old.written import nearest

CHECKS = "checks"
UNIEVAL = "unieval"
"""The one metric whose numbers can be greater than 1, as a sum over sentences."""
UNSAID = "without a reason in the file"
"""The reason for a missing number or verdict if none is stated."""
_SHARE = (0.0, 1.0)


def measured_metrics(bench: Bench) -> list[str]:
    """Return the metrics of which there are numbers, by name."""
    folder = bench.folder / "model_metric"
    return sorted(name_of(path.stem) for path in logical_files(folder))


def read_metric(bench: Bench, name: str, variant: str | None = None) -> Observations:
    """Return a metric's observations about all answers.

    Raises:
        MissingError: there are no such numbers.
        UsageError: there are several variants, and none is named.
        DataError: a line is invalid.
    """
    found = _measurements(_file_of(bench, name), variant)
    names = list(dict.fromkeys(number for one in found for number in one.values)) or [name]
    return Observations.of(observation for one in found for observation in _numbers(one, names))


def read_main_numbers(path: pathlib.Path, variant: str | None = None) -> Observations:
    """Return the main number of each row of a metric's file, as if it were a grade; raises as `read_metric` does."""
    return Observations.of(_number(one, one.metric, one.value, "grade") for one in _measurements(path, variant))


def reasons_without(found: Observations, path: pathlib.Path, variant: str | None = None) -> Counter[str]:
    """Return why a metric's rows about these observations have no number, with counts."""
    about = {(asked.question_id, case.turn, case.models[0], case.source.choice) for case, asked, _ in found.rows()}
    return Counter(
        one.note or UNSAID
        for one in _measurements(path, variant)
        if (one.question_id, one.turn, one.model, str(one.choice)) in about
        and None in (one.value, *one.values.values())
    )


class CheckFound(NamedTuple):
    """What became of one check of a turn."""

    kind: str
    name: str
    """As in tables: the check's own name, else its kind."""
    text: str
    """What it requires, as a text."""
    strict: bool | None
    """Whether the reply meets it; None if that was not decided."""
    loose: bool | None
    """Whether the reply or a variant of it does."""


class CheckedTurn(NamedTuple):
    """What became of the checks of one reply."""

    question_id: QuestionId
    turn: int
    model: str
    choice: str
    content: str | None
    """Hash of the question that was answered."""
    checks: tuple[CheckFound, ...]


def read_checks(bench: Bench) -> list[CheckedTurn]:
    """Return what became of each check of all answers; raises as `read_metric` does."""
    return [
        CheckedTurn(
            one.question_id,
            one.turn,
            one.model,
            str(one.choice),
            _content_of(one),
            tuple(_checks_in(one.extra)),
        )
        for one in _measurements(_file_of(bench, CHECKS), None)
    ]


def _checks_in(row: Mapping[str, Any]) -> Iterator[CheckFound]:
    listed = row.get("checks")
    for check in listed if isinstance(listed, list) else ():
        if isinstance(check, dict):
            met = [own if isinstance(own, bool) else None for own in (check.get("strict"), check.get("loose"))]
            kind = str(check.get("kind"))
            yield CheckFound(kind, str(check.get("name") or kind), str(check.get("text", "")), *met)


def with_kinds(table: Table, bench: Bench, kept: Observations) -> Table:
    """Return the table of all checks with the lines of each kind, of the models and turns that `kept` is about."""
    from harness.old.results.means import matrices, means_table  # which other tables do without

    wanted = {(case.models[0], case.turn) for case in kept.cases}
    turns = [turn for turn in read_checks(bench) if (turn.model, turn.turn) in wanted]
    lines = list(table.lines)
    for kind in sorted({check.name for turn in turns for check in turn.checks}):
        own = Observations.of(one for turn in turns for one in _numbers_of(turn, kind))
        for line in means_table(matrices(own), table.kind, sure=table.sure, seed=table.seed).lines:
            means = {name: own for name, own in line.fields.items() if isinstance(own, Mean)}
            fields = {name: replace(means[name], excluded=None) if name in means else None for name in table.names}
            lines.append(line._replace(fields=fields, group=kind))
    return table._replace(lines=lines, by=KIND)


def is_metric(found: Observations) -> bool:
    """Return whether these are numbers of one metric, not of a judge."""
    return {case.source.judge_set for case in found.cases} == set(found.metrics())


def of_checks(found: Observations) -> bool:
    """Return whether these are numbers of checks and nothing else."""
    return all(case.source.judge_set == CHECKS for case in found.cases)


def _numbers_of(turn: CheckedTurn, kind: str) -> Iterator[Observation]:
    """Yield the observations of a turn's decided checks of one kind."""
    strict = [check.strict for check in turn.checks if check.name == kind and check.strict is not None]
    loose = [check.loose for check in turn.checks if check.name == kind and check.loose is not None]
    if not strict or not loose:
        return
    numbers = {
        "strict": sum(strict) / len(strict),
        "loose": sum(loose) / len(loose),
        "strict_all": float(all(strict)),
        "loose_all": float(all(loose)),
    }
    source = Source("turnbench", judge_set=CHECKS, choice=turn.choice, form="dimensions", scale=_SHARE)
    for name, value in numbers.items():
        yield Observation(turn.question_id, turn.turn, turn.model, None, f"{CHECKS} {name}", value, (), source)


def _file_of(bench: Bench, name: str) -> pathlib.Path:
    """Return the file of a metric, or raise `MissingError`."""
    path = bench.metric_file(name)
    if not is_there(path):
        there = measured_metrics(bench)
        how = "auto_checks" if name == CHECKS else f"auto_metrics --metrics {name}"
        hint = f"; {nearest(name, there)}" if there else ""
        raise MissingError(f"no numbers of {name} in {bench.folder}{hint}; run {how} {bench.flags} first")
    return path


def _measurements(path: pathlib.Path, variant: str | None) -> list[Measurement]:
    """Return the rows of a metric's file, of equal keys the last; raises as `read_metric` does."""
    latest: dict[tuple[QuestionId, int, str, int, str], Measurement] = {}
    for line, row in read_rows(path):
        one = measurement_from_row(row, path, line)
        latest[one.question_id, one.turn, one.model, one.choice, one.variant] = one
    found = [one for one in latest.values() if variant in {None, one.variant}]
    _one_way(path, found, variant)
    return found


def _numbers(one: Measurement, names: Sequence[str]) -> Iterator[Observation]:
    """Yield an observation of each number; a row that could not be computed has none of any of them."""
    for name in names:
        if one.values and name not in one.values:  # not asked in this category
            continue
        value = one.values.get(name) if one.values else one.value
        own = name if name.startswith(one.metric.split("_")[0]) else f"{one.metric} {name}"
        yield _number(one, own, value, "dimensions")


def _number(one: Measurement, name: str, value: float | None, form: Form) -> Observation:
    who, choice = one.library or "turnbench", str(one.choice)
    scale = None if one.metric == UNIEVAL else _SHARE
    source = Source(who, judge_set=one.metric, choice=choice, method=one.variant, form=form, scale=scale)
    return Observation(one.question_id, one.turn, one.model, None, name, value, (), source, None, _content_of(one))


def _content_of(one: Measurement) -> str | None:
    """Return the hash of the question that was answered, where it is known."""
    return None if one.made_from is None else one.made_from.question


def _one_way(path: pathlib.Path, found: Sequence[Measurement], variant: str | None) -> None:
    """Raise unless the numbers were computed in one way."""
    if not found:
        raise UsageError(f"{path} contains no numbers of the variant {variant!r}")
    for what, values, what_now in (
        ("variants", {one.variant for one in found}, "choose one with --variant"),
        ("tokenizers", {str(one.tokenizer) for one in found}, "compute all again: auto_metrics --redo"),
        ("libraries", {str(one.library) for one in found}, "compute all again: auto_metrics --redo"),
    ):
        if len(values) > 1:
            raise UsageError(f"{path} contains numbers of several {what}, {what_now}: {', '.join(sorted(values))}")
