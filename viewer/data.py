"""What the tabs show, read through the index: one benchmark's scores, answers and judgments.

Nothing here is kept for a page: a view follows from its address and the files.
"""

import bisect
import contextlib
import copy
import functools
import itertools
import pathlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import unquote

import msgspec
import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.bench.names import name_of_file
from harness.errors import DataError, MissingError, TurnbenchError, UsageError
from harness.options import ReasoningShown
from harness.results import Panel, Scores, baseline_of, panels, rank, read
from harness.results.changes import Noise, Runs, both_runs, noise_between, verdict_changes
from harness.results.scores import Form
from harness.types import (
    UNSTATED,
    Answer,
    Judgment,
    Measurement,
    Question,
    QuestionId,
    Vote,
    as_question_id,
)
from viewer.controls import Fields
from viewer.index import Index, say_fault
from viewer.notes import Notes
from viewer.state import View


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The judgments that may stand in one table."""

    name: str
    """In the address: `grade/mt_bench`."""
    label: str
    panel: Panel

    @functools.cached_property
    def sources(self) -> dict[str, Scores]:
        """What can be shown alone: each judge, and each file of a judge that has several."""
        scores = self.panel.scores
        present = scores.sources_present
        files = {source.judge: set[str]() for source in present.values()}
        for source in present.values():
            files[source.judge].add(source.file)
        codes: dict[str, list[int]] = {}
        for code, source in present.items():
            file = source.file.removesuffix(".gz").removesuffix(".jsonl")
            name = source.judge if len(files[source.judge]) == 1 else file
            codes.setdefault(name, []).append(code)
        return {name: scores.take(np.isin(scores.source, some)) for name, some in codes.items()}

    @property
    def choices(self) -> dict[str, str]:
        """The sources to choose from; voters are too many."""
        return {n: unquote(n) for n in self.sources} if 1 < len(self.sources) <= 12 else {}

    @functools.cached_property
    def ranked(self) -> tuple[str, ...]:
        """The models, the best first."""
        combined = self.panel.combined.of(metric=self.panel.metrics[0])
        return rank(combined).names if len(combined) else ()

    def of(self, source: str) -> Panel:
        """Return the panel, or one judge's or file's part of it."""
        if source not in self.sources or len(self.sources) == 1:
            return self.panel
        scores = self.sources[source]
        judges = tuple({present.judge for present in scores.sources_present.values()})
        return replace(self.panel, scores=scores, judges=judges)


RUN = "run"
"""In an address: the run of `--compare-with`."""


class Data:
    """One benchmark at a moment; made again when a file changes."""

    def __init__(
        self,
        bench: Bench,
        index: Index,
        stamp: object,
        other: "Data | None" = None,
        judges: Sequence[str] = (),
    ) -> None:
        """`stamp` changes with the benchmark's own files; `other` is the run to compare with.

        The verdicts of `judges` come first.
        """
        self.bench, self.index, self.stamp, self.other = bench, index, stamp, other
        self._judges = judges
        self.notes = Notes(bench)
        self._faults: list[str] = []
        self._noise: dict[tuple[Form, str], Noise] = {}
        self.kept: dict[View, tuple[str, Fields]] = {}
        """Pages and what can be chosen, by address; right as long as no file changes."""
        self.hits: dict[tuple[str, str], str] = {}
        """What searches found, by where and what was searched."""

    @functools.cached_property
    def scores(self) -> Scores:
        """All verdicts, votes and metrics."""
        metrics = [name_of_file(path.name) for path in self.bench.metric_files()]
        self.index.progress = "reading the verdicts"
        faults: list[DataError] = []
        try:
            return read(self.bench, votes=(), metrics=metrics, needed=False, faults=faults)
        finally:
            self.index.progress = ""
            self._faults += map(say_fault, faults)

    @functools.cached_property
    def version(self) -> str:
        """What changes with the files of the benchmark, and of the other run."""
        then = self.other.version if self.other is not None else ""
        return self.index.version + then + self.notes.version

    @property
    def faults(self) -> list[str]:
        """What is wrong with files, a line each, as far as it was met."""
        of_other = self.other.faults if self.other is not None else ()
        other = [f"the other run: {fault}" for fault in of_other]
        found = dict.fromkeys([*self.index.faults, *self.notes.faults, *self._faults, *other])
        # what is wrong with a row that was opened is wrong with its file, too
        return [fault for fault in found if not any(f.startswith(f"{fault}. ") for f in found)]

    def renew_notes(self) -> Self:
        """Return this with the notes as they are now; no number depends on them."""
        if self.notes.is_current():
            return self
        data = copy.copy(self)
        data.notes, data.kept = Notes(self.bench), {}
        vars(data).pop("version", None)
        return data

    def rows(self, numbers: Iterable[int]) -> dict[int, Judgment | Vote | Measurement]:
        """Return whole rows by their numbers in `Scores.row`."""
        found: dict[int, Judgment | Vote | Measurement] = {}
        starts = [start for _, start, _ in self.scores.files]
        ordered = sorted(numbers)
        for at, group in itertools.groupby(ordered, lambda n: bisect.bisect_right(starts, n) - 1):
            path, start, _ = self.scores.files[at]
            places = self.index.rows_at(path, [number - start for number in group])
            found |= {start + number: row for number, row in places.items()}
        return found

    @functools.cached_property
    def baseline(self) -> str | None:
        """The model that is in every pair that was judged."""
        return baseline_of(self.scores.by("judge"))

    @functools.cached_property
    def runs(self) -> Runs:
        """The judges' panels, each with the other run's that is most like it."""
        return self._in_both_runs([verdicts.panel for verdicts in self.verdicts.values()])

    def _in_both_runs(self, own: list[Panel]) -> Runs:
        others = self.other.verdicts.values() if self.other is not None else ()
        return both_runs(own, [verdicts.panel for verdicts in others])

    @functools.cached_property
    def changes(self) -> dict[int, float]:
        """How much more each verdict is than in the other run, by its number in `Scores.row`."""
        return {change.row: change.by for run in self.runs for change in verdict_changes(*run)}

    def noise(self, form: Form, judge: str) -> Noise:
        """Return how far verdicts of a form on the same answers are apart, in both runs.

        They are those of one judge or, if none is named, of all.
        """
        if (form, judge) not in self._noise:
            judges = [judge] if judge else ()
            self._noise[form, judge] = noise_between(self.runs, form, self.baseline, judges)
        return self._noise[form, judge]

    @functools.cached_property
    def listed(self) -> None:
        """Puts every verdict into the index's table, once."""
        from viewer.verdicts import fill

        fill(self)

    @functools.cached_property
    def judges(self) -> tuple[str, ...]:
        """The judges whose verdicts come first, if they have any; none: all together."""
        there = {source.judge for source in self.scores.by("judge").sources_present.values()}
        return tuple(name for name in self._judges if name in there)

    @functools.cached_property
    def verdicts(self) -> dict[str, Verdicts]:
        """The panels by name, the one to show first first."""
        verdicts: dict[str, Verdicts] = {}
        order = {"grade": 0, "label": 0, "points": 0, "dimensions": 0, "pair": 1, "metric": 3}

        def place(panel: Panel) -> tuple[bool, bool, int, int]:
            builtin = all(judge.startswith("builtin/") for judge in panel.judges)
            later = not set(panel.judges) <= set(self.judges)
            return later, builtin, order.get(panel.form, 2), -len(panel.scores)

        first = np.array([s.judge in self.judges for s in self.scores.sources], dtype=bool)
        parts = [self.scores.take(some[self.scores.source]) for some in (first, ~first)]
        found = [panel for part in parts for panel in panels(part, named=self.judges)]
        for panel in sorted(found, key=place):
            name = f"{panel.form}/{panel.judge_set}"
            number = sum(earlier.startswith(name) for earlier in verdicts)
            name += f"/{number + 1}" if number else ""
            verdicts[name] = Verdicts(name, _label(panel), panel)
        return verdicts

    def chosen(self, name: str) -> Verdicts | None:
        """Return the verdicts of a name, else the first; None if there are none."""
        return self.verdicts.get(name) or next(iter(self.verdicts.values()), None)

    def compared(self, chosen: Verdicts, name: str) -> Panel | None:
        """Return what the chosen verdicts are compared with: a source of theirs, or others.

        RUN: the other run's; none if its questions are others.
        """
        if name == RUN and self.other is not None:
            same = [q.question_id for q in self.other.bench.questions] == [*self.bench.by_id]
            runs = self._in_both_runs([chosen.panel]) if same else ()
            return next((other for _, other in runs), None)
        if name in chosen.sources:
            return chosen.of(name)
        other = self.verdicts.get(name)
        return other.panel if other is not None else None

    def best_first(self, name: str) -> list[str]:
        """Return the models of some verdicts by rank; without verdicts, all.

        The order is kept in the index, so that a question can be opened without reading verdicts.
        """
        fact = " ".join(["ranked", name, *self._judges])
        if "scores" not in self.__dict__ and (kept := self.index.fact(fact)):
            return msgspec.json.decode(kept, type=list[str])
        chosen = self.chosen(name)
        best = list((chosen and chosen.ranked) or self.models)
        self.index.note(fact, msgspec.json.encode(best).decode())
        return best

    @functools.cached_property
    def models(self) -> list[str]:
        """The models that have answers or verdicts."""
        return list(dict.fromkeys([*self.bench.answered_models(), *self.scores.models]))

    def question(self, text: str) -> Question | None:
        """Return the question of an id in an address."""
        return self.bench.by_id.get(as_question_id(text))

    def answers(self, question: QuestionId) -> dict[str, Answer]:
        """Return the answers to a question by model."""
        return self._by_file("answer", self.bench.answer_files(), question)

    def references(self, question: QuestionId) -> dict[str, Answer]:
        """Return the reference answers to a question by author."""
        return self._by_file("reference", self.bench.reference_files(), question)

    def _by_file(
        self, kind: str, files: Mapping[str, pathlib.Path], question: QuestionId
    ) -> dict[str, Answer]:
        names = {path: name for name, path in files.items()}
        rows = self.index.read(question, kind)
        return {names[path]: self.bench.as_shown(row) for row, path in rows if path in names}

    def judgments(self, question: Question) -> list[Judgment]:
        """Return the judgments of a question, texts included; of its wording today."""
        rows = [row for row, _ in self.index.read(question.question_id, "judgment")]
        return [
            row
            for row in rows
            if row.made_from is None or row.made_from.question in (None, question.hash)
        ]


