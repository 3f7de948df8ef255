"""Grades as training records of the Feedback Collection.

One for each graded answer to a question with a rubric (its fields `criteria` and
`score_descriptions`) that the judge was shown:

    {"instruction": <the judge's whole input>, "output": "<feedback> [RESULT] 4", "orig_...": ...}
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness.bench import Bench
from harness.extras.exporting.export import File, Results, json_array
from harness.extras.importing.prometheus import GRADES
from harness.types import Judgment, Question

_VERDICT = re.compile(
    r"\s*(?:\[RESULT\].*|(?:Rating|Score)\s*:?\s*\[\[[^\]]*\]\]\W*)\Z", re.DOTALL | re.IGNORECASE
)
"""The end of a judgment with the verdict; the text before it is the feedback."""
_REASON = "no grade of a first turn, from 1 to 5, by the question's own rubric"


def feedback_collection(bench: Bench, results: Results) -> Iterator[File]:
    """Return one file with the training records of all grades."""
    records = []
    for rows in results.of_one_judge("single").values():
        found = list(_feedback(bench, rows))
        results.left_out[_REASON] += len(rows) - len(found)
        records += found
    counts = Counter(f"grade {record['orig_score']}" for record in records)
    yield File("", json_array(records), counts)


def _feedback(bench: Bench, rows: Sequence[Judgment]) -> Iterator[dict[str, Any]]:
    """Yield the training records of one model's grades."""
    references, answers = bench.references(), bench.answers(rows[0].models[0])
    for row in rows:
        question, answer = bench.by_id.get(row.question_id), answers.get(row.question_id)
        rubric = _rubric(row, question)
        grade = f"{row.grade or 0:g}"
        if grade not in map(str, GRADES) or row.turn != 1 or answer is None or not rubric:
            continue
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
