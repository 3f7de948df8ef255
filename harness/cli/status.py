"""The command `status`: what is answered, judged and missing, and what the rest would cost."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from harness import bench, options, store
from harness.bench import Bench
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import TurnbenchError
from harness.judging.plan import plan_judgments
from harness.judging.run import estimate_judgments
from harness.models import ModelConfig
from harness.reporting import Column, Note, Page, Table
from harness.running.estimate import Estimate, total_cost
from harness.types import UNSTATED, Answer, Judgment, Mode, split_variant
from harness.words import counted, dollars

_Judging: TypeAlias = tuple[str, str, Mode, int]
"""Judge, judge set, mode and sample."""
_State: TypeAlias = tuple[bool, float | None, int | None]
"""Of a judgment, whether it has no verdict, and the share of the pairs or look it is of."""
STOPPED = "judged by --until, as far as it was needed"


def status(bench_name: str | None = None, **words: Any) -> Page:
    """Return what is answered, judged and missing; `words` are the options of the command.

    Raises:
        UsageError: there is no such benchmark.
    """
    return run(record_from(options.Status, bench_name=bench_name, **words), Console())


def run(record: options.Status, console: Console) -> Page:
    """Show how far a benchmark is."""
    loaded = bench.load(record.bench.bench_name, record.bench.data_dir)
    state = page(loaded, calls.configs())
    console.show(state, record.format)
    return state


def page(loaded: Bench, configs: Mapping[str, ModelConfig]) -> Page:
    """Return the state of a benchmark; nothing is written and no lock is taken."""
    models = [_model_row(loaded, model) for model in loaded.answered_models()]
    judges: list[dict[str, Any]] = []
    estimates: list[Estimate] = []
    for judging, states in _judgments(loaded).items():
        row, rest = _judge_row(loaded, judging, states, configs)
        judges.append(row)
        estimates += rest
    failures = Counter(failure.kind for failure in store.failures(loaded.folder))
    notes = [
        Note(f"The last run failed on {counted(number, 'row')}: {kind}")
        for kind, number in failures.most_common(2)
    ]
    rest_columns = [
        Column("missing", always=True),
        Column("superseded", "out of date"),
        Column("failed"),
    ]
    of_models = [Column("model"), Column("answered", always=True), *rest_columns]
    of_judges = [Column("judge"), Column("judge_set"), Column("mode")]
    of_judges += [Column("sample", optional=True), Column("share", "% of the pairs", "%")]
    of_judges += [Column("judged", always=True), *rest_columns, Column("unparsed", "no verdict")]
    tables = [
        Table("", [*of_models, Column("not_whole", "cut or refused")], models, "models"),
        Table("", of_judges, judges, "judges"),
    ]
    return Page(
        _outcome(loaded, models, judges, estimates),
        [table for table in tables if table.rows],
        notes=notes,
        facts={"bench": loaded.name, "questions": len(loaded.questions)},
    )


def _judgments(loaded: Bench) -> dict[_Judging, dict[Any, _State]]:
    """Return the judgments that count, by judge, judge set, mode and sample, in whatever files."""
    kinds: dict[_Judging, dict[Any, _State]] = {}
    for file in loaded.judgment_files():
        for row, *_ in store.rows(file.path, Judgment):
            judge_set = row.judge_set
            if judge_set == UNSTATED:
                judge_set = file.name.judge_set if file.name is not None else "mt_bench"
            mode: Mode = "single" if row.model is not None else "pairwise-all"
            states = kinds.setdefault((row.judge_model, judge_set, mode, row.sample), {})
            if not row.failed or row.key not in states:
                states[row.key] = row.failed, row.drawn, row.look
    return kinds


def _model_row(loaded: Bench, model: str) -> dict[str, Any]:
    path = loaded.answer_file(model)
    rows = store.latest(path, Answer).values()
    good = {row.question_id: row for row in rows if store.is_good(row)}
    # A variant continues a given first turn, so it answers only where a second one follows.
    least = 1 if split_variant(model)[1] is None else 2
    hashes = {q.question_id: q.hash for q in loaded.questions if len(q.turns) >= least}
    current = [
        row.made_from is None or row.made_from.question in (None, hashes[key])
        for key, row in good.items()
        if key in hashes
    ]
    missing = [key for key in hashes if key not in good]
    details = [d for row in good.values() for choice in row.choices for d in choice.details]
    return {
        "model": model,
        "answered": sum(current),
        "missing": len(missing),
        "superseded": len(current) - sum(current),
        "failed": len(store.failures(loaded.folder, f"model_answer/{path.name}")),
        "not_whole": sum(d.finish_reason in ("length", "refused", "empty") for d in details),
        "missing_questions": ", ".join(map(str, missing)) or None,
    }


def _judge_row(
    loaded: Bench,
    judging: _Judging,
    states: Mapping[Any, _State],
    configs: Mapping[str, ModelConfig],
) -> tuple[dict[str, Any], list[Estimate]]:
    """Return what one judge has judged, and what is left by the plan of the same command."""
    judge, judge_set, mode, sample = judging
    failed, shares, looks = zip(*states.values(), strict=True)
    share = None if None in shares else max(shares)
    # A model that is in every pair of several is a baseline: its judge is not to judge the others.
    pairs = {frozenset(models) for _, _, models, *_ in states}
    baseline = next(iter(frozenset.intersection(*pairs)), None) if len(pairs) > 1 else None
    if mode == "pairwise-all" and share is None and baseline is not None:
        mode = "pairwise-baseline"
    row: dict[str, Any] = {
        "judge": judge,
        "judge_set": judge_set,
        "mode": mode,
        "baseline": baseline if mode == "pairwise-baseline" else None,
        "sample": sample,
        "share": share,
        "judged": len(states),
        "missing": None,
        "superseded": None,
        "failed": 0,
        "unparsed": sum(failed),
    }
    record = options.GenJudgment(
        judging=options.Judging(
            judge_model=(judge,),
            judge_set=judge_set,
            mode=mode,
            baseline_model=row["baseline"],
            share=share,
            skip_missing=True,
        )
    )
    try:
        plan = plan_judgments(loaded, record, configs=configs, key_needed=False)
    except TurnbenchError as error:
        return row | {"note": str(error)}, []
    tasks = [task for task in plan.tasks if task.sample == sample]
    row["superseded"] = sum(task.superseded for task in tasks)
    row["missing"] = sum(len(task.todo) for task in tasks) - row["superseded"]
    if any(looks):
        row |= {"missing": None, "note": STOPPED}
    for task in tasks:
        row["failed"] += len(store.failures(loaded.folder, f"model_judgment/{task.path.name}"))
    return row, estimate_judgments(plan) if sample == 0 else []


def _outcome(
    loaded: Bench,
    models: Sequence[Mapping[str, Any]],
    judges: Sequence[Mapping[str, Any]],
    estimates: Sequence[Estimate],
) -> str:
    """Return how far the benchmark is, and the next command."""
    total = counted(len(loaded.questions), "question")
    partial, left = (
        [row for row in rows if row["missing"] or row["superseded"]] for rows in (models, judges)
    )
    state = f"{counted(len(models), 'model')} answered {total}"
    if not models and not judges:
        state, command = f"{total}, no answers yet", "gen_answer --model NAME"
    elif partial:
        state = f"{len(partial)} of {counted(len(models), 'model')} lack answers"
        names = " ".join(shlex.quote(row["model"]) for row in partial[:3])
        command = f"gen_answer --model {names}"
    elif not judges:
        state, command = f"{state}, no judgments yet", "gen_judgment --judge-model NAME"
    elif not left:
        stopped = any(row.get("note") == STOPPED for row in judges)
        state += f", {STOPPED if stopped else 'all judgments are there'}"
        command = "show_result"
    else:
        number = sum((row["missing"] or 0) + (row["superseded"] or 0) for row in left)
        state += f"; {counted(number, 'judgment')} missing"
        cost = total_cost(estimates)
        state += f" (up to {dollars(cost[1])})" if cost and cost[1] else ""
        row = left[0]
        command = f"gen_judgment --judge-model {shlex.quote(row['judge'])} --mode {row['mode']}"
        command += f" --baseline-model {shlex.quote(row['baseline'])}" if row["baseline"] else ""
        command += "" if row["share"] is None else f" --share {row['share']:g}"
        if row["judge_set"] != (loaded.settings.judge_set or "mt_bench"):
            command += f" --judge-set {row['judge_set']}"
    where = "" if loaded.flags == "--bench-name mt_bench" else f" {loaded.flags}"
    return f"{loaded.name}: {state}. Next: {command}{where}"
