#!/usr/bin/env bash
# lm_eval 0.4.13: mgsm takes 1.8 and -18 for 18, and 18.00 for wrong.
#
# Its numbers are compared as texts without punctuation, so that neither the point nor the sign
# counts: a tenth, a hundredth and the negative of the right number are right, by both of its
# filters, and the right number with two decimals, as of an amount of money, is not. The same two
# lines stand in other tasks with numbers (afrimgsm).
# Seen: "1.8 for 18: 1, 1", "-18 for 18: 1, 1", "18.00 for 18: 0, 0", "18 for 18: 1, 1".
# Fails if that changes.
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

path = importlib.resources.files("lm_eval") / "tasks/mgsm/en_cot/cot_yaml"
task = yaml.safe_load(path.read_text())
(metric,) = task["metric_list"]
options = {key: metric[key] for key in ("ignore_case", "ignore_punctuation")}
ensembles = [
    build_filter_ensemble(each["name"], [[step.pop("function"), step] for step in each["filter"]])
    for each in task["filter_list"]
]


def score(reply, target):
    request = Instance("generate_until", {}, (reply, {}), 0)
    request.resps = [reply]
    for ensemble in ensembles:
        ensemble.apply([request])
    results = (
        exact_match_fn(predictions=[found], references=[target], **options)
        for found in request.filtered_resps.values()
    )
    return [int(result["exact_match"]) for result in results]


for number, expected in (("1.8", 1), ("-18", 1), ("18.00", 0), ("18", 1), ("19", 0)):
    right = score(f"The answer is {number}.", "18")
    print(f"{number} for 18:", ", ".join(map(str, right)))
    assert right == [expected, expected], "this has changed"
PY
