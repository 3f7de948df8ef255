"""Bring sentences into the shape that countable instructions ask for: so many sentences, words, lines, bullet points.

shape(("One.", "Two."), exactly three sentences, more) -> "One. Two. <the first of more>"
"""

import re
from collections.abc import Iterator, Sequence

from harness.chat.builtin.instructions import Instruction, Unit
from harness.chat.builtin.tokens import HAN, count_words, is_chinese, words

_ADVERBS = """
    Also Besides Clearly Directly Evidently First Given Here Indeed Just Keep Likewise Moreover Next Overall
    Plainly Quite Rather Still Then Usually Very When Xenial Yet Zealously
"""
_OPENERS: dict[str, str] = {word[0].lower(): word for word in _ADVERBS.split()}
_ENDS = ".!?。！？"


class Shape:
    """What the instructions ask for, as single figures."""

    def __init__(self, wanted: Sequence[Instruction]) -> None:
        self.wanted = wanted
        self.forbidden = tuple(
            item for one in wanted if one.kind == "forbid" for item in one.items if item != "bulleted lines"
        )
        self.required = tuple(item for one in wanted if one.kind == "require" for item in one.items)
        self.opening = self._first("open")
        self.closing = self._first("close")

    def _first(self, kind: str) -> str:
        return next((one.items[0] for one in self.wanted if one.kind == kind and one.items), "")

    def bounds(self, unit: Unit, each: bool = False) -> tuple[int | None, int | None]:
        """Return least and most of a unit, for the whole reply or for each of its parts."""
        for one in self.wanted:
            if one.kind == "count" and one.unit == unit and (one.each is not None) == each:
                return one.least, one.most
        return None, None

    def starts(self) -> tuple[str, ...] | None:
        """Return the beginnings that each part must have; empty for different letters, None for no rule."""
        return next((one.items for one in self.wanted if one.kind == "start"), None)


def shape(pool: Sequence[str], wanted: Sequence[Instruction], more: Iterator[str]) -> str:
    """Return a reply made of the pool's sentences, and of further ones from `more` where they are too few."""
    figures = Shape(wanted)
    parts = [part for sentence in pool if (part := without(sentence, figures.forbidden))]
    unit, count = _parts_wanted(figures)
    limit = figures.bounds("words", each=True)[1]
    if figures.required:
        parts.insert(0, f"Among the words are {', '.join(figures.required)}.")
    if figures.opening:
        parts.insert(0, _closed(figures.opening))
    parts = _sized(parts, figures, count, more)
    if figures.closing:
        last = "And is that what you asked for?" if figures.closing == "a question" else figures.closing
        parts = (
            [*parts[: max(0, len(parts) - 1)], last] if count is not None and len(parts) >= count else [*parts, last]
        )
    if limit is not None:
        parts = [clipped(part, limit) for part in parts]
    characters = figures.bounds("characters", each=True)[1]
    if characters is not None:
        parts = [
            part if len(part) <= characters else part[:characters].rsplit(" ", 1)[0].rstrip(",;: ") for part in parts
        ]
    parts = _started(parts, figures.starts())
    text = _joined(parts, unit)
    case = next((one.items[0] for one in wanted if one.kind == "case"), "")
    return text.lower() if case == "lower" else text.upper() if case == "upper" else text


def _parts_wanted(figures: Shape) -> tuple[str, int | None]:
    """Return what the reply is made of, and how many of them."""
    units: tuple[Unit, ...] = ("bullets", "lines", "paragraphs", "sentences")
    for unit in units:
        least, most = figures.bounds(unit)
        if most is not None or least is not None:
            return unit, most if least is None or unit != "sentences" else least
    return "prose", None


def _sized(parts: list[str], figures: Shape, count: int | None, more: Iterator[str]) -> list[str]:
    """Return as many parts as wanted, within the bounds of words."""
    least, most = figures.bounds("words")
    closing = count_words(figures.closing) + (6 if figures.closing == "a question" else 0)
    if count is not None:
        parts = parts[:count]
        parts += [without(part, figures.forbidden) for part, _ in zip(more, range(count - len(parts)), strict=False)]
    while least is not None and count is None and _length(parts) + closing < least and len(parts) < 400:
        further = next(more, "")
        if not further:
            break
        parts.append(without(further, figures.forbidden))
    if most is not None:
        parts = _fitted(parts, max(1, most - closing), keep=count)
    if least is not None and _length(parts) + closing < least and parts:
        parts[-1] = padded(parts[-1], least - closing - _length(parts[:-1]), more)
    return parts


