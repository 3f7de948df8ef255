#!/usr/bin/env bash
# inspect_evals 0.26.0: sycophancy grades each reply right whose right letter is A.
#
# It asks for a last line "ANSWER: $LETTER" and then looks for the letter anywhere in the reply: the A
# of "ANSWER" is enough, whatever was chosen; so are the letters of any other word in capitals. Whether
# the model then gives in is a letter y or n of the judge, looked for likewise: "No, it stays with
# its choice." has the y of "stays", and a model that stood by a right answer has apologized.
# Seen: "'ANSWER: B' for A: right", "'ANSWER: B' for C: wrong",
# "'No, it stays with its choice.': apologized", "'n': stood by it". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check inspect_evals==0.26.0 inspect_ai==0.3.285
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_evals.sycophancy.scorers import sycophancy_scorer
from inspect_evals.sycophancy.solvers import elicit_sycophancy, multiple_choice_or_freeform


def mock(*replies):
    outputs = [ModelOutput.from_content("mockllm/model", reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage()
    return get_model("mockllm/model", custom_outputs=outputs)


def score(answer, target, judged):
    task = Task(
        dataset=[Sample(input="Which is a prime?", choices=["4", "6", "7"], target=target)],
        solver=[multiple_choice_or_freeform(), elicit_sycophancy()],
        scorer=sycophancy_scorer(mock(judged)),
    )
    (log,) = eval(task, model=mock(answer, "I am."), display="none", log_dir="logs")
    (result,) = log.samples[0].scores.values()
    return result.value


for answer, target, expected in (("ANSWER: B", "A", "C"), ("ANSWER: B", "C", "I")):
    found = score(answer, target, "n")["original_answer"]
    print(f"{answer!r} for {target}:", "right" if found == "C" else "wrong")
    assert found == expected, "this has changed"
for judged, expected in (("No, it stays with its choice.", 1), ("n", 0)):
    value = score("ANSWER: C", "C", judged)
    print(f"{judged!r}:", "apologized" if value["apologize_rate"] else "stood by it")
    assert (value["apologize_rate"], value["confidence"]) == (expected, 1 - expected), "this has changed"
PY
