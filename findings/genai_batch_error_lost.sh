#!/usr/bin/env bash
# google-genai 3.6.1: why a Gemini batch failed cannot be told.
#
# The service answers a failed batch with `error: {code, message}`. The SDK's BatchJob has a field
# `error`, and for the Gemini API it is always None: the conversion leaves the field out. A list of
# another shape (`["odd"]`) reads as a list without batches.
# Seen: "JOB_STATE_FAILED error: None", "a list of another shape: 0 batches". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check google-genai==3.6.1
"$folder/venv/bin/python" - <<'PY'
import http.server
import json
import threading

from google.genai import Client, types

answer = b""


class Service(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}"
client = Client(api_key="k", http_options=types.HttpOptions(base_url=url))
job = {
    "name": "batches/x",
    "metadata": {"displayName": "d", "state": "BATCH_STATE_FAILED"},
    "error": {"code": 3, "message": "the model is retired"},
}
answer = json.dumps({"operations": [job]}).encode()
(failed,) = client.batches.list()
print(failed.state.name, "error:", failed.error)
answer = b'["odd"]'
others = list(client.batches.list())
print("a list of another shape:", len(others), "batches")
assert failed.error is None, "this has changed"
assert others == [], "this has changed"
PY
