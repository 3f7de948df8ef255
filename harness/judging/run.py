"""Answers × judges → judgments: plan them, then run them.

    plan = plan_judgments(["gpt-4o"], load_bench("mt_bench"), mode="single")    # checks everything; calls nothing
    report = run_judgments(plan)                                                # calls, writes model_judgment/*.jsonl

Both games of a pair are judged or not judged together: they are one row.
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
from harness.judging.files import Done, JudgmentSink, is_good_judgment, row_key
from harness.judging.judge import judging_job
from harness.judging.materials import Materials, gather, with_sampling
from harness.judging.plan import model_groups, plan_matches
from harness.judging.sets import JudgeSet, load_judge_set
from harness.names import check_model_name
from harness.records import MODES, Judgment, Match, Mode, Question
from harness.running.direct import run
from harness.running.jobs import Course
from harness.running.options import RunOptions
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

    @property
    def untidy(self) -> bool:
        """Whether rows stand in the file that later ones replace."""
        return self.done is not None and self.done.untidy


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

    `models` are the ones to judge (default: all that have answers), `questions` the ones to judge them on (default:
    all). With `redo`, what is judged is judged again; the old rows are kept in `.turnbench/`.

    Raises:
        UsageError: no such judge, judge set, mode or model.
        MissingError: answers, references or a key are missing.
        DataError: a file is not what it must be.
    """
    if mode not in MODES:
        raise UsageError(f"no mode {mode!r}; there are: {', '.join(MODES)}")
    names = list(dict.fromkeys(judges))
    if not names:
        raise UsageError(
            "no judge given; name one with --judge-model (builtin/overlap needs no key, for trying things out)"
        )
    judge_set = with_sampling(
        load_judge_set(options.judge_set, bench.folder), temperature=options.temperature, max_tokens=options.max_tokens
    )
    baseline = options.baseline if mode == "pairwise-baseline" else None
    groups = model_groups(mode, _models(bench, models, baseline), baseline)
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
        why = "" if judged else "; every question was left out: " + "; ".join(notices)
        raise UsageError(f"there is nothing to judge: no turn is left by --turns and the choice of questions{why}")
    return plan


def _models(bench: Bench, models: Sequence[str] | None, baseline: str | None) -> list[str]:
    """Return the models to judge, all of which have answers."""
    known = bench.answered_models()
    if not known:
        raise UsageError(f"no model has answers in {bench.folder / 'model_answer'}; run gen_answer first")
    chosen = list(models or known)
    for name in (*chosen, *([baseline] if baseline else [])):
        if name not in known:
            there = f"{bench.folder / 'model_answer'}; there are: {', '.join(known)}"
            raise UsageError(f"no answers by {name!r} in {there}")
    return chosen


def _plan_judge(plan: JudgmentPlan, name: str, options: JudgeOptions) -> JudgePlan:
    check_model_name(name)
    endpoint = None
    if not is_builtin_judge(name):
        endpoint = resolve(name, base_url=options.base_url, api_key_env=options.api_key_env, timeout=options.timeout)
    path = plan.bench.judgment_file(name, plan.judge_set.name, plan.mode)
    done = Done(path)
    judge = JudgePlan(name, endpoint, path, done=done)
    for match in plan_matches(plan.questions, plan.groups, plan.turns):
        if match.game == 2:
            continue
        plan.materials.check(match)
        current = done.current(match, plan.materials)
        if current and not plan.redo:
            judge.already += 1
        else:
            judge.rows += 1
            judge.calls += len(match.models)
            judge.superseded += current is False
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


def run_judgments(plan: JudgmentPlan, running: RunOptions = RunOptions(), *, watch: Watcher = nobody) -> JudgmentReport:
    """Judge what is planned and write each judgment as soon as it is there.

    Raises:
        EndpointError: a judge cannot be called at all.
        StorageError: a judgment file can't be written, or another process writes it.
        Interrupted: the user stopped the run. In every case what was done is kept.
    """
    busy = [judge for judge in plan.judges if judge.rows or judge.untidy]
    superseded = 0
    with contextlib.ExitStack() as stack:
        sinks = []
        for judge in busy:
            journal = stack.enter_context(Journal(judge.path, plan.bench.judgment_state))
            pending = stack.enter_context(Pending(judge.path, plan.bench.judgment_state, fresh=plan.redo))
            sinks.append(JudgmentSink(journal, pending))

        def sync() -> None:
            for sink in sinks:
                sink.sync()

        def courses() -> Iterator[Course[Judgment]]:
            for judge, sink in zip(busy, sinks, strict=True):
                for match in plan.matches(judge):
                    yield Course(judging_job(match, judge.judge, plan.materials), sink, sink.pending)

        models = {judge.judge: _open(judge) for judge in busy if judge.rows}
        try:
            tally = run(courses(), models, running, planned=plan.calls, watch=watch, sync=sync)
        finally:
            for sink in sinks:
                superseded += sink.journal.retire_older(row_key, is_good_judgment)
    return JudgmentReport(
        tally,
        sum(sink.written for sink in sinks),
        sum(sink.unparsed for sink in sinks),
        superseded,
        tuple(judge.path for judge in plan.judges),
    )


def _open(judge: JudgePlan) -> ChatModel:
    return open_builtin_judge(judge.judge) if judge.endpoint is None else open_chat_model(judge.endpoint)
