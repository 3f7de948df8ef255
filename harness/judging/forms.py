"""The form of a verdict: what a template asks for, and all that is needed to read a reply to it.

    Form("[[rating]]", "grade", Scale(1, 5))
    Form("label", "label", labels={"CORRECT": 1.0, "INCORRECT": 0.0, "NOT_ATTEMPTED": 0.0})
    Form("preference", "compare", by_logprobs=True, sides=("m", "M"))

`sets` makes them, `verdicts` reads replies by them.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["grade", "compare", "label", "dimensions", "checklist"]


class Scale(Struct, frozen=True):
    """Grades from the least to the greatest; `step` is the distance between them, None: any."""

    least: float = 1
    greatest: float = 10
    step: float | None = None

    def allows(self, value: float) -> bool:
        """Whether a number is a grade of the scale."""
        if not self.least <= value <= self.greatest:
            return False
        steps = 0.0 if self.step is None else (value - self.least) / self.step
        return abs(steps - round(steps)) < 1e-6

    def words(self, language: str = "en") -> dict[str, str]:
        """Return what fills a prompt's `{scale} {least} {greatest} {in_steps} {numbers}`.

        >>> Scale(1, 5).words()["scale"], Scale(1, 5, 0.5).words()["scale"]
        ('a whole number from 1 to 5', 'a number from 1 to 5 in steps of 0.5')
        """
        least, greatest, step = f"{self.least:g}", f"{self.greatest:g}", f"{self.step or 1:g}"
        whole = step == "1"
        if language == "zh":
            in_steps = "" if whole else f"、以{step}为间隔"
            numbers = "整数" if whole else "数"
            scale = f"{least}到{greatest}{in_steps}的{numbers}"
        else:
            in_steps = "" if whole else f" in steps of {step}"
            numbers = "whole numbers" if whole else f"numbers{in_steps}"
            scale = f"a {'whole ' if whole else ''}number from {least} to {greatest}{in_steps}"
        texts = {"scale": scale, "numbers": numbers, "in_steps": in_steps}
        return texts | {"least": least, "greatest": greatest}

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of one grade: its values; without a step the whole numbers."""
        step = self.step or 1
        count = int((self.greatest - self.least) / step + 1e-6) + 1
        values = [round(self.least + n * step, 6) for n in range(count)]
        if all(float(value).is_integer() for value in values):
            return {"type": "integer", "enum": [int(value) for value in values]}
        return {"type": "number", "enum": values}


SCALE_WORDS = frozenset(Scale().words())
"""The placeholders that the scale fills, in prompts and in the texts of criteria."""


class Form(Struct, frozen=True, kw_only=True):
    """The verdict that a template asks for."""

    format: str
    kind: Kind
    scale: Scale = Scale()
    """Of a grade, of each dimension, of each of two scores."""
    labels: Mapping[str, float] = {}
    """Each label and what it counts for, from 0 to 1."""
    dimensions: tuple[str, ...] = ()
    total: str | None = None
    """The dimension that is the grade of the whole."""
    by_logprobs: bool = False
    """Whether the verdict is weighed from the likely tokens, and never read from the text."""
    sides: tuple[str, str] = ("A", "B")
    """What the prompt calls the answer shown first and the one shown second."""
    patterns: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    """The JSON schema of the reply, for providers that enforce one."""
