"""A provider that no SDK knows: it takes a note by plain HTTP and answers with one. Here to be added to the table.

POST /notes  {"note": "Hello?", "by": "user"}     201  {"note": "4", "words": 1}
"""

import asyncio
import contextlib
import json

from harness.old.chat.endpoint import Endpoint
from harness.old.chat.faults import fault_of_status
from harness.old.chat.services import Service
from harness.old.errors import TransientError
from harness.old.records import Reply, Request, Usage


class Notes:
    """A chat model that keeps the protocol of `ChatModel` and has nothing else in common with the others."""

    def __init__(self, endpoint: Endpoint, key: str | None, address: str) -> None:
        self.name = endpoint.name
        self.endpoint = endpoint
        self._key = key
        self._host, _, self._port = address.removeprefix("http://").partition(":")

    async def reply(self, request: Request) -> Reply:
        """Return the note that comes back."""
        note = json.dumps({"note": request.messages[-1].content, "by": request.messages[-1].role}).encode()
        head = f"POST /notes HTTP/1.0\r\nx-pass: {self._key}\r\ncontent-length: {len(note)}\r\n\r\n"
        try:
            reader, writer = await asyncio.open_connection(self._host, int(self._port))
            with contextlib.closing(writer):
                writer.write(head.encode() + note)
                answer = await reader.read()
        except OSError as error:
            raise TransientError(f"{self.name}: cannot connect", kind="no connection", connected=False) from error
        first, _, body = answer.partition(b"\r\n\r\n")
        status, said = int(first.split()[1]), json.loads(body)
        if status != 201:
            raise fault_of_status(status, said, self.endpoint, secrets=[self._key or ""])
        return Reply(said["note"], finish_reason="stop", usage=Usage(completion_tokens=said["words"]))

    async def close(self) -> None:
        """There is nothing to release."""


SERVICE = Service(
    title="Notes",
    prefixes=("note-",),
    examples=("note-taker",),
    key_variable="NOTES_PASS",
    url_variable="NOTES_ADDRESS",
    open=Notes,
)
