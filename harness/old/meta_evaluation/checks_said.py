"""A judge's text and the checks of the judged answer -> what it says about each: kept, broken, or nothing.

    "At 143 words it runs over the limit, but it avoids exclamation marks."
        at most 120 words       broken
        does not contain "!"    kept
        ends with "Nino"        nothing is said

It matches keywords, not meaning. Sentences are split into clauses at contrasts (*but*, *and it*, 但). A
clause is about a check if it has the check's number with its unit, a text or mark that the check names (a short text
in quotation marks), or the kind's own words. Its statement is read from the words for keeping and breaking in it,
reversed by a negation up to four words before. A clause that only repeats the requirement states nothing; the next
one is read. "All limits are kept" counts for every check. If one of several clauses says broken, that counts.

The words are in `checks_said.toml`, for English, Hungarian and Chinese; a text in another language is not read. How
often this is right was measured: docs/checks.md.
"""

import contextlib
import functools
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.old.checks.answers import chinese_number
from harness.old.checks.find import compiled
from harness.old.checks.units import CJK
from harness.old.written import read_toml

Says: TypeAlias = Literal["kept", "broken"] | None
_FORBIDS = ("not_contains", "not_starts", "not_ends")
_REQUIRES = ("contains", "starts", "ends")
_TOPICS = {"not_starts": "starts", "not_ends": "ends", "order": "sorted"}
"""Kinds that use the words of another kind; `count` is recognised by its unit, `contains` by its quotation."""
_RESULTS = ("number", "choice", "equals", "code")
_SHORT = 3
"""Matches of a pattern shorter than this could occur in any sentence."""
_LONGEST = 400
"""Characters of a clause that is still read; no judge writes longer ones without a full stop."""
_NEAR = 4
"""Words before another within which a negation turns it round."""
_MOST = 20_000
"""Characters of a judge's text that are read."""
_SENTENCE = re.compile(r"(?<=[.!?;])[\"”’)\]*]*\s+|(?<=[。！？；])|\n+")
_SHOWN = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
"""Code and quoted lines: they are shown, not said."""
_BOUNDS = re.compile(
    r"\b(?:(?P<exactly>exactly )|(?P<least>at least )|(?P<most>at most )|(?P<from>\d+) to )"
    r"(?P<number>\d+) (?P<unit>\w+)"
)
_QUOTED = re.compile(r"“([^”]+)”|(?<!\S)/(.+?)/(?=$| or |, )")
_HAN_NUMBER = "[一二两三四五六七八九十百]+"
_AFTER_LIMIT = re.compile(
    r"[- ]?(?:limit|cap|maximum|minimum|requirement|range|korlát|limit|határ|keret)|\s*的?(?:限制|上限|下限|要求|规定)"
)


class Limit(NamedTuple):
    """A check as far as its row states it."""

    kind: str
    text: str
    """Its requirement, as in `Check.statement`."""


class _Words:
    """The words of a language, compiled."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self.spaced = name != "zh"
        self.patterns = {key: self._one(value) for key, value in table.items() if isinstance(value, str)}
        self.share = float(table.get("share", 0))
        self.sources: Mapping[str, str] = table["topics"]
        self.topics = {key: self._one(value) for key, value in self.sources.items()}
        self.marks = {key: self._one(value) for key, value in table["marks"].items()}
        self.numbers = {word: n for n, words in enumerate(table["numbers"]) for word in words.split("|")}
        self.clauses = self._parting(table)

    def __getitem__(self, name: str) -> re.Pattern[str]:
        """Return the words of that name in the table."""
        return self.patterns[name]

    def _one(self, source: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{source})(?!\w)" if self.spaced else source, re.IGNORECASE)

    def _parting(self, table: Mapping[str, Any]) -> re.Pattern[str]:
        """Return what parts a sentence: a word that turns, or a joint or comma before words that say something new."""
        turn, joint = table["turn"], table["joint"]
        if not self.spaced:
            return re.compile(rf"{turn}|：(?![”\"」])")
        verbs = "|".join(table[name] for name in ("kept", "broken", "absent", "present", "not"))
        new = rf"(?=(?:(?:{joint}|does|do|did|has|is) )*(?:{verbs})(?!\w))"
        return re.compile(
            rf":\s+|,?\s+(?:{turn})(?!\w)|(?:,|(?<!\w)(?:and|és|s|valamint|illetve)(?!\w))\s+{new}", re.IGNORECASE
        )

    def negated(self, clause: str, start: int) -> bool:
        """Return whether a negation stands shortly before a place."""
        if not self.spaced:
            return any(match.end() >= start - 2 for match in self["not"].finditer(clause, max(0, start - 6), start))
        before = clause[:start].rsplit(",", 1)[-1].split()[-_NEAR:]
        return self["not"].search(" ".join(before)) is not None

    def votes(self, pattern: re.Pattern[str], clause: str, meaning: bool) -> list[bool]:
        """Return for each place of some words what they mean there."""
        return [meaning ^ self.negated(clause, match.start()) for match in pattern.finditer(clause)]

    def told(self, clause: str, good: str, bad: str) -> bool | None:
        """Return the joint statement of the words of these two names in a clause; None without any."""
        return _both([*self.votes(self[good], clause, True), *self.votes(self[bad], clause, False)])


@functools.cache
def _languages() -> Mapping[str, _Words]:
    file = pathlib.Path(__file__).with_suffix(".toml")
    return {name: _Words(name, table) for name, table in read_toml(file).items()}


def language_of(text: str) -> str | None:
    """Return the language of a judge's text, by its script and its commonest words; None for one without word lists."""
    letters = sum(character.isalpha() for character in text)
    han = len(re.findall(f"[{CJK}]", text))
    if han > 0.3 * letters:
        return "zh" if len(re.findall("[\u3041-\u30ff]", text)) < 0.05 * han else None
    words = max(1, len(text.split()))
    shares = {
        name: len(own["common"].findall(text)) / words - own.share for name, own in _languages().items() if own.share
    }
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= 0 else None


