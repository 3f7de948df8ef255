#!/usr/bin/env bash
# lm_eval 0.4.13: bbh's chain of thought takes 24 for 2 where no full stop follows.
#
# The pattern, "the answer is" and all but the last character of the line, expects a full stop. In a
# reply without one the answer loses its end: 24 is scored wrong for 24 and right for 2, (B) is "(B",
# yes is "ye". Chat models often end without one, or write the answer in bold, which is wrong as well.
# Seen: "'So the answer is 24' for 24: '2' 0", "'So the answer is 24' for 2: '2' 1",
# "'So the answer is (B)' for (B): '(B' 0", "'So the answer is 24.' for 24: '24' 1".
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

path = importlib.resources.files("lm_eval") / "tasks/bbh/cot_fewshot/_cot_fewshot_template_yaml"
task = yaml.safe_load(path.read_text())
(filters,) = task["filter_list"]
steps = [[step.pop("function"), step] for step in filters["filter"]]
(metric,) = task["metric_list"]
assert set(metric) == {"metric", "aggregation", "higher_is_better"}, "this has changed"


def score(reply, target):
    request = Instance("generate_until", {}, (reply, {}), 0)
    request.resps = [reply]
    build_filter_ensemble(filters["name"], steps).apply([request])
    found = request.filtered_resps[filters["name"]]
    return found, int(exact_match_fn(predictions=[found], references=[target])["exact_match"])


for reply, target, expected in (
    ("So the answer is 24", "24", ("2", 0)),
    ("So the answer is 24", "2", ("2", 1)),
    ("So the answer is (B)", "(B)", ("(B", 0)),
    ("So the answer is **24**.", "24", ("**24**", 0)),
    ("So the answer is 24.", "24", ("24", 1)),
):
    found, right = score(reply, target)
    print(f"{reply!r} for {target}: {found!r} {right}")
    assert (found, right) == expected, "this has changed"
PY
