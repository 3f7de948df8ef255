"""One question: a grid of verdicts, then by turn the question, the answers, and the reasons.

Up to four models stand side by side; in pages that are sent two, and the others are folded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup
from msgspec import UNSET

from harness.types import UNSTATED, Answer, Detail, Judgment, Note, Question, Vote
from harness.words import counted, rounded
from viewer import notes, pages, text
from viewer.controls import Fields
from viewer.data import Data
from viewer.pages import Site
from viewer.state import View

MOST = 4
OPEN = 2
"""Models that are not folded in pages that are sent."""
LONG = 40
"""Lines of an answer, of 100 characters, above which it is folded at first."""
_NEAR = 100
"""Questions before and after this one that can be chosen by their text."""
_MARKS = {"length": "cut at the token limit", "refused": "refused", "empty": "empty"}


class ShownVerdict(NamedTuple):
    """A judge's verdict on one answer, or in one game of a pair."""

    judge: str
    says: str
    """The verdict in a word or a number."""
    reason: str
    failed: bool
    read: str
    """How the verdict was read, or why there is none."""
    prompt: str
    points: Sequence[Any] = ()
    title: str = ""
    first: str = ""
    """Of a game: the model that was shown first."""
    token: str = ""
    """Stands for the verdict in the form of a note; of a game there is none."""
    notes: Sequence[Note] = ()

    @property
    def is_long(self) -> bool:
        """Whether the reason has more than three lines or so."""
        return _is_long(self.reason, 3)


class Mark(NamedTuple):
    """A verdict in the grid: what it says, and where it stands on the page."""

    says: str
    place: str
    about: str
    warn: bool = False


class Side(NamedTuple):
    """One model's turn; texts are HTML."""

    model: str
    verdicts: list[ShownVerdict]
    checks: list[dict[str, Any]]
    body: str = '<p class="tb-quiet">no answer here</p>'
    detail: Detail = Detail()
    marks: Sequence[str] = ()
    facts: str = ""
    user: str = ""
    """The played user's words, which differ by model."""
    others: Sequence[tuple[int, str]] = ()
    """The turn in further conversations of the model, each with its index."""
    history: Sequence[str] = ()
    is_long: bool = False
    """Whether the answer is folded at first."""


def show(
    data: Data,
    view: View,
    site: Site,
    question: Question,
    listed: Sequence[Question],
    flip: View | None = None,
) -> str:
    """Return the page of a question.

    Args:
        data: the benchmark.
        view: what is shown.
        site: where pages are.
        question: the one that is open.
        listed: the list that it was opened from.
        flip: the next of them with a flipped pair.
    """
    answers = data.answers(question.question_id)
    models = list(view.model) if not site.live else models_of(data, view, answers)
    ids = [row.question_id for row in listed]
    at = ids.index(question.question_id) if question.question_id in ids else -1
    step = {
        name: site.href(view.to(question=str(ids[to]), find=""))
        for name, to in (("k", at - 1), ("j", at + 1))
        if at >= 0 and 0 <= to < len(ids)
    }
    if flip is not None:
        step["n"] = site.href(flip)
    prompts = [answers[model].system_prompt for model in models if model in answers]
    differ = site.live and len(models) == 2
    is_open = MOST if site.live else OPEN
    turns = list(Conversation(data, view, question, answers, models, is_open).turns())
    return pages.render(
        "conversation.html",
        open=is_open,
        grid=_grid(turns, is_open),
        view=view,
        sent=not site.live,
        writes=site.writes,
        longest=notes.MOST,
        gone=_gone(data, question),
        marked=lambda written: Markup(_body(written, view)),
        question=question,
        turns=turns,
        models=models,
        systems=[prompt for prompt in dict.fromkeys(prompts) if prompt],
        step=step,
        place=f"{at + 1:,} of {len(ids):,}" if at >= 0 else "",
        back=site.href(view.to(question="")),
        differ=site.href(view.to(changes="" if view.changes else "1")) if differ else "",
    )


def _gone(data: Data, question: Question) -> list[Note]:
    """Return the notes on verdicts about a question that are no longer there."""
    of_question = data.notes.of(question.question_id)
    here = {notes.verdict_key(row) for row in data.judgments(question)} if of_question else set()
    return [note for note in of_question if note.verdict_key not in here]


def models_of(data: Data, view: View, answers: dict[str, Answer]) -> list[str]:
    """Return the models shown: those chosen, else the two best that answered."""
    if view.model:
        return list(view.model[:MOST])
    best = data.best_first(view.verdicts)
    return [name for name in [*best, *answers] if name in answers][:2] or best[:2]


