"""Answers × judges → judgments: plan them, then run them.

    plan = plan_judgments(["gpt-4o"], load_bench("mt_bench"), mode="single")    # checks everything; calls nothing
    report = run_judgments(plan)                                                # calls, writes model_judgment/*.jsonl

Both games of a pair are judged or not judged together: they are one row.
"""

import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.old.bench import Bench
from harness.old.chat import resolve
from harness.old.chat.parameters import sampling_of
from harness.old.chat.providers import check_parameters
from harness.old.errors import UsageError
from harness.old.judging.builtin import is_builtin_judge
from harness.old.judging.builtin_model import require_verdict
from harness.old.judging.files import Done
from harness.old.judging.gathering import gather
from harness.old.judging.options import NO_REFERENCE as NO_REFERENCE
from harness.old.judging.options import JudgeOptions as JudgeOptions
from harness.old.judging.planned import JudgePlan, JudgmentPlan, model_groups, voted_pairs
from harness.old.judging.sets import load_judge_set
from harness.old.judging.work import JudgmentWork
from harness.old.names import check_model_name
from harness.old.records import MODES, Mode, Question, QuestionId, Sampling
from harness.old.running.cache import Cache
from harness.old.running.engine import run
from harness.old.running.options import RunOptions
from harness.old.running.watch import Tally, Watcher, nobody
from harness.old.written import takes_only


@takes_only()
def plan_judgments(
    judges: Sequence[str],
    bench: Bench,
    mode: Mode | None = None,
    options: JudgeOptions = JudgeOptions(),
    *,
    models: Sequence[str] | None = None,
    questions: Sequence[Question] | None = None,
    redo: bool = False,
    redo_failed: bool = False,
    awaited: Mapping[str, Iterable[QuestionId]] | None = None,
) -> JudgmentPlan:
    """Return what has to be done so that every judge has judged every match.

    `mode` and the options' baseline are the judge set's where none is given; single where it names none.
    `models` are the ones to judge (default: all that have answers), `questions` the ones to judge them on (default:
    all). With `redo`, what is judged is judged again; the old rows are kept in `.turnbench/`; with
    `redo_failed`, what was judged without a verdict. `awaited` names answers,
    by model and question, that count as there although they are still to be made.

    Raises:
        UsageError: no such judge, judge set, mode or model.
        MissingError: answers, references or a key are missing.
        DataError: a file is not what it must be.
    """
    if mode is not None and mode not in MODES:
        raise UsageError(f"no mode {mode!r}; there are: {', '.join(MODES)}")
    names = list(dict.fromkeys(judges))
    if not names:
        raise UsageError(
            "no judge given; name one with --judge-model (builtin/overlap needs no key, for trying things out)"
        )
    judge_set = load_judge_set(options.judge_set, bench.folder).by(options.criteria)
    if options.categories and judge_set.criteria:
        judge_set = judge_set.for_categories(options.categories)
    if options.reference == NO_REFERENCE:
        judge_set, options = judge_set.without_references(), replace(options, reference=None)
    temperature = None if options.temperature is None else float(options.temperature)
    said = Sampling(temperature, options.max_tokens).before(sampling_of(options.params))
    judge_set = judge_set.with_sampling(said)
    voted = voted_pairs(options.votes) if options.votes else None
    mode = mode or ("pairwise-all" if voted is not None else judge_set.mode) or "single"
    if voted is not None:
        if mode != "pairwise-all":
            raise UsageError("the pairs that people voted on are judged with mode pairwise-all")
        models = models or sorted(frozenset().union(*voted.models.values()))
    judge_set = replace(judge_set, baseline=options.baseline or judge_set.baseline)
    baseline = judge_set.baseline if mode == "pairwise-baseline" else None
    waits = {model: set(ids) for model, ids in (awaited or {}).items()}
    groups = model_groups(judge_set, mode, _models(bench, models, baseline, waits))
    shown = list(dict.fromkeys(model for group in groups for model in group))
    asked = bench.questions if questions is None else tuple(questions)
    materials, judged, notices = gather(bench, judge_set, shown, asked, options, awaited=waits, mode=mode, voted=voted)
    plan = JudgmentPlan(
        bench,
        mode,
        judge_set,
        materials,
        judged,
        groups,
        redo,
        notices=notices,
        awaited=waits,
        voted=voted,
        redo_failed=redo_failed,
    )
    for name in names:
        plan.judges += _plan_judge(plan, name, options)
    if not any(judge.rows or judge.already for judge in plan.judges):
        why = (
            "nobody voted on any of the chosen pairs"
            if voted is not None
            else "--turns, the chosen questions and the judge set leave no turn"
        )
        raise UsageError(f"there is nothing to judge: {'; '.join(notices) if notices and not judged else why}")
    return plan


