#!/usr/bin/env bash
# anthropic 2.14.0: of a batch's results everything after a line that is no JSON is lost.
#
# `messages.batches.results` decodes line by line; json.JSONDecodeError at the first damaged line
# ends the iteration, and the whole results behind it cannot be reached by the SDK.
# Seen: "got ['first'] of first, third; then JSONDecodeError". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check anthropic==2.14.0
"$folder/venv/bin/python" - <<'PY'
import http.server
import json
import threading

import anthropic

URL = ""


def result(name):
    return json.dumps({"custom_id": name, "result": {"type": "canceled"}})


RESULTS = "\n".join([result("first"), result("second")[:-9], result("third"), ""])


class Service(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        batch = {
            "id": "b",
            "type": "message_batch",
            "processing_status": "ended",
            "request_counts": {},
            "results_url": f"{URL}/v1/messages/batches/b/results",
        }
        text = RESULTS if self.path.endswith("/results") else json.dumps(batch)
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-jsonl")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_address[1]}"
client = anthropic.Anthropic(base_url=URL, api_key="k", max_retries=0)
got, fault = [], "nothing"
try:
    for line in client.messages.batches.results("b"):
        got.append(line.custom_id)
except Exception as error:
    fault = type(error).__name__
print("got", got, "of first, third; then", fault)
assert (got, fault) == (["first"], "JSONDecodeError"), "this has changed"
PY
