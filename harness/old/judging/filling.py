"""The values of a template's placeholders for a match: the turns, fenced, and notes for the judge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.old.answering.simulation import UserPrompt, read_prompt
from harness.old.judging.materials import Materials
from harness.old.judging.sets import JudgeTemplate
from harness.old.judging.sets.judge_set import OWN_TEXTS
from harness.old.judging.template import fenced
from harness.old.judgments.judgment import Match
from harness.old.records import Question

if TYPE_CHECKING:
    from harness.old.checks import Outcome

CHECKS = "checks"
"""The placeholder for which checks the answers meet."""
SYSTEM = "system"
"""The placeholder for the benchmark's system prompt."""
NO_SYSTEM = "(none)"
NO_CHECKS = "(This message sets no limit that a program can check.)"
GIVEN = "(Given: the assistant found this turn as it stands and did not write it. It is not judged.)"
SAID = frozenset({"criterion", "steps", *OWN_TEXTS})
"""Placeholders that neither the question's turns, the answers nor the references fill."""


def values_of(materials: Materials, match: Match, template: JudgeTemplate) -> dict[str, str]:
    """Return the value of each placeholder in the template."""
    question, turn, judge_set = match.question, match.turn, materials.judge_set
    answers = [_fenced(materials, model, match) for model in match.models]
    names = ("answer",) if len(answers) == 1 else ("answer_a", "answer_b")
    reference = materials.reference(match) if template.reference else ()
    # Where other criteria have a reference, the note stands with that, and their prompts begin without it.
    beside = match.criterion is not None and question.category in materials.referenced
    bare = template.reference or beside or not judge_set.shows_help(question.category)
    turns = question.turns
    if question.user is not None:
        brief = brief_for(materials, question)
        turns = (brief.filled(brief.brief, question.user),)
    asked = [said if bare else noted(said, question.note_of(n)) for n, said in enumerate(turns, 1)]
    system = system_prompt_shown(materials, template)
    if system and SYSTEM not in template.names:
        first = 0 if template.names & {"conversation", "question_1"} else turn - 1
        asked[first] = told_before(asked[first], system)
    shown = {"question": asked, **dict(zip(names, answers, strict=True))}
    so_far = [{name: texts[n] for name, texts in shown.items()} for n in range(turn)]
    values = {**so_far[-1], SYSTEM: system or NO_SYSTEM}
    for number, said in enumerate(so_far, 1):
        values |= {f"{name}_{number}": text for name, text in said.items()}
    if reference:
        values["reference"] = reference[-1]
        values |= {f"ref_answer_{number}": text for number, text in enumerate(reference, 1)}
    if CHECKS in template.names:
        values[CHECKS] = _checked(materials, match)
    values |= said_of(materials, match, template)
    if template.turn is not None:
        each = [said | {"reference": reference[n]} for n, said in enumerate(so_far)] if reference else so_far
        turns_shown = (template.turn.fill({"turn": str(number), **said}) for number, said in enumerate(each, 1))
        values["conversation"] = "".join(turns_shown).strip("\n")
    return values


def system_prompt_shown(materials: Materials, template: JudgeTemplate) -> str | None:
    """Return the benchmark's system prompt if it is shown to the judge; None: there is none, or no place for it.

    It replaces `{system}` in the template, else it is put above the first question, but not in published prompts,
    which are those without a fence.
    """
    system = materials.bench.settings.system_prompt
    place = materials.judge_set.fence and template.names & {"conversation", "question", "question_1"}
    shown = SYSTEM in template.names or place
    return system if system and shown else None


def brief_for(materials: Materials, question: Question) -> UserPrompt:
    """Return what replaces a question if a chat model simulated the user."""
    return materials.once(question, ("brief",), read_prompt)


def said_of(materials: Materials, match: Match, template: JudgeTemplate) -> dict[str, str]:
    """Return the texts of the criterion, its steps, the rubric and the context that are shown."""
    materials.check(match)
    question, criterion = match.question, match.criterion
    values = {
        name: materials.judge_set.own_text(name, question, criterion) or ""
        for name in materials.own_names(template, criterion)
    }
    if criterion is not None:
        wording = materials.judge_set.criteria[criterion].said(question.category)
        values |= {"criterion": wording.definition or criterion, "steps": wording.steps}
    elif "criterion" in template.names:
        head = values["rubric"].strip().split("\n")[0].strip()
        values["criterion"] = head[1:-1] if head.startswith("[") and head.endswith("]") else head
    return {name: value for name, value in values.items() if name in template.names}


def _fenced(materials: Materials, model: str, match: Match) -> list[str]:
    """Return each turn so far between marker lines; of a conversation with a played user all of it as one."""

    def newly() -> list[str]:
        question, choice = match.question, materials.choice(model, match)
        if question.user is None:
            texts = [_fence(materials, text, question) for text in materials.turns(model, match)]
            conversation = choice.so_far(match.turn)
            return [given(text) if said.given else text for text, said in zip(texts, conversation, strict=True)]
        told = [
            f"User, message {turn}:\n{_fence(materials, one.text, question)}\n\n"
            f"Assistant, reply {turn}:\n{_fence(materials, reply.text, question)}"
            for turn, (one, reply) in enumerate(zip(choice.user, choice.replies, strict=False), 1)
        ]
        return ["\n\n".join(told)]

    return materials.once(match.question, ("fenced", model, match.turn, match.choice), newly)


def _fence(materials: Materials, text: str, question: Question) -> str:
    judge_set = materials.judge_set
    if not judge_set.fence:
        return text
    about = "\n".join(question.turns)
    return materials.once(question, ("fence", text), lambda: fenced(text, judge_set=judge_set.name, question=about))


def _checked(materials: Materials, match: Match) -> str:
    """Return which checks of the turn each answer meets."""
    from harness.old.checks import Conversation, outcomes

    question, turn = match.question, match.turn
    found = [
        shown_outcomes(outcomes(question.checks_of(turn), turns[-1], Conversation(question.turns[:turn], turns[:-1])))
        for turns in materials.shown(match)
    ]
    if len(found) == 1:
        return found[0]
    return "\n\n".join(f"Assistant {side}:\n{lines}" for side, lines in zip("AB", found, strict=True))


def given(reply: str) -> str:
    """Return an earlier reply as a judge sees it where it is not the assistant's own."""
    return f"{GIVEN}\n{reply}"


def told_before(question: str, system: str) -> str:
    """Return the first message of the user below the system prompt that the assistant had."""
    return f"(The assistant's system prompt, which it had to follow: {system})\n\n{question}"


def noted(question: str, note: str | None) -> str:
    """Return a message of the user with the author's note for the judge below it, if there is one."""
    if note is None:
        return question
    return f"{question}\n\n(For you alone, not seen by the assistant. What to look for: {note})"


def shown_outcomes(found: "Sequence[Outcome]") -> str:
    """Return which checks an answer meets, a line each; nothing in it is the answer's own words.

    - at most 60 words: no (63 words)
    """
    lines = []
    for outcome in found:
        met = {True: "yes", False: "no", None: "not decided"}[outcome.strict]
        why = f" ({outcome.found})" if outcome.strict is False and outcome.found and not outcome.check.QUOTES else ""
        lines.append(f"- {outcome.check.statement}: {met}{why}")
    return "\n".join(lines) or NO_CHECKS
