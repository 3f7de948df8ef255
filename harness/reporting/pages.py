"""Pages by name: what `show_result` and `judge_report` show, and which flags belong to it.

A page is an entry of the registry's kind `page` or, about judges, `report`. A page with a flag of
its name is shown in place of the results: `--cost` asks for the page `cost`. A flag that other
pages alone have (`Flag.pages` in `options`) is an error beside it. What a page needs is checked
before anything is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from harness import registry
from harness.errors import UsageError
from harness.options import JudgeReport, ShowResult, check_flags, fields, option, value_of
from harness.reporting.formats import frame, text
from harness.reporting.html import fragment
from harness.reporting.page import Page
from harness.results.spent import Cost
from harness.words import counted

if TYPE_CHECKING:  # a table starts without what makes calls
    from harness.judging.plan import JudgePlan
    from harness.models import ModelConfig

RESULTS = "results"
"""The page that is shown where no flag asks for another one."""


@dataclass(frozen=True)
class Result:
    """What `show_result` and `judge_report` return: the page, its rows, the exit code."""

    page: Page
    exit_code: int = 0

    def rows(self) -> Sequence[dict[str, Any]]:
        """Return the rows as dictionaries, unrounded."""
        return self.page.all_rows

    def frame(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        return frame(self.page)

    def __str__(self) -> str:
        return text(self.page)

    def __repr__(self) -> str:
        return f"<Result of {counted(len(self.page.all_rows), 'row')}: print() shows it>"

    def _repr_html_(self) -> str:
        return fragment(self.page)


Options = TypeVar("Options")
Planned: TypeAlias = "Callable[[Options, Mapping[str, ModelConfig]], JudgePlan]"


class PageKind(NamedTuple, Generic[Options]):
    """How a page is made, from the flags of a command."""

    make: Callable[[Options, Cost], Result]
    """From the flags and the price of a reply."""
    check: Callable[[Options], None] = lambda options: None
    """Raises what is wrong with its flags."""
    plan: "Planned[Options] | None" = None
    """Of a page that needs judgments of its own: which; they are made before it."""


def check_report(options: JudgeReport) -> PageKind[JudgeReport]:
    """Return the report about judges that the flags ask for.

    Raises:
        UsageError: there is no such report, or a flag is not for it.
    """
    if not options.report:
        raise UsageError(f"name a report: {', '.join(registry.names('report'))}")
    found: Any = registry.find("report", options.report)
    kind: PageKind[JudgeReport] = found
    check_flags(options, options.report)
    kind.check(options)
    return kind


def check_page(options: ShowResult) -> PageKind[ShowResult]:
    """Return the page that the flags ask for.

    Raises:
        UsageError: they ask for two, or one of them is not for this page, or is wrong.
    """
    pages = registry.TABLE["page"]
    names = [field.name for field in fields(ShowResult) if field.name in pages]
    asked = [name for name in names if value_of(options, name)]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(map(option, asked))} exclude each other")
    name = asked[0] if asked else RESULTS
    check_flags(options, name, {page: option(page) for page in names})
    if name != "against" and len(options.bench.bench_name) > 1:
        raise UsageError("several --bench-name go with --against, which is a gate over all of them")
    page: Any = registry.find("page", name)
    kind: PageKind[ShowResult] = page
    kind.check(options)
    return kind
