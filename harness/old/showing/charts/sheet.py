"""The drawing surface of charts, in pixels from its upper left corner, and its SVG text.

A name is text of the SVG and nothing else: the browser's own fonts and writing directions show it. What is too long is
shortened in the middle, and whole in the tooltip.

Colours are variables with a light one to fall back on, `var(--tb-ink, #1f2328)`, so that a chart follows the light or
dark page that it stands in; those of series are of Okabe and Ito (2008), which people with any kind of colour
blindness can tell apart. No chart uses colour as the only distinction.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias
from xml.etree import ElementTree

from harness.old.names import printable

Anchor: TypeAlias = Literal["start", "middle", "end"]

COLOURS = tuple(
    f"var(--tb-series-{at}, {colour})" for at, colour in enumerate(("#0072b2", "#d55e00", "#009e73", "#cc79a7"), 1)
)
INK, QUIET, FAINT, RULE, SHEET = (
    f"var(--tb-{name}, {colour})"
    for name, colour in (
        ("ink", "#1f2328"),
        ("quiet", "#59636e"),
        ("faint", "#8b949e"),
        ("rule", "#e3e7ec"),
        ("sheet", "#ffffff"),
    )
)
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2.5), (9, 3, 2, 3))
"""Of up to four lines."""
WIDTH = 420.0
"""Of a chart that a phone shows whole; there it shrinks by a sixth, and its least text is 9 pixels high."""
TEXT, SMALL = 12.0, 11.0
"""Sizes of text."""
_TURNED = {"start": "end", "middle": "middle", "end": "start"}


class Sheet:
    """One drawing; x grows to the right and y downwards, in pixels."""

    def __init__(self, width: float, height: float, label: str) -> None:
        """Begin a drawing; `label` describes it in a sentence for screen readers."""
        self.width, self.height, self.label = width, height, label
        self._parts: list[ElementTree.Element] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: Anchor = "start",
        size: float = TEXT,
        colour: str = INK,
        bold: bool = False,
        ems: float | None = None,
        tip: str | None = None,
    ) -> None:
        """Write a text with its middle at height y, shortened to so many ems, with a tooltip if it has one."""
        whole = printable(text)
        short = whole if ems is None else shortened(whole, ems)
        tip = printable(tip) if tip is not None else whole if short != whole else None
        right_to_left = _right_to_left(short)
        style = f"font-size: {size:g}px; fill: {colour}; text-anchor: {_TURNED[anchor] if right_to_left else anchor}"
        style += "; font-weight: 700" if bold else ""
        style += "; direction: rtl" if right_to_left else ""
        part = ElementTree.Element("text", {"x": f"{x:.2f}", "y": f"{y + 0.36 * size:.2f}", "style": style})
        part.text = short
        if tip is not None:
            ElementTree.SubElement(part, "title").text = tip
        self._parts.append(part)

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str = INK,
        *,
        width: float = 1.0,
        dashes: Sequence[float] = (),
    ) -> None:
        """Draw a line through the points; it is broken where one is NaN."""
        style = f"fill: none; stroke: {colour}; stroke-linecap: round"
        style += f"; stroke-dasharray: {','.join(f'{length:g}' for length in dashes)}" if dashes else ""
        self._path(_through(zip(xs, ys, strict=True)), f"{style}; stroke-width: {width:g}")

    def box(self, x: float, y: float, width: float, height: float, colour: str, *, opacity: float = 1.0) -> None:
        """Fill a rectangle whose upper left corner is at x, y."""
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        self._path(
            f"{_through(corners)} z", f"fill: {colour}" + (f"; fill-opacity: {opacity:.2f}" if opacity < 1 else "")
        )

    def dot(self, x: float, y: float, radius: float, colour: str, *, hollow: bool = False) -> None:
        """Draw a dot, or a ring."""
        self._path(_circle(x, y, radius), f"fill: {SHEET if hollow else colour}; stroke: {colour}; stroke-width: 1.5")

    def marker(self, x: float, y: float, kind: int, radius: float, colour: str) -> None:
        """Draw the marker of the kind-th model: circle, square, triangle, diamond."""
        corners, turn = ((0, 0.0), (4, 0.25), (3, 0.0), (4, 0.0))[kind]
        if not corners:
            self._path(_circle(x, y, radius), f"fill: {colour}")
            return
        angles = [math.pi * (2 * at / corners + turn) for at in range(corners)]
        points = [(x + 1.25 * radius * math.sin(a), y - 1.25 * radius * math.cos(a)) for a in angles]
        self._path(f"{_through(points)} z", f"fill: {colour}")

    def legend(self, kind: int, name: str, y: float, ems: float) -> None:
        """Name the kind-th of up to four lines by its colour, dashes and marker; two names stand beside each other."""
        x, y = 8.0 + (kind % 2) * WIDTH / 2, y + 20.0 * (kind // 2)
        self.line([x, x + 26.0], [y, y], COLOURS[kind], width=2.0, dashes=DASHES[kind])
        self.marker(x + 13.0, y, kind, 4.0, COLOURS[kind])
        self.text(x + 33.0, y, name, ems=ems)

    def svg(self) -> str:
        """Return the drawing as one `<svg>` element."""
        width, height = round(self.width), round(self.height)
        root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": str(width),
                "height": str(height),
                "viewBox": f"0 0 {width} {height}",
                "role": "img",
                "aria-label": printable(self.label),
                "style": "font-family: system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; "
                "font-variant-numeric: tabular-nums; stroke-linejoin: round; "
                f"width: 100%; min-width: {round(0.78 * width)}px; max-width: {round(1.3 * width)}px; height: auto",
            },
        )
        root.extend(self._parts)
        return ElementTree.tostring(root, encoding="unicode")

    def _path(self, points: str, style: str) -> None:
        self._parts.append(ElementTree.Element("path", {"d": points, "style": style}))


def _through(points: Iterable[tuple[float, float]]) -> str:
    """Return the path through the points, started again after each NaN."""
    parts, pen = [], "M"
    for x, y in points:
        if math.isnan(x):
            pen = "M"
            continue
        parts.append(f"{pen} {x:.2f} {y:.2f}")
        pen = "L"
    return " ".join(parts)


def _circle(x: float, y: float, radius: float) -> str:
    half = f"A {radius:g} {radius:g} 0 1 0"
    return f"M {x - radius:.2f} {y:.2f} {half} {x + radius:.2f} {y:.2f} {half} {x - radius:.2f} {y:.2f} z"


def shortened(text: str, ems: float) -> str:
    """Return the text, or its beginning and end with an ellipsis between where it is wider than that."""
    if ems_of(text) <= ems:
        return text
    half = (ems - 1.0) / 2
    return f"{_within(text, half)}…{_within(text[::-1], half)[::-1]}"


def ems_of(text: str) -> float:
    """Return about how wide a text is in a browser's usual font, in units of its size."""
    return sum(map(_em_of, text))


