"""What reports about judges start from: verdicts and votes, by judge, item, category and turn.

An item is a question's turn and one answer, or two answers in the order of their models' names.
The value of a grade is the grade, of a label the label, of a pair the share that goes to the first
model: 1, 0.5 or 0.
"""

import math
import pathlib
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.options import JudgeReport
from harness.reporting import Note
from harness.reporting.selecting import in_slice, is_chosen
from harness.results import Scores, read
from harness.results.agreement import RatedItem, is_turned, items, preferences, raters, values
from harness.results.scores import CONFIDENCE, MAIN
from harness.types import Answer, QuestionId


class Game(NamedTuple):
    """One game of a pair."""

    value: float
    """The share that goes to the item's first model."""
    first: bool
    """Whether the item's first model was shown first."""


class RaterVerdict(NamedTuple):
    """The verdict of one judge or voter on an item."""

    item: RatedItem
    judge: str
    value: float | str | None
    """None: no verdict."""
    games: tuple[Game, ...] = ()
    """Of pairs those with a verdict."""
    judge_set: str = ""
    """With its version: `mt_bench 2`."""
    criterion: str | None = None
    sample: int = 0
    voter: bool = False
    scale: tuple[float, float] = (1.0, 10.0)
    file: str = ""
    """The file's name."""
    row: int = -1
    """The number of its row in `Scores`."""

    @property
    def paired(self) -> bool:
        """Whether it is about two answers."""
        return len(self.item.models) > 1

    @property
    def number(self) -> float:
        """A grade or the share of a pair; NaN: no verdict, or a label."""
        return self.value if isinstance(self.value, int | float) else math.nan


