"""The command `check_bench`: a benchmark's files looked over before any model is called."""

import pathlib
from typing import Any

from harness import bench, options
from harness.bench.check import BenchReport, look_over
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import TurnbenchError
from harness.judging.plan import plan_judgments
from harness.judging.sets import load, load_for
from harness.reporting import Column, Note, Page, Table
from harness.words import counted, first_lines

_MOST_PROBLEMS = 20


def check_bench(
    bench_name: str | pathlib.Path | None = None,
    data_dir: str | pathlib.Path | None = None,
    **words: Any,
) -> BenchReport:
    """Return the report on a benchmark: a folder, a name in the data folder or a shipped one.

    Raises:
        UsageError: there is no such benchmark.
    """
    words |= {"bench_name": bench_name, "data_dir": data_dir}
    return run(record_from(options.CheckBench, **words), Console())


def run(record: options.CheckBench, console: Console) -> BenchReport:
    """Check a benchmark; what gen_judgment would refuse is a problem too."""
    report = look_over(record.bench_name, record.data_dir)
    if not report.problems:
        report.problems += _refused(report)
    if not report.problems:
        report.notes += _unknown_categories(report)
    console.show(page(report), record.format)
    return report


def _refused(report: BenchReport) -> list[str]:
    """Return what `gen_judgment` would refuse, in its words: judge set, references."""
    try:
        mode = load(report.settings.usual_judge_set, report.folder).mode or "single"
        loaded = bench.load(report.name, report.folder.parent)
        awaited = {model: set(loaded.by_id) for model in ("one model", "another")}
        baseline = "another" if mode == "pairwise-baseline" else None
        record = options.GenJudgment(
            judging=options.Judging(judge_model=("a",), mode=mode, baseline_model=baseline),
            slice=options.Slice(model_list=tuple(awaited)),
            endpoint=options.Address(base_url="http://127.0.0.1:9"),
        )
        plan_judgments(loaded, record, awaited=awaited, key_needed=False)
    except TurnbenchError as error:
        return [str(error)]
    return []


def _unknown_categories(report: BenchReport) -> list[str]:
    """Return which categories neither the judge set nor MT-Bench's temperatures have rules for."""
    judge_set = load_for(bench.load(report.name, report.folder.parent))
    named = judge_set.named_categories
    known = {*named, *bench.usual_temperatures(), *report.settings.categories}
    unknown = sorted({question.category for question in report.questions} - known)
    if not unknown or not named:
        return []
    names, rules = ", ".join(first_lines(unknown, 5)), ", ".join(sorted(named))
    example = f'"{unknown[0]}" = "{min(named)}"'
    return [
        f"the judge set {judge_set.name} has rules for {rules}, and none for {names}; if one of "
        f"these is another name, say so under [categories] of bench.toml: {example}"
    ]


def page(report: BenchReport) -> Page:
    """Return what the benchmark holds and what is wrong with it."""
    settings, problems = report.settings, report.problems
    version = f" {settings.version}" if settings.version else ""
    outcome = f"{report.name}{version}: {bench.size_in_words(report.questions)}"
    if problems:
        lines = first_lines(problems, _MOST_PROBLEMS)
        outcome = "\n".join([f"{outcome}; {counted(len(problems), 'problem')}:", *lines])
    else:
        outcome += f", no problems. Next:\ngen_answer --model NAME --bench-name {report.name}"
    categories = [Column(name) for name in ("category", "questions", "turns", "with_reference")]
    tables = [Table("", categories, report.categories(), "categories")] if report.questions else []
    facts = {
        "bench": report.name,
        "title": settings.title,
        "version": settings.version,
        "sha256": report.sha256,
        "questions": len(report.questions),
        "references": {author: len(keys) for author, keys in report.references.items()},
        "problems": problems,
    }
    return Page(outcome, tables, notes=[Note(note) for note in report.notes], facts=facts)
