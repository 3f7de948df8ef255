"""Connections that ask nothing are closed: uvicorn does so between requests, but not before the first or within one."""

import asyncio
from typing import Any


def ending_idle(protocol: Any, seconds: float) -> Any:
    """Return uvicorn's protocol class, changed to close a connection that is idle for this long.

    Args:
        protocol: the class whose objects each serve one connection.
        seconds: how often it is looked at; a request that arrives slower than two looks apart is not awaited.
    """

    class EndingIdle(protocol):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._look: asyncio.TimerHandle | None = None
            self._look_again(None)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._look is not None:
                self._look.cancel()

        def _look_again(self, last: Any) -> None:
            """Close the connection if since the last look no request came and none is being answered."""
            idle = self.cycle is None or self.cycle.response_complete
            if self._look is not None and idle and self.cycle is last:
                self.transport.abort()
                return
            self._look = asyncio.get_running_loop().call_later(seconds, self._look_again, self.cycle)

    return EndingIdle