@dataclass(frozen=True)
class Data:
    """A benchmark, and the verdicts on it that the options choose."""

    options: JudgeReport
    bench: Bench
    """An empty one if there is none and files are read alone."""

    def category(self, item: RatedItem) -> str | None:
        """Return the category of an item's question; None if it is not the benchmark's."""
        question = self.bench.by_id.get(item.question)
        return None if question is None else question.category

    @cached_property
    def scores(self) -> Scores:
        """All judgments and votes, of the files that are named, else of the benchmark."""
        select = self.options.select
        return read(self.bench, files=select.input_file, votes=select.votes)

    @cached_property
    def judgments(self) -> Scores:
        """The judgments that the options choose; none: all are left out."""
        select = self.options.select
        files = select.input_file or [file.path for file in self.bench.judgment_files()]
        return self._chosen(self.scores.of_files(files), select.judge_set)

    @cached_property
    def voted(self) -> Scores:
        """The votes, and judgments, of --votes files, else of the benchmark."""
        select = self.options.select
        files = select.votes or self.bench.vote_files()
        return self._chosen(self.scores.of_files(files), select.judge_set)

    @cached_property
    def people(self) -> Scores:
        """The votes on pairs of the people that the options choose."""
        return self.voted.by("person")

    @cached_property
    def judges(self) -> dict[str, Scores]:
        """The verdicts of each judge that the options choose, also those in the form of votes.

        --votes files with verdicts of judges name the judges, too.
        """
        select, rows = self.options.select, self.voted.by("judge").row
        if select.input_file or not (select.votes and len(rows)):
            rows = np.append(rows, self.judgments.row)
        return raters(self.scores.take(np.isin(self.scores.row, rows)).by("judge"))

    def preferences(self) -> dict[str, list[RaterVerdict]]:
        """Return each judge's verdicts on pairs, its mean one on each.

        A judge that compared none decides those that people voted on or others compared, by its
        grades.
        """
        pairs = [*items(self.people)]
        for scores in self.judges.values():
            pairs += items(scores.take(scores.opponent >= 0))
        decided = {name: preferences(of, pairs) for name, of in self.judges.items()}
        return {
            name: [RaterVerdict(item, name, value) for item, value in of.items()]
            for name, of in decided.items()
            if of
        }

    def graded(self) -> dict[str, list[RaterVerdict]]:
        """Return each judge's first verdict on single answers."""
        graded: dict[str, list[RaterVerdict]] = {}
        for name, of_judge in self.judges.items():
            scores = of_judge.take(of_judge.opponent < 0)
            if len(scores):
                self._check(scores, paired=False)
                found = [v._replace(judge=name) for v in verdicts_of(scores) if v.sample == 0]
                graded[name] = [v for v in found if v.value is not None]
        return graded

    def pairs(self) -> Scores:
        """Return the judged pairs that the options choose.

        Raises:
            MissingError: there is none.
            UsageError: they are by several criteria.
        """
        pairs = self.judgments.take(self.judgments.opponent >= 0)
        self._check(pairs, paired=True)
        return pairs

    def verdicts(
        self,
        paired: bool | None = None,
        *,
        files: Sequence[pathlib.Path] = (),
        judge_set: str | None = None,
    ) -> list[RaterVerdict]:
        """Return verdicts of the judgments, or of some of their files or of a judge set.

        `paired`: pairs or others, by default those of --mode, else others if there are any.

        Raises:
            MissingError: there is none.
            UsageError: they are by several criteria.
        """
        scores = self.judgments
        if files or judge_set:
            chosen = self.scores.of_files(files) if files else self.scores
            scores = self._chosen(chosen, judge_set or self.options.select.judge_set)
        if paired is None and self.options.select.mode is not None:
            paired = self.options.select.mode != "single"
        if paired is None:
            paired = bool(len(scores) and (scores.opponent >= 0).all())
        scores = scores.take((scores.opponent >= 0) == paired)
        self._check(scores, paired=paired, judge_set=judge_set)
        return [v for v in verdicts_of(scores) if v.value is not None]

    def votes(self) -> list[RaterVerdict]:
        """Return the votes, and judgments, of --votes files, else of the benchmark."""
        return [v for v in verdicts_of(self.voted) if v.value is not None]

    def _check(self, scores: Scores, *, paired: bool, judge_set: str | None = None) -> None:
        if not len(scores):
            what = "pairs" if paired else "judgments"
            where = ", ".join(map(str, self.options.select.input_file)) or self.bench.folder
            advice = f"; judge with --judge-set {judge_set}" if judge_set else ""
            raise MissingError(f"there are no {what} of these judges in {where}{advice}")
        present = scores.sources_present.values()
        criteria = {source.criterion for source in present if source.kind == "judge"}
        if len(criteria) > 1:
            names = ", ".join(sorted(name or "none" for name in criteria))
            advice = "choose with --criterion" + (" or --judge-set" if "" in criteria else "")
            raise UsageError(f"judgments by several criteria ({names}); {advice}")

    def _chosen(self, scores: Scores, judge_set: str | None) -> Scores:
        """Return the verdicts that the flags ask for."""
        part = self.options.slice
        chosen = [
            is_chosen(source, self.options.select, judge_set)
            and (not part.criterion or source.kind != "judge" or source.criterion in part.criterion)
            for source in scores.sources
        ]
        which = np.array(chosen, dtype=bool)
        scores = in_slice(scores.take(which[scores.source]), self.bench, part)
        if part.model_list:
            among = np.array([*(m in part.model_list for m in scores.models), True], dtype=bool)
            scores = scores.take(among[scores.model] & among[scores.opponent])
        return scores

    def texts(self, item: RatedItem) -> tuple[str, ...] | None:
        """Return the texts of an item's answers; None if one is missing."""
        texts = []
        for model in item.models:
            if model not in self._answers:
                self._answers[model] = self.bench.answers(model)
            answer = self._answers[model].get(item.question)
            if answer is None or item.choice >= len(answer.choices):
                return None
            texts += answer.choices[item.choice].turns[item.turn - 1 : item.turn]
        return tuple(texts) if len(texts) == len(item.models) else None

    @cached_property
    def _answers(self) -> dict[str, Mapping[QuestionId, Answer]]:
        return {}


def load(options: JudgeReport) -> Data:
    """Return the benchmark and its verdicts; without one, files that are named are read alone."""
    name, data_dir = options.bench.bench_name, options.bench.data_dir
    try:
        return Data(options, benches.load_named(options.bench))
    except UsageError:
        if not options.select.input_file and not options.select.votes:
            raise
        folder = pathlib.Path(data_dir, name)
        return Data(options, Bench(name, folder, folder, ()))


