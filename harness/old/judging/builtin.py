"""The built-in judges, which need no model: their names, and the note on every table of their verdicts.

overlap.py        counts words, numbers and checks
rules.py          the judges with one rule each, baselines for real ones
builtin_model.py  all of them as chat models
"""

from collections.abc import Iterable

OVERLAP = "builtin/overlap"
LONGEST, FIRST, RANDOM = RULES = ("builtin/longest", "builtin/first", "builtin/random")
BUILTIN_JUDGES = (OVERLAP, *RULES)
NOTICE = (
    "Scores of builtin/overlap are counts of words, numbers and checks: "
    "they are for trying the harness out, not for judging models."
)
_NOTICES = {
    OVERLAP: NOTICE,
    LONGEST: "builtin/longest prefers the longer answer, whatever it says: a baseline, not a judge.",
    FIRST: "builtin/first prefers the answer shown first: a baseline, not a judge.",
    RANDOM: "builtin/random prefers either answer at random: a baseline, not a judge.",
}


def is_builtin_judge(name: str) -> bool:
    """Return whether a name is that of a built-in judge."""
    return name in BUILTIN_JUDGES


def notices(judges: Iterable[str]) -> list[str]:
    """Return the warnings about the verdicts of these judges, a line for each built-in one."""
    return [_NOTICES[name] for name in dict.fromkeys(judges) if name in _NOTICES]
