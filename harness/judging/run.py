"""Answers × judges → judgments: plan them, then run them.

    plan = plan_judgments(["gpt-4o"], load_bench("mt_bench"), mode="single")     # checks everything; calls nothing
    report = run_judgments(plan)                                                 # calls, writes model_judgment/*.jsonl
"""

import contextlib
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.bench import Bench
from harness.chat import ChatModel, Endpoint, open_chat_model, resolve
from harness.errors import UsageError
from harness.jsonl import Journal
from harness.judging.builtin import is_builtin_judge, open_builtin_judge
from harness.judging.files import Done, JudgmentSink, is_good_judgment, judgment_file, row_key
from harness.judging.judge import judging_job
from harness.judging.materials import Materials, gather, with_sampling
from harness.judging.plan import model_groups, plan_matches
from harness.judging.sets import JudgeSet, load_judge_set
from harness.names import check_model_name
from harness.records import MODES, Judgment, Match, Mode, Question
from harness.running.direct import run
from harness.running.jobs import Course
from harness.running.pending import Pending
from harness.running.watch import Tally, Watcher, nobody


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How judgments are made."""

    judge_set: str = "mt_bench"
    baseline: str | None = None
    turns: tuple[int, ...] | None = None
    """The turns to judge; None: every turn."""
    reference: str | None = None
    """Whose answers are the references: a file of `reference_answer/` or any answered model."""
    temperature: float | None = None
    """Replaces the judge set's."""
    max_tokens: int | None = None
    """Replaces the judge set's."""
    base_url: str | None = None
    api_key_env: str | None = None
    timeout: float | None = None
    """Seconds that one call may take."""
    skip_missing: bool = False


@dataclass
class JudgePlan:
    """What is to be done for one judge."""

    judge: str
    endpoint: Endpoint | None
    """None for a built-in judge."""
    path: pathlib.Path
    already: int = 0
    """Rows that are there and current."""
    superseded: int = 0
    """Rows that are there but were made from another question, answer, reference, template or sampling."""
    rows: int = 0
    """Rows to write."""
    calls: int = 0
    done: Done | None = None


