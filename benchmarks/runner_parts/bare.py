"""The smallest asyncio clients: what a library costs when nothing is recorded, checked or tried again.

    python -m benchmarks.runner_parts.bare openai-aiohttp URL CALLS.jsonl PARALLEL [--turns 2]

CALLS.jsonl holds the bodies of the requests to make, one a line. With `--turns 2` each is followed up once, by the same
worker: one worker for each conversation.
"""

import argparse
import asyncio
import json
import pathlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[str]]
CLIENTS = (
    "openai-aiohttp",
    "openai",
    "openai-aiohttp-post",
    "anthropic-aiohttp",
    "aiohttp",
    "socket",
)

Work: TypeAlias = Callable[[Send], Awaitable[None]]


async def openai_client(url: str, work: Work, *, aio: bool, low: bool) -> None:
    """Work with OpenAI's SDK, on its aiohttp transport or not; `low`: through `post`, which makes no objects."""
    import openai

    transport = openai.DefaultAioHttpClient() if aio else None
    async with openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="none", max_retries=0, http_client=transport
    ) as client:

        async def send(body: dict[str, Any]) -> str:
            reply = await client.chat.completions.create(**body)
            return str(reply.choices[0].message.content)

        async def post(body: dict[str, Any]) -> str:
            reply: Any = await client.post("/chat/completions", cast_to=object, body=body)
            return str(reply["choices"][0]["message"]["content"])

        await work(post if low else send)


async def anthropic_client(url: str, work: Work) -> None:
    """Work with Anthropic's SDK on its aiohttp transport."""
    import anthropic

    transport = anthropic.DefaultAioHttpClient()
    async with anthropic.AsyncAnthropic(
        base_url=url, api_key="none", max_retries=0, http_client=transport
    ) as client:

        async def send(body: dict[str, Any]) -> str:
            users = [message for message in body["messages"] if message["role"] != "system"]
            reply = await client.messages.create(
                model=body["model"], max_tokens=body["max_tokens"], messages=users
            )
            return "".join(block.text for block in reply.content if block.type == "text")

        await work(send)


async def aiohttp_client(url: str, work: Work) -> None:
    """Work with aiohttp and no SDK."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send(body: dict[str, Any]) -> str:
            async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                return str((await response.json())["choices"][0]["message"]["content"])

        await work(send)


async def socket_client(url: str, work: Work) -> None:
    """Work with bare sockets, which shows what the server itself can do."""
    host, _, port = url.removeprefix("http://").partition(":")
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(body: dict[str, Any]) -> str:
        reader, writer = free.pop() if free else await asyncio.open_connection(host, int(port))
        writer.write(body["raw"])
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.rpartition(b": ")[2]))
        free.append((reader, writer))
        return ""

    await work(send)


async def run(
    client: str, url: str, bodies: list[dict[str, Any]], parallel: int, turns: int
) -> None:
    """Make all calls, `parallel` at once."""
    calls = iter(bodies)

    async def worker(send: Send) -> None:
        for body in calls:
            text = await send(body)
            for turn in range(2, turns + 1):
                follow_up = body["messages"][-1]["content"].replace("-1", f"-{turn}")
                said = {"role": "assistant", "content": text}
                body["messages"] = [*body["messages"], said, {"role": "user", "content": follow_up}]
                text = await send(body)

    async def work(send: Send) -> None:
        await asyncio.gather(*(worker(send) for _ in range(parallel)))

    if client == "anthropic-aiohttp":
        await anthropic_client(url, work)
    elif client == "aiohttp":
        await aiohttp_client(url, work)
    elif client == "socket":
        await socket_client(url, work)
    else:
        await openai_client(url, work, aio="aiohttp" in client, low=client.endswith("post"))


def raw_request(line: bytes) -> dict[str, Any]:
    """Return a request ready to be written to a socket."""
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n" % len(
        line
    )
    return {"raw": head + line}


def main() -> None:
    """Read the calls and make them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("url")
    parser.add_argument("calls", type=pathlib.Path)
    parser.add_argument("parallel", type=int)
    parser.add_argument("--turns", type=int, default=1)
    args = parser.parse_args()
    lines = args.calls.read_bytes().splitlines()
    bodies = [raw_request(line) if args.client == "socket" else json.loads(line) for line in lines]
    asyncio.run(run(args.client, args.url, bodies, args.parallel, args.turns))


if __name__ == "__main__":
    main()
