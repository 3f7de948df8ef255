"""The command `new_questions`: a benchmark with the computed questions made anew."""

import json
import pathlib
from collections.abc import Iterable
from typing import Any

from harness import options, registry, store
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import UsageError
from harness.words import counted

_SETTINGS = """\
title = "{of}, made from {origin}"
version = "3.1 {origin}"
licence = "Apache-2.0"
language = "en"
judge_set = "mt_bench"
# Identifies the set in training data.
canary = "{canary}"
"""


def new_questions(seed: int, out: str | pathlib.Path, **words: Any) -> pathlib.Path:
    """Write a benchmark of new questions and return its folder; equal seeds give equal questions.

    `words` are the options of the command, such as `level=9`.

    Raises:
        UsageError: the folder is not empty.
        StorageError: it cannot be written.
    """
    return run(record_from(options.NewQuestions, seed=seed, out=out, **words), Console())


def run(record: options.NewQuestions, console: Console) -> pathlib.Path:
    """Write a benchmark of new questions."""
    folder = pathlib.Path(record.out)
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name a new folder")
    make_set = registry.find("questions", "make_set")
    new = make_set(record.seed, folder.name, record.level, templates=record.template)
    origin = f"seed {record.seed}" + (f" level {record.level}" if record.level else "")
    of = "Questions of templates" if record.template else "The computed questions of mt_bench"
    store.write_file(
        folder / "bench.toml", _SETTINGS.format(of=of, origin=origin, canary=new.canary)
    )
    store.write_file(folder / "question.jsonl", lines(new.questions))
    store.write_file(folder / "reference_answer" / "turnbench.jsonl", lines(new.references))
    console.tell(f"wrote {counted(len(new.questions), 'question')} into {folder}")
    where = f"--bench-name {folder.name} --data-dir {folder.parent}"
    console.tell(f"next: gen_answer {where} --model NAME")
    return folder


def lines(rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
