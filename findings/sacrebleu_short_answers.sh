#!/usr/bin/env bash
# sacrebleu 2.6.0: corpus_bleu of short answers that are all identical to their references is 0.
#
# Without n-grams of length 4 anywhere in the corpus the geometric mean is 0, whatever agrees.
# sentence_bleu of the same text is 100, since it uses the "effective order" by default and
# corpus_bleu does not. A set of one-word answers (names, labels, numbers) therefore scores 0 as a
# corpus and 100 as the mean of its sentences.
# Seen: "corpus: 0.0, sentences: 100.0". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check sacrebleu==2.6.0
"$folder/venv/bin/python" - <<'PY'
import sacrebleu

answers = ["Paris", "Lake Balaton", "in 1873"]
corpus = sacrebleu.corpus_bleu(answers, [answers]).score
sentences = sum(sacrebleu.sentence_bleu(text, [text]).score for text in answers) / len(answers)
print(f"corpus: {corpus:.1f}, sentences: {sentences:.1f}")
assert (round(corpus, 6), round(sentences, 6)) == (0, 100), "this has changed"
PY
