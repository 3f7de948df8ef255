#!/usr/bin/env bash
# datasets 5.2.0, pyarrow 26.0.1, duckdb 2.0.1: JSON strings that look like dates do not stay strings.
#
# Where all answers of a file are dates ("1969-07-20"), as in a set of questions for days, pyarrow's
# reader of JSON Lines and with it `load_dataset("json")` make timestamps of the strings, DuckDB dates:
# as text the former are "1969-07-20 00:00:00", and neither equals a reference that is a string. One
# answer of another form among them, and all stay strings, so that it depends on the others' answers.
# Seen: "datasets: 1969-07-20 00:00:00", "duckdb: date", "with one more answer: str". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check datasets==5.2.0 pyarrow==26.0.1 duckdb==2.0.1
cd "$folder"
HF_HUB_OFFLINE=1 HF_HOME="$folder/hf" "$folder/venv/bin/python" - 2>/dev/null <<'PY'
import json

import duckdb
from datasets import load_dataset


def write(name, answers):
    with open(name, "w") as file:
        file.writelines(json.dumps({"answer": answer}) + "\n" for answer in answers)


write("dates.jsonl", ["1969-07-20", "1989-11-09"])
write("mixed.jsonl", ["1969-07-20", "in 1989"])
answer = load_dataset("json", data_files="dates.jsonl", split="train")[0]["answer"]
print("datasets:", answer)
assert str(answer) == "1969-07-20 00:00:00", "this has changed"
answer = duckdb.sql("select answer from 'dates.jsonl'").fetchall()[0][0]
print("duckdb:", type(answer).__name__)
assert not isinstance(answer, str), "this has changed"
answer = load_dataset("json", data_files="mixed.jsonl", split="train")[0]["answer"]
print("with one more answer:", type(answer).__name__)
assert answer == "1969-07-20", "this has changed"
PY
