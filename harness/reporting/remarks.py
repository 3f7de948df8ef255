"""What stands around the tables: what is not judged, and why judgments are missing."""

import glob
import shlex
from collections.abc import Sequence

from harness import bench as benches
from harness.bench import Bench
from harness.options import ShowResult
from harness.reporting.page import Note, counted, listed
from harness.reporting.section import Section, View
from harness.results import Panel, missing
from harness.results.board import same_answer_share
from harness.store import failures

SAME_ANSWER = 0.2
"""The share of answers with one text above which a model's rate says nothing."""


def repeats_itself(bench: Bench, model: str) -> bool:
    """Return whether a model gives so many questions one answer that its rate says nothing."""
    return same_answer_share(bench, model) > SAME_ANSWER


def add_caveats(sections: Sequence[Section], bench: Bench, options: ShowResult, view: View) -> None:
    """Add which models and questions are not judged, such as by a run that was stopped."""
    first = sections[0].caveats
    for model in view.controlled:
        if repeats_itself(bench, model):
            first.insert(0, f"{model} gives mostly one and the same answer; its rate says nothing.")
    if options.common or options.select.input_file or options.select.votes:
        return
    names = {view.baseline, *(name for section in sections for name in section.ranking.names)}
    absent = [name for name in view.models or bench.answered_models() if name not in names]
    if absent:
        first.insert(0 if view.models else len(first), f"Not judged: {listed(absent)}.")
    total = len(bench.take(options.slice))
    for section in sections:
        judged = max(evidence.questions for evidence in section.evidence)
        if judged < total and section.panel.form != "metric":
            part = f"{judged} of the {total} questions of {bench.name} are judged."
            section.caveats.insert(0, part)


def causes(bench: Bench, groups: Sequence[Panel]) -> list[Note]:
    """Return why judgments are missing, each with the command that helps."""
    judges = list(dict.fromkeys(judge for panel in groups for judge in panel.judges))
    mode = " --mode pairwise-all" if {panel.form for panel in groups} == {"pair"} else ""
    command = f"gen_judgment --judge-model {' '.join(map(shlex.quote, judges))}{mode}"
    command += f" {bench.flags}".replace(" --bench-name mt_bench", "")
    notes = []
    outputs = [f"model_judgment/{glob.escape(benches.file_stem(judge))}*" for judge in judges]
    failed = [failure for output in outputs for failure in failures(bench.folder, output)]
    if failed:
        last = max(failed, key=lambda failure: failure.time)
        status = f"HTTP {last.status}, " if last.status else ""
        calls = counted(len(failed), "call")
        notes.append(Note(f"{calls} failed (last: {status}{last.kind})", command))
    if unread := sum(panel.unread for panel in groups if panel.form != "metric"):
        replies = counted(unread, "reply", "replies")
        notes.append(Note(f"{replies} without a verdict", f"{command} --redo failed"))
    mains = (panel.combined.of(metric=panel.metrics[0]) for panel in groups)
    lost = sum(part.absent for main in mains for part in missing(main)) - len(failed)
    if lost > 0:
        notes.append(Note(f"{counted(lost, 'judgment')} never made", command))
    return notes
