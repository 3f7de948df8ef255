"""The command `status`: what is answered, judged and missing, and what the rest would cost."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from harness import bench, options, store
from harness.bench import Bench
from harness.cli import calls
from harness.cli.console import Console
from harness.cli.parser import read_project, record_from
from harness.judging.current import in_words, split_gone, unchecked_in_words
from harness.judging.run import estimate_judgments
from harness.models import ModelConfig
from harness.reporting import Column, Note, Page, Table
from harness.reporting.files import files_page
from harness.results.coverage import (
    Coverage,
    make_answering,
    plan_rest,
    read_coverage,
    split_answers,
)
from harness.results.spent import Cost
from harness.running.estimate import CallEstimate, total_cost
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
    configs = calls.configs()
    state = files_page(loaded, Cost(configs)) if record.files else page(loaded, configs)
    console.show(state, record.format)
    return state


def page(loaded: Bench, configs: Mapping[str, ModelConfig]) -> Page:
    """Return the state of a benchmark; nothing is written and no lock is taken."""
    models = [_model_row(loaded, model, configs) for model in loaded.answered_models()]
    judges: list[dict[str, Any]] = []
    estimates: list[CallEstimate] = []
    coverage = read_coverage(loaded)
    for judged in coverage:
        row, rest = _judge_row(loaded, judged, configs)
        judges.append(row)
        estimates += rest
    failures = Counter(failure.kind for failure in store.failures(loaded.folder))
    notes = [
        Note(f"The last run failed on {counted(number, 'row')}: {kind}")
        for kind, number in failures.most_common(2)
    ]
    gone = sum((split_gone(judged.changed)[0] for judged in coverage), Counter[str]())
    notes += list(map(Note, in_words(gone)))
    if coverage and (unchecked := coverage[0].scores.unchecked):
        notes.append(Note(unchecked_in_words(unchecked)))
    if not any(row["missing"] or row["superseded"] for row in models):
        left_out = dict.fromkeys(row["left_out"] for row in judges if row["left_out"])
        notes += [Note(f"Not judged: {text}") for text in left_out]
    of_judges = [Column("judge"), Column("judge_set"), Column("mode")]
    of_judges += [Column("sample", optional=True), Column("share", "% of the pairs", "%")]
    tables = [
        Table("", [Column("model"), *_counts("answered", models)], models, "models"),
        Table("", [*of_judges, *_counts("judged", judges)], judges, "judges"),
    ]
    return Page(
        _outcome(loaded, models, judges, estimates, configs),
        [table for table in tables if table.rows],
        notes=notes,
        facts={"bench": loaded.name, "questions": len(loaded.questions)},
    )


def _counts(done: str, rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return the columns of what is done and missing, and of what there is any of."""
    others = {
        "superseded": "out of date",
        "failed": "",
        "unparsed": "no verdict",
        "not_whole": "cut or refused",
    }
    there = (name for name in others if any(row.get(name) for row in rows))
    always = [Column(done, always=True), Column("missing", always=True)]
    return [*always, *(Column(name, others[name], always=True) for name in there)]


