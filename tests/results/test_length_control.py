"""alpaca_eval's length control: its published values, and where nothing can be estimated."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from harness import bench
from harness.errors import DataError
from harness.results import of_rows
from harness.results.length_control import fit, length_controlled, parse_gamed, read_gamed
from harness.types import Judgment
from tests.results.rows import answered, preference

PUBLISHED = (
    "NullModel",
    "FuseChat-Llama-3.1-8B-Instruct",
    "claude-2",
    "gpt-3.5-turbo-1106",
    "gpt-3.5-turbo-1106_verbose",
    "vicuna-7b",
    "alpaca-7b",
)


@pytest.mark.reference
@pytest.mark.parametrize("model", [*PUBLISHED, "gpt35_turbo_instruct"])
def test_the_rates_are_those_of_alpaca_eval(model: str, reference_data: Path) -> None:
    folder = reference_data / "alpaca_eval"
    gamed = parse_gamed(folder / "df_gamed_reconstructed.csv.gz")
    with gzip.open(folder / "lc_rows.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    with (folder / "official_values.csv").open() as file:
        values = {row["model"]: row for row in csv.DictReader(file)}
    fitted = fit(
        np.array([float(row["len_baseline"]) - float(row["len_model"]) for row in rows]),
        np.array([gamed.difficulty[int(row["instruction_index"])] for row in rows]),
        np.array([float(row["preference"] or "nan") - 1 for row in rows]),
        gamed,
    )
    assert fitted is not None
    rate, error, refitted = fitted
    assert refitted.value == rate
    if model not in PUBLISHED:  # rows are missing: the published 17.73 looks difficulty up by row
        assert 100 * rate == pytest.approx(14.96, abs=0.005)
        return
    expected = values[model]
    published = expected["pkg_length_controlled_winrate"], expected["pkg_lc_standard_error"]
    assert (100 * rate, 100 * error) == pytest.approx(tuple(map(float, published)), abs=1e-10)


@pytest.fixture
def small(tmp_path: Path) -> bench.Bench:
    """Return a benchmark of 40 instructions, answered by a longer model and the baseline."""
    sizes = {"base": 100, "m": 120}
    texts = {m: ["t" * (n + 7 * (q * n % 11)) for q in range(40)] for m, n in sizes.items()}
    return answered(tmp_path, texts)


def gamed_file(folder: Path, *, instructions: int = 40) -> Path:
    path = folder / "df_gamed.csv"
    lines = [f"{0.5},{q},{q % 5 / 5},{0.1 * (q % 3)}" for q in range(instructions)]
    head = "preference,index,std_delta_len,instruction_difficulty"
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def judged(count: int = 40) -> list[Judgment]:
    return [preference(q, "m", "base", 0.6 + 0.3 * (q % 2)) for q in range(count)]


def test_each_model_has_a_rate_and_the_side_of_the_pair_does_not_matter(small: bench.Bench) -> None:
    gamed_file(small.folder)
    turned = [
        preference(q, "base", "m", 1 - (row.g1_preference or 0)) for q, row in enumerate(judged())
    ]
    (one,) = length_controlled(of_rows(judged()), small, "base", read_gamed(small))
    (two,) = length_controlled(of_rows(turned), small, "base", read_gamed(small))
    assert one.length_controlled_winrate is not None
    assert 60 < one.length_controlled_winrate < 90
    assert one == two


@pytest.mark.parametrize(
    ("instructions", "count", "reason"),
    [
        pytest.param(
            805, 40, "df_gamed.csv of these instructions is not in", id="of another benchmark"
        ),
        pytest.param(40, 3, "m: too few pairs", id="three pairs"),
    ],
)
def test_what_cannot_be_estimated_is_empty_with_a_reason(
    small: bench.Bench,
    instructions: int,
    count: int,
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    gamed_file(small.folder, instructions=instructions)
    (rate,) = length_controlled(of_rows(judged(count)), small, "base", read_gamed(small))
    assert (rate.length_controlled_winrate, rate.lc_standard_error) == (None, None)
    assert reason in caplog.text


def test_a_wrong_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "df_gamed.csv"
    path.write_text("preference,index\n1,2\n")
    with pytest.raises(DataError, match=r"df_gamed.csv: is no file of gamed rows: 'std_delta_len'"):
        parse_gamed(path)
