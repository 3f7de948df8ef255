"""A folder that FastChat's own scripts read, `data/BENCH` of its `llm_judge`.

    question.jsonl  model_answer/MODEL.jsonl  reference_answer/NAME.jsonl
    model_judgment/JUDGE_single.jsonl  JUDGE_pair.jsonl

Rows have FastChat's fields and no others: first choices and samples, grades, and pairs that were
judged in both orders.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import UNSET

from harness import store
from harness.bench import Bench, file_stem
from harness.extras.exporting.export import File, Results, one_of
from harness.types import FAILED_SCORE, Answer, Judgment

_SINGLE = ("question_id", "model", "judge", "user_prompt", "judgment", "score", "turn", "tstamp")
_PAIR = (
    *("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge"),
    *("g1_user_prompt", "g1_judgment", "g2_user_prompt", "g2_judgment", "turn", "tstamp"),
)
_KINDS: tuple[tuple[Literal["single", "pair"], tuple[str, ...]], ...] = (
    ("single", _SINGLE),
    ("pair", _PAIR),
)


def fastchat(bench: Bench, results: Results) -> Iterator[File]:
    """Yield the questions, answers, references and judgments as FastChat writes them."""
    questions = [
        {"question_id": q.question_id, "category": q.category, "turns": q.turns}
        for q in bench.questions
    ]
    yield File("question.jsonl", store.encode_lines(questions), {"questions": len(questions)})
    for model in results.models:
        answers = [_answer(answer) for answer in bench.answers(model).values()]
        if answers:
            path = f"model_answer/{file_stem(model)}.jsonl"
            yield File(path, store.encode_lines(answers), {f"answers by {model}": len(answers)})
    if references := bench.references():
        rows = [
            {"question_id": key, "choices": [{"index": 0, "turns": list(turns)}]}
            for key, turns in references.turns.items()
        ]
        yield File(f"reference_answer/{file_stem(references.name)}.jsonl", store.encode_lines(rows))
    judges = dict.fromkeys(row.judge_model for row in results.judgments)
    for judge in judges:
        for kind, fields in _KINDS:
            of_judge = [row for row in results.of_kind(kind) if row.judge_model == judge]
            one_of("--judge-set", (row.judge_set for row in of_judge))
            judgments = [_row(row, fields) for row in of_judge if _fits(row, results)]
            if judgments:
                path = f"model_judgment/{file_stem(judge)}_{kind}.jsonl"
                yield File(
                    path, store.encode_lines(judgments), {f"{kind} by {judge}": len(judgments)}
                )


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "question_id": answer.question_id,
        "answer_id": answer.answer_id,
        "model_id": answer.model_id,
        "choices": [{"index": choice.index, "turns": choice.turns} for choice in answer.choices],
        "tstamp": answer.tstamp,
    }


def _fits(row: Judgment, results: Results) -> bool:
    """Return whether FastChat has such judgments; count why not."""
    if row.sample or row.choice:
        reason = "FastChat has one judgment of one answer"
    elif row.model is not None and row.score is UNSET:
        reason = "FastChat has grades alone, no labels, dimensions and points"
    elif row.model is None and None in (row.g1_winner, row.g2_winner):
        reason = "FastChat judges every pair in both orders"
    else:
        return True
    results.left_out[reason] += 1
    return False


def _row(row: Judgment, fields: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in fields}
    values["judge"] = [row.judge_model, row.template or row.judge_set]
    if row.model is not None and row.grade is None:
        values["score"] = FAILED_SCORE
    return values
