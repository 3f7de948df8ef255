"""What became of a plan, on the page of results."""

from dataclasses import replace
from pathlib import Path

from harness.reporting.page import Column, Page, Table
from harness.reporting.selecting import Judged
from harness.results.planned import check_plan, read_plan
from harness.words import listed


def with_plan(page: Page, path: Path, judged: Judged) -> Page:
    """Return a page that also says what of a plan was kept and what was not.

    Raises:
        DataError: the file is no plan.
    """
    plan = read_plan(path)
    points = check_plan(plan, judged.bench, judged.groups)
    broken = [point.name for point in points if not point.kept]
    sentence = f"The plan of {plan.made[:10]} was kept in all {len(points)} points."
    if broken:
        sentence = f"The plan of {plan.made[:10]} was not kept in: {listed(broken, 9)}."
    if plan.margin is not None:
        sentence += f" Its margin is {plan.margin:g}: --against --margin tests it."
    rows = [
        {"point": p.name, "planned": p.planned, "found": p.found, "kept": p.kept} for p in points
    ]
    columns = [Column("point"), *(Column(key, always=True) for key in ("planned", "found", "kept"))]
    table = Table(f"The plan in {path.name}", columns, rows, name="plan")
    return replace(page, outcome=f"{page.outcome}\n{sentence}", tables=[*page.tables, table])
