"""What reports about judges start from: verdicts and votes, by judge, item, category and turn.

An item is a question's turn and one answer, or two answers in the order of their models' names.
The value of a grade is the grade, of a label the label, of a pair the share that goes to the first
model: 1, 0.5 or 0.
"""

import fnmatch
import math
import pathlib
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from msgspec import UNSET

from harness import bench as benches
from harness import store
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.options import JudgeReport
from harness.results.scores import outcome
from harness.types import Answer, Detail, Judgment, QuestionId, Vote


class Item(NamedTuple):
    """What is judged."""

    question: QuestionId
    turn: int
    models: tuple[str, ...]
    """One model, or two in the order of their names."""
    choice: int = 0

    def answer_of(self, model: str) -> "Item":
        """Return the answer of one of its models."""
        return self._replace(models=(model,))


class Game(NamedTuple):
    """One game of a pair."""

    value: float
    """The share that goes to the item's first model."""
    first: bool
    """Whether the item's first model was shown first."""


class Verdict(NamedTuple):
    """The verdict of one judge or voter on an item."""

    item: Item
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
    """Of votes, the file's name."""
    details: Sequence[Detail] = ()

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

    def category(self, item: Item) -> str | None:
        """Return the category of an item's question; None if it is not the benchmark's."""
        question = self.bench.by_id.get(item.question)
        return None if question is None else question.category

    def verdicts(
        self,
        paired: bool | None = None,
        *,
        files: Sequence[pathlib.Path] = (),
        judge_set: str | None = None,
        failed: bool = False,
    ) -> list[Verdict]:
        """Return verdicts of files, else of --input-file, else of the benchmark.

        `paired`: pairs or others, by default those of --mode, else others if there are any;
        `judge_set`: by default that of --judge-set; `failed`: also those without a value.

        Raises:
            MissingError: there is none.
            UsageError: they are by several criteria.
        """
        select = self.options.select
        paths = list(files or select.input_file)
        paths = paths or [file.path for file in self.bench.judgment_files()]
        verdicts = [v for path in paths for v in self._read(path, judge_set or select.judge_set)]
        if paired is None and select.mode is not None:
            paired = select.mode != "single"
        if paired is None:
            paired = all(v.paired for v in verdicts)
        verdicts = [v for v in verdicts if v.paired == paired and (failed or v.value is not None)]
        if not verdicts:
            what = "pairs" if paired else "judgments"
            where = ", ".join(map(str, paths)) or self.bench.folder
            raise MissingError(f"there are no {what} of these judges in {where}")
        criteria = {v.criterion for v in verdicts if not v.voter}
        if len(criteria) > 1:
            names = ", ".join(sorted(map(str, criteria)))
            raise UsageError(f"judgments by several criteria ({names}); choose with --criterion")
        return verdicts

    def votes(self) -> list[Verdict]:
        """Return the votes, and judgments, of --votes files, else of the benchmark."""
        select = self.options.select
        paths = select.votes or self.bench.vote_files()
        verdicts = [v for path in paths for v in self._read(path, select.judge_set)]
        return [v for v in verdicts if v.value is not None]

    def texts(self, item: Item) -> tuple[str, ...] | None:
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

    def _read(self, path: pathlib.Path, judge_set: str | None) -> Iterable[Verdict]:
        verdicts: dict[Any, Verdict] = {}
        if store.looks_like(path, Vote):
            for key, vote in store.latest(path, Vote).items():
                if not any(fnmatch.fnmatch(vote.voter, p) for p in self.options.select.exclude):
                    verdicts[key] = _of_vote(vote, path.stem)
        else:
            for place in store.rows(path, Judgment):
                row, v = place.row, of_judgment(place.row)
                key = (*row.key, row.judge_model, row.judge_set)
                if self._is_among(row, judge_set) and (v.value is not None or key not in verdicts):
                    verdicts[key] = v
        return filter(self._is_selected, verdicts.values())

    def _is_among(self, row: Judgment, judge_set: str | None) -> bool:
        select, criteria = self.options.select, self.options.slice.criterion
        return (
            (not select.judge_model or row.judge_model in select.judge_model)
            and judge_set in (None, row.judge_set)
            and select.sample in (None, row.sample)
            and select.score_method in (None, row.score_method)
            and (not criteria or row.criterion in criteria)
        )

    def _is_selected(self, v: Verdict) -> bool:
        item, turns, models = v.item, self.options.slice.turns, self.options.slice.model_list
        return (
            (not turns or item.turn in turns)
            and (not models or set(item.models) <= set(models))
            and (self._questions is None or item.question in self._questions)
        )

    @cached_property
    def _questions(self) -> set[QuestionId] | None:
        """The questions of a slice; None: all, also those that are not the benchmark's."""
        questions = self.bench.take(self.options.slice)
        if len(questions) == len(self.bench.questions):
            return None
        return {question.question_id for question in questions}


