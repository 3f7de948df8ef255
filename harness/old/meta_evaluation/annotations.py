"""Files of votes and of pair judgments -> the annotations of people and judges on the same items.

    Items.said    {(people, ): {item: [1.0, 0.0, 0.5, 1.0]},      x's share of the win with each of four people
                   (gpt-4, mt_bench 1): {item: [1.0]}}            one sample, both games of it together

An item is (question 81, turn 1, x, y), where x is named first in the first vote on it. An annotation is the verdict of
one person, or one sample of a judge, on an item. Only a judge's annotations of items that people voted on are kept.
"""

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from harness.old.judgments.case import outcome
from harness.old.judgments.file_name import judgment_files, kinds_of, parse
from harness.old.judgments.reading import read_judgments
from harness.old.judgments.row import JudgedRow, judged_rows
from harness.old.meta_evaluation.votes import Item, pairs_in
from harness.old.records import Games, QuestionId, Source
from harness.old.results.answers import answer_texts
from harness.old.results.cost import Prices, Spent, spent_on
from harness.old.results.finding import Found, without_voters
from harness.old.results.query import Query
from harness.old.results.replaced import without_replaced


class Game(NamedTuple):
    """One of the orders in which two answers were shown."""

    to_shown: float
    """What of 1 went to the answer that was shown first."""
    in_order: bool
    """Whether that was the item's first answer."""


class Annotation(NamedTuple):
    """The verdict of one person, or one sample of a judge, on an item."""

    value: float | None
    """The preference for the item's first answer, from 0 to 1; None if there is no verdict."""
    games: tuple[Game, ...] = ()
    """Those whose order is known."""
    spent: Spent = Spent(None, None)


Annotated: TypeAlias = dict[Item, list[Annotation]]


class Judge(NamedTuple):
    """Who judges: the same model with another judge set is another one."""

    name: str
    judge_set: str


PEOPLE = Judge("people", "")
"""All voters together."""


@dataclass(frozen=True)
class Items:
    """All annotations of the items that people voted on, and how they are counted."""

    said: dict[Judge, Annotated]
    """That of people first."""
    questions: Mapping[QuestionId, int]
    """The places of the questions that are resampled."""
    texts: Mapping[Item, tuple[str, str]]
    """Both answers of each item, as far as the benchmark has both."""
    elsewhere: int
    """Judgments about pairs that nobody voted on."""
    reworded: int
    """Judgments of questions that have another wording now."""
    replaced: tuple[str, ...]
    """What to say of judgments of answers that have been replaced since, which are left out."""
    absent: tuple[str, ...]
    """Judges of which no judgment counts, being of other pairs or of another wording."""
    seed: int
    compatible: bool = False
    """Whether to count as AlpacaEval does."""

    @property
    def people(self) -> Annotated:
        """The people's annotations of every item."""
        return self.said[PEOPLE]

    def only(self, wanted: Callable[[Item], bool], most: int | None = None) -> "Items":
        """Return the annotations of the wanted items, the first ones of each."""
        kept = {judge: {i: own[:most] for i, own in said.items() if wanted(i)} for judge, said in self.said.items()}
        return replace(self, said=kept)


def judgment_files_of(query: Query, bench: Bench) -> list[pathlib.Path]:
    """Return the files of pair judgments: those named, or all that the benchmark has."""
    if query.files:
        return list(dict.fromkeys(query.files))
    found = judgment_files(bench.folder / "model_judgment", kinds_of("pairwise-all"))
    return sorted(found, key=lambda path: named.sample if (named := parse(path.name)) else 0)


