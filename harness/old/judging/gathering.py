"""The answers, references and texts that matches need, or what is missing and what to do about it.

materials, questions, notices = gather(bench, judge_set, ["gpt-4o"], bench.questions)
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from harness.old.judging.forms import Kind
from harness.old.judging.materials import Materials
from harness.old.judging.options import JudgeOptions
from harness.old.judging.planned import Voted
from harness.old.judging.sets import JudgeSet
from harness.old.names import questions_listed
from harness.old.records import Answer, Mode, Question, QuestionId


class _Lack(NamedTuple):
    """Something that a question lacks for judging."""

    what: Literal["answer", "reference", "text"]
    told: str
    """The beginning of a sentence that the question's id ends."""
    field: str | None = None
    """The question's field in which a text is missing."""


def gather(
    bench: Bench,
    judge_set: JudgeSet,
    models: Sequence[str],
    questions: Sequence[Question],
    options: JudgeOptions = JudgeOptions(),
    *,
    awaited: Mapping[str, Collection[QuestionId]] | None = None,
    mode: Mode | None = None,
    voted: Voted | None = None,
    read: Mapping[str, Mapping[QuestionId, Answer]] | None = None,
) -> tuple[Materials, tuple[Question, ...], list[str]]:
    """Return the materials, the questions that can be judged, and a notice for the user on each thing that is unusual.

    `awaited` names answers that will be there later; earlier ones of the same names are not used. With a `mode`,
    there must be a template for everything, and each text that it shows. With `voted`, only the
    questions and models of its pairs are looked at. `read` are all answers, where they have been read already.

    Raises:
        MissingError: answers, references, rubrics or contexts are missing (the message names the questions), and
            the options do not leave those out.
        UsageError: it is not clear whose references to show, or none are shown.
    """
    waits, reference = awaited or {}, options.reference
    answers = {
        model: {key: answer for key, answer in own.items() if key not in waits.get(model, ())}
        for model in models
        for own in [bench.answers(model) if read is None else read[model]]
    }
    if voted is not None:
        questions = [question for question in questions if question.question_id in voted.models]
    planned = [(q, _criteria(judge_set, q, options.turns)) for q in questions]
    relevant = {
        q.category for q, criteria in planned if criteria and judge_set.shows_reference(q.category, present=True)
    }
    references = bench.reference_answers(reference) if relevant or reference else {}
    if reference and not (judge_set.references.required or judge_set.references.if_any):
        raise UsageError(
            f"the judge set {judge_set.name} shows no references; leave out --reference, or choose another"
        )
    present = {q.category for q in bench.questions if q.question_id in references}
    referenced = frozenset(c for c in relevant if judge_set.shows_reference(c, present=c in present))
    without = {model: bench.without_history(model) - answers[model].keys() for model in models}
    materials = Materials(bench, judge_set, answers, references, referenced, options, without)
    notices = [
        f"{category}: no question of this category has a reference answer; judged without one"
        for category in sorted(relevant - referenced)
    ]
    lacking: dict[_Lack, list[Question]] = {}
    for question, criteria in planned:
        for model in models if criteria else ():
            key = question.question_id
            if voted is not None and model not in voted.models[key]:
                continue
            last = max(criteria.keys() & set(question.written_by(model)), default=0)
            if not last or key in without.get(model, ()):
                continue
            checked = None if options.every_choice else 1
            fault = None if key in waits.get(model, ()) else _fault(answers[model].get(key), question, last, checked)
            if fault:
                lacking.setdefault(_Lack("answer", f"{model} {fault}"), []).append(question)
        for lack in _lacks_of(question, criteria, materials, mode, reference):
            lacking.setdefault(lack, []).append(question)
    if lacking and not options.skip_missing:
        told = "; ".join(f"{what.told} {_named(which)}" for what, which in lacking.items())
        raise MissingError(f"{told}. {_what_now(lacking, judge_set)}")
    notices += [f"left out for every model: {what.told} {_named(which)}" for what, which in lacking.items()]
    left_out = {q.question_id for group in lacking.values() for q in group}
    not_for = [q for q, criteria in planned if not criteria and not judge_set.is_for_some_turn(q)]
    if not_for:
        notices.append(f"left out: the judge set {judge_set.name} is not for {_named(not_for)}")
        left_out |= {q.question_id for q in not_for}
    judged = tuple(q for q in questions if q.question_id not in left_out)
    return materials, judged, notices


def _criteria(
    judge_set: JudgeSet, question: Question, turns: Sequence[int] | None
) -> dict[int, tuple[str | None, ...]]:
    """Return the criteria of each turn of a question that is to be judged; empty if none is."""
    every = range(1, len(question.turns) + 1)
    wanted = (turn for turn in every if question.given(turn) is None and (turns is None or turn in turns))
    return {turn: criteria for turn in wanted if (criteria := judge_set.criteria_of(question, turn))}


def _lacks_of(
    question: Question,
    criteria: Mapping[int, tuple[str | None, ...]],
    materials: Materials,
    mode: Mode | None,
    reference: str | None,
) -> list[_Lack]:
    """Return what a question is missing for judging, apart from answers."""
    found: dict[_Lack, None] = {}
    for turn, names in criteria.items():
        for criterion in names:
            if materials.lacks_reference(question, turn, criterion):
                by = f" by {reference}" if reference else ""
                found[_Lack("reference", f"there is no reference answer{by} to")] = None
            if mode is None:
                continue
            kind: Kind = "grade" if mode == "single" else "compare"
            template = materials.template_for(question, turn, kind, criterion)
            for name in materials.lacking(question, template, criterion):
                needs = f"there is no text in the field {name!r}, which the template {template.name} needs, for"
                found[_Lack("text", needs, name)] = None
    return list(found)


def _what_now(lacking: Iterable[_Lack], judge_set: JudgeSet) -> str:
    """Return what a user can do about what is missing."""
    faults = list(lacking)
    missing = {lack.what for lack in faults}
    ways = []
    if "answer" in missing:
        ways.append("Answer them with gen_answer")
    if "reference" in missing:
        ways.append("Write references into reference_answer/NAME.jsonl, or use a model's answers (--reference MODEL)")
    if "text" in missing:
        bringing = [name for name, criterion in judge_set.criteria.items() if criterion.rubric]
        rubric = bringing and any(lack.field == "rubric" for lack in faults)
        choosing = f", choose a criterion that has a rubric (--criterion {' '.join(bringing)})" if rubric else ""
        ways.append(f"Add the field to question.jsonl{choosing}")
    return f"{'. '.join(ways)}, or leave these questions out with --skip-missing"


def _fault(answer: Answer | None, question: Question, last: int, checked: int | None) -> str | None:
    """Return what is wrong with an answer to a question, as the beginning of a sentence that the question's id ends.

    `checked` is how many of its choices are looked at; None: all.
    """
    if answer is None:
        return "has no answer to"
    if any(len(choice.turns) < last for choice in answer.choices[:checked]):
        return "has not answered every turn of"
    if answer.question_content is not None and answer.question_content != question.content:
        return "answered another wording (run gen_answer again) of"
    return None


def _named(questions: Sequence[Question]) -> str:
    return questions_listed([question.question_id for question in questions], 6)
