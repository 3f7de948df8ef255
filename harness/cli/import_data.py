"""The command `import_data`."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import harness
from harness import registry
from harness.cli import command
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.options import ImportData

if TYPE_CHECKING:
    from harness import ImportReport

log = logging.getLogger("turnbench")
_MOST_SHOWN = 50
_PAIRS = ("alpaca_eval", "battles", "preference_collection")
"""Formats whose answers are compared."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("import_data", ImportData, work, argv)


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
    parts = [_counted(report.questions, "question")] if report.questions else []
    parts += [f"{_counted(n, 'answer')} by {model}" for model, n in report.answers.items()]
    parts += [_counted(report.votes, "vote")] if report.votes else []
    parts += [_counted(report.judgments, "judgment")] if report.judgments else []
    log.info("%s: %s", report.folder, ", ".join(parts) or "nothing new")
    if report.known:
        log.info("%s there already", _counted(report.known, "row"))
    if report.failed:
        advice = "without a preference give no judgment; gen_judgment judges those pairs"
        log.info("%s %s", _counted(report.failed, "record"), advice)
    if report.bad:
        lines = report.bad[:_MOST_SHOWN]
        if len(lines) < len(report.bad):
            lines = [*lines, f"and {len(report.bad) - len(lines)} more"]
        log.warning("%s left out:\n  %s", _counted(len(report.bad), "record"), "\n  ".join(lines))
    for path in report.written:
        print(path)
    _say_next(options, form, report)
    return 1 if report.bad else 0


def _say_next(options: ImportData, form: str, report: "ImportReport") -> None:
    flags = f"--bench-name {options.bench.bench_name}"
    if options.bench.data_dir != "data":
        flags += f" --data-dir {options.bench.data_dir}"
    if report.judgments:
        log.info("next: show_result %s", flags)
        return
    if not report.answers and form != "votes":
        log.info("next: gen_answer %s --model MODEL", flags)
    flags += " --judge-model JUDGE"
    if form in _PAIRS:
        flags += " --mode pairwise-all"
        if form == "battles":
            flags += f" --votes {report.folder}/human_judgment/battles.jsonl"
    log.info("next: gen_judgment %s", flags)


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
        log.info("%s: %s", what, _counted(count, "record"))
    if report.left_out:
        reason = "no grade of a first turn, from 1 to 5, by the question's own rubric"
        log.warning("%s left out: %s", _counted(report.left_out, "judgment"), reason)
    for path in report.written:
        print(path)
    return 0


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


if __name__ == "__main__":
    raise SystemExit(main())
