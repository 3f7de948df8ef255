#!/usr/bin/env bash
# prometheus-eval 0.1.20: an asynchronous judge is asked without the parameters that were given.
#
# `absolute_grade(params={"temperature": 0, …})` sends them through LiteLLM; AsyncLiteLLM, the
# way to grade many, takes and drops them: the judge answers at its own default temperature, however
# long. Its parser wants the score at the very end, so "[RESULT] 4." is asked again up to ten times;
# and "Result: A" on a line of its own in the reasoning wins over the verdict at the end.
# Seen: "LiteLLM sent max_tokens, seed, temperature", "AsyncLiteLLM sent nothing",
# "'[RESULT] 4.': None", "B at the end, A before: A". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check prometheus-eval==0.1.20 litellm==1.110.2
OPENAI_API_KEY=k LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import contextlib
import http.server
import io
import json
import threading

from prometheus_eval import PrometheusEval
from prometheus_eval.litellm import AsyncLiteLLM, LiteLLM
from prometheus_eval.parser import parse_output

bodies = []
REPLY = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Good. [RESULT] 4"}}]}


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        data = json.dumps(REPLY).encode()
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
asked = {"temperature": 0, "max_tokens": 50, "seed": 7}
for kind, expected in ((LiteLLM, asked), (AsyncLiteLLM, {})):
    judge = PrometheusEval(model=kind("openai/judge", api_base=address))
    with contextlib.redirect_stdout(io.StringIO()):
        _, scores = judge.absolute_grade(
            instructions=["q"], responses=["a"], rubric="r", reference_answers=[None], params=asked
        )
    sent = {name: value for name, value in bodies[-1].items() if name in asked}
    print(kind.__name__, "sent", ", ".join(sorted(sent)) or "nothing")
    assert (sent, scores) == (expected, [4]), "this has changed"
_, dotted = parse_output("Good. [RESULT] 4.", "absolute")
_, first = parse_output("I thought of\nResult: A\nbut on reflection: [RESULT] B", "relative")
print(f"'[RESULT] 4.': {dotted}; B at the end, A before: {first}")
assert (dotted, first) == (None, "A"), "this has changed"
PY
