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
from harness.types import Detail, Judgment, Question

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
    bench, output, report = benches.load(bench_name, data_dir), pathlib.Path(output), BackReport()
    rows = _judgments(bench, back == "alpaca_eval", judge_model, judge_set)
    by_model: dict[str, list[Judgment]] = {}
    for row in rows:
        if row.models[0] in (model_list or row.models):
            by_model.setdefault(row.models[0], []).append(row)
    if not by_model:
        raise UsageError(f"there are no such judgments in {bench.folder / 'model_judgment'}")
    if back == "feedback_collection":
        records = [
            record for rows in by_model.values() for record in _feedback(bench, rows, report)
        ]
        _write(output, records, report)
        return report
    if output.suffix == ".json" and len(by_model) > 1:
        raise UsageError(f"{len(by_model)} models have a file each: --output must be a folder")
    for model, rows in sorted(by_model.items()):
        path = output
        if output.suffix != ".json":
            path = output / file_stem(model) / file_stem(rows[0].judge_set) / "annotations.json"
        records = list(_annotations(bench, rows))
        _write(path, records, report)
        report.records[model] = len(records)
    return report


def _write(path: pathlib.Path, records: Sequence[Mapping[str, Any]], report: BackReport) -> None:
    if path.exists():
        raise UsageError(f"{path} is there already; give another --output")
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    store.write_file(path, f"[\n{lines}\n]\n".encode("utf-8", "replace"))
    report.written.append(path)


def _judgments(
    bench: Bench, pairs: bool, judge: str | None, judge_set: str | None
) -> list[Judgment]:
    """Return the judgments of one judge with one judge set, of equal keys the last good one."""
    latest = {
        (row.judge_model, row.judge_set, row.key): row
        for file in bench.judgment_files()
        for row in store.latest(file.path, Judgment).values()
        if (row.model is None) == pairs
    }
    rows = list(latest.values())
    for flag, choice, name in (
        ("--judge-model", judge, "judge_model"),
        ("--judge-set", judge_set, "judge_set"),
    ):
        values = sorted({getattr(row, name) for row in rows})
        if choice is None and len(values) > 1:
            raise UsageError(f"choose one with {flag}: {', '.join(values)}")
        rows = [row for row in rows if choice in (None, getattr(row, name))]
    return rows


def _feedback(
    bench: Bench, rows: Sequence[Judgment], report: BackReport
) -> Iterator[dict[str, Any]]:
    """Yield the training records of one model's grades."""
    references, answers = bench.references(), bench.answers(rows[0].models[0])
    for row in rows:
        question, answer = bench.by_id.get(row.question_id), answers.get(row.question_id)
        if row.grade not in GRADES:
            report.left_out["no verdict that is a whole number from 1 to 5"] += 1
        elif question is None or answer is None or row.turn != 1:
            report.left_out["not about the first turn of an answer that is there"] += 1
        elif not _shows_rubric(row, question):
            report.left_out["the judge was not shown a rubric of the question"] += 1
        else:
            grade = str(int(row.grade))
            report.records[grade] += 1
            feedback = _VERDICT.sub("", row.judgment or "").strip()
            reference = references.turns.get(row.question_id) if references else None
            descriptions = zip(GRADES, question.extra["score_descriptions"], strict=True)
            choices = {choice.index: choice for choice in answer.choices}
            yield {
                "instruction": row.user_prompt or "",
                "output": f"{feedback} [RESULT] {grade}",
                "orig_instruction": question.turns[0],
                "orig_response": choices.get(row.choice, answer.choices[0]).turns[0],
                "orig_reference_answer": reference[0] if reference else "",
                "orig_criteria": question.extra["criteria"],
                **{f"orig_score{score}_description": text for score, text in descriptions},
                "orig_feedback": feedback,
                "orig_score": grade,
            }


def _shows_rubric(row: Judgment, question: Question) -> bool:
    """Return whether the judge was shown the question's whole rubric."""
    rubric = [question.extra.get("criteria"), *question.extra.get("score_descriptions", ())]
    prompt = " ".join((row.user_prompt or "").split())
    shown = (" ".join(str(text).split()) in prompt for text in rubric)
    return len(rubric) == 1 + len(GRADES) and all(shown)


def _annotations(bench: Bench, rows: Sequence[Judgment]) -> Iterator[dict[str, Any]]:
    """Yield the annotations of one model against one baseline, our model_2."""
    if len({row.models for row in rows}) > 1:
        names = ", ".join(sorted({row.models[1] for row in rows}))
        raise UsageError(f"{rows[0].models[0]} was compared with several models: {names}")
    model, baseline = rows[0].models
    by_question = {row.question_id: row for row in rows if row.turn == 1 and row.sample == 0}
    first, second = bench.answers(baseline), bench.answers(model)
    for question in bench.questions:
        key = question.question_id
        if key in first and key in second:
            yield {
                "instruction": question.turns[0],
                "output_1": first[key].choices[0].turns[0],
                "generator_1": baseline,
                "dataset": question.category,
                "output_2": second[key].choices[0].turns[0],
                "generator_2": model,
                "annotator": rows[0].judge_set,
                **_verdict(by_question.get(key)),
            }


def _verdict(row: Judgment | None) -> dict[str, Any]:
    """Return the fields of an annotation that are about its verdict; without one they are null."""
    preference = completion = None
    prices: list[float] = []
    seconds: list[float] = []
    if row is not None:
        games = row.games
        if games and None not in games:
            # By the text, two games that differ are a tie.
            weighed = row.score_method == "logprobs" or len(set(games)) == 1
            preference = 1 + (math.fsum(games) / len(games) if weighed else 0.5)
        completion = row.g1_judgment if row.g1_judgment is not None else row.g2_judgment
        if completion and row.score_method == "logprobs" and completion.startswith("{"):
            completion = json.loads(completion)
        prices = [price for detail in row.details if (price := _price(row, detail)) is not None]
        seconds = [detail.seconds for detail in row.details if detail.seconds is not None]
    return {
        "preference": preference,
        "price_per_example": math.fsum(prices) if prices else None,
        "time_per_example": math.fsum(seconds) if seconds else None,
        "raw_completion": completion,
    }


def _price(row: Judgment, detail: Detail) -> float | None:
    """Return the dollars of a call: as stated, else of its tokens by the list of prices."""
    listed = list_price(row.judge_model) if detail.price is None else None
    return listed.cost(detail) if listed is not None else detail.price
