#!/usr/bin/env bash
# fschat 0.2.36: an empty earlier reply glues two turns together in a conversation's prompt.
#
# The templates ask `if message:`, so a reply "" (a refusal, a reply that was all reasoning) is
# written as if it were the place where the model is to continue: without separator or end of
# text. In `vicuna_v1.1` the next turn then begins inside the assistant's, and in `one_shot` it
# loses its "### " too. The model sees a turn that it never made.
# Seen: "ASSISTANT:USER: more", "### Assistant:Human: more". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check fschat==0.2.36
"$folder/venv/bin/python" - <<'PY'
from fastchat.conversation import get_conv_template


def end_of_prompt(name):
    template = get_conv_template(name)
    user, assistant = template.roles
    for role, text in ((user, "hi"), (assistant, ""), (user, "more"), (assistant, None)):
        template.append_message(role, text)
    return template.get_prompt().partition("hi")[2][-60:]


expected = {"vicuna_v1.1": "ASSISTANT:USER: more", "one_shot": "### Assistant:Human: more"}
for name, glued in expected.items():
    end = end_of_prompt(name)
    print(f"{name}: {end!r}")
    assert glued in end, "this has changed"
PY
