"""What a match is judged on: answers, reference, the template that the rule picks, and the request made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.judging.sets import JudgeSet, JudgeTemplate
from harness.judging.template import fenced
from harness.records import Answer, Facts, MadeFrom, Match, Message, Question, QuestionId, Request, content_hash

_OWN_TEXTS = ("rubric", "context")
"""Placeholders that are fields of the question."""


@dataclass
class Materials:
    """Everything that matches of one run are judged on."""

    bench: Bench
    judge_set: JudgeSet
    answers: Mapping[str, Mapping[QuestionId, Answer]]
    """By model, then by question id."""
    references: Mapping[QuestionId, tuple[str, ...]]
    referenced: frozenset[str] = frozenset()
    """Categories that are judged with a reference here."""
    _hashes: dict[tuple[str, ...], str] = field(default_factory=dict)

    def template(self, match: Match) -> JudgeTemplate:
        """Return the template for a match, or raise `UsageError` if the set has none."""
        kind = "grade" if len(match.models) == 1 else "compare"
        with_reference = match.question.category in self.referenced
        template = self.judge_set.choose(kind, match.turn, reference=with_reference)  # type: ignore[arg-type]
        if template is None:
            raise UsageError(
                f"the judge set {self.judge_set.name} has no template to {kind} turn {match.turn} "
                f"{'with' if with_reference else 'without'} a reference (question {match.question.question_id}); "
                "choose the turns with --turns, or another --judge-set"
            )
        return template

    def check(self, match: Match) -> None:
        """Raise `UsageError` or `MissingError` if a match cannot be judged; nothing is rendered."""
        template = self.template(match)
        for name in _OWN_TEXTS:
            if name in template.names:
                _own_text(match.question, name, template)

    def shown(self, match: Match) -> tuple[tuple[str, ...], ...]:
        """Return the turns so far of each answer, in the order in which the judge sees them."""
        return tuple(self._turns(model, match) for model in match.models)

    def _turns(self, model: str, match: Match) -> tuple[str, ...]:
        choices = self.answers[model][match.question.question_id].choices
        choice = next((c for c in choices if c.index == match.choice), choices[0])
        return choice.turns[: match.turn]

    def reference(self, match: Match) -> tuple[str, ...]:
        """Return the reference's turns so far."""
        return self.references[match.question.question_id][: match.turn]

    def request(self, match: Match) -> Request:
        """Return the request that asks the judge about a match."""
        template = self.template(match)
        values = self._values(match, template)
        messages = [Message("user", template.user.fill(values))]
        if template.system is not None:
            messages.insert(0, Message("system", template.system.fill(values)))
        facts = Facts(
            question=match.question,
            turn=match.turn,
            reference=self.reference(match) if template.reference else None,
            answers=self.shown(match),
            verdict_format=template.verdict,
            scale=self.judge_set.scale,
        )
        return Request(tuple(messages), self.judge_set.sampling, facts)

    def _values(self, match: Match, template: JudgeTemplate) -> dict[str, str]:
        """Return the value of each placeholder that the template holds."""
        question, turn = match.question, match.turn
        answers = [[self._fence(text, question) for text in turns] for turns in self.shown(match)]
        names = ("answer",) if len(answers) == 1 else ("answer_a", "answer_b")
        reference = self.reference(match) if template.reference else ()
        values = {"question": question.turns[turn - 1]}
        values |= {name: turns[-1] for name, turns in zip(names, answers, strict=True)}
        for number in range(1, turn + 1):
            values[f"question_{number}"] = question.turns[number - 1]
            values |= {f"{name}_{number}": turns[number - 1] for name, turns in zip(names, answers, strict=True)}
        if reference:
            values["reference"] = reference[-1]
            values |= {f"ref_answer_{number}": text for number, text in enumerate(reference, 1)}
        for name in _OWN_TEXTS:
            if name in template.names:
                values[name] = _own_text(question, name, template)
        if template.turn is not None:
            values["conversation"] = "".join(
                template.turn.fill({"turn": str(number), **_turn_values(values, number, names, reference)})
                for number in range(1, turn + 1)
            ).strip("\n")
        return values

    def _fence(self, text: str, question: Question) -> str:
        if not self.judge_set.fence:
            return text
        return fenced(text, judge_set=self.judge_set.name, question="\n".join(question.turns))

    def made_from(self, match: Match) -> MadeFrom:
        """Return the hashes of what a match is judged on; equal for both games of a pair."""
        template = self.template(match)
        key = (str(match.question.question_id), str(match.turn), str(match.choice), *sorted(match.models))
        conversation = self._hashes.get(key)
        if conversation is None:
            shown = sorted(zip(match.models, self.shown(match), strict=True))
            conversation = self._hashes[key] = content_hash([[model, list(turns)] for model, turns in shown])
        return MadeFrom(
            question=match.question.content,
            conversation=conversation,
            reference=content_hash(*self.reference(match)) if template.reference else None,
            template=self.judge_set.contents[template.name],
            parameters=content_hash(self.judge_set.sampling.stated()),
        )


