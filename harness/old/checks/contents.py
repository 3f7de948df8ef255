"""What is written where, and what is not: `contains`, `starts`, `ends`, each also with `not_`, `order`, `equals`."""

from typing import ClassVar, Literal

from harness.old.checks.check import MET, Check, Finding, Passage, Span
from harness.old.checks.find import Texts, Wanted
from harness.old.names import listed

_ONCE = (1, None)
_MOST_PLACES = 20


class Contains(Wanted, frozen=True, kw_only=True, tag="contains"):
    """Each of these, so often: {"kind": "contains", "words": ["harbour", "boat*"]}; with `any` one is enough."""

    any: bool = False

    def __post_init__(self) -> None:
        """Raise `ValueError` for bounds that cannot be."""
        super().__post_init__()
        self.check_bounds(needed=False)

    def wanted(self) -> str:
        """Return the requirement as a text."""
        often = "" if self.limits(_ONCE) == _ONCE else f" {self.many()} times"
        return f"contains {self.quoted(' or ' if self.any else ', ')}{often}"

    def measure(self, passage: Passage) -> Finding:
        """Count each of them."""
        broken: list[str] = []
        spans: list[Span] = []
        for entry in self.entries:
            there = list(self.find(entry, passage))
            if self.holds(len(there), _ONCE):
                if self.any:
                    return MET
                continue
            broken.append(f"“{entry}” is not there" if not there else f"“{entry}” is there {len(there)} times")
            most = self.limits(_ONCE)[1]
            spans += there[most:] if most is not None and len(there) > most else []
        return Finding(False, listed(broken), tuple(spans[:_MOST_PLACES])) if broken else MET


class _Unbounded(Wanted, frozen=True, kw_only=True):
    """Kinds that look for something written and do not count it."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for bounds, which it does not take."""
        super().__post_init__()
        if self.bounded:
            raise ValueError(f"{self.kind} takes no bounds; contains does")


class NotContains(_Unbounded, frozen=True, kw_only=True, tag="not_contains"):
    """None of these: {"kind": "not_contains", "text": "!"}."""

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"does not contain {self.quoted(' or ')}"

    def measure(self, passage: Passage) -> Finding:
        """Find each of them."""
        spans = sorted(span for entry in self.entries for span in self.find(entry, passage))
        if not spans:
            return MET
        there = dict.fromkeys(passage.at(span).strip() for span in spans)
        return Finding(False, listed([f"“{text}”" for text in there]), tuple(spans[:_MOST_PLACES]))


class _Edge(_Unbounded, frozen=True, kw_only=True):
    """Kinds that look at the beginning or the end."""

    VERB: ClassVar[Literal["begin", "end"]]
    NOT: ClassVar[bool] = False

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"{f'does not {self.VERB}' if self.NOT else f'{self.VERB}s'} with {self.quoted(' or ')}"

    def measure(self, passage: Passage) -> Finding:
        """Look there."""
        begins = self.VERB == "begin"
        at = self.begins if begins else self.finishes
        places = [span for entry in self.entries if (span := at(entry, passage)) is not None]
        if bool(places) != self.NOT:
            return MET
        said, where = (_first(passage), _first_span) if begins else (_last(passage), _last_span)
        return Finding(False, f"{self.VERB}s with “{said}”", (places[0] if places else where(passage),))


class Starts(_Edge, frozen=True, kw_only=True, tag="starts"):
    """It begins with one of these: {"kind": "starts", "words": "Ground floor"}."""

    VERB = "begin"


class NotStarts(_Edge, frozen=True, kw_only=True, tag="not_starts"):
    """It begins with none of these: {"kind": "not_starts", "words": "You", "each": "sentence"}."""

    VERB = "begin"
    NOT = True


class Ends(_Edge, frozen=True, kw_only=True, tag="ends"):
    """It ends with one of these: {"kind": "ends", "words": "OVER"}."""

    VERB = "end"


class NotEnds(_Edge, frozen=True, kw_only=True, tag="not_ends"):
    """It ends with none of these: {"kind": "not_ends", "text": "?"}."""

    VERB = "end"
    NOT = True


class Order(_Unbounded, frozen=True, kw_only=True, tag="order"):
    """All of these, each first named after the one before: {"kind": "order", "words": ["harbour", "market"]}."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for fewer than two."""
        super().__post_init__()
        if len(self.entries) < 2:
            raise ValueError("order needs at least two texts")

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"in this order: {self.quoted()}"

    def measure(self, passage: Passage) -> Finding:
        """Compare the first places."""
        last = -1
        for entry in self.entries:
            first = next(self.find(entry, passage), None)
            if first is None:
                return Finding(False, f"“{entry}” is not there")
            if first.start < last:
                return Finding(False, f"“{entry}” comes too early", (first,))
            last = first.start
        return MET


class Equals(Check, frozen=True, kw_only=True, tag="equals"):
    """It is one of these texts; spaces and a final full stop do not count: {"kind": "equals", "text": "Lisbon"}."""

    text: Texts
    match_case: bool = False

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"is {' or '.join(f'“{text}”' for text in self._texts)}"

    def measure(self, passage: Passage) -> Finding:
        """Compare."""
        if self._plain(passage.said) in map(self._plain, self._texts):
            return MET
        return Finding(False, f"it is “{_first(passage)}”", (passage.span,))

    @property
    def _texts(self) -> list[str]:
        return [self.text] if isinstance(self.text, str) else self.text

    def _plain(self, text: str) -> str:
        plain = " ".join(text.split()).strip("*_ .。")
        return plain if self.match_case else plain.casefold()


def _first_span(passage: Passage) -> Span:
    said = passage.said
    start = passage.span.start + len(said) - len(said.lstrip())
    line = passage.text[start : min(start + 30, passage.span.end)].split("\n")[0]
    return Span(start, start + len(line))


def _first(passage: Passage) -> str:
    start, end = _first_span(passage)
    return passage.text[start:end].rstrip() + ("…" if end < passage.span.end and end - start == 30 else "")


def _last_span(passage: Passage) -> Span:
    end = passage.span.start + len(passage.said.rstrip())
    line = passage.text[max(end - 30, passage.span.start) : end].split("\n")[-1]
    return Span(end - len(line), end)


def _last(passage: Passage) -> str:
    start, end = _last_span(passage)
    return ("…" if end - start == 30 else "") + passage.text[start:end]
