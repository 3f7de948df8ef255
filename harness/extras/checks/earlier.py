"""The reply compared with earlier turns: `keeps`, `quotes`, `shorter`."""

from typing import ClassVar, Literal

from msgspec import field

from harness.extras.checks.check import (
    Bounds,
    Check,
    MissingPartError,
    Selectors,
    check_selectors,
    described,
    narrowed,
)
from harness.extras.checks.passage import Outcome, Passage, Span, normal
from harness.extras.checks.units import (
    Unit,
    counted,
    full_name,
    plural,
    quotes,
    spans_of,
    words,
)

_NO_REPLY = Outcome(False, "there is no earlier reply")


class Keeps(Bounds, frozen=True, kw_only=True, tag="keeps"):
    """Parts of an earlier reply are repeated verbatim: {"of": "sentences", "exactly": 1}.

    Without bounds all of them are. For words, the bounds are for the longest run that both have.
    """

    of: Unit
    source: Selectors = field(name="from", default_factory=list)
    """Where in the earlier reply."""
    turn: int | None = None
    """Which earlier reply, the first is 1; None: the one before."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a unit, a place or bounds that cannot be."""
        super().__post_init__()
        check_selectors(self.source)
        self.check_bounds(needed=self._by_words)
        if self.each is not None:
            raise ValueError("keeps takes no each")

    @property
    def _by_words(self) -> bool:
        return isinstance(self.of, str) and full_name(self.of) == "words"

    def requirement(self) -> str:
        """Return the requirement in words."""
        where = _which(self.turn) + described(self.source, None)
        if self._by_words:
            return f"{self.many()} consecutive words of {where}"
        many = self.many() if self.bounded else "all"
        return f"keeps {many} {plural(self.of)} of {where} word for word"

    def test(self, passage: Passage) -> Outcome:
        """Look for each part of the earlier reply."""
        text = earlier_reply(passage, self.turn)
        if text is None:
            return _NO_REPLY
        try:
            source = narrowed(self.source, Passage.whole(text))
        except MissingPartError as missing:
            return Outcome(False, f"in the earlier reply: {missing}")
        if self._by_words:
            run = longest_run(_folded_words(passage), _folded_words(source))
            return Outcome(self.holds(run), f"the longest run is {run} words")
        parts = [source.at(span) for span in spans_of(self.of, source)]
        now = _flat(passage.text)
        lost = [f"“{part[:40]}”" for part in parts if _flat(part) not in now]
        kept = len(parts) - len(lost)
        reason = f"{kept} of {len(parts)} kept"
        if parts and self.holds(kept, (len(parts), len(parts))):
            return Outcome(True, reason)
        return Outcome(False, reason + (f"; not {', '.join(lost[:3])}" if lost else ""))


class Quotes(Bounds, frozen=True, kw_only=True, tag="quotes"):
    """Quoted passages occur in earlier turns: {"of": "answer", "words": [3, 6]}."""

    whose: Literal["answer", "question"] = field(name="of", default="answer")
    """From the model's earlier replies, or from the user's messages."""
    words: tuple[int, int] | None = None
    """The least and the most words of each passage."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for bounds that cannot be."""
        super().__post_init__()
        self.check_bounds(needed=False)

    def requirement(self) -> str:
        """Return the requirement in words."""
        source = "the earlier reply" if self.whose == "answer" else "the question"
        length = f", {self.words[0]} to {self.words[1]} words each" if self.words else ""
        return f"{self.many((1, None))} passages quoted word for word from {source}{length}"

    def test(self, passage: Passage) -> Outcome:
        """Look up each quoted passage."""
        turns = passage.earlier if self.whose == "answer" else passage.questions
        source = "\n".join(map(_flat, turns))
        places: list[Span] = []
        for span in quotes(passage):
            quoted = passage.part(*span)
            length = len(words(quoted))
            if _flat(quoted.text).strip(" .,;:!?…") not in source:
                return Outcome(False, f"“{quoted.text[:40]}” was not said before", (span,))
            if self.words is not None and not self.words[0] <= length <= self.words[1]:
                return Outcome(False, f"“{quoted.text[:40]}” has {length} words", (span,))
            places.append(span)
        return Outcome(self.holds(len(places), (1, None)), f"{len(places)} passages are quoted")


class Shorter(Check, frozen=True, kw_only=True, tag="shorter"):
    """Shorter than an earlier reply, or at most a share of it: {"share": 0.5}."""

    QUOTES: ClassVar[bool] = False
    of: Unit = "words"
    share: float | None = None
    turn: int | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` for a unit or a share that cannot be."""
        super().__post_init__()
        if self.share is not None and not 0 < self.share < 1:
            raise ValueError(f"share must be a number between 0 and 1, this is {self.share}")

    def requirement(self) -> str:
        """Return the requirement in words."""
        if self.share is None:
            return f"shorter than {_which(self.turn)}"
        return f"at most {self.share:.0%} of the {plural(self.of)} of {_which(self.turn)}"

    def test(self, passage: Passage) -> Outcome:
        """Count in both."""
        text = earlier_reply(passage, self.turn)
        if text is None:
            return _NO_REPLY
        then, now = (len(spans_of(self.of, part)) for part in (Passage.whole(text), passage))
        passed = now < then if self.share is None else now <= self.share * then
        return Outcome(passed, f"{counted(now, self.of)}, before {then}")


def earlier_reply(passage: Passage, turn: int | None) -> str | None:
    """Return an earlier reply, the last where no turn is named; None if there is none."""
    number = len(passage.earlier) if turn is None else turn
    return passage.earlier[number - 1] if 1 <= number <= len(passage.earlier) else None


def longest_run(first: list[str], second: list[str]) -> int:
    """Return the length of the longest run of words that two texts share."""

    def runs(words: list[str], length: int) -> set[int]:
        last = len(words) - length
        return {hash(tuple(words[place : place + length])) for place in range(last + 1)}

    least, most = 0, min(len(first), len(second))
    while least < most:  # whoever shares a run shares every shorter one
        middle = (least + most + 1) // 2
        if runs(first, middle) & runs(second, middle):
            least = middle
        else:
            most = middle - 1
    return least


def _which(turn: int | None) -> str:
    return f"the reply to turn {turn}" if turn else "the reply before"


def _folded_words(passage: Passage) -> list[str]:
    return [normal(passage.at(span)).casefold() for span in words(passage)]


def _flat(text: str) -> str:
    return " ".join(normal(text).replace("*", "").replace("_", "").split())
