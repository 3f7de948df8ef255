"""`status --files`: one line a file, with the counts and the cost of the other pages."""

import pathlib
from typing import Any

import harness


def test_files_add_up_to_what_results_and_costs_say(tmp_path: pathlib.Path) -> None:
    where: dict[str, Any] = {"data_dir": str(tmp_path)}
    harness.gen_answer(["builtin/outline", "builtin/eliza"], first_n=3, **where)
    harness.gen_judgment("builtin/overlap", first_n=3, **where)
    page = harness.status(files=True, **where)
    rows = {row["file"]: row for row in page.all_rows}
    answers = rows["model_answer/builtin%2Foutline.jsonl"]
    grades = rows["model_judgment/builtin%2Foverlap_single.jsonl"]
    assert (answers["rows"], answers["model"]) == (3, "builtin/outline")
    assert (grades["rows"], grades["judge_set"], grades["unread"]) == (12, "mt_bench 1", 0)
    assert grades["sampling"] == "max tokens 4096, temperature 0"
    assert len(rows) == 3
    cost = harness.show_result(cost=True, **where)
    assert sum(row["cost"] for row in rows.values()) == cost.page.facts["total"]
    file = tmp_path / "mt_bench" / "model_answer" / "builtin%2Foutline.jsonl"
    file.write_text(file.read_text().replace('"turns":["', '"turns":["Another. '))
    page = harness.status(files=True, **where)
    rows = {row["file"]: row for row in page.all_rows}
    assert rows["model_judgment/builtin%2Foverlap_single.jsonl"]["rows"] == 6
    assert page.notes[0].text.startswith("Not counted: 6 judgments")
