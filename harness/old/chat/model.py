"""The protocol between chat models and the rest of the harness: a request goes in, a reply or an error comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from harness.old.chat.endpoint import Endpoint
from harness.old.records import Reply, Request


class ChatModel(Protocol):
    """Anything that turns messages into a reply.

    `reply` makes one attempt (plus a repaired one for each parameter that the model does not accept) and never
    retries: what to retry, and when, is decided in `harness.old.running`. One instance serves many concurrent
    calls inside one event loop. A remote model also has `endpoint` (with limits and prices) and `standing`, the
    remaining limits in the headers of its replies; a chat model without them runs in this process. One that can also
    be opened in another process has `origin`.
    """

    name: str
    """The name that the user gave; answers and judgments are filed under it."""

    async def reply(self, request: Request) -> Reply:
        """Return the model's reply.

        Raises:
            TransientError: the call failed, a later one may not (rate limit, outage, timeout, cut or malformed body).
            EndpointError: no call can succeed (key refused, model unknown).
            ChatError: this request would fail again (bad request, context too long, content filter).
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


@dataclass(frozen=True, slots=True)
class Origin:
    """What another process needs to open the same chat model, and what calls have found out so far; never a key."""

    endpoint: Endpoint
    address: str | None = None
    """Where the protocol was found to be spoken."""
    changes: Mapping[str, str | None] = field(default_factory=dict)
    """Parameters that were refused, with the other name (None: left out)."""
    heard: bool = False
    """Whether the server has ever answered."""
