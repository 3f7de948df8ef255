#!/usr/bin/env bash
# fschat 0.2.36: show_result --model-list looks at the first model of a pair alone.
#
# With `--mode pairwise-all --model-list a b` a pair counts if `model_1` is listed, whoever model_2
# is. A model that was not asked for stands in the table, and the win rates of those that were are
# over pairs with it: a beat b, and both are at 0.5. Asked for `b c` the same file gives their pair
# alone, since what counts is the order in which the pairs were written.
# Seen: "a b: a 0.5, b 0.5, c 0.5", "b c: b 1.0, c 0.0". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check fschat==0.2.36 pandas==3.1.1
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import json
import subprocess
import sys

pairs = [("a", "b", "model_1"), ("a", "c", "model_2"), ("b", "c", "model_1")]
with open("pairs.jsonl", "w") as file:
    for one, other, winner in pairs:
        row = {"question_id": 81, "model_1": one, "model_2": other, "turn": 1}
        file.write(json.dumps(row | {"g1_winner": winner, "g2_winner": winner}) + "\n")


def win_rates(*models):
    command = [sys.executable, "-m", "fastchat.llm_judge.show_result", "--mode", "pairwise-all"]
    command += ["--input-file", "pairs.jsonl", "--model-list", *models]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    (head,) = (place for place, line in enumerate(lines) if line.startswith("model "))
    return {row[0]: float(row[-1]) for row in map(str.split, lines[head + 1 :])}


for models, expected in (
    (("a", "b"), {"a": 0.5, "b": 0.5, "c": 0.5}),
    (("b", "c"), {"b": 1, "c": 0}),
):
    rates = win_rates(*models)
    print(*models, end=": ")
    print(", ".join(f"{model} {rate}" for model, rate in sorted(rates.items())))
    assert rates == expected, "this has changed"
PY
