#!/usr/bin/env bash
# dspy 3.4.1: a second server's model gets the first one's answers from the cache.
#
# The cache, on by default and kept on disk for later runs, leaves api_base out of its key. Two
# checkpoints served under one name (servers of a single model are often asked for "default") at two
# ports, or one after the other at one, are the same model to it: the second is never asked, and gets
# the first one's score without a word. With cache=False it is asked.
# Seen: "first server: 'I am A', 1 request", "second server: 'I am A', 0 requests",
# "second server, cache=False: 'I am B', 1 request". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check dspy==3.4.1 litellm==1.110.2
export DSPY_CACHEDIR="$folder/cache" LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/python" -W ignore - <<'PY'
import http.server
import json
import threading

import dspy


def serve(answer):
    requests = []

    class Service(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            message = {"role": "assistant", "content": answer}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "default"}
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
    return f"http://127.0.0.1:{server.server_address[1]}/v1", requests


first, second = serve("I am A"), serve("I am B")
for name, (address, requests), options, expected in (
    ("first server", first, {}, ("I am A", 1)),
    ("second server", second, {}, ("I am A", 0)),
    ("second server, cache=False", second, {"cache": False}, ("I am B", 1)),
):
    (answer,) = dspy.LM("openai/default", api_base=address, api_key="k", **options)("Who are you?")
    print(f"{name}: {answer!r}, {len(requests)} request" + "s" * (len(requests) != 1))
    assert (answer, len(requests)) == expected, "this has changed"
PY
