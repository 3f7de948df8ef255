"""Peak memory when many matches are planned: a run of many is started, and after a while stopped by Ctrl-C."""

import pathlib
from dataclasses import replace

from benchmarks.runner_parts.contenders import Contender, Place
from benchmarks.runner_parts.measure import FailedRunError, Server, timed
from benchmarks.runner_parts.workload import MEMORY, write_folder


def memory_table(our: Contender, server: Server, folder: pathlib.Path, *, seconds: float) -> str:
    """Return peak MB of a few matches beside that of many, as Markdown; `seconds` 0 lets the run end by itself."""
    few = replace(MEMORY, name="memory-few", models=6)
    lines = ["| matches planned | calls made | peak MB | wall s |", "| --- | --- | --- | --- |"]
    for workload in (few, MEMORY):
        place = Place(folder / workload.name, folder / "none", server.url)
        write_folder(workload, place.folder)
        server.begin(workload.latency)
        try:
            command = our.commands(workload, place)[0]
            wall, _, peak = timed(command, limit=1800, interrupt=seconds)
        except FailedRunError as error:
            lines.append(f"| {workload.calls:,} | {str(error).splitlines()[-1]} | | |")
            continue
        lines.append(
            f"| {workload.calls:,} | {server.begin(workload.latency)['calls']:,} | {peak:.0f} | {wall:.1f} |"
        )
    return "\n".join(lines) + "\n"
