#!/usr/bin/env bash
# openai 3.57.0 over its own aiohttp transport (aiohttp 3.14.5): good replies with long headers fail.
#
# A 200 whose header line has 9,000 bytes (a gateway's Content-Security-Policy), or which has 150
# headers, fails with aiohttp's own ClientResponseError, which is no error of the SDK, where the
# usual transport reads it. aiohttp's limits are 8,190 bytes a line and 128 headers; no option of
# DefaultAioHttpClient raises them.
# Seen: "usual: ok, aiohttp: ClientResponseError", twice. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'openai[aiohttp]==3.57.0' aiohttp==3.14.5
"$folder/venv/bin/python" - <<'PY'
import asyncio
import http.server
import json
import threading

from openai import AsyncOpenAI, DefaultAioHttpClient

BODY = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "ok"},
                "finish_reason": "stop",
            }
        ],
    }
).encode()
extra = {}


class Gateway(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        for name, value in extra.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(BODY)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/v1"


async def reply(**options):
    async with AsyncOpenAI(base_url=url, api_key="k", max_retries=0, **options) as client:
        try:
            answer = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}]
            )
        except Exception as error:
            return type(error).__name__
        return answer.choices[0].message.content


async def main():
    cases = {
        "9,000 bytes": {"X-Policy": "x" * 9000},
        "150 headers": {f"X-{n}": "y" for n in range(150)},
    }
    for name, headers in cases.items():
        extra.clear()
        extra.update(headers)
        usual = await reply()
        other = await reply(http_client=DefaultAioHttpClient())
        print(f"{name}: usual: {usual}, aiohttp: {other}")
        assert (usual, other) == ("ok", "ClientResponseError"), "this has changed"


asyncio.run(main())
PY
