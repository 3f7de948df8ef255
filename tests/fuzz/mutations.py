"""What goes wrong in files: cut, doubled and swapped pieces, odd bytes, and values that nobody expects."""

import random
import re

VALUES = (
    *("null", "true", "-1", "0", "-0.0", "1e308", "-1e308", "1e999", "nan", "inf", "NaN", "-Infinity", "0x1F", "1_000"),
    *("9" * 25, "9" * 400, "9" * 5000, "0x" + "f" * 6000, "1." + "0" * 400, "9223372036854775808", "1e-400"),
    *(
        '""',
        '" "',
        '"x"',
        "'x'",
        '"\\u0000"',
        '"\\ud800"',
        '"\\u202e"',
        '"$ERROR$"',
        '"{answer}"',
        '"{"',
        '"' + "x" * 3000 + '"',
    ),
    *(
        "[]",
        "{}",
        "[[]]",
        "[null]",
        '{"a": {}}',
        "[1, 2, 3]",
        '["a"]',
        "2024-01-01",
        "1979-05-27T07:32:00Z",
        "12:30:00",
    ),
    *(
        "[" * 60,
        "[" * 3000,
        "{" * 3000,
        '{"a":' * 3000,
        "[" * 150 + "]" * 150,
        "a: " * 200,
        "- " * 300,
        "*a",
        "&a [*a]",
    ),
    *("!!bool x", "!!timestamp x", "!!binary x", "!!set {a}", "!!python/object:os.system x", "? [a]", "=1+1", "@", "%"),
    *("http://[::1", "http://[::1]:99999", "http://x:0/", "../../etc/passwd", "a" * 5000, "\ufeff", "〱", "\u2028"),
)
BYTES = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\r",
    b"\n",
    b"\t",
    b'"',
    b"'",
    b"\\",
    b",",
    b"#",
    b"[",
    b"}",
    b"=",
)
_PIECE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e\d+)?|true|false|null|[A-Za-z_][\w.]*|[\[\]{}:,=\n]')


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return the content with one to four things gone wrong."""
    for _ in range(chance.randint(1, 4)):
        content = chance.choice((_value, _value, _value, _odd_bytes, _cut, _doubled, _swapped, _nested))(
            content, chance
        )
    return content


def _pieces(content: bytes) -> list[tuple[int, int]]:
    return [found.span() for found in _PIECE.finditer(content[:20_000])] or [(0, 0)]


def _value(content: bytes, chance: random.Random) -> bytes:
    start, end = chance.choice(_pieces(content))
    return content[:start] + chance.choice(VALUES).encode("utf-8") + content[end:]


def _odd_bytes(content: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(content))
    return content[:at] + chance.choice(BYTES) * chance.choice((1, 1, 1, 40)) + content[at + chance.randint(0, 2) :]


def _cut(content: bytes, chance: random.Random) -> bytes:
    start, end = sorted((chance.randint(0, len(content)), chance.randint(0, len(content))))
    return content[:start] + content[end:] if chance.random() < 0.5 else content[:end]


def _doubled(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    at = chance.randrange(len(lines))
    return b"".join([*lines[: at + 1], *lines[at:]])


def _swapped(content: bytes, chance: random.Random) -> bytes:
    (a, b), (c, d) = sorted((chance.choice(_pieces(content)), chance.choice(_pieces(content))))
    return content if b > c else content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _nested(content: bytes, chance: random.Random) -> bytes:
    start, end = chance.choice(_pieces(content))
    depth = chance.choice((1, 2, 99, 120, 900, 1500))
    return content[:start] + b"[" * depth + content[start:end] + b"]" * depth + content[end:]


_WAYS = (_value, _value, _value, _odd_bytes, _cut, _doubled, _swapped, _nested)
