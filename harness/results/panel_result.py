"""What `show_result` shows of several judges: each alone and all together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.errors import UsageError
from harness.judgments.observations import Observations
from harness.results.about import About
from harness.results.finding import Found
from harness.results.result import Result
from harness.results.wanted import ROW, Kind, Wanted, baseline_of, intervals_made


def panel_result(
    result: Result, found: Sequence[Found], records: Observations, kind: Kind, subject: About, wanted: Wanted
) -> Result:
    """Return what several judges say, each alone and all together."""
    from harness.results.labels import judgments_of
    from harness.results.matrix import matrix
    from harness.results.matrix import pairs as arrays
    from harness.results.means import matrices
    from harness.results.panel import grades_panel, labels_panel, means_panel, pairs_panel

    query, judges = wanted.query, list(dict.fromkeys(one.judge for one in found))
    numbers = kind != "grades"
    sure = not numbers or intervals_made(result, wanted, 1, len(records) // len(records.metrics()))
    baseline = None if numbers or wanted.mode == "single" else baseline_of(records, wanted)
    records, groups = query.shown(records, baseline), subject.groups(query)
    own = {judge: records.keep(lambda case, judge=judge: case.source.judge == judge) for judge in judges}  # type: ignore[misc]
    how: dict[str, Any] = {"groups": groups or None, "by": query.by, "sure": sure, "seed": query.seed}
    if kind == "labels":
        panel = labels_panel({judge: judgments_of(said) for judge, said in own.items()}, **how)
    elif numbers:
        panel = means_panel({judge: matrices(said, groups or None) for judge, said in own.items()}, ROW[kind], **how)
    elif wanted.mode == "single":
        panel = grades_panel({judge: matrix(said, groups) for judge, said in own.items() if said}, seed=query.seed)
    else:
        tables = {judge: arrays(said, groups) for judge, said in own.items() if said}
        panel = pairs_panel(tables, baseline=baseline, seed=query.seed)
    if numbers and not panel.table.lines:
        raise UsageError("there is no verdict that all judges gave; name one judge with --judge-model")
    told = f"all together: {panel.rule}; {panel.common}"
    if numbers:
        left_out = f", {panel.left_out} left out that not all of them gave"
        result.notes.append(f"{told} verdicts on what all {len(judges)} judges gave one{left_out}")
    else:
        result.notes.append(f"{told} items that all {len(judges)} judges judged")
        if panel.left_out:
            result.notes.append(f"{panel.left_out} items that not all of them judged are left out for all")
    column = result.column if wanted.mode == "single" else "win_rate_adjusted"
    result = replace(result, table=panel.table, panel=panel, column=column)
    if numbers or not wanted.intervals:
        return result
    from harness.results.detail import grades_detail, pairs_detail, position_of

    if wanted.mode == "single":
        return replace(result, detail=grades_detail(panel.together, by=query.by, seed=query.seed))
    position = position_of(records, groups, seed=query.seed)  # of all judges, and of each
    detail = pairs_detail(panel.together, by=query.by, baseline=baseline, position=position, seed=query.seed)
    result.notes.extend(detail.only.without_strengths() if detail.only is not None else [])
    return replace(result, detail=detail)
