"""The proof of a template: right replies pass all checks, wrong ones don't, at every level.

Of each level and seed a question is drawn. Its worked answer, the same in the spellings of people
and models, and further right replies must pass; each trap and further wrong reply must fail; and
the row must be whole. `turnbench prove FILE` and `make proofs` print what is at fault.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness import registry
from harness.errors import TurnbenchError
from turnbench_questions.template import Made, Turn
from turnbench_questions.templates import Template, draw

PROVED_LEVELS = (1, 3, 5, 7, 9)
PROVED_SEEDS = (0, 1, 2, 3, 4)
MOST_WORDS = 6_000
"""Of a question: both turns."""
MOST_WORDS_OF_REPLY = 1_500
"""Of a worked answer: one turn."""


class Fault(NamedTuple):
    """What is wrong with a question that a template drew."""

    level: int
    seed: int
    text: str

    def __str__(self) -> str:
        return f"level {self.level}, seed {self.seed}: {self.text}"


def prove(
    template: Template,
    levels: Iterable[int] = PROVED_LEVELS,
    seeds: Iterable[int] = PROVED_SEEDS,
) -> Iterator[Fault]:
    """Yield what is at fault in a template's questions.

    Raises:
        UsageError: no draw was good.
    """
    for level in levels:
        asked: dict[str, int] = {}
        for seed in seeds:
            try:
                made = draw(template, seed, level)
            except TurnbenchError:
                raise
            except Exception as error:  # the template is somebody's code
                yield Fault(level, seed, f"make raised {type(error).__name__}: {error}")
                continue
            for text in (*_replies(made), *_row(template, made)):
                yield Fault(level, seed, text)
            first = made.turns[0].request()
            if first in asked:
                yield Fault(level, seed, f"the same question as of seed {asked[first]}")
            asked[first] = seed


def _replies(made: Made) -> Iterator[str]:
    """Yield which right replies fail and which wrong ones pass."""
    earlier: list[str] = []
    for number, turn in enumerate(made.turns, 1):
        right = [turn.reply(turn.result, turn.work), *spellings(turn)] if turn.result else []
        right += turn.right
        wrong = [turn.reply(result, turn.work) for result in turn.traps.values()] + turn.wrong
        if not right or not wrong:
            yield f"turn {number}: no {'wrong' if right else 'right'} reply to try its checks with"
            return
        questions = [one.request() for one in made.turns[:number]]
        for reply in right:
            if cause := failed(reply, turn, questions, earlier):
                yield f"turn {number}: a right reply fails ({cause}): …{reply[-200:]!r}"
        for reply in wrong:
            if not failed(reply, turn, questions, earlier):
                yield f"turn {number}: a wrong reply passes: …{reply[-200:]!r}"
        earlier.append(right[0])


def failed(reply: str, turn: Turn, questions: list[str], earlier: list[str]) -> str:
    """Return which checks of a turn a reply fails; empty if none."""
    check_turn = registry.find("check", "turn")
    verdicts = check_turn(reply, turn.all_checks(), questions=questions, earlier=earlier)
    return "; ".join(v.outcome.reason or "no" for v in verdicts if not v.outcome.passed)


def _row(template: Template, made: Made) -> Iterator[str]:
    """Yield what is missing or too much in a question's row."""
    row = made.question(1, template.category)
    points = [point for turn in row.checklist for point in turn]
    if made.points_back not in row.turns[1]:
        yield f"turn 2 does not say {made.points_back!r}, the words that point back"
    if not 3 <= len(points) <= 6:
        yield f"{len(points)} points in the checklists; 3 to 6 are asked for"
    for number, turn in enumerate(made.turns, 1):
        for what in ("note", "checks"):
            if not getattr(row, what)[number - 1]:
                yield f"turn {number} has no {what}"
        if (words := len(turn.work.split())) > MOST_WORDS_OF_REPLY:
            yield f"the worked answer to turn {number} has {words:,} words"
    text = " ".join(row.turns)
    if (words := len(text.split())) > MOST_WORDS:
        yield f"its turns have {words:,} words; at most {MOST_WORDS:,}"
    if slip := re.search(r"\b(\d*1st|\b1 (days|people|sacks|crates|tenths))\b|\bNone\b", text):
        yield f"it says {slip[0]!r}"


def spellings(turn: Turn) -> list[str]:
    """Return the right result as people and models write it."""
    if not isinstance(turn.result, tuple):
        return [f"Here it is.\n\n{turn.reply(turn.result)}\n\nI hope this helps."]
    plain = turn.reply(turn.result)
    values = [str(value) for value in turn.result]
    grouped = [re.sub(r"\d{6,}", lambda match: f"{int(match[0]):,}", value) for value in values]
    latex = [re.sub(r"^(\d+)/(\d+)$", r"$\\frac{\1}{\2}$", value) for value in values]
    return [
        f"So that is it.\n\n**{plain}**",
        f"{plain}.",
        f"**{turn.label}:** {', '.join(values)}",
        f"{turn.label}: {'; '.join(latex)}",
        f"{turn.label}: {'; '.join(grouped)}",
        f"{turn.label}: {'; '.join(f'`{value}`' for value in values)}",
        f"{turn.label}: {'; '.join(f'Ada: {value}' for value in values)}",
        f"{turn.label}: {'; '.join(f'{v} ≈ 0.12' if '/' in v else v for v in values)}",
    ]
