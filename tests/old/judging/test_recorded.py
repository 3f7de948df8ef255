"""Shipped judge sets on recorded verdict texts, good and bad: each text becomes the verdict beside it, or none.

`recorded/<set>.jsonl` has a line for each text. `verdict` is a grade, "A" or "B", two scores, a label, scores by
dimension, a preference, or null; `kind` says that a set with both kinds was asked to compare; `tokens` are the reply's
tokens with the probabilities at each place.
"""

import json
import math
import pathlib
from collections import Counter
from typing import Any

import pytest

from harness.old.judging.parse import read_verdict
from harness.old.judging.sets import load_judge_set, shipped_judge_sets
from harness.old.judgments.judgment import Label, Score, Scores, Verdict, Winner
from harness.old.records import Reply, TokenLogprobs

RECORDED = pathlib.Path(__file__).with_name("recorded")
ELSEWHERE = ("mt_bench", "mt_bench_checked", "mt_bench_unaided", "mt_bench_101", "feedback_collection")
"""The verdicts of `mt_bench`, and of sets that ask in its form, are in `verdict_texts.toml`; `feedback_collection` asks
in the words of its records."""
SETS = [name for name in shipped_judge_sets() if name not in ELSEWHERE]


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def reply_of(row: dict[str, Any]) -> Reply:
    tokens = None
    if "tokens" in row:
        places = [(token, {name: math.log(p) for name, p in top.items()}) for token, top in row["tokens"]]
        tokens = tuple(
            TokenLogprobs(token, top[token], tuple(sorted(top.items(), key=lambda pair: -pair[1])))
            for token, top in places
        )
    return Reply(row["text"], logprobs=tokens)


def plain(verdict: Verdict | None) -> Any:
    match verdict:
        case Score(value):
            return pytest.approx(value, abs=1e-3)
        case Scores(values):
            return [values["A"], values["B"]] if set(values) == {"A", "B"} else dict(values)
        case Label(value):
            return value
        case Winner(side, preference):
            return {"preference": pytest.approx(preference, abs=1e-3)} if preference not in (None, 0, 1) else side
    return None


CASES = [
    pytest.param(name, row, id=f"{name} {number}")
    for name in SETS
    if (RECORDED / f"{name}.jsonl").exists()
    for number, row in enumerate(rows(name), 1)
]


@pytest.mark.parametrize(("name", "row"), CASES)
def test_a_recorded_text_gives_the_verdict_beside_it(name: str, row: dict[str, Any]) -> None:
    judge_set = load_judge_set(name)
    compares = row.get("kind") == "compare" or all(t.kind == "compare" for t in judge_set.templates.values())
    wanted = row["verdict"]
    if isinstance(wanted, dict) and wanted.get("preference") in (0, 1):
        wanted = "AB"[int(wanted["preference"])]
    for template in judge_set.templates.values():
        if (template.kind == "compare") == compares:
            parsed = read_verdict(reply_of(row), template.form)
            assert plain(parsed.verdict) == wanted, (template.name, parsed)


@pytest.mark.parametrize("name", SETS)
def test_every_shipped_set_has_good_and_bad_recorded_texts(name: str) -> None:
    kinds = Counter(row["verdict"] is not None for row in rows(name))
    assert kinds[True] >= 10
    assert kinds[False] >= 10