def read_items(
    query: Query, votes: Sequence[pathlib.Path], judged: Sequence[pathlib.Path], prices: Prices, bench: Bench
) -> Items:
    """Return the annotations by people (`votes`) and judges (`judged`) of the items that people voted on.

    Raises:
        UsageError: a file of votes contains grades, or no matching votes.
        DataError: a line is invalid.
    """
    said: dict[Judge, Annotated] = {PEOPLE: {}}
    places: dict[tuple[QuestionId, int, frozenset[str]], Item] = {}
    for vote in (vote for path in votes for vote in without_voters(pairs_in(path).observations, query.exclude)):
        if query.turns is None or vote.turn in query.turns:
            models = (vote.model, str(vote.opponent))
            key = (vote.question_id, vote.turn, frozenset(models))
            item = places.setdefault(key, Item(vote.question_id, vote.turn, *models))
            given = _annotation(item, models, vote.games, vote.source.method, models)
            said[PEOPLE].setdefault(item, []).append(given)
    if not places:
        raise UsageError(f"no matching vote in {', '.join(map(str, votes))}")
    contents = {question.question_id: question.content for question in bench.questions}
    elsewhere = reworded = 0
    judges: dict[str, None] = {}
    replaced: list[str] = []
    current = _current(judged, replaced)
    for row in (row for path in current for row in current[path] if _asked_for(query, row)):
        about = places.get((row.question_id, row.turn, frozenset(row.models)))
        judges[row.source.judge] = None
        if about is None:
            elsewhere += 1
        elif row.content is not None and contents.get(row.question_id, row.content) != row.content:
            reworded += 1
        else:
            # A judge's verdicts in a file of votes do not say in which order it saw the answers.
            shown = () if row.source.voter else row.models if len(row.games) == 2 else (row.shown_first,)
            given = _annotation(about, row.models, row.games, row.source.method, shown)._replace(
                spent=spent_on(row, prices)
            )
            own = said.setdefault(Judge(row.source.judge, row.source.set_text), {})
            own.setdefault(about, []).append(given)
    texts, there = _texts(said[PEOPLE], bench), {judge.name for judge in said}
    absent = tuple(name for name in judges if name not in there)
    return Items(said, questions_of(said[PEOPLE]), texts, elsewhere, reworded, tuple(replaced), absent, query.seed)


def questions_of(items: Iterable[Item]) -> dict[QuestionId, int]:
    """Return the places of the questions of these items."""
    return {question: at for at, question in enumerate(dict.fromkeys(item.question_id for item in items))}


def _texts(items: Iterable[Item], bench: Bench) -> dict[Item, tuple[str, str]]:
    """Return both answers of each item, as far as the benchmark has both."""
    said = dict(answer_texts((model for item in items for model in (item.first, item.second)), bench))
    found = {}
    for item in items:
        one, other = (said.get((model, item.question_id, item.turn)) for model in (item.first, item.second))
        if one is not None and other is not None:
            found[item] = (one, other)
    return found


def _asked_for(query: Query, row: JudgedRow) -> bool:
    source = row.source
    return (
        len(row.models) == 2
        and (query.judges is None or source.judge in query.judges)
        and source.made_with(query.judge_set)
        and (query.turns is None or row.turn in query.turns)
        and query.criterion in {None, row.criterion}
    )


def _current(paths: Sequence[pathlib.Path], notes: list[str]) -> dict[pathlib.Path, list[JudgedRow]]:
    """Return the rows of each file but for those of answers that have been replaced since, and add a note on these."""
    found = [Found(path, path.stem, "", 0, read_judgments(path).observations, 0) for path in paths]
    try:
        kept = {one.path: one.observations for one in without_replaced(found, notes)}
    except MissingError as error:
        notes.append(str(error))
        kept = {}
    current = {}
    for one in found:
        own, rows = kept.get(one.path, ()), _latest(one.path)
        if len(own) < len(one.observations):
            there = {_key(each.source, each.question_id, each.turn, (each.model, str(each.opponent))) for each in own}
            rows = [row for row in rows if _key(row.source, row.question_id, row.turn, row.models) in there]
        current[one.path] = rows
    return current


def _key(source: Source, question: QuestionId, turn: int, models: Sequence[str]) -> object:
    return source.judge, source.set_text, source.sample, source.method, question, turn, frozenset(models)


def _latest(path: pathlib.Path) -> list[JudgedRow]:
    """Return the rows of a file; of those with equal keys the last one with a verdict."""
    kept: dict[tuple[object, ...], JudgedRow] = {}
    for row in judged_rows(path):
        key = (row.source.judge, row.source.set_text, row.source.method, *row.key)
        if key not in kept or not row.unparsed:
            kept[key] = row
    return list(kept.values())


def _annotation(
    item: Item, models: tuple[str, ...], games: Games, method: str, shown: Sequence[str | None]
) -> Annotation:
    """Return the annotation from games of two models; `shown` is who was shown first in each, as far as known."""
    won = outcome(games, method)
    seen = [
        Game(game if model == models[0] else 1 - game, model == item.first)
        for model, game in zip(shown, games, strict=False)
        if game is not None and model in models
    ]
    return Annotation(won if won is None or models[0] == item.first else 1 - won, tuple(seen))
