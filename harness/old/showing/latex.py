"""A page as LaTeX that needs no package; names are escaped."""

from harness.old.names import printable
from harness.old.showing.items import Page, Table
from harness.old.showing.lines import in_lines

_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def latex(page: Page) -> str:
    """Return the page."""
    return in_lines(page, _text, table_latex, heading="\\textbf{{{}}}", note="Note: {}", apart="\n\n")


def table_latex(table: Table) -> str:
    """Return one table as a tabular environment, without its title and note; nothing where there is no row."""
    columns = table.shown()
    if not table.rows or not columns:
        return ""
    head = " & ".join(_text(str(column.heading)) for column in columns)
    rows = [" & ".join(map(_text, map(str, row))) for row in zip(*(column.cells for column in columns), strict=True)]
    kinds = "".join("l" if column.words else "r" for column in columns)
    body = [f"\\begin{{tabular}}{{{kinds}}}", r"\hline", rf"{head} \\", r"\hline", *(rf"{row} \\" for row in rows)]
    return "\n".join([*body, r"\hline", r"\end{tabular}"])


def _text(text: str) -> str:
    return "".join(_SIGNS.get(letter, letter) for letter in printable(text))
