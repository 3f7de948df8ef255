"""Ask a chat model, from its opening to its end."""

import asyncio
from collections.abc import Mapping, Sequence

from harness.old.chat import Endpoint, open_chat_model
from harness.old.records import Reply, Request


def replies_of(
    endpoint: Endpoint, requests: Sequence[Request], environ: Mapping[str, str] | None = None, *, in_turn: bool = False
) -> list[Reply]:
    """Return the replies of one model object, asked all at once or in turn."""

    async def scene() -> list[Reply]:
        model = open_chat_model(endpoint, environ=environ)
        try:
            if in_turn:
                return [await model.reply(request) for request in requests]
            return await asyncio.gather(*(model.reply(request) for request in requests))
        finally:
            await model.close()

    return asyncio.run(scene())