def load(options: JudgeReport) -> Data:
    """Return the benchmark and its verdicts; without one, files that are named are read alone."""
    name, data_dir = options.bench.bench_name, options.bench.data_dir
    try:
        return Data(options, benches.load(name, data_dir))
    except UsageError:
        if not options.select.input_file and not options.select.votes:
            raise
        folder = pathlib.Path(data_dir, name)
        return Data(options, Bench(name, folder, folder, ()))


def _of_vote(vote: Vote, file: str) -> Verdict:
    first, second = sorted((vote.model_a, vote.model_b))
    item = Item(vote.question_id, vote.turn, (first, second))
    if vote.value is None:
        return Verdict(item, vote.voter, None, voter=True, file=file)
    value = vote.value if first == vote.model_a else 1 - vote.value
    games = (Game(value, first == vote.model_a),)
    return Verdict(item, vote.voter, value, games, voter=True, file=file)


def of_judgment(row: Judgment) -> Verdict:
    """Return the verdict of a judgment."""
    item = Item(row.question_id, row.turn, tuple(sorted(row.models)), row.choice)
    swap = row.models != item.models
    value: float | str | None = row.grade if row.label is UNSET else row.label
    games = []
    if row.model is None:
        orders = [True, False] if row.shown_first is None else [row.shown_first == "model_1"]
        for game, first in zip(row.games, orders, strict=False):
            if game is not None:
                games.append(Game(1 - game if swap else game, first != swap))
        won = outcome(row.games)
        value = None if row.failed else 1 - won if swap else won
    return Verdict(
        item,
        row.judge_model,
        value,
        tuple(games),
        judge_set=f"{row.judge_set} {row.judge_set_version}".rstrip(),
        criterion=row.criterion,
        sample=row.sample,
        scale=row.scale or (1.0, 10.0),
        details=row.details,
    )


def by_judge(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], dict[Item, list[Verdict]]]:
    """Return the verdicts of each judge with each judge set, by item."""
    judges: dict[tuple[str, str], dict[Item, list[Verdict]]] = {}
    for v in verdicts:
        judges.setdefault((v.judge, v.judge_set), {}).setdefault(v.item, []).append(v)
    return judges


def samples(items: Iterable[Sequence[Verdict]]) -> list[tuple[Verdict, Verdict]]:
    """Return every two verdicts on one item."""
    return [pair for verdicts in items for pair in combinations(verdicts, 2)]


def by_item(verdicts: Iterable[Verdict]) -> dict[Item, float]:
    """Return the mean verdict on each item."""
    values: dict[Item, list[float]] = {}
    for v in verdicts:
        values.setdefault(v.item, []).append(v.number)
    return {item: statistics.fmean(numbers) for item, numbers in values.items()}


def groups(
    data: Data, verdicts: Sequence[Verdict]
) -> Iterator[tuple[str, str | int | None, list[Verdict]]]:
    """Yield all verdicts, then those of each judge, category and turn, with the names of these."""
    yield "all", None, list(verdicts)
    keys: dict[str, Callable[[Verdict], str | int | None]] = {
        "judge": lambda v: "people" if v.voter else v.judge,
        "category": lambda v: data.category(v.item),
        "turn": lambda v: v.item.turn,
    }
    for by, key in keys.items():
        for name in dict.fromkeys(map(key, verdicts)):
            if name is not None:
                yield by, name, [v for v in verdicts if key(v) == name]
