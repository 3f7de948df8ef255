"""The command `check_bench`: a benchmark's files looked over before any model is called."""

from collections.abc import Sequence
from typing import Any

from harness import bench, options
from harness.bench.check import BenchReport, check_bench
from harness.cli.command import run, show
from harness.cli.parser import Parsed
from harness.errors import TurnbenchError
from harness.judging.plan import plan_judgments
from harness.judging.sets import load
from harness.reporting import Column, Note, Page, Table
from harness.reporting.page import counted


def main(argv: Sequence[str] | None = None) -> int:
    """Check a benchmark; return 1 if something is wrong with it."""
    return run("check_bench", options.CheckBench, _work, argv)


def _work(parsed: Parsed) -> int:
    asked: options.CheckBench = parsed.options
    report = check_bench(asked.which, asked.data_dir)
    if not report.problems:
        report.problems += _refused(report)
    show(page(report), asked.format)
    return 1 if report.problems else 0


def _refused(report: BenchReport) -> list[str]:
    """Return what `gen_judgment` would refuse, in its words: judge set, references."""
    name = report.settings.judge_set or "mt_bench"
    try:
        judge_set = load(name, report.folder)
        loaded = bench.load(report.name, report.folder.parent)
        mode = judge_set.mode or "single"
        awaited = {model: set(loaded.by_id) for model in ("one model", "another")}
        words: dict[str, Any] = {
            "judge_model": "a-judge",
            "base_url": "http://127.0.0.1:9",
            "judge_set": name,
        }
        words |= {"mode": mode, "model_list": [*awaited], "baseline_model": "another"}
        words |= {"bench_name": report.name, "data_dir": str(report.folder.parent)}
        if mode != "pairwise-baseline":
            del words["baseline_model"]
        record = options.build(options.GenJudgment, words)
        plan_judgments(loaded, record, awaited=awaited, key_needed=False)
    except TurnbenchError as error:
        return [str(error)]
    return []


def page(report: BenchReport) -> Page:
    """Return what the benchmark holds and what is wrong with it."""
    settings = report.settings
    version = f" {settings.version}" if settings.version else ""
    turns = sorted({len(question.turns) for question in report.questions})
    of_turns = f" of {turns[0]} to {turns[-1]} turns" if len(turns) > 1 else ""
    if len(turns) == 1:
        of_turns = f" of {counted(turns[0], 'turn')}"
    held = f"{report.name}{version}: {counted(len(report.questions), 'question')}{of_turns}"
    if report.problems:
        found = counted(len(report.problems), "problem")
        shown = report.problems[:20]
        more = [f"and {len(report.problems) - 20} more"] if len(report.problems) > 20 else []
        outcome = "\n".join([f"{held}; {found}:", *shown, *more])
    else:
        where = f"--bench-name {report.name}"
        outcome = f"{held}, no problems. Next: gen_answer --model NAME {where}"
    categories = [Column(name) for name in ("category", "questions", "turns", "with_reference")]
    tables = [Table("", categories, report.categories(), "categories")] if report.questions else []
    if fields := report.fields():
        columns = [Column("field"), Column("value"), Column("questions")]
        tables.append(Table("fields", columns, fields, "fields", only="json"))
    facts = {
        "bench": report.name,
        "title": settings.title,
        "version": settings.version,
        "sha256": report.sha256,
        "questions": len(report.questions),
        "references": {author: len(keys) for author, keys in report.references.items()},
        "problems": report.problems,
    }
    return Page(outcome, tables, notes=[Note(note) for note in report.notes], facts=facts)


if __name__ == "__main__":
    raise SystemExit(main())
