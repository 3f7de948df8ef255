"""Boards: alpaca_eval's columns and figures, what may be added, what stands around it."""

import csv
import gzip
from pathlib import Path

import pytest

from harness import bench
from harness.errors import DataError, UsageError
from harness.results import of_rows
from harness.results.board import (
    COLUMNS,
    Origin,
    add_rows,
    around,
    board_rows,
    check_board,
    read_board,
    same_answer_share,
    write_board,
)
from harness.types import Judgment
from tests.results.rows import answered, preference

ORIGIN = Origin("gpt-4-turbo", "weighted 1", "base")


@pytest.fixture
def small(tmp_path: Path) -> bench.Bench:
    return answered(tmp_path, {"m": ["same", "same", "xx", "xxx", "xxxx"]})


def judged() -> list[Judgment]:
    return [preference(q, "base", "m", 1 - x) for q, x in enumerate((1.0, 0.75, 0.5, 0.25, 0.25))]


def published(path: Path) -> Path:
    head = ",win_rate,standard_error,n_wins,n_total,length_controlled_winrate,mode"
    path.write_text(
        f"{head}\nnull,76.9,0.9,676,805,86.5,community\nbase,50.0,0.0,0,805,50.0,minimal\n"
    )
    return path


def test_a_row_has_alpaca_evals_figures(small: bench.Bench) -> None:
    (row,) = board_rows(of_rows(judged()), small, ORIGIN)
    assert row["model"] == "m"
    assert float(row["win_rate"]) == pytest.approx(55)
    assert float(row["standard_error"]) == pytest.approx(100 * 0.3259601 / 5**0.5)
    counts = [row[name] for name in ("n_wins", "n_wins_base", "n_draws", "n_total")]
    assert counts == ["2", "2", "1", "5"]
    assert float(row["discrete_win_rate"]) == 50
    assert row["avg_length"] == "3"  # (4 + 4 + 2 + 3 + 4) / 5, rounded down
    assert row["length_controlled_winrate"] == ""


@pytest.mark.reference
def test_the_rows_of_published_models(small: bench.Bench, reference_data: Path) -> None:
    folder = reference_data / "alpaca_eval"
    with gzip.open(folder / "lc_rows.csv.gz", "rt") as file:
        scores = of_rows(
            preference(
                int(row["instruction_index"]), row["model"], "base", float(row["preference"]) - 1
            )
            for row in csv.DictReader(file)
            if row["preference"]
        )
    rows = {row["model"]: row for row in board_rows(scores, small, ORIGIN)}
    with (folder / "official_values.csv").open() as file:
        published = {row["model"]: row for row in csv.DictReader(file)}
    assert rows.keys() == published.keys()
    for model, row in rows.items():
        for name in ("n_wins", "n_wins_base", "n_draws", "n_total"):
            assert row[name] == published[model][name]
        for name in ("win_rate", "standard_error", "discrete_win_rate"):
            assert float(row[name]) == pytest.approx(float(published[model][name]), abs=1e-8)


def test_a_new_board_is_written_and_read_again(small: bench.Bench, tmp_path: Path) -> None:
    path = tmp_path / "leaderboard.csv"
    board = check_board(path, ORIGIN, ["m"])
    write_board(path, add_rows(board, board_rows(of_rows(judged()), small, ORIGIN)))
    again = read_board(path)
    assert (tuple(again.rows), again.columns[: len(COLUMNS) + 1]) == (("m",), ("model", *COLUMNS))
    with pytest.raises(UsageError, match="has m already; --overwrite"):
        check_board(path, ORIGIN, ["m"])
    assert tuple(check_board(path, ORIGIN, ["m"], overwrite=True).rows) == ("m",)


def test_a_row_joins_the_published_ones_and_keeps_their_columns(
    small: bench.Bench, tmp_path: Path
) -> None:
    path = published(tmp_path / "weighted_leaderboard.csv")
    board = add_rows(
        check_board(path, ORIGIN, ["m"], allow=["judge"]),
        board_rows(of_rows(judged()), small, ORIGIN),
    )
    write_board(path, board)
    assert path.read_text().splitlines()[1].startswith("null,76.9,0.9,676,805,86.5,community")
    assert tuple(board.rows) == ("null", "base", "m")  # sorted by length control, which m lacks
    assert tuple(add_rows(board, [], "win_rate").rows) == ("null", "m", "base")
    places = around(add_rows(board, [], "win_rate"), ["m"], rows=1)
    assert [(place.place, place.model, place.chosen) for place in places] == [
        (1, "null", False),
        (2, "m", True),
        (3, "base", False),
    ]
    assert (places[0].number("win_rate"), places[1].number("length_controlled_winrate")) == (
        76.9,
        None,
    )


def test_published_rows_are_by_an_unknown_judge_and_the_set_that_the_file_names(
    tmp_path: Path,
) -> None:
    path = published(tmp_path / "weighted.csv")
    with pytest.raises(UsageError, match=r"rows of the judge unknown, .* --allow judge$"):
        check_board(path, ORIGIN, ["m"])
    assert tuple(check_board(path, ORIGIN, ["m"], allow=["judge"]).rows) == ("null", "base")
    other = published(tmp_path / "other.csv")
    with pytest.raises(UsageError, match="--allow judge-set"):
        check_board(other, ORIGIN, ["m"], allow=["judge"])


def test_rows_against_another_baseline_are_refused(small: bench.Bench, tmp_path: Path) -> None:
    path = tmp_path / "weighted.csv"
    write_board(path, add_rows(read_board(path), board_rows(of_rows(judged()), small, ORIGIN)))
    with pytest.raises(UsageError, match=r"rows of the baseline base, these are of davinci"):
        check_board(path, ORIGIN._replace(baseline="davinci"), ["n"])


def test_what_is_no_board_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("model,score\na,1\n")
    with pytest.raises(DataError, match=r"x.csv: is not a board"):
        read_board(path)


def test_the_most_frequent_answer_is_found(small: bench.Bench) -> None:
    assert same_answer_share(small, "m") == 0.4
    assert same_answer_share(small, "nobody") == 0
