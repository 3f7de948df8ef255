"""How sentences and tables write amounts, counts, lists, and text that must not harm a terminal."""

import decimal
import math
from collections.abc import Sequence


def dollars(amount: float) -> str:
    """Return dollars with cents, a small amount with two digits that are not zeros.

    >>> dollars(1234.5), dollars(0.0123), dollars(0.0042), dollars(0.0)
    ('$1,234.50', '$0.012', '$0.0042', '$0')
    """
    if amount == 0:
        return "$0"
    places = 2 if abs(amount) >= 0.095 else 1 - math.floor(math.log10(abs(amount)))
    return f"${amount:,.{places}f}"


def rounded(value: float, places: int, scale: int = 0) -> str:
    """Return a number times 10 ** scale, halves rounded up as in published tables.

    >>> rounded(3.275, 2), rounded(-0.001, 2), rounded(0.645, 0, 2)
    ('3.28', '0.00', '65')
    """
    exact = decimal.Decimal(repr(float(value))).scaleb(scale)
    short = exact.quantize(decimal.Decimal(1).scaleb(-places), rounding=decimal.ROUND_HALF_UP)
    return str(short or abs(short))  # no minus before a zero


def p_value(p: float) -> str:
    """Return a p-value.

    >>> p_value(0.0123), p_value(0.0004)
    ('0.012', '<0.001')
    """
    return "<0.001" if p < 0.0005 else rounded(p, 3)


def percent(share: float, places: int = 0) -> str:
    """Return a share as a percentage.

    >>> percent(0.344)
    '34%'
    """
    return f"{rounded(share, places, 2)}%"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "question"), counted(1200, "reply", "replies")
    ('1 question', '1,200 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return some names in a sentence, and how many more there are.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d", "e", "f"])
    ('a', 'a, b and c', 'a, b, c and 3 more')
    """
    names = list(names)
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def first_lines(lines: Sequence[str], most: int, rest: str = "and {} more") -> list[str]:
    """Return the first lines, and how many more there are.

    >>> first_lines(["a", "b", "c"], 1)
    ['a', 'and 2 more']
    """
    more = [rest.format(len(lines) - most)] if len(lines) > most else []
    return [*lines[:most], *more]


def beginning(text: str, most: int) -> str:
    """Return the beginning of a text in one line, of at most so many characters.

    >>> beginning("One two,\\nthree.", 7), beginning("One\\ntwo.", 8)
    ('One two…', 'One two.')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most].rstrip() + "…"


def printable(text: str, keep: str = "") -> str:
    """Return a text with the characters escaped that move a cursor, hide or turn what is around.

    >>> printable("a\\x1b[2J")
    'a\\\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text
    )
