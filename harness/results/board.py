"""Boards: alpaca_eval's leaderboards, a CSV file of models against one baseline, in percent.

    model,win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,discrete_win_rate,mode,
    avg_length,length_controlled_winrate,lc_standard_error

x is the preference for the model, from 0 to 1: win_rate = 100 · mean x, standard_error = 100 ·
sd(n − 1) / √n (of several x on a question that of `Estimate`), a draw is x of exactly 0.5,
discrete_win_rate counts it as half a win, avg_length is the mean length of all of the model's
answers in characters, rounded down.

`check_board` refuses what could not be added, before anything is paid for. Rows say by which judge,
judge set and baseline they were made; published boards do not: their judge is unknown, their judge
set is the one that the file is named after.

Source: alpaca_eval 0.6.6, `metrics/winrate.py` and `main.py`.
"""

import csv
import io
import math
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness import store
from harness.bench import Bench
from harness.errors import DataError, UsageError
from harness.results.length_control import Controlled
from harness.results.scores import Scores
from harness.results.summarize import summarize

LENGTH_CONTROLLED = "length_controlled_winrate"
COLUMNS = tuple(
    "win_rate standard_error n_wins n_wins_base n_draws n_total discrete_win_rate mode avg_length "
    f"{LENGTH_CONTROLLED} lc_standard_error".split()
)


class Origin(NamedTuple):
    """What the rows of a board must have in common: columns beside alpaca_eval's."""

    judge: str
    judge_set: str
    """With its version, as in `weighted_alpaca_eval_gpt4_turbo 1`."""
    baseline: str


class Board(NamedTuple):
    """A board as it stands in its file."""

    columns: tuple[str, ...]
    """The first names the models; in published boards it has no name."""
    rows: dict[str, dict[str, str]]
    """By model, in the file's order."""


class BoardRow(NamedTuple):
    """A row of a board with its place."""

    place: int
    model: str
    row: dict[str, str]
    chosen: bool
    """Whether it is one of the rows in question."""

    def number(self, column: str) -> float | None:
        """Return the number of a column."""
        return _number(self.row.get(column))


def read_board(path: Path) -> Board:
    """Return the board of a file; an empty one where there is no file.

    Raises:
        DataError: the file is not a board.
    """
    if not path.exists():
        return Board(("model", *COLUMNS, *Origin._fields), {})
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
    except (OSError, UnicodeError, csv.Error) as error:
        raise DataError(f"is not a board: {error}", path) from None
    columns = reader.fieldnames or ()
    if "win_rate" not in columns[1:]:
        raise DataError("is not a board: its columns must be the model, win_rate, …", path)
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise DataError(f"has not as many cells as its {len(columns)} columns", path, number)
    return Board(tuple(columns), {row[columns[0]]: row for row in rows})


def check_board(
    path: Path,
    origin: Origin,
    models: Collection[str],
    *,
    overwrite: bool = False,
    sort: str | None = None,
    allow: Collection[str] = (),
) -> Board:
    """Return a board to which rows of these models can be added.

    Args:
        path: the board's file, which need not be there.
        origin: how the rows are or will be made.
        models: whose rows.
        overwrite: whether rows of these models may be replaced.
        sort: the column to sort by.
        allow: `judge`, `judge-set`, `baseline`: in what the rows may differ from the board's.

    Raises:
        UsageError: a model is on the board already, or the rows would not be comparable.
        DataError: the file is not a board.
    """
    board = read_board(path)
    if sort is not None and sort not in (*COLUMNS, *Origin._fields, *board.columns):
        raise UsageError(f"--sort {sort}: the board has {', '.join(board.columns[1:])}")
    present = [name for name in board.rows if name in models]
    if present and not overwrite:
        raise UsageError(f"{path} has {', '.join(present)} already; --overwrite replaces the rows")
    is_named = path.stem.startswith(origin.judge_set.split(" ")[0])
    unstated = Origin("unknown", origin.judge_set if is_named else "unknown", origin.baseline)
    rows = [row for name, row in board.rows.items() if name not in models]
    for name, value, usual in zip(Origin._fields, origin, unstated, strict=True):
        flag = name.replace("_", "-")
        others = sorted({row.get(name) or usual for row in rows} - {value})
        if others and flag not in allow:
            what = f"{path} has rows of the {flag.replace('-', ' ')} {', '.join(others)}"
            raise UsageError(f"{what}, these are of {value}; name another board, or --allow {flag}")
    return board


