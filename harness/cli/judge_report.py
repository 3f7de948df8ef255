"""The command `judge_report`."""

from collections.abc import Sequence

from msgspec.structs import replace

from harness import options, registry
from harness.cli.command import run, show
from harness.cli.parser import Parsed
from harness.errors import UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Show one report about a judge; return the exit code."""
    return run("judge_report", options.JudgeReport, _work, argv)


def _work(parsed: Parsed) -> int:
    asked: options.JudgeReport = parsed.options
    if not asked.report:
        raise UsageError(f"name a report: {', '.join(registry.names('report'))}")
    if "judge_model" not in parsed.typed and asked.report != "attack":
        # The judge that turnbench.toml names for judging is not the only one to be reported on.
        asked = replace(asked, select=replace(asked.select, judge_model=()))
    page = registry.find("report", asked.report)(asked)
    show(page, asked.output.format)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
