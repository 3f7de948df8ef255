#!/usr/bin/env bash
# deepeval 4.3.1: G-Eval gives an answer between 9 and 10 a 5.8, where a judge writes 10 as 1 and 0.
#
# The score is weighted with the probabilities of the other numbers at the score's first token. For
# judges that write numbers digit by digit (Qwen, Gemma, Mistral), a 1 there is the start of 10, and is
# counted as the score 1: the more the judge leans to the best, the more it takes away. Judges with a
# token "10" get 9.4 for the same doubt; for a 10 in two tokens the score is left as it is.
# Seen: "9 (60%) or 10 (40%) in digits: 0.58", "9 (60%) or 10 (40%) in one token: 0.94",
# "10 (60%) or 9 (40%) in digits: 1.00". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check deepeval==4.3.1
cd "$folder"
export DEEPEVAL_TELEMETRY_OPT_OUT=YES
"$folder/venv/bin/python" -W ignore - <<'PY'
import http.server
import json
import math
import threading

from deepeval.metrics import GEval
from deepeval.models import OpenRouterModel
from deepeval.test_case import LLMTestCase, SingleTurnParams

score, options = [], {}


def tokens():
    for text in ('{"reason": "', "fine", '", "score": ', *score, "}"):
        top = options if text == score[0] else {text: 1.0}
        top = [{"token": t, "bytes": None, "logprob": math.log(p)} for t, p in top.items()]
        yield top[0] | {"token": text, "top_logprobs": top}


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        content = list(tokens())
        message = {"role": "assistant", "content": "".join(each["token"] for each in content)}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": content}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
        data = json.dumps(reply | {"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}/v1"
judge = OpenRouterModel("qwen/qwen3-32b", api_key="k", base_url=address)
for name, said, probabilities, expected in (
    ("9 (60%) or 10 (40%) in digits", ["9"], {"9": 0.6, "1": 0.4}, 0.58),
    ("9 (60%) or 10 (40%) in one token", ["9"], {"9": 0.6, "10": 0.4}, 0.94),
    ("10 (60%) or 9 (40%) in digits", ["1", "0"], {"1": 0.6, "9": 0.4}, 1.0),
):
    score, options = said, probabilities
    metric = GEval(
        name="Correctness",
        evaluation_steps=["Check whether the answer is correct."],
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
        model=judge,
        async_mode=False,
    )
    metric.measure(LLMTestCase(input="2 + 2?", actual_output="4"), _show_indicator=False)
    print(f"{name}: {metric.score:.2f}")
    assert round(metric.score, 2) == expected, "this has changed"
PY
