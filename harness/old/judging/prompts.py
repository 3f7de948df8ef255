"""The exact messages that a judge set would send about a question, without sending them.

for prompt in judge_prompts("mt_bench", load_bench("mt_bench"), 1001):
    print(prompt.match.turn, prompt.template.name, prompt.request.messages[-1].content)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.old.bench import Bench
from harness.old.errors import UsageError
from harness.old.judging.asking import request_about
from harness.old.judging.forms import VerdictForm
from harness.old.judging.gathering import gather
from harness.old.judging.options import JudgeOptions
from harness.old.judging.planned import plan_matches
from harness.old.judging.sets import JudgeSet, JudgeTemplate, load_judge_set
from harness.old.judgments.judgment import Match
from harness.old.records import Answer, Choice, Mode, Question, QuestionId, Reply, Request
from harness.old.rows import question_id as as_id
from harness.old.written import takes_only

STAND_INS = ("answer", "other-answer")
"""The names of the models whose answers are stood in for, where none is named."""


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """What a judge would be asked about one match."""

    match: Match
    template: JudgeTemplate
    form: VerdictForm
    request: Request

    def to_json(self) -> dict[str, Any]:
        """Return its JSON form: the match, the requested verdict, and the messages."""
        match, form, request = self.match, self.form, self.request
        return {
            "question_id": match.question.question_id,
            "turn": match.turn,
            "criterion": match.criterion,
            "models": list(match.models),
            "game": match.game if len(match.models) == 2 else None,
            "sample": match.sample,
            "template": self.template.name,
            "kind": form.kind,
            "verdict": form.format,
            "scale": list(form.scale),
            "score_method": form.score_method,
            "sampling": request.sampling.stated(),
            "schema": request.schema,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        }


@takes_only()
def judge_prompts(
    judge_set: str | JudgeSet,
    bench: Bench,
    question_id: QuestionId,
    *,
    turns: Sequence[int] | None = None,
    models: Sequence[str] = (),
    mode: Mode | None = None,
    criteria: Sequence[str] = (),
    reference: str | None = None,
    structured: bool = True,
) -> list[JudgePrompt]:
    """Return the prompts that a judge would get about a question, in the order in which they are planned.

    Without `models`, placeholder texts replace the answers. Without a `mode`, two models are compared and one is
    graded; if none is named, all modes of the judge set are shown.

    Raises:
        UsageError: there is no such judge set, question, model or criterion, or the set is not for that question.
        MissingError: an answer, a reference or a field of the question is missing.
    """
    chosen = (load_judge_set(judge_set, bench.folder) if isinstance(judge_set, str) else judge_set).by(criteria)
    question = bench.question(as_id(question_id))
    if question is None:
        raise UsageError(f"{bench.name} has no question {question_id}; the first is {bench.questions[0].question_id}")
    options = JudgeOptions(
        turns=tuple(turns) if turns is not None else None, reference=reference, structured=structured
    )
    found: list[JudgePrompt] = []
    for each in _modes(chosen, models, mode):
        materials, judged, notices = gather(bench, chosen, models, [question], options, mode=each)
        if not judged:
            raise UsageError("; ".join(notices))
        shown = tuple(models) or STAND_INS[: 1 if each == "single" else 2]
        if not models:
            answers = {name: {question.question_id: _stand_in(question, name)} for name in shown}
            materials = replace(materials, answers=answers)
        for match in plan_matches(materials, judged, [shown]):
            request = request_about(materials, match)
            found.append(JudgePrompt(match, materials.template(match), materials.form(match), request))
    if not found:
        raise UsageError(f"the judge set {chosen.name} judges nothing requested of question {question_id}")
    return found


def _modes(judge_set: JudgeSet, models: Sequence[str], mode: Mode | None) -> list[Mode]:
    """Return the modes: as requested, as the number of models implies, else all with templates."""
    if len(models) > 2:
        raise UsageError(f"a judge is shown one or two answers, not those of {', '.join(models)}")
    if mode is not None or models:
        pairs = mode != "single" if mode is not None else len(models) == 2
        if models and pairs != (len(models) == 2):
            raise UsageError(f"mode {mode} shows {2 if pairs else 1} of two answers; name as many models")
        return ["pairwise-all" if pairs else "single"]
    kinds = {template.kind == "compare" for template in judge_set.templates.values()}
    both: list[tuple[bool, Mode]] = [(False, "single"), (True, "pairwise-all")]
    return [each for compares, each in both if compares in kinds]


def _stand_in(question: Question, name: str) -> Answer:
    which = "The other answer" if name == STAND_INS[1] else "The answer"
    replies = [
        Reply(f"({which} to turn {turn} stands here.)")
        if (given := question.given(turn)) is None
        else Reply(given, given="question")
        for turn in range(1, len(question.turns) + 1)
    ]
    return Answer(question.question_id, name, (Choice(0, tuple(replies)),))
