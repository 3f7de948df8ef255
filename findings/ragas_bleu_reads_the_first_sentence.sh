#!/usr/bin/env bash
# ragas 0.4.3 with sacrebleu 2.6.0: BleuScore looks at the first sentence of an answer only.
#
# It cuts answer and reference at ". " and hands sacrebleu each of the reference's sentences as a
# further reference of the first one of the answer; sacrebleu takes as many sentences as the shortest
# list has, which is one. An answer whose first sentence is anywhere in the reference gets 1, whatever
# follows; one whose first sentence is not gets next to nothing. sacrebleu itself, on the whole texts,
# says 0.39 of both.
# Seen: "right, then wrong: 1.00 (sacrebleu 0.39)", "wrong, then right: 0.05 (sacrebleu 0.39)".
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# ragas 0.4.3 does not import with later versions of langchain-community.
"$folder/venv/bin/pip" install -q --disable-pip-version-check ragas==0.4.3 \
  langchain-community==0.3.31 sacrebleu==2.6.0
cd "$folder"
RAGAS_DO_NOT_TRACK=true "$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import asyncio

import sacrebleu
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics import BleuScore
from ragas.metrics.collections import BleuScore as NewBleuScore

tower, fair = "The Eiffel Tower stands in Paris", "It was built for the fair of 1889"
bananas = "Bananas are yellow and grow in warm countries"
reference = f"{tower}. {fair}."
for name, answer, expected in (
    ("right, then wrong", f"{tower}. {bananas}.", (1.0, 0.39)),
    ("wrong, then right", f"{bananas}. {tower}.", (0.05, 0.39)),
):
    sample = SingleTurnSample(response=answer, reference=reference)
    score = round(asyncio.run(BleuScore().single_turn_ascore(sample)), 2)
    whole = round(sacrebleu.corpus_bleu([answer], [[reference]]).score / 100, 2)
    print(f"{name}: {score:.2f} (sacrebleu {whole})")
    assert (score, whole) == expected, "this has changed"
    new = asyncio.run(NewBleuScore().ascore(response=answer, reference=reference)).value
    assert round(new, 2) == score, "this has changed"
PY
