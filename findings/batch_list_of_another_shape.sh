#!/usr/bin/env bash
# openai 3.57.0 and anthropic 2.14.0: an answer that is no list of batches reads as an empty list.
#
# Whoever looks in the list for a batch whose submission got no answer decides by it whether to
# submit, and pay, again. On `{}` (a gateway's idea of an empty answer) both SDKs yield no batch and
# raise nothing; on an HTML page both raise AttributeError, which is no error class of theirs; and
# openai's `batches.retrieve` returns the page itself, as a str.
# Seen: "{}: 0 0", "page: AttributeError AttributeError", "retrieve: str". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check openai==3.57.0 anthropic==2.14.0
"$folder/venv/bin/python" - <<'PY'
import http.server
import threading

import anthropic
import openai

answer = (b"{}", "application/json")


class Gateway(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        body, kind = answer
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}"
first = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
second = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
lists = (lambda: list(first.batches.list()), lambda: list(second.messages.batches.list()))


def outcome(call):
    try:
        return len(call())
    except Exception as error:
        return type(error).__name__


empty = [outcome(call) for call in lists]
answer = (b"<html>Sign in</html>", "text/html")
page = [outcome(call) for call in lists]
retrieved = type(first.batches.retrieve("b")).__name__
print("{}:", *empty)
print("page:", *page)
print("retrieve:", retrieved)
assert empty == [0, 0], "this has changed"
assert page == ["AttributeError", "AttributeError"], "this has changed"
assert retrieved == "str", "this has changed"
PY
