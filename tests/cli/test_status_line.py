"""The line of the viewer that says how far the judging is."""

import pathlib
from typing import Any

import harness
from harness import bench
from harness.cli import status


def test_the_line_counts_what_status_counts(tmp_path: pathlib.Path) -> None:
    where: dict[str, Any] = {"data_dir": str(tmp_path)}
    harness.gen_answer(["builtin/outline"], first_n=3, **where)
    assert status.line(bench.load("mt_bench", tmp_path)) == ""
    harness.gen_judgment("builtin/overlap", first_n=3, **where)
    page = harness.status("mt_bench", **where)
    judges = next(table.rows for table in page.tables if table.name == "judges")[0]
    total = judges["judged"] + judges["missing"]
    line = status.line(bench.load("mt_bench", tmp_path))
    assert line == f"{judges['judged']} of {total} judged, 0 min ago"
