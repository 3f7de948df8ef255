#!/usr/bin/env bash
# judges 0.1.1: the majority of a jury that does not agree is its first judge.
#
# "majority", the default, takes the most common grade, and of several the first in the list: with
# grades 2, 8 and 9, or with a jury of two, the order of the judges decides. (The average that the
# code keeps for such a case is for an error that Python has not raised since 3.8.) The other ways
# round the result to a whole number, halves to even: the average of 4 and 5 is 4, that of 5 and 6 is
# 6. "weighted_average" takes no weights.
# Seen: "majority of 2, 8, 9: 2", "majority of 9, 8, 2: 9", "majority of True, False: True",
# "average of 4, 5: 4", "average of 5, 6: 6". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check judges==0.1.1
"$folder/venv/bin/python" -W ignore - <<'PY'
from judges import Jury
from judges.base import BaseJudge, Judgment


class Fixed(BaseJudge):
    def __init__(self, score):
        super().__init__(model="none")
        self.score = score

    def judge(self, input, output=None, expected=None):
        kind = "boolean" if isinstance(self.score, bool) else "numerical"
        return Judgment(reasoning="", score=self.score, score_type=kind)


for method, scores, expected in (
    ("majority", [2, 8, 9], 2),
    ("majority", [9, 8, 2], 9),
    ("majority", [True, False], True),
    ("majority", [False, True], False),
    ("average", [4, 5], 4),
    ("average", [5, 6], 6),
):
    jury = Jury(judges=[Fixed(score) for score in scores], voting_method=method)
    verdict = jury.vote(input="q", output="a").score
    print(f"{method} of {', '.join(map(str, scores))}: {verdict}")
    assert verdict == expected, "this has changed"
PY
