#!/usr/bin/env bash
# choix 0.4.1: rank_centrality takes pairs that never met for draws, however small its alpha.
#
# alpha is first added to both sides of every pair, and the sums are then made ratios: 1e-9 against
# 1e-9 is a half, as firm as a hundred games that went 50 to 50. Where a beat b 9 to 1 and b beat c
# 7 to 3, c comes out above b for not having met a. ilsr_pairwise with the same alpha keeps the order,
# and so does rank_centrality without alpha, which needs games in which each model lost.
# Seen: "alpha 0: a, b, c", "alpha 1e-09: a, c, b", "ilsr_pairwise, alpha 1e-09: a, b, c".
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check choix==0.4.1
"$folder/venv/bin/python" -W error - <<'PY'
from choix import ilsr_pairwise, rank_centrality

a, b, c = range(3)
games = [(a, b)] * 9 + [(b, a)] + [(b, c)] * 7 + [(c, b)] * 3
for name, fit, alpha, expected in (
    ("alpha 0", rank_centrality, 0, "a, b, c"),
    ("alpha 1e-09", rank_centrality, 1e-9, "a, c, b"),
    ("ilsr_pairwise, alpha 1e-09", ilsr_pairwise, 1e-9, "a, b, c"),
):
    scores = fit(3, games, alpha=alpha)
    order = ", ".join("abc"[i] for i in sorted(range(3), key=lambda i: -scores[i]))
    print(f"{name}: {order}")
    assert order == expected, "this has changed"
PY
