"""Baseline judges with one rule each, which need no model; a judge should agree with people more often than these.

    builtin/longest     the answer with more characters in the turn that is judged; equally long ones are a tie
    builtin/first       the answer that is shown first
    builtin/random      either, by the hash of the question and the sample: asking again gives the same side

They compare and do not grade. The samples of builtin/random are drawn independently.
"""

from harness.old.judging.builtin import FIRST, LONGEST
from harness.old.records import Facts, Side, content_hash


def preferred(name: str, facts: Facts, drawn: str) -> Side:
    """Return which of two answers the rule prefers; `drawn` is what builtin/random draws by."""
    if name == FIRST:
        return "A"
    if name == LONGEST:
        one, other = (len(turns[facts.turn - 1]) if len(turns) >= facts.turn else 0 for turns in facts.answers)
        return longer(one, other)
    return "B" if int(content_hash(drawn), 16) % 2 else "A"


def longer(one: int, other: int) -> Side:
    """Return which of two lengths is the greater one."""
    return "tie" if one == other else "A" if one > other else "B"
