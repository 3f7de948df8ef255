"""A page as Markdown; bars and tags inside names are escaped."""

from harness.old.names import printable
from harness.old.showing.items import Page, Table
from harness.old.showing.lines import in_lines


def markdown(page: Page) -> str:
    """Return the page."""
    return in_lines(page, _text, table_markdown, heading="**{}**", note="- {}")


def table_markdown(table: Table) -> str:
    """Return one table without its title and note; nothing where there is no row."""
    columns = table.shown()
    if not table.rows or not columns:
        return ""
    rule = [":--" if column.words else "--:" for column in columns]
    rows = zip(*(column.cells for column in columns), strict=True)
    lines = [[_text(str(column.heading)) for column in columns], rule, *(map(_text, map(str, row)) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _text(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;")