@dataclass
class JudgmentPlan:
    """Everything that `run_judgments` will do; nothing has been called or written yet."""

    bench: Bench
    mode: Mode
    judge_set: JudgeSet
    materials: Materials
    questions: tuple[Question, ...]
    groups: list[tuple[str, ...]]
    turns: tuple[int, ...] | None
    redo: bool
    judges: list[JudgePlan] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are judged."""
        return tuple(dict.fromkeys(model for group in self.groups for model in group))

    @property
    def rows(self) -> int:
        """Rows to write."""
        return sum(judge.rows for judge in self.judges)

    @property
    def calls(self) -> int:
        """Calls to judges, if none has to be repeated."""
        return sum(judge.calls for judge in self.judges)

    def matches(self, judge: JudgePlan) -> Iterator[Match]:
        """Yield the matches that the judge has still to judge."""
        for match in plan_matches(self.questions, self.groups, self.turns):
            if self.redo or judge.done is None or not judge.done.current(match, self.materials):
                yield match


def plan_judgments(
    judges: Sequence[str],
    bench: Bench,
    mode: Mode = "single",
    options: JudgeOptions = JudgeOptions(),
    *,
    models: Sequence[str] | None = None,
    questions: Sequence[Question] | None = None,
    redo: bool = False,
) -> JudgmentPlan:
    """Return what has to be done so that every judge has judged every match.

    `models` are the ones to judge (default: all that have answers), `questions` the ones to judge them on (default: all).

    Raises:
        UsageError: no such judge, judge set, mode or model.
        MissingError: answers, references or a key are missing.
        DataError: a file is not what it must be.
    """
    if mode not in MODES:
        raise UsageError(f"no mode {mode!r}; there are: {', '.join(MODES)}")
    names = list(dict.fromkeys(judges))
    if not names:
        raise UsageError("no judge given; name one with --judge-model (builtin/overlap needs no key, for trying things out)")
    judge_set = with_sampling(
        load_judge_set(options.judge_set, bench.folder), temperature=options.temperature, max_tokens=options.max_tokens
    )
    groups = model_groups(mode, _models(bench, models, options.baseline if mode == "pairwise-baseline" else None), options.baseline)
    shown = list(dict.fromkeys(model for group in groups for model in group))
    materials, judged, notices = gather(
        bench,
        judge_set,
        shown,
        bench.questions if questions is None else tuple(questions),
        turns=options.turns,
        reference=options.reference,
        skip_missing=options.skip_missing,
    )
    plan = JudgmentPlan(bench, mode, judge_set, materials, judged, groups, options.turns, redo, notices=notices)
    for name in names:
        plan.judges.append(_plan_judge(plan, name, options))
    if not any(judge.rows or judge.already for judge in plan.judges):
        raise UsageError("there is nothing to judge: no turn of the questions is left by --turns and the slice of questions")
    return plan


def _models(bench: Bench, models: Sequence[str] | None, baseline: str | None) -> list[str]:
    """Return the models to judge, all of which have answers."""
    known = bench.answered_models()
    chosen = list(models) if models else [name for name in known if name != baseline]
    if not chosen:
        raise UsageError(f"no model has answers in {bench.folder / 'model_answer'}; run gen_answer first")
    for name in (*chosen, *([baseline] if baseline else [])):
        if name not in known:
            raise UsageError(f"no answers by {name!r} in {bench.folder / 'model_answer'}; there are: {', '.join(known) or 'none'}")
    return chosen


def _plan_judge(plan: JudgmentPlan, name: str, options: JudgeOptions) -> JudgePlan:
    check_model_name(name)
    endpoint = None
    if not is_builtin_judge(name):
        endpoint = resolve(name, base_url=options.base_url, api_key_env=options.api_key_env, timeout=options.timeout)
    path = judgment_file(plan.bench, name, plan.judge_set.name, plan.mode)
    judge = JudgePlan(name, endpoint, path, done=Done(path))
    pair = len(plan.groups[0]) == 2
    for match in plan_matches(plan.questions, plan.groups, plan.turns):
        plan.materials.template(match)  # a missing template is told before the first call
        current = judge.done.current(match, plan.materials) if judge.done is not None else None
        first = match.game == 1
        if current and not plan.redo:
            judge.already += first
        else:
            judge.calls += 1
            judge.rows += first
            judge.superseded += first and current is False
    assert not pair or judge.calls == 2 * judge.rows
    return judge


@dataclass(frozen=True, slots=True)
class JudgmentReport:
    """What `run_judgments` did."""

    tally: Tally
    written: int
    """Rows written."""
    unparsed: int
    """Of these, rows in which the judge gave no verdict."""
    superseded: int
    """Older rows moved to `.turnbench/superseded/`."""
    paths: tuple[pathlib.Path, ...]

    @property
    def complete(self) -> bool:
        """Whether no row is missing."""
        return not self.tally.failures


def run_judgments(plan: JudgmentPlan, *, parallel: int = 8, watch: Watcher = nobody) -> JudgmentReport:
    """Judge what is planned and write each judgment as soon as it is there.

    Raises:
        EndpointError: a judge cannot be called at all.
        StorageError: a judgment file can't be written, or another process writes it.
        Interrupted: the user stopped the run. In every case what was done is kept.
    """
    busy = [judge for judge in plan.judges if judge.rows]
    with contextlib.ExitStack() as stack:
        sinks = []
        for judge in busy:
            journal = stack.enter_context(Journal(judge.path, plan.bench.state))
            sinks.append(JudgmentSink(journal, stack.enter_context(Pending(judge.path, plan.bench.state))))

        def sync() -> None:
            for sink in sinks:
                sink.sync()

        def courses() -> Iterator[Course[Judgment]]:
            for judge, sink in zip(busy, sinks, strict=True):
                for match in plan.matches(judge):
                    yield Course(judging_job(match, judge.judge, plan.materials), sink, sink.pending)

        models = {judge.judge: _open(judge) for judge in busy}
        tally = run(courses(), models, parallel=parallel, planned=plan.calls, watch=watch, sync=sync)
        superseded = 0
        for sink in sinks:
            superseded += sink.journal.retire_older(row_key, is_good_judgment)
            if not tally.failures:
                sink.pending.served()
    return JudgmentReport(
        tally,
        sum(sink.written for sink in sinks),
        sum(sink.unparsed for sink in sinks),
        superseded,
        tuple(judge.path for judge in plan.judges),
    )


def _open(judge: JudgePlan) -> ChatModel:
    return open_builtin_judge(judge.judge) if judge.endpoint is None else open_chat_model(judge.endpoint)
