"""The request that asks a judge about a match: the template filled, the set's examples, and how it is sampled."""

import os
from collections.abc import Sequence
from dataclasses import replace

from harness.old.errors import MissingError, UsageError
from harness.old.judging.filling import values_of
from harness.old.judging.materials import Materials
from harness.old.judging.verdicts.stated import stated
from harness.old.judgments.judgment import Match
from harness.old.records import Answer, Choice, Facts, Message, Question, Reply, Request


def prompt_about(materials: Materials, match: Match) -> str:
    """Return the last message of the request about a match, the part that judgment files store."""
    template = materials.template(match)
    return template.user.fill(values_of(materials, match, template))


def request_about(materials: Materials, match: Match) -> Request:
    """Return the request that asks the judge about a match."""
    template, question = materials.template(match), match.question
    form = materials.form(match)
    messages = _messages(materials, match)
    answers = materials.shown(match)
    if question.user is not None:  # what each model said to a played user, without what the user said
        answers = tuple(("\n\n".join(materials.choice(model, match).turns),) for model in match.models)
    facts = Facts(
        question=question,
        turn=match.turn,
        reference=materials.references.get(question.question_id, ())[: match.turn] if template.reference else None,
        answers=answers,
        verdict_format=template.verdict,
        scale=form.scale,
        sides=form.sides,
        sample=match.sample,
    )
    return Request(
        tuple(messages),
        materials.sampling(match),
        facts,
        top_logprobs=template.top_logprobs if form.score_method == "logprobs" else None,
        schema=form.schema if materials.options.structured else None,
        shared=_shared(materials, match, messages),
    )


def beginning(materials: Materials, match: Match) -> str:
    """Return a key shared by all matches that differ only in the criterion, whose prompts share a prefix."""
    if match.criterion is None or len(materials.judge_set.criteria_of(match.question, match.turn)) < 2:
        return ""
    about = (match.question.question_id, match.turn, match.models, match.game, match.sample, match.choice)
    return repr(about)


def _messages(materials: Materials, match: Match) -> list[Message]:
    template = materials.template(match)
    values = values_of(materials, match, template)
    messages = [Message("user", template.user.fill(values))]
    if len(match.models) == 2:
        messages[:0] = _examples(materials, match.criterion)
    if template.system is not None:
        messages.insert(0, Message("system", template.system.fill(values)))
    return messages


def _shared(materials: Materials, match: Match, messages: Sequence[Message]) -> int:
    """Return how much of the last message those of all the other criteria begin with as well."""
    group = beginning(materials, match)

    def common() -> int:
        texts = [messages[-1].content]
        for criterion in materials.judge_set.criteria_of(match.question, match.turn):
            try:
                other = _messages(materials, replace(match, criterion=criterion))
            except (UsageError, MissingError):  # it is not judged at all
                continue
            texts.append(other[-1].content if other[:-1] == messages[:-1] else "")
        return len(os.path.commonprefix(texts))  # noqa: RUF071  (of texts, which is what it compares)

    return materials.once(match.question, ("shared", group), common) if group else 0


def _examples(materials: Materials, criterion: str | None) -> list[Message]:
    """Return the judge set's examples as an exchange of messages: each rendered like a match, then its verdict.

    An example for which the set has no template, or whose verdict the form has no words for (a tie), is left out.
    """
    if criterion in materials.examples:
        return materials.examples[criterion]
    shown: list[Message] = []
    for number, example in enumerate(materials.judge_set.examples, 1):
        question = Question(f"example {number}", example.category, example.turns)
        sides = {"A": example.answer_a, "B": example.answer_b}
        answers = {
            side: {question.question_id: Answer(question.question_id, side, (Choice(0, tuple(map(Reply, turns))),))}
            for side, turns in sides.items()
        }
        known = {question.question_id: example.reference} if example.reference else {}
        referenced = frozenset({example.category}) & materials.referenced if known else frozenset[str]()
        own = replace(materials, answers=answers, references=known, referenced=referenced)
        match = Match(question, len(example.turns), tuple(sides), criterion=criterion)
        try:
            prompt, form = prompt_about(own, match), own.form(match)
        except (UsageError, MissingError):
            continue
        verdict = stated(example.verdict, form.format, scale=form.scale, sides=form.sides)
        if verdict is not None:
            shown += [Message("user", prompt), Message("assistant", verdict)]
    materials.examples[criterion] = shown
    return shown
