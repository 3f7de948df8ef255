"""Several addresses or keys of one model, used as one."""

import time

import msgspec

from harness.errors import TransientError
from harness.models.endpoint import ChatModel, Endpoint
from harness.types import Reply, Request

REST = 20.0
"""Seconds for which a member is left alone that could not be reached or was overloaded."""


class Pool:
    """A chat model that asks the least busy of its members, relative to what each allows."""

    def __init__(self, endpoint: Endpoint) -> None:
        own = msgspec.structs.replace(endpoint, pool=())
        self.name = endpoint.name
        self._members = [(member, member.open()) for member in (own, *endpoint.pool)]
        self._calls = [0] * len(self._members)
        self._rests_until = [0.0] * len(self._members)

    async def reply(self, request: Request) -> Reply:
        """Return a member's reply; where one fails for now, that of another."""
        untried = set(range(len(self._members)))
        while True:
            index = min(untried, key=self._order)
            untried.discard(index)
            self._calls[index] += 1
            try:
                return await self._members[index][1].reply(request)
            except TransientError as error:
                self._rests_until[index] = time.monotonic() + (error.retry_after or REST)
                if all(map(self._rests, untried)):
                    raise
            finally:
                self._calls[index] -= 1

    async def close(self) -> None:
        """Release connections."""
        for _, model in self._members:
            await model.close()

    def _rests(self, index: int) -> bool:
        return time.monotonic() < self._rests_until[index]

    def _order(self, index: int) -> tuple[bool, float]:
        parallel = self._members[index][0].limits.parallel or 1
        return self._rests(index), self._calls[index] / parallel


def members(model: ChatModel) -> list[ChatModel]:
    """Return the members of a pool, or the model itself."""
    return [member for _, member in model._members] if isinstance(model, Pool) else [model]
