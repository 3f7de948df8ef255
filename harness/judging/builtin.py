"""The built-in judge: its name, and what every table of its verdicts says; `overlap.py` is the judge itself."""

OVERLAP = "builtin/overlap"
NOTICE = (
    "Scores of builtin/overlap are counts of words, numbers and checks: "
    "they are for trying the harness out, not for judging models."
)


def is_builtin_judge(name: str) -> bool:
    """Return whether a name is that of a built-in judge."""
    return name == OVERLAP
