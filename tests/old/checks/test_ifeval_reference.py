"""Our strict and loose verdicts on IFEval's published responses are those of the published checker."""

import json
import pathlib
from collections import Counter

import pytest

from harness.old.checks import outcomes, read_checks
from harness.old.importing.ifeval import item

UNKNOWN = {"length_constraints:number_sentences": 23, "change_case:capital_word_frequency": 9}
"""How many instructions have no published verdict at hand: the data of a tokenizer was missing."""


@pytest.mark.slow
@pytest.mark.reference
def test_verdicts_are_those_of_the_published_checker(reference_data: pathlib.Path) -> None:
    folder = reference_data / "ifeval"
    prompts = [json.loads(line) for line in (folder / "input_data.jsonl").read_text(encoding="utf-8").splitlines()]
    responses = [
        json.loads(line) for line in (folder / "responses_gpt4.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    expected = {row["key"]: row for row in json.loads((folder / "expected.json").read_text(encoding="utf-8"))}
    said = {row["prompt"]: row["response"] for row in responses}
    unknown: Counter[str] = Counter()
    differing, compared = [], 0
    for row in prompts:
        (checks,) = read_checks(item(row).extra["checks"], 1)
        theirs = expected[row["key"]]
        for found, strict, loose in zip(
            outcomes(checks, said[row["prompt"]]), theirs["strict"], theirs["loose"], strict=True
        ):
            if strict is None:
                unknown[found.check.label] += 1
                continue
            compared += 1
            if (found.strict, found.loose) != (strict, loose):
                differing.append((row["key"], found.check.label))
    assert (differing, compared, dict(unknown)) == ([], 395, UNKNOWN)
