"""What counts of a benchmark → files of another project's form, by one function a format.

    report = export("alpaca_eval", "out", bench_name="alpaca_eval")
    report.written    [PosixPath('out/my-model/alpaca_eval/annotations.json')]

A format is one function `(bench, results) → files`; nothing is written before all of its files are
made, and nothing is overwritten.
"""

import functools
import math
import pathlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from harness import registry, store
from harness.bench import Bench, load_named
from harness.errors import MissingError, UsageError
from harness.judging.current import in_words
from harness.options import Export, Select, ShowResult
from harness.registry import Shown
from harness.reporting.selecting import Judged, read_judged
from harness.results import Scores, Source
from harness.results.reading import whole_rows
from harness.results.spent import Cost
from harness.types import Judgment

NO_ANSWER = "the answers are not here"
"""Why a format that shows answers leaves judgments out."""


class File(NamedTuple):
    """One file of an export."""

    path: str
    """From the output folder, with `/`; empty: the format is one file, and this is the output."""
    data: bytes
    records: Mapping[str, int] = MappingProxyType({})
    """How many records it holds, of each kind by which they are counted."""


class ExportedVerdict(NamedTuple):
    """What a judge said of an answer; of a pair, as one of its models sees it."""

    row: Judgment
    model: str
    opponent: str | None
    source: Source
    numbers: dict[str, float | None]
    """By metric; None: no verdict. Of a pair 1 the model won, 0.5 tie, 0 it lost."""

    @property
    def texts(self) -> str:
        """What the judge wrote; of a pair in both games, each with who was shown first."""
        if self.opponent is None:
            return self.row.judgment or ""
        first, second = self.row.models
        games = (first, self.row.g1_judgment), (second, self.row.g2_judgment)
        texts = [f"{name} shown first:\n{text}" for name, text in games if text is not None]
        return "\n\n".join(texts)


@dataclass
class Results:
    """The results of a benchmark that are exported."""

    judged: Judged
    """As `show_result` selects and shows them."""
    asked: ShowResult = field(default_factory=ShowResult)
    """What `show_result` would be asked for to show them."""
    model_list: tuple[str, ...] = ()
    """Only these models; empty: all."""
    cost: Cost = field(default_factory=Cost)
    """The dollars of a reply."""
    left_out: Counter[str] = field(default_factory=Counter)
    """How many judgments a format has no place for, by the reason; formats add to it."""

    @property
    def scores(self) -> Scores:
        """The verdicts that count, as columns."""
        return self.judged.scores

    @functools.cached_property
    def judgments(self) -> list[Judgment]:
        """The rows of these verdicts, texts included, in the order of the files."""
        return [row for _, row in whole_rows(self.scores) if isinstance(row, Judgment)]

    @functools.cached_property
    def models(self) -> tuple[str, ...]:
        """The models that were judged, or those of them that were asked for."""
        return tuple(m for m in self.scores.models_present if m in (self.model_list or (m,)))

    @functools.cached_property
    def verdicts(self) -> dict[str, list["ExportedVerdict"]]:
        """Every verdict by model, in the order of the files; a pair is there for both models."""
        rows = {n: row for n, row in whole_rows(self.scores) if isinstance(row, Judgment)}
        both = self.scores.mirrored()
        columns = both.row, both.model, both.opponent, both.metric, both.source, both.value
        found: dict[tuple[int, int], ExportedVerdict] = {}
        entries = zip(*(column.tolist() for column in columns), strict=True)
        for number, model, opponent, metric, source, value in entries:
            if (row := rows.get(number)) is not None:
                other = None if opponent < 0 else both.models[opponent]
                new = ExportedVerdict(row, both.models[model], other, both.sources[source], {})
                numbers = found.setdefault((number, model), new).numbers
                numbers[both.metrics[metric]] = None if math.isnan(value) else value
        by_model: dict[str, list[ExportedVerdict]] = {model: [] for model in self.models}
        for (_, model), verdict in sorted(found.items(), key=lambda item: item[0]):
            if both.models[model] in by_model:
                by_model[both.models[model]].append(verdict)
        return by_model

    def leave_out(self, reason: str, verdicts: Iterable[ExportedVerdict]) -> None:
        """Note why judgments are left out, a pair that both of its models lack once."""
        self.left_out[reason] += len({id(verdict.row) for verdict in verdicts})

    def of_model(self, row: Judgment) -> str:
        """Return whose judgment a row is: of a pair with the baseline the other model's."""
        first = row.models[0] == self.judged.view.baseline
        return row.models[-1] if first else row.models[0]

    def of_kind(self, kind: Literal["single", "pair"]) -> list[Judgment]:
        """Return the judgments of single answers, or of pairs, of the models asked for."""
        wanted = self.model_list
        return [
            row
            for row in self.judgments
            if (row.model is None) == (kind == "pair")
            and self.of_model(row) in (wanted or row.models)
        ]

    def of_one_judge(self, kind: Literal["single", "pair"]) -> dict[str, list[Judgment]]:
        """Return the grades, or pairs, of one judge with one judge set, by model, as `of_model`.

        Raises:
            UsageError: several judges or judge sets made them.
            MissingError: there are none.
        """
        rows = self.of_kind(kind)
        one_of("--judge-model", (row.judge_model for row in rows))
        one_of("--judge-set", (row.judge_set for row in rows))
        by_model: dict[str, list[Judgment]] = {}
        for row in rows:
            by_model.setdefault(self.of_model(row), []).append(row)
        if not by_model:
            what = "pairs" if kind == "pair" else "grades"
            raise MissingError(f"there are no such {what} in {self.judged.bench.folder}")
        return by_model


