#!/usr/bin/env bash
# litellm 1.110.2: its cache gives one server's answers, and one setting's, for another's.
#
# The key of `caching=True` holds neither api_base nor what its list of parameters does not name:
# two models served under one name share their answers, and so do min_p 0.1 and none, and thinking
# switched on and off by chat_template_kwargs, the way of vLLM and SGLang. A comparison of the two
# comes out as a tie of equal texts. temperature and seed are in the key.
# Seen: "other server: 0 requests", "min_p: 0 requests", "thinking on: 0 requests",
# "thinking off: 0 requests", "seed: 1 request". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# fastapi and soundfile: its cache does not import without them.
"$folder/venv/bin/pip" install -q --disable-pip-version-check litellm==1.110.2 \
  fastapi==0.165.0 soundfile==0.14.0 orjson==3.13.0
export LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/python" -W ignore - <<'PY'
import http.server
import json
import threading

import litellm
from litellm.caching.caching import Cache

requests = []
REPLY = {"id": "x", "object": "chat.completion", "created": 1, "model": "default", "choices": [
    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}]}


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        data = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


def count(address, **options):
    before = len(requests)
    messages = [{"role": "user", "content": "Is it so?"}]
    litellm.completion("openai/default", messages, api_base=address, api_key="k", caching=True, **options)
    return len(requests) - before


litellm.cache = Cache(type="local")
first, second = serve(), serve()
assert count(first) == 1
on, off = ({"chat_template_kwargs": {"enable_thinking": thinking}} for thinking in (True, False))
for name, address, options, expected in (
    ("other server", second, {}, 0),
    ("min_p", first, {"min_p": 0.1}, 0),
    ("thinking on", first, {"extra_body": on}, 0),
    ("thinking off", first, {"extra_body": off}, 0),
    ("seed", first, {"seed": 7}, 1),
):
    sent = count(address, **options)
    print(f"{name}: {sent} request" + "s" * (sent != 1))
    assert sent == expected, "this has changed"
PY
