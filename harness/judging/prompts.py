"""The request that asks a judge about a match, and the hashes of what it is made from.

match = Match(question, 1, ("gpt-4o",))
prompts.request(match, match.models)     the messages, filled from answers and references
prompts.made_from(match)                 equal as long as nothing that shapes them has changed
"""

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import msgspec

from harness import registry
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.judging.extraction import extracted
from harness.judging.forms import Form
from harness.judging.sets import OWN_TEXTS, JudgeSet, JudgeTemplate
from harness.judging.templates import fenced
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

T = TypeVar("T")

GIVEN = (
    "(Given: the assistant found this turn as it stands and did not write it. It is not judged.)"
)
NO_REFERENCE = "(None for this message.)"


@dataclass(frozen=True)
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


@dataclass
class Prompts:
    """What matches are judged on, and how that is shown to a judge."""

    bench: Bench
    judge_set: JudgeSet
    answers: Mapping[str, dict[QuestionId, Answer]]
    """By model, then by question id."""
    references: Mapping[QuestionId, Sequence[str]] = field(default_factory=dict)
    referenced: frozenset[str] = frozenset()
    """The categories that are judged with a reference."""
    structured: bool = True
    """Whether providers are asked to enforce a template's JSON schema."""
    _about: tuple[Question | None, dict[Any, Any]] = field(default=(None, {}), init=False)

    def _once(self, question: Question, what: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Return what `make` makes, made once as long as no other question is looked at."""
        if self._about[0] is not question:
            self._about = (question, {})
        known = self._about[1]
        if what not in known:
            known[what] = make()
        made: T = known[what]
        return made

    def add(self, model: str, answer: Answer) -> None:
        """Add an answer that was made during the run."""
        self.answers[model][answer.question_id] = answer
        self._about = (None, {})

    # Which template

    def template(self, match: Match) -> JudgeTemplate:
        """Return the template for a match.

        Raises:
            UsageError: the set has none.
        """
        about = ("template", len(match.models), match.turn, match.criterion)
        return self._once(match.question, about, lambda: self._template(match))

    def _template(self, match: Match) -> JudgeTemplate:
        judge_set, question, criterion = self.judge_set, match.question, match.criterion
        compare, reference = len(match.models) > 1, self.shows_reference(question, criterion)
        found = judge_set.choose(
            compare, question, match.turn, reference=reference, criterion=criterion
        )
        if found is not None:
            return found
        action = "compare" if compare else "grade"
        if {template.compares for template in judge_set.templates.values()} == {not compare}:
            modes = "single" if compare else "pairwise-baseline or pairwise-all"
            raise UsageError(
                f"the judge set {judge_set.name} has no template to {action}; use --mode {modes}"
            )
        by = f" by {criterion}" if criterion else ""
        beside = "with" if reference else "without"
        raise UsageError(
            f"the judge set {judge_set.name} has no template to {action} turn {match.turn}{by} "
            f"{beside} a reference (question {question.question_id}); choose the turns with "
            "--turns, or another --judge-set"
        )

    def form(self, match: Match) -> Form:
        """Return the form of the verdict that is asked for."""
        form = self.template(match).form
        if form.kind != "checklist":
            return form
        return msgspec.structs.replace(form, points=len(match.question.checklist[match.turn - 1]))

    def shows_reference(self, question: Question, criterion: str | None) -> bool:
        """Return whether the judge is shown a reference answer to a question."""
        by = self.judge_set.criteria[criterion].reference if criterion is not None else True
        return by and question.category in self.referenced

    def lacking(self, match: Match) -> list[str]:
        """Return the fields of the question that the prompt shows but that have no text."""
        template, question = self.template(match), match.question
        return [
            name
            for name in self._own_names(template, match.criterion)
            if self.judge_set.own_text(name, question, match.criterion) is None
        ]

    def lacks_reference(self, match: Match) -> bool:
        """Return whether a reference should be shown, but neither it nor a note is there."""
        question, turn = match.question, match.turn
        if not self.shows_reference(question, match.criterion) or _note(question, turn):
            return False
        return len(self.references.get(question.question_id, ())) < turn

    def sampling(self, match: Match) -> Sampling:
        """Return what a judgment is sampled with; each sample has its own seed."""
        sampling = self.judge_set.sampling
        if sampling.seed is None or not match.sample:
            return sampling
        return msgspec.structs.replace(sampling, seed=sampling.seed + match.sample)

    # What is shown

    def choice(self, model: str, match: Match) -> Choice:
        """Return the conversation that a match is about; the first, if it has not that one."""
        choices = self.answers[model][match.question.question_id].choices
        return next((one for one in choices if one.index == match.choice), choices[0])

    def choices(self, match: Match) -> list[int]:
        """Return the conversations that every model of a match has about its question."""
        key = match.question.question_id
        each = [{one.index for one in self.answers[m][key].choices} for m in match.models]
        return sorted(set.intersection(*each))

    def shown(self, model: str, match: Match) -> list[str]:
        """Return the assistant's turns as the judge sees them; of JSON replies, the answer field.

        A conversation with a played user is one turn, its transcript.
        """
        choice, answer_field = self.choice(model, match), self.bench.settings.answer_field
        if choice.user:
            parts = [part for both in zip(choice.user, choice.turns, strict=False) for part in both]
            said = zip(itertools.cycle(("User", "Assistant")), parts, strict=False)
            return ["\n\n".join(f"{who}: {text.strip()}" for who, text in said)]
        turns = [text for text, _ in _turns(choice, match.turn)]
        if answer_field is None:
            return turns
        return [extracted(text, answer_field).answer for text in turns]

    def equal(self, match: Match) -> bool:
        """Return whether a pair is the same text in every turn so far."""
        texts = [self.shown(model, match) for model in match.models]
        return len(texts) == 2 and texts[0] == texts[1]

    def confidence(self, match: Match) -> float | None:
        """Return the stated confidence of a graded answer, if the benchmark asks for it."""
        settings = self.bench.settings
        if settings.answer_field is None or len(match.models) > 1:
            return None
        text = _turns(self.choice(match.models[0], match), match.turn)[-1][0]
        return extracted(text, settings.answer_field, settings.confidence_field).confidence

    def reference(self, match: Match) -> list[str]:
        """Return the reference's turns so far, with notes, which replace missing turns."""
        turns = list(self.references.get(match.question.question_id, ()))[: match.turn]
        if not any(match.question.note):
            return turns
        shown = []
        for turn in range(1, match.turn + 1):
            text, note = "".join(turns[turn - 1 : turn]), _note(match.question, turn)
            if not text:
                text = f"(No full answer. What to look for: {note})" if note else NO_REFERENCE
            elif note:
                text = f"{text}\n\n(What to look for: {note})"
            shown.append(text)
        return shown

    # The request

    def request(self, match: Match, order: Sequence[str]) -> Request:
        """Return the request about a match, the models shown in this order.

        Raises:
            MissingError: the question lacks a text that the template shows.
        """
        template, form, question = self.template(match), self.form(match), match.question
        answers = [self.shown(model, match) for model in order]
        if question.user is not None:  # what the assistant said, without the user
            answers = [["\n\n".join(self.choice(model, match).turns)] for model in order]
        reference = self.references.get(question.question_id) if template.reference else None
        messages = self.messages(match, order)
        return Request(
            messages=messages,
            sampling=self.sampling(match),
            top_logprobs=template.top_logprobs if form.by_logprobs else None,
            schema=dict(form.schema) if form.schema is not None and self.structured else None,
            shared=self._shared(match, order, messages),
            facts=Facts(
                question=question,
                turn=match.turn,
                reference=None if reference is None else list(reference[: match.turn]),
                answers=answers,
                form=form.format,
                scale=(form.scale.least, form.scale.greatest),
                labels=form.sides,
                sample=match.sample,
            ),
        )

    def messages(self, match: Match, order: Sequence[str]) -> list[Message]:
        """Return the messages about a match: system and prompt."""
        template = self.template(match)
        values = self._values(match, order, template)
        messages = [Message("user", template.user.fill(values))]
        if template.system is not None:
            messages.insert(0, Message("system", template.system.fill(values)))
        return messages

    def beginning(self, match: Match) -> str:
        """Return a text that matches have in common whose prompts differ only in the criterion."""
        if match.criterion is None:
            return ""
        if len(self.judge_set.criteria_of(match.question, match.turn)) < 2:
            return ""
        return repr((*match.key[:3], match.sample, match.choice))

    def _shared(self, match: Match, order: Sequence[str], messages: Sequence[Message]) -> int:
        """Return how much of the last message those of all other criteria begin with as well."""
        if not self.beginning(match):
            return 0

        def common() -> int:
            texts = [messages[-1].content]
            for criterion in self.judge_set.criteria_of(match.question, match.turn):
                try:
                    other = self.messages(replace(match, criterion=criterion), order)
                except (UsageError, MissingError):  # it is not judged at all
                    continue
                texts.append(other[-1].content if other[:-1] == messages[:-1] else "")
            return len(os.path.commonprefix(texts))  # noqa: RUF071  (of texts)

        what = ("shared", *order, match.turn, match.sample, match.choice)
        return self._once(match.question, what, common)

    def _values(
        self, match: Match, order: Sequence[str], template: JudgeTemplate
    ) -> dict[str, str]:
        """Return the value of each placeholder."""
        turn = match.turn
        names = ("answer",) if len(order) == 1 else ("answer_a", "answer_b")
        answers = [self._fenced(model, match) for model in order]
        reference = self.reference(match) if template.reference else []
        shown = {"question": self._asked(match, template)}
        shown |= dict(zip(names, answers, strict=True))
        so_far = [{name: texts[n] for name, texts in shown.items()} for n in range(turn)]
        values = {**so_far[-1], "system": self._system(template) or "(none)"}
        for number, one in enumerate(so_far, 1):
            values |= {f"{name}_{number}": text for name, text in one.items()}
        if reference:
            values["reference"] = reference[-1]
            values |= {f"ref_answer_{n}": text for n, text in enumerate(reference, 1)}
        if "checks" in template.names:
            values["checks"] = self._checks(match, order)
        values |= self._own_texts(match, template)
        if template.turn is not None:
            each = [one | {"turn": str(n)} for n, one in enumerate(so_far, 1)]
            if reference:
                each = [o | {"reference": r} for o, r in zip(each, reference, strict=True)]
            values["conversation"] = "".join(map(template.turn.fill, each)).strip("\n")
        return values

    def _asked(self, match: Match, template: JudgeTemplate) -> list[str]:
        """Return the user's turns, with the author's notes and the system prompt where they go."""
        question = match.question
        if question.user is not None:
            from harness.answering.users import load_prompt

            prompt = load_prompt()
            asked = [prompt.filled(prompt.brief, question.user)]
        else:
            asked = list(question.turns)
        # Where other criteria have a reference, the note is part of it, and not shown without.
        others = match.criterion is not None and question.category in self.referenced
        if not (template.reference or others) and self.judge_set.shows_notes(question.category):
            asked = [
                f"{text}\n\n(For you alone, not seen by the assistant. What to look for: {note})"
                if (note := _note(question, number))
                else text
                for number, text in enumerate(asked, 1)
            ]
        system = self._system(template)
        if system and "system" not in template.names:
            first = 0 if template.names & {"conversation", "question_1"} else match.turn - 1
            told = f"(The assistant's system prompt, which it had to follow: {system})"
            asked[first] = f"{told}\n\n{asked[first]}"
        return asked

    def _system(self, template: JudgeTemplate) -> str | None:
        """Return the benchmark's system prompt if it is shown: in its place, or above a question.

        Published prompts, which are those without a fence, show none on their own.
        """
        place = self.judge_set.fence and template.names & {"conversation", "question", "question_1"}
        shown = place or "system" in template.names
        return self.bench.settings.system_prompt if shown else None

    def _fenced(self, model: str, match: Match) -> list[str]:
        """Return each turn so far between marker lines, or a conversation with a played user."""
        question, judge_set = match.question, self.judge_set

        def fence(text: str) -> str:
            if not judge_set.fence:
                return text
            about = "\n".join(question.turns)
            return self._once(
                question,
                ("fence", text),
                lambda: fenced(text, judge_set=judge_set.name, question=about),
            )

        choice = self.choice(model, match)
        if choice.user:
            return ["\n\n".join(_transcript(choice, fence))]
        given = [given for _, given in _turns(choice, match.turn)]
        texts = [fence(text) for text in self.shown(model, match)]
        return [f"{GIVEN}\n{text}" if g else text for text, g in zip(texts, given, strict=True)]

    def _checks(self, match: Match, order: Sequence[str]) -> str:
        """Return which of the turn's checks each answer passes, in the words of the checks."""
        question, turn = match.question, match.turn
        specs = question.checks[turn - 1] if question.checks else []
        check, describe = (registry.find("check", name) for name in ("turn", "describe"))
        found = []
        for model in order:
            *earlier, last = self.shown(model, match)
            asked = question.turns[:turn]
            found.append(describe(check(last, specs, questions=asked, earlier=earlier)))
        if len(found) == 1:
            return str(found[0])
        return "\n\n".join(
            f"Assistant {side}:\n{lines}" for side, lines in zip("AB", found, strict=True)
        )

    def _own_names(self, template: JudgeTemplate, criterion: str | None) -> list[str]:
        """Return which of the question's own texts a prompt needs."""
        by_rubric = "criterion" in template.names and criterion is None
        names = template.names | ({"rubric"} if by_rubric else set())
        return [name for name in OWN_TEXTS if name in names]

    def _own_texts(self, match: Match, template: JudgeTemplate) -> dict[str, str]:
        """Return the texts of criterion, steps, rubric, context and checklist that are shown."""
        question, criterion, judge_set = match.question, match.criterion, self.judge_set
        values: dict[str, str] = {}
        for name in self._own_names(template, criterion):
            text = judge_set.own_text(name, question, criterion)
            if text is None:
                raise MissingError(
                    f"question {question.question_id} has no text in the field {name!r}, which "
                    f"the template {template.name} needs"
                )
            values[name] = text
        if criterion is not None:
            words = judge_set.criteria[criterion].words(question.category)
            values |= {"criterion": words.definition or criterion, "steps": words.steps}
            scale = template.form.scale.words(judge_set.language)
            values = {name: bound(text, scale) for name, text in values.items()}
        elif "criterion" in template.names:
            head = values["rubric"].strip().split("\n")[0].strip()
            bracketed = head.startswith("[") and head.endswith("]")
            values["criterion"] = head[1:-1] if bracketed else head
        if "checklist" in template.names:
            points = question.checklist[match.turn - 1]
            values["checklist"] = "\n".join(f"{n}. {one.point}" for n, one in enumerate(points, 1))
        return {name: text for name, text in values.items() if name in template.names}

    # Hashes

    def made_from(self, match: Match) -> MadeFrom:
        """Return the hashes of what a judgment depends on; equal for both orders of a pair.

        Rows hold these hashes: another recipe would judge all of them again.
        """
        question, template = match.question, self.template(match)
        fixed = ("fixed", match.turn, template.name, match.criterion)
        content, filled, reference = self._once(
            question,
            fixed,
            lambda: (
                question.hash,
                self._template_hash(match, template),
                self._reference_hash(match, template),
            ),
        )
        models = sorted(match.models)
        conversation = self._once(
            question,
            ("conversation", match.turn, match.choice, *models),
            lambda: content_hash([[model, self.shown(model, match)] for model in models]),
        )
        form = template.form
        schema = [form.schema] if form.schema is not None and self.structured else []
        return MadeFrom(
            question=content,
            conversation=conversation,
            reference=reference,
            template=filled,
            parameters=content_hash(self.sampling(match).stated(), *schema),
        )

    def _reference_hash(self, match: Match, template: JudgeTemplate) -> str | None:
        if template.reference:
            return content_hash(*self.reference(match))
        notes = match.question.note[: match.turn]
        shown = any(notes) and self.judge_set.shows_notes(match.question.category)
        return content_hash(notes) if shown else None

    def _template_hash(self, match: Match, template: JudgeTemplate) -> str:
        """Return the hash of all that shapes the prompt but question, answers and reference."""
        judge_set, question = self.judge_set, match.question
        content = judge_set.contents[template.name]
        if question.user is not None:
            from harness.answering.users import load_prompt

            content = content_hash(content, load_prompt().brief)
        if system := self._system(template):
            content = content_hash(content, system)
        if "checks" in template.names:
            checks = question.checks[match.turn - 1] if question.checks else []
            content = content_hash(content, checks)
        own = {"criterion", "steps", "checklist", *OWN_TEXTS}
        texts = self._own_texts(match, template) if template.names & own else {}
        if match.criterion is None:
            return content_hash(content, None, texts, None) if texts else content
        criterion = judge_set.criteria[match.criterion]
        if not (texts or criterion.scale):
            return content
        return content_hash(content, match.criterion, texts, criterion.scale)


def written(question: Question, answer: Answer, turn: int) -> bool:
    """Return whether the model itself wrote a turn of an answer."""
    if question.user is not None:
        return turn == 1
    details = answer.choices[0].details[turn - 1 : turn]
    return question.given(turn) is None and not any(detail.given for detail in details)


def _turns(choice: Choice, turn: int) -> list[tuple[str, bool]]:
    """Return the assistant's turns of the conversation that a turn ends, and whether each is given.

    With a history that is the history's replies before it, and its own.
    """
    before = [(text, True) for text in choice.history[: turn - 1]]
    details = choice.details
    own = [
        (text, number < len(details) and details[number].given is not None)
        for number, text in enumerate(choice.turns)
    ]
    return before + own[len(before) : turn]


def _transcript(choice: Choice, fence: Callable[[str], str]) -> list[str]:
    return [
        f"User, message {number}:\n{fence(said)}\n\nAssistant, reply {number}:\n{fence(reply)}"
        for number, (said, reply) in enumerate(zip(choice.user, choice.turns, strict=False), 1)
    ]


def _note(question: Question, turn: int) -> str | None:
    return question.note[turn - 1] if question.note else None


def bound(text: str, words: Mapping[str, str]) -> str:
    """Return a criterion's text with the scale's words in place of its placeholders."""
    for name, value in words.items():
        text = text.replace(f"{{{name}}}", value)
    return text
