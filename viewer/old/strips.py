"""Strips of verdicts above the texts: those of a question by turn and judge, and those of all questions to jump by."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from harness.old.bench import Bench
from harness.old.jsonl import size_of
from harness.old.judgments.case import CONFIDENCE, SHARE, changed, winner
from harness.old.judgments.row import JudgedRow
from harness.old.names import counted
from harness.old.records import Answer, Observation, Question
from viewer.old import markup
from viewer.old.context import Context
from viewer.old.filters import judgments_of
from viewer.old.index import FIRST, SECOND, TIE, Judgments
from viewer.old.markup import Html
from viewer.old.questions import of_category
from viewer.old.state import State
from viewer.old.store import Judged, Kind
from viewer.old.text import escaped

if TYPE_CHECKING:
    from harness.old.results.pairs.games import Bools

MOST_JUDGES = 12
MOST_QUESTIONS = 160
_LARGE = 100_000_000
"""Bytes of judgment files that are not read for a strip alone."""


def replaced_notice(bench: Bench, judged: Sequence[Judged], answers: Mapping[str, Answer | None]) -> str:
    """Return how many judgments are of other answers than those that are shown; nothing if none is known to be.

    Rows that do not say what they were made from, and those of models without answers, are of what is shown.
    """
    gone = [one for one in judged if _of_other_answers(bench, one.row, answers)]
    if not gone:
        return ""
    who = ", ".join(dict.fromkeys(one.file.label for one in gone))
    told = f"{len(gone)} of the {counted(len(judged), 'judgment')} here are of answers that have been replaced since"
    return markup.notice(f"{told}, by {who}. What the judge saw stands in its prompt.", kind="fault")


def _of_other_answers(bench: Bench, row: JudgedRow, answers: Mapping[str, Answer | None]) -> bool:
    from harness.old.judging import shown  # with it comes what reads the replies of judges

    made = None if row.made_from is None else row.made_from.conversation
    given = [answers.get(model) for model in sorted(row.models)]
    if made is None or not row.source.choice.isdigit() or None in given:
        return False
    said = [
        shown.said_json(own.model, shown.shown_turns(bench, shown.chosen(own, int(row.source.choice)), row.turn))
        for own in given
        if own is not None
    ]
    return shown.hash_of_said(said) != made


def verdicts_of(state: State, model: str, graded: Sequence[Judged], compared: Sequence[Judged]) -> str:
    """Return every judge's grade of a model's turns, and how often it won its pairs; empty if nobody judged."""
    rows: dict[tuple[str, str], dict[int, list[str]]] = {}
    for one in graded:
        criterion = one.row.criterion
        name = f"{one.file.label}, {criterion}" if criterion else one.file.label
        rows.setdefault(("grade", name), {}).setdefault(one.row.turn, []).append(grade_chip(one))
    counted: dict[tuple[str, str], dict[int, list[int]]] = {}
    for pair in compared:
        counts = counted.setdefault(("pairs", pair.file.label), {}).setdefault(pair.row.turn, [0, 0, 0, 0])
        won = winner(pair.row.games)
        own = 1.0 if pair.row.models[0] == model else 0.0
        counts[3 if won is None else 0 if won == own else 1 if won == 0.5 else 2] += 1
    for key, by_turn in counted.items():
        for turn, (wins, ties, losses, without) in by_turn.items():
            told = f"{wins} won, {ties} tied, {losses} lost" + (f", {without} no verdict" if without else "")
            rows.setdefault(key, {})[turn] = [markup.chip(told)]
    return _table(state, [({"judge": markup.named(name), "as": kind}, cells) for (kind, name), cells in rows.items()])


def verdicts_between(
    state: State, models: Sequence[str], compared: Sequence[Judged], votes: Sequence[Observation]
) -> str:
    """Return every judge's and voter's verdict between two models by turn, both games together, and over all turns."""
    rows: dict[str, dict[int, list[str]]] = {}
    counts: dict[str, list[int]] = {}
    said = [(one.judge, one.row.turn, one.row.models, one.row.games, changed(one.row.games)) for one in compared]
    said += [(v.source.judge, v.turn, (v.model, str(v.opponent)), v.games, False) for v in votes]
    for judge, turn, pair, games, swapped in said:
        won = winner(games)
        mark = verdict_chip(won, pair, sides=models)
        mark += markup.chip("changed when swapped", "warn") if swapped else ""
        rows.setdefault(judge, {}).setdefault(turn, []).append(mark)
        side = 3 if won is None else 2 if won == 0.5 else models.index(pair[0] if won else pair[1])
        counts.setdefault(judge, [0, 0, 0, 0])[side] += 1
    made = []
    one, other, even, without = (sum(numbers) for numbers in zip(*counts.values(), strict=True)) if counts else [0] * 4
    ahead = "Neither is ahead" if one == other else f"{models[0 if one > other else 1]} is ahead"
    lacking = f", {without} without a verdict" if without else ""
    whole = (
        f"{ahead}: {models[0]} wins {one}, {models[1]} {other}, {even} tied{lacking}, of all turns, judges and votes."
    )
    outcome = f'<p class="tb-outcome-said">{escaped(whole)}</p>' if one + other + even else ""
    for judge, cells in rows.items():
        first, second, ties, without = counts[judge]
        lacking = f", no verdict {without}" if without else ""
        whole = f"{models[0]} {first}, {models[1]} {second}, ties {ties}{lacking}"
        made.append(({"judge": markup.named(judge), "all turns": whole}, cells))
    return outcome + _table(state, made)


def _table(state: State, rows: Sequence[tuple[Mapping[str, object], Mapping[int, list[str]]]]) -> str:
    if not rows:
        return ""
    turns = sorted({turn for _, cells in rows for turn in cells})[:8]
    table = []
    for before, cells in rows[:MOST_JUDGES]:
        first, *others = before.items()
        by_turn = {f"turn {turn}": Html(" ".join(cells.get(turn, ["–"])[:6])) for turn in turns}
        table.append({first[0]: first[1], **by_turn, **dict(others)})
    heads = {f"turn {turn}": Html(markup.link(state.to(turn=turn), f"turn {turn}")) for turn in turns}
    cut = len(rows) - MOST_JUDGES
    more = f'<p class="tb-cut">{cut} more judges are below.</p>' if cut > 0 else ""
    return f'<div class="tb-verdicts">{markup.table(table, label="verdicts", heads=heads)}{more}</div>'


def verdict_chip(won: float | None, pair: Sequence[str], *, before: str = "", sides: Sequence[str] = ()) -> str:
    """Return who won, by its value for the first of a pair, as a mark.

    Its colour is that of the side on which the winner is, of `sides` or else of the pair.
    """
    if won is None or won == 0.5:
        return markup.chip(f"{before}no verdict", "warn") if won is None else markup.chip(f"{before}tie", "tie")
    name = pair[0] if won > 0.5 else pair[1]
    return markup.chip(f"{before}{name} wins", f"win-{[*(sides or pair)].index(name) + 1}")


def score_chip(score: float | None) -> str:
    """Return a grade as a mark."""
    if score is None:
        return markup.chip("no score", "warn")
    return markup.chip(markup.number(score, 2 if score % 1 else 0), "score")


def grade_chip(graded: Judged) -> str:
    """Return what a judge gave an answer as a mark: its grade, its label, or the grade in each dimension."""
    numbers = graded.row.numbers
    if graded.row.source.form == "label":
        label = next((name for name in numbers if name not in {SHARE, CONFIDENCE}), None)
        return markup.chip("no label", "warn") if label is None else markup.chip(label, "score")
    if graded.score is None and numbers:
        told = (f"{name} {'–' if value is None else markup.number(value, 1)}" for name, value in numbers.items())
        return " ".join(markup.chip(text, "score") for text in told)
    return score_chip(graded.score)


# all questions


class Cell(NamedTuple):
    """What a question's part of the strip says."""

    text: str
    kind: str
    """`score`, `win-1`, `win-2`, `tie` or `none`."""
    share: float = 0.0
    """Of a score: where it is between the least and the greatest one, from 0 to 1."""


