"""What mkdocs does to pages: the reference of judge sets is the README beside them."""

import pathlib
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page's text."""
    if page.file.src_uri == "reference/judge-sets.md":
        text = (ROOT / "judge_prompts" / "README.md").read_text(encoding="utf-8")
        return text.replace("](../docs/", "](../")
    return markdown
