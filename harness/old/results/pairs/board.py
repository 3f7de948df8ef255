"""A board: a CSV file of models against one baseline, by one judge, with AlpacaEval's columns in percent.

    model,win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,discrete_win_rate,mode,avg_length,
    length_controlled_winrate,lc_standard_error

Our additional columns: the interval of the length-controlled rate (`lc_low`, `lc_high`), and the judge, judge set and
baseline of a row, which published boards do not state. Rows of another judge, judge set or baseline are refused.
A model with less than half of the pairs of the one with the most is not ranked: it is not written, or listed last.

Source: alpaca_eval 0.6.6, `metrics/winrate.py` and `main.py`.
"""

import operator
import pathlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from harness.old.bench import Bench
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.jsonl import need_regular, put_table
from harness.old.judging.sets import JudgeSet
from harness.old.names import csv_cell, listed
from harness.old.results.common import few
from harness.old.results.pairs.length_control import ControlTable
from harness.old.results.pairs.pairwise import standard_error
from harness.old.results.statistics.bootstrap import NONE, Estimate
from harness.old.results.table import Row
from harness.old.written import nearest, read_table

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
OWN = ("lc_low", "lc_high", "judge", "judge_set", "baseline")
_MADE_BY = OWN[2:]


def board_rows(
    rows: Sequence[Row],
    bench: Bench,
    control: ControlTable | None,
    *,
    judge: str,
    judge_set: str,
    baseline: str,
) -> list[dict[str, Any]]:
    """Return the board's row of each model, in percent."""
    controlled = {line.model: line.fields for line in control.table.lines} if control is not None else {}
    found = []
    for row in rows:
        model, weighed, win, n = row["model"], "n_draws" in row, row["win"], row["n"]
        mean, tie = (row["win_rate"], row["n_draws"]) if weighed else (row["win_rate_adjusted"], row["tie"])
        if mean is None:
            continue
        texts = [text for answer in bench.answers(model).values() for text in answer.choices[0].turns]
        own = controlled.get(model, {})
        rate: Estimate = own.get("rate", NONE)
        found.append(
            {
                "model": model,
                "win_rate": _percent(mean),
                "standard_error": _percent(
                    row["standard_error"] if weighed else standard_error(win + tie / 2, win + tie / 4, n)
                ),
                "n_wins": win,
                "n_wins_base": row["loss"],
                "n_draws": tie,
                "n_total": n,
                "discrete_win_rate": _percent(row["discrete_win_rate"] if weighed else mean),
                "mode": "community",
                "avg_length": sum(map(len, texts)) // len(texts) if texts else None,
                LENGTH_CONTROLLED: _percent(rate.value),
                "lc_standard_error": _percent(own.get("spread_error")),
                "lc_low": _percent(rate.low),
                "lc_high": _percent(rate.high),
                "judge": judge,
                "judge_set": judge_set,
                "baseline": baseline,
            }
        )
    return found


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def write_board(
    path: pathlib.Path,
    rows: Sequence[Mapping[str, Any]],
    *,
    judge_set: JudgeSet | None = None,
    overwrite: bool = False,
    sort: str | None = None,
    allow: Collection[str] = (),
) -> list[str]:
    """Write a board, or add rows to an existing one; return notes on it.

    Args:
        path: the file.
        rows: what `board_rows` returns.
        judge_set: of the rows; it states how a board is sorted and the judge of a published one.
        overwrite: replace the rows of models that are on the board.
        sort: the column to sort by, greatest first.
        allow: `judge`, `judge-set` or `baseline`, in which the rows may differ from those of the board.

    Raises:
        UsageError: a model is already on the board, there is no such column, or the rows are not comparable.
        DataError: the file is not a board.
        StorageError: it can't be written.
    """
    if not rows:
        raise MissingError("there is no row for the board: no pair with the baseline has a verdict")
    first, fields, there = read_board(path)
    rows = [{name: csv_cell(value) for name, value in row.items()} for row in rows]
    new = {str(row["model"]): row for row in rows}
    _comparable(
        path, [row for row in there if row[first] not in new or not overwrite], rows[0], fields, judge_set, allow
    )
    most = max(_pairs(row) for row in (*there, *new.values()))
    left_out = [_of_most(model, row, most) for model, row in new.items() if _is_few(row, most)]
    new = {model: row for model, row in new.items() if not _is_few(row, most)}
    known = [row[first] for row in there if row[first] in new]
    if known and not overwrite:
        raise UsageError(f"{path} already has rows of {', '.join(known)}; give --overwrite to replace them")
    column = sort or (judge_set.board if judge_set is not None and judge_set.board else None) or "win_rate"
    fields = [*fields, *(name for name in (*COLUMNS, *OWN) if name not in fields)]
    if column not in fields:
        raise UsageError(f"the board has no column {column!r} to sort by; {nearest(column, fields)}")
    kept = [row for row in there if row[first] not in new]
    made = [{first: model, **{name: _text(row.get(name)) for name in fields}} for model, row in new.items()]
    every = sorted([*kept, *made], key=lambda row: (_is_few(row, most), -_number(row.get(column)), row[first]))
    if made:
        put_table(path, [first, *fields], every)
    last = [_of_most(row[first], row, most) for row in kept if _is_few(row, most)]
    numbers = [_number(row.get(column)) for row in every if not _is_few(row, most)]
    places = [(row[first], _place(_number(row.get(column)), numbers)) for row in every if row[first] in new]
    notes = [f"board: {path}, sorted by {column}"]
    notes += [f"{model}: {at} of {len(every) - len(last)} by {column}" for model, at in places]
    for what, names in (("not on the board", left_out), ("last on the board", last)):
        notes += [f"{what}, judged on too few pairs compared with its other rows: {listed(names)}"] if names else []
    return notes


