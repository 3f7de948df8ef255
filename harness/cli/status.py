"""The command `status`: what is answered, judged and missing, and what the rest would cost."""

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness import bench, options, store
from harness.bench import Bench
from harness.cli import calls
from harness.cli.command import run, show
from harness.cli.parser import Parsed
from harness.errors import TurnbenchError
from harness.judging.plan import plan_judgments
from harness.judging.run import estimate_judgments
from harness.models import ModelConfig
from harness.reporting import Column, Note, Page, Table
from harness.reporting.page import counted
from harness.running.bar import dollars
from harness.running.estimate import Estimate, total_cost
from harness.types import UNSTATED, Answer, Judgment, split_variant


def main(argv: Sequence[str] | None = None) -> int:
    """Show how far a benchmark is; return the exit code."""
    return run("status", options.Status, _work, argv)


def _work(parsed: Parsed) -> int:
    asked: options.Status = parsed.options
    loaded = bench.load(asked.bench.bench_name, asked.bench.data_dir)
    show(page(loaded, calls.configs(parsed)), asked.format)
    return 0


def page(loaded: Bench, configs: dict[str, ModelConfig] | None = None) -> Page:
    """Return the state of a benchmark; nothing is written and no lock is taken."""
    models = [_model_row(loaded, model) for model in loaded.answered_models()]
    judges, estimates = [], []
    for run_ in _judge_runs(loaded):
        row, left = _judge_row(loaded, run_, configs)
        judges.append(row)
        estimates += left
    failures = Counter(failure.kind for failure in store.failures(loaded.folder))
    notes = [
        Note(f"The last run failed on {counted(number, 'row')}: {kind}")
        for kind, number in failures.most_common(2)
    ]
    tables = [
        Table("", _columns(["model", "answered", *STATE, "not_whole"]), models, "models"),
        Table("", _columns([*_JudgeRun._fields, *JUDGED]), judges, "judges"),
    ]
    facts = {"bench": loaded.name, "questions": len(loaded.questions)}
    tables = [table for table in tables if table.rows]
    return Page(_outcome(loaded, models, judges, estimates), tables, notes=notes, facts=facts)


STATE = ("missing", "superseded", "failed")
STOPPED = "judged by --until, as far as it was needed"
JUDGED = ("share", "judged", *STATE, "unparsed")


class _JudgeRun(NamedTuple):
    """Judgments of one kind by one judge."""

    judge: str
    judge_set: str
    mode: str
    sample: int


def _model_row(loaded: Bench, model: str) -> dict[str, Any]:
    answers = store.latest(loaded.answer_file(model), Answer)
    good = {row.question_id: row for row in answers.values() if store.is_good(row)}
    flagged = Counter(
        detail.finish_reason
        for row in good.values()
        for choice in row.choices
        for detail in choice.details
    )
    asked = {question.question_id: question.hash for question in loaded.questions}
    if split_variant(model)[1] is not None:
        asked = {
            question.question_id: question.hash
            for question in loaded.questions
            if len(question.turns) > 1
        }
    other = [
        key
        for key, row in good.items()
        if key in asked
        and row.made_from is not None
        and row.made_from.question not in (None, asked[key])
    ]
    missing = [key for key in asked if key not in good]
    return {
        "model": model,
        "answered": sum(key in asked for key in good) - len(other),
        "missing": len(missing),
        "superseded": len(other),
        "failed": len(store.failures(loaded.folder, f"model_answer/{_name(loaded, model)}")),
        "not_whole": sum(flagged[reason] for reason in ("length", "refused", "empty")),
        "missing_questions": ", ".join(map(str, missing)) or None,
    }


def _name(loaded: Bench, model: str) -> str:
    return loaded.answer_file(model).name


def _judge_runs(loaded: Bench) -> list[_JudgeRun]:
    """Return the kinds of judgments that there are, in files by any name."""
    found: dict[_JudgeRun, None] = {}
    for file in loaded.judgment_files():
        for place in store.rows(file.path, Judgment):
            row = place.row
            judge_set = row.judge_set
            if judge_set == UNSTATED:
                judge_set = file.name.judge_set if file.name is not None else "mt_bench"
            mode = "single" if row.model is not None else "pairwise-all"
            found[_JudgeRun(row.judge_model, judge_set, mode, row.sample)] = None
    return list(found)