def _turn_values(
    values: Mapping[str, str], number: int, names: Sequence[str], reference: Sequence[str]
) -> dict[str, str]:
    """Return the values of the sub-template for one turn."""
    turn = {"question": values[f"question_{number}"], **{name: values[f"{name}_{number}"] for name in names}}
    if reference:
        turn["reference"] = reference[number - 1]
    return turn


def _own_text(question: Question, name: str, template: JudgeTemplate) -> str:
    value = question.extra.get(name)
    if not isinstance(value, str):
        needed = f"which the template {template.name} needs"
        raise MissingError(f"question {question.question_id} has no text in the field {name!r}, {needed}")
    return value


def gather(
    bench: Bench,
    judge_set: JudgeSet,
    models: Sequence[str],
    questions: Sequence[Question],
    *,
    turns: Sequence[int] | None = None,
    reference: str | None = None,
    skip_missing: bool = False,
) -> tuple[Materials, tuple[Question, ...], list[str]]:
    """Return the materials, the questions that can be judged, and a notice for the user on each thing out of the usual.

    Raises:
        MissingError: answers or references are missing (the message names them), and `skip_missing` does not leave
            those questions out.
        UsageError: it is not clear whose references to show, or none are shown.
    """
    answers = {model: bench.answers(model) for model in models}
    relevant = {q.category for q in questions} & (judge_set.required | judge_set.if_any)
    references = bench.reference_answers(reference) if relevant or reference else {}
    if reference and not (judge_set.required or judge_set.if_any):
        raise UsageError(
            f"the judge set {judge_set.name} shows no references; leave out --reference, or choose another"
        )
    present = {q.category for q in bench.questions if q.question_id in references}
    referenced = judge_set.required | (judge_set.if_any & present)
    notices = [
        f"{category}: no question of this category has a reference answer; judged without one"
        for category in sorted(relevant - referenced)
    ]
    lacking: dict[str, list[Question]] = {}
    for question in questions:
        last = max((t for t in range(1, len(question.turns) + 1) if turns is None or t in turns), default=0)
        if not last:
            continue
        for model in models:
            fault = _fault(answers[model].get(question.question_id), question, last)
            if fault:
                lacking.setdefault(f"{model} {fault}", []).append(question)
        if question.category in referenced and len(references.get(question.question_id, ())) < last:
            by = f" by {reference}" if reference else ""
            lacking.setdefault(f"there is no reference answer{by} to", []).append(question)
    if lacking and not skip_missing:
        raise MissingError(
            f"{'; '.join(f'{what} {_named(which)}' for what, which in lacking.items())}. "
            "Answer them with gen_answer (references: reference_answer/, or --reference MODEL), "
            "or leave these questions out with --skip-missing"
        )
    notices += [f"left out: {what} {_named(which)}" for what, which in lacking.items()]
    left_out = {q.question_id for group in lacking.values() for q in group}
    judged = tuple(q for q in questions if q.question_id not in left_out)
    return Materials(bench, judge_set, answers, references, referenced), judged, notices


def _fault(answer: Answer | None, question: Question, last: int) -> str | None:
    """Return what is wrong with an answer to a question, as the beginning of a sentence that the question's id ends."""
    if answer is None:
        return "has no answer to"
    if any(len(choice.turns) < last for choice in answer.choices[:1]):
        return "has not answered every turn of"
    if answer.question_content is not None and answer.question_content != question.content:
        return "answered another wording (run gen_answer again) of"
    return None


def _named(questions: Sequence[Question]) -> str:
    ids = [str(q.question_id) for q in questions]
    return f"question{'s' * (len(ids) > 1)} {', '.join(ids[:6])}{f' and {len(ids) - 6} more' if len(ids) > 6 else ''}"


def with_sampling(judge_set: JudgeSet, *, temperature: float | None, max_tokens: int | None) -> JudgeSet:
    """Return the judge set with its sampling replaced where the user said so."""
    sampling = judge_set.sampling
    if temperature is not None:
        sampling = replace(sampling, temperature=float(temperature))
    if max_tokens is not None:
        sampling = replace(sampling, max_tokens=max_tokens)
    return replace(judge_set, sampling=sampling)
