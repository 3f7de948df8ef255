"""One question: the conversations of up to four models side by side, the verdicts first."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup
from msgspec import UNSET

from harness.reporting.page import rounded
from harness.types import Answer, Detail, Judgment, Measurement, Question, Vote
from viewer import pages, text
from viewer.data import Data
from viewer.pages import Site
from viewer.state import View

MOST = 4
_NEAR = 100
"""Questions before and after this one that can be chosen by their text."""
_MARKS = {"length": "cut at the token limit", "refused": "refused", "empty": "empty"}
_OUTCOMES = {"model_1": 0, "model_2": 1}


@dataclass
class Verdict:
    """What a judge said of one answer, or in one game of a pair."""

    judge: str
    says: str
    """The verdict in a word or a number."""
    reason: str
    failed: bool = False
    read: str = ""
    """How the verdict was read, or why there is none."""
    prompt: str = ""
    points: Sequence[Any] = ()
    title: str = ""


@dataclass
class Pair:
    """A judge's comparison of two answers."""

    judge: str
    says: str
    flipped: bool
    games: list[Verdict]


@dataclass
class Side:
    """One model's turn."""

    model: str
    body: str
    """HTML."""
    marks: list[str] = field(default_factory=list)
    facts: str = ""
    reasoning: str = ""
    note: str = ""
    verdicts: list[Verdict] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    asked: str = ""
    """What the played user said, where it differs by model."""
    others: list[str] = field(default_factory=list)
    """The turn in further conversations of the model, as HTML."""
    history: list[str] = field(default_factory=list)


@dataclass
class Turn:
    """One turn of all the models."""

    number: int
    asked: str
    sides: list[Side]
    pairs: list[Pair]
    votes: list[str]
    references: dict[str, str]


def show(data: Data, view: View, site: Site, question: Question, listed: Sequence[Question]) -> str:
    """Return the page of a question; `listed` is the list that it was opened from."""
    answers = data.answers(question.question_id)
    models = models_of(data, view, answers) if site.live else list(view.model)
    turns = turns_of(data, view, question, answers, models)
    ids = [other.question_id for other in listed]
    at = ids.index(question.question_id) if question.question_id in ids else -1
    step = {
        name: site.href(view.to(question=str(ids[to]), find=""))
        for name, to in (("k", at - 1), ("j", at + 1))
        if at >= 0 and 0 <= to < len(ids)
    }
    live = site.live
    return pages.render(
        "conversation.html",
        view=view,
        sent=not live,
        marked=lambda written: Markup(_body(written, view)),
        question=question,
        turns=turns,
        models=models,
        systems=_systems(answers, models),
        step=step,
        place=f"{at + 1:,} of {len(ids):,}" if at >= 0 else "",
        back=site.href(view.to(question="")),
        choices=_choices(data, view, listed, at, models, answers) if live else "",
        differ=site.href(view.to(changes="" if view.changes else "1"))
        if live and len(models) == 2
        else "",
    )


def models_of(data: Data, view: View, answers: dict[str, Answer]) -> list[str]:
    """Return the models shown: those chosen, else the two best that answered."""
    if view.model:
        return list(view.model[:MOST])
    chosen = data.chosen(view.verdicts)
    ranked = chosen.ranked if chosen is not None else ()
    return [name for name in [*ranked, *answers] if name in answers][:2] or list(ranked[:2])


def turns_of(
    data: Data, view: View, question: Question, answers: dict[str, Answer], models: Sequence[str]
) -> list[Turn]:
    """Return what there is to read, turn by turn."""
    rows = [place.row for place in data.judgments(question.question_id)]
    rows.sort(key=lambda row: row.judge_model != view.judge)
    votes = [place.row for place in data.index.read(question.question_id, "vote")]
    measured = [place.row for place in data.index.read(question.question_id, "metric")]
    references = data.references(question.question_id)
    lengths = [len(answers[model].choices[0].turns) for model in models if model in answers]
    most = max(
        [len(question.turns) if question.user is None else 1, *lengths, *(r.turn for r in rows)]
    )
    found = []
    for number in range(1, most + 1):
        judged = [row for row in rows if row.turn == number]
        sides = [_side(view, answers, model, models, number, judged, measured) for model in models]
        found.append(
            Turn(
                number,
                question.turns[number - 1]
                if number <= len(question.turns) and not question.user
                else "",
                sides,
                [_pair(row) for row in judged if row.model is None and _among(row, models)],
                [
                    _vote(row)
                    for row in votes
                    if row.turn == number and {row.model_a, row.model_b} <= {*models}
                ],
                {
                    author: _body(answer.choices[0].turns[number - 1], view)
                    for author, answer in references.items()
                    if number <= len(answer.choices[0].turns)
                },
            )
        )
    return found


def _among(row: Judgment, models: Sequence[str]) -> bool:
    """Return whether a pair is to be shown: both of its models are, or the only one is in it."""
    return set(row.models) <= {*models} or (len(models) == 1 and models[0] in row.models)


def _body(written: str, view: View) -> str:
    return text.marked(text.styled(written), view.find)


