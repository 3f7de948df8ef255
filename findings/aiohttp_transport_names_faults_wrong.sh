#!/usr/bin/env bash
# openai 3.57.0 over its own aiohttp transport (aiohttp 3.14.5): closed connections are "timeouts".
#
# DefaultAioHttpClient maps aiohttp's errors by a table in which every ClientConnectionError is
# ConnectTimeout, and a refused port and a server that closes are subclasses of it. So what is
# APIConnectionError over the usual transport is APITimeoutError over this one: who retries or
# reports by the SDK's class takes a dead address for a slow one. The cause's cause tells.
# Seen: for both faults "usual: APIConnectionError, aiohttp: APITimeoutError". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'openai[aiohttp]==3.57.0' aiohttp==3.14.5
"$folder/venv/bin/python" - <<'PY'
import asyncio
import socket
import threading

from openai import AsyncOpenAI, DefaultAioHttpClient

listener = socket.create_server(("127.0.0.1", 0))
unused = socket.create_server(("127.0.0.1", 0))
refused = unused.getsockname()[1]
unused.close()


def close_after_request():
    while True:
        connection, _ = listener.accept()
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        connection.shutdown(socket.SHUT_WR)
        connection.close()


threading.Thread(target=close_after_request, daemon=True).start()


async def fault(port, **options):
    url = f"http://127.0.0.1:{port}/v1"
    async with AsyncOpenAI(base_url=url, api_key="k", max_retries=0, **options) as client:
        try:
            await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}]
            )
        except Exception as error:
            return type(error).__name__
    return "none"


async def main():
    for name, port in (("refused", refused), ("closed", listener.getsockname()[1])):
        usual = await fault(port)
        other = await fault(port, http_client=DefaultAioHttpClient())
        print(f"{name}: usual: {usual}, aiohttp: {other}")
        assert (usual, other) == ("APIConnectionError", "APITimeoutError"), "this has changed"


asyncio.run(main())
PY
