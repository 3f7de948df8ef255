#!/usr/bin/env bash
# duckdb 2.0.1 and polars 2.1.0: what first appears late in a file of JSON Lines is changed or lost.
#
# Both take the columns from the head of the file. DuckDB looks at 20,480 rows: behind that many whole
# grades 7.5 is read as 8 and 6.5 as 6, so that means and counts are wrong (a new field there is an
# error). Polars looks at 100 rows: a field that begins in row 101 ("refused", in a file that a newer
# version continued) is lost without a word (a grade of 7.5 there is an error).
# Seen: "duckdb: 7.5 read as 8", "polars: columns id, grade". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check duckdb==2.0.1 polars==2.1.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import json

import duckdb
import polars


def write(name, rows, late):
    with open(name, "w") as file:
        for i in range(rows):
            row = {"id": i, "grade": i % 10 + 1} | (late if i == rows - 1 else {})
            file.write(json.dumps(row) + "\n")


write("long.jsonl", 25_000, {"grade": 7.5})
((grade,),) = duckdb.sql("select grade from 'long.jsonl' where id = 24999").fetchall()
print(f"duckdb: 7.5 read as {grade}")
assert grade == 8, "this has changed"

write("short.jsonl", 150, {"refused": True})
columns = polars.read_ndjson("short.jsonl").columns
print("polars: columns", ", ".join(columns))
assert columns == ["id", "grade"], "this has changed"
PY
