#!/usr/bin/env bash
# llama-index-core 0.14.25: of a tie and a win in the turned order, the loser gets the point.
#
# PairwiseComparisonEvaluator asks twice, the second time with the answers exchanged. If the first
# round is a tie and the second names the first place, the second answer won 1.5 to 0.5: the result is
# the second round's own, with score 1.0 and passing True, which mean the first answer in every other
# case; only pairwise_source says FLIPPED. And a reply is A as soon as [[A]] stands in it anywhere.
# Seen: "[[C]] [[A]] (the second won): 1.0", "[[B]] [[C]] (the second won): 0.0",
# "'I would not say [[A]]: [[B]]': 1.0". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check llama-index-core==0.14.25
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
from llama_index.core.evaluation import PairwiseComparisonEvaluator
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata


class Judge(CustomLLM):
    replies: list[str]

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **_):
        return CompletionResponse(text=self.replies.pop(0))

    def stream_complete(self, prompt, formatted=False, **_):
        raise NotImplementedError


def judge(*replies, **options):
    evaluator = PairwiseComparisonEvaluator(llm=Judge(replies=list(replies)), **options)
    return evaluator.evaluate(query="q", response="the first", second_response="the second")


for replies, winner, score in (
    (("[[C]]", "[[A]]"), "the second", 1.0),
    (("[[B]]", "[[C]]"), "the second", 0.0),
    (("[[C]]", "[[B]]"), "the first", 0.0),
    (("[[A]]", "[[C]]"), "the first", 1.0),
):
    result = judge(*replies)
    print(*replies, f"({winner} won): {result.score}, passing {result.passing}")
    assert (result.score, result.passing) == (score, bool(score)), "this has changed"
both = judge("I would not say [[A]]: [[B]]", enforce_consensus=False)
print(f"'I would not say [[A]]: [[B]]': {both.score}")
assert both.score == 1.0, "this has changed"
PY
