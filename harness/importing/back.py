"""Judgments in the shape of the Feedback Collection, so that a judge can be trained on them.

    {"instruction": <the judge's whole input>, "output": "<feedback> [RESULT] 4", "orig_instruction": ..., ...}

One record for each graded answer to a question with a rubric (fields `criteria` and `score_descriptions`). A judgment
without a verdict, or with a grade that is not a whole number from 1 to 5, is left out and counted.
"""

import pathlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.bench import Bench
from harness.errors import DataError, StorageError, UsageError
from harness.importing.feedback_collection import GRADES
from harness.jsonl import encode, read_rows
from harness.records import Answer, QuestionId
from harness.rows import question_id

_VERDICT = re.compile(r"\s*(?:\[RESULT\].*|(?:Rating|Score)\s*:?\s*\[\[[^\]]*\]\]\W*)\Z", re.DOTALL | re.IGNORECASE)
"""The end of a judgment that gives the verdict; what stands before it is the feedback."""


@dataclass(slots=True)
class BackReport:
    """What `write_back` did."""

    path: pathlib.Path
    balance: Counter[int] = field(default_factory=Counter)
    """Records written, by score."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Judgments left out, by reason."""


def write_back(bench: Bench, path: pathlib.Path, *, judge: str | None = None) -> BackReport:
    """Write the graded judgments of a benchmark as one JSON array; return how the scores are balanced.

    Raises:
        UsageError: there are no graded judgments, or several judges and none is named, or the file exists.
        StorageError: the file can't be written.
    """
    if path.exists():
        raise UsageError(f"{path} is there already; give another --output")
    report = BackReport(path)
    rows = _rows(bench, judge)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("[")
            for number, record in enumerate(_records(bench, rows, report)):
                file.write(("," if number else "") + "\n" + encode(record))
            file.write("\n]\n")
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from error
    return report


def _rows(bench: Bench, judge: str | None) -> list[tuple[pathlib.Path, int, Mapping[str, Any]]]:
    """Return the graded rows of the one judge that is meant, each with its place."""
    found: dict[str, list[tuple[pathlib.Path, int, Mapping[str, Any]]]] = {}
    for path in sorted((bench.folder / "model_judgment").glob("*_single.jsonl")):
        for line, row in read_rows(path):
            made = row.get("judge")
            name = made[0] if isinstance(made, list) and made else made
            if not isinstance(name, str):
                raise DataError(f"judge must be a text or a list, this is {made!r}", path=path, line=line)
            found.setdefault(name, []).append((path, line, row))
    if judge is not None and judge not in found:
        raise UsageError(f"no graded judgments by {judge!r}; there are: {', '.join(found) or 'none'}")
    if judge is None and len(found) != 1:
        there = f"there are several judges, choose one with --judge-model: {', '.join(found)}"
        raise UsageError(there if found else f"there are no graded judgments in {bench.folder / 'model_judgment'}")
    return found[judge] if judge is not None else next(iter(found.values()))


def _records(
    bench: Bench, rows: list[tuple[pathlib.Path, int, Mapping[str, Any]]], report: BackReport
) -> Iterator[dict[str, Any]]:
    questions = {question.question_id: question for question in bench.questions}
    references = bench.reference_answers(bench.references()[0]) if bench.references() else {}
    answers: dict[str, Mapping[QuestionId, Answer]] = {}
    for path, line, row in rows:
        try:
            key, model, score, text = question_id(row["question_id"]), row["model"], row["score"], row["judgment"]
        except KeyError as error:
            raise DataError(f"the field {error} is missing", path=path, line=line) from None
        if score not in GRADES:
            report.left_out["no verdict" if score in (-1, None) else "not a whole number from 1 to 5"] += 1
            continue
        question = questions.get(key)
        rubric = question.extra if question else {}
        if question is None or not _has_rubric(rubric):
            report.left_out["no such question" if question is None else "the question has no rubric"] += 1
            continue
        if model not in answers:
            answers[model] = bench.answers(model)
        answer, turn = answers[model].get(key), row.get("turn", 1)
        if answer is None or turn != 1:
            report.left_out["the answer is not there" if answer is None else "not a first turn"] += 1
            continue
        feedback = _VERDICT.sub("", text).strip()
        report.balance[int(score)] += 1
        yield {
            "instruction": row.get("user_prompt", ""),
            "output": f"{feedback} [RESULT] {int(score)}",
            "orig_instruction": question.turns[0],
            "orig_response": answer.choices[0].turns[0],
            "orig_reference_answer": references.get(key, ("",))[0],
            "orig_criteria": rubric["criteria"],
            **{f"orig_score{g}_description": t for g, t in zip(GRADES, rubric["score_descriptions"], strict=True)},
            "orig_feedback": feedback,
            "orig_score": str(int(score)),
        }


def _has_rubric(extra: Mapping[str, Any]) -> bool:
    descriptions = extra.get("score_descriptions")
    return (
        isinstance(extra.get("criteria"), str) and isinstance(descriptions, list) and len(descriptions) == len(GRADES)
    )
