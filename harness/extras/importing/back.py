"""Judgments back in other projects' forms.

`feedback_collection`: grades as training records of the Feedback Collection, for each graded answer
to a question with a rubric (its fields `criteria` and `score_descriptions`) that the judge was
shown:

    {"instruction": <the judge's whole input>, "output": "<feedback> [RESULT] 4", "orig_...": ...}

`alpaca_eval`: pairs as annotations, a file for each model where alpaca_eval keeps them,
`OUTPUT/MODEL/JUDGE_SET/annotations.json`, or of one model OUTPUT.json. The records are in the
order of the questions, one for each that both models answered (its length control looks the
difficulty up by that order); where there is no verdict, `preference` is null.
"""

import json
import math
import pathlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import bench as benches
from harness import store
from harness.bench import Bench, file_stem
from harness.errors import UsageError
from harness.extras.importing.prometheus import GRADES
from harness.models.prices import list_price
from harness.types import UNSTATED, Answer, Detail, Judgment, Question, QuestionId

_VERDICT = re.compile(
    r"\s*(?:\[RESULT\].*|(?:Rating|Score)\s*:?\s*\[\[[^\]]*\]\]\W*)\Z", re.DOTALL | re.IGNORECASE
)
"""The end of a judgment with the verdict; the text before it is the feedback."""


@dataclass
class BackReport:
    """What was exported."""

    written: list[pathlib.Path] = field(default_factory=list)
    records: Counter[str] = field(default_factory=Counter)
    """Records by grade, or by model."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Judgments that were left out, by reason."""


def import_back(
    back: str,
    output: pathlib.Path | str,
    bench_name: str = "mt_bench",
    *,
    data_dir: pathlib.Path | str = "data",
    judge_model: str | None = None,
    judge_set: str | None = None,
    model_list: Sequence[str] = (),
) -> BackReport:
    """Write a benchmark's judgments in another project's form, `feedback_collection`, into a file.

    With `alpaca_eval`, `output` is a folder, or of one model a .json file.

    Raises:
        UsageError: no such form; no such judgments; several judges or judge sets of which none is
            named; a file is there already.
        StorageError: a file cannot be written.
    """
    if back not in ("feedback_collection", "alpaca_eval"):
        raise UsageError(f"no form {back!r}; there are feedback_collection and alpaca_eval")
    bench, output = benches.load(bench_name, data_dir), pathlib.Path(output)
    kinds = ("single",) if back == "feedback_collection" else ("pair", "pair1")
    rows = _chosen(bench, kinds, judge_model, judge_set)
    models = {row.models[0] for row in rows}
    if unknown := [model for model in model_list if model not in models]:
        known = ", ".join(sorted(models))
        raise UsageError(f"no such judgments of {unknown[0]!r}; there are some of {known}")
    rows = [row for row in rows if not model_list or row.models[0] in model_list]
    report = BackReport()
    if back == "feedback_collection":
        _write(output, list(_feedback(bench, rows, report)), report)
        return report
    models = {row.models[0] for row in rows}
    if output.suffix == ".json" and len(models) > 1:
        raise UsageError(f"{len(models)} models have a file each: --output must be a folder")
    for model in sorted(models):
        own = [row for row in rows if row.models[0] == model]
        path = output
        if output.suffix != ".json":
            path = output / file_stem(model) / file_stem(own[0].judge_set) / "annotations.json"
        records = list(_annotations(bench, own))
        _write(path, records, report)
        report.records[model] = len(records)
    return report


def _write(path: pathlib.Path, records: Sequence[Mapping[str, Any]], report: BackReport) -> None:
    if path.exists():
        raise UsageError(f"{path} is there already; give another --output")
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    store.write_file(path, f"[\n{lines}\n]\n".encode("utf-8", "replace"))
    report.written.append(path)


def _chosen(
    bench: Bench, kinds: Sequence[str], judge: str | None, judge_set: str | None
) -> list[Judgment]:
    """Return the judgments of one judge with one judge set, of equal keys the last good one."""
    found: dict[Any, Judgment] = {}
    for file in bench.judgment_files():
        if file.name is not None and file.name.kind not in kinds:
            continue
        for row in store.latest(file.path, Judgment).values():
            if file.name is not None and row.judge_set == UNSTATED:
                row.judge_set = file.name.judge_set
            if (row.model is not None) == ("single" in kinds):
                found[row.judge_model, row.judge_set, row.key] = row
    rows = list(found.values())
    if not rows:
        raise UsageError(f"there are no such judgments in {bench.folder / 'model_judgment'}")
    for flag, wanted, name in (
        ("--judge-model", judge, "judge_model"),
        ("--judge-set", judge_set, "judge_set"),
    ):
        values = {getattr(row, name) for row in rows}
        known = ", ".join(sorted(values))
        if wanted is not None and wanted not in values:
            raise UsageError(f"{flag} {wanted}: there are judgments of {known}")
        if wanted is None and len(values) > 1:
            raise UsageError(f"choose one with {flag}: {known}")
        rows = [row for row in rows if wanted in (None, getattr(row, name))]
    return rows