def _place(number: float, numbers: Sequence[float]) -> str:
    """Return the place of a number among all, the greatest first: "2", or of equal ones "2-3"."""
    above, equal = (sum(test(own, number) for own in numbers) for test in (operator.gt, operator.eq))
    return str(above + 1) if equal < 2 else f"{above + 1}-{above + equal}"


def _pairs(row: Mapping[str, Any]) -> float:
    """Return the number of pairs of a row; -inf if it does not state it."""
    return _number(str(row.get("n_total") or ""))


def _is_few(row: Mapping[str, Any], most: float) -> bool:
    """Return whether a row has too few pairs to be ranked, compared with the one with the most."""
    return _pairs(row) >= 0 and few(int(_pairs(row)), int(most))


def _of_most(model: str, row: Mapping[str, Any], most: float) -> str:
    return f"{model} ({_pairs(row):.0f} of {most:.0f})"


def read_board(path: pathlib.Path) -> tuple[str, list[str], list[dict[str, str]]]:
    """Return the name of a board's first column, those of the others, and its rows; for a new board the defaults.

    Raises:
        DataError: the file is not a board.
        StorageError: it is no file.
    """
    need_regular(path)
    if not path.exists():
        return "model", [*COLUMNS, *OWN], []
    names, rows = read_table(path)
    if len(names) < 2 or "win_rate" not in names[1:]:
        raise DataError("is not a board: its first column must name the models, and one must be win_rate", path=path)
    return names[0], names[1:], [dict(zip(names, row, strict=True)) for _, row in rows]


def _comparable(
    path: pathlib.Path,
    there: Sequence[Mapping[str, str]],
    new: Mapping[str, Any],
    fields: Collection[str],
    judge_set: JudgeSet | None,
    allow: Collection[str],
) -> None:
    """Raise `UsageError` if the new rows were made by other means than those of the board."""
    published = [row for row in there if not row.get("judge")]
    for name in _MADE_BY:
        flag = name.replace("_", "-")
        others = sorted({row[name] for row in there if name in fields and row[name]} - {str(new[name])})
        if others and flag not in allow:
            told = f"{path} has rows of the {flag.replace('-', ' ')} {', '.join(others)}, these are of {new[name]}"
            raise UsageError(f"{told}: not comparable; give another --board (or --allow {flag})")
    if not published:
        return
    name = str(new["judge_set"]).rsplit(" ", 1)[0]
    if not path.stem.startswith(name) and "judge-set" not in allow:
        raise UsageError(
            f"{path} does not state the judge set of its rows, and is not named after {name}, the set of these; "
            "give another --board (or --allow judge-set)"
        )
    theirs = judge_set.judge if judge_set is not None else None
    if theirs != new["judge"] and "judge" not in allow:
        who = f"by {theirs}" if theirs else "by an unknown judge"
        raise UsageError(
            f"the published rows of {path} are {who}, these by {new['judge']}: not comparable; give another --board "
            "(or --allow judge, and read the places with care)"
        )


def _text(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _number(text: str | None) -> float:
    """Return a cell as a number; what is none sorts behind all."""
    try:
        return float(text or "-inf")
    except ValueError:
        return float("-inf")