def board_rows(
    scores: Scores, bench: Bench, origin: Origin, controlled: Sequence[Controlled] = ()
) -> list[dict[str, str]]:
    """Return the rows of the models that have pairs with the baseline, by column and `model`."""
    rates = {rate.model: rate for rate in controlled}
    rows = []
    for summary in summarize(scores.of(models=[origin.baseline])):
        model, n, rate = summary["model"], summary.n, rates.get(summary["model"])
        if model == origin.baseline or not n:
            continue
        texts = [text for a in bench.answers(model).values() for text in a.choices[0].turns]
        cells = (
            100 * summary.mean.value,
            100 * summary.mean.se if n > 1 else None,
            summary.win,
            summary.loss,
            summary.tie,
            n,
            100 * (summary.win + summary.tie / 2) / n,
            "community",
            sum(map(len, texts)) // len(texts) if texts else None,
            rate and rate.length_controlled_winrate,
            rate and rate.lc_standard_error,
            *origin,
        )
        named = zip((*COLUMNS, *Origin._fields), cells, strict=True)
        row = {name: "" if cell is None else str(cell) for name, cell in named}
        rows.append({"model": model, **row})
    return rows


def add_rows(board: Board, rows: Sequence[dict[str, str]], sort: str | None = None) -> Board:
    """Return a board with rows added or replaced, sorted by a column, the greatest first.

    Without a column it is sorted by the length-controlled rate if any row has one.
    """
    columns = tuple(dict.fromkeys([*board.columns, *COLUMNS, *Origin._fields]))
    by_model = board.rows | {row["model"]: {**row, columns[0]: row["model"]} for row in rows}
    controlled = any(row.get(LENGTH_CONTROLLED) for row in by_model.values())
    column = sort or (LENGTH_CONTROLLED if controlled else "win_rate")

    def place(model: str) -> tuple[float, str]:
        number = _number(by_model[model].get(column))
        return math.inf if number is None else -number, model

    return Board(columns, {model: by_model[model] for model in sorted(by_model, key=place)})


def write_board(path: Path, board: Board) -> None:
    """Write a board to its file, whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, board.columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(board.rows.values())
    store.write_file(path, text.getvalue())


def around(board: Board, models: Collection[str], rows: int = 2) -> list[BoardRow]:
    """Return the rows of some models and as many above and below each, with their places."""
    places = [
        BoardRow(at, model, row, model in models)
        for at, (model, row) in enumerate(board.rows.items(), 1)
    ]
    chosen = [place.place for place in places if place.chosen]
    return [place for place in places if any(abs(place.place - at) <= rows for at in chosen)]


def values(board: Board) -> list[dict[str, Any]]:
    """Return the rows of a board with their places, numbers as such."""
    rows: list[dict[str, Any]] = []
    for place in around(board, board.rows):
        row: dict[str, Any] = {"place": place.place, "model": place.model}
        for name in board.columns[1:]:
            number = place.number(name)
            row[name] = place.row.get(name) or None if number is None else number
        rows.append(row)
    return rows


def same_answer_share(bench: Bench, model: str) -> float:
    """Return the share of a model's answers that have its most frequent text."""
    texts = Counter(
        "\n".join(answer.choices[0].turns).strip()
        for answer in bench.answers(model).values()
        if answer.choices
    )
    return max(texts.values()) / texts.total() if texts else 0.0


def _number(cell: str | None) -> float | None:
    try:
        return float(cell or "")
    except ValueError:
        return None
