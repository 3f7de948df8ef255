"""Templates as TOML: another project's prompt in our words, and texts as TOML writes them."""

import re
from collections.abc import Mapping

from harness.written import toml_value


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a prompt with another project's placeholders in our words; every other brace stays text."""
    pieces, place = [], 0
    for found in re.finditer("|".join(rf"\{{{re.escape(name)}\}}" for name in names), text):
        # What ends with a brace would begin a doubled one with the placeholder's.
        pieces += [braces(text[place : found.start()] + "{")[:-1], f"{{{names[found[0][1:-1]]}}}"]
        place = found.end()
    return "".join([*pieces, braces(text[place:])])


def braces(text: str) -> str:
    """Return a text such that our template says it: an open brace before a name or another one means something."""
    return re.sub(r"\{(?=[{A-Za-z])", "{{", text)


def template_toml(kind: str, verdict: str, user: str, system: str, *, sides: tuple[str, str] | None = None) -> str:
    """Return a template's file."""
    lines = [f'kind = "{kind}"', f'verdict = "{verdict}"']
    lines += [f"sides = {toml_value(sides)}"] if sides else []
    return "\n".join([*lines, "", f"system = {toml(system)}", "", f"user = {toml(user)}", ""])


def toml(text: str) -> str:
    """Return a text as TOML writes it, on as many lines as it has."""
    if "\n" not in text:
        return toml_value(text)
    inside = text.replace("\\", "\\\\").replace('"""', '""\\"')
    return f'"""\n{inside}"""' if not inside.endswith('"') else f'"""\n{inside[:-1]}\\""""'
