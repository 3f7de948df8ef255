"""The judgments that `benchmarks/results.py` measures are judgments, and the same every time."""

import json
import pathlib
from typing import Any

import pytest

from benchmarks.results import line, write_judgments
from harness.old.judgments.reading import read_judgments


@pytest.mark.parametrize("our_fields", [False, True])
@pytest.mark.parametrize("kind", ["single", "pair"])
def test_the_rows_are_seeded_distinct_and_about_as_long_as_real_ones(
    kind: Any, our_fields: bool, tmp_path: pathlib.Path
) -> None:
    path, again = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write_judgments(path, kind, 2_500, our_fields=our_fields)
    write_judgments(again, kind, 2_500, our_fields=our_fields)
    assert path.read_bytes() == again.read_bytes()
    read = read_judgments(path)
    assert (len(read.observations), read.replaced) == (2_500, 0)
    row = json.loads(path.read_text().splitlines()[0])
    words = [value for name, value in row.items() if name.endswith(("prompt", "judgment")) and name[:6] != "system"]
    assert sum(map(len, words)) == (1_200 if kind == "single" else 2_400)
    assert ("made_from" in row) == our_fields


def test_ratios_are_taken_within_a_round() -> None:
    from benchmarks.results import Run

    measured = {"ours": [Run(1, 2, 30), Run(2, 2, 40), Run(4, 2, 20)], "cat": [Run(wall, 1, 1) for wall in (1, 4, 4)]}
    assert line("pair", 1_000, 5_000_000, measured) == [
        *("pair", "1,000", "5", "2.00", "2000.00", "2.00", "40"),
        *("4.00 (1.0×)", "", ""),
    ]
