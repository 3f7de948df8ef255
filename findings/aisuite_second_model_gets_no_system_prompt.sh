#!/usr/bin/env bash
# aisuite 0.2.0: asking two Anthropic models with one list of messages, only the first sees the system prompt.
#
# Its Anthropic provider takes the system message out of the caller's own list (`messages.pop(0)`).
# In a loop over models, what the package is for, the second model is asked another question. Of a
# reply in several text blocks (as with citations) only the first is returned, and every stop reason
# that it does not know is "stop": a refusal, and a reply cut off by the context window.
# Seen: "one: system 'Be brief.', reply 'The capital is '", "two: system []", "refusal: stop",
# "model_context_window_exceeded: stop". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check aisuite==0.2.0 anthropic==2.14.0
"$folder/venv/bin/python" -W ignore - <<'PY'
import http.server
import json
import threading

import aisuite

bodies = []
stop_reason = "end_turn"


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        content = [{"type": "text", "text": text} for text in ("The capital is ", "Paris.")]
        data = json.dumps({"id": "m", "type": "message", "role": "assistant", "model": "m",
                           "content": content, "stop_reason": stop_reason, "stop_sequence": None,
                           "usage": {"input_tokens": 9, "output_tokens": 5}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}"
client = aisuite.Client({"anthropic": {"api_key": "k", "base_url": address}})
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "The capital of France?"}]
for name in ("one", "two"):
    reply = client.chat.completions.create(model=f"anthropic:{name}", messages=messages).choices[0]
    print(f"{name}: system {bodies[-1]['system']!r}, reply {reply.message.content!r}")
    assert reply.message.content == "The capital is ", "this has changed"
assert [body["system"] for body in bodies] == ["Be brief.", []], "this has changed"
for stop_reason in ("refusal", "model_context_window_exceeded"):
    reply = client.chat.completions.create(model="anthropic:one", messages=messages).choices[0]
    print(f"{stop_reason}: {reply.finish_reason}")
    assert reply.finish_reason == "stop", "this has changed"
PY