@dataclass(frozen=True)
class Conversation:
    """What there is to read about one question, turn by turn."""

    data: Data
    view: View
    question: Question
    answers: dict[str, Answer]
    models: Sequence[str]
    open: int
    """How many of the models are not folded."""

    def turns(self) -> Iterator[dict[str, Any]]:
        """Yield the turns, with what judges, people and checks say of each."""
        data, question, models = self.data, self.question, set(self.models)
        key = question.question_id
        judgments = data.judgments(question)
        judgments.sort(key=lambda row: row.judge_model != self.view.judge)
        votes = [row for row, _ in data.index.read(key, "vote")]
        measured = [row for row, _ in data.index.read(key, "metric")]
        checked = [row for row in measured if row.checks and not row.choice]
        references = {name: row.choices[0].turns for name, row in data.references(key).items()}
        users = question.turns if question.user is None else [""]
        lengths = [len(self.answers[name].choices[0].turns) for name in models & {*self.answers}]
        for turn in range(1, 1 + max([len(users), *lengths, *(row.turn for row in judgments)])):
            rows = [row for row in judgments if row.turn == turn]
            pairs = [row for row in rows if row.model is None]
            pairs = [r for r in pairs if {*r.models} <= models or models <= {*r.models}]
            checks = {row.model: row.checks for row in checked if row.turn == turn}
            sides = [self._side(m, turn, rows, checks.get(m, [])) for m in self.models]
            opened = {*self.models[: self.open]}
            yield {
                "number": turn,
                "user": "".join(users[turn - 1 : turn]),
                "sides": sides,
                "graded": any(side.verdicts for side in sides[: self.open]),
                "pairs": [
                    {
                        **_pair(row, self.models),
                        "token": notes.token_of(row),
                        "notes": data.notes.on(row),
                        "number": number,
                        "open": {*row.models} <= opened or opened <= {*row.models},
                    }
                    for number, row in enumerate(pairs, 1)
                ],
                "votes": [
                    _vote(row)
                    for row in votes
                    if row.turn == turn and {row.model_a, row.model_b} <= models
                ],
                "references": {
                    author: _body(texts[turn - 1], self.view)
                    for author, texts in references.items()
                    if turn <= len(texts)
                },
            }

    def _side(
        self, model: str, turn: int, rows: Sequence[Judgment], checks: list[dict[str, Any]]
    ) -> Side:
        noted = self.data.notes
        verdicts = [_grade(row, noted.on(row)) for row in rows if row.model == model]
        side = Side(model, verdicts, checks)
        answer = self.answers.get(model)
        if answer is None or turn > len(answer.choices[0].turns):
            return side
        choice, *others = answer.choices
        written = choice.turns[turn - 1]
        detail = choice.detail(turn)
        return side._replace(
            body=self._changes(model, turn, written) or _body(written, self.view),
            is_long=_is_long(written, LONG) and not self.view.changes,
            detail=detail,
            marks=_marks(detail, written),
            facts=_facts(detail),
            user="".join(choice.user[turn - 1 : turn]),
            others=[
                (other.index, _body(other.turns[turn - 1], self.view))
                for other in others
                if turn <= len(other.turns)
            ],
            history=[_body(reply, self.view) for reply in choice.history[: turn - 1]],
        )

    def _changes(self, model: str, turn: int, written: str) -> str:
        """Return a turn with what the other model's does not have marked, if that is wanted."""
        others = [self.answers[m] for m in self.models if m != model and m in self.answers]
        if not self.view.changes or len(self.models) != 2 or not others:
            return ""
        texts = others[0].choices[0].turns
        return text.unlike(written, texts[turn - 1]) if turn <= len(texts) else ""


def _body(written: str, view: View) -> str:
    return text.marked(text.styled(written), view.find)


def _marks(detail: Detail, written: str) -> list[str]:
    marks = [_MARKS[detail.finish_reason]] if detail.finish_reason in _MARKS else []
    if detail.given is not None:
        marks.append(f"given by {'the question' if detail.given == 'question' else detail.given}")
    if written == "$ERROR$":
        marks.append("no answer: the call failed")
    return marks


def _facts(detail: Detail) -> str:
    tokens, seconds = detail.usage.completion_tokens, detail.seconds
    parts = [f"{tokens:,} tokens"] if tokens is not None else []
    return ", ".join(parts + ([f"{seconds:.1f} s"] if seconds is not None else []))


def tell_apart(row: Judgment) -> str:
    """Return what tells a judgment from others of its judge; they count from 0 as in files."""
    more = [row.criterion] if row.criterion else []
    more += [f"sample {row.sample}"] if row.sample else []
    more += [f"choice {row.choice}"] if row.choice else []
    more += [row.judge_set] if row.judge_set not in (UNSTATED, "mt_bench") else []
    return ", ".join(more)


def _name(row: Judgment) -> str:
    """Return a judge's name with what tells this judgment from its others."""
    more = tell_apart(row)
    return f"{row.judge_model} ({more})" if more else row.judge_model


