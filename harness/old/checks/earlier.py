"""The reply compared with earlier turns: `keeps`, `quotes`, `shorter`."""

from collections.abc import Hashable, Sequence
from typing import ClassVar, Literal, TypeAlias

import msgspec

from harness.old.checks.check import Bounds, Check, Finding, Passage, Selector, Span, Unit
from harness.old.checks.scope import MissingPartError, narrow, place, validate
from harness.old.checks.units import full_name, plural, quotes, singular, spans_of, words
from harness.old.names import listed

_Runs: TypeAlias = tuple[Sequence[Hashable], Sequence[Hashable]]
"""The runs of some length in two texts, by where they begin; equal runs are equal."""


class Keeps(Bounds, frozen=True, kw_only=True, tag="keeps"):
    """Parts of the previous reply are repeated verbatim in this one: {"kind": "keeps", "of": "sentences", "exactly":
    1}.

    Without bounds all of them are. For words, the bounds apply to the longest run in both.
    """

    of: Unit
    source: Selector | list[Selector] = msgspec.field(name="from", default_factory=list)
    """Where in the earlier reply."""
    turn: int | None = None
    """Which earlier reply, the first is 1; None: the one before."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a unit, a place or bounds that cannot be."""
        super().__post_init__()
        validate(self.source)
        self.check_bounds(needed=self._runs)
        if self.each is not None:
            raise ValueError("keeps takes no each")

    @property
    def _runs(self) -> bool:
        return isinstance(self.of, str) and full_name(self.of) == "words"

    def wanted(self) -> str:
        """Return the requirement as a text."""
        where = f"the reply to turn {self.turn}" if self.turn else "the reply before"
        where += place(self.source, None)
        if self._runs:
            return f"{self.many()} consecutive words of {where}"
        return f"keeps {self.many() if self.bounded else 'all'} {plural(self.of)} of {where} word for word"

    def measure(self, passage: Passage) -> Finding:
        """Look for each part of the earlier reply."""
        text = earlier_reply(passage, self.turn)
        if text is None:
            return Finding(False, "there is no earlier reply")
        try:
            source = narrow(self.source, Passage.whole(text))
        except MissingPartError as missing:
            return Finding(False, f"in the earlier reply: {missing}")
        if self._runs:
            run = longest_run(_folded_words(passage), _folded_words(source))
            return Finding(self.holds(run), f"the longest run is {run} words")
        parts = [source.at(span) for span in spans_of(self.of, source)]
        now = _plain(passage.said)
        kept = [part for part in parts if _plain(part) in now]
        if self.holds(len(kept), (len(parts), len(parts))) and parts:
            return Finding(True, f"{len(kept)} of {len(parts)} kept")
        lost = [f"“{part[:40]}”" for part in parts if part not in kept]
        return Finding(False, f"{len(kept)} of {len(parts)} kept" + (f"; not {listed(lost)}" if lost else ""))


class Quotes(Bounds, frozen=True, kw_only=True, tag="quotes"):
    """The quoted passages occur in earlier turns: {"kind": "quotes", "of": "answer", "words": [3, 6]}."""

    whose: Literal["answer", "question"] = msgspec.field(name="of", default="answer")
    """From the model's earlier replies, or from the user's messages."""
    words: tuple[int, int] | None = None
    """The least and the most words of each passage."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for bounds that cannot be."""
        super().__post_init__()
        self.check_bounds(needed=False)

    def wanted(self) -> str:
        """Return the requirement as a text."""
        said_in = "the earlier reply" if self.whose == "answer" else "the question"
        length = f", {self.words[0]} to {self.words[1]} words each" if self.words else ""
        return f"{self.many((1, None))} passages quoted word for word from {said_in}{length}"

    def measure(self, passage: Passage) -> Finding:
        """Look up each quoted passage."""
        said = passage.conversation.replies if self.whose == "answer" else passage.conversation.questions
        source = "\n".join(map(_plain, said))
        right: list[Span] = []
        for span in quotes(passage):
            quoted = passage.part(span)
            length = len(words(quoted))
            if _plain(quoted.said).strip(" .,;:!?…") not in source:
                return Finding(False, f"“{quoted.said[:40]}” was not said before", (span,))
            if self.words is not None and not self.words[0] <= length <= self.words[1]:
                return Finding(False, f"“{quoted.said[:40]}” has {length} words", (span,))
            right.append(span)
        return Finding(self.holds(len(right), (1, None)), f"{len(right)} passages are quoted")


class Shorter(Check, frozen=True, kw_only=True, tag="shorter"):
    """Shorter than the reply before, or at most a share of it: {"kind": "shorter", "share": 0.5}."""

    QUOTES: ClassVar[bool] = False
    of: Unit = "words"
    share: float | None = None
    turn: int | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` for a unit or a share that cannot be."""
        super().__post_init__()
        if self.share is not None and not 0 < self.share < 1:
            raise ValueError(f"share must be a number between 0 and 1, this is {self.share}")

    def wanted(self) -> str:
        """Return the requirement as a text."""
        than = f"the reply to turn {self.turn}" if self.turn else "the reply before"
        if self.share is None:
            return f"shorter than {than}"
        return f"at most {self.share:.0%} of the {plural(self.of)} of {than}"

    def measure(self, passage: Passage) -> Finding:
        """Count in both."""
        text = earlier_reply(passage, self.turn)
        if text is None:
            return Finding(False, "there is no earlier reply")
        then, now = len(spans_of(self.of, Passage.whole(text))), len(spans_of(self.of, passage))
        met = now < then if self.share is None else now <= self.share * then
        return Finding(met, f"{now} {singular(self.of) if now == 1 else plural(self.of)}, before {then}")


def earlier_reply(passage: Passage, turn: int | None) -> str | None:
    """Return an earlier reply, the last where no turn is named; None if there is none."""
    replies = passage.conversation.replies
    if turn is None:
        return replies[-1] if replies else None
    return replies[turn - 1] if 1 <= turn <= len(replies) else None


def longest_run(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest run of words that two texts share, in time all but linear in both.

    Runs of 1, 2, 4, 8 ... words get numbers, equal ones the same (Karp, Miller and Rosenberg, STOC 1972); the longest
    that both share is put together of them, the greatest first.
    """
    doubled: list[_Runs] = [(first, second)]
    while not set(doubled[-1][0]).isdisjoint(doubled[-1][1]):
        doubled.append(_joined(doubled[-1], doubled[-1], 2 ** (len(doubled) - 1)))
    length, shared = 0, doubled[0]
    for power in reversed(range(len(doubled) - 1)):
        longer = _joined(shared, doubled[power], length)
        if not set(longer[0]).isdisjoint(longer[1]):
            length, shared = length + 2**power, longer
    return length


def _joined(runs: _Runs, others: _Runs, apart: int) -> _Runs:
    """Return numbers of the runs that begin as these do and go on with others so many words later."""
    known: dict[tuple[Hashable, Hashable], int] = {}
    one, other = (
        [known.setdefault(pair, len(known)) for pair in zip(own, after[apart:], strict=False)]
        for own, after in zip(runs, others, strict=True)
    )
    return one, other


def _folded_words(passage: Passage) -> list[str]:
    return [passage.at(span).casefold().replace("’", "'") for span in words(passage)]


def _plain(text: str) -> str:
    """Return a text normalised for comparison: spaces, emphasis and the shape of quotes are ignored."""
    marks = str.maketrans({"*": None, "_": None, "’": "'", "‘": "'", "“": '"', "”": '"', "„": '"'})
    return " ".join(text.translate(marks).split())