def _label(panel: Panel) -> str:
    """Return what a panel is called on the page."""
    if panel.form == "vote":
        return "people's votes"
    if panel.form == "metric":
        return panel.judge_set
    judges = " and ".join(panel.judges) if len(panel.judges) < 3 else f"{len(panel.judges)} judges"
    judge_set = f" ({panel.judge_set})" if panel.judge_set != UNSTATED else ""
    return f"{panel.form.removesuffix('s')}s by {judges}{judge_set}"


class Home:
    """The benchmarks of a data folder."""

    def __init__(
        self,
        data_dir: pathlib.Path | str,
        names: Sequence[str] = (),
        reasoning: ReasoningShown = "split",
        compare_with: pathlib.Path | None = None,
        judges: Sequence[str] = (),
    ) -> None:
        """`names` are the benchmarks to show; none: all. `judges`: whose verdicts come first.

        Raises:
            UsageError: there is no benchmark of such a name.
            MissingError: there is no folder to compare with.
        """
        if compare_with is not None and not compare_with.is_dir():
            raise MissingError(f"--compare-with {compare_with}: no such folder")
        self.other = None
        if compare_with is not None:
            self.other = Home(compare_with, names, reasoning, judges=judges)
        self.data_dir, self._judges = pathlib.Path(data_dir), judges
        self.reasoning: ReasoningShown = reasoning
        self._names = list(names)
        self._data: dict[str, Data] = {}
        self._indexes: list[Index] = []
        self._lock = threading.RLock()
        for name in names:
            benches.load(name, data_dir)

    def names(self) -> list[str]:
        """Return the benchmarks, those with judgments first."""
        if self._names:
            return self._names
        shipped = {path.parent.name for path in benches.shipped("data").glob("*/question.jsonl")}
        folders = sorted(path for path in self.data_dir.glob("*/") if not path.name.startswith("."))
        folders = [p for p in folders if (p / "question.jsonl").is_file() or p.name in shipped]
        folders.sort(key=lambda p: (not _holds(p, "model_judgment"), not _holds(p, "model_answer")))
        return [path.name for path in folders] or sorted(shipped)

    def data(self, name: str = "") -> Data:
        """Return a benchmark, with what is new in its files; without a name the first.

        Raises:
            UsageError: there is no such benchmark here.
            DataError: its questions are wrong.
        """
        names = self.names()
        name = name or names[0]
        if name not in names:
            raise UsageError(f"there is no benchmark {name!r} here")
        other = None
        if self.other is not None and name in self.other.names():
            other = self.other.data(name)
        with self._lock:
            source = benches.find_source(self.data_dir / name)
            files = [source / "question.jsonl", self.data_dir / name / "bench.toml"]
            stamp = [(p.stat().st_mtime_ns, p.stat().st_size) for p in files if p.exists()]
            data = self._data.get(name)
            if data is None or data.stamp != stamp:
                bench = benches.load(name, self.data_dir, self.reasoning)
                data = Data(bench, Index(bench), stamp, judges=self._judges)
                self._indexes.append(data.index)
            if data.index.update() or data.other is not other:
                data = Data(data.bench, data.index, stamp, other, self._judges)
            data = self._data[name] = data.renew_notes()
            return data

    @property
    def progress(self) -> str:
        """What is going on before a view can be shown, in words; empty: nothing."""
        return next((words for index in self._indexes if (words := index.progress)), "")

    def prepare(self) -> None:
        """Make what the first view needs, which waits for it."""
        with contextlib.suppress(TurnbenchError):  # the view says what is wrong
            for verdicts in self.data().verdicts.values():
                verdicts.ranked  # noqa: B018  (is kept)


def _holds(folder: pathlib.Path, name: str) -> bool:
    return next((folder / name).glob("*.jsonl*"), None) is not None