def _feedback(
    bench: Bench, rows: Sequence[Judgment], report: BackReport
) -> Iterator[dict[str, Any]]:
    references = bench.references()
    answers = {model: bench.answers(model) for model in {row.models[0] for row in rows}}
    for row in rows:
        question = bench.by_id.get(row.question_id)
        answer = answers[row.models[0]].get(row.question_id)
        reason = _unusable(row, question, answer)
        if reason or question is None or answer is None:
            report.left_out[reason] += 1
            continue
        feedback = _VERDICT.sub("", row.judgment or "").strip()
        grade, rubric = str(int(row.grade or 0)), question.extra
        report.records[grade] += 1
        choices = {choice.index: choice for choice in answer.choices}
        reference = references.turns.get(row.question_id) if references else None
        yield {
            "instruction": row.user_prompt or "",
            "output": f"{feedback} [RESULT] {grade}",
            "orig_instruction": question.turns[0],
            "orig_response": choices.get(row.choice, answer.choices[0]).turns[0],
            "orig_reference_answer": reference[0] if reference else "",
            "orig_criteria": rubric["criteria"],
            **{
                f"orig_score{score}_description": text
                for score, text in zip(GRADES, rubric["score_descriptions"], strict=True)
            },
            "orig_feedback": feedback,
            "orig_score": grade,
        }


def _unusable(row: Judgment, question: Question | None, answer: Answer | None) -> str:
    """Return why a judgment cannot be a training record; empty if it can."""
    if row.grade not in GRADES:
        return "no verdict" if row.grade is None else "not a whole number from 1 to 5"
    if question is None or answer is None:
        return "the question or the answer is missing"
    if row.turn != 1:
        return "not a first turn"
    rubric = [question.extra.get("criteria"), *question.extra.get("score_descriptions", ())]
    if len(rubric) != 1 + len(GRADES):
        return "the question has no rubric"
    prompt = " ".join((row.user_prompt or "").split())
    if not all(" ".join(str(text).split()) in prompt for text in rubric):
        return "the judge was not shown the question's rubric"
    return ""


def _annotations(bench: Bench, rows: Sequence[Judgment]) -> Iterator[dict[str, Any]]:
    """Yield the annotations of one model against one baseline, our model_2."""
    baselines = sorted({row.models[1] for row in rows})
    if len(baselines) > 1:
        names = ", ".join(baselines)
        raise UsageError(f"{rows[0].models[0]} was compared with several models: {names}")
    model, baseline = rows[0].models
    by_question = {row.question_id: row for row in rows if row.turn == 1 and row.sample == 0}
    answers = [_first_turns(bench, name) for name in (baseline, model)]
    for question in bench.questions:
        key = question.question_id
        if key not in answers[0] or key not in answers[1]:
            continue
        row = by_question.get(key)
        yield {
            "instruction": question.turns[0],
            "output_1": answers[0][key],
            "generator_1": baseline,
            "dataset": question.category,
            "output_2": answers[1][key],
            "generator_2": model,
            "annotator": rows[0].judge_set,
            **(_verdict(row) if row else dict.fromkeys(_VERDICT_FIELDS)),
        }


_VERDICT_FIELDS = ("preference", "price_per_example", "time_per_example", "raw_completion")


def _verdict(row: Judgment) -> dict[str, Any]:
    share = _share(row)
    completion: Any = row.g1_judgment if row.g1_judgment is not None else row.g2_judgment
    if completion and row.score_method == "logprobs" and completion.lstrip().startswith("{"):
        completion = json.loads(completion)
    prices = [price for detail in row.details if (price := _price(row, detail)) is not None]
    seconds = [detail.seconds for detail in row.details if detail.seconds is not None]
    return {
        "preference": None if share is None else 1 + share,
        "price_per_example": math.fsum(prices) if prices else None,
        "time_per_example": math.fsum(seconds) if seconds else None,
        "raw_completion": completion,
    }


def _price(row: Judgment, detail: Detail) -> float | None:
    """Return the dollars of a call: as stated, else of its tokens by the list of prices."""
    listed = list_price(row.judge_model) if detail.price is None else None
    return listed.cost(detail) if listed is not None else detail.price


def _share(row: Judgment) -> float | None:
    """Return how much of 1 goes to the model: by the text, two games that differ are a tie."""
    games = [game for game in row.games if game is not None]
    if not games or len(games) < len(row.games):
        return None
    if row.score_method == "logprobs":
        return math.fsum(games) / len(games)
    return games[0] if len(set(games)) == 1 else 0.5


def _first_turns(bench: Bench, model: str) -> dict[QuestionId, str]:
    answers = bench.answers(model)
    return {key: answer.choices[0].turns[0] for key, answer in answers.items()}