def said_of(limits: Sequence[Limit], text: str, language: str) -> list[Says]:
    """Return what a judge's text says about each check of an answer; see `language_of`, `has_words`."""
    words = _languages()[language]
    clauses = list(_clauses(words, _SHOWN.sub(" ", text[:_MOST])))
    every = any(_says_every(words, own) for sentence in clauses for own in sentence)
    units = [_count(limit).unit for limit in limits]
    rivals = {unit for unit in units if unit and units.count(unit) > 1}
    found: list[Says] = []
    for limit in limits:
        alone = _count(limit).unit not in rivals
        votes = [vote for own in clauses for vote in _votes(words, limit, own, alone=alone) if vote is not None]
        found.append("broken" if False in votes else "kept" if votes or every else None)
    return found


def _says_every(words: _Words, clause: str) -> bool:
    """Return whether a clause says that all limits are kept."""
    found = words["every"].search(clause)
    if found is None or words.negated(clause, found.start()):
        return False
    return words.told(clause, "kept", "broken") is True


def has_words(limit: Limit) -> bool:
    """Return whether there are keywords for such a check."""
    return limit.kind == "contains" or any(_topic(limit) in words.topics for words in _languages().values())


def _topic(limit: Limit) -> str:
    """Return the name of the word list for a check: for a count its unit."""
    return (_count(limit).unit or "") if limit.kind == "count" else _TOPICS.get(limit.kind, limit.kind)


def _clauses(words: _Words, text: str) -> Iterator[list[str]]:
    """Yield the clauses of each sentence."""
    plain = text.replace("’", "'").replace("n't", " not").replace("*", "")
    for sentence in _SENTENCE.split(plain):
        own = [clause.strip() for clause in words.clauses.split(sentence) if clause and clause.strip()]
        if own and len(sentence) <= _LONGEST:
            yield own


def _votes(words: _Words, limit: Limit, clauses: Sequence[str], *, alone: bool) -> Iterator[bool | None]:
    """Yield the statement of each clause of a sentence that is about the check."""
    for at, clause in enumerate(clauses):
        place = _named_at(words, limit, clause)
        if place is None and not _about(words, limit, clause, alone=alone):
            continue
        vote = _vote(words, limit, clause, place)
        if vote is None and at + 1 < len(clauses):
            vote = _vote(words, limit, clauses[at + 1], None if place is None else 0)
        yield vote


def _about(words: _Words, limit: Limit, clause: str, *, alone: bool) -> bool:
    """Return whether a clause has keywords of a check's kind."""
    topic = words.topics.get(_topic(limit))
    if topic is None or not topic.search(clause):
        return False
    if limit.kind != "count":
        return True
    _, *bounds = _count(limit)
    return alone or any(n in bounds for n, _ in _counted(words, limit, clause))


def _named_at(words: _Words, limit: Limit, clause: str) -> int | None:
    """Return where a clause holds what the check names: its text, in quotation marks if it is short, or its mark."""
    if limit.kind not in (*_FORBIDS, *_REQUIRES, "equals"):
        return None
    patterns = [words.topics["not_contains"]] if limit.kind == "not_contains" else []
    for text, pattern in _QUOTED.findall(limit.text):
        if pattern:
            with contextlib.suppress(ValueError):
                match = compiled(pattern, match_case=False).search(clause)
                if match is not None and len(match[0].strip()) >= _SHORT:
                    return int(match.start())
        else:
            patterns.append(words.marks.get(text) or _compiled(_mention(text)))
    return min((match.start() for match in (own.search(clause) for own in patterns) if match), default=None)


