"""What stands around the tables: what is not judged, and why judgments are missing."""

import glob
from collections.abc import Sequence

from msgspec.structs import replace

from harness import bench as benches
from harness.bench import Bench
from harness.judging.coverage import read_coverage, together
from harness.judging.current import in_words
from harness.options import GenJudgment, ShowResult, Slice, command_line
from harness.reporting.page import Note, counted, listed
from harness.reporting.section import Section, View
from harness.results import Panel, missing
from harness.results.board import same_answer_share
from harness.store import failures
from harness.types import UNSTATED

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


def causes(bench: Bench, groups: Sequence[Panel], part: Slice) -> list[Note]:
    """Return why judgments are missing, each with the command that helps."""
    judges = list(dict.fromkeys(judge for panel in groups for judge in panel.judges))
    left_out = groups[0].scores.left_out
    found: list[tuple[str, str | None]] = [(text, None) for text in in_words(left_out)]
    outputs = [f"model_judgment/{glob.escape(benches.file_stem(judge))}*" for judge in judges]
    failed = [failure for output in outputs for failure in failures(bench.folder, output)]
    if failed:
        last = max(failed, key=lambda failure: failure.time)
        status = f"HTTP {last.status}, " if last.status else ""
        found.append((f"{counted(len(failed), 'call')} failed (last: {status}{last.kind})", None))
    redo: str | None = "failed"
    if unread := sum(int((~panel.combined.valid).sum()) for panel in groups):
        found.append((f"{counted(unread, 'reply', 'replies')} without a verdict", redo))
    mains = (panel.combined.of(metric=panel.metrics[0]) for panel in groups)
    lost = sum(part.absent for main in mains for part in missing(main))
    lost -= len(failed) + left_out.total()
    if lost > 0:
        found.append((f"{counted(lost, 'judgment')} never made", None))
    commands = {redo: judging_commands(bench, groups, part, redo) for _, redo in found}
    # One command makes all that is missing: it stands once, below the last of its causes.
    last_of = {redo: text for text, redo in found}
    return [Note(text, commands[redo] if last_of[redo] == text else "") for text, redo in found]


def judging_commands(
    bench: Bench, groups: Sequence[Panel], part: Slice, redo: str | None = None
) -> str:
    """Return the commands that go on with the judgments of some panels, each on its line."""
    sources = {source for panel in groups for source in panel.scores.sources_present.values()}
    shown = {(source.judge, source.judge_set, source.form == "pair") for source in sources}
    records: dict[GenJudgment, list[str]] = {}
    for judged in together(read_coverage(bench)):
        names = judged.judge_set, UNSTATED
        if any((judged.judge, name, judged.paired) in shown for name in names):
            record = judged.record(bench, part, redo)
            anybody = replace(record, judging=replace(record.judging, judge_model=()))
            records.setdefault(anybody, []).append(judged.judge)
    return "\n".join(
        command_line(replace(record, judging=replace(record.judging, judge_model=tuple(judges))))
        for record, judges in records.items()
    )
