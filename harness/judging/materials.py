"""What a match is judged on: answers, reference, the template that the rule picks, and the request made of them."""

import functools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from harness.answering.simulation import UserPrompt, read_prompt
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.judging.extraction import extracted
from harness.judging.forms import Kind, VerdictForm
from harness.judging.notes import given, noted, referring, shown_outcomes
from harness.judging.sets import JudgeSet, JudgeTemplate
from harness.judging.sets.judge_set import OWN_TEXTS
from harness.judging.shown import chosen, hash_of_said, said_json, shown_turns
from harness.judging.template import fenced
from harness.judging.verdicts.stated import stated
from harness.judgments.judgment import MadeFrom, Match
from harness.records import (
    Answer,
    Choice,
    Facts,
    Message,
    Question,
    QuestionId,
    Reply,
    Request,
    Said,
    Sampling,
    content_hash,
)
from harness.running.jobs import RETRY_CUT

CHECKS = "checks"
"""The placeholder for which checks the answers meet."""
_SAID = frozenset({"criterion", "steps", *OWN_TEXTS})
"""Placeholders that neither the question's turns, the answers nor the references fill."""


@dataclass
class Materials:
    """Everything that matches of one run are judged on."""

    bench: Bench
    judge_set: JudgeSet
    answers: Mapping[str, dict[QuestionId, Answer]]
    """By model, then by question id."""
    references: Mapping[QuestionId, tuple[str, ...]]
    referenced: frozenset[str] = frozenset()
    """Categories that are judged with a reference here."""
    structured: bool = True
    """Whether judges are asked to follow a template's JSON schema, where it has one."""
    without_history: Mapping[str, Set[QuestionId]] = field(default_factory=dict)
    """By variant with given history, the questions for which there is none: it answers and is judged on the others."""
    retry_cut: float = RETRY_CUT
    """A judge's reply that is cut before its verdict is asked for again with so many times the limit; 1: never."""
    _hashes: dict[tuple[str, ...], str] = field(default_factory=dict, init=False)
    _contents: dict[QuestionId, str] = field(default_factory=dict, init=False)
    """The hash of each question; one has many matches."""
    _parameters: dict[tuple[str, int], str] = field(default_factory=dict, init=False)
    """The hash of the parameters by template and sample."""
    _fixed: dict[tuple[QuestionId, int, str, str | None], tuple[str | None, str]] = field(
        default_factory=dict, init=False
    )
    """The hashes of reference and template by question, turn, template and criterion: all models have the same."""
    _shown: dict[str | None, list[Message]] = field(default_factory=dict, init=False)
    """The judge set's examples by criterion, as messages."""
    _templates: dict[tuple[QuestionId, int, Kind, str | None], JudgeTemplate] = field(default_factory=dict, init=False)
    """Which template was picked for what; a question has many matches."""
    _fences: tuple[Question | None, dict[str | tuple[str, int, int], Any]] = field(default=(None, {}), init=False)
    """What was fenced of the question that was asked about last, by text and by model, turn and choice: each answer is
    in many matches."""

    _said_json: tuple[QuestionId | None, dict[tuple[str, int, int], bytes]] = field(default=(None, {}), init=False)
    """What is hashed of the answers to the question that was asked about last, by model, turn and choice."""
    _begun: tuple[str, int] = field(default=("", 0), init=False)
    """The matches that were asked about last whose prompts begin alike, and how much they have in common."""

    def add(self, answer: Answer) -> None:
        """Take an answer that has been made meanwhile."""
        self.answers[answer.model][answer.question_id] = answer
        self._fences = (None, {})
        self._said_json = (None, {})

    def template(self, match: Match) -> JudgeTemplate:
        """Return the template for a match, or raise `UsageError` if the set has none."""
        key = (match.question.question_id, match.turn, _kind(match), match.criterion)
        found = self._templates.get(key)
        if found is None:
            found = self._templates[key] = self.template_for(match.question, match.turn, key[2], match.criterion)
        return found

    def template_for(self, question: Question, turn: int, kind: Kind, criterion: str | None) -> JudgeTemplate:
        """Return the template for one turn of a question, or raise `UsageError` if the set has none."""
        judge_set, with_reference = self.judge_set, self.shows_reference(question, criterion)
        template = judge_set.choose(kind, turn, reference=with_reference, question=question, criterion=criterion)
        if template is None:
            does = {known.kind == "compare" for known in judge_set.templates.values()}
            if does == {kind != "compare"}:
                instead = (
                    "it judges single answers; use --mode single"
                    if kind == "compare"
                    else ("it compares; use --mode pairwise-baseline or pairwise-all")
                )
                raise UsageError(f"the judge set {judge_set.name} has no template to {kind}: {instead}")
            by = f" by {criterion}" if criterion else ""
            raise UsageError(
                f"the judge set {judge_set.name} has no template to {kind} turn {turn}{by} "
                f"{'with' if with_reference else 'without'} a reference (question {question.question_id}); "
                "choose the turns with --turns, or another --judge-set"
            )
        return template

    def shows_reference(self, question: Question, criterion: str | None) -> bool:
        """Return whether the judge is shown a reference answer to a question for a criterion."""
        return question.category in self.referenced and (
            criterion is None or self.judge_set.criteria[criterion].reference
        )

    def check(self, match: Match) -> None:
        """Raise `UsageError` or `MissingError` if a match cannot be judged; nothing is rendered."""
        template = self.template(match)
        for name in self.lacking(match.question, template, match.criterion):
            needed = f"which the template {template.name} needs"
            raise MissingError(f"question {match.question.question_id} has no text in the field {name!r}, {needed}")

    def lacking(self, question: Question, template: JudgeTemplate, criterion: str | None) -> list[str]:
        """Return the fields of a question that a template shows and that hold no text."""
        return [
            name
            for name in OWN_TEXTS
            if name in self._own_names(question, template, criterion)
            and self.judge_set.own_text(name, question, criterion) is None
        ]

    def _own_names(self, question: Question, template: JudgeTemplate, criterion: str | None) -> frozenset[str]:
        """Return which of the question's own texts a prompt is made of; `{criterion}` may be a rubric's head."""
        names = template.names & frozenset(OWN_TEXTS)
        if "criterion" in template.names and criterion is None:
            names |= {"rubric"}
        return names

    def choices(self, question: Question, models: Sequence[str]) -> tuple[int, ...]:
        """Return the choices that every one of these models has of its answer to a question."""
        there = [
            {choice.index for choice in answer.choices}
            for model in models
            if (answer := self.answers[model].get(question.question_id)) is not None
        ]
        return tuple(sorted(set.intersection(*there))) if there else (0,)

    def shown(self, match: Match) -> tuple[tuple[str, ...], ...]:
        """Return the turns so far of each answer as the judge sees them, in the order in which it sees them.

        Where the benchmark asks for replies as JSON, that is the answer in them.
        """
        return tuple(self._turns(model, match) for model in match.models)

    def _own_words(self, match: Match) -> tuple[tuple[str, ...], ...]:
        """Return what each model said to a played user, without what the user said."""
        return tuple(("\n\n".join(self._choice(model, match).turns),) for model in match.models)

    def _turns(self, model: str, match: Match) -> tuple[str, ...]:
        return shown_turns(self.bench, self.answers[model][match.question.question_id], match.turn, match.choice)

    def _said_by(self, model: str, match: Match) -> tuple[str, ...]:
        """Return the turns so far as the model wrote or found them."""
        return tuple(said.text for said in self._conversation(model, match))

    def _conversation(self, model: str, match: Match) -> tuple[Said, ...]:
        return self._choice(model, match).so_far(match.turn)

    def _choice(self, model: str, match: Match) -> Choice:
        return chosen(self.answers[model][match.question.question_id], match.choice)

    def equal(self, match: Match) -> bool:
        """Return whether the match compares two conversations that are the same text, every turn so far."""
        if len(match.models) == 1:
            return False
        one, other = self.shown(match)
        return one == other

    def confidence(self, match: Match) -> float | None:
        """Return how sure the one answer that is judged says that it is, where the benchmark asks for it."""
        settings = self.bench.settings
        if settings.answer_field is None or settings.confidence_field is None or len(match.models) > 1:
            return None
        said = self._said_by(match.models[0], match)[-1]
        return extracted(said, settings.answer_field, settings.confidence_field).confidence

    def reference(self, match: Match) -> tuple[str, ...]:
        """Return the reference's turns so far; the notes for judges stand with them, or in place of those missing."""
        question = match.question
        there = self.references.get(question.question_id, ())[: match.turn]
        if not any(question.note):
            return there
        return tuple(
            referring(there[turn - 1] if turn <= len(there) else None, question.note_of(turn))
            for turn in range(1, match.turn + 1)
        )

    def lacks_reference(self, question: Question, turn: int, criterion: str | None) -> bool:
        """Return whether a reference is to be shown at a turn, and neither it nor a note is there."""
        if not self.shows_reference(question, criterion) or question.note_of(turn):
            return False
        return len(self.references.get(question.question_id, ())) < turn

    def prompt(self, match: Match) -> str:
        """Return the last message of the request about a match, which is what judgment files hold of it."""
        template = self.template(match)
        return template.user.fill(self._values(match, template))

    def request(self, match: Match) -> Request:
        """Return the request that asks the judge about a match."""
        template = self.template(match)
        form = self.judge_set.form(template, match.criterion)
        messages = self._messages(match)
        facts = Facts(
            question=match.question,
            turn=match.turn,
            reference=self.references.get(match.question.question_id, ())[: match.turn] if template.reference else None,
            answers=self.shown(match) if match.question.user is None else self._own_words(match),
            verdict_format=template.verdict,
            scale=form.scale,
            sides=form.sides,
            sample=match.sample,
        )
        return Request(
            tuple(messages),
            self.sampling(match),
            facts,
            top_logprobs=template.top_logprobs if form.score_method == "logprobs" else None,
            schema=form.schema if self.structured else None,
            shared=self._shared(match, messages),
        )

    def _messages(self, match: Match) -> list[Message]:
        template = self.template(match)
        values = self._values(match, template)
        messages = [Message("user", template.user.fill(values))]
        if len(match.models) == 2:
            messages[:0] = self._examples(match.criterion)
        if template.system is not None:
            messages.insert(0, Message("system", template.system.fill(values)))
        return messages

    def beginning(self, match: Match) -> str:
        """Return what is equal for all matches that differ in the criterion alone, whose prompts begin alike."""
        if match.criterion is None or len(self.judge_set.criteria_of(match.question, match.turn)) < 2:
            return ""
        about = (match.question.question_id, match.turn, match.models, match.game, match.sample, match.choice)
        return repr(about)

    def _shared(self, match: Match, messages: Sequence[Message]) -> int:
        """Return how much of the last message those of all the other criteria begin with as well."""
        group = self.beginning(match)
        if not group:
            return 0
        known, length = self._begun
        if known != group:
            texts = [messages[-1].content]
            for criterion in self.judge_set.criteria_of(match.question, match.turn):
                try:
                    other = self._messages(replace(match, criterion=criterion))
                except (UsageError, MissingError):  # it is not judged at all
                    continue
                texts.append(other[-1].content if other[:-1] == messages[:-1] else "")
            length = _common(min(texts), max(texts))
            self._begun = (group, length)
        return length

    def _examples(self, criterion: str | None) -> list[Message]:
        """Return the judge set's examples as an exchange of messages: each rendered like a match, then its verdict.

        An example for which the set has no template, or whose verdict the form has no words for (a tie), is left out.
        """
        if criterion in self._shown:
            return self._shown[criterion]
        shown: list[Message] = []
        for number, example in enumerate(self.judge_set.examples, 1):
            question = Question(f"example {number}", example.category, example.turns)
            sides = {"A": example.answer_a, "B": example.answer_b}
            answers = {
                side: {question.question_id: Answer(question.question_id, side, (Choice(0, tuple(map(Reply, turns))),))}
                for side, turns in sides.items()
            }
            known = {question.question_id: example.reference} if example.reference else {}
            referenced = frozenset({example.category}) & self.referenced if known else frozenset[str]()
            own = replace(self, answers=answers, references=known, referenced=referenced)
            match = Match(question, len(example.turns), tuple(sides), criterion=criterion)
            try:
                template = own.template(match)
                prompt = template.user.fill(own._values(match, template))
            except (UsageError, MissingError):
                continue
            form = self.judge_set.form(template, criterion)
            verdict = stated(example.verdict, form.format, scale=form.scale, sides=form.sides)
            if verdict is not None:
                shown += [Message("user", prompt), Message("assistant", verdict)]
        self._shown[criterion] = shown
        return shown

    def form(self, match: Match) -> VerdictForm:
        """Return the verdict that a match's judge is asked for."""
        return self.judge_set.form(self.template(match), match.criterion)

    def sampling(self, match: Match) -> Sampling:
        """Return what a match's judgment is sampled with: a seed, if there is one, is another in each sample."""
        sampling = self.judge_set.sampling
        if sampling.seed is None or not match.sample:
            return sampling
        return replace(sampling, seed=sampling.seed + match.sample)

    def _values(self, match: Match, template: JudgeTemplate) -> dict[str, str]:
        """Return the value of each placeholder that the template holds."""
        question, turn = match.question, match.turn
        answers = [self._fenced(model, match) for model in match.models]
        names = ("answer",) if len(answers) == 1 else ("answer_a", "answer_b")
        reference = self.reference(match) if template.reference else ()
        # Where other criteria have a reference, the note stands with that, and their prompts begin without it.
        beside = match.criterion is not None and question.category in self.referenced
        bare = template.reference or beside or not self.judge_set.shows_help(question.category)
        turns = question.turns if question.user is None else (self._brief.filled(self._brief.brief, question.user),)
        asked = [said if bare else noted(said, question.note_of(n)) for n, said in enumerate(turns, 1)]
        values = {"question": asked[turn - 1]}
        values |= {name: turns[-1] for name, turns in zip(names, answers, strict=True)}
        for number in range(1, turn + 1):
            values[f"question_{number}"] = asked[number - 1]
            values |= {f"{name}_{number}": turns[number - 1] for name, turns in zip(names, answers, strict=True)}
        if reference:
            values["reference"] = reference[-1]
            values |= {f"ref_answer_{number}": text for number, text in enumerate(reference, 1)}
        if CHECKS in template.names:
            values[CHECKS] = self._checked(match)
        values |= self._said(match, template)
        if template.turn is not None:
            values["conversation"] = "".join(
                template.turn.fill({"turn": str(number), **_turn_values(values, number, names, reference)})
                for number in range(1, turn + 1)
            ).strip("\n")
        return values

    def _fenced(self, model: str, match: Match) -> list[str]:
        """Return each turn so far between marker lines; of a conversation with a played user each message of it."""
        about, known = self._fences
        if about is not match.question:
            known = {}
            self._fences = (match.question, known)
        which = (model, match.turn, match.choice)
        if which not in known:
            known[which] = self._newly_fenced(model, match)
        found: list[str] = known[which]
        return found

    def _newly_fenced(self, model: str, match: Match) -> list[str]:
        question = match.question
        if question.user is None:
            return [
                given(self._fence(text, question)) if said.given else self._fence(text, question)
                for text, said in zip(self._turns(model, match), self._conversation(model, match), strict=True)
            ]
        choice = self._choice(model, match)
        told = [
            f"User, message {turn}:\n{self._fence(one.text, question)}\n\n"
            f"Assistant, reply {turn}:\n{self._fence(reply.text, question)}"
            for turn, (one, reply) in enumerate(zip(choice.user, choice.replies, strict=False), 1)
        ]
        return ["\n\n".join(told)]

    @functools.cached_property
    def _brief(self) -> UserPrompt:
        """What stands in place of a question where a chat model played the user."""
        return read_prompt()

    def _checked(self, match: Match) -> str:
        """Return which checks of the turn each answer meets."""
        from harness.checks import Conversation, outcomes

        question, turn = match.question, match.turn
        found = [
            shown_outcomes(
                outcomes(question.checks_of(turn), turns[-1], Conversation(question.turns[:turn], turns[:-1]))
            )
            for turns in self.shown(match)
        ]
        if len(found) == 1:
            return found[0]
        return "\n\n".join(f"Assistant {side}:\n{lines}" for side, lines in zip("AB", found, strict=True))

    def _said(self, match: Match, template: JudgeTemplate) -> dict[str, str]:
        """Return the texts of the criterion, its steps, the rubric and the context, as far as they are shown."""
        self.check(match)
        question, criterion = match.question, match.criterion
        values = {
            name: self.judge_set.own_text(name, question, criterion) or ""
            for name in self._own_names(question, template, criterion)
        }
        if criterion is not None:
            wording = self.judge_set.criteria[criterion].said(question.category)
            values |= {"criterion": wording.definition or criterion, "steps": wording.steps}
        elif "criterion" in template.names:
            head = values["rubric"].strip().split("\n")[0].strip()
            values["criterion"] = head[1:-1] if head.startswith("[") and head.endswith("]") else head
        return {name: value for name, value in values.items() if name in template.names}

    def _fence(self, text: str, question: Question) -> str:
        if not self.judge_set.fence:
            return text
        known = self._fences[1]
        if text not in known:
            known[text] = fenced(text, judge_set=self.judge_set.name, question="\n".join(question.turns))
        found: str = known[text]
        return found

    def made_from(self, match: Match) -> MadeFrom:
        """Return the hashes of what a match is judged on; equal for both games of a pair."""
        template = self.template(match)
        key = (str(match.question.question_id), str(match.turn), str(match.choice), *sorted(match.models))
        conversation = self._hashes.get(key)
        if conversation is None:
            conversation = self._hashes[key] = hash_of_said(self._json(model, match) for model in sorted(match.models))
        asked, sampled = match.question.question_id, (template.name, match.sample)
        question = self._contents.get(asked) or self._contents.setdefault(asked, match.question.content)
        if sampled not in self._parameters:
            self._parameters[sampled] = self._parameters_content(match, template)
        about = (asked, match.turn, template.name, match.criterion)
        if about not in self._fixed:
            self._fixed[about] = self._reference_content(match, template), self._template_content(match, template)
        reference, filled = self._fixed[about]
        return MadeFrom(
            question=question,
            conversation=conversation,
            reference=reference,
            template=filled,
            parameters=self._parameters[sampled],
        )

    def _json(self, model: str, match: Match) -> bytes:
        """Return what a model is shown to have said, as it is hashed."""
        if self._said_json[0] != match.question.question_id:
            self._said_json = (match.question.question_id, {})
        known, about = self._said_json[1], (model, match.turn, match.choice)
        if about not in known:
            known[about] = said_json(model, self._turns(model, match))
        return known[about]

    def _reference_content(self, match: Match, template: JudgeTemplate) -> str | None:
        """Return the hash of the reference and the notes that the judge is shown; None where it is shown neither."""
        notes = match.question.note[: match.turn]
        if template.reference:
            return content_hash(*self.reference(match))
        return content_hash(notes) if any(notes) and self.judge_set.shows_help(match.question.category) else None

    def _template_content(self, match: Match, template: JudgeTemplate) -> str:
        """Return the hash of the template and of everything that fills it beside question, answers and reference."""
        content = self.judge_set.contents[template.name]
        if match.question.user is not None:
            content = content_hash(content, self._brief.brief)
        if CHECKS in template.names:
            from harness.checks.check import as_json

            content = content_hash(content, [as_json(check) for check in match.question.checks_of(match.turn)])
        said = self._said(match, template) if template.names & _SAID else {}
        made = self.judge_set.criteria[match.criterion] if match.criterion is not None else None
        scale, step = (made.scale, made.step) if made is not None else (None, None)
        stated = [] if step is None else [step]
        return content_hash(content, match.criterion, said, scale, *stated) if said or scale or stated else content

    def _parameters_content(self, match: Match, template: JudgeTemplate) -> str:
        stated = self.sampling(match).stated()
        schema = template.form.schema if self.structured else None
        return content_hash(stated, schema) if schema is not None else content_hash(stated)


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _turn_values(
    values: Mapping[str, str], number: int, names: Sequence[str], reference: Sequence[str]
) -> dict[str, str]:
    """Return the values of the sub-template for one turn."""
    turn = {"question": values[f"question_{number}"], **{name: values[f"{name}_{number}"] for name in names}}
    if reference:
        turn["reference"] = reference[number - 1]
    return turn


def _kind(match: Match) -> Kind:
    """Return the kind of template that a match needs: `grade` is also the kind of all that show one answer."""
    return "grade" if len(match.models) == 1 else "compare"
