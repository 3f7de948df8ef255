"""Boards: alpaca_eval's leaderboards, a CSV file of models against one baseline, in percent.

    model,win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,discrete_win_rate,mode,
    avg_length,length_controlled_winrate,lc_standard_error

x is the preference for the model, from 0 to 1: win_rate = 100 · mean x, standard_error = 100 ·
sd(n − 1) / √n, a draw is x of exactly 0.5, discrete_win_rate counts it as half a win, avg_length is
the mean length of all of the model's answers in characters, rounded down.

`check_board` refuses what could not be added, before anything is paid for. Rows say by which judge,
judge set and baseline they were made; published boards do not: their judge is unknown, their judge
set is the one that the file is named after.

Source: alpaca_eval 0.6.6, `metrics/winrate.py` and `main.py`.
"""

import csv
import io
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness import store
from harness.bench import Bench
from harness.errors import DataError, UsageError
from harness.results.length_control import Controlled
from harness.results.scores import Scores

LENGTH_CONTROLLED = "length_controlled_winrate"
COLUMNS = (
    "win_rate",
    "standard_error",
    "n_wins",
    "n_wins_base",
    "n_draws",
    "n_total",
    "discrete_win_rate",
    "mode",
    "avg_length",
    LENGTH_CONTROLLED,
    "lc_standard_error",
)
MADE_BY = ("judge", "judge_set", "baseline")
"""Columns beside alpaca_eval's."""


class Board(NamedTuple):
    """A board as it stands in its file."""

    first: str
    """The name of the first column, which names the models; in published boards empty."""
    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]
    """The text of each cell, by column; the model is under `first`."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models on it, in the file's order."""
        return tuple(row[self.first] for row in self.rows)


class Origin(NamedTuple):
    """What the rows of a board must have in common."""

    judge: str
    judge_set: str
    """With its version, as in `weighted_alpaca_eval_gpt4_turbo 1`."""
    baseline: str


class Place(NamedTuple):
    """A row of a board with its place."""

    place: int
    model: str
    row: dict[str, str]
    own: bool
    """Whether it is one of the rows in question."""

    def number(self, column: str) -> float | None:
        """Return the number of a column."""
        value = _number(self.row.get(column))
        return None if value == -np.inf else value


def read_board(path: Path) -> Board:
    """Return the board of a file; an empty one where there is no file.

    Raises:
        DataError: the file is not a board.
    """
    if not path.exists():
        return Board("model", (*COLUMNS, *MADE_BY), ())
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeError, csv.Error) as error:
        raise DataError(f"is not a board: {error}", path) from None
    names = lines[0] if lines else []
    if "win_rate" not in names[1:]:
        raise DataError("is not a board: its columns must be the model, win_rate, …", path)
    for number, line in enumerate(lines[1:], 2):
        if line and len(line) != len(names):
            raise DataError(f"has {len(line)} cells of {len(names)}", path, number)
    rows = tuple(dict(zip(names, line, strict=True)) for line in lines[1:] if line)
    return Board(names[0], tuple(names[1:]), rows)


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
    if sort is not None and sort not in (*COLUMNS, *MADE_BY, *board.columns):
        raise UsageError(f"--sort-by {sort}: the board has {', '.join(board.columns)}")
    on_it = [name for name in board.models if name in models]
    if on_it and not overwrite:
        raise UsageError(f"{path} has {', '.join(on_it)} already; --overwrite replaces the rows")
    stays = [row for row in board.rows if row[board.first] not in models]
    is_named = path.stem.startswith(origin.judge_set.split(" ")[0])
    unstated = Origin("unknown", origin.judge_set if is_named else "unknown", origin.baseline)
    for name, value, usual in zip(MADE_BY, origin, unstated, strict=True):
        flag = name.replace("_", "-")
        others = sorted({row.get(name) or usual for row in stays} - {value})
        if others and flag not in allow:
            what = f"{path} has rows of the {flag.replace('-', ' ')} {', '.join(others)}"
            raise UsageError(f"{what}, these are of {value}; name another board, or --allow {flag}")
    return board


