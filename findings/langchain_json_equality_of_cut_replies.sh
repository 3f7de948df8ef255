#!/usr/bin/env bash
# langchain-classic 1.0.8: a reply that was cut off in the middle of its JSON is equal to the whole.
#
# JsonEqualityEvaluator closes what is open before it compares: {"answer": "Par is equal to
# {"answer": "Par"}, a list without its bracket to the list, in any order of its items; true is equal
# to 1. JsonValidityEvaluator calls the same replies no JSON.
# Seen: four lines that end in "equal True", three of them with "valid 0". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check langchain-classic==1.0.8 langchain-core==1.8.3
"$folder/venv/bin/python" -W ignore - <<'PY'
from langchain_classic.evaluation import JsonEqualityEvaluator, JsonValidityEvaluator

equality, validity = JsonEqualityEvaluator(), JsonValidityEvaluator()
for reply, reference, valid in (
    ('{"answer": 4', '{"answer": 4}', 0),
    ('{"answer": "Par', '{"answer": "Par"}', 0),
    ("[1, 2", "[2, 1]", 0),
    ('{"answer": true}', '{"answer": 1}', 1),
):
    equal = equality.evaluate_strings(prediction=reply, reference=reference)["score"]
    found = validity.evaluate_strings(prediction=reply)["score"]
    print(f"{reply} for {reference}: valid {found}, equal {equal}")
    assert (found, equal) == (valid, True), "this has changed"
assert not equality.evaluate_strings(prediction='{"answer": 5}', reference='{"answer": 4}')["score"]
PY
