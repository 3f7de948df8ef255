"""What commands that call chat models share: estimate, question, bar, list of failures."""

import contextlib
import pathlib
import time
from collections import Counter  # noqa: F401  (for the example above)
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from harness import options, registry, running
from harness.bench.current import Split
from harness.cli.console import Console
from harness.cli.project import configs as configs
from harness.errors import Interrupted, UsageError
from harness.reporting import Column, Page, Table
from harness.running import Outcome, Progress, estimate
from harness.running.estimate import CallEstimate, total_cost
from harness.words import counted, dollars, first_lines

if TYPE_CHECKING:
    from harness.answering.plan import AnswerPlan
    from harness.cli.run_bench import BenchPlan
    from harness.judging.plan import JudgePlan

R = TypeVar("R", options.GenAnswer, options.RunBench)
_MOST_CAUSES = 10


class CallReport(Struct, kw_only=True):
    """What a command that calls chat models did."""

    plan: Any
    outcome: Outcome
    """Nothing done, after a dry run."""
    page: Page | None = None
    """What it shows: of a dry run what it would take, of `run_bench` the results."""

    @property
    def complete(self) -> bool:
        """Whether no row is missing; a judgment without a verdict is there."""
        return not self.outcome.failures and self.outcome.stopped is None

    @property
    def exit_code(self) -> int:
        """The command's."""
        return 0 if self.complete else 1

    @property
    def shown(self) -> Page:
        """The page of a notebook."""
        return self.page or _done_page(self.outcome, self.plan.total)

    def _repr_html_(self) -> str:
        return self.shown._repr_html_()

    def __repr__(self) -> str:
        done, failed = self.outcome.done, len(self.outcome.failures)
        name = f"{type(self).__name__} {self.plan.bench.name}"[:100]
        return f"<{name}: {done:,} of {self.plan.total:,} done, {failed:,} failed>"


def _done_page(outcome: Outcome, total: int) -> Page:
    """Return what was done, at what cost, and what failed and why."""
    lines = [f"{outcome.done:,} of {total:,} done{_cost(outcome.progress, ': ')}."]
    lines += [f"{outcome.stopped}."] if outcome.stopped else []
    failures = [{"failed": cause} for cause in outcome.causes()]
    tables = [Table("", [Column("failed")], failures, "failures")] if failures else []
    return Page("\n".join(lines), tables)


def _cost(progress: Progress, before: str = "") -> str:
    """Return the calls of a run and what they cost; nothing, if they were free."""
    calls = f"{before}{counted(progress.calls, 'call')}, {dollars(progress.cost)}"
    return calls if progress.cost else ""


def nothing_done(plan: "AnswerPlan | JudgePlan | BenchPlan") -> Outcome:
    """Return the outcome of a dry run."""
    return Outcome(0, [], Progress(total=plan.total))


@contextlib.contextmanager
def served(record: R, console: Console) -> Iterator[R]:
    """Serve local weights while the block runs, if `--serve` asks for it.

    Yields the record with the weights' name as a model at the server's address.
    """
    models, endpoint = record.models, record.endpoint
    if models.serve is None:
        yield record
        return
    if models.model_path is None or endpoint.base_url is not None:
        raise UsageError("--serve is for the weights of --model-path, without --base-url")
    path, command, dtype = models.model_path, models.serve, models.dtype
    name = (models.model_id or models.model or (pathlib.Path(path).name,))[0]
    models = options.Models(model=(name,), conv_template=models.conv_template)
    if record.limits.dry_run:
        address = replace(endpoint, base_url="http://127.0.0.1:1/v1")
        yield replace(record, models=models, endpoint=address)
        return
    console.tell(f"waiting until {command} serves {path}")
    with registry.find("server", command.split()[0])(command, path, name, dtype) as url:
        yield replace(record, models=models, endpoint=replace(endpoint, base_url=url))


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


def estimate_page(estimates: Sequence[CallEstimate], more: Sequence[Table] = ()) -> Page:
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
    estimates: Callable[[], Sequence[CallEstimate]],
    console: Console,
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
    if total and not limits.yes and console.interactive:
        question = estimate.question(estimates(), questions)
        if question and not console.agrees(f"{question}. Continue?", default=True):
            raise Interrupted("nothing was done")
    with console.bar(total, unit) as progress:
        outcome = running.run(
            plan.jobs(),
            limits,
            state=state,
            total=total,
            redo=redo,
            progress=progress,
            agrees=console.agrees_midway,
        )
    _report(outcome, console)
    return outcome


def _report(outcome: Outcome, console: Console) -> None:
    """Say what failed and why, each cause once, and what was flagged."""
    progress = outcome.progress
    if cost := _cost(progress):
        console.tell(cost)
    cut = progress.flagged.get("length", 0)
    if cut:
        replies = counted(cut, "reply was", "replies were")
        console.warn(f"{replies} cut at the limit; --max-tokens raises it")
    if others := sum(progress.flagged.values()) - cut:
        replies = counted(others, "reply is", "replies are")
        console.warn(f"{replies} empty or refused; kept, and judged as they are")
    if outcome.superseded:
        rows = counted(outcome.superseded, "older row was", "older rows were")
        console.tell(f"{rows} moved to .turnbench/")
    if outcome.failures:
        rows = counted(len(outcome.failures), "row is", "rows are")
        missing = f"{rows} missing; the same command tries again:"
        console.warn("\n  ".join([missing, *first_lines(outcome.causes(), _MOST_CAUSES)]))
    if outcome.stopped:
        console.warn(outcome.stopped)
