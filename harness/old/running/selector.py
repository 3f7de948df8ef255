"""Ready sockets, a few at a time: the next request is sent before the last of many replies has been read.

An event loop handles everything that is ready in one round, step by step: of 64 simultaneous replies all are read,
then all are parsed, and only then are new requests sent. The endpoint waits during all of that, and since requests
sent together are answered together, this repeats. In portions of four, a reply is read, handled and followed
by the next request before the others are read:

    all at once     read read read read   parse parse parse parse   send send send send
    in portions     read parse send   read parse send   read parse send   read parse send
"""

import asyncio
import selectors
from collections import deque

AT_ONCE = 4
"""Sockets in a round of the loop."""
BUSY = 512
"""Sockets after which a loop that never had to wait hands out all that is ready: the processor is the limit then, not
the endpoint, and it does more of what it does in a row."""


class FewAtOnce(selectors.DefaultSelector):
    """The platform's selector, which hands out what is ready in portions, first come, first served."""

    def __init__(self) -> None:
        super().__init__()
        self._left: deque[tuple[selectors.SelectorKey, int]] = deque()
        self._since_pause = 0
        """Sockets that were ready since the loop last had nothing to do."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return a few sockets that are ready, with what for; the system is asked again when all were handed out."""
        if not self._left:
            ready = super().select(0)
            if not ready and timeout != 0:
                self._since_pause = 0
                ready = super().select(timeout)
            self._since_pause += len(ready)
            if len(ready) <= AT_ONCE or self._since_pause > BUSY:
                return ready
            self._left.extend(ready)
        portion: list[tuple[selectors.SelectorKey, int]] = []
        registered = self.get_map()
        while self._left and len(portion) < AT_ONCE:
            key, events = self._left.popleft()
            now = registered.get(key.fileobj)  # it may have been closed, or be watched for something else by now
            if now is not None and now.events & events:
                portion.append((now, now.events & events))
        return portion


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop that deals with replies a few at a time."""
    return asyncio.SelectorEventLoop(FewAtOnce())