def text_width(texts: Sequence[str], ems: float, size: float = TEXT) -> float:
    """Return the pixels that the widest of the texts needs, each shortened to so many ems."""
    return size * max((ems_of(shortened(printable(text), ems)) for text in texts), default=0.0)


def _em_of(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF" or char in "mwMW@%…—":
        return 1.0
    if char in "iljtfrI.,:;|!'()[]/ -":
        return 0.4
    return 0.7 if char.isupper() else 0.62


def _within(text: str, ems: float) -> str:
    """Return the longest beginning of the text that is no wider than that."""
    used = 0.0
    for end, char in enumerate(text):
        used += _em_of(char)
        if used > ems:
            return text[:end]
    return text


def _right_to_left(text: str) -> bool:
    """Return whether the text's first letter is of a script that runs to the left."""
    kinds = (unicodedata.bidirectional(char) for char in text)
    return next((kind for kind in kinds if kind in {"L", "R", "AL"}), "L") != "L"


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from at most `low` to at least `high`, evenly spaced."""
    span = max(high - low, 1e-9 * max(1.0, abs(low), abs(high)))
    power = 10.0 ** math.floor(math.log10(span / most))
    for step in (power * size for size in (1, 2, 2.5, 5, 10, 20)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [round(at * step, 12) + 0.0 for at in range(first, max(last, first + 1) + 1)]


def places_of(values: Sequence[float]) -> int:
    """Return how many decimal places the numbers of an axis need."""
    return next((n for n in range(4) if all(abs(v - round(v, n)) < 1e-9 for v in values)), 4)
