"""`--board FILE`: alpaca_eval's leaderboard with this run's rows, printed around one's own."""

import pathlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.bench import Bench
from harness.reporting.page import Column, Note, Page, Table, counted, listed
from harness.results.board import (
    LENGTH_CONTROLLED,
    Board,
    Place,
    around,
    same_answer_share,
)

SAME_ANSWER = 0.2
"""The share of answers with one text above which a model's rate says nothing."""


def repeats_itself(bench: Bench, model: str) -> bool:
    """Return whether a model gives so many questions one answer that its rate says nothing."""
    return model in bench.answer_files() and same_answer_share(bench, model) > SAME_ANSWER


def with_board(
    page: Page, board: Board, path: pathlib.Path, models: Sequence[str], bench: Bench, baseline: str
) -> Page:
    """Return the results' page with the board in place of its tables.

    Args:
        page: of the results; its outcome and rows stay.
        board: as it was written, the new rows included.
        path: where it was written.
        models: whose rows are new.
        bench: whose answers tell who always says the same.
        baseline: the model that all are compared with.
    """
    places = around(board, models)
    rows = [_row(place, bench, baseline) for place in places]
    columns = [
        Column("place", always=True),
        Column("model", always=True),
        Column("lc", "LC win rate", ".1", always=True),
        Column("lc_error", "se", ".1", always=True),
        Column("win_rate", "win rate", ".1", always=True),
        Column("characters", always=True),
    ]
    new_rows = [place for place in places if place.own]
    who = listed([f"{place.model} is number {place.place}" for place in new_rows])
    same = "* gives mostly one and the same answer; its rate says nothing."
    about = "se is alpaca_eval's; it leaves out that the fit at equal length is estimated."
    count = f"{path} has {counted(len(board.rows), 'row')}, {len(models)} of them from here."
    others = [replace(other, only="html") for other in page.tables if other.only != "text"]
    return replace(
        page,
        outcome=f"{page.outcome}\nOn this board of {counted(len(board.rows), 'model')} {who}.",
        tables=[Table(page.tables[0].title, columns, rows, only="text"), *others],
        notes=[Note(same if any(r["model"].endswith(" *") for r in rows) else about), Note(count)],
        rows=page.all_rows,
    )


def _row(place: Place, bench: Bench, baseline: str) -> dict[str, Any]:
    same = repeats_itself(bench, place.model)
    marks = " (baseline)" if place.model == baseline else " *" if same else ""
    characters = place.number("avg_length")
    return {
        "place": f"{'>' if place.own else ' '} {place.place:3}",
        "model": f"{place.model}{marks}",
        "lc": place.number(LENGTH_CONTROLLED),
        "lc_error": place.number("lc_standard_error"),
        "win_rate": place.number("win_rate"),
        "characters": None if characters is None else int(characters),
    }
