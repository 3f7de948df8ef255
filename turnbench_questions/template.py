"""What every template is written with: a turn that has one right result, and its row.

A template is one file with `make(rng, level) -> Made`. Numbers, names and texts come from `rng`;
the result, the traps and the worked answer are computed, so each seed proves its own reference. A
draw that makes no good question is refused with `redraw_if`, and the next one is tried. A table at
its head says what each level from 1 to 10 sets.
"""

import json
import pathlib
import random
import re
import tomllib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from harness.types import Point, Question

Value: TypeAlias = int | str | Fraction
Result: TypeAlias = tuple[Value, ...] | dict[str, Any] | list[Any]
"""The values of the last line, or the JSON of a code block."""

WORDS: dict[str, list[str]] = tomllib.loads(
    pathlib.Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
MEN = WORDS["men"]
WOMEN = WORDS["women"]
PEOPLE = sorted(MEN + WOMEN)
TOWNS = WORDS["towns"]
NUMBERS = WORDS["numbers"]
"""Numbers in words, by their value."""

LEVELS = range(1, 11)
Row = TypeVar("Row")


class RedrawError(Exception):
    """A draw that makes no good question."""


def by_level(*rows: Row) -> dict[int, Row]:
    """Return what each level sets, from ten rows with that of level 1 first."""
    return dict(zip(LEVELS, rows, strict=True))


def aside(rng: random.Random) -> random.Random:
    """Return a generator for what some levels have more, which leaves `rng` as it is.

    So equal seeds give nearby questions at nearby levels: the same people and numbers, and more.
    """
    twin = random.Random()
    twin.setstate(rng.getstate())
    return random.Random(twin.getrandbits(64))


class Turn(Struct):
    """One turn: what the user says and what is right."""

    ask: str
    work: str = ""
    """The worked answer without its last line."""
    result: Result = ()
    traps: dict[str, Result] = {}
    """Wrong results by the plausible mistake that gives them; one that is right is left out."""
    label: str = "Answer"
    """How the last line begins."""
    shape: str = ""
    """What the last line has after the label, for the request."""
    checks: list[dict[str, Any]] = []
    """More checks than that of the result."""
    note: str = ""
    points: list[str] = []
    """Further points, each behind its tag and weight where these aren't "reasoning" and 1:
    "[state 2] Keeps the first words"."""
    right: list[str] = []
    """Further replies that are right, for the tests."""
    wrong: list[str] = []
    """Further replies that are wrong, for the tests."""

    def __post_init__(self) -> None:
        """Leave out the traps that are right."""
        self.traps = {why: wrong for why, wrong in self.traps.items() if wrong != self.result}

    def request(self) -> str:
        """Return what the user says, the last line demanded."""
        if not self.shape:
            return self.ask
        return f"{self.ask} End with one line of the form “{self.label}: {self.shape}”."

    def reply(self, result: Result, work: str = "") -> str:
        """Return a reply with a result."""
        if isinstance(result, tuple):
            end = f"{self.label}: {'; '.join(map(str, result))}"
        else:
            end = f"```json\n{json.dumps(result, ensure_ascii=False)}\n```"
        return f"{work}\n\n{end}".strip()

    def all_checks(self) -> list[dict[str, Any]]:
        """Return the checks, that of the result first."""
        if not self.result:
            return self.checks
        if not isinstance(self.result, tuple):
            return [{"kind": "json", "equals": self.result, "around": True}, *self.checks]
        pattern = last_line(self.label, self.result)
        check = {"kind": "contains", "pattern": pattern, "in": {"line": -1}, "name": "result"}
        return [check, *self.checks]

    def all_points(self) -> list[Point]:
        """Return the checklist of the turn."""
        points = [_point(text) for text in self.points]
        if self.result:
            text = f"The result given is {shown(self.result)}."
            points.insert(0, Point(point=text, weight=3, tag="result"))
        return points

    def full_note(self) -> str | None:
        """Return the note for judges: the result, and where wrong ones come from."""
        parts = [f"Right: {shown(self.result)}."] if self.result else []
        parts += [f"Trap: {shown(wrong)} {why}." for why, wrong in self.traps.items()]
        return " ".join([*parts, self.note]).strip() or None


class Made(NamedTuple):
    """A question that a template made."""

    turns: tuple[Turn, Turn]
    points_back: str
    """The words of the second turn that need the first exchange."""
    kind: str
    """How the second turn depends on the first; the set's README has the list."""

    def question(self, question_id: int, category: str, **origin: str | int) -> Question:
        """Return the question's row, with what made it: template, level, seed, canary."""
        short = [shown(turn.result) if turn.result else "" for turn in self.turns]
        extra: dict[str, Any] = {"turn_2_kind": self.kind, "points_back": self.points_back}
        return Question(
            question_id=question_id,
            category=category,
            turns=[turn.request() for turn in self.turns],
            reference=short if any(short) else [],
            note=[turn.full_note() for turn in self.turns],
            checks=[turn.all_checks() for turn in self.turns],
            checklist=[turn.all_points() for turn in self.turns],
            extra=extra | origin,
        )

    def reference(self) -> list[str]:
        """Return the worked answers, one a turn; empty where no one result is right."""
        return [turn.reply(turn.result, turn.work) for turn in self.turns if turn.result]


def shown(result: Result) -> str:
    """Return a result on one line."""
    if isinstance(result, tuple):
        return "; ".join(map(str, result))
    return json.dumps(result, ensure_ascii=False)


def last_line(label: str, values: Sequence[Value]) -> str:
    """Return the pattern of a last line with these values and no others.

    Words such as units may stand beside numbers, but no other number; a name, a letter or "and"
    before a word; a decimal value behind a fraction.
    """
    between = r"(?:(?:and|then|the|on|(?-i:[A-Z])\pL*|[a-h])\W+){0,2}?"
    pattern = rf"{re.escape(label)}\W+"
    for place, value in enumerate(values):
        wordy = isinstance(value, str)
        if wordy and (not place or isinstance(values[place - 1], str)):
            pattern += (r"\W+" if place else "") + between
        elif place:
            pattern += r"\W+(?:\pL+\W+){0,4}?"
        elif not wordy:
            pattern += r"(?:\pL+\W+){0,3}?"
        pattern += _spelling(value)
    end = r"" if isinstance(values[-1], str) else r"(?:\W*\pL+){0,4}"
    return rf"{pattern}{end}\W*$"


def number_in_words(number: int) -> str:
    """Return a number in words, a large one in digits."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def listed(words: Sequence[str]) -> str:
    """Return words as prose: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def numbered(texts: Iterable[str], form: str = "{}. {}", joint: str = "\n") -> str:
    """Return texts with their numbers, one a line."""
    return joint.join(form.format(number, text) for number, text in enumerate(texts, 1))


def redraw_if(bad: object) -> None:
    """Refuse a draw."""
    if bad:
        raise RedrawError


def different(one: Iterable[object], other: Iterable[object]) -> int:
    """Return in how many places two rows differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def _point(text: str) -> Point:
    """Return the point that a text such as "[state 2] Keeps the first words" says."""
    match = re.fullmatch(r"(?:\[(\w+)(?: (\d))?\] )?(.*)", text, re.DOTALL)
    assert match
    tag, weight, claim = match.groups()
    return Point(point=claim, weight=int(weight or 1), tag=tag or "reasoning")


def _spelling(value: Value) -> str:
    """Return the pattern of one value."""
    if isinstance(value, Fraction):
        exact = _long(value.numerator)
        if value.denominator > 1:
            exact += f" ?/ ?{_long(value.denominator)}"
        return exact + r"(?: ?\(?(?:≈|=|~|about|or) ?\d+(?:[.,]\d+)?\)?)?"
    if isinstance(value, str):
        return r"\W+".join(map(re.escape, re.findall(r"\w+", value)))
    grouped = f"{abs(value):,}".replace(",", "[,. ]?")
    return ("-" if value < 0 else "") + grouped


def _long(number: int) -> str:
    """Return the pattern of a part of a fraction: from six digits on it may be grouped."""
    return f"{number:,}".replace(",", "[,. ]?") if abs(number) >= 100_000 else str(number)
