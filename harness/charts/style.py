"""The sheet that charts are drawn on, in pixels from its upper left corner, and the SVG text that it becomes.

Names never pass through matplotlib: a sheet writes `t0`, `t1`, ... in their place, and the texts are put in when the
SVG is done. So no name is read as a formula, measured in a font that lacks its characters, or written unescaped; the
browser's own fonts and writing directions show it. What is too long is shortened in the middle, and whole in the
tooltip.

Colours are those of Okabe and Ito (2008), which people with any kind of colour blindness can tell apart; no chart says
anything by colour alone. Sheets are light: a dark page shows them on a light card.
"""

import io
import re
import threading
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree

from harness.names import printable

Anchor: TypeAlias = Literal["start", "middle", "end"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
INK, QUIET, FAINT, RULE = "#1f2328", "#59636e", "#8b949e", "#e3e7ec"
WIDTH = 420.0
"""Of a chart that a phone shows whole; there it shrinks by a sixth, and its least text is 9 pixels high."""
TEXT, SMALL = 12.0, 11.0
"""Sizes of text."""
_ALIGN = {"start": "left", "middle": "center", "end": "right"}
_TURNED = {"start": "end", "end": "start"}
_SVG = "{http://www.w3.org/2000/svg}"
_ONE_AT_A_TIME = threading.Lock()
"""matplotlib's settings belong to the process, and the viewer has many threads."""


class Sheet:
    """One drawing; x grows to the right and y downwards, in pixels."""

    def __init__(self, width: float, height: float, label: str) -> None:
        """Begin a drawing; `label` says in a sentence what it shows, for those who cannot see it."""
        self.width, self.height, self.label = width, height, label
        self._marks: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self._texts: list[tuple[str, str | None]] = []

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
        look = {"ha": _ALIGN[anchor], "fontsize": size, "color": colour, "fontweight": "bold" if bold else "normal"}
        self._mark("Text", (x, y + 0.36 * size, f"t{len(self._texts)}"), va="baseline", **look)
        self._texts.append((short, tip))

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
        look: dict[str, Any] = {"color": colour, "linewidth": width, "solid_capstyle": "round"}
        if dashes:
            look["linestyle"] = (0, tuple(length / width for length in dashes))  # matplotlib counts in line widths
        self._mark("Line2D", (xs, ys), **look)

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Fill a rectangle whose upper left corner is at x, y."""
        self._mark("Rectangle", ((x, y), width, height), facecolor=colour, linewidth=0)

    def dot(self, x: float, y: float, radius: float, colour: str, *, hollow: bool = False) -> None:
        """Draw a dot, or a ring."""
        self._mark(
            "Circle", ((x, y), radius), facecolor="#ffffff" if hollow else colour, edgecolor=colour, linewidth=1.5
        )

    def marker(self, x: float, y: float, kind: int, radius: float, colour: str) -> None:
        """Draw the marker of the kind-th model: circle, square, triangle, diamond, pentagon, hexagon."""
        corners, turn = ((0, 0.0), (4, 0.785398), (3, 3.141593), (4, 0.0), (5, 3.141593), (6, 0.0))[kind]
        if corners == 0:
            self._mark("Circle", ((x, y), radius), facecolor=colour, linewidth=0)
        else:
            args = ((x, y), corners)
            self._mark("RegularPolygon", args, radius=radius * 1.25, orientation=turn, facecolor=colour, linewidth=0)

    def svg(self) -> str:
        """Return the drawing as one `<svg>` element."""
        return _finished(self._drawn(), self)

    def text_of(self, token: str) -> tuple[str, str | None]:
        """Return the text and the tooltip that a token stands for."""
        return self._texts[int(token.removeprefix("t"))]

    def _mark(self, kind: str, args: tuple[Any, ...], **look: Any) -> None:
        self._marks.append((kind, args, {"zorder": len(self._marks), "clip_on": False, **look}))

    def _drawn(self) -> bytes:
        """Return matplotlib's SVG of the drawing, with `t0`, `t1`, ... for the texts."""
        with _ONE_AT_A_TIME:  # two threads that import it at once meet it half made
            import matplotlib
            from matplotlib import lines, patches, text
            from matplotlib.figure import Figure

        kinds = {"Text": text.Text, "Line2D": lines.Line2D}
        with _ONE_AT_A_TIME, matplotlib.rc_context():
            matplotlib.rcdefaults()  # whatever the user's matplotlibrc says
            matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "turnbench"})
            figure = Figure(figsize=(self.width / 72, self.height / 72), dpi=72)  # a point is a pixel
            axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
            axes.set_xlim(0.0, self.width)
            axes.set_ylim(self.height, 0.0)
            axes.axis("off")
            for kind, args, look in self._marks:
                axes.add_artist((kinds.get(kind) or getattr(patches, kind))(*args, **look))
            out = io.BytesIO()
            figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        return out.getvalue()


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
    with _ONE_AT_A_TIME:
        from matplotlib.ticker import MaxNLocator

    values = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(value) + 0.0 for value in values]


def places_of(values: Sequence[float]) -> int:
    """Return how many decimal places the numbers of an axis need."""
    return next((n for n in range(4) if all(abs(v - round(v, n)) < 1e-9 for v in values)), 4)


def _finished(drawn: bytes, sheet: Sheet) -> str:
    """Return matplotlib's SVG without all that points elsewhere or could clash in a page, and with its texts."""
    root = ElementTree.fromstring(drawn)
    parts: list[ElementTree.Element] = []
    for element in root.iter():
        tag = element.tag.removeprefix(_SVG)
        if tag == "path":
            style = element.get("style", "")
            if style == "fill: none":  # the figure's own background
                continue
            parts.append(ElementTree.Element("path", {"d": " ".join(element.get("d", "").split()), "style": style}))
        elif tag == "text":
            short, tip = sheet.text_of(element.text or "")
            style = re.sub(r"font-family: [^;]*;? ?", "", element.get("style", ""))
            if _right_to_left(short):
                style = re.sub(r"(?<=text-anchor: )(start|end)", lambda found: _TURNED[found[0]], style)
                style += "; direction: rtl"
            part = ElementTree.Element("text", {"x": element.get("x", ""), "y": element.get("y", ""), "style": style})
            part.text = short
            if tip is not None:
                title = ElementTree.SubElement(part, "title")
                title.text = tip
            parts.append(part)
    width, height = round(sheet.width), round(sheet.height)
    finished = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(width),
            "height": str(height),
            "viewBox": f"0 0 {width} {height}",
            "role": "img",
            "aria-label": printable(sheet.label),
            "style": "font-family: system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; "
            "font-variant-numeric: tabular-nums; stroke-linejoin: round; "
            f"width: 100%; min-width: {round(0.78 * width)}px; max-width: {round(1.3 * width)}px; height: auto",
        },
    )
    finished.extend(parts)
    return ElementTree.tostring(finished, encoding="unicode")
