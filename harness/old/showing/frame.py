"""A page's rows as a pandas frame."""

from typing import TYPE_CHECKING

from harness.old.errors import UsageError
from harness.old.showing.items import Page, flat

if TYPE_CHECKING:
    import pandas


def frame(page: Page) -> "pandas.DataFrame":
    """Return the rows, with the columns that csv has.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise UsageError("a frame needs pandas, which is not installed: pip install pandas") from error
    return pandas.DataFrame([flat(row) for row in page.rows])
