"""The reply compared with earlier turns: `keeps`, `quotes`, `shorter`."""

import re
from difflib import SequenceMatcher
from typing import ClassVar, Literal

from msgspec import field

from harness.extras.checks.check import Bounds, Check, Selector
from harness.extras.checks.passage import Outcome, Passage, normal
from harness.extras.checks.units import counted, parts, plural, words

_QUOTE = re.compile(
    r'"([^"\n]+)"|“([^“”]+)”|„([^„“”"]+)[“”"]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』'
)


class Keeps(Bounds, frozen=True, kw_only=True, tag="keeps"):
    """Parts of the reply before are repeated verbatim: {"of": "sentences", "exactly": 1}.

    For words, it is the longest run that both have.
    """

    of: str
    source: Selector = field(name="from", default=Selector())
    """Where in the reply before."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        where = f"the reply before{self.source}"
        if plural(self.of) == "words":
            return f"{self.many()} consecutive words of {where}"
        return f"keeps {self.many()} {plural(self.of)} of {where} word for word"

    def test(self, passage: Passage) -> Outcome:
        """Look for each part of the reply before."""
        source = self.source.text(passage.before)
        if plural(self.of) == "words":
            now, before = (words(_flat(text).casefold()) for text in (passage.text, source))
            run = SequenceMatcher(None, now, before, autojunk=False).find_longest_match().size
            return Outcome(self.holds(run), f"the longest run is {run} words")
        every = parts(self.of, source)
        lost = [part for part in every if _flat(part) not in _flat(passage.text)]
        number = len(every) - len(lost)
        reason = f"{number} of {len(every)} kept" + (f"; not “{lost[0][:40]}”" if lost else "")
        return Outcome(self.holds(number), reason)


class Quotes(Bounds, frozen=True, kw_only=True, tag="quotes"):
    """Quoted passages occur in earlier turns: {"of": "answer", "words": [3, 6]}."""

    whose: Literal["answer", "question"] = field(name="of", default="answer")
    """From the model's earlier replies, or from the user's messages."""
    words: tuple[int, int] | None = None
    """The least and the most words of each passage."""

    def requirement(self) -> str:
        """Return the requirement in words."""
        source = "the earlier reply" if self.whose == "answer" else "the question"
        length = f", {self.words[0]} to {self.words[1]} words each" if self.words else ""
        return f"{self.many()} passages quoted word for word from {source}{length}"

    def test(self, passage: Passage) -> Outcome:
        """Look up each quoted passage."""
        turns = passage.earlier if self.whose == "answer" else passage.questions
        source = "\n".join(map(_flat, turns))
        quotes = [match[match.lastindex or 0] for match in _QUOTE.finditer(passage.text)]
        for quote in quotes:
            length = len(words(quote))
            if _flat(quote).strip(" .,;:!?…") not in source:
                return Outcome(False, f"“{quote[:40]}” was not said before")
            if self.words is not None and not self.words[0] <= length <= self.words[1]:
                return Outcome(False, f"“{quote[:40]}” has {length} words")
        return Outcome(self.holds(len(quotes)), f"{len(quotes)} passages are quoted")


class Shorter(Check, frozen=True, kw_only=True, tag="shorter"):
    """It has fewer words than the reply before."""

    QUOTES: ClassVar[bool] = False

    def requirement(self) -> str:
        """Return the requirement in words."""
        return "shorter than the reply before"

    def test(self, passage: Passage) -> Outcome:
        """Count in both."""
        before, now = (len(words(text)) for text in (passage.before, passage.text))
        return Outcome(now < before, f"{counted(now, 'words')}, before {before}")


def _flat(text: str) -> str:
    return " ".join(normal(text).replace("*", "").replace("_", "").split())
