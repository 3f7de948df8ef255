"""How a run is carried out: how much at once, within which limits, and what may be reused."""

import pathlib
from dataclasses import dataclass
from typing import Annotated

from harness.old.bounds import AT_ONCE, CALLS_A_MINUTE, DOLLARS, GPUS, PROCESSES, SECONDS, TOKENS_A_MINUTE
from harness.old.written import check_fields


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How jobs are run. Nothing here changes what is asked, so nothing here makes a record out of date."""

    parallel: Annotated[int, AT_ONCE] | None = None
    """Calls in flight at once; None finds the number out for each endpoint."""
    rpm: Annotated[float, CALLS_A_MINUTE] | None = None
    """The most calls that may begin in a minute, for each endpoint."""
    tpm: Annotated[float, TOKENS_A_MINUTE] | None = None
    """The most tokens, prompt and reply, in a minute, for each endpoint."""
    patience: Annotated[float, SECONDS] | None = None
    """Seconds of nothing but failures after which an endpoint is given up; None: 600."""
    max_wait: Annotated[float, SECONDS] | None = None
    """Seconds that an endpoint's Retry-After is obeyed at most; None: 600."""
    max_cost: Annotated[float, DOLLARS] | None = None
    """Dollars that the run may cost at most; it stops before a call that could exceed them."""
    cache: pathlib.Path | None = None
    """File in which completions are kept by content, across benchmarks and model names; None: no cache."""
    batch: bool = False
    """Whether calls are submitted as batches, at half the price, answered within a day."""
    processes: Annotated[int, PROCESSES] | None = None
    """Processes that make the calls, with `ray` the workers; None: adjusted to the load; 1: only this process."""
    ray: str | None = None
    """The address of a Ray cluster whose workers make the calls; empty: the local one; None: no cluster."""
    gpus_per_model: Annotated[float, GPUS] | None = None
    """GPUs for each local model on a Ray cluster; None: 1 where the cluster has any."""

    def __post_init__(self) -> None:
        """Raise `UsageError` for a number that cannot be."""
        check_fields(self)
