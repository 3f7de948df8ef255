"""What a match is judged on: answers, reference, the template that the rule picks, and how it is sampled."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from harness.old.judging.extraction import extracted
from harness.old.judging.forms import Kind, VerdictForm
from harness.old.judging.options import JudgeOptions
from harness.old.judging.sets import JudgeSet, JudgeTemplate
from harness.old.judging.sets.judge_set import OWN_TEXTS
from harness.old.judging.shown import chosen, shown_turns
from harness.old.judgments.judgment import Match
from harness.old.records import (
    Answer,
    Choice,
    Message,
    Question,
    QuestionId,
    Sampling,
)

_Made = TypeVar("_Made")


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
    options: JudgeOptions = JudgeOptions()
    without_history: Mapping[str, Set[QuestionId]] = field(default_factory=dict)
    """By variant with supplied history, the questions for which there is none: the variant is judged on the others."""
    _about: tuple[Question | None, dict[Any, Any]] = field(default=(None, {}), init=False)
    """What was made for the question that was asked about last; a question has many matches, each answer is in many."""
    examples: dict[str | None, list[Message]] = field(default_factory=dict, init=False)
    """The judge set's examples by criterion, as messages."""

    def once(self, question: Question, what: tuple[Any, ...], make: Callable[[], _Made]) -> _Made:
        """Return what `make` makes for a question, made once as long as no other question is asked about."""
        if self._about[0] is not question:
            self._about = (question, {})
        known = self._about[1]
        if what not in known:
            known[what] = make()
        made: _Made = known[what]
        return made

    def add(self, answer: Answer) -> None:
        """Add an answer that has been made during the run."""
        self.answers[answer.model][answer.question_id] = answer
        self._about = (None, {})

    def template(self, match: Match) -> JudgeTemplate:
        """Return the template for a match, or raise `UsageError` if the set has none."""
        kind: Kind = "grade" if len(match.models) == 1 else "compare"  # `grade` stands for all that show one answer
        about = (match.question, match.turn, kind, match.criterion)
        return self.once(match.question, ("template", *about[1:]), lambda: self.template_for(*about))

    def template_for(self, question: Question, turn: int, kind: Kind, criterion: str | None) -> JudgeTemplate:
        """Return the template for one turn of a question, or raise `UsageError` if the set has none."""
        judge_set, with_reference = self.judge_set, self.shows_reference(question, criterion)
        template = judge_set.choose(kind, question, turn, reference=with_reference, criterion=criterion)
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
        """Return the fields that a template shows but that have no text in a question."""
        return [
            name
            for name in OWN_TEXTS
            if name in self.own_names(template, criterion)
            and self.judge_set.own_text(name, question, criterion) is None
        ]

    def own_names(self, template: JudgeTemplate, criterion: str | None) -> frozenset[str]:
        """Return which of the question's own texts a prompt uses; `{criterion}` may be a rubric's first line."""
        names = template.names & frozenset(OWN_TEXTS)
        if "criterion" in template.names and criterion is None:
            names |= {"rubric"}
        return names

    def wrote(self, model: str, question: Question, turn: int) -> bool:
        """Return whether a model wrote that turn, or is to write it."""
        return turn in question.written_by(model) and question.question_id not in self.without_history.get(model, ())

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

        If the benchmark asks for replies as JSON, that is the answer in them.
        """
        return tuple(self.turns(model, match) for model in match.models)

    def turns(self, model: str, match: Match) -> tuple[str, ...]:
        """Return the turns so far of a model's answer as the judge sees them."""
        which = ("turns", model, match.turn, match.choice)
        return self.once(match.question, which, lambda: shown_turns(self.bench, self.choice(model, match), match.turn))

    def choice(self, model: str, match: Match) -> Choice:
        """Return the choice of a model's answer that a match is about."""
        return chosen(self.answers[model][match.question.question_id], match.choice)

    def equal(self, match: Match) -> bool:
        """Return whether the match compares two conversations that are the same text, every turn so far."""
        if len(match.models) == 1:
            return False
        one, other = self.shown(match)
        return one == other

    def confidence(self, match: Match) -> float | None:
        """Return the stated confidence of the judged answer, if the benchmark asks for it."""
        settings = self.bench.settings
        if settings.answer_field is None or settings.confidence_field is None or len(match.models) > 1:
            return None
        said = self.choice(match.models[0], match).so_far(match.turn)[-1]
        return extracted(said.text, settings.answer_field, settings.confidence_field).confidence

    def reference(self, match: Match) -> tuple[str, ...]:
        """Return the reference's turns so far, with the notes for judges, which replace missing turns."""
        question = match.question
        there = self.references.get(question.question_id, ())[: match.turn]
        if not any(question.note):
            return there
        return tuple(
            referring(there[turn - 1] if turn <= len(there) else None, question.note_of(turn))
            for turn in range(1, match.turn + 1)
        )

    def lacks_reference(self, question: Question, turn: int, criterion: str | None) -> bool:
        """Return whether a reference should be shown at a turn, but neither it nor a note exists."""
        if not self.shows_reference(question, criterion) or question.note_of(turn):
            return False
        return len(self.references.get(question.question_id, ())) < turn

    def form(self, match: Match) -> VerdictForm:
        """Return the form of the verdict requested for a match."""
        return self.judge_set.form(self.template(match), match.criterion)

    def sampling(self, match: Match) -> Sampling:
        """Return what a match's judgment is sampled with: a seed, if there is one, is another in each sample."""
        sampling = self.judge_set.sampling
        if sampling.seed is None or not match.sample:
            return sampling
        return replace(sampling, seed=sampling.seed + match.sample)


def referring(reference: str | None, note: str | None) -> str:
    """Return what a judge is shown as the reference of a turn: the reference, the note, both, or that there is none."""
    if reference is None:
        return f"(No full answer. What to look for: {note})" if note is not None else "(None for this message.)"
    return reference if note is None else f"{reference}\n\n(What to look for: {note})"
