#!/usr/bin/env bash
# dspy 3.4.1: by answer_exact_match no answer at all is right where the answer is A.
#
# Both texts lose their punctuation and the English articles before they are compared. The letter A of
# a multiple choice is an article, so that an empty reply equals it; its F1 of "A" for "A" is 0 (with a
# printed notice). A minus and a decimal point are punctuation: 5 is right for -5, 15 for 1.5, C for
# C++. Optimizers then learn from it.
# Seen: "'' for 'A': True", "'5' for '-5': True", "'15' for '1.5': True", "'C' for 'C++': True",
# "F1 of 'A' for 'A': 0". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check dspy==3.4.1 litellm==1.110.2
export DSPY_CACHEDIR="$folder/cache" LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/python" -W ignore - <<'PY'
import contextlib
import io

import dspy
from dspy.evaluate import answer_exact_match
from dspy.evaluate.metrics import F1

for reply, answer in (("", "A"), ("5", "-5"), ("15", "1.5"), ("C", "C++")):
    right = answer_exact_match(dspy.Example(answer=answer), dspy.Prediction(answer=reply))
    print(f"{reply!r} for {answer!r}: {right}")
    assert right is True, "this has changed"
assert not answer_exact_match(dspy.Example(answer="A"), dspy.Prediction(answer="B"))
with contextlib.redirect_stdout(io.StringIO()):
    score = F1("A", ["A"])
print(f"F1 of 'A' for 'A': {score}")
assert score == 0, "this has changed"
PY
