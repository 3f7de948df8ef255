"""`builtin/reference`: replies with the reference answer, the ceiling of what a judge that knows it can find."""

import asyncio
import time

from harness.chat.builtin.conversation import close_reply, conversation
from harness.chat.builtin.outline import Outline, outline
from harness.records import Reply, Request


class Reference:
    """Replies with the reference; where a question has none, with what `builtin/outline` says, and notes it."""

    name = "builtin/reference"

    async def reply(self, request: Request) -> Reply:
        """Return the reference answer's text for this turn."""
        await asyncio.sleep(0)
        started = time.perf_counter()
        facts = request.facts
        if facts and facts.reference and len(facts.reference) >= facts.turn:
            return close_reply(facts.reference[facts.turn - 1], request, self.name, started)
        note = f"no reference answer for this turn: answered as {Outline.name}"
        return close_reply(outline(conversation(request)), request, self.name, started, note)

    async def close(self) -> None:
        """Do nothing: there is no connection."""
