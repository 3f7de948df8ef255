"""A winner in the words of each verdict format: what built-in judges write, and what examples show a judge.

stated("B", "[[A]]")                                        -> "[[B]]"
stated("tie", "[[rating_a,rating_b]]", scale=(1, 5))        -> "[[3,3]]"
stated("A", "ranking", sides=("m", "M"))                    -> '[{"model": "m", "rank": 1}, {"model": "M", "rank": 2}]'
"""

import json
from collections.abc import Mapping

from harness.old.errors import UsageError
from harness.old.judging.verdicts.brackets import Scale
from harness.old.records import Side

_WORDS: Mapping[str, tuple[str, bool]] = {
    "[[A]]": ("[[%(letter)s]]", True),
    "[[rating_a,rating_b]]": ("[[%(a)g,%(b)g]]", True),
    "[RESULT] A|B": ("[RESULT] %(letter)s", False),
    "two_scores": ("%(a)g %(b)g", True),
    "ranking": ('[{"model": %(first)s, "rank": 1}, {"model": %(second)s, "rank": 2}]', False),
    "preference": ("%(name)s", False),
}
"""By format, the words of a winner, and whether it has such for a tie."""
FORMATS = tuple(_WORDS)
"""The formats in which a winner can be stated."""


def stated(
    side: Side, verdict_format: str, *, scale: Scale = (1, 10), sides: tuple[str, str] = ("A", "B")
) -> str | None:
    """Return the verdict in that format, without a word beside it; None for a tie where the format has none.

    Raises:
        UsageError: winners cannot be stated in this format.
    """
    if verdict_format not in _WORDS:
        raise UsageError(f"a winner cannot be stated as {verdict_format or '(none stated)'}, only {', '.join(FORMATS)}")
    words, has_tie = _WORDS[verdict_format]
    if side == "tie" and not has_tie:
        return None
    least, greatest = scale
    middle = (least + greatest) // 2
    a, b = {"A": (greatest, least), "B": (least, greatest), "tie": (middle, middle)}[side]
    name, other = sides if side == "A" else sides[::-1]
    first, second = json.dumps(name), json.dumps(other)
    letter = "C" if side == "tie" else side
    return words % {"letter": letter, "a": a, "b": b, "name": name, "first": first, "second": second}
