"""What commands that call chat models share: estimate, question, bar, list of failures."""

import contextlib
import pathlib
import signal
import time
from collections import Counter  # noqa: F401  (for the example above)
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from harness import options, registry, running
from harness.bench.current import Split
from harness.cli.command import agrees, at_terminal, first_lines, is_quiet, log
from harness.errors import Interrupted, UsageError
from harness.models import ModelConfig
from harness.reporting import Column, Page, Table
from harness.reporting.page import counted
from harness.running import Outcome, estimate
from harness.running.bar import bar, dollars
from harness.running.estimate import Estimate, total_cost
from harness.running.jobs import never
from harness.store import convert

if TYPE_CHECKING:
    from harness.answering import AnswerPlan
    from harness.cli.run_bench import BenchPlan
    from harness.judging.plan import JudgePlan

_MOST_CAUSES = 10


def configs(project: options.Project) -> dict[str, ModelConfig]:
    """Return the models of turnbench.toml.

    Raises:
        DataError: a table is not what it must be.
    """
    return {
        name: convert(table, ModelConfig, f"turnbench.toml: [models.{name}]")
        for name, table in project.models.items()
    }


@contextlib.contextmanager
def served(
    models: options.Models, endpoint: options.Endpoint, *, dry_run: bool
) -> Iterator[tuple[options.Models, options.Endpoint]]:
    """Serve local weights while the block runs, if `--serve` asks for it.

    Yields the flags with the weights' name as a model at the server's address.
    """
    if models.serve is None:
        yield models, endpoint
        return
    if models.model_path is None or endpoint.base_url is not None:
        raise UsageError("--serve is for the weights of --model-path, without --base-url")
    path, command, dtype = models.model_path, models.serve, models.dtype
    name = (models.model_id or models.model or (pathlib.Path(path).name,))[0]
    models = options.Models(model=(name,), conv_template=models.conv_template)
    if dry_run:
        yield models, replace(endpoint, base_url="http://127.0.0.1:1/v1")
        return
    log.info("waiting until %s serves %s", command, path)
    with registry.find("server", command.split()[0])(command, path, name, dtype) as url:
        yield models, replace(endpoint, base_url=url)


def state_of(verb: str, split: Split[Any], todo: str = "") -> str:
    """Return in words what is done and what is to be done, and why it is to be done again.

    >>> state_of("judge", Split(done=80, newest=time.time() - 3 * 86400 - 60))
    '80 judged before (the newest 3 days ago; --redo judges again), nothing left to judge'
    >>> state_of("answer", Split(changed=8, causes=Counter({"seed was 1 and is 2 now": 8})), "8")
    '8 to answer again (seed was 1 and is 2 now), 8'
    """
    age = ""
    if split.newest is not None:
        seconds = max(0.0, time.time() - split.newest)
        age = "the newest just now; "
        for length, unit in ((60, "minute"), (3600, "hour"), (86400, "day")):
            if seconds >= length:
                age = f"the newest {counted(int(seconds / length), unit)} ago; "
    parts = []
    if split.done:
        past = f"{verb.removesuffix('e')}ed"
        parts.append(f"{split.done:,} {past} before ({age}--redo {verb}s again)")
    if split.changed:
        causes = [
            cause if number == split.changed else f"{number:,}: {cause}"
            for cause, number in split.causes.most_common()
        ]
        why = "; ".join(first_lines(causes, 4))
        parts.append(f"{split.changed:,} to {verb} again ({why})")
    return ", ".join([*parts, todo or f"nothing left to {verb}"])


def estimate_page(estimates: Sequence[Estimate], more: Sequence[Table] = ()) -> Page:
    """Return the page of `--dry-run`, with `more` tables."""
    calls = sum(model.calls for model in estimates)
    if not calls:
        return Page("Nothing is left to do: no calls would be made.", [])
    total = total_cost(estimates)
    cost = "of unknown cost" if total is None else " to ".join(map(dollars, total))
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
    return Page(outcome, [Table("", columns, list(map(asdict, estimates))), *more])


def carry_out(
    plan: "AnswerPlan | JudgePlan | BenchPlan",
    limits: options.Limits,
    estimates: Callable[[], Sequence[Estimate]],
    *,
    unit: str,
    questions: int,
    redo: bool = False,
) -> Outcome:
    """Ask where calls cost something, run the jobs under a bar, list what failed.

    Raises:
        Interrupted: the user said no, or stopped the run.
    """
    total, state = plan.total, plan.bench.state
    if total and not limits.yes and at_terminal():
        question = estimate.question(estimates(), questions)
        if question and not agrees(f"{question}. Continue?", default=True):
            raise Interrupted("nothing was done")
    with bar(total, unit, quiet=is_quiet()) as progress:
        outcome = running.run(
            plan.jobs(),
            limits,
            state=state,
            total=total,
            redo=redo,
            progress=progress,
            agrees=_agrees if at_terminal() else never,
        )
    _report(outcome)
    return outcome


def _agrees(question: str) -> bool:
    """Ask in the middle of a run; Ctrl-C is a no, and stops the run."""
    of_run = signal.signal(signal.SIGINT, signal.default_int_handler)
    stopped = False
    try:
        return agrees(f"\n{question}", default=False)
    except KeyboardInterrupt:
        stopped = True
        return False
    finally:
        signal.signal(signal.SIGINT, of_run)
        if stopped:
            signal.raise_signal(signal.SIGINT)


def _report(outcome: Outcome) -> None:
    """Say what failed and why, each cause once, and what was flagged."""
    progress = outcome.progress
    if progress.cost:
        log.info("%s, %s", counted(progress.calls, "call"), dollars(progress.cost))
    cut = progress.flagged.get("length", 0)
    if cut:
        log.warning("%d replies were cut at their limit; --max-tokens raises it", cut)
    if others := sum(progress.flagged.values()) - cut:
        log.warning("%d replies are empty or refused; they are kept and judged as they are", others)
    if outcome.superseded:
        log.info("%d older rows were moved to .turnbench/", outcome.superseded)
    if outcome.failures:
        missing = f"{len(outcome.failures)} rows are missing; the same command tries them again:"
        log.warning("\n  ".join([missing, *first_lines(outcome.causes(), _MOST_CAUSES)]))
    if outcome.stopped:
        log.warning("%s", outcome.stopped)
