"""The request that asks a judge about a match, and the hashes of what it is made from.

match = Match(question, 1, ("gpt-4o",))
prompts.request(match, match.models)     the messages, filled from answers and references
prompts.made_from(match)                 equal as long as nothing that shapes them has changed
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness import registry
from harness.answering.sampling import with_seed
from harness.answering.users import load_prompt
from harness.bench import Bench
from harness.errors import MissingError
from harness.judging.extraction import extract
from harness.judging.sets import QUESTION_TEXTS, JudgeSet, JudgeTemplate
from harness.judging.templates import fence
from harness.types import (
    Answer,
    Choice,
    Facts,
    MadeFrom,
    Message,
    Question,
    QuestionId,
    Request,
    Sampling,
    content_hash,
)

GIVEN = (
    "(Given: the assistant found this turn as it stands and did not write it. It is not judged.)"
)
NO_REFERENCE = "(None for this message.)"
KEPT_AWAY = "none"
"""In place of a reference's hash: --reference none."""
CRITERION_TEXTS = frozenset({"criterion", "steps", "rubric"})
"""Placeholders whose text differs by criterion."""


@dataclass(frozen=True, slots=True)
class Match:
    """One thing to be judged: a turn of a question, and the answer graded or the two compared."""

    question: Question
    turn: int
    """The turn in focus; the first is 1. All earlier ones are shown too."""
    models: tuple[str, ...]
    """The one model, or the two as the row names them."""
    criterion: str | None = None
    sample: int = 0
    choice: int = 0
    drawn: float | None = None
    """The share of the pairs, if they are drawn at random."""
    look: int | None = None
    """The look of a run that stops early."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies its row: `Judgment.key`."""
        models = tuple(sorted(self.models))
        by = (self.criterion, self.sample, self.choice)
        return (self.question.question_id, self.turn, models, *by)