def board_rows(
    scores: Scores, bench: Bench, origin: Origin, controlled: Sequence[Controlled] = ()
) -> list[dict[str, str]]:
    """Return the rows of the models that have pairs with the baseline, by column and `model`."""
    both = scores.mirrored()
    both = both.take(both.valid)
    rates = {rates_of.model: rates_of for rates_of in controlled}
    if origin.baseline not in scores.models:
        return []
    base = scores.models.index(origin.baseline)
    rows = []
    for code in np.unique(both.model[both.opponent == base]).tolist():
        x = both.value[(both.model == code) & (both.opponent == base)]
        name, n = scores.models[code], len(x)
        texts = [text for a in bench.answers(name).values() for text in a.choices[0].turns]
        win, loss = int((x > 0.5).sum()), int((x < 0.5).sum())
        rates_of = rates.get(name)
        row: dict[str, str | float | int | None] = {
            "model": name,
            "win_rate": 100 * float(x.mean()),
            "standard_error": 100 * float(x.std(ddof=1)) / n**0.5 if n > 1 else None,
            "n_wins": win,
            "n_wins_base": loss,
            "n_draws": n - win - loss,
            "n_total": n,
            "discrete_win_rate": 100 * (win + (n - win - loss) / 2) / n,
            "mode": "community",
            "avg_length": sum(map(len, texts)) // len(texts) if texts else None,
            LENGTH_CONTROLLED: rates_of.length_controlled_winrate if rates_of else None,
            "lc_standard_error": rates_of.lc_standard_error if rates_of else None,
            **dict(zip(MADE_BY, origin, strict=True)),
        }
        rows.append({key: "" if value is None else str(value) for key, value in row.items()})
    return rows


def added(board: Board, rows: Sequence[dict[str, str]], sort: str | None = None) -> Board:
    """Return a board with rows added or replaced, sorted by a column, the greatest first.

    Without a column it is sorted by the length-controlled rate if any row has one.
    """
    new = {row["model"]: row for row in rows}
    columns = (*board.columns, *(c for c in (*COLUMNS, *MADE_BY) if c not in board.columns))
    stays = [row for row in board.rows if row[board.first] not in new]
    rows_made = [{**row, board.first: model} for model, row in new.items()]
    every = [*stays, *rows_made]
    controlled = any(row.get(LENGTH_CONTROLLED) for row in every)
    column = sort or (LENGTH_CONTROLLED if controlled else "win_rate")
    every.sort(key=lambda row: (-_number(row.get(column)), row[board.first]))
    return Board(board.first, columns, tuple(every))


def write_board(path: Path, board: Board) -> None:
    """Write a board to its file, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([board.first, *board.columns])
    for row in board.rows:
        writer.writerow([row[board.first], *(row.get(column, "") for column in board.columns)])
    store.write_file(path, text.getvalue())


def around(board: Board, models: Collection[str], rows: int = 2) -> list[Place]:
    """Return the rows of some models and as many above and below each, with their places."""
    visible: set[int] = set()
    for at, model in enumerate(board.models):
        if model in models:
            visible.update(range(at - rows, at + rows + 1))
    return [
        Place(at + 1, model, row, model in models)
        for at, (model, row) in enumerate(zip(board.models, board.rows, strict=True))
        if at in visible
    ]


def same_answer_share(bench: Bench, model: str) -> float:
    """Return the share of a model's answers that have its most frequent text."""
    texts = Counter(
        "\n".join(answer.choices[0].turns).strip()
        for answer in bench.answers(model).values()
        if answer.choices
    )
    return max(texts.values()) / texts.total() if texts else 0.0


def _number(cell: str | None) -> float:
    """Return a cell as a number; what is none sorts behind all."""
    try:
        return float(cell or "-inf")
    except ValueError:
        return -np.inf
