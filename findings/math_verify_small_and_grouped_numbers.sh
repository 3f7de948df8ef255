#!/usr/bin/env bash
# math-verify 0.9.0: all small decimals are equal, "1.5e3" is not 1500, and "1 000" is 0.
#
# Decimals are compared after rounding to six places, so that two physical constants are the same
# number as soon as both are below 0.0000005, but 1/3000000 and 0 are not. In LaTeX an "e" between
# digits is Euler's number (1.5e3 is 1.5 * e * 3), and digits grouped by a space, as ISO writes
# them, are factors: "1 000" is 1 * 0, which makes it a right answer where 0 is expected.
# Seen: the lines below "expected". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check math-verify==0.9.0 latex2sympy2_extended==1.11.0
"$folder/venv/bin/python" -W ignore - <<'PY'
from math_verify import parse, verify

seen = [
    (r"$1.6\times 10^{-19}$", r"$9.1\times 10^{-31}$", True),
    ("$0.0000001$", "$0.0000002$", True),
    ("$0$", r"$\frac{1}{3000000}$", False),
    ("$1500$", "$1.5e3$", False),
    ("$1000$", "$1 000$", False),
    ("$0$", "$1 000$", True),
]
print("expected, answer: verified")
for expected, answer, verified in seen:
    got = verify(parse(expected), parse(answer))
    print(f"{expected}, {answer}: {got}")
    assert got == verified, "this has changed"
assert verify(parse("$1000$"), parse("$1,000$"))
PY
