#!/usr/bin/env bash
# scikit-learn 1.9.1, statsmodels 0.15.0: weighted kappa of grades goes by place in the table.
#
# cohen_kappa_score(weights="quadratic") numbers the grades that happen to occur: where judges gave
# only 1, 2 and 10, the step from 2 to 10 weighs as much as that from 1 to 2. A judge with two errors
# of eight points then agrees better than one with four errors of one point; with `labels` of the
# whole scale it is the other way round. statsmodels' cohens_kappa weighs its table's rows likewise.
# irrCAC 0.4.4 weighs by the grades themselves: its 0.59 and 0.99 need no list of labels.
# Seen: "as they occur 0.84, 0.65; on the scale 0.59, 0.99". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check scikit-learn==1.9.1 statsmodels==0.15.0
"$folder/venv/bin/python" - <<'PY'
import numpy as np
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa

people = [1, 1, 1, 2, 2, 2, 10, 10, 10, 10]
far_off = [1, 1, 1, 2, 2, 2, 10, 10, 2, 2]
near = [2, 2, 2, 1, 2, 2, 10, 10, 10, 10]
scale = list(range(1, 11))


def kappas(**labels):
    return [cohen_kappa_score(people, judge, weights="quadratic", **labels) for judge in (far_off, near)]


occurring, whole = kappas(), kappas(labels=scale)
print("as they occur {:.2f}, {:.2f}; on the scale {:.2f}, {:.2f}".format(*occurring, *whole))
assert np.allclose(occurring, [0.836, 0.649], atol=1e-3), "this has changed"
assert np.allclose(whole, [0.593, 0.988], atol=1e-3), "this has changed"
for labels, expected in ((None, occurring), (scale, whole)):
    tables = [confusion_matrix(people, judge, labels=labels) for judge in (far_off, near)]
    found = [cohens_kappa(table, wt="quadratic").kappa for table in tables]
    assert np.allclose(found, expected), "this has changed"
PY
