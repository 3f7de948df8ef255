"""The worker's side of calls made elsewhere: a desk opens the chat models sent to it, and answers requests.

A desk knows no queue, no limit and no file: it makes one call for each request and returns the reply or the error.
Keys are never sent to it: it reads them, as the commands do, from the environment of its own process.
"""

import logging.handlers
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.old.chat import ChatModel, open_chat_model
from harness.old.chat.model import Origin
from harness.old.errors import TurnbenchError
from harness.old.records import Reply, Request

MOST_SAID = 1000
"""Warnings that are kept until the next reply."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one call."""

    outcome: Reply | Exception
    allowances: Mapping[str, tuple[float, float]] | None
    """The endpoint's remaining limits, and for how many seconds; None: nothing new."""
    said: tuple[str, ...]
    """Warnings since the last call."""
    used: float
    """Seconds of the processor that the desk's process has used so far."""


class Desk:
    """Some chat models, each by its place in a list."""

    def __init__(self, origins: Sequence[Origin]) -> None:
        """Open the chat models.

        Raises:
            TurnbenchError: a key, a package or a folder of weights is not there.
        """
        self._listener = logging.handlers.BufferingHandler(MOST_SAID)
        """Keeps warnings until the next reply is sent."""
        self._listener.setLevel(logging.WARNING)
        log = logging.getLogger("turnbench")
        log.addHandler(self._listener)
        log.propagate = False
        self._models: list[ChatModel] = [_opened(origin) for origin in origins]
        self._noted = [0] * len(self._models)

    async def answer(self, place: int, request: Request) -> Answered:
        """Make one call."""
        outcome: Reply | Exception
        try:
            outcome = await self._models[place].reply(request)
        except TurnbenchError as error:
            outcome = error
        except Exception as error:  # an SDK's may hold the request, key included, and is not sent on
            outcome = RuntimeError(f"{type(error).__name__}: {error}")
        said = tuple(record.getMessage() for record in self._listener.buffer)
        self._listener.buffer.clear()
        return Answered(outcome, self._left(place), said, time.process_time())

    def _left(self, place: int) -> Mapping[str, tuple[float, float]] | None:
        """Return what is left of an endpoint's limits, if it has said so since the last time."""
        standing = getattr(self._models[place], "standing", None)
        if standing is None or standing.notes == self._noted[place]:
            return None
        self._noted[place] = standing.notes
        now = time.monotonic()  # of this machine: another's has another beginning
        return {kind: (left.remaining, left.resets_at - now) for kind, left in standing.allowances.items()}


def _opened(origin: Origin) -> ChatModel:
    model = open_chat_model(origin.endpoint)
    learn_from = getattr(model, "learn_from", None)
    if learn_from is not None:
        learn_from(origin)
    return model
