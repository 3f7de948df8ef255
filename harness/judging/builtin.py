"""The built-in judges: which there are, what their tables must say, and how one is opened."""

from typing import TYPE_CHECKING

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.chat.model import ChatModel
    from harness.judging.forms import VerdictForm

OVERLAP = "builtin/overlap"
NOTICE = (
    "Scores of builtin/overlap are counts of words and instructions: "
    "they are for trying the harness out, not for judging models."
)


def is_builtin_judge(name: str) -> bool:
    """Return whether a name is that of a built-in judge."""
    return name == OVERLAP


def require_verdict(name: str, form: "VerdictForm") -> None:
    """Raise `UsageError` unless a built-in judge can give a verdict of this form.

    What it gives is written in the form asked for and read like any judge's words; kinds that it can't do it refuses.
    """
    if form.kind in ("label", "dimensions") or form.score_method != "text":
        what = "weigh tokens" if form.score_method != "text" else f"judge by {form.kind}"
        raise UsageError(f"{name} cannot {what}, it only grades and compares; choose a chat model as the judge")
    from harness.judging.overlap import require_format

    require_format(form.format, form.scale)


def open_builtin_judge(name: str) -> "ChatModel":
    """Return the built-in judge of this name.

    Raises:
        UsageError: there is none; the message says which there is.
    """
    if is_builtin_judge(name):
        from harness.judging.overlap import OverlapJudge

        return OverlapJudge(name)
    import difflib

    near = difflib.get_close_matches(name, [OVERLAP], cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"the only one is {OVERLAP}"
    raise UsageError(f"{name!r} is no built-in judge; {hint}")