def _models(
    bench: Bench, models: Sequence[str] | None, baseline: str | None, awaited: Mapping[str, set[QuestionId]]
) -> list[str]:
    """Return the models to judge, all of which have answers or will have."""
    known = tuple(sorted({*bench.begun_models(), *awaited}))
    if not known:
        raise UsageError(f"no model has answers in {bench.folder / 'model_answer'}; run gen_answer first")
    chosen = list(models or known)
    for name in (*chosen, *([baseline] if baseline else [])):
        if name not in known:
            there = f"{bench.folder / 'model_answer'}; there are: {', '.join(known)}"
            raise UsageError(f"no answers by {name!r} in {there}; run gen_answer for it first")
    return chosen


def _plan_judge(plan: JudgmentPlan, name: str, options: JudgeOptions) -> Iterator[JudgePlan]:
    """Yield what a judge has to do, one plan for each sample."""
    check_model_name(name)
    endpoint = None
    if not is_builtin_judge(name):
        endpoint = resolve(
            name,
            base_url=options.base_url,
            api_key_env=options.api_key_env,
            timeout=options.timeout,
            models=options.models_file,
            key_needed=options.key_needed,
        )
    for sample in range(options.samples):
        path = plan.bench.judgment_file(name, plan.judge_set.name, plan.mode, sample, one_order=plan.one_order)
        judge = JudgePlan(name, endpoint, path, done=Done(path), sample=sample)
        if endpoint is not None:
            check_parameters(endpoint, plan.materials_of(judge).judge_set.sampling)
        else:
            for match in plan.every_match(sample):
                require_verdict(name, plan.materials.form(match))
        plan.count(judge)
        yield judge


@dataclass(frozen=True, slots=True)
class JudgmentReport:
    """What `run_judgments` did."""

    tally: Tally
    written: int
    """Rows written."""
    reasons: Counter[str]
    """Why the judge gave no verdict, and in how many of these rows."""
    superseded: int
    """Older rows moved to `.turnbench/superseded/`."""
    paths: tuple[pathlib.Path, ...]
    lost: int = 0
    """Rows that another program took out of the files during the run."""

    @property
    def complete(self) -> bool:
        """Whether no row is missing, and most of those written have a verdict."""
        return not self.tally.failures and not self.lost and not self.mostly_unparsed

    @property
    def unparsed(self) -> int:
        """Rows written in which the judge gave no verdict."""
        return self.reasons.total()

    @property
    def mostly_unparsed(self) -> bool:
        """Whether half of the rows written or more have no verdict."""
        return 0 < self.written <= 2 * self.unparsed


def run_judgments(plan: JudgmentPlan, running: RunOptions = RunOptions(), *, watch: Watcher = nobody) -> JudgmentReport:
    """Carry out a plan and write each judgment as soon as it is made.

    Raises:
        EndpointError: a judge cannot be called at all.
        StorageError: a judgment file can't be written, or another process writes it.
        Interrupted: the user stopped the run. In every case finished work is kept.
    """
    with Cache(running.cache) as cache, JudgmentWork(plan, cache) as work:
        tally = run(work.courses(), work.models(), running, planned=plan.jobs, watch=watch, sync=work.sync)
    return report_of(work, tally)


def report_of(work: JudgmentWork, tally: Tally) -> JudgmentReport:
    """Return what was done, once the files are closed."""
    paths = tuple(judge.path for judge in work.plan.judges)
    return JudgmentReport(tally, work.written, work.unparsed, work.superseded, paths, work.lost)
