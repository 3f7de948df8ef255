#!/usr/bin/env bash
# ollama 0.6.3: Options(min_p=0.1) is sent as no option at all.
#
# The class lacks options that the server has (min_p) and drops what it does not know without an error,
# misspelled names as well: the model is sampled as if nothing had been said, and the run's record of
# its own settings is wrong. The same names in a plain dict are sent.
# Seen: "Options: temperature", "dict: min_p, temperature". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check ollama==0.6.3
"$folder/venv/bin/python" -W error - <<'PY'
import http.server
import json
import threading

import ollama

bodies = []


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        message = {"role": "assistant", "content": "yes"}
        reply = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = ollama.Client(host=f"http://127.0.0.1:{server.server_address[1]}")
asked = {"min_p": 0.1, "temperature": 0.7}
for options, expected in ((ollama.Options(**asked), ["temperature"]), (asked, ["min_p", "temperature"])):
    client.chat("m", messages=[{"role": "user", "content": "Is it so?"}], options=options)
    sent = sorted(bodies[-1]["options"])
    print(f"{type(options).__name__}:", ", ".join(sent))
    assert sent == expected, "this has changed"
PY
