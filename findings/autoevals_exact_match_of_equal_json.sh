#!/usr/bin/env bash
# autoevals 0.4.1: ExactMatch gives the example of its own documentation 0.
#
# It promises 1 for equal JSON whatever the order of the keys, and compares json.dumps of both as
# they come: {"name": …, "age": …} against the same in the other order is 0. Two strings are compared
# as texts even if both are JSON, so a reply '[1, 2]' against '[1,2]' is 0 too. JSONDiff gives the
# objects 1, but also 1/3 of a point for the text "1" in place of the number 1.
# Seen: "keys in another order: ExactMatch 0, JSONDiff 1", "'[1, 2]' for '[1,2]': ExactMatch 0",
# "'1' for 1: JSONDiff 0.33". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check autoevals==0.4.1
"$folder/venv/bin/python" - <<'PY'
from autoevals import ExactMatch, JSONDiff

output, expected = {"name": "John", "age": 30}, '{"age": 30, "name": "John"}'
exact = ExactMatch().eval(output=output, expected=expected).score
same = {"age": 30, "name": "John"}
assert ExactMatch().eval(output=output, expected=same).score == exact
difference = JSONDiff().eval(output=output, expected=same).score
print(f"keys in another order: ExactMatch {exact}, JSONDiff {difference:g}")
assert (exact, difference) == (0, 1), "this has changed"
exact = ExactMatch().eval(output="[1, 2]", expected="[1,2]").score
print(f"'[1, 2]' for '[1,2]': ExactMatch {exact}")
assert exact == 0, "this has changed"
difference = JSONDiff().eval(output={"n": "1"}, expected={"n": 1}).score
print(f"'1' for 1: JSONDiff {difference:.2f}")
assert round(difference, 2) == 0.33, "this has changed"
PY
