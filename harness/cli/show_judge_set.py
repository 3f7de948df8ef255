"""The command `show_judge_set`."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from harness import bench, options
from harness.cli.console import Console
from harness.errors import UsageError
from harness.judging.preview import JudgePrompt, describe, judge_prompts
from harness.judging.sets import load, load_for, shipped_sets
from harness.types import as_question_id
from harness.words import printable


def run(record: options.ShowJudgeSet, console: Console) -> Any:
    """List judge sets, describe one, or print its messages."""
    values: Any
    if record.which is None:
        if record.question is not None:
            raise UsageError("--question needs a judge set; name one, such as mt_bench")
        values = [describe(load(name)) for name in shipped_sets()]
        text = _list(values)
    elif record.question is None:
        data_dir = pathlib.Path(record.bench.data_dir)
        folder = data_dir / bench.check_bench_name(record.bench.bench_name)
        values = describe(load(record.which, folder).by(record.criterion))
        text = _description(values)
    else:
        prompts = _prompts(record, record.which, record.question)
        values = [prompt.stated() for prompt in prompts]
        text = "\n\n".join(map(_prompt_text, prompts))
    if record.format == "json":
        console.write(json.dumps(values, ensure_ascii=False, indent=2))
    else:
        console.write(printable(text, "\n\t"))
    return values


def _prompts(record: options.ShowJudgeSet, which: str, question: str) -> list[JudgePrompt]:
    loaded = bench.load_named(record.bench)
    judge_set, reference = load_for(loaded, which).by(record.criterion), record.reference
    if reference == "none":
        judge_set, reference = judge_set.without_references(), None
    return judge_prompts(
        judge_set,
        loaded,
        as_question_id(question),
        turns=record.turns,
        models=record.model_list,
        mode=record.mode,
        reference=reference,
    )


def _list(sets: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each set: its name, what its templates do, its title."""
    rows = [("judge set", "does", "title")]
    rows += [(values["name"], ", ".join(values["kinds"]), values["title"]) for values in sets]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(
        f"{name:<{widths[0]}}  {does:<{widths[1]}}  {title}" for name, does, title in rows
    )


def _description(values: Mapping[str, Any]) -> str:
    """Return the lines that describe a set, without what it does not say."""
    lines = [f"{values['name']} {values['version']}: {values['title']}".rstrip(": ")]
    for name, value in values.items():
        text = _words(value)
        if text and name not in ("name", "version", "title", "criteria", "templates"):
            lines.append(f"  {name:<11} {text}")
    if values["criteria"]:
        lines.append("criteria")
    lines += [f"  {name:<24} {' '.join(text.split())}" for name, text in values["criteria"].items()]
    lines.append("templates")
    for template in values["templates"]:
        facts = {key: value for key, value in template.items() if key not in ("name", "content")}
        lines.append(f"  {template['name']:<24} {_words(facts)}")
    return "\n".join(lines)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        texts = {name: _words(part) for name, part in value.items()}
        return "; ".join(f"{name}: {text}" for name, text in texts.items() if text)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _prompt_text(prompt: JudgePrompt) -> str:
    """Return what is asked about what, then the messages as they are sent."""
    facts = prompt.stated()
    messages = facts.pop("messages")
    del facts["schema"], facts["sampling"]
    lines = [f"===== {_words(facts)}"]
    for message in messages:
        lines += [f"----- {message['role']}", message["content"]]
    return "\n".join(lines)
