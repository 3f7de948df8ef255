"""How it is written: `case` and `language`."""

from typing import Literal

import msgspec

from harness.old.checks.check import MET, Check, Finding, Passage, Span
from harness.old.checks.units import words

_LONGEST = 10_000
"""Characters that the detector looks at; it reads no more by itself."""


class Case(Check, frozen=True, kw_only=True, tag="case"):
    """Capital or small letters only, or every word with a capital: {"kind": "case", "is": "lower"}."""

    wants: Literal["upper", "lower", "capitalized"] = msgspec.field(name="is")

    def wanted(self) -> str:
        """Return the requirement as a text."""
        small = {"upper": "capital letters only", "lower": "small letters only"}
        return small.get(self.wants, "every word begins with a capital")

    def measure(self, passage: Passage) -> Finding:
        """Find the first words that are written otherwise."""
        if self.wants != "capitalized" and not any(c.isupper() or c.islower() for c in passage.said):
            return Finding(False, "there is no letter")
        wrong = [span for span in words(passage) if not self._right(passage.at(span))]
        if not wrong:
            return MET
        first = passage.at(wrong[0])
        return Finding(False, f"“{first}”, {len(wrong)} words in all", tuple(wrong[:20]))

    def _right(self, word: str) -> bool:
        if self.wants == "capitalized":
            return not word[0].islower()
        return not any(map(str.islower if self.wants == "upper" else str.isupper, word))


class Language(Check, frozen=True, kw_only=True, tag="language"):
    """Written in a language: {"kind": "language", "is": "hu"}; langdetect's codes, "zh" for both of Chinese."""

    wants: str = msgspec.field(name="is")

    def __post_init__(self) -> None:
        """Raise `ValueError` for a language that cannot be detected."""
        super().__post_init__()
        there = _languages()
        if self.wants not in there:
            raise ValueError(f"no language {self.wants!r}; known: {', '.join(there)}")

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"written in {self.wants}"

    def measure(self, passage: Passage) -> Finding:
        """Detect it; a text without letters is in every language (IFEval takes it so)."""
        found = detected(passage.said)
        if found is None or self.wants in (found, found.partition("-")[0]):
            return MET
        return Finding(False, f"it reads as {found}", (Span(*passage.span),))


def _languages() -> list[str]:
    import os

    from langdetect.detector_factory import PROFILES_DIRECTORY

    return sorted({*os.listdir(PROFILES_DIRECTORY), "zh"})


def detected(text: str) -> str | None:
    """Return the code of the language that a text is in, as langdetect has it; None where there is nothing to go by."""
    import langdetect

    langdetect.DetectorFactory.seed = 0  # it draws at random otherwise, and would differ from run to run
    try:
        code: str = langdetect.detect(text[:_LONGEST])
    except langdetect.LangDetectException:
        return None
    return code
