"""Several gates against one stored run: Dunnett's values, and the file that counts them."""

from pathlib import Path

import pytest

from harness.errors import DataError, UsageError
from harness.results.series import Series, dunnett, read_series, series_beside, write_series


@pytest.mark.parametrize(
    ("planned", "df", "published"), [(5, 20, 2.73), (9, 60, 2.77), (3, 8, 2.88), (1, 60, 2.00)]
)
def test_critical_values_are_dunnett_s(planned: int, df: int, published: float) -> None:
    assert dunnett(planned, df) == pytest.approx(published, abs=0.006)


def test_a_candidate_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "series.json"
    series = read_series(file, 3, "stored")
    for look in ("a", "b", "a"):
        write_series(file, series, look)
        series = read_series(file, 3, "stored")
    assert series == Series(series=3, against="stored", looks=["a", "b"])
    assert series_beside(tmp_path / "baseline.jsonl", "stored") == file
    assert series_beside(tmp_path / "baseline.jsonl", "another") is None


def test_another_plan_or_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "series.json"
    write_series(file, Series(series=3, against="stored"), "a")
    with pytest.raises(UsageError, match="planned for 3 gates"):
        read_series(file, 4, "stored")
    with pytest.raises(UsageError, match="another stored run"):
        read_series(file, 3, "another")
    file.write_text("[]")
    with pytest.raises(DataError, match="no series of gates"):
        read_series(file, 3, "stored")
