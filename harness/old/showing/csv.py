"""A page's rows as csv: numbers unrounded, an absent value empty."""

import csv as writing
import io

from harness.old.names import csv_cell
from harness.old.showing.items import Page, flat


def csv(page: Page) -> str:
    """Return the rows; nothing where there is none."""
    rows = [flat(row) for row in page.rows]
    if not rows:
        return ""
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = writing.writer(out, lineterminator="\n")
    writer.writerow(map(csv_cell, names))
    writer.writerows([csv_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue().rstrip("\n")