def line(loaded: Bench) -> str:
    """Return how far the judging is, such as "5,120 of 6,400 judged, 12 failed, 3 min ago".

    Empty: nothing is judged.
    """
    tables = page(loaded, calls.configs()).tables
    judges = next((table.rows for table in tables if table.name == "judges"), ())
    if not judges:
        return ""
    judged, failed = (sum(row[name] for row in judges) for name in ("judged", "failed"))
    left = sum((row["missing"] or 0) + row["superseded"] for row in judges)
    # Of a judge that cannot be called from here nobody knows how much is missing.
    known = all(row["missing"] is not None or row.get("note") == STOPPED for row in judges)
    of = f" of {judged + left:,}" if known else ""
    last = max(file.path.stat().st_mtime for file in loaded.judgment_files())
    minutes = int(max(0.0, time.time() - last) // 60)
    ago = f"{minutes} min ago" if minutes < 120 else f"{minutes // 60:,} h ago"
    parts = [f"{judged:,}{of} judged", f"{failed:,} failed" if failed else "", ago]
    return ", ".join(part for part in parts if part)


def _model_row(loaded: Bench, model: str, configs: Mapping[str, ModelConfig]) -> dict[str, Any]:
    """Return what a model has answered, and what is left by the plan of `gen_answer`."""
    path = loaded.answer_file(model)
    rows = loaded.answers(model)
    done = split_answers(loaded, model, configs)
    todo = done.todo
    details = [d for row in rows.values() for choice in row.choices for d in choice.details]
    missing = [str(question.question_id) for question in todo if question.question_id not in rows]
    return {
        "model": model,
        "answered": done.done,
        "missing": len(todo) - done.changed,
        "superseded": done.changed,
        "failed": len(store.failures(loaded.folder, f"model_answer/{path.name}")),
        "not_whole": sum(d.finish_reason in ("length", "refused", "empty") for d in details),
        "missing_questions": ", ".join(missing) or None,
        "why": "; ".join(done.causes) or None,
    }


def _judge_row(
    loaded: Bench, judged: Coverage, configs: Mapping[str, ModelConfig]
) -> tuple[dict[str, Any], list[CallEstimate]]:
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
        "superseded": split_gone(judged.changed)[1].total(),
        "failed": 0,
        "unparsed": judged.unread,
        "left_out": None,
        "why": "; ".join(in_words(judged.changed)) or None,
    }
    record, plan, fault = plan_rest(loaded, judged, configs)
    row["command"] = options.command_line(record)
    if plan is None:
        return row | {"note": fault}, []
    tasks = [task for task in plan.tasks if task.sample == judged.sample]
    row["missing"] = sum(len(task.todo) - task.split.changed for task in tasks)
    row["left_out"] = "; ".join(plan.lacking) or None
    if judged.stopped:
        row |= {"missing": None, "note": STOPPED}
    for task in tasks:
        row["failed"] += len(store.failures(loaded.folder, f"model_judgment/{task.path.name}"))
    return row, estimate_judgments(plan) if judged.sample == 0 else []


def _outcome(
    loaded: Bench,
    models: Sequence[Mapping[str, Any]],
    judges: Sequence[Mapping[str, Any]],
    estimates: Sequence[CallEstimate],
    configs: Mapping[str, ModelConfig],
) -> str:
    """Return how far the benchmark is, and the next command."""
    total = counted(len(loaded.questions), "question")
    unplanned = [row for row in judges if row["missing"] is None and row["note"] != STOPPED]
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
        record = make_answering(loaded, [row["model"] for row in partial], configs)
    elif not judges:
        state = f"{state}, no judgments yet"
        named = read_project().judge_model is not None  # the command is told there
        judging = options.Judging(judge_model=() if named else ("NAME",))
        record = options.GenJudgment(judging=judging, bench=loaded.named)
    elif not left and unplanned:
        row = unplanned[0]
        state += f"; what {row['judge']} has still to judge is not known: {row['note']}"
        record = options.ShowResult(bench=loaded.named.shown)
    elif not left:
        stopped = any(row.get("note") == STOPPED for row in judges)
        possible = " that can be made" if any(row["left_out"] for row in judges) else ""
        state += f", {STOPPED if stopped else f'all judgments{possible} are there'}"
        record = options.ShowResult(bench=loaded.named.shown)
    else:
        number = sum((row["missing"] or 0) + (row["superseded"] or 0) for row in left)
        state += f"; {counted(number, 'judgment')} missing"
        cost = total_cost(estimates)
        state += f" (up to {dollars(cost[1])})" if cost and cost[1] else ""
        return f"{loaded.name}: {state}. Next:\n{left[0]['command']}"
    return f"{loaded.name}: {state}. Next:\n{options.command_line(record)}"
