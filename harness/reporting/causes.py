"""Why judgments are missing, each cause once, with the command that makes them.

40 judgments are of answers that were replaced since; gen_judgment makes them again:
  gen_judgment --judge-model gpt-4.1 --mode pairwise-all --share 0.1
"""

import glob
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from harness import bench as benches
from harness.bench import Bench
from harness.judging.current import in_words, split_gone
from harness.models import ModelConfig
from harness.options import GenJudgment, Slice, command_line
from harness.reporting.page import Note
from harness.results import Panel, missing
from harness.results.coverage import (
    make_answering,
    plan_rest,
    read_coverage,
    split_answers,
    together,
)
from harness.store import failures
from harness.types import UNSTATED
from harness.words import counted


def causes(
    bench: Bench,
    groups: Sequence[Panel],
    part: Slice,
    configs: Mapping[str, ModelConfig] | None = None,
) -> list[Note]:
    """Return why judgments are missing, each with the command that helps.

    `configs` are the models of turnbench.toml.
    """
    judges = list(dict.fromkeys(judge for panel in groups for judge in panel.judges))
    gone, left_out = split_gone(groups[0].scores.left_out)
    found: list[tuple[str, str | None]] = [(text, None) for text in in_words(left_out)]
    outputs = [f"model_judgment/{glob.escape(benches.file_stem(judge))}*" for judge in judges]
    failed = [failure for output in outputs for failure in failures(bench.folder, output)]
    if failed:
        last = max(failed, key=lambda failure: failure.time)
        status = f"HTTP {last.status}, " if last.status else ""
        found.append((f"{counted(len(failed), 'call')} failed (last: {status}{last.kind})", None))
    if unread := sum(panel.unread for panel in groups if panel.form != "metric"):
        found.append((f"{counted(unread, 'reply', 'replies')} without a verdict", "failed"))
    lost = -len(failed) - left_out.total()
    for panel in groups:
        lost -= panel.unread  # asked for, not read
        for metric in panel.asked:
            column = panel.combined.of(metric=metric)
            lacking = sum(item.lost for item in missing(column))
            lost += lacking // 2 if column.paired else lacking  # missing in both of its models
    if lost > 0:
        found.append((f"{counted(lost, 'judgment')} never made", None))
    commands = {redo: judging_commands(bench, groups, part, configs, redo) for _, redo in found}
    # One command makes all that is missing: it stands once, below the last of its causes.
    last_of = {redo: text for text, redo in found}
    notes = [Note(text, commands[redo] if last_of[redo] == text else "") for text, redo in found]
    return [*map(Note, in_words(gone)), *notes]


def judging_commands(
    bench: Bench,
    groups: Sequence[Panel],
    part: Slice,
    configs: Mapping[str, ModelConfig] | None,
    redo: str | None = None,
) -> str:
    """Return the commands that go on with the judgments of some panels, each on its line.

    Where questions were changed, the first is of the answers to them.
    """
    stale = [row.cause.split(", ")[0] for row in groups[0].scores.not_current]
    sources = {source for panel in groups for source in panel.scores.sources_present.values()}
    sources |= {row.source for row in groups[0].scores.not_current}
    shown = {(source.judge, source.judge_set, source.form == "pair") for source in sources}
    records: dict[GenJudgment, list[str]] = {}
    unanswered: dict[str, None] = {}
    for judged in together(read_coverage(bench)):
        names = judged.judge_set, UNSTATED
        if any((judged.judge, name, judged.paired) in shown for name in names):
            record, plan, _ = plan_rest(bench, judged, configs, part, redo)
            if plan is not None and plan.lacking and "question" in stale and redo is None:
                unanswered |= dict.fromkeys(plan.models)
            anybody = replace(record, judging=replace(record.judging, judge_model=()))
            records.setdefault(anybody, []).append(judged.judge)
    commands = [
        command_line(replace(record, judging=replace(record.judging, judge_model=tuple(judges))))
        for record, judges in records.items()
    ]
    left = [model for model in unanswered if split_answers(bench, model, configs, part).todo]
    if left:
        commands.insert(0, command_line(make_answering(bench, left, configs, part)))
    return "\n".join(commands)
