"""A match, the verdict parsed from a judge's reply, and the judgment.

    Match(question, 1, ("x", "y")) ─▶ Reply ─▶ Parsed(Winner("A"), "...") ─▶ Judgment

Their form in a file is in `writing` and `row`; as numbers they are an `Observation`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.old.records import Question, Reply, Request, Scale, Side


@dataclass(frozen=True, slots=True)
class Match:
    """One thing to be judged: a question's turn, and the answer graded or the two compared."""

    question: Question
    turn: int
    """The turn in focus; the first is 1. All earlier ones are shown too."""
    models: tuple[str, ...]
    """The one model graded, or the two compared in the order in which the judge sees them."""
    game: Literal[1, 2] = 1
    """Of a pair: 1 shows `model_1` first, 2 shows it second."""
    criterion: str | None = None
    sample: int = 0
    choice: int = 0

    @property
    def pair(self) -> tuple[str, ...]:
        """The models as the row names them, whichever order was shown."""
        return self.models if self.game == 1 else self.models[::-1]


@dataclass(frozen=True, slots=True)
class Score:
    """A grade on the judge set's scale."""

    value: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Several grades from one judgment, by name: the two answers, or the dimensions of one."""

    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Winner:
    """Which of two answers is better; A is the one shown first."""

    side: Side
    preference: float | None = None
    """Of 1 how much goes to B, where the verdict is graded: 0.27 leans to A. None: only the side is known."""


@dataclass(frozen=True, slots=True)
class Label:
    """One of a closed set of labels."""

    value: str


Verdict: TypeAlias = Score | Scores | Winner | Label


@dataclass(frozen=True, slots=True)
class Parsed:
    """The verdict parsed from a judgment's text."""

    verdict: Verdict | None
    """None if the text gives no verdict that can be relied on."""
    reason: str
    """Why it was read so, in a few words."""


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """Hashes of what one judgment was made from; it is done if they equal today's."""

    question: str
    conversation: str
    """Over the texts of the answers shown, in the row's order of models."""
    reference: str | None
    template: str
    """Over the judge set's text of the template and the rules that shape it."""
    parameters: str
    """Over the judge's sampling and everything else that is sent."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's judgment of a match: its text, and the verdict parsed from it."""

    match: Match
    judge: str
    judge_set: str
    judge_set_version: str
    template: str
    request: Request
    attempts: tuple[Reply, ...]
    """Every reply, the last of which counts."""
    parsed: Parsed
    made_from: MadeFrom
    score_method: str = "text"
    """`logprobs`: the verdict was weighed from the likely tokens, not read from the text."""
    total: str | None = None
    """Of a judgment of several dimensions, the one that is the grade of the whole."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Of a label set, what share each label counts for."""
    confidence: float | None = None
    """The judged answer's stated confidence, from 0 to 1; None if unstated."""
    dimensions: tuple[str, ...] = ()
    """Of a judgment of several dimensions, their names."""
    scale: Scale | None = None
    """For grades, the lowest and the highest possible."""

    @property
    def reply(self) -> Reply:
        """The reply that counts."""
        return self.attempts[-1]
