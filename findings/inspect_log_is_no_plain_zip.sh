#!/usr/bin/env bash
# inspect_ai 0.3.285: a log, *.eval, is a zip that zipfile and unzip cannot open, and its JSON has NaN.
#
# Its members are compressed with Zstandard (method 93), which Python's zipfile knows from 3.14 on;
# inspect_ai teaches it to older ones by zipfile-zstd, without which every read of a member raises
# NotImplementedError. An unscored score is written as a bare NaN, which strict JSON parsers refuse.
# Seen: "method 93, plain zipfile: NotImplementedError", "score: NaN". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check inspect_ai==0.3.285
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
from inspect_ai.scorer import Score

spec = EvalSpec(created="2026-11-28T18:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig())
messages = [ChatMessageUser(content="2+2?"), ChatMessageAssistant(content="4")]
sample = EvalSample(id=1, epoch=1, input="2+2?", target="4", messages=messages, scores={"s": Score.unscored()})
write_eval_log(EvalLog(status="success", eval=spec, samples=[sample]), "a.eval")
PY
"$folder/venv/bin/python" -W ignore - <<'PY'
import sys
import zipfile

with zipfile.ZipFile("a.eval") as log:
    methods = {member.compress_type for member in log.infolist()}
    seen = "read"
    try:
        log.read("header.json")
    except NotImplementedError as error:
        seen = type(error).__name__
    print(f"method {methods.pop()}, plain zipfile: {seen}")
    assert seen == ("read" if sys.version_info >= (3, 14) else "NotImplementedError"), "this has changed"

import zipfile_zstd  # noqa: E402,F401

with zipfile.ZipFile("a.eval") as log:
    text = log.read("samples/1_epoch_1.json").decode()
assert '"value":NaN' in text, "this has changed"
print("score: NaN")
PY
