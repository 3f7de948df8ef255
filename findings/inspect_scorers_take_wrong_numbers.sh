#!/usr/bin/env bash
# inspect_ai 0.3.285: its scorers without a judge call other numbers, and other names, correct.
#
# `match(numeric=True)` writes both numbers with five significant digits before it compares them:
# 123460 is taken for 123456, 7.00004 for 7. `exact()` parts texts at hyphens, so 5 is taken for -5,
# and `match()` strips punctuation at both ends of answer and target: 5 for -5, C for C++ and C#.
# Seen: five lines that end in "C" (correct). Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check inspect_ai==0.3.285
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
import asyncio

from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Target, exact, match
from inspect_ai.solver import TaskState


def score(scorer, answer, target):
    output = ModelOutput.from_content("mockllm/model", answer)
    state = TaskState(ModelName("mockllm/model"), 1, 1, "?", [], output=output)
    return asyncio.run(scorer(state, Target(target))).value


wrong = [
    ("match(numeric=True)", match(numeric=True), "The total is 123460", "123456"),
    ("match(numeric=True)", match(numeric=True), "It takes 7.00004 days", "7"),
    ("exact()", exact(), "5", "-5"),
    ("match()", match(), "It is 5", "-5"),
    ("match()", match(), "It is written in C", "C++"),
]
for name, scorer, answer, target in wrong:
    value = score(scorer, answer, target)
    print(f"{name}: {answer!r} for {target!r}: {value}")
    assert value == "C", "this has changed"
assert score(match(numeric=True), "The total is 123556", "123456") == "I"
assert score(exact(), "6", "-5") == "I"
PY
