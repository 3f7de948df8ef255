"""What commands that call chat models share: estimate, question, bar, list of failures."""

import contextlib
import pathlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from harness import registry, running
from harness.cli.command import log, printable, show
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.models import Endpoint, ModelConfig
from harness.options import Endpoint as EndpointFlags
from harness.options import Limits, Models
from harness.reporting import Column, Page, Table
from harness.running import Job, Outcome, estimate
from harness.running.bar import bar, dollars
from harness.running.estimate import Estimate
from harness.store import convert

_MOST_CAUSES = 10


def configs(parsed: Parsed) -> dict[str, ModelConfig]:
    """Return the models of turnbench.toml.

    Raises:
        DataError: a table is not what it must be.
    """
    return {
        name: convert(table, ModelConfig, f"turnbench.toml: [models.{name}]")
        for name, table in parsed.project.models.items()
    }


@contextlib.contextmanager
def served(
    models: Models, endpoint: EndpointFlags, needed: Callable[[Models, EndpointFlags], bool]
) -> Iterator[tuple[Models, EndpointFlags]]:
    """Serve local weights while the block runs, if `--serve` asks for it and calls are `needed`.

    Yields the flags with the weights' name as a model at the server's address.
    """
    if models.serve is None:
        yield models, endpoint
        return
    if models.model_path is None or endpoint.base_url is not None:
        raise UsageError("--serve is for the weights of --model-path, without --base-url")
    path, command, dtype = models.model_path, models.serve, models.dtype
    name = (models.model_id or models.model or (pathlib.Path(path).name,))[0]
    models = replace(
        models, model=(name,), model_id=(), model_path=None, serve=None, device=None, dtype="auto"
    )
    nowhere = replace(endpoint, base_url="http://127.0.0.1:1/v1")
    if not needed(models, nowhere):
        yield models, nowhere
        return
    log.info("waiting until %s serves %s", command, path)
    with registry.find("server", command.split()[0])(command, path, name, dtype) as url:
        yield models, replace(endpoint, base_url=url)


def age(written: float | None) -> str:
    """Return in words how long ago something was written.

    >>> age(time.time() - 3 * 86400 - 60)
    '3 days ago'
    """
    if written is None:
        return "at an unknown time"
    seconds = max(0.0, time.time() - written)
    for length, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= length:
            count = int(seconds / length)
            return f"{counted(count, name)} ago"
    return "just now"


def counted(count: int, noun: str) -> str:
    """Return a number of things.

    >>> counted(1200, "call"), counted(1, "call")
    ('1,200 calls', '1 call')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def place(endpoint: Endpoint) -> str:
    """Return where a chat model is, and the variable of its key; never the key."""
    if endpoint.provider.startswith("builtin"):
        return "built in"
    if endpoint.provider == "local":
        return f"weights in {endpoint.model}"
    key = f"key from {endpoint.api_key_env}" if endpoint.api_key_env else "no key"
    return f"{endpoint.about.title} at {endpoint.base_url}, {key}"


def already(count: int, newest: float | None, what: str) -> str:
    """Return a line about rows of earlier runs.

    >>> already(80, time.time(), "answered")
    '80 answered before (the newest just now; --redo answers again)'
    """
    again = {"answered": "answers", "judged": "judges"}[what]
    return f"{count:,} {what} before (the newest {age(newest)}; --redo {again} again)"


def estimate_page(estimates: Sequence[Estimate], more: Sequence[Table] = ()) -> Page:
    """Return the page of `--dry-run`, with `more` tables."""
    calls = sum(one.calls for one in estimates)
    low, high = estimate.total_cost(estimates)
    if not calls:
        return Page("Nothing is left to do: no calls would be made.", [])
    cost = "of unknown cost" if high is None else f"{dollars(low or 0)} to {dollars(high)}"
    rows = [
        {
            "model": one.model,
            "calls": one.calls,
            "prompt_tokens": one.prompt_tokens,
            "reply_tokens_low": one.reply_low,
            "reply_tokens_high": one.reply_high,
            "cost_low": one.cost_low,
            "cost_high": one.cost_high,
        }
        for one in estimates
    ]
    columns = [
        Column("model"),
        Column("calls"),
        Column("prompt_tokens"),
        Column("reply_tokens_low", "reply tokens from"),
        Column("reply_tokens_high", "to"),
        Column("cost_low", "cost from", "$"),
        Column("cost_high", "cost to", "$"),
    ]
    outcome = f"{counted(calls, 'call')} would be made, {cost}."
    return Page(outcome, [Table("", columns, rows), *more])


def carry_out(
    parsed: Parsed,
    limits: Limits,
    jobs: Callable[[], Iterable[Job]],
    estimates: Callable[[], Sequence[Estimate]],
    *,
    total: int,
    unit: str,
    questions: int,
    also: Callable[[Sequence[Estimate]], list[Table]] = lambda _: [],
    **more: Any,
) -> Outcome | None:
    """Ask where calls cost something, run the jobs under a bar, list what failed.

    Returns None after `--dry-run`, which prints the estimate and the tables that `also` makes of
    it. `more` goes to `running.run`.

    Raises:
        Interrupted: the user said no, or stopped the run.
    """
    if limits.dry_run:
        found = estimates()
        show(estimate_page(found, also(found)))
        return None
    if total and not limits.yes and estimate.may_ask():
        estimate.confirm(estimate.question(estimates(), questions))
    with bar(total, unit, quiet=parsed.quiet) as progress:
        outcome = running.run(jobs(), limits, total=total, progress=progress, **more)
    _report(outcome)
    return outcome


def _report(outcome: Outcome) -> None:
    """Say what failed and why, each cause once, and what was flagged."""
    progress = outcome.progress
    if progress.cost:
        log.info("%s calls, %s", f"{progress.calls:,}", dollars(progress.cost))
    flagged = progress.flagged
    if cut := flagged.get("length"):
        log.warning("%d replies were cut at their limit; --max-tokens raises it", cut)
    if others := sum(count for reason, count in flagged.items() if reason != "length"):
        log.warning("%d replies are empty or refused; they are kept and judged as they are", others)
    if outcome.superseded:
        log.info("%d older rows were moved to .turnbench/", outcome.superseded)
    if outcome.failures:
        causes = outcome.causes()
        log.warning(
            "%d rows are missing; the same command tries them again:", len(outcome.failures)
        )
        for cause in causes[:_MOST_CAUSES]:
            sys.stderr.write(f"  {printable(cause)}\n")
        if len(causes) > _MOST_CAUSES:
            sys.stderr.write(f"  and {len(causes) - _MOST_CAUSES} more causes\n")
    if outcome.stopped:
        log.warning("%s", outcome.stopped)
