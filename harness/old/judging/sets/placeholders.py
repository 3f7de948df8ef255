"""The closed set of placeholders in templates, and those that a prompt of each kind must have."""

from harness.old.judging.sets.judge_set import JudgeTemplate

_MOST_TURNS = 20
_PER_TURN = ("question", "answer", "answer_a", "answer_b", "ref_answer")
TURN_PLACEHOLDERS = frozenset({"turn", "question", "answer", "answer_a", "answer_b", "reference"})
"""The placeholders of the sub-template `turn`, one for each turn so far."""
PLAIN_PLACEHOLDERS = frozenset(
    {"question", "answer", "answer_a", "answer_b", "reference", "conversation"}
    | {"criterion", "steps", "rubric", "context", "checks", "system"}
)
PLACEHOLDERS = PLAIN_PLACEHOLDERS | {f"{name}_{n}" for name in _PER_TURN for n in range(1, _MOST_TURNS + 1)}
"""The closed set of placeholders."""

_ONE, _TWO = frozenset({"answer"}), frozenset({"answer_a", "answer_b"})


def fault_of(template: JudgeTemplate) -> str | None:
    """Return what keeps a template from being filled for every turn that it is for; None if nothing does."""
    shown = "conversation" in template.user.names | (template.system.names if template.system else frozenset())
    if shown and template.turn is None:
        return "the prompt contains {conversation}, so the sub-template 'turn' is required"
    if template.turn is not None and not shown:
        return "there is a sub-template 'turn', but the prompt contains no {conversation}"
    if template.names == {"context"} and template.kind != "compare":
        return None  # a record's whole judge input as it was assembled elsewhere, the answer in it
    needed = _TWO if template.kind == "compare" else _ONE
    if template.fields & (_ONE | _TWO) != needed:
        names = " and ".join(f"{{{name}}}" for name in sorted(needed))
        return f"a prompt to {template.kind} must contain {names} and no other answer"
    first = 2 if template.turns in ("second", "later") else 1
    for name in sorted(template.names):
        number = name.rpartition("_")[2]
        if number.isdigit() and int(number) > first:
            return f"{{{name}}} does not exist yet at turn {first}, to which the template also applies"
    return None