def verdicts_of(scores: Scores) -> list[RaterVerdict]:
    """Return the verdict of each row: its grade, label, or the share that a pair's first has."""
    sources, metrics = scores.sources, scores.metrics
    of_labels = np.array([source.form == "label" for source in sources], dtype=bool)
    numbers = np.array([name in (*MAIN, CONFIDENCE) for name in metrics], dtype=bool)
    is_label = of_labels[scores.source] & ~numbers[scores.metric] & (scores.value != 0)
    said = scores.take(~of_labels[scores.source]).main().plus(scores.take(is_label))
    _, starts = np.unique(said.row, return_index=True)  # a label without a verdict is there often
    said = said.take(starts)
    both = np.stack([said.shown_first, said.shown_second])
    swap = is_turned(said)
    both[:, swap] = 1 - both[::-1, swap]
    games = [
        tuple(Game(value, first) for value, first in ((one, True), (two, False)) if value == value)
        for one, two in both.T.tolist()
    ]
    verdicts = []
    columns = said.row.tolist(), said.source.tolist(), said.metric.tolist(), values(said).tolist()
    for item, of_item, row, code, metric, number in zip(items(said), games, *columns, strict=True):
        source = sources[code]
        value = metrics[metric] if source.form == "label" else number
        verdicts.append(
            RaterVerdict(
                item,
                source.judge,
                None if math.isnan(number) else value,
                of_item,
                judge_set=source.versioned_set,
                criterion=source.criterion or None,
                sample=source.sample,
                voter=source.kind == "person",
                scale=source.scale or (1.0, 10.0),
                file=pathlib.Path(source.file).stem,
                row=row,
            )
        )
    return verdicts


def itself(judges: Mapping[str, Scores]) -> list[Note]:
    """Return notes on judges among whose answers are their own."""
    notes = []
    for name, scores in judges.items():
        models = {*scores.model.tolist(), *scores.opponent.tolist()} - {-1}
        judged = {scores.models[code] for code in models}
        if own := judged & {source.judge for source in scores.sources_present.values()}:
            notes.append(Note(f"{name} judges answers of its own ({', '.join(sorted(own))})."))
    return notes


def by_judge(
    verdicts: Iterable[RaterVerdict],
) -> dict[tuple[str, str], dict[RatedItem, list[RaterVerdict]]]:
    """Return the verdicts of each judge with each judge set, by item."""
    judges: dict[tuple[str, str], dict[RatedItem, list[RaterVerdict]]] = {}
    for v in verdicts:
        judges.setdefault((v.judge, v.judge_set), {}).setdefault(v.item, []).append(v)
    return judges


def samples(items: Iterable[Sequence[RaterVerdict]]) -> list[tuple[RaterVerdict, RaterVerdict]]:
    """Return every two verdicts on one item."""
    return [pair for verdicts in items for pair in combinations(verdicts, 2)]


def by_item(verdicts: Iterable[RaterVerdict]) -> dict[RatedItem, list[RaterVerdict]]:
    """Return the verdicts on each item."""
    items: dict[RatedItem, list[RaterVerdict]] = {}
    for v in verdicts:
        items.setdefault(v.item, []).append(v)
    return items


def mean_by_item(verdicts: Iterable[RaterVerdict]) -> dict[RatedItem, float]:
    """Return the mean verdict on each item."""
    return {
        item: statistics.fmean(v.number for v in of_item)
        for item, of_item in by_item(verdicts).items()
    }


def groups(
    data: Data, verdicts: Sequence[RaterVerdict]
) -> Iterator[tuple[str, str | int | None, list[RaterVerdict]]]:
    """Yield all verdicts, then those of each judge, category and turn, with the names of these."""
    yield "all", None, list(verdicts)
    keys: dict[str, Callable[[RaterVerdict], str | int | None]] = {
        "judge": lambda v: "people" if v.voter else v.judge,
        "category": lambda v: data.category(v.item),
        "turn": lambda v: v.item.turn,
    }
    for by, key in keys.items():
        for name in dict.fromkeys(map(key, verdicts)):
            if name is not None:
                yield by, name, [v for v in verdicts if key(v) == name]
