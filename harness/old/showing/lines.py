"""The order in which a format without pictures writes a page: heading, then tables and sentences, then notes."""

from collections.abc import Callable

from harness.old.showing.items import Chart, Note, Page, Table


def in_lines(
    page: Page,
    text: Callable[[str], str],
    table: Callable[[Table], str],
    *,
    heading: str = "{}",
    note: str = "note: {}",
    apart: str = "\n",
) -> str:
    """Return a page, its parts apart by empty lines.

    Args:
        page: what to write.
        text: returns a text with what the format gives a meaning escaped.
        table: returns a table without its title and note.
        heading: how the heading is marked.
        note: how a note is marked.
        apart: what stands between notes.
    """
    first, *others = page.facts.items() or [("", "")]
    about = ", ".join([first[1], *(f"{name}: {value}" for name, value in others)])
    parts = [heading.format(text(about))] if about else []
    for item in page.items:
        shown = item.instead if isinstance(item, Chart) else item
        if isinstance(shown, Note):
            parts.append(text(shown.text))
        elif shown is not None:
            parts += [text(shown.title), table(shown), text(shown.note or "")]
    parts.append(apart.join(note.format(text(line)) for line in page.notes))
    return "\n\n".join(part for part in parts if part)