def _side(
    view: View,
    answers: dict[str, Answer],
    model: str,
    models: Sequence[str],
    number: int,
    rows: Sequence[Judgment],
    measured: Sequence[Measurement],
) -> Side:
    verdicts = [_grade(row) for row in rows if row.model == model]
    checks = [
        check
        for row in measured
        if row.model == model and row.turn == number and row.choice == 0
        for check in row.checks
    ]
    answer = answers.get(model)
    choice = answer.choices[0] if answer is not None else None
    if answer is None or choice is None or number > len(choice.turns):
        return Side(
            model, '<p class="tb-quiet">no answer here</p>', verdicts=verdicts, checks=checks
        )
    written = choice.turns[number - 1]
    body = _body(written, view)
    other = next((answers[name] for name in models if name != model and name in answers), None)
    if (
        view.changes
        and len(models) == 2
        and other is not None
        and number <= len(other.choices[0].turns)
    ):
        body = text.unlike(written, other.choices[0].turns[number - 1])
    detail = choice.details[number - 1] if number <= len(choice.details) else Detail()
    return Side(
        model,
        body,
        _marks(detail, written),
        _facts(detail),
        detail.reasoning or "",
        detail.note or "",
        verdicts,
        checks,
        choice.user[number - 1] if number <= len(choice.user) else "",
        [
            _body(other_choice.turns[number - 1], view)
            for other_choice in answer.choices[1:]
            if number <= len(other_choice.turns)
        ],
        [_body(given, view) for given in choice.history[: number - 1]] if choice.history else [],
    )


def _marks(detail: Detail, written: str) -> list[str]:
    found = [_MARKS[detail.finish_reason]] if detail.finish_reason in _MARKS else []
    if detail.given is not None:
        found.append(f"given by {'the question' if detail.given == 'question' else detail.given}")
    if written == "$ERROR$":
        found.append("no answer: the call failed")
    return found


def _facts(detail: Detail) -> str:
    parts = []
    if detail.usage.completion_tokens is not None:
        parts.append(f"{detail.usage.completion_tokens:,} tokens")
    if detail.seconds is not None:
        parts.append(f"{detail.seconds:.1f} s")
    return ", ".join(parts)


def _name(row: Judgment) -> str:
    """Return whose verdict it is, with what tells it from others of the same judge."""
    more = [row.criterion] if row.criterion else []
    more += [f"sample {row.sample + 1}"] if row.sample else []
    more += [f"conversation {row.choice + 1}"] if row.choice else []
    if row.judge_set not in ("unstated", "mt_bench"):
        more.append(row.judge_set)
    return f"{row.judge_model} ({', '.join(more)})" if more else row.judge_model


def _grade(row: Judgment) -> Verdict:
    detail = row.details[0] if row.details else Detail()
    return Verdict(
        _name(row),
        verdict_of(row),
        row.judgment or "",
        row.failed,
        detail.verdict_reason or "",
        row.user_prompt or "",
        row.points if isinstance(row.points, list) else (),
    )


def verdict_of(row: Judgment) -> str:
    """Return a verdict on one answer in a word or a number."""
    if row.failed:
        return "no verdict"
    if isinstance(row.label, str):
        sure = f", {rounded(row.confidence, 0, 2)}% sure" if row.confidence is not None else ""
        return f"{row.label}{sure}"
    if isinstance(row.points, list):
        met = sum(point.get("met") is True for point in row.points)
        return f"{met} of {len(row.points)} points met"
    if row.scores is not UNSET and row.scores:
        scores = ", ".join(f"{name} {pages.number(value)}" for name, value in row.scores.items())
        return scores if row.grade is None else f"{pages.number(row.grade)} ({scores})"
    return pages.number(row.grade)


def _pair(row: Judgment) -> Pair:
    games = []
    first = {"model_1": 0, "model_2": 1}[row.shown_first or "model_1"]
    for number, (winner, reason, prompt) in enumerate(
        (
            (row.g1_winner, row.g1_judgment, row.g1_user_prompt),
            (row.g2_winner, row.g2_judgment, row.g2_user_prompt),
        )
    ):
        if winner is None:
            continue
        leading = row.models[first if number == 0 else 1 - first]
        says = (
            row.models[_OUTCOMES[winner]]
            if winner in _OUTCOMES
            else winner.replace("error", "no verdict")
        )
        detail = row.details[number] if number < len(row.details) else Detail()
        games.append(
            Verdict(
                _name(row),
                says,
                reason or "",
                winner == "error",
                detail.verdict_reason or "",
                prompt or "",
                title=f"{leading} shown first",
            )
        )
    outcomes = {game.says for game in games}
    failed = any(game.failed for game in games)
    flipped = len(games) == 2 and len(outcomes) == 2 and not failed
    if failed:
        says = "no verdict in one order" if len(outcomes) > 1 else "no verdict"
    elif flipped:
        says = "a tie in one order only" if "tie" in outcomes else "changed with the order: a tie"
    else:
        says = "a tie" if "tie" in outcomes else f"{next(iter(outcomes), '')} is better"
    return Pair(f"{_name(row)} on {' and '.join(row.models)}", says, flipped, games)


def _vote(row: Vote) -> str:
    one, two = row.model_a, row.model_b
    words = {"model_a": f"{one} over {two}", "model_b": f"{two} over {one}"}
    return f"{row.judge}: {words.get(row.winner, f'{one} and {two} tie')}"


def _systems(answers: dict[str, Answer], models: Sequence[str]) -> list[str]:
    prompts = [answers[model].system_prompt for model in models if model in answers]
    return list(dict.fromkeys(prompt for prompt in prompts if prompt))


def _choices(
    data: Data,
    view: View,
    listed: Sequence[Question],
    at: int,
    models: Sequence[str],
    answers: dict[str, Answer],
) -> Markup:
    near = listed[max(0, at - _NEAR) : at + _NEAR + 1] if at >= 0 else ()
    words = {
        str(other.question_id): f"{other.question_id}  {' '.join(other.turns[0][:90].split())}"
        for other in near
    }
    every = list(dict.fromkeys([*models, *data.models]))
    there = [name for name in every if name in answers or name in models]
    now = View(model=tuple(models))
    boxes = pages.render("models.html", view=now, models=there, address=view.to(find="").query())
    return pages.form(view, [pages.choice(view, "question", "Question", words)], find="") + Markup(
        boxes
    )
