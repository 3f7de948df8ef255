"""The command `import_data`."""

import harness
from harness import ImportReport, registry
from harness.cli.command import first_lines, log
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.options import ImportData
from harness.reporting.page import counted

_MOST_BAD = 50
_PAIRS = ("judge_pairs", "alpaca_eval", "arena_hard", "battles", "preference_collection")
"""Formats whose answers are compared."""


def work(parsed: Parsed) -> int:
    """Import, or export; say what was done and what comes next."""
    options: ImportData = parsed.options
    if options.back is not None:
        return _export(options)
    if len(options.imports) < 2:
        names = ", ".join(registry.names("importer"))
        raise UsageError(f"give a format and a file; formats: {names}")
    if "bench_name" not in parsed.typed and parsed.project.bench_name is None:
        raise UsageError("name the benchmark with --bench-name: its folder in the data folder")
    form, *files = options.imports
    report = harness.import_data(
        form,
        files,
        options.bench.bench_name,
        data_dir=options.bench.data_dir,
        model_id=options.model_id,
        language=options.language or "en",
        first_n=options.first_n,
        keep_input=options.keep_input,
        judge_model=options.judge_model,
    )
    report_import(report)
    for path in report.written:
        print(path)
    log.info("next: %s", _next(options, form, report))
    return 1 if report.bad else 0


def report_import(report: ImportReport) -> None:
    """Say what was imported and what was left out."""
    numbers = (
        (report.questions, "question"),
        (report.votes, "vote"),
        (report.judgments, "judgment"),
    )
    parts = [counted(number, noun) for number, noun in numbers if number]
    parts += [f"{counted(n, 'answer')} by {model}" for model, n in report.answers.items()]
    log.info("%s: %s", report.folder, ", ".join(parts) or "nothing new")
    if report.known:
        log.info("%s there already", counted(report.known, "row"))
    if report.failed:
        advice = "without a preference give no judgment; gen_judgment judges those pairs"
        log.info("%s %s", counted(report.failed, "record"), advice)
    if report.bad:
        left_out = f"{counted(len(report.bad), 'record')} left out:"
        log.warning("\n  ".join([left_out, *first_lines(report.bad, _MOST_BAD)]))


def _next(options: ImportData, form: str, report: ImportReport) -> str:
    """Return the command to go on with."""
    flags = harness.load_bench(options.bench.bench_name, options.bench.data_dir).flags
    if report.judgments:
        return f"show_result {flags}"
    if not report.answers and form != "votes":
        return f"gen_answer {flags} --model MODEL"
    if form == "ifeval":
        return f"turnbench auto_checks {flags}"
    flags += " --judge-model JUDGE"
    if form in _PAIRS:
        flags += " --mode pairwise-all"
    if form in ("battles", "judge_pairs"):
        flags += f" --votes {report.folder}/human_judgment/{form}.jsonl"
    return f"gen_judgment {flags}"


def _export(options: ImportData) -> int:
    if options.output is None:
        raise UsageError("name where to write with --output: a file, for alpaca_eval a folder")
    if options.imports:
        raise UsageError(f"--back takes no files, this is {options.imports[0]!r}")
    report = harness.import_back(
        options.back or "",
        options.output,
        options.bench.bench_name,
        data_dir=options.bench.data_dir,
        judge_model=options.judge_model,
        judge_set=options.judge_set,
        model_list=options.model_list,
    )
    for name, count in sorted(report.records.items()):
        what = f"grade {name}" if options.back == "feedback_collection" else name
        log.info("%s: %s", what, counted(count, "record"))
    if report.left_out:
        reason = "no grade of a first turn, from 1 to 5, by the question's own rubric"
        log.warning("%s left out: %s", counted(report.left_out, "judgment"), reason)
    for path in report.written:
        print(path)
    return 0
