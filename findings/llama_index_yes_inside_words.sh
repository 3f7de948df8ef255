#!/usr/bin/env bash
# llama-index-core 0.14.25: a judge's "NO, it speaks of his eyes." is a yes.
#
# FaithfulnessEvaluator and RelevancyEvaluator ask for YES or NO and look for "yes" in any place of the
# reply: "eyes" and "yesterday" pass, with score 1.0, and so does "NO. A yes would need a source". Only
# replies without the three letters fail, so that a judge who explains itself is the milder one.
# Seen: "NO, it speaks of his eyes.: 1.0, 1.0", "NO: 0.0, 0.0", "YES: 1.0, 1.0". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check llama-index-core==0.14.25
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
from llama_index.core.evaluation import FaithfulnessEvaluator, RelevancyEvaluator
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata


class Judge(CustomLLM):
    reply: str

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **_):
        return CompletionResponse(text=self.reply)

    def stream_complete(self, prompt, formatted=False, **_):
        raise NotImplementedError


for reply, expected in (("NO, it speaks of his eyes.", 1.0), ("NO", 0.0), ("YES", 1.0)):
    scores = [
        kind(llm=Judge(reply=reply))
        .evaluate(query="Of what color is his hair?", response="Red.", contexts=["His eyes are blue."])
        .score
        for kind in (FaithfulnessEvaluator, RelevancyEvaluator)
    ]
    print(f"{reply}:", ", ".join(map(str, scores)))
    assert scores == [expected, expected], "this has changed"
PY
