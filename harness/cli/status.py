"""The command `status`: what is answered, judged and missing, and what the rest would cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness import bench, options, store
from harness.bench import Bench
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import TurnbenchError
from harness.judging.coverage import Coverage, read_coverage
from harness.judging.current import in_words
from harness.judging.plan import plan_judgments
from harness.judging.run import estimate_judgments
from harness.models import ModelConfig
from harness.reporting import Column, Note, Page, Table
from harness.running.estimate import Estimate, total_cost
from harness.types import Answer, split_variant
from harness.words import counted, dollars

STOPPED = "judged by --until, as far as it was needed"


def status(bench_name: str | None = None, **words: Any) -> Page:
    """Return what is answered, judged and missing; `words` are the options of the command.

    Raises:
        UsageError: there is no such benchmark.
    """
    return run(record_from(options.Status, bench_name=bench_name, **words), Console())


def run(record: options.Status, console: Console) -> Page:
    """Show how far a benchmark is."""
    loaded = bench.load_named(record.bench)
    state = page(loaded, calls.configs())
    console.show(state, record.format)
    return state


def page(loaded: Bench, configs: Mapping[str, ModelConfig]) -> Page:
    """Return the state of a benchmark; nothing is written and no lock is taken."""
    models = [_model_row(loaded, model) for model in loaded.answered_models()]
    judges: list[dict[str, Any]] = []
    estimates: list[Estimate] = []
    for judged in read_coverage(loaded):
        row, rest = _judge_row(loaded, judged, configs)
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
    loaded: Bench, judged: Coverage, configs: Mapping[str, ModelConfig]
) -> tuple[dict[str, Any], list[Estimate]]:
    """Return what one judge has judged, and what is left by the plan of the same command."""
    row: dict[str, Any] = {
        "judge": judged.judge,
        "judge_set": judged.judge_set,
        "mode": judged.mode,
        "baseline": judged.baseline,
        "sample": judged.sample,
        "share": judged.share,
        "judged": judged.judged,
        "missing": None,
        "superseded": judged.changed.total(),
        "failed": 0,
        "unparsed": judged.unread,
        "why": "; ".join(in_words(judged.changed)) or None,
    }
    record = judged.record(loaded)
    row["command"] = options.command_line(record)
    try:
        plan = plan_judgments(
            loaded,
            replace(record, judging=replace(record.judging, skip_missing=True)),
            configs=configs,
            key_needed=False,
        )
    except TurnbenchError as error:
        return row | {"note": str(error)}, []
    tasks = [task for task in plan.tasks if task.sample == judged.sample]
    row["missing"] = sum(len(task.todo) - task.split.changed for task in tasks)
    if judged.stopped:
        row |= {"missing": None, "note": STOPPED}
    for task in tasks:
        row["failed"] += len(store.failures(loaded.folder, f"model_judgment/{task.path.name}"))
    return row, estimate_judgments(plan) if judged.sample == 0 else []


def _answering(loaded: Bench, partial: Sequence[Mapping[str, Any]]) -> options.GenAnswer:
    """Return the options of the command that makes missing answers, of models of one history."""
    names = [split_variant(row["model"]) for row in partial]
    history = names[0][1]
    models = tuple(dict.fromkeys(model for model, source in names if source == history))
    return options.GenAnswer(
        models=options.Models(model=models),
        bench=loaded.named,
        history=options.History(history=history or "own"),
    )


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
    record: Struct
    if not models and not judges:
        state = f"{total}, no answers yet{loaded.nowhere}"
        record = options.GenAnswer(models=options.Models(model=("NAME",)), bench=loaded.named)
    elif partial:
        state = f"{len(partial)} of {counted(len(models), 'model')} lack answers"
        record = _answering(loaded, partial)
    elif not judges:
        state = f"{state}, no judgments yet"
        judging = options.Judging(judge_model=("NAME",))
        record = options.GenJudgment(judging=judging, bench=loaded.named)
    elif not left:
        stopped = any(row.get("note") == STOPPED for row in judges)
        state += f", {STOPPED if stopped else 'all judgments are there'}"
        record = options.ShowResult(bench=loaded.named.shown)
    else:
        number = sum((row["missing"] or 0) + (row["superseded"] or 0) for row in left)
        state += f"; {counted(number, 'judgment')} missing"
        cost = total_cost(estimates)
        state += f" (up to {dollars(cost[1])})" if cost and cost[1] else ""
        return f"{loaded.name}: {state}. Next:\n{left[0]['command']}"
    return f"{loaded.name}: {state}. Next:\n{options.command_line(record)}"
