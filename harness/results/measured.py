"""Files of metrics -> observations, so that numbers without a judge are shown, compared and reported like grades.

    {"metric": "bleu", "value": 0.31, "values": {"bleu_1": 0.5, "bleu_4": 0.31}, ...}  ->  bleu_1 0.5, bleu_4 0.31

A metric with several numbers is an observation of each; their names say whose they are ("checks strict"). Numbers of
two variants, tokenizers or libraries are never in one table.
"""

import pathlib
from collections.abc import Iterator, Sequence

from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.jsonl import read_rows
from harness.judgments.observations import Observations
from harness.names import name_of
from harness.records import Measurement, Observation, QuestionId, Source
from harness.rows import measurement_from_row
from harness.written import nearest


def measured_metrics(bench: Bench) -> list[str]:
    """Return the metrics of which there are numbers, by name."""
    folder = bench.folder / "model_metric"
    return sorted(name_of(path.stem) for path in folder.glob("*.jsonl") if not path.name.startswith("."))


def read_metric(bench: Bench, name: str, variant: str | None = None) -> Observations:
    """Return what a metric says of all answers.

    Raises:
        MissingError: there are no such numbers.
        UsageError: there are several variants, and which is meant is not said.
        DataError: a line is not what it must be.
    """
    path = bench.metric_file(name)
    if not path.exists():
        there = measured_metrics(bench)
        how = "auto_checks" if name == "checks" else f"auto_metrics --metrics {name}"
        hint = f"; {nearest(name, there)}" if there else ""
        raise MissingError(f"no numbers of {name} in {bench.folder}{hint}; run {how} --bench-name {bench.name} first")
    latest: dict[tuple[QuestionId, int, str, int, str], Measurement] = {}
    for line, row in read_rows(path):
        one = measurement_from_row(row, path, line)
        latest[one.question_id, one.turn, one.model, one.choice, one.variant] = one
    found = [one for one in latest.values() if variant in {None, one.variant}]
    _one_way(path, found, variant)
    names = list(dict.fromkeys(number for one in found for number in one.values)) or [name]
    return Observations.of(observation for one in found for observation in _numbers(one, names))


def _numbers(one: Measurement, names: Sequence[str]) -> Iterator[Observation]:
    """Yield an observation of each number; a row that could not be computed has none of any of them."""
    source = Source(
        one.library or "turnbench", judge_set=one.metric, choice=str(one.choice), method=one.variant, form="dimensions"
    )
    content = None if one.made_from is None else one.made_from.question
    for name in names:
        value = one.values.get(name) if one.values else one.value
        own = name if name.startswith(one.metric) else f"{one.metric} {name}"
        yield Observation(one.question_id, one.turn, one.model, None, own, value, (), source, None, content)


def _one_way(path: pathlib.Path, found: Sequence[Measurement], variant: str | None) -> None:
    """Raise unless the numbers were computed in one way."""
    if not found:
        raise UsageError(f"{path} holds no numbers of the variant {variant!r}")
    for what, values, what_now in (
        ("variants", {one.variant for one in found}, "choose one with --variant"),
        ("tokenizers", {str(one.tokenizer) for one in found}, "compute all again: auto_metrics --redo"),
        ("libraries", {str(one.library) for one in found}, "compute all again: auto_metrics --redo"),
    ):
        if len(values) > 1:
            raise UsageError(f"{path} holds numbers of several {what}, {what_now}: {', '.join(sorted(values))}")
