"""Workers on a Ray cluster, which make the calls of a run; its files and limits stay in the process that started it.

Local weights: as many workers of each model as the cluster has GPUs for, and each batches its own calls. Models behind
endpoints: one worker on each node, all under the one set of limits of this process. A worker, or a node with all of
its workers, may die: its calls in flight are made again by the others, and a new worker takes its place where there is
room for one. Keys are read on each node, from the environment that `ray start` was run in.
"""

import asyncio
import contextlib
import functools
import logging
import operator
import os
import pathlib
import signal
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.old.chat.model import Origin
from harness.old.checkpoints import SPREAD, first_line
from harness.old.errors import EndpointError, MissingError, TurnbenchError, UsageError
from harness.old.records import Request
from harness.old.running.desk import Answered, Desk
from harness.old.running.engines import LostWorkerError, Models, Team, calls_out, origin_of
from harness.old.running.options import RunOptions

log = logging.getLogger("turnbench")
PATIENCE = 600.0
"""Seconds that a worker may take to start, if the run states no patience."""
SLOW = 20.0
"""Seconds after which a warning says that a worker does not start."""
WAITING = "waiting for the Ray cluster: it has no room for a worker, or starts one slowly"
CONNECT_SECONDS = 10.0
"""Seconds in which the cluster's address must take a connection."""
AT_ONCE = 10_000
"""Calls that a worker takes at once: the limits are kept by who sends them."""


class RayDesk(Desk):
    """A desk as an actor: one process on one node of the cluster."""

    def __init__(self, origins: Sequence[Origin], folder: str) -> None:
        """Open the chat models; paths are those of `folder`, where it is there."""
        if pathlib.Path(folder).is_dir():
            os.chdir(folder)
        self._fault: TurnbenchError | None = None
        try:
            super().__init__(origins)
        except TurnbenchError as error:
            self._fault = error

    async def ready(self) -> TurnbenchError | None:
        """Return why no call can be made, if none can."""
        return self._fault


