"""The tables of show_result that say how sure the results are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.cli.tables import Drawing, interval_text, p_text, rounded

if TYPE_CHECKING:
    from harness.results.detail import SingleDetail
    from harness.results.pair_detail import PairwiseDetail
    from harness.results.result import Result
    from harness.results.statistics.bootstrap import Estimate
    from harness.results.statistics.paired import Paired, PairedTable


def how_sure(result: "Result", draw: Drawing) -> list[str]:
    """Return the headings and tables of all that a result has of this kind."""
    parts: list[str] = []
    if result.panel is not None:
        rows = [_shortened(row, ("differ", "sd"), 3) for row in result.panel.disagreement_rows()]
        what = "how often the judges do not say the same" + (" and how far they are apart" if "sd" in rows[0] else "")
        parts += [draw.line(what), draw.table(rows, places=3)]
    if result.detail is not None:
        of_all = ", of all judges together" if result.panel is not None else ""
        heading = f"how sure{of_all} (questions resampled within {result.detail.by}, seed {result.detail.seed})"
        parts.append(draw.line(heading))
        parts += grades_told(result.detail, draw) if result.detail.kind == "grades" else wins_told(result.detail, draw)
    if result.runs is not None:
        heading = "this run (model_1) against the other (model_2), question by question"
        parts += [draw.line(heading), draw.table(pairs_told(result.runs.pairs))]
    return parts


def grades_told(detail: "SingleDetail", draw: Drawing) -> list[str]:
    """Return the tables that say how sure the scores are."""
    rows = []
    for row in detail.rows():
        turns = [name for name in row if name.startswith("turn_") and name.count("_") == 1]
        cells: dict[str, Any] = {"model": row["model"], **{turn: _with_interval(row, turn, 1) for turn in turns}}
        cells |= {"average": row["average"], "95% interval": _interval(row, "average"), "rank": row["rank"]}
        if "drop" in row:
            cells |= {"drop in turn 2": row["drop"], "its interval": _interval(row, "drop")}
        rows.append(cells)
    groups = [
        {"model": row.model, **{str(name): _estimate(estimate) for name, estimate in row.groups.items()}}
        for row in detail.scores
    ]
    parts = [draw.table(rows)]
    if len(detail.scores) > 1:
        parts += apart_told(detail.pairs, detail.neighbours(), draw)
    if len(groups[0]) > 2:
        parts += [draw.line(f"average by {detail.by}, with intervals"), draw.table(groups)]
    return parts


def apart_told(table: "PairedTable", neighbours: Sequence["Paired"], draw: Drawing, places: int = 2) -> list[str]:
    """Return how many pairs can be told apart, what these questions can show, and each model beside the next one."""
    told = f"{table.told_apart} of {len(table.pairs)} pairs of models can be told apart (sign-flip test, Holm)"
    smallest = table.smallest_detectable
    shows = "" if smallest is None else f"; this many questions would show a difference of about {smallest:.{places}f}"
    return [
        draw.line(f"{told}{shows}. Each model and the next one (each interval is of its pair alone):"),
        draw.table(pairs_told(neighbours, places)),
    ]


def pairs_told(pairs: Sequence["Paired"], places: int = 2) -> list[dict[str, Any]]:
    """Return compared pairs as people read them."""
    from harness.results.detail import pair_row

    rows = [pair_row(pair) for pair in pairs]
    return [
        {
            "model_1": row["model_1"],
            "model_2": row["model_2"],
            "model_1 is": row["verdict"],
            "difference": "–" if row["difference"] is None else rounded(row["difference"], places),
            "95% interval": _interval(row, "difference", places),
            "p (Holm)": p_text(row["p_holm"]),
            "questions": row["n"],
            "needed": row["questions_needed"],
        }
        for row in rows
    ]


def wins_told(detail: "PairwiseDetail", draw: Drawing) -> list[str]:
    """Return the tables that say how sure wins, losses and ties are."""
    rows = [
        {
            "model": row["model"],
            **{name: _with_interval(row, name, 2) for name in ("win_rate", "loss_rate", "tie_rate")},
            "win_rate_adjusted": row["win_rate_adjusted"],
            "95% interval": _interval(row, "win_rate_adjusted", 3),
            "rank": row["rank"],
            **_also(row, "mean_over_opponents"),
            **_also(row, "strength", places=0),
        }
        for row in detail.rows()
    ]
    parts = [draw.table(rows, places=3)]
    if not detail.strengths.why_not:
        parts.append(draw.line(f"strength: {detail.strengths.scale}"))
    if len(detail.rates) > 1:
        parts += apart_told(detail.pairs, detail.neighbours(), draw, places=3)
    if len(detail.matrix) > 2:
        parts.append(draw.line("adjusted win rate of the row's model against the column's"))
        parts.append(draw.table(matrix_rows(detail), places=3))
    parts += _parted(detail, draw)
    if detail.position:
        total = detail.position[0]
        share = _estimate(total.first_share, places=3)
        parts.append(
            draw.line(
                f"position: of {total.n} pairs {total.consistent} were judged alike in both orders, "
                f"{total.biased_first} for whoever came first, {total.biased_second} for whoever came second, "
                f"{total.one_sided_tie} a tie in one order only; the answer shown first won {share} of decided games"
            )
        )
    return parts


def matrix_rows(detail: "PairwiseDetail") -> list[dict[str, Any]]:
    """Return the adjusted win rate of each model against each other one, a column for each opponent."""
    names = [row[0].model for row in detail.matrix if row]
    cells = {(cell.model, cell.opponent): cell.win_rate_adjusted.value for row in detail.matrix for cell in row}
    return [{"model": one, **{other: cells.get((one, other)) for other in names}} for one in names]


def _parted(detail: "PairwiseDetail", draw: Drawing) -> list[str]:
    """Return the tables by turn and by group."""
    parts = []
    turns = detail.turn_rows()
    if len({row["turn"] for row in turns}) > 1:
        parts.append(draw.line("by turn"))
        parts.append(draw.table([_shortened(row, ("win_rate_adjusted",), 3) for row in turns], places=3))
    groups = detail.group_rows()
    if len({row[detail.by] for row in groups}) < 2:
        return parts
    order = list(dict.fromkeys(row[detail.by] for row in groups))
    for name, places in (("win_rate_adjusted", 3), ("strength", 0)):
        cells = {(row["model"], row[detail.by]): _with_interval(row, name, places) for row in groups if name in row}
        rows = [
            {"model": row.model, **{str(group): cells.get((row.model, group), "–") for group in order}}
            for row in detail.rates
        ]
        if cells:
            parts += [draw.line(f"{name} by {detail.by}, with intervals"), draw.table(rows)]
    return parts


def _shortened(row: Mapping[str, Any], names: Sequence[str], places: int) -> dict[str, Any]:
    """Return the row with each of these estimates and its interval in one cell."""
    ends = {f"{name}_{end}" for name in names for end in ("low", "high")}
    return {
        name: _with_interval(row, name, places) if name in names else value
        for name, value in row.items()
        if name not in ends
    }


def _interval(row: Mapping[str, Any], name: str, places: int = 2) -> str:
    """Return an interval as people read it; a dash where there is none."""
    return interval_text(row[f"{name}_low"], row[f"{name}_high"], places)


def _with_interval(row: Mapping[str, Any], name: str, places: int) -> str:
    """Return an estimate of a row with its interval, in one cell."""
    value, low, high = (row.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return "–"
    shown = rounded(value, max(2, places) if places else 0)
    return shown if low is None or high is None else f"{shown} [{rounded(low, places)}, {rounded(high, places)}]"


def _estimate(estimate: "Estimate", places: int = 2) -> str:
    """Return an estimate with its interval."""
    ends = {"x": estimate.value, "x_low": estimate.low, "x_high": estimate.high}
    return _with_interval(ends, "x", max(1, places - 1))


def _also(row: Mapping[str, Any], name: str, places: int = 3) -> dict[str, str]:
    """Return a further estimate of a row as one column, if the row has it."""
    return {} if row.get(name) is None else {name: _with_interval(row, name, places)}
