"""Judgments back in other projects' forms.

`feedback_collection`: grades as training records of the Feedback Collection, for each graded answer
to a question with a rubric (its fields `criteria` and `score_descriptions`) that the judge was
shown:

    {"instruction": <the judge's whole input>, "output": "<feedback> [RESULT] 4", "orig_...": ...}

`alpaca_eval`: pairs as annotations, a file for each model where alpaca_eval keeps them,
`OUTPUT/MODEL/JUDGE_SET/annotations.json`. The records are in the order of the questions, one for
each that both models answered (its length control looks the difficulty up by that order); where
there is no verdict, `preference` is null.
"""

import json
import math
import pathlib
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import bench as benches
from harness import store
from harness.bench import Bench, file_stem
from harness.errors import MissingError, UsageError
from harness.extras.importing.prometheus import GRADES
from harness.models.prices import cost_of, list_price
from harness.results import read
from harness.results.reading import whole_rows
from harness.types import Judgment, Question

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
    left_out: int = 0
    """Judgments that are no grade of a first turn, from 1 to 5, by the question's own rubric."""

    def __repr__(self) -> str:
        return f"<BackReport: {self.records.total():,} records>"


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

    With `alpaca_eval`, `output` is a folder.

    Raises:
        UsageError: no such form; no such judgments; several judges or judge sets of which none is
            named; a file is there already.
        StorageError: a file cannot be written.
    """
    if back not in ("feedback_collection", "alpaca_eval"):
        raise UsageError(f"no form {back!r}; there are feedback_collection and alpaca_eval")
    bench, output, report = benches.load(bench_name, data_dir), pathlib.Path(output), BackReport()
    rows = _judgments(bench, back == "alpaca_eval", judge_model, judge_set, report)
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
    for model, rows in sorted(by_model.items()):
        records = list(_annotations(bench, rows))
        folder = output / file_stem(model) / file_stem(rows[0].judge_set)
        _write(folder / "annotations.json", records, report)
        report.records[model] = len(records)
    return report


def _write(path: pathlib.Path, records: Sequence[Mapping[str, Any]], report: BackReport) -> None:
    if path.exists():
        raise UsageError(f"{path} is there already; give another --output")
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    store.write_file(path, f"[\n{lines}\n]\n".encode("utf-8", "replace"))
    report.written.append(path)


def _judgments(
    bench: Bench, pairs: bool, judge: str | None, judge_set: str | None, report: BackReport
) -> list[Judgment]:
    """Return the judgments of one judge with one judge set that count, in today's wording."""
    try:
        scores = read(bench, kind="pair" if pairs else "single")
    except MissingError:
        return []
    report.left_out += scores.left_out.total()
    rows = [row for _, row in whole_rows(scores) if isinstance(row, Judgment)]
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
        rubric = _rubric(row, question)
        grade = f"{row.grade or 0:g}"
        if grade not in map(str, GRADES) or row.turn != 1 or answer is None or not rubric:
            report.left_out += 1
            continue
        report.records[grade] += 1
        feedback = _VERDICT.sub("", row.judgment or "").strip()
        reference = references.turns.get(row.question_id) if references else None
        choices = {choice.index: choice for choice in answer.choices}
        yield {
            "instruction": row.user_prompt,
            "output": f"{feedback} [RESULT] {grade}",
            "orig_instruction": bench.by_id[row.question_id].turns[0],
            "orig_response": choices.get(row.choice, answer.choices[0]).turns[0],
            "orig_reference_answer": reference[0] if reference else "",
            **rubric,
            "orig_feedback": feedback,
            "orig_score": grade,
        }


def _rubric(row: Judgment, question: Question | None) -> dict[str, Any]:
    """Return the fields of a question's rubric; none if the judge was not shown all of it."""
    extra = question.extra if question is not None else {}
    names = ["orig_criteria", *(f"orig_score{grade}_description" for grade in GRADES)]
    texts = [extra.get("criteria"), *extra.get("score_descriptions", ())]
    prompt = " ".join((row.user_prompt or "").split())
    whole = len(texts) == len(names)
    if not whole or not all(" ".join(str(text).split()) in prompt for text in texts):
        return {}
    return dict(zip(names, texts, strict=True))


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
                **_verdict(by_question.get(key, Judgment(question_id=key))),
            }


def _verdict(row: Judgment) -> dict[str, Any]:
    """Return the fields of an annotation that are about its verdict; without one they are null."""
    preference, games = None, [game for game in row.games if game is not None]
    if not row.failed:
        # By the text, two games that differ are a tie.
        weighed = row.score_method == "logprobs" or len(set(games)) == 1
        preference = 1 + (statistics.fmean(games) if weighed else 0.5)
    completion: Any = row.g1_judgment if row.g1_judgment is not None else row.g2_judgment
    if completion and row.score_method == "logprobs" and completion.startswith("{"):
        completion = json.loads(completion)
    # As stated, else of the tokens by the list of prices.
    price = list_price(row.judge_model)
    costs = [cost_of(detail, price) for detail in row.details]
    return {
        "preference": preference,
        "price_per_example": _total(costs),
        "time_per_example": _total(detail.seconds for detail in row.details),
        "raw_completion": completion,
    }


def _total(numbers: Iterable[float | None]) -> float | None:
    """Return the sum of the numbers that are known; None if none is."""
    values = [number for number in numbers if number is not None]
    return math.fsum(values) if values else None