def _grade(row: Judgment, noted: Sequence[Note]) -> ShownVerdict:
    return ShownVerdict(
        _name(row),
        verdict_of(row),
        row.judgment or "",
        row.failed,
        (row.details[0].verdict_reason or "") if row.details else "",
        row.user_prompt or "",
        row.points if isinstance(row.points, list) else (),
        token=notes.token_of(row),
        notes=noted,
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


def _is_long(written: str, lines: int) -> bool:
    return len(written) > 100 * lines or written.count("\n") >= lines


def _grid(turns: Sequence[dict[str, Any]], is_open: int) -> dict[str, dict[int, list[Mark]]]:
    """Return by judge and turn the verdicts on the models that are not folded."""
    grid: dict[str, dict[int, list[Mark]]] = {}
    for turn in turns:
        number, marks = turn["number"], list[tuple[str, Mark]]()
        for at, side in enumerate(turn["sides"][:is_open], 1):
            for nth, verdict in enumerate(side.verdicts, 1):
                place = f"grade-{number}-{at}-{nth}"
                says = "none" if verdict.failed else verdict.says
                marks.append((verdict.judge, Mark(says, place, side.model, verdict.failed)))
        for pair in turn["pairs"]:
            if pair["open"]:
                place = f"pair-{number}-{pair['number']}"
                mark = Mark(pair["short"], place, pair["judge"], pair["flipped"])
                marks.append((f"{pair['name']}, pairs", mark))
        if turn["votes"]:
            words = counted(len(turn["votes"]), "vote")
            marks.append(("people", Mark(words, f"votes-{number}", ", ".join(turn["votes"]))))
        for judge, mark in marks:
            grid.setdefault(judge, {}).setdefault(number, []).append(mark)
    return grid


def _pair(row: Judgment, models: Sequence[str]) -> dict[str, Any]:
    """Return a pair with its games in the order in which the models stand on the page."""
    games = list(_games(row))
    order = [name for name in models if name in row.models]
    games.sort(key=lambda game: order.index(game.first) if game.first in order else len(order))
    outcomes = {game.says for game in games}
    flipped = False
    if any(game.failed for game in games):
        says = "no verdict in one order" if len(outcomes) > 1 else "no verdict"
    elif len(outcomes) > 1:
        flipped = True
        says = "a tie in one order only" if "tie" in outcomes else "changed with the order: a tie"
    else:
        says = "a tie" if "tie" in outcomes else f"{next(iter(outcomes), '')} is better"
    short = "flipped" if flipped else {"a tie": "tie"}.get(says, says)
    if flipped and "tie" in outcomes:
        short = "tie in one order"
    judge = f"{_name(row)} on {' and '.join(row.models)}"
    return {
        "judge": judge,
        "name": _name(row),
        "says": says,
        "short": short.removesuffix(" is better"),
        "flipped": flipped,
        "games": games,
    }


def _games(row: Judgment) -> Iterator[ShownVerdict]:
    """Yield the verdicts of a pair's two orders, or of its only one."""
    names = dict(zip(("model_1", "model_2"), row.models, strict=True))
    first = list(names.values())
    if row.shown_first == "model_2":
        first.reverse()
    games = (
        (row.g1_winner, row.g1_judgment, row.g1_user_prompt),
        (row.g2_winner, row.g2_judgment, row.g2_user_prompt),
    )
    for number, (winner, reason, prompt) in enumerate(games):
        if winner is None:
            continue
        detail = row.details[number] if number < len(row.details) else Detail()
        yield ShownVerdict(
            _name(row),
            {**names, "error": "no verdict"}.get(winner, winner),
            reason or "",
            winner == "error",
            detail.verdict_reason or "",
            prompt or "",
            title=f"{first[number]} shown first, as Assistant A",
            first=first[number],
        )


def _vote(row: Vote) -> str:
    a, b = row.model_a, row.model_b
    words = {"model_a": f"{a} over {b}", "model_b": f"{b} over {a}"}
    return f"{row.voter}: {words.get(row.winner, f'{a} and {b} tie')}"


def fields(data: Data, view: View, question: Question, listed: Sequence[Question]) -> Fields:
    """Return what can be chosen: a question by its text, and models, shown or not."""
    answers = data.answers(question.question_id)
    models = models_of(data, view, answers)
    ids = [row.question_id for row in listed]
    at = ids.index(question.question_id) if question.question_id in ids else -1
    near = listed[max(0, at - _NEAR) : at + _NEAR + 1] if at >= 0 else ()
    words = {
        str(row.question_id): f"{row.question_id}  {' '.join(row.turns[0][:90].split())}"
        for row in near
    }
    every = list(dict.fromkeys([*models, *answers]))
    return Fields(view.to(model=tuple(models)), {"question": words}, every)
