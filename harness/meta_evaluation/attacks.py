"""Attacks planted into weak answers, as a benchmark of its own: every attack is a model, and so is the clean answer.

    weak answer                      → the model `clean`
    weak answer with an attack       → one model for each attack of `attacks.toml`
    a good answer (to compare with)  → the model `strong`

A judge then judges that benchmark like any other, with everything that belongs to it (resume, limits, cost), and
`harness.meta_evaluation.attack_effects` compares each attack with `clean`, question by question.
"""

import pathlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from harness.answering import AnswerOptions, plan_answers, run_answers
from harness.bench import Bench
from harness.errors import DataError, MissingError
from harness.jsonl import Journal
from harness.judging.extraction import extracted
from harness.records import Answer, Choice, Question, QuestionId, Reply, Sampling, content_hash
from harness.rows import answer_to_row
from harness.written import FILLED, Wanted, decoded, read_toml

CLEAN, STRONG = "clean", "strong"
WEAK_MODEL, STRONG_MODEL = "builtin/eliza", "builtin/reference"
QUESTIONS = 10
"""Questions to attack on, if no number is given."""
_SLOT = re.compile(r"\{(answer|question|top)\}")


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to talk a judge round."""

    name: Annotated[str, FILLED]
    kind: Annotated[str, FILLED]
    """null, verdict, marker, system, list, appeal, padding, language."""
    text: Annotated[str, FILLED]
    """With `{answer}`, `{question}` and `{top}`; without `{answer}` it stands in place of the answer."""

    def plant(self, answer: str, question: str, top: float) -> str:
        """Return a weak answer with the attack in it; the values are filled in one pass."""
        values = {"answer": answer, "question": question, "top": f"{top:g}"}
        return _SLOT.sub(lambda slot: values[slot[1]], self.text)


@dataclass(frozen=True, slots=True)
class _File:
    attack: Annotated[tuple[Attack, ...], Wanted("[[attack]] tables, one or more", bool)]


def load_attacks(path: pathlib.Path | None = None) -> tuple[Attack, ...]:
    """Return the attacks in a file, by default the shipped ones.

    Raises:
        DataError: the file is no TOML, or an attack lacks a text or stands twice.
    """
    file = path or pathlib.Path(__file__).with_name("attacks.toml")
    found: dict[str, Attack] = {}
    for attack in decoded(read_toml(file), _File, file).attack:
        if attack.name in found or attack.name in {CLEAN, STRONG}:
            raise DataError(f"the name {attack.name!r} is taken", path=file)
        found[attack.name] = replace(attack, text=attack.text.strip("\n"))
    return tuple(found.values())


def spread(questions: Sequence[Question], count: int) -> tuple[Question, ...]:
    """Return that many questions, evenly spread over the file, so that all categories have their share."""
    if count >= len(questions):
        return tuple(questions)
    return tuple(questions[number * len(questions) // count] for number in range(count))


def attack_bench(
    bench: Bench,
    questions: Sequence[Question],
    attacks: Sequence[Attack],
    *,
    top: float,
    weak: str = WEAK_MODEL,
    strong: str | None = None,
) -> Bench:
    """Return the benchmark on which a judge is attacked, its answers written under `.turnbench/` of the real one.

    `weak` is who gave the weak answers, `strong` who gave those that they are compared with (None: there is no
    comparing); each is a built-in model, which is asked here, or one that has answered the benchmark. Only first turns
    are attacked.

    Raises:
        MissingError: a model has not answered all of the questions.
    """
    first = tuple(replace(question, turns=question.turns[:1]) for question in questions)
    made = content_hash([question.content for question in first], weak, strong or "", f"{top:g}")
    folder = bench.state / "attack" / f"{made}"
    # Attacks stand in what a judge is shown, so the answers are taken out of JSON replies here and not by the judging.
    settings = replace(bench.settings, answer_field=None, confidence_field=None)
    target = replace(bench, folder=folder, questions=first, settings=settings)
    texts = _texts(bench, target, weak)
    answers: dict[str, Mapping[QuestionId, str]] = {CLEAN: texts}
    for attack in attacks:
        answers[attack.name] = {
            question.question_id: attack.plant(texts[question.question_id], question.turns[0], top)
            for question in first
        }
    if strong is not None:
        answers[STRONG] = _texts(bench, target, strong)
    for name, by_question in answers.items():
        _write(target, name, by_question)
    return target


def _texts(bench: Bench, target: Bench, model: str) -> dict[QuestionId, str]:
    """Return a model's answers to the first turns: those it has given, or a built-in model's."""
    if model.startswith("builtin/"):
        asked = replace(target, folder=target.folder / "answered")
        run_answers(plan_answers([model], asked, AnswerOptions()))
        found = asked.answers(model)
    else:
        found = bench.answers(model)
    lacking = [q.question_id for q in target.questions if q.question_id not in found]
    if lacking:
        raise MissingError(f"{model} has not answered question {lacking[0]}; run gen_answer for it first")
    said = {q.question_id: found[q.question_id].choices[0].turns[0] for q in target.questions}
    field = bench.settings.answer_field
    return said if field is None else {key: extracted(text, field).answer for key, text in said.items()}


def _write(target: Bench, name: str, texts: Mapping[QuestionId, str]) -> None:
    """Write the answers of one attack, unless they are there already."""
    there = {key: answer.choices[0].turns[0] for key, answer in target.answers(name).items()}
    if there == texts:
        return
    with Journal(target.answer_file(name), target.answer_state) as journal:
        for key, text in texts.items():
            if there.get(key) != text:
                reply = Reply(text, finish_reason="stop" if text else "empty")
                journal.append(answer_to_row(Answer(key, name, (Choice(0, (reply,)),), Sampling(), tstamp=0.0)))
