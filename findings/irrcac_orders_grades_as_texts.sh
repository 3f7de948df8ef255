#!/usr/bin/env bash
# irrCAC 0.4.4: grades that are strings are ordered 1, 10, 2, and weighted so.
#
# Agreement with ordinal, linear or quadratic weights takes strings, as a CSV file read with dtype=str
# gives them, and sorts their categories as texts: a 10 then stands next to a 1, and two judges
# who never differ by more than one grade agree half as much. Numbers are ordered right; but the grades
# that nobody gave are missing from the ordinal scale unless `categories` names them.
# Seen: "numbers: linear 0.87, quadratic 0.98", "strings: linear 0.49, quadratic 0.54",
# "numbers: ordinal 0.87, with all ten categories 0.96". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check irrCAC==0.4.4
"$folder/venv/bin/python" -W ignore - <<'PY'
import pandas
from irrCAC.raw import CAC

grades = pandas.DataFrame({"a": [1, 2, 10, 9, 10, 3, 1, 8], "b": [1, 3, 9, 9, 10, 2, 2, 8]})
assert (grades["a"] - grades["b"]).abs().max() == 1


def agree(table, weights, **options):
    return CAC(table, weights=weights, **options).gwet()["est"]["coefficient_value"]


for name, table, expected in (
    ("numbers", grades, [0.87, 0.98]),
    ("strings", grades.astype(str), [0.49, 0.54]),
):
    found = [round(agree(table, weights), 2) for weights in ("linear", "quadratic")]
    print(f"{name}: linear {found[0]}, quadratic {found[1]}")
    assert found == expected, "this has changed"
given = round(agree(grades, "ordinal"), 2)
every = round(agree(grades, "ordinal", categories=list(range(1, 11))), 2)
print(f"numbers: ordinal {given}, with all ten categories {every}")
assert (given, every) == (0.87, 0.96), "this has changed"
PY