@markup.in_place
def questions_strip(context: Context, state: State, question: Question, models: Sequence[str], kind: Kind) -> str:
    """Return a link to each question, coloured by its grade, or by who won of two models."""
    bench = context.store.bench(state.bench)
    files = context.store.judgment_files(bench, kind)
    if not files or not models or sum(size_of(file.path) for file in files) > _LARGE:
        return ""
    judgments = judgments_of(context, bench, kind)
    cells = _scores(judgments, models[0]) if kind == "single" else _winners(judgments, models)
    if not cells:
        return ""
    among = list(of_category(bench, state.looked_for("category")))
    at = next((place for place, one in enumerate(among) if one.question_id == question.question_id), 0)
    begin = max(0, min(at - MOST_QUESTIONS // 2, len(among) - MOST_QUESTIONS))
    places = context.store.question_places(bench.name)
    links = "".join(
        _cell(state, one, cells.get(places[one.question_id]), current=one.question_id == question.question_id)
        for one in among[begin : begin + MOST_QUESTIONS]
    )
    what = "grade" if kind == "single" else "winner"
    cut = f'<span class="tb-quiet">of {len(among):,}</span>' if len(among) > MOST_QUESTIONS else ""
    return f'<nav class="tb-strip" id="tb-strip" aria-label="Questions by {what}" tabindex="0">{links}{cut}</nav>'


def _cell(state: State, question: Question, cell: Cell | None, *, current: bool) -> str:
    there = state.to(question=str(question.question_id), turn=None, whole=False)
    said = cell.text if cell else "not judged"
    label = escaped(f"Question {question.question_id}: {said}")
    style = f' style="--share: {cell.share:.2f}"' if cell and cell.kind == "score" else ""
    now = ' aria-current="true"' if current else ""
    kind = cell.kind if cell else "none"
    return (
        f'<a href="{escaped(there.query())}" class="tb-q-{kind}" title="{label}" aria-label="{label}"{style}{now}></a>'
    )


def _scores(judgments: Judgments, model: str) -> dict[int, Cell]:
    """Return the mean grade of a model by place of the question, all judges and turns together."""
    import numpy as np

    if model not in judgments.models:
        return {}
    own = (judgments.first == judgments.models.index(model)) & ~np.isnan(judgments.score)
    size = len(judgments.ids)
    count = np.bincount(judgments.question[own], minlength=size)
    total = np.bincount(judgments.question[own], weights=judgments.score[own], minlength=size)
    known = np.flatnonzero(count)
    means = total[known] / count[known]
    low, high = (np.nanmin(judgments.score), np.nanmax(judgments.score)) if len(known) else (0.0, 1.0)
    wide = float(high - low) or 1.0
    return {
        int(place): Cell(markup.number(float(mean), 1), "score", float(mean - low) / wide)
        for place, mean in zip(known, means, strict=True)
    }


def _winners(judgments: Judgments, models: Sequence[str]) -> dict[int, Cell]:
    """Return who won most of a question's verdicts between two models, by place of the question."""
    import numpy as np

    if not set(models) <= set(judgments.models) or len(models) < 2:
        return {}
    one, other = (judgments.models.index(name) for name in models[:2])
    size = len(judgments.ids)

    def counted(*wanted: "Bools") -> list[int]:
        counts = [np.bincount(judgments.question[mask], minlength=size) for mask in wanted]
        return [int(count) for count in np.sum(counts, axis=0)]

    straight = (judgments.first == one) & (judgments.second == other)
    turned = (judgments.first == other) & (judgments.second == one)
    won = judgments.winner
    wins = counted(straight & (won == FIRST), turned & (won == SECOND))
    losses = counted(straight & (won == SECOND), turned & (won == FIRST))
    ties = counted((straight | turned) & (won == TIE))
    found = {}
    for place, (win, loss, tie) in enumerate(zip(wins, losses, ties, strict=True)):
        if win + loss + tie:
            kind = "win-1" if win > loss else "win-2" if loss > win else "tie"
            found[place] = Cell(f"{models[0]} {win}, {models[1]} {loss}, ties {tie}", kind)
    return found
