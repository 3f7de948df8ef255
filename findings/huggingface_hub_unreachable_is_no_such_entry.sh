#!/usr/bin/env bash
# huggingface_hub 2.4.0: a hub that does not answer is an EntryNotFoundError, as a missing file is.
#
# hf_hub_download raises LocalEntryNotFoundError where nothing listens at the address, after five
# retries with waits of some 20 seconds; that class is an EntryNotFoundError, which is also raised
# for a file that the data set does not have. Who catches that one first says "there is no such
# file" to everybody whose network is down. The narrower class must come first.
# Seen: "missing file: RemoteEntryNotFoundError", "no hub: LocalEntryNotFoundError",
# "both are EntryNotFoundError: True". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check huggingface_hub==2.4.0
HF_HOME="$folder/hf" "$folder/venv/bin/python" -W ignore - <<'PY' 2>/dev/null
import http.server
import threading

from huggingface_hub import errors, hf_hub_download


class Hub(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(404)
        self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("X-Repo-Commit", "0" * 40)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
there = f"http://127.0.0.1:{server.server_address[1]}"
closed = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
nowhere = f"http://127.0.0.1:{closed.server_address[1]}"
closed.server_close()
seen = []
for name, endpoint in (("missing file", there), ("no hub", nowhere)):
    try:
        hf_hub_download("me/talk", "a.json", repo_type="dataset", endpoint=endpoint, token=False)
    except Exception as error:
        seen.append(error)
        print(f"{name}: {type(error).__name__}")
both = all(isinstance(error, errors.EntryNotFoundError) for error in seen)
print("both are EntryNotFoundError:", both)
assert both and isinstance(seen[1], errors.LocalEntryNotFoundError), "this has changed"
PY
