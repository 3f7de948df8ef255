#!/usr/bin/env bash
# langchain-classic 1.0.8: a judge's verdict Y or N is the last letter of whatever it wrote.
#
# The criteria evaluator first looks for a y or an n at the very end, without a border before it: a
# verdict N with a reason that ends in "clarity" is Y (1), a verdict Y whose reason ends in "criterion"
# is N (0). The reason's full stop saves it; a verdict in bold or behind the reason's last sentence is
# none. The evaluator for questions does the like: "It is not correct." is 1.
# Seen: "'N\n\nThe answer lacks clarity': 1", "'Y\n\nIt meets the criterion': 0",
# "'It is not correct.': 1". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check langchain-classic==1.0.8 langchain-core==1.8.3
"$folder/venv/bin/python" -W ignore - <<'PY'
from langchain_classic.evaluation import CriteriaEvalChain, QAEvalChain
from langchain_core.language_models import FakeListLLM

case = {"input": "What is 2 + 2?", "prediction": "5"}


def score(chain, reply, **more):
    evaluator = chain.from_llm(FakeListLLM(responses=[reply]), **more)
    reference = {"reference": "4"} if chain is QAEvalChain else {}
    return evaluator.evaluate_strings(**case, **reference)["score"]


for reply, expected in (
    ("N\n\nThe answer lacks clarity", 1),
    ("Y\n\nIt meets the criterion", 0),
    ("N\n\nThe answer lacks clarity.", 0),
):
    found = score(CriteriaEvalChain, reply, criteria="conciseness")
    print(f"{reply!r}: {found}")
    assert found == expected, "this has changed"
found = score(QAEvalChain, "It is not correct.")
print(f"'It is not correct.': {found}")
assert found == 1, "this has changed"
PY
