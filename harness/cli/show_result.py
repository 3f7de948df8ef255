"""The command `show_result`: which model is better, at what, and how sure that is."""

from collections.abc import Sequence

from harness.cli.command import log, run, show
from harness.cli.parser import Parsed
from harness.options import ShowResult


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run("show_result", ShowResult, work, argv)


def work(parsed: Parsed) -> int:
    """Read, sum up, print; write the report and the charts."""
    from harness.reporting.show_result import price_of, results_of

    options: ShowResult = parsed.options
    if options.report is not None:
        from harness.reporting.html import check_html

        check_html(options.report)  # before anything is computed
    result = results_of(options, price_of(parsed.project.models))
    if options.report is not None:
        from harness.reporting.html import write_html

        write_html(options.report, result.page)
        log.info("wrote %s", options.report)
    if options.charts is not None:
        from harness.reporting.charts import write_charts

        write_charts(options.charts, result.page)
        log.info("wrote the charts into %s", options.charts)
    show(result.page, options.output.format)
    return result.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
