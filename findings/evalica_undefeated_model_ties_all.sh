#!/usr/bin/env bash
# evalica 0.4.2: one model that won (or lost) all its games makes all Bradley-Terry scores equal.
#
# Such scores have no maximum of the likelihood. `bradley_terry` neither raises nor warns: every
# model gets the same 1e-06, the winner of 20 of 20 games, and the two between whom the games went 7
# to 3; `pairwise_frame` then gives 50% for each pair. With an undefeated model it stops after two
# iterations of 100, so that the count of iterations does not tell it either. average_win_rate of the
# same games orders them.
# Seen: "a 1e-06, b 1e-06, c 1e-06 after 2 iterations; win rates 1.00, 0.35, 0.15". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check evalica==0.4.2
"$folder/venv/bin/python" -W error - <<'PY'
from evalica import Winner, average_win_rate, bradley_terry, pairwise_frame

games = [("a", "b", Winner.X)] * 10 + [("a", "c", Winner.X)] * 10
games += [("b", "c", Winner.X)] * 7 + [("b", "c", Winner.Y)] * 3
left, right, winners = zip(*games, strict=True)
result = bradley_terry(left, right, winners)
scores = result.scores.sort_index()
rates = average_win_rate(left, right, winners).scores.sort_index()
print(", ".join(f"{model} {score:.3g}" for model, score in scores.items()), end=" ")
print(f"after {result.iterations} iterations; win rates", ", ".join(f"{r:.2f}" for r in rates))
assert scores.nunique() == 1 and result.iterations < 100, "this has changed"
assert (pairwise_frame(scores) == 0.5).all(axis=None), "this has changed"
assert rates["a"] == 1 and rates["b"] > rates["c"]

# The same the other way round: c lost all.
games = [("a", "c", Winner.X)] * 10 + [("b", "c", Winner.X)] * 10
games += [("a", "b", Winner.X)] * 7 + [("a", "b", Winner.Y)] * 3
scores = bradley_terry(*zip(*games, strict=True)).scores
assert scores.nunique() == 1, "this has changed"
PY
