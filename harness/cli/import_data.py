"""The command `import_data`."""

import pathlib
from collections.abc import Sequence
from typing import Any

import harness
from harness import ImportReport, options, registry
from harness.cli import export
from harness.cli.console import Console
from harness.cli.parser import is_bench_named, record_from
from harness.errors import UsageError
from harness.options import ImportData
from harness.reporting import Note, Page
from harness.words import counted, first_lines

_MOST_BAD = 50
_PAIRS = ("judge_pairs", "alpaca_eval", "arena_hard", "battles", "preference_collection")
"""Formats whose answers are compared."""


def import_data(
    format: str | None = None,  # noqa: A002  (the command's word)
    files: Sequence[str | pathlib.Path] = (),
    bench_name: str | None = None,
    **words: Any,
) -> Any:
    """Write what other projects' files hold into a benchmark; return what was read and written.

    `words` are the options of the command; with `back` it is `export`.

    Raises:
        UsageError: no such format, or the number of models fits no number of files.
        DataError: a file cannot be read, no record is usable, or an answer differs from one that
            is there.
        StorageError: the folder cannot be written.
    """
    imports = [] if format is None else [format, *map(str, files)]
    record = record_from(options.ImportData, imports=imports, bench_name=bench_name, **words)
    return run(record, Console())


def run(record: options.ImportData, console: Console) -> Any:
    """Import, or export; say what was done and what comes next."""
    if record.back is not None:
        return export.run(_as_export(record), console)
    if len(record.imports) < 2:
        names = ", ".join(registry.names("importer"))
        raise UsageError(f"give a format and a file; formats: {names}")
    if not is_bench_named(record):
        raise UsageError("name the benchmark with --bench-name: its folder in the data folder")
    form, *files = record.imports
    # The project's judges are those of its own judgments.
    judges = record.judge_model if "judge_model" in record.typed else ()
    if len(judges) > 1:
        raise UsageError(f"--judge-model {' '.join(judges)}: imported judgments have one judge")
    report = registry.find("importing", "import_data")(
        form,
        files,
        record.bench.bench_name,
        data_dir=record.bench.data_dir,
        model_id=record.model_id,
        language=record.language or "en",
        first_n=record.first_n,
        keep_input=record.keep_input,
        judge_model=next(iter(judges), None),
    )
    report_import(report, console)
    for path in report.written:
        console.write(str(path))
    console.tell(f"next: {_next(record, form, report)}")
    return report


def report_import(report: ImportReport, console: Console) -> None:
    """Say what was imported and what was left out."""
    for line in _imported(report):
        console.tell(line)
    if report.bad:
        console.warn("\n  ".join(_left_out(report)))


def page(report: ImportReport) -> Page:
    """Return what was imported and what was left out."""
    notes = [Note("\n".join(_left_out(report)))] if report.bad else []
    return Page("\n".join(_imported(report)), notes=notes)


def _imported(report: ImportReport) -> list[str]:
    numbers = (
        (report.questions, "question"),
        (report.votes, "vote"),
        (report.judgments, "judgment"),
    )
    parts = [counted(number, noun) for number, noun in numbers if number]
    parts += [f"{counted(n, 'answer')} by {model}" for model, n in report.answers.items()]
    lines = [f"{report.folder}: {', '.join(parts) or 'nothing new'}"]
    if report.known:
        lines.append(f"{counted(report.known, 'row')} there already")
    if report.failed:
        advice = "without a preference give no judgment; gen_judgment judges those pairs"
        lines.append(f"{counted(report.failed, 'record')} {advice}")
    return lines


def _left_out(report: ImportReport) -> list[str]:
    number = counted(len(report.bad), "record")
    return [f"{number} left out:", *first_lines(report.bad, _MOST_BAD)]


def _next(record: ImportData, form: str, report: ImportReport) -> str:
    """Return the command to go on with."""
    flags = harness.load_bench(record.bench.bench_name, record.bench.data_dir).flags
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


def _as_export(record: ImportData) -> options.Export:
    """Return the export that `--back` asks for."""
    if record.imports:
        raise UsageError(f"--back takes no files, this is {record.imports[0]!r}")
    return options.Export(
        format=record.back or "",
        bench=record.bench,
        judge_model=record.judge_model,
        judge_set=record.judge_set,
        model_list=record.model_list,
        output=record.output,
    )
