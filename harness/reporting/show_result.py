"""`show_result`: from its flags to the page that they ask for."""

from harness.options import ShowResult
from harness.reporting import pages
from harness.reporting.pages import Result as Result
from harness.results.spent import Cost


def results_of(options: ShowResult, cost: Cost | None = None) -> Result:
    """Return the page that an options record asks for.

    Args:
        options: the flags.
        cost: the price of a reply, for --cost and --efficiency (default: the list's).
    """
    return pages.check_page(options).make(options, cost or Cost())
