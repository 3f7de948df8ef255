"""What a judge would be sent about a question, without sending it, and what a judge set says.

for prompt in judge_prompts(load("mt_bench"), bench.load("mt_bench"), 1001):
    print(prompt.match.turn, prompt.request.messages[-1].content)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins

from harness.bench import Bench
from harness.errors import UsageError
from harness.judging.forms import Form
from harness.judging.prompts import Match, make_prompts
from harness.judging.sets import JudgeSet, JudgeTemplate
from harness.types import Answer, Choice, Detail, Mode, Question, QuestionId, Request

STAND_INS = ("answer", "other-answer")
"""The models whose answers are stood in for, where none is named."""


@dataclass(frozen=True)
class JudgePrompt:
    """What a judge would be asked about one match in one order."""

    match: Match
    order: tuple[str, ...]
    """The models as they are shown."""
    game: int | None
    """Of a pair: 1 shows the first model first, 2 the second."""
    template: str
    form: Form
    request: Request

    def stated(self) -> dict[str, Any]:
        """Return it as JSON values: the match, the requested verdict, the messages."""
        match, form, request = self.match, self.form, self.request
        return {
            "question_id": match.question.question_id,
            "turn": match.turn,
            "criterion": match.criterion,
            "models": list(self.order),
            "game": self.game,
            "sample": match.sample,
            "template": self.template,
            "kind": form.kind,
            "verdict": form.format,
            "scale": [form.scale.least, form.scale.greatest],
            **({} if form.scale.step is None else {"step": form.scale.step}),
            "score_method": "logprobs" if form.by_logprobs else "text",
            "sampling": request.sampling.stated(),
            "schema": request.schema,
            "messages": to_builtins(request.messages),
        }


def judge_prompts(
    judge_set: JudgeSet,
    bench: Bench,
    question_id: QuestionId,
    *,
    turns: Sequence[int] = (),
    models: Sequence[str] = (),
    mode: Mode | None = None,
    reference: str | None = None,
) -> list[JudgePrompt]:
    """Return the prompts about a question, in the order in which they are judged.

    Without `models`, placeholder texts replace the answers. Without a `mode`, two models are
    compared and one is graded; if none is named, all modes of the set are shown.

    Raises:
        UsageError: there is no such question, or the set is not for it.
        MissingError: an answer or a text of the question is missing.
    """
    question = bench.by_id.get(question_id)
    if question is None:
        first = bench.questions[0].question_id
        raise UsageError(f"{bench.name} has no question {question_id}; the first is {first}")
    prompts: list[JudgePrompt] = []
    for compares in _modes(judge_set, models, mode):
        names = tuple(models) or STAND_INS[: 2 if compares else 1]
        answers = {name: _answers(bench, question, name, stand_in=not models) for name in names}
        builder = make_prompts(bench, judge_set, answers, [question], reference)
        for turn in range(1, len(question.turns) + 1):
            if (turns and turn not in turns) or question.given(turn) is not None:
                continue
            games = judge_set.games(question, turn, 0) if compares else (None,)
            for criterion in judge_set.criteria_of(question, turn):
                match = Match(question, turn, names, criterion)
                template = builder.template(match)
                for game in games:
                    order = names[::-1] if game == 2 else names
                    request = builder.request(match, order)
                    prompts.append(
                        JudgePrompt(match, order, game, template.name, template.form, request)
                    )
    if not prompts:
        raise UsageError(f"{judge_set.name} judges nothing requested of question {question_id}")
    return prompts


def _modes(judge_set: JudgeSet, models: Sequence[str], mode: Mode | None) -> list[bool]:
    """Return whether two answers are compared: by the models, by the mode, else what can be."""
    compares = len(models) == 2
    if len(models) > 2 or (models and mode is not None and compares == (mode == "single")):
        raise UsageError(f"a judge grades one answer or compares two, not {', '.join(models)}")
    if models or mode is not None:
        return [compares if models else mode != "single"]
    return sorted({template.compares for template in judge_set.templates.values()})


def _answers(
    bench: Bench, question: Question, model: str, *, stand_in: bool
) -> dict[QuestionId, Answer]:
    """Return a model's answers, or texts in their place."""
    key = question.question_id
    if not stand_in:
        answers = bench.answers(model)
        if key not in answers:
            raise UsageError(f"{model} has no answer to question {key}; run gen_answer first")
        return answers
    which = "The other answer" if model == STAND_INS[1] else "The answer"
    choice = Choice(turns=[])
    for turn in range(1, len(question.turns) + 1):
        reply = question.given(turn)
        choice.turns.append(reply or f"({which} to turn {turn} stands here.)")
        choice.details.append(Detail(given=None if reply is None else "question"))
    return {key: Answer(question_id=key, choices=[choice])}


SETTINGS = (
    *("name", "version", "title", "language", "path", "extends", "kinds", "scale", "step"),
    *("fence", "attempts", "order", "mode", "baseline", "turns"),
    *("references", "sampling", "criteria", "categories", "templates"),
)
"""What is said of a judge set, in this order."""


def describe(judge_set: JudgeSet) -> dict[str, Any]:
    """Return what a judge set says, as JSON values in the words of its files."""
    references = to_builtins(judge_set.references)
    special = {
        "path": str(judge_set.path),
        "extends": list(judge_set.bases),
        "kinds": sorted({template.form.kind for template in judge_set.templates.values()}),
        "scale": list(judge_set.scale),
        "references": {
            name: sorted(categories) for name, categories in references.items() if categories
        },
        "sampling": judge_set.sampling.stated(),
        "criteria": {name: judge_set.words(name, "").definition for name in judge_set.criteria},
        "templates": [_template(judge_set, template) for template in judge_set.templates.values()],
    }
    stated = {name: special.get(name, getattr(judge_set, name, None)) for name in SETTINGS}
    return {name: value for name, value in stated.items() if name != "step" or value is not None}


def _template(judge_set: JudgeSet, template: JudgeTemplate) -> dict[str, Any]:
    shows = {"reference", "ref_answer", "rubric", "context", "steps", "checks", "checklist"}
    return {
        "name": template.name,
        "kind": template.form.kind,
        "verdict": template.form.format,
        "turns": template.turns,
        "shows": sorted(template.fields & shows),
        "labels": dict(template.form.labels),
        "dimensions": list(template.form.dimensions),
        "score_method": "logprobs" if template.form.by_logprobs else "text",
        "content": judge_set.contents[template.name],
    }
