"""What the tabs show, read through the index: one benchmark's scores, answers and judgments.

Nothing here is kept for a page: a view follows from its address and the files.
"""

import functools
import pathlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import TurnbenchError, UsageError
from harness.results import Panel, Scores, of_files, panels, rank
from harness.types import Answer, Judgment, Question, QuestionId
from viewer.index import Found, Index

FORMS = {
    "grade": "grades",
    "pair": "pairs",
    "label": "labels",
    "vote": "votes",
    "metric": "numbers",
}


@dataclass(frozen=True, eq=False)
class Source:
    """One judge or one file of judgments: what can be shown alone and compared with."""

    name: str
    """In the address and on the page."""
    scores: Scores


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The judgments that may stand in one table."""

    name: str
    """In the address: `grade/mt_bench`."""
    label: str
    panel: Panel

    @functools.cached_property
    def sources(self) -> dict[str, Source]:
        """Each judge, and each file of a judge that has several."""
        scores = self.panel.scores
        files: dict[str, dict[str, list[int]]] = {}
        for code in np.unique(scores.source).tolist():
            source = scores.sources[code]
            files.setdefault(source.judge, {}).setdefault(source.file, []).append(code)
        sources = {}
        for judge, by_file in files.items():
            for file, codes in by_file.items():
                name = (
                    judge if len(by_file) == 1 else file.removesuffix(".gz").removesuffix(".jsonl")
                )
                sources[name] = Source(name, scores.take(np.isin(scores.source, codes)))
        return sources

    @functools.cached_property
    def combined(self) -> Scores:
        """The mean of the judges, of the main number."""
        return self.panel.combined.of(metric=self.panel.metrics[0])

    @functools.cached_property
    def ranked(self) -> tuple[str, ...]:
        """The models, the best first."""
        return rank(self.combined).names if len(self.combined) else ()

    def of(self, judge: str) -> Panel:
        """Return the panel, or one judge's or file's part of it."""
        if judge not in self.sources or len(self.sources) == 1:
            return self.panel
        scores = self.sources[judge].scores
        judges = (scores.sources[int(scores.source[0])].judge,) if len(scores) else ()
        return replace(self.panel, scores=scores, judges=judges)


class Data:
    """One benchmark at a moment; made again when a file changes."""

    def __init__(self, bench: Bench, index: Index) -> None:
        self.bench, self.index = bench, index
        self._lock = threading.RLock()

    @functools.cached_property
    def scores(self) -> Scores:
        """All verdicts, votes and metrics."""
        rows = self.index.slims("judgment", "vote", "metric")
        return of_files(rows, self.bench.questions)

    @property
    def verdicts(self) -> dict[str, Verdicts]:
        """The panels by name, the one to show first first; made once."""
        with self._lock:
            return self._verdicts

    @functools.cached_property
    def _verdicts(self) -> dict[str, Verdicts]:
        verdicts: dict[str, Verdicts] = {}
        order = {"grade": 0, "label": 0, "points": 0, "dimensions": 0, "pair": 1, "metric": 3}
        every = panels(self.scores) if len(self.scores) else []

        def place(panel: Panel) -> tuple[bool, int, int]:
            builtin = all(judge.startswith("builtin/") for judge in panel.judges)
            return builtin, order.get(panel.form, 2), -len(panel.scores)

        for panel in sorted(every, key=place):
            name = f"{panel.form}/{panel.judge_set}"
            number = sum(known.startswith(name) for known in verdicts)
            name += f"/{number + 1}" if number else ""
            verdicts[name] = Verdicts(name, _label(panel), panel)
        return verdicts

    def chosen(self, name: str) -> Verdicts | None:
        """Return the verdicts of a name, else the first; None if there are none."""
        return self.verdicts.get(name) or next(iter(self.verdicts.values()), None)

    @functools.cached_property
    def models(self) -> list[str]:
        """The models that have answers or verdicts."""
        return list(dict.fromkeys([*self.bench.answered_models(), *self.scores.models]))

    def question(self, text: str) -> Question | None:
        """Return the question of an id in an address."""
        key: QuestionId = int(text) if text.isdecimal() else text
        return self.bench.by_id.get(key)

    def answers(self, question: QuestionId) -> dict[str, Answer]:
        """Return the answers to a question by model."""
        models = {path: model for model, path in self.bench.answer_files().items()}
        places = self.index.read(question, "answer")
        return {models[place.path]: place.row for place in places if place.path in models}

    def references(self, question: QuestionId) -> dict[str, Answer]:
        """Return the reference answers to a question by author."""
        authors = {path: author for author, path in self.bench.reference_files().items()}
        places = self.index.read(question, "reference")
        return {authors[place.path]: place.row for place in places if place.path in authors}

    def judgments(self, question: QuestionId) -> list[Found]:
        """Return the judgments of a question, texts included; of its wording today."""
        today = self.bench.by_id[question].hash
        places = self.index.read(question, "judgment")
        return [place for place in places if _is_about(place.row, today)]


def _is_about(row: Judgment, today: str) -> bool:
    return row.made_from is None or row.made_from.question in (None, today)


def _label(panel: Panel) -> str:
    """Return what a panel is called on the page."""
    form = FORMS.get(panel.form, panel.form)
    if panel.form == "vote":
        return "people's votes"
    if panel.form == "metric":
        return panel.judge_set
    judges = " and ".join(panel.judges) if len(panel.judges) < 3 else f"{len(panel.judges)} judges"
    unknown = panel.judge_set == "unstated"
    return f"{form} by {judges}" + ("" if unknown else f" ({panel.judge_set})")


class Home:
    """The benchmarks of a data folder."""

    def __init__(
        self,
        data_dir: pathlib.Path | str,
        names: Sequence[str] = (),
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`names` are the benchmarks to show; none: all in the folder.

        Raises:
            UsageError: there is no benchmark of such a name.
        """
        self.data_dir, self.progress = pathlib.Path(data_dir), progress
        self._given = tuple(names)
        self._open: dict[str, tuple[object, Bench, Index]] = {}
        self._data: dict[str, tuple[object, Data]] = {}
        self._lock = threading.RLock()
        for name in names:
            benches.load(name, data_dir)

    def names(self) -> list[str]:
        """Return the benchmarks, those with judgments first."""
        if self._given:
            return list(self._given)
        shipped = {path.parent.name for path in benches.shipped("data").glob("*/question.jsonl")}
        there = sorted(path for path in self.data_dir.glob("*/") if not path.name.startswith("."))
        folders = [p for p in there if (p / "question.jsonl").is_file() or p.name in shipped]
        folders.sort(key=lambda p: (not _holds(p, "model_judgment"), not _holds(p, "model_answer")))
        return [path.name for path in folders] or sorted(shipped)

    def data(self, name: str = "") -> Data:
        """Return a benchmark, with what is new in its files; without a name the first.

        Raises:
            UsageError: there is no such benchmark here.
            DataError: its questions are wrong.
        """
        names = self.names()
        name = name or (names[0] if names else "")
        if name not in names:
            raise UsageError(f"there is no benchmark {name!r} here")
        with self._lock:
            source = benches.find_source(self.data_dir / name)
            files = [source / "question.jsonl", self.data_dir / name / "bench.toml"]
            stamp = [(p.stat().st_mtime_ns, p.stat().st_size) for p in files if p.exists()]
            if name not in self._open or self._open[name][0] != stamp:
                bench = benches.load(name, self.data_dir)
                index = self._open[name][2] if name in self._open else Index(bench, self.progress)
                index.bench = bench
                self._open[name] = stamp, bench, index
            _, bench, index = self._open[name]
            now = (stamp, index.update())
            if name not in self._data or self._data[name][0] != now:
                self._data[name] = now, Data(bench, index)
            return self._data[name][1]

    def prepare(self) -> None:
        """Make what the first view needs."""
        try:
            for verdicts in self.data().verdicts.values():
                verdicts.ranked  # noqa: B018  (is kept)
        except TurnbenchError:
            return  # the view says so


def _holds(folder: pathlib.Path, name: str) -> bool:
    return next((folder / name).glob("*.jsonl*"), None) is not None