@functools.lru_cache(maxsize=1024)
def _mention(text: str) -> str:
    """Return the pattern of a text that a check names: as a word, or between quotation marks if it is short."""
    bare = text.strip("*")
    han = re.search(f"[{CJK}]", bare) is not None
    if len(bare) < (2 if han else 4):
        return f"[\"'“‘„「『`]{re.escape(bare)}[\"'”’“」』`]"
    start, end = (
        not han and not side and bare[at].isalnum() for side, at in ((text[0] == "*", 0), (text[-1] == "*", -1))
    )
    return r"\b" * start + re.escape(bare) + r"\b" * end


def _vote(words: _Words, limit: Limit, clause: str, place: int | None) -> bool | None:
    """Return whether a clause says that the check is kept; None if it says nothing.

    `place` is where it names what the check names, None if it only has words of the check's kind.
    """
    clause = words["bound"].sub(" ", clause) if "bound" in words.patterns else clause
    rest = words["as_asked"].sub(" ", clause)
    if limit.kind in _RESULTS and place is None:
        return None if words["asks"].search(rest) else words.told(rest, "right", "wrong")
    told = words.told(rest, "kept", "broken")
    if told is None and limit.kind == "count":
        told = _by_number(words, limit, rest)
    if place is not None or (told is None and limit.kind not in ("starts", "ends", "count", *_FORBIDS)):
        told = words.told(rest, "right", "wrong") if told is None and place is None else told
        there = _by_presence(words, limit, rest, place)
        told = _both([vote for vote in (told, there) if vote is not None])
    return True if told is None and rest != clause else told


def _both(votes: Sequence[bool]) -> bool | None:
    """Return the joint statement of several words: broken if one says so."""
    return all(votes) if votes else None


def _by_number(words: _Words, limit: Limit, clause: str) -> bool | None:
    """Return whether a number that a clause states is within the limit."""
    _, least, most = _count(limit)
    if not words["counting"].search(clause) and "," not in clause and not clause[0].isdigit():
        return None
    counted = list(_counted(words, limit, clause))
    inside = [least <= n and (most is None or n <= most) for n, _ in counted]
    if False in inside:
        return False
    asked = words["asks"].search(clause)
    told = not asked or ("," in clause[counted[0][1] : asked.start()] if counted else False)
    return True if inside and told else None


def _by_presence(words: _Words, limit: Limit, clause: str, place: int | None) -> bool | None:
    """Return whether the text says that something required, or forbidden, is there; the requirement may follow."""
    if words["asks"].search(clause, 0, len(clause) if place is None else max(1, place)):
        return None
    absent = words.votes(words["absent"], clause, True)
    if absent:
        there = not all(absent)
    elif words["not"].search(clause):
        there = False
    elif words["present"].search(clause):
        there = True
    else:
        return None
    return there ^ (limit.kind in _FORBIDS)


def _counted(words: _Words, limit: Limit, clause: str) -> Iterator[tuple[int, int]]:
    """Yield each number of the check's unit in a clause, and its place; one that names a limit is none."""
    unit = words.sources.get(_topic(limit))
    if unit is None:
        return
    named = "|".join(sorted(words.numbers, key=len, reverse=True))
    between = r"(?:[- ]\w+)?[- ]" if words.spaced else r"\s*(?:个|句)?"
    edge = r"(?!\w)" if words.spaced else ""
    own = r"(?<!\w)" if words.spaced else "(?<!第)"
    numbers = named if words.spaced else _HAN_NUMBER
    for match in _compiled(rf"{own}(\d+|{numbers}){between}(?:{unit}){edge}").finditer(clause):
        said = match[1].lower()
        number = int(said) if said.isdigit() else words.numbers.get(said)
        if number is None and not words.spaced:
            number = int(chinese_number(re.sub("^百", "一百", said)))
        if number is not None and not _AFTER_LIMIT.match(clause, match.end()):
            yield number, match.start()


@functools.lru_cache(maxsize=256)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


class _Count(NamedTuple):
    """The requirement of a `count` check; nothing for other checks."""

    unit: str | None = None
    """In the plural."""
    least: int = 0
    most: int | None = None


@functools.lru_cache(maxsize=4096)
def _count(limit: Limit) -> _Count:
    """Return the unit that a check counts, and the least and the greatest number that keep it."""
    found = _BOUNDS.search(limit.text) if limit.kind == "count" else None
    if found is None:
        return _Count()
    unit, number = found["unit"], int(found["number"])
    least = int(found["from"] or (0 if found["most"] else number))
    return _Count(unit if unit.endswith("s") else f"{unit}s", least, None if found["least"] else number)
