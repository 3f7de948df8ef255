"""How long the mock server lets each request wait, and how long a perfect scheduler would need for the same waits.

A wait is a function of the request alone (its last `item-NNNNNN-T` mark), so a simulation sees the draws of a run.
"""

import heapq
import math
import random
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latency:
    """Waits around `median` seconds: all alike if `sigma` is 0, else lognormal."""

    median: float = 0.0
    sigma: float = 0.0
    seed: int = 0

    def of(self, mark: str) -> float:
        """Return the seconds that the request with this mark waits."""
        if not self.sigma:
            return self.median
        return self.median * math.exp(random.Random(f"{self.seed}:{mark}").gauss(0.0, self.sigma))


def mark(item: int, turn: int) -> str:
    """Return the mark that stands in the text of one turn of one question."""
    return f"{item:06d}-{turn}"


def turns_first(latencies: Sequence[Sequence[float]], parallel: int) -> float:
    """Return the span of a list scheduler: a free slot takes the next first turn, else the second turn ready longest.

    `latencies` holds, for each conversation, the wait of each of its turns.
    """
    fresh = deque(range(len(latencies)))
    ready: deque[tuple[int, int]] = deque()
    busy: list[tuple[float, int, int]] = []
    now = 0.0
    while fresh or ready or busy:
        while len(busy) < parallel and (fresh or ready):
            item, turn = (fresh.popleft(), 0) if fresh else ready.popleft()
            heapq.heappush(busy, (now + latencies[item][turn], item, turn))
        now, item, turn = heapq.heappop(busy)
        if turn + 1 < len(latencies[item]):
            ready.append((item, turn + 1))
    return now


def one_worker_each(latencies: Iterable[Sequence[float]], parallel: int) -> float:
    """Return the span of `parallel` workers that hold one conversation after the other, each to its end."""
    free = [0.0] * parallel
    for turns in latencies:
        heapq.heapreplace(free, free[0] + sum(turns))
    return max(free)