class RayWorker:
    """An actor, as the driver sees it."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self.in_flight, self.used = 0, 0.0
        self._ray, self._actor = ray, actor

    async def ask(self, place: int, request: Request) -> Answered:
        """Make a call.

        Raises:
            LostWorkerError: the actor or its node is gone.
        """
        try:
            answered: Answered = await self._actor.answer.remote(place, request)
        except self._ray.exceptions.RayError as error:
            raise LostWorkerError(f"a worker of the Ray cluster is gone ({first_line(error)})") from None
        return answered

    async def close(self) -> None:
        """End the actor."""
        self._ray.kill(self._actor)


def on_ray(models: Models, options: RunOptions) -> Models:
    """Return the chat models with those replaced that workers of the cluster call.

    Raises:
        MissingError: Ray is not installed.
        UsageError: the cluster cannot be reached, or has no room for the models.
    """
    ray = _library()
    origins = [origin for several in models.values() for model in several if (origin := origin_of(model)) is not None]
    if not origins:
        log.warning("--ray: built-in models answer in this process, so no call goes to the cluster")
        return models
    local = [origin for origin in origins if not calls_out(origin)]
    cluster = _Cluster(ray, options)
    try:
        copies = cluster.copies(len(local)) if local else 0
        for origin in local:
            team = cluster.team(copies, cluster.gpus)
            models = team.instead_of(models, functools.partial(operator.is_, origin))
        if len(origins) > len(local):
            models = cluster.team(options.processes or cluster.nodes, 0.0).instead_of(models, calls_out)
    except BaseException:
        cluster.leave()
        raise
    return models


def _for_worker(origin: Origin, gpus: float) -> Origin:
    """Return the origin for a worker with so many GPUs: weights are spread over several, unless a device is stated."""
    weights = origin.endpoint.weights
    if gpus <= 1 or weights is None or weights.device is not None:
        return origin
    return replace(origin, endpoint=replace(origin.endpoint, weights=replace(weights, device=SPREAD)))


class _Cluster:
    """A cluster that a run has joined, and leaves when the last team is closed."""

    def __init__(self, ray: Any, options: RunOptions) -> None:
        self._ray, self._options = ray, options
        self._joined = _joined(ray, options.ray or "")
        self._teams = 0
        self._told = False
        """Whether the user was told of a worker that is late."""
        alive = [node for node in ray.nodes() if node["Alive"]]
        self.nodes = len(alive)
        """How many there are."""
        self._gpus = [float(node["Resources"].get("GPU", 0)) for node in alive]
        self.gpus = (options.gpus_per_model or 1.0) if any(self._gpus) else 0.0
        """GPUs for each copy of local weights."""

    def copies(self, models: int) -> int:
        """Return how many workers each of so many local models gets.

        Raises:
            UsageError: there are too few GPUs.
        """
        if not self.gpus:
            if self._options.gpus_per_model is not None:
                raise UsageError("--gpus-per-model: the Ray cluster has no GPU; leave it out to use CPUs")
            return self._options.processes or self.nodes
        places = sum(int(gpus / self.gpus + 1e-9) for gpus in self._gpus)
        wanted = self._options.processes or max(1, places // models)
        if wanted * models > places:
            raise UsageError(
                f"the Ray cluster has GPUs for {places} copies of local weights (--gpus-per-model {self.gpus:g}), and "
                f"{wanted * models} are wanted; run the models one after another, or lower --processes"
            )
        return wanted

    def team(self, workers: int, gpus: float) -> Team:
        """Return a team of so many workers, each with so many GPUs."""
        self._teams += 1
        # A processor each for those without a GPU, so that no node gets more workers than it can feed.
        options = {"num_cpus": 0 if gpus else 1, "num_gpus": gpus, "scheduling_strategy": "SPREAD"}
        actors = self._ray.remote(max_restarts=0, max_concurrency=AT_ONCE, **options)(RayDesk)
        opener = functools.partial(self._opened, actors, gpus)
        return Team(opener, start=workers, most=workers, here=False, on_closed=self._closed)

    async def _opened(self, actors: Any, gpus: float, origins: Sequence[Origin]) -> RayWorker:
        """Start a worker and return it when it can make calls.

        Raises:
            TurnbenchError: it cannot, or not in time.
        """
        actor = actors.remote(tuple(_for_worker(origin, gpus) for origin in origins), os.getcwd())
        slow = asyncio.get_running_loop().call_later(SLOW, self._tell_of_wait)
        patience = PATIENCE if self._options.patience is None else self._options.patience
        try:
            async with asyncio.timeout(patience):
                fault = await actor.ready.remote()
        except TimeoutError:
            self._ray.kill(actor)
            raise EndpointError(
                f"the Ray cluster has had no room for a worker for {patience:g} s (--patience)"
            ) from None
        except self._ray.exceptions.RayError as error:
            raise EndpointError(
                f"a worker of the Ray cluster cannot start ({first_line(error)}); every node needs turnbench"
            ) from None
        finally:
            slow.cancel()
        if fault is not None:
            self._ray.kill(actor)
            raise EndpointError(f"{fault} (on a node of the Ray cluster)")
        return RayWorker(self._ray, actor)

    def _tell_of_wait(self) -> None:
        """Say once, of however many workers, what is waited for."""
        if not self._told:
            self._told = True
            log.warning("%s", WAITING)

    def _closed(self) -> None:
        self._teams -= 1
        if not self._teams:
            self.leave()

    def leave(self) -> None:
        """Leave the cluster, unless the program around us has joined it."""
        if self._joined:
            self._ray.shutdown()


def _library() -> Any:
    """Return Ray, with usage statistics turned off."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingError("--ray needs the extra [ray]; install it: pip install 'turnbench[ray]'") from None
    return ray


def _joined(ray: Any, address: str) -> bool:
    """Join a cluster, without an address the one that the environment names or that runs here; return whether that was
    to be done.

    Raises:
        UsageError: it cannot be reached.
    """
    if ray.is_initialized():
        return False
    _check(address)
    with _own_signals():
        try:
            ray.init(address or "auto", log_to_driver=False, logging_level=logging.CRITICAL)
        except (ConnectionError, RuntimeError, ValueError) as error:
            if address:
                raise UsageError(f"--ray {address}: cannot join a Ray cluster there: {first_line(error)}") from None
            # Not started here: on loopback alone, which is all that is right unasked, no other machine could join it.
            raise UsageError(
                "--ray: no Ray cluster runs here; start one (ray start --head) or give an address like 10.0.0.1:6379"
            ) from None
    return True


def _check(address: str) -> None:
    """Raise `UsageError` if nothing listens at an address; Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not address or address in ("auto", "local") or "://" in address:
        return
    if not (host and colon and port.isdigit()):
        raise UsageError(f"--ray {address}: an address looks like 10.0.0.1:6379, as `ray start --head` prints it")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise UsageError(f"--ray {address}: nothing listens there ({error.strerror or error})") from None


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep our SIGTERM handler: Ray would replace it, and a terminated run would not finish its calls."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # not in the main thread: Ray has not touched it either
            signal.signal(signal.SIGTERM, before)