def _fitted(parts: list[str], most: int, keep: int | None) -> list[str]:
    """Return the parts within so many words: the last ones left out, or all clipped where their number is fixed."""
    if keep is not None:
        share, rest = divmod(most, max(1, len(parts)))
        if _length(parts) > most:
            return [clipped(part, max(1, share + (index < rest))) for index, part in enumerate(parts)]
        return parts
    kept: list[str] = []
    for part in parts:
        room = most - _length(kept)
        if count_words(part) > room:
            return [*kept, clipped(part, room)] if room > 3 or not kept else kept
        kept.append(part)
    return kept


def _length(parts: Sequence[str]) -> int:
    return sum(count_words(part) for part in parts)


def clipped(sentence: str, most: int) -> str:
    """Return a sentence cut to so many words, closed again."""
    if count_words(sentence) <= most:
        return sentence
    if is_chinese(sentence):
        kept = ""
        for character in sentence:
            if count_words(kept + character) > most:
                break
            kept += character
        return kept.rstrip("，、；：。") + "。"
    step = sentence.split()
    while step and count_words(" ".join(step)) > most:
        step.pop()
    return " ".join(step).rstrip(",;:-.") + "."


def padded(sentence: str, least: int, more: Iterator[str]) -> str:
    """Return a sentence drawn out to so many words with words of further ones."""
    body = sentence.rstrip(_ENDS)
    end = sentence[len(body) :] or "."
    chinese = is_chinese(sentence)
    missing = least - count_words(body)
    further = "".join(next(more, "") for _ in range(1 + missing // 4)) if missing > 0 else ""
    pieces = re.findall(rf"[{HAN}]" if chinese else r"[^\W_]+", further)[: max(0, missing)]
    if not pieces:
        return sentence
    return f"{body}，{''.join(pieces)}{end}" if chinese else f"{body}, {' '.join(pieces).lower()}{end}"


def without(sentence: str, forbidden: Sequence[str]) -> str:
    """Return a sentence without forbidden words and marks, and without the words that hold a forbidden letter."""
    for item in forbidden:
        if len(item) == 1 and item.isalnum() and item.isascii():
            sentence = " ".join(word for word in sentence.split() if item.lower() not in word.lower())
        elif item.replace("'", "").isalnum() and item.isascii():
            sentence = re.sub(rf"\b{re.escape(item)}\b", "", sentence, flags=re.IGNORECASE)
        else:
            sentence = re.sub(re.escape(item), "", sentence, flags=re.IGNORECASE)
    tidy = re.sub(r"\s+([,.;:!?])", r"\1", " ".join(sentence.split()))
    if not words(tidy):
        return ""
    return tidy[0].upper() + tidy[1:] if not tidy.startswith("`") else tidy


def _started(parts: list[str], starts: tuple[str, ...] | None) -> list[str]:
    """Return the parts with the beginnings that each must have."""
    if starts is None:
        return parts
    begun: list[str] = []
    used: set[str] = set()
    for part in parts:
        if starts:
            opener = starts[0] if len(starts[0]) > 1 else _OPENERS.get(starts[0].lower(), starts[0])
        else:
            opener = (
                ""
                if part[:1].lower() not in used
                else next((word for key, word in _OPENERS.items() if key not in used), "")
            )
        has_it = part.lower().startswith(starts[0].lower()) if starts else not opener
        begun.append(part if has_it else f"{opener}, {part[:1].lower()}{part[1:]}")
        used.add(begun[-1][:1].lower())
    return begun


def _joined(parts: Sequence[str], unit: str) -> str:
    if unit == "bullets":
        return "\n".join(f"- {part}" for part in parts)
    if unit == "lines":
        return "\n".join(parts)
    if unit == "paragraphs":
        return "\n\n".join(parts)
    return "".join(part if is_chinese(part) or index == 0 else f" {part}" for index, part in enumerate(parts))


def _closed(sentence: str) -> str:
    return sentence if sentence.rstrip().endswith(tuple(_ENDS)) else f"{sentence.rstrip()}."
