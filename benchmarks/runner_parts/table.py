"""The measurements as Markdown: ratios to a bare client first, seconds after them."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from benchmarks.runner_parts.measure import Measured, median
from benchmarks.runner_parts.workload import Workload

Runs: TypeAlias = Mapping[str, Sequence[Measured | str]]
"""By contender: its runs, or in place of a run why there is none."""

_HEAD = (
    "",
    "wall / bare",
    "span / bare",
    "wall / ideal",
    "span / ideal",
    "calls/s",
    "CPU ms a call",
    "peak MB",
    "start s",
    "end s",
    "wall s",
    "others, cores, most",
    "kept",
)


def as_table(workload: Workload, runs: Runs, yardsticks: Sequence[str], note: str = "") -> str:
    """Return one workload's table: medians of the runs, and of their ratios to the faster of the `yardsticks`.

    A ratio is taken within a round, where both met the same machine; what stands in brackets is least and most.
    """
    fastest = yardstick(runs, yardsticks)
    lines = [f"### {workload.title}", "", _line(_HEAD), _line(["---"] * len(_HEAD))]
    for name, measured in runs.items():
        good = [run for run in measured if isinstance(run, Measured)]
        if not good:
            why = next((run for run in measured if isinstance(run, str)), "not run")
            lines.append(_line([name, why.strip().splitlines()[-1], *[""] * (len(_HEAD) - 2)]))
            continue
        failed = (
            f" ({len(measured) - len(good)} of {len(measured)} runs failed)"
            if len(good) < len(measured)
            else ""
        )
        ratios = [
            _ratio(measured, runs.get(fastest or "", ()), field) for field in ("wall", "span")
        ]
        lines.append(_line([name + failed, *ratios, *_cells(median(good), workload)]))
    lines += (
        ["", f"Bare is here {fastest}, the faster of {' and '.join(yardsticks)}."]
        if fastest
        else []
    )
    lines += ["", _about_schedulers(workload)] if workload.one_worker_each is not None else []
    return "\n".join([*lines, *(["", note] if note else [])]) + "\n"


def yardstick(runs: Runs, names: Sequence[str]) -> str | None:
    """Return which of these contenders has the shortest median wall, if any ran."""
    walls = {name: _middle(runs.get(name, ())) for name in names}
    there = {name: run.wall for name, run in walls.items() if run is not None}
    return min(there, key=lambda name: there[name]) if there else None


def _ratio(measured: Sequence[Measured | str], bare: Sequence[Measured | str], field: str) -> str:
    """Return the median of the rounds' ratios, with the least and the most."""
    ratios = [
        getattr(run, field) / getattr(other, field)
        for run, other in zip(measured, bare, strict=False)
        if isinstance(run, Measured) and isinstance(other, Measured)
    ]
    if not ratios:
        return ""
    spread = f" ({min(ratios):.2f}-{max(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{statistics.median(ratios):.3f}{spread}"


def _cells(run: Measured, workload: Workload) -> list[str]:
    wrong = "" if run.calls == workload.calls else f" ({run.calls} calls!)"
    return [
        f"{run.wall / workload.ideal:.3f}",
        f"{run.span / workload.ideal:.3f}",
        f"{run.calls / run.span:,.0f}",
        f"{1000 * run.cpu / run.calls:.2f}",
        f"{run.rss:.0f}",
        f"{run.start:.2f}",
        f"{run.end:.2f}",
        f"{run.wall:.2f}",
        f"{run.others:.2f}",
        ("" if run.kept is None else f"{run.kept:,}") + wrong,
    ]


def _about_schedulers(workload: Workload) -> str:
    assert workload.one_worker_each is not None
    ratio = workload.one_worker_each / workload.ideal
    return (
        f"Ideal is a list scheduler without overhead on the same waits: {workload.ideal:.2f} s; one worker for each "
        f"conversation, also without: {workload.one_worker_each:.2f} s ({ratio:.3f})."
    )


def _middle(runs: Sequence[Measured | str]) -> Measured | None:
    good = [run for run in runs if isinstance(run, Measured)]
    return median(good) if good else None


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
