"""A page as JSON: an absent value is null, no number is rounded, characters that hide or reorder text are escaped."""

import json as writing

from harness.old.names import json_text
from harness.old.showing.items import Page


def json(page: Page) -> str:
    """Return the page's data."""
    return json_text(writing.dumps(page.data, ensure_ascii=False, indent=2, allow_nan=False))
