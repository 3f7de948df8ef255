"""The tables of show_result that say how sure the results are."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.cli.tables import rounded

if TYPE_CHECKING:
    from harness.results.detail import PairwiseDetail, SingleDetail
    from harness.results.show import Result
    from harness.results.statistics.bootstrap import Estimate
    from harness.results.statistics.paired import Paired


def how_sure(result: "Result", draw: Callable[..., str]) -> list[str]:
    """Return the headings and tables of all that a result has of this kind."""
    from harness.results.detail import SingleDetail

    parts: list[str] = []
    if isinstance(result.detail, SingleDetail):
        parts += grades_told(result.detail, draw)
    elif result.detail is not None:
        parts += wins_told(result.detail, draw)
    if result.runs is not None:
        heading = "this run (model_1) against the other (model_2), question by question"
        parts += [heading, draw(pairs_told(result.runs.pairs))]
    return parts


def grades_told(detail: "SingleDetail", draw: Callable[..., str]) -> list[str]:
    """Return the tables that say how sure the scores are."""
    rows = [
        {
            "model": row["model"],
            "average": row["average"],
            "95% interval": _interval(row, "average"),
            "rank": row["rank"],
            **({"drop in turn 2": row["drop"], "its interval": _interval(row, "drop")} if "drop" in row else {}),
        }
        for row in detail.rows()
    ]
    groups = [
        {"model": row.model, **{str(name): _estimate(estimate) for name, estimate in row.groups.items()}}
        for row in detail.scores
    ]
    parts = [f"how sure (questions resampled within {detail.by}, seed {detail.seed})", draw(rows)]
    if len(detail.scores) > 1:
        pairs = detail.pairs
        told = (
            f"{pairs.told_apart} of {len(pairs.pairs)} pairs of models can be told apart (exact sign-flip test, Holm)"
        )
        smallest = pairs.smallest_detectable
        shows = f"; this many questions would show a difference of about {smallest:.2f}" if smallest is not None else ""
        parts += [f"{told}{shows}. Each model and the next one:", draw(pairs_told(detail.neighbours()))]
    if len(groups[0]) > 2:
        parts += [f"average by {detail.by}, with intervals", draw(groups)]
    return parts


def pairs_told(pairs: Sequence["Paired"]) -> list[dict[str, Any]]:
    """Return compared pairs as people read them."""
    from harness.results.detail import pair_row

    rows = [pair_row(pair) for pair in pairs]
    return [
        {
            "model_1": row["model_1"],
            "model_2": row["model_2"],
            "model_1 is": row["verdict"],
            "difference": row["difference"],
            "95% interval": _interval(row, "difference"),
            "p (Holm)": "–" if row["p_holm"] is None else f"{row['p_holm']:.3g}",
            "questions": row["n"],
            "needed": row["questions_needed"],
        }
        for row in rows
    ]


def _interval(row: Mapping[str, Any], name: str, places: int = 2) -> str:
    """Return an interval as people read it; a dash where there is none."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "–" if low is None or high is None else f"{rounded(low, places)} to {rounded(high, places)}"


def _estimate(estimate: "Estimate", places: int = 2) -> str:
    """Return an estimate with its interval."""
    if estimate.value is None:
        return "–"
    ends = (
        ""
        if estimate.low is None or estimate.high is None
        else (f" [{rounded(estimate.low, max(1, places - 1))}, {rounded(estimate.high, max(1, places - 1))}]")
    )
    return f"{rounded(estimate.value, places)}{ends}"


def wins_told(detail: "PairwiseDetail", draw: Callable[..., str]) -> list[str]:
    """Return the tables that say how sure wins, losses and ties are."""
    rows = [
        {
            "model": row["model"],
            "win_rate_adjusted": row["win_rate_adjusted"],
            "95% interval": _interval(row, "win_rate_adjusted"),
            **_also(row, "mean_over_opponents"),
            **_also(row, "strength", places=0),
        }
        for row in detail.rows()
    ]
    parts = [f"how sure (questions resampled within {detail.by}, seed {detail.seed})", draw(rows, places=3)]
    if detail.strengths.why_not:
        parts.append(f"no strengths (Bradley-Terry): {detail.strengths.why_not}")
    if len(detail.matrix) > 2:
        names = [row[0].model for row in detail.matrix if row]
        cells = {(cell.model, cell.opponent): cell.win_rate_adjusted.value for row in detail.matrix for cell in row}
        matrix = [{"model": one, **{other: cells.get((one, other)) for other in names}} for one in names]
        parts += ["adjusted win rate of the row's model against the column's", draw(matrix, places=3)]
    if detail.position:
        total = detail.position[0]
        share = _estimate(total.first_share, places=3)
        parts.append(
            f"position: of {total.n} pairs {total.consistent} were judged alike in both orders, {total.biased_first} "
            f"for whoever came first, {total.biased_second} for whoever came second, {total.one_sided_tie} a tie in "
            f"one order only; the answer shown first won {share} of the decided games"
        )
    return parts


def _also(row: Mapping[str, Any], name: str, places: int = 3) -> dict[str, str]:
    """Return a further estimate of a row as one column, if the row has it."""
    if row.get(name) is None:
        return {}
    interval = _interval(row, name, places=places)
    return {name: rounded(row[name], places) + (f" [{interval}]" if interval != "–" else "")}
