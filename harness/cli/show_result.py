"""The command `show_result`: which model is better, at what, and how sure that is."""

from typing import Any

from harness import options
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.cli.project import configs
from harness.reporting.charts import write_charts
from harness.reporting.html import check_html, write_html
from harness.reporting.show_result import Result, results_of
from harness.results.spent import Cost


def show_result(mode: str | None = None, **words: Any) -> Result:
    """Return the results of a benchmark; `words` are the options of the command.

    >>> show_result("single", bench_name="mt_bench", judge_model="gpt-4.1").rows()  # doctest: +SKIP

    Raises:
        UsageError: an option is unknown or cannot be.
        MissingError: there are no such judgments.
        DataError: a row is invalid; with file and line.
    """
    return run(record_from(options.ShowResult, mode=mode, **words), Console())


def run(record: options.ShowResult, console: Console) -> Result:
    """Read, sum up, show; write the report and the charts."""
    if record.report is not None:
        check_html(record.report)  # before anything is computed
    result = results_of(record, Cost(configs()))
    if record.report is not None:
        write_html(record.report, result.page)
        console.tell(f"wrote {record.report}")
    if record.charts is not None:
        write_charts(record.charts, result.page)
        console.tell(f"wrote the charts into {record.charts}")
    console.show(result.page, record.output.format)
    return result
