"""A page as JSON: an absent value is null, no number is rounded."""

import json as writing

from harness.showing.items import Page


def json(page: Page) -> str:
    """Return the page's data."""
    return writing.dumps(page.data, ensure_ascii=False, indent=2, allow_nan=False)
