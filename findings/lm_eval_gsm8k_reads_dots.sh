#!/usr/bin/env bash
# lm_eval 0.4.13: gsm8k's flexible-extract takes an ellipsis for the answer, and 18.00 for wrong.
#
# The pattern for the last number also matches two or more of "$ . ," without a digit: a right reply
# that ends in "..." or ".." (a chat model's "Let me know if..." will do) is extracted as the dots,
# and scored 0. What is extracted is compared as text, so $18.00 is not 18.
# Seen: "'She earns 18 dollars...': '...' 0", "'She earns $18.00.': '$18.00.' 0",
# "'She earns 18 dollars.': '18' 1". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check lm_eval==0.4.13
cd "$folder"
"$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import importlib.resources

import yaml
from lm_eval.api.instance import Instance
from lm_eval.api.metrics import exact_match_fn
from lm_eval.filters import build_filter_ensemble

task = yaml.safe_load((importlib.resources.files("lm_eval") / "tasks/gsm8k/gsm8k.yaml").read_text())
(flexible,) = (each for each in task["filter_list"] if each["name"] == "flexible-extract")
steps = [[step.pop("function"), step] for step in flexible["filter"]]
(metric,) = task["metric_list"]
options = {key: metric[key] for key in ("ignore_case", "ignore_punctuation", "regexes_to_ignore")}


def score(reply):
    request = Instance("generate_until", {}, (reply, {}), 0)
    request.resps = [reply]
    build_filter_ensemble("flexible-extract", steps).apply([request])
    found = request.filtered_resps["flexible-extract"]
    result = exact_match_fn(predictions=[found], references=["9 * 2 = 18\n#### 18"], **options)
    return found, int(result["exact_match"])


for reply, expected in (
    ("She earns 18 dollars...", ("...", 0)),
    ("She earns $18.00.", ("$18.00.", 0)),
    ("She earns 18 dollars.", ("18", 1)),
):
    found, right = score(reply)
    print(f"{reply!r}: {found!r} {right}")
    assert (found, right) == expected, "this has changed"
PY
