"""The form of the verdict that a template asks for: everything that parsing one needs, and nothing else.

    VerdictForm("[[rating]]", "grade", scale=(1, 5))
    VerdictForm("label", "label", labels={"CORRECT": 1.0, "INCORRECT": 0.0, "NOT_ATTEMPTED": 0.0})
    VerdictForm("dimensions", "dimensions", dimensions=("clarity", "overall"), total="overall")
    VerdictForm("preference", "compare", score_method="logprobs", sides=("m", "M"))

`harness.old.judging.sets` makes them, `harness.old.judging.parse` reads replies by them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.old.written import Wanted

Kind: TypeAlias = Literal["grade", "compare", "label", "dimensions"]
ScoreMethod: TypeAlias = Literal["text", "logprobs"]
Scale: TypeAlias = tuple[float, float]

SHARE = Wanted("the label's share, a number from 0 to 1", lambda share: 0 <= share <= 1)
LABELS = Wanted(
    "a table of label = share, in which no two labels differ in capital letters only and none is empty",
    lambda labels: len({name.casefold() for name in labels}) == len(labels) and all(map(str.strip, labels)),
)


@dataclass(frozen=True, slots=True)
class VerdictForm:
    """The verdict that a template asks for."""

    format: str
    """The name of the form, one of `harness.old.judging.parse.known_formats()`."""
    kind: Kind = "grade"
    """`grade` gives a Score, `compare` a Winner or two Scores, `label` a Label, `dimensions` Scores by name."""
    scale: Scale = (1, 10)
    """Least and greatest grade, for each dimension and each of two scores too."""
    step: float | None = None
    """The step between grades from the lowest on, such as 0.5; None: any number of the scale."""
    labels: Mapping[str, float] = field(default_factory=dict)
    """Each label and the share that it counts for, from 0 to 1; empty but for `label`."""
    dimensions: tuple[str, ...] = ()
    """The names of the dimensions, including the total, in the requested order; empty except for `dimensions`."""
    total: str | None = None
    """The dimension that is the grade of the whole; None: there is none."""
    score_method: ScoreMethod = "text"
    """`logprobs`: the expectation over the likely tokens of the verdict, never read from the text in its place."""
    sides: tuple[str, str] = ("A", "B")
    """How the prompt calls the answer shown first and the one shown second."""
    patterns: tuple[str, ...] = ()
    """Regular expressions of a foreign set, the one for the first side and the one for the second."""
    compatible: bool = False
    """Of a preference by log-probabilities: whether tokens count as alpaca_eval counts them, letter by letter."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema of the reply, sent to providers that can enforce it; others rely on the text format."""


def on_step(value: float, least: float, step: float) -> bool:
    """Return whether a grade is the least one and a whole number of steps more, as far as decimals can tell."""
    steps = (value - least) / step
    return abs(steps - round(steps)) < 1e-6
