"""Judgments in the shape of the Feedback Collection, so that a judge can be trained on them.

    {"instruction": <the judge's whole input>, "output": "<feedback> [RESULT] 4", "orig_instruction": ..., ...}

One record for each graded answer to a question with a rubric (fields `criteria` and `score_descriptions`). A judgment
without a verdict, with a grade that is not a whole number from 1 to 5, or by a judge that was not shown that rubric is
left out and counted.
"""

import pathlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.old.bench import Bench
from harness.old.errors import DataError, UsageError
from harness.old.importing.prometheus import GRADES
from harness.old.jsonl import encode, storing
from harness.old.judgments.file_name import Kind, judgment_files
from harness.old.judgments.row import JudgedRow, judged_rows
from harness.old.records import Answer, QuestionId

_VERDICT = re.compile(r"\s*(?:\[RESULT\].*|(?:Rating|Score)\s*:?\s*\[\[[^\]]*\]\]\W*)\Z", re.DOTALL | re.IGNORECASE)
"""The end of a judgment with the verdict; the text before it is the feedback."""


@dataclass(slots=True)
class BackReport:
    """What `write_back` did."""

    path: pathlib.Path
    balance: Counter[int] = field(default_factory=Counter)
    """Records written, by score."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Judgments left out, by reason."""


def write_back(
    bench: Bench, path: pathlib.Path, *, judge: str | None = None, judge_set: str | None = None
) -> BackReport:
    """Write the graded judgments of a benchmark as one JSON array; return how the scores are balanced.

    Raises:
        UsageError: there are no graded judgments, several judges or judge sets of which none is named, or the file
            exists.
        StorageError: the file can't be written.
    """
    report = BackReport(path)
    rows = rows_to_write(bench, path, "graded judgments", ("single",), judge, judge_set)
    try:
        with storing(path), path.open("x", encoding="utf-8") as file:
            file.write("[")
            for number, record in enumerate(_records(bench, rows, report)):
                file.write(("," if number else "") + "\n" + encode(record))
            file.write("\n]\n")
    except DataError:
        path.unlink(missing_ok=True)
        raise
    return report


def rows_to_write(
    bench: Bench,
    path: pathlib.Path,
    kind: str,
    files: Sequence[Kind],
    judge: str | None,
    judge_set: str | None,
    sample: int | None = None,
) -> Sequence[JudgedRow]:
    """Return the rows of the requested judge and judge set; `kind` names the rows in an error.

    Raises:
        UsageError: there are none, or several of which none is named, or the file to write exists.
    """
    if path.exists():
        raise UsageError(f"{path} already exists; give another --output")
    folder = bench.folder / "model_judgment"
    rows = [row for file in judgment_files(folder, files, sample) for row in judged_rows(file)]
    if not rows:
        raise UsageError(f"there are no {kind} in {folder}")
    asked = (("judge", "--judge-model", judge, "judge"), ("judge set", "--judge-set", judge_set, "judge_set"))
    for what, flag, wanted, name in asked:
        there = list(dict.fromkeys(getattr(row.source, name) for row in rows))
        if wanted is not None and wanted not in there:
            raise UsageError(f"no {kind} with the {what} {wanted!r}; there are: {', '.join(there)}")
        if wanted is None and len(there) > 1:
            raise UsageError(f"there are several {what}s, choose one with {flag}: {', '.join(there)}")
        rows = [row for row in rows if getattr(row.source, name) == (wanted or there[0])]
    return rows


def _records(bench: Bench, rows: Sequence[JudgedRow], report: BackReport) -> Iterator[dict[str, Any]]:
    questions = {question.question_id: question for question in bench.questions}
    references = bench.reference_answers(bench.references()[0]) if bench.references() else {}
    answers: dict[str, Mapping[QuestionId, Answer]] = {}
    for row in rows:
        (model,), words = row.models, row.words[0]
        score = next(iter(row.numbers.values()), None)
        if score is None or score not in GRADES:
            report.left_out["no verdict" if score is None else "not a whole number from 1 to 5"] += 1
            continue
        question = questions.get(row.question_id)
        rubric = question.extra if question else {}
        if question is None or not _has_rubric(rubric):
            report.left_out["no such question" if question is None else "the question has no rubric"] += 1
            continue
        if not _shown(rubric, words.prompt or ""):
            report.left_out["the judge was not shown the question's rubric"] += 1
            continue
        if model not in answers:
            answers[model] = bench.answers(model)
        answer = answers[model].get(row.question_id)
        if answer is None or row.turn != 1:
            report.left_out["the answer is missing" if answer is None else "not a first turn"] += 1
            continue
        choices = answer.choices
        choice = next((own for own in choices if str(own.index) == row.source.choice), choices[0])
        feedback = _VERDICT.sub("", words.judgment or "").strip()
        report.balance[int(score)] += 1
        yield {
            "instruction": words.prompt or "",
            "output": f"{feedback} [RESULT] {int(score)}",
            "orig_instruction": question.turns[0],
            "orig_response": choice.turns[0],
            "orig_reference_answer": references.get(row.question_id, ("",))[0],
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


def _shown(rubric: Mapping[str, Any], prompt: str) -> bool:
    """Return whether a prompt contains a question's rubric, regardless of line breaks."""
    sent = " ".join(prompt.split())
    return all(" ".join(str(text).split()) in sent for text in (rubric["criteria"], *rubric["score_descriptions"]))