def one_of(flag: str, values: Iterable[str]) -> None:
    """Raise UsageError if these values differ; the flag chooses one of them."""
    if len(names := sorted(set(values))) > 1:
        raise UsageError(f"choose one with {flag}: {', '.join(names)}")


Exporter: TypeAlias = Callable[[Bench, Results], Iterable[File]]


@dataclass
class ExportReport(Shown):
    """What was exported."""

    written: list[pathlib.Path] = field(default_factory=list)
    records: Counter[str] = field(default_factory=Counter)
    """Records by what the format counts: models, grades, judges."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Judgments that the format has no place for, by the reason."""
    not_current: list[str] = field(default_factory=list)
    """Judgments of what has changed since they were made, in words."""

    def __repr__(self) -> str:
        return f"<ExportReport: {self.records.total():,} records, {len(self.written)} files>"


def export(options: Export, cost: Cost) -> ExportReport:
    """Write a benchmark's results in another project's form; `cost` is the price of a reply.

    Raises:
        UsageError: no such format; several judges or judge sets of which one is to be named; a
            file is there already.
        MissingError: there are no such judgments.
        StorageError: a file cannot be written.
    """
    if not options.format:
        raise UsageError(f"name a format: {', '.join(registry.names('exporter'))}")
    exporter: Exporter = registry.find("exporter", options.format)
    bench = load_named(options.bench)
    asked = _selection(options)
    results = Results(read_judged(asked), asked, options.model_list, cost)
    files = list(exporter(bench, results))
    paths = [_place(options, bench, file) for file in files]
    for path in paths:
        if path.exists():
            raise UsageError(f"{path} is there already; give another --output")
    stale = results.scores.of(models=options.model_list or None).left_out
    report = ExportReport(left_out=results.left_out, not_current=in_words(stale))
    for path, file in zip(paths, files, strict=True):
        store.write_file(path, file.data)
        report.written.append(path)
        report.records.update(file.records)
    return report


def _selection(options: Export) -> ShowResult:
    """Return the flags with which `show_result` shows the same judgments."""
    select = Select(
        judge_model=options.judge_model,
        judge_set=options.judge_set,
        baseline_model=options.baseline_model,
    )
    return ShowResult(bench=options.bench.shown, select=select)


def _place(options: Export, bench: Bench, file: File) -> pathlib.Path:
    """Return where a file goes; without --output beside what the user works at."""
    name = f"{bench.name}-{options.format}"
    if file.path:
        return (options.output or pathlib.Path(name)) / pathlib.PurePosixPath(file.path)
    return options.output or pathlib.Path(f"{name}.json")


def json_array(records: Sequence[Any]) -> bytes:
    """Return records as a JSON array with a line each."""
    import json

    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    return f"[\n{lines}\n]\n".encode("utf-8", "replace")