def _judge_row(
    loaded: Bench, own: _JudgeRun, configs: dict[str, ModelConfig] | None
) -> tuple[dict[str, Any], list[Estimate]]:
    """Return what one judge has judged, and what is left by the plan of the same command."""
    rows: dict[Any, Judgment] = {}
    for file in loaded.judgment_files():
        for place in store.rows(file.path, Judgment):
            judgment = place.row
            single = judgment.model is not None
            if (judgment.judge_model, judgment.sample) == (own.judge, own.sample) and (
                single == (own.mode == "single") and judgment.judge_set in (own.judge_set, UNSTATED)
            ):
                rows[judgment.key] = judgment
    row: dict[str, Any] = own._asdict() | {
        "judged": len(rows),
        "missing": None,
        "superseded": None,
        "unparsed": sum(judgment.failed for judgment in rows.values()),
        "failed": 0,
    }
    drawn = [judgment.drawn for judgment in rows.values()]
    shares = [share for share in drawn if share is not None]
    row["share"] = max(shares) if shares and len(shares) == len(drawn) else None
    wanted = options.build(
        options.GenJudgment,
        {
            "judge_model": own.judge,
            "judge_set": own.judge_set,
            "mode": own.mode,
            "share": row["share"],
            "bench_name": loaded.name,
            "data_dir": str(loaded.folder.parent),
            "skip_missing": True,
        },
    )
    try:
        plan = plan_judgments(loaded, wanted, configs=configs, key_needed=False)
    except TurnbenchError as error:
        return row | {"note": str(error)}, []
    tasks = [task for task in plan.tasks if task.sample == own.sample]
    row["superseded"] = sum(task.superseded for task in tasks)
    row["missing"] = sum(len(task.todo) for task in tasks) - row["superseded"]
    if any(judgment.look for judgment in rows.values()):
        row |= {"missing": None, "note": STOPPED}
    for task in tasks:
        row["failed"] += len(store.failures(loaded.folder, f"model_judgment/{task.path.name}"))
    return row, estimate_judgments(plan) if own.sample == 0 else []


def _outcome(
    loaded: Bench,
    models: Sequence[dict[str, Any]],
    judges: Sequence[dict[str, Any]],
    estimates: Sequence[Estimate],
) -> str:
    """Return how far the benchmark is, and the next command."""
    where = "" if loaded.flags == "--bench-name mt_bench" else f" {loaded.flags}"
    total = counted(len(loaded.questions), "question")
    if not models and not judges:
        return f"{loaded.name}: {total}, no answers yet. Next: gen_answer --model NAME{where}"
    partial = [row["model"] for row in models if row["missing"] or row["superseded"]]
    if partial:
        names = " ".join(map(shlex.quote, partial[:3]))
        found = f"{loaded.name}: {len(partial)} of {counted(len(models), 'model')} lack answers"
        return f"{found}. Next: gen_answer --model {names}{where}"
    text = f"{loaded.name}: {counted(len(models), 'model')} answered {total}"
    if not judges:
        return f"{text}, no judgments yet. Next: gen_judgment --judge-model NAME{where}"
    left = [row for row in judges if row["missing"] or row["superseded"]]
    if not left:
        stopped = any(row.get("note") == STOPPED for row in judges)
        there = STOPPED if stopped else "all judgments are there"
        return f"{text}, {there}. Next: show_result{where}"
    number = sum((row["missing"] or 0) + (row["superseded"] or 0) for row in left)
    _, high = total_cost(estimates)
    cost = f" (up to {dollars(high)})" if high else ""
    command = f"gen_judgment --judge-model {shlex.quote(left[0]['judge'])} --mode {left[0]['mode']}"
    if left[0]["share"] is not None:
        command += f" --share {left[0]['share']:g}"
    if left[0]["judge_set"] != (loaded.settings.judge_set or "mt_bench"):
        command += f" --judge-set {left[0]['judge_set']}"
    return f"{text}; {counted(number, 'judgment')} missing{cost}. Next: {command}{where}"


def _columns(names: Sequence[str]) -> list[Column]:
    titles = {
        "superseded": "out of date",
        "not_whole": "cut or refused",
        "unparsed": "no verdict",
        "share": "% of the pairs",
    }
    always = ("answered", "judged", "missing")
    formats = {"share": "%"}
    return [
        Column(name, titles.get(name, ""), formats.get(name, ""), always=name in always)
        for name in names
    ]


if __name__ == "__main__":
    raise SystemExit(main())
