"""The command `show_judge_set`."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from harness import bench, options
from harness.cli.command import printable, run
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.judging.preview import JudgePrompt, described, judge_prompts
from harness.judging.sets import load, shipped_sets


def main(argv: Sequence[str] | None = None) -> int:
    """List judge sets, describe one, or print its messages; return the exit code."""
    return run("show_judge_set", options.ShowJudgeSet, _work, argv)


def _work(parsed: Parsed) -> int:
    record: options.ShowJudgeSet = parsed.options
    if record.which is None:
        if record.question is not None:
            raise UsageError("--question needs a judge set; name one, such as mt_bench")
        sets = [described(load(name)) for name in shipped_sets()]
        return _print(record, sets, "\n".join(_listed(sets)))
    if record.question is None:
        data_dir = pathlib.Path(record.bench.data_dir)
        folder = data_dir / bench.check_bench_name(record.bench.bench_name)
        stated = described(load(record.which, folder).by(record.criterion))
        return _print(record, stated, _description(stated))
    prompts = _prompts(record)
    texts = [_prompt_text(prompt) for prompt in prompts]
    return _print(record, [prompt.stated() for prompt in prompts], "\n\n".join(texts))


def _listed(sets: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each set: its name, what its templates do, its title."""
    rows = [("judge set", "does", "title")]
    rows += [(one["name"], ", ".join(one["kinds"]), one["title"]) for one in sets]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return [f"{name:<{widths[0]}}  {does:<{widths[1]}}  {title}" for name, does, title in rows]


def _prompts(record: options.ShowJudgeSet) -> list[JudgePrompt]:
    loaded = bench.load(record.bench.bench_name, record.bench.data_dir)
    assert record.which is not None
    judge_set = load(record.which, loaded.folder).by(record.criterion)
    reference = record.reference
    if reference == "none":
        judge_set, reference = judge_set.without_references(), None
    text = str(record.question)
    return judge_prompts(
        judge_set,
        loaded,
        int(text) if text.isdecimal() else text,
        turns=record.turns,
        models=record.model_list,
        mode=record.mode,
        reference=reference,
    )


def _print(record: options.ShowJudgeSet, values: Any, text: str) -> int:
    if record.format == "json":
        text = json.dumps(values, ensure_ascii=False, indent=2)
        # What could hide or turn the text around it is escaped, as in every JSON string.
        print("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))
    else:
        print(printable(text))
    return 0


def _description(stated: Mapping[str, Any]) -> str:
    """Return the lines that describe a set, without what it does not say."""
    lines = [f"{stated['name']} {stated['version']}: {stated['title']}".rstrip(": ")]
    for name, value in stated.items():
        if name in ("name", "version", "title", "criteria", "templates"):
            continue
        if words := _words(value):
            lines.append(f"  {name:<11} {words}")
    if stated["criteria"]:
        lines.append("criteria")
        lines += [
            f"  {name:<24} {' '.join(text.split())}".rstrip()
            for name, text in stated["criteria"].items()
        ]
    lines.append("templates")
    for template in stated["templates"]:
        parts = [template["kind"], template["verdict"], f"turns: {template['turns']}"]
        parts += [f"shows {', '.join(template['shows'])}"] if template["shows"] else []
        lines.append(f"  {template['name']:<24} {'; '.join(parts)}")
    return "\n".join(lines)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        inner = {key: _words(one) for key, one in value.items()}
        return "; ".join(f"{key}: {words}" for key, words in inner.items() if words)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _prompt_text(prompt: JudgePrompt) -> str:
    """Return what is asked about what, then the messages as they are sent."""
    match, form = prompt.match, prompt.form
    about = [f"question {match.question.question_id}", f"turn {match.turn}"]
    about += [" and ".join(prompt.order)]
    about += [f"game {prompt.game}"] if prompt.game else []
    about += [f"criterion {match.criterion}"] if match.criterion else []
    asked = [f"template {prompt.template}", f"{form.kind} as {form.format}"]
    if form.kind in ("grade", "dimensions"):
        steps = "" if form.scale.step is None else f" in steps of {form.scale.step:g}"
        asked.append(f"from {form.scale.least:g} to {form.scale.greatest:g}{steps}")
    asked += [f"one of {', '.join(form.labels)}"] if form.labels else []
    asked += ["weighted by log-probabilities"] if form.by_logprobs else []
    lines = [f"===== {', '.join(about)}", f"===== {', '.join(asked)}"]
    for message in prompt.request.messages:
        lines += [f"----- {message.role}", message.content]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
