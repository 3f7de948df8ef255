#!/usr/bin/env bash
# google-genai 3.6.1 with aiohttp 3.14.5: a batch whose creation gets no answer is created twice.
#
# The SDK's async client sends a POST once more, unasked, if the connection closes before the answer
# ("implicit retry"); a batch job that had arrived is then created, and paid, a second time. aiohttp
# is installed with the SDK, so this is what everybody has. With an httpx client of one's own the
# request is sent once.
# Seen: "sdk's own client: 2 requests", "httpx client handed in: 1 request". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check google-genai==3.6.1 aiohttp==3.14.5 httpx2==2.16.2
"$folder/venv/bin/python" - <<'PY'
import asyncio
import http.server
import socket
import threading

import httpx2
from google.genai import Client, types

requests = []


class Closing(http.server.BaseHTTPRequestHandler):
    """Takes the request and closes: the work is done, its answer is lost."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        requests.append(self.path)
        self.connection.shutdown(socket.SHUT_RDWR)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Closing)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}"


async def create(**options):
    requests.clear()
    client = Client(api_key="k", http_options=types.HttpOptions(base_url=url, **options))
    try:
        await client.aio.batches.create(model="m", src=[{"contents": "hi"}])
    except Exception as error:
        return len(requests), type(error).__name__
    raise SystemExit("an answer came from a server that gives none")


own = asyncio.run(create())
handed_in = asyncio.run(create(httpx_async_client=httpx2.AsyncClient()))
print("sdk's own client:", own[0], "requests, then", own[1])
print("httpx client handed in:", handed_in[0], "request, then", handed_in[1])
assert (own[0], handed_in[0]) == (2, 1), "this has changed"
PY