def answer_json(model: str, replies: Sequence[str]) -> bytes:
    """Return a model's answer as `conversation_hash` takes it, so that many pairs share it."""
    text = json.dumps([model, replies], ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def conversation_hash(answers: Iterable[bytes]) -> str:
    """Return the hash of the judged answers, in the order of the models' names.

    Equal to `content_hash([[model, replies], …])`, which rows on disk hold.
    """
    return hashlib.sha256(b"[[" + b",".join(answers) + b"]]").hexdigest()[:16]


class Shape(NamedTuple):
    """Hashes of what shapes a prompt apart from question and answers."""

    reference: str | None
    """None: no reference and no note is shown."""
    template: str


def parameters_hash(sampling: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
    """Return the hash of what a judgment is sampled with."""
    return content_hash(sampling, *([] if schema is None else [schema]))


@dataclass
class Prompts:
    """What matches are judged on, and how that is shown to a judge."""

    bench: Bench
    judge_set: JudgeSet
    answers: Mapping[str, Mapping[QuestionId, Answer]]
    """By model, then by question id."""
    references: Mapping[QuestionId, Sequence[str]]
    referenced: frozenset[str]
    """The categories that are judged with a reference."""
    without_references: bool = False
    """Whether --reference none keeps them from the judge; rows say so."""

    # Which template

    def template(self, match: Match) -> JudgeTemplate:
        """Return the template for a match.

        Raises:
            UsageError: the set has none.
        """
        compare, reference = len(match.models) > 1, self.shows_reference(match)
        return self.judge_set.choose(compare, match.question, match.turn, reference=reference)

    def shows_reference(self, match: Match) -> bool:
        """Return whether the judge is shown a reference answer."""
        criterion = self.judge_set.criteria.get(match.criterion or "")
        with_reference = criterion is None or criterion.reference
        return with_reference and match.question.category in self.referenced

    def missing(self, match: Match) -> list[str]:
        """Return what the prompt shows but the question lacks, each before the question's id."""
        question, turn, names = match.question, match.turn, self.template(match).names
        missing = []
        count = len(self.references.get(question.question_id, ()))
        if self.shows_reference(match) and count < turn and not _note(question, turn):
            category = question.category
            demand = f"{self.judge_set.name} demands a reference for the category {category!r}"
            missing.append(f"{demand}, and there is none to")
        texts = self.judge_set.texts(question, match.criterion)
        for name in QUESTION_TEXTS:
            needed = {name, "criterion"} if name == "rubric" and not match.criterion else {name}
            if needed & names - texts.keys():
                missing.append(
                    f"there is no text in the field {name!r}, which the prompt shows, of"
                )
        return missing

    def sampling(self, match: Match) -> Sampling:
        """Return what a judgment is sampled with; each sample has its own seed."""
        return with_seed(self.judge_set.sampling, match.sample)

    # What is shown

    def about(self, match: Match) -> "Prompts":
        """Return prompts that hold the answers of a match and no others."""
        key = match.question.question_id
        answers = {model: {key: self.answers[model][key]} for model in match.models}
        return dataclasses.replace(self, answers=answers)

    def choice(self, model: str, match: Match) -> Choice:
        """Return the conversation that a match is about; the first, if it has not that one."""
        choices = self.answers[model][match.question.question_id].choices
        return next((choice for choice in choices if choice.index == match.choice), choices[0])

    def replies(self, model: str, match: Match) -> list[str]:
        """Return the assistant's turns as the judge sees them."""
        return replies_shown(
            self.choice(model, match), match.turn, self.bench.settings.answer_field
        )

    def equal(self, match: Match) -> bool:
        """Return whether a pair is the same text in every turn so far."""
        texts = [self.replies(model, match) for model in match.models]
        return len(texts) == 2 and texts[0] == texts[1]

    def confidence(self, match: Match) -> float | None:
        """Return the stated confidence of a graded answer, if the benchmark asks for it."""
        settings = self.bench.settings
        if settings.answer_field is None or len(match.models) > 1:
            return None
        text = replies_so_far(self.choice(match.models[0], match), match.turn)[-1]
        return extract(text, settings.answer_field, settings.confidence_field).confidence

    def reference(self, match: Match) -> list[str]:
        """Return the reference's turns so far, with notes, which replace missing turns."""
        turns = list(self.references.get(match.question.question_id, ()))[: match.turn]
        if not any(match.question.note):
            return turns
        texts = []
        for turn in range(1, match.turn + 1):
            text, note = "".join(turns[turn - 1 : turn]), _note(match.question, turn)
            if not text:
                text = f"(No full answer. What to look for: {note})" if note else NO_REFERENCE
            elif note:
                text = f"{text}\n\n(What to look for: {note})"
            texts.append(text)
        return texts

    # The request

    def request(self, match: Match, order: Sequence[str]) -> Request:
        """Return the request about a match, the models shown in this order.

        Raises:
            MissingError: the question lacks a text or reference that the template shows.
        """
        template, question = self.template(match), match.question
        form = template.form
        for fault in self.missing(match):
            raise MissingError(f"{fault} question {question.question_id}")
        values = self._values(match, order, template)
        messages = [Message("user", template.user.fill(values))]
        if template.system is not None:
            messages.insert(0, Message("system", template.system.fill(values)))
        answers = [self.replies(model, match) for model in order]
        if question.user is not None:  # what the assistant said, without the user
            answers = [["\n\n".join(self.choice(model, match).turns)] for model in order]
        reference = self.references.get(question.question_id, ()) if template.reference else ()
        return Request(
            messages=messages,
            sampling=self.sampling(match),
            top_logprobs=template.top_logprobs if form.by_logprobs else None,
            schema=form.schema,
            shared=self._shared(match, template, values),
            facts=Facts(
                question=question,
                turn=match.turn,
                reference=list(reference[: match.turn]),
                answers=answers,
                form=form.format,
                scale=(form.scale.least, form.scale.greatest),
                labels=form.sides,
                sample=match.sample,
            ),
        )

    def beginning(self, match: Match) -> str:
        """Return a text that matches have in common whose prompts differ only in the criterion."""
        if len(self.judge_set.criteria_of(match.question, match.turn)) < 2:
            return ""
        return repr((*match.key[:3], match.sample, match.choice))

    def _shared(self, match: Match, template: JudgeTemplate, values: Mapping[str, str]) -> int:
        """Return how much of the last message comes before what differs by criterion."""
        shared = 0
        for literal, name in template.user.pieces if self.beginning(match) else ():
            shared += len(literal)
            if name is None or name in CRITERION_TEXTS:
                break
            shared += len(values[name])
        return shared

    def _values(
        self, match: Match, order: Sequence[str], template: JudgeTemplate
    ) -> dict[str, str]:
        """Return the value of each placeholder."""
        columns = {"question": self._questions(match, template)}
        names = ("answer",) if len(order) == 1 else ("answer_a", "answer_b")
        for name, model in zip(names, order, strict=True):
            columns[name] = self._fenced(model, match)
        turns = [{name: texts[n] for name, texts in columns.items()} for n in range(match.turn)]
        values = {**turns[-1], "system": self._system(template) or "(none)"}
        for number, turn in enumerate(turns, 1):
            values |= {f"{name}_{number}": text for name, text in turn.items()}
            turn["turn"] = str(number)
        if template.reference:
            for turn, text in zip(turns, self.reference(match), strict=True):
                values["reference"] = turn["reference"] = text
                values[f"ref_answer_{turn['turn']}"] = text
        if "checks" in template.names:
            values["checks"] = self._checks(match, order)
        if template.turn is not None:
            values["conversation"] = "".join(map(template.turn.fill, turns)).strip("\n")
        return values | self._texts(match, template)

    def _questions(self, match: Match, template: JudgeTemplate) -> list[str]:
        """Return the user's turns, with the author's notes and the system prompt where they go."""
        question = match.question
        texts = list(question.turns)
        if question.user is not None:
            texts = [load_prompt().fill(load_prompt().brief, question.user)]
        # Where other criteria have a reference, the note is part of it, and not shown without.
        others = match.criterion is not None and question.category in self.referenced
        if not (template.reference or others) and self.judge_set.shows_notes(question.category):
            for at, note in enumerate(question.note[: len(texts)]):
                if note:
                    texts[at] += "\n\n(For you alone, not seen by the assistant. "
                    texts[at] += f"What to look for: {note})"
        system = self._system(template)
        if system and "system" not in template.names:
            first = 0 if template.names & {"conversation", "question_1"} else match.turn - 1
            above = f"(The assistant's system prompt, which it had to follow: {system})"
            texts[first] = f"{above}\n\n{texts[first]}"
        return texts

    def _system(self, template: JudgeTemplate) -> str | None:
        """Return the benchmark's system prompt if it is shown: in its place, or above a question.

        Published prompts, which are those without a fence, show none on their own.
        """
        place = self.judge_set.fence and template.names & {"conversation", "question", "question_1"}
        return self.bench.settings.system_prompt if place or "system" in template.names else None

    def _fenced(self, model: str, match: Match) -> list[str]:
        """Return each turn so far between marker lines, or a conversation with a played user."""
        choice, judge_set = self.choice(model, match), self.judge_set
        question = "\n".join(match.question.turns)

        def show(text: str) -> str:
            name = judge_set.name
            return fence(text, judge_set=name, question=question) if judge_set.fence else text

        if choice.user:
            messages = []
            both = zip(choice.user, choice.turns, strict=False)
            for number, (message, reply) in enumerate(both, 1):
                messages.append(f"User, message {number}:\n{show(message)}")
                messages.append(f"Assistant, reply {number}:\n{show(reply)}")
            return ["\n\n".join(messages)]
        texts = list(map(show, self.replies(model, match)))
        for at, text in enumerate(texts):
            if at < len(choice.history[: match.turn - 1]) or choice.detail(at + 1).given:
                texts[at] = f"{GIVEN}\n{text}"
        return texts

    def _checks(self, match: Match, order: Sequence[str]) -> str:
        """Return which of the turn's checks each answer passes, in the words of the checks."""
        question, turn = match.question, match.turn
        specs = question.checks[turn - 1] if question.checks else []
        check, describe = (registry.find("check", name) for name in ("turn", "describe"))
        texts = []
        for model in order:
            *earlier, last = self.replies(model, match)
            outcomes = check(last, specs, questions=question.turns[:turn], earlier=earlier)
            texts.append(str(describe(outcomes)))
        if len(texts) == 1:
            return texts[0]
        return "\n\n".join(map("Assistant {}:\n{}".format, "AB", texts))

    def _texts(self, match: Match, template: JudgeTemplate) -> dict[str, str]:
        """Return the texts of criterion, steps, rubric, context and checklist that are shown."""
        texts = self.judge_set.texts(match.question, match.criterion)
        if "checklist" in template.names:
            points = match.question.checklist[match.turn - 1]
            texts["checklist"] = "\n".join(
                f"{n}. {point.point}" for n, point in enumerate(points, 1)
            )
        return {name: text for name, text in texts.items() if name in template.names}

    # Hashes

    def made_from(self, match: Match) -> MadeFrom:
        """Return the hashes of what a judgment depends on; equal for both orders of a pair.

        Rows hold these hashes: another recipe would judge all of them again.
        """
        shape = self.shape(match)
        return MadeFrom(
            question=match.question.hash,
            conversation=conversation_hash(
                answer_json(model, self.replies(model, match)) for model in sorted(match.models)
            ),
            reference=KEPT_AWAY if self.without_references else shape.reference,
            template=shape.template,
            parameters=parameters_hash(self.sampling(match).stated(), self.schema(match)),
        )

    def shape(self, match: Match) -> Shape:
        """Return the hashes of what shapes a prompt apart from question and answers."""
        template, notes = self.template(match), match.question.note[: match.turn]
        reference = None
        if template.reference:
            reference = content_hash(*self.reference(match))
        elif any(notes) and self.judge_set.shows_notes(match.question.category):
            reference = content_hash(notes)
        return Shape(reference, self._template_hash(match, template))

    def schema(self, match: Match) -> dict[str, Any] | None:
        """Return the JSON schema of the judge's reply, where the provider is to enforce one."""
        return self.template(match).form.schema

    def _template_hash(self, match: Match, template: JudgeTemplate) -> str:
        """Return the hash of all that shapes the prompt but question, answers and reference."""
        question = match.question
        content = self.judge_set.contents[template.name]
        if question.user is not None:
            content = content_hash(content, load_prompt().brief)
        if system := self._system(template):
            content = content_hash(content, system)
        if "checks" in template.names:
            checks = question.checks[match.turn - 1] if question.checks else []
            content = content_hash(content, checks)
        texts = self._texts(match, template)
        return content_hash(content, match.criterion, texts, None) if texts else content


def make_prompts(
    bench: Bench,
    judge_set: JudgeSet,
    answers: Mapping[str, Mapping[QuestionId, Answer]],
    questions: Sequence[Question],
    reference: str | None = None,
) -> Prompts:
    """Return the prompts about some questions, with the references that the set shows.

    Raises:
        UsageError: it is not clear whose references to show.
        MissingError: there are none by that name.
    """
    categories = {question.category for question in questions}
    relevant = {name for name in categories if judge_set.shows_reference(name, present=True)}
    references = bench.references(reference) if relevant or reference else None
    turns = {} if references is None else references.turns
    present = {q.category for q in bench.questions if q.question_id in turns}
    referenced = frozenset(
        name for name in relevant if judge_set.shows_reference(name, present=name in present)
    )
    return Prompts(bench, judge_set, answers, turns, referenced)


def replies_shown(choice: Choice, turn: int, answer_field: str | None) -> list[str]:
    """Return the assistant's turns as a judge sees them; of JSON replies, the answer field.

    A conversation with a played user is one turn, its transcript.
    """
    if choice.user:
        messages = []
        for message, reply in zip(choice.user, choice.turns, strict=False):
            messages += [f"User: {message.strip()}", f"Assistant: {reply.strip()}"]
        return ["\n\n".join(messages)]
    turns = replies_so_far(choice, turn)
    return turns if answer_field is None else [extract(t, answer_field).answer for t in turns]


def replies_so_far(choice: Choice, turn: int) -> list[str]:
    """Return the assistant's turns of the conversation that a turn ends, given ones first."""
    history = choice.history[: turn - 1]
    return history + choice.turns[len(history) : turn]


def _note(question: Question, turn: int) -> str | None:
    return question.note[turn - 1] if question.note else None
