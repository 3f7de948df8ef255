"""Marks of a chat template that a server leaves in a reply's text.

A server without the model's chat template, or with a model that was never taught one, does not know
where a turn ends: its text runs on over `<|im_end|>` into turns that it makes up.
"""

import re

MARKED = "the reply ends at the template mark"
"""How the note of such a reply begins."""
_LEADING = re.compile(r"\A\s*(?:<[|｜][^\s<>|｜]{1,40}[|｜]>\s*(?:assistant[^\S\n]*\n)?)+")
_MARK = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`)|(?P<mark><[|｜][^\s<>|｜]{1,40}[|｜]>)",
    re.DOTALL,
)
_END = re.compile(r"\s*</s>\s*\Z")


def cut_at_mark(text: str) -> tuple[str, str | None]:
    """Return a text up to the first template mark outside code, and the mark.

    >>> cut_at_mark("Paris.<|im_end|><|im_start|>user Thanks")
    ('Paris.', '<|im_end|>')
    >>> cut_at_mark("`<|im_end|>` ends a turn.</s>")
    ('`<|im_end|>` ends a turn.', '</s>')
    """
    if "<" not in text:
        return text, None
    rest, found = text, None
    if leading := _LEADING.match(text):  # the reply's own beginning
        rest, found = text[leading.end() :], leading[0].strip().splitlines()[0]
    for match in _MARK.finditer(rest):
        if match["mark"]:
            return rest[: match.start()].rstrip(), match["mark"]
    end = _END.search(rest)
    if end and rest.count("</s>") > rest.count("<s>"):  # no stroke through a word
        return rest[: end.start()], "</s>"
    return (rest, found) if found and rest.strip() else (text, None)
