"""Calls made by the workers of a Ray cluster; files, limits and retries stay in this process.

A model behind an address gets one worker on every node, which is its transport: what an endpoint
refuses is learned once, in this process. Local weights get as many copies as the
cluster has GPUs for. A worker may die, with its node or alone: its calls under way are made again
by the others, and a new worker takes its place where there is room for one. Keys are read on each
node, from the environment in which `ray start` ran.
"""

import asyncio
import logging
import os
import pathlib
from collections.abc import Awaitable
from typing import Any

import msgspec

from harness import registry
from harness.errors import EndpointError, TransientError, TurnbenchError, UsageError
from harness.models import ChatModel, Endpoint
from harness.models.errors import Problem, Wire
from harness.models.remote import RemoteModel
from harness.options import Limits
from harness.running import Engine
from harness.types import Reply, Request

log = logging.getLogger("turnbench")
_AT_ONCE = 1000
"""Calls that a worker takes at once; the limits are kept by this process."""


class RayEngine(Engine):
    """Where calls are made: on a Ray cluster. Built-in models answer in this process."""

    def __init__(self, limits: Limits, state: pathlib.Path) -> None:
        self._ray = _connected(limits.ray or "auto")
        self._gpus = limits.gpus_per_model
        self._teams: list[Team] = []

    def open(self, endpoint: Endpoint) -> ChatModel:
        """Return a chat model whose calls are made by workers."""
        if endpoint.provider.startswith("builtin"):
            return endpoint.open()
        nodes = sum(node["Alive"] for node in self._ray.nodes())
        if endpoint.provider != "local":
            team = self._team(endpoint, nodes, 0.0)
            provider = registry.find("provider", endpoint.provider)
            if isinstance(provider, type) and issubclass(provider, RemoteModel):
                return provider(endpoint, send=team.send)
            return team
        total = self._ray.cluster_resources().get("GPU", 0.0)
        gpus = self._gpus if self._gpus is not None else min(1.0, total)
        if gpus > total:
            raise UsageError(f"--gpus-per-model {gpus:g}: the cluster has {total:g} GPUs")
        copies = int(total // gpus) if gpus else nodes
        return self._team(_for_worker(endpoint, gpus), copies, gpus)

    async def close(self, *, orderly: bool) -> None:
        """End the workers and leave the cluster."""
        for team in self._teams:
            await team.close()
        self._ray.shutdown()

    def _team(self, endpoint: Endpoint, copies: int, gpus: float) -> "Team":
        self._teams.append(Team(self._ray, endpoint, copies, gpus))
        return self._teams[-1]


class Team:
    """The workers that make one model's calls: a chat model, or the transport of one."""

    def __init__(self, ray: Any, endpoint: Endpoint, copies: int, gpus: float) -> None:
        self.name = endpoint.name
        self._ray, self._endpoint = ray, endpoint
        # Spread over the nodes: one worker on each where there are as many.
        self._make = ray.remote(_Caller).options(
            num_gpus=gpus, num_cpus=0, max_concurrency=_AT_ONCE, scheduling_strategy="SPREAD"
        )
        self._busy: dict[Any, int] = {}
        """The workers that are ready, each with its calls under way."""
        self._ready = asyncio.Event()
        self._fault: TurnbenchError | None = None
        self._copies = copies
        self._starting: set[asyncio.Task[None]] = set()

    async def reply(self, request: Request) -> Reply:
        """Return the reply that a worker gets.

        Raises:
            TransientError: the worker died; the call is to be made again.
        """
        reply: Reply = await self._work("reply", request)
        return reply

    async def send(self, wire: Wire) -> Any:
        """Return the answer that a worker gets; raises as `reply` does, or `Problem`."""
        return await self._work("send", wire)

    async def _work(self, method: str, argument: Any) -> Any:
        while len(self._busy) + len(self._starting) < self._copies:
            self._start()
        while not self._busy:
            self._ready.clear()
            await self._ready.wait()
            if self._fault is not None:
                raise EndpointError(str(self._fault), kind="worker")
        worker = min(self._busy, key=self._busy.__getitem__)
        self._busy[worker] += 1
        try:
            outcome = await getattr(worker, method).remote(argument)
        except self._ray.exceptions.RayError as error:
            self._busy.pop(worker, None)
            reason = str(error).strip().partition("\n")[0]
            message = f"{self.name}: a worker of the Ray cluster is gone ({reason})"
            raise TransientError(message, kind="outage") from None
        finally:
            if worker in self._busy:
                self._busy[worker] -= 1
        if isinstance(outcome, TurnbenchError | Problem):
            raise outcome
        return outcome

    async def close(self) -> None:
        """End the workers."""
        for task in self._starting:
            task.cancel()
        while self._busy:
            self._ray.kill(self._busy.popitem()[0])

    def _start(self) -> None:
        task = asyncio.get_running_loop().create_task(self._started())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _started(self) -> None:
        """Start a worker; it takes calls from when it is ready, however long a cluster needs."""
        worker = self._make.remote(self._endpoint)
        try:
            self._fault = await worker.fault.remote()
        except self._ray.exceptions.RayError as error:
            log.warning("%s: a worker did not start (%s)", self.name, str(error).strip()[:200])
            await asyncio.sleep(1.0)
        else:
            if self._fault is None:
                self._busy[worker] = 0
        self._ready.set()


class _Caller:
    """A worker: a process on some node that opens the chat model and makes calls."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._fault: TurnbenchError | None = None
        try:
            self._model: Any = endpoint.open()
        except TurnbenchError as error:
            self._fault = error

    async def fault(self) -> TurnbenchError | None:
        """Return why no call can be made, if none can."""
        return self._fault

    async def reply(self, request: Request) -> Any:
        """Return the reply or the error."""
        return await self._outcome(self._model.reply(request))

    async def send(self, wire: Wire) -> Any:
        """Return the answer to one call, or the problem."""
        answer = await self._outcome(self._model.call(wire))
        self._model.answered |= not isinstance(answer, Exception)
        return answer

    async def _outcome(self, work: Awaitable[Any]) -> Any:
        """Return what comes, or our error; others' exceptions may hold the request, and the key."""
        try:
            return await work
        except (TurnbenchError, Problem) as error:
            return error
        except Exception as error:
            return TransientError(f"{type(error).__name__} in a worker", kind="server error")


def _for_worker(endpoint: Endpoint, gpus: float) -> Endpoint:
    """Return local weights as a worker finds them: an absolute path, spread over its GPUs."""
    if pathlib.Path(endpoint.model).is_dir():
        endpoint = msgspec.structs.replace(endpoint, model=os.path.abspath(endpoint.model))
    weights = endpoint.weights
    if gpus > 1 and weights is not None and weights.device is None:
        weights = msgspec.structs.replace(weights, device="auto")
    return msgspec.structs.replace(endpoint, weights=weights)


def _connected(address: str) -> Any:
    """Return the library, connected to a cluster; without one that runs, `auto` starts its own."""
    import ray

    quiet = {"logging_level": logging.WARNING, "log_to_driver": False}
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        if address != "auto":
            reason = str(error).partition("\n")[0]
            raise UsageError(f"--ray {address}: no cluster answers there ({reason})") from None
        ray.init(**quiet)
    return ray
