"""The command `show_result`: which model is better, at what, and how sure that is."""

from harness.cli.command import log, show
from harness.cli.parser import Parsed
from harness.options import ShowResult
from harness.reporting.charts import write_charts
from harness.reporting.html import check_html, write_html
from harness.reporting.show_result import price_of, results_of


def work(parsed: Parsed) -> int:
    """Read, sum up, print; write the report and the charts."""
    options: ShowResult = parsed.options
    if options.report is not None:
        check_html(options.report)  # before anything is computed
    result = results_of(options, price_of(parsed.project.models))
    if options.report is not None:
        write_html(options.report, result.page)
        log.info("wrote %s", options.report)
    if options.charts is not None:
        write_charts(options.charts, result.page)
        log.info("wrote the charts into %s", options.charts)
    show(result.page, options.output.format)
    return result.exit_code
