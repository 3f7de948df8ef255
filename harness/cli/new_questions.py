"""The command `new_questions`: a benchmark with the computed questions made anew."""

import json
import pathlib
from collections.abc import Iterable
from typing import Any

from harness import options, registry, store
from harness.cli.command import log
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.reporting.page import counted

_SETTINGS = """\
title = "{of}, made from {origin}"
version = "3.1 {origin}"
licence = "Apache-2.0"
language = "en"
judge_set = "mt_bench"
# Identifies the set in training data.
canary = "{canary}"
"""


def work(parsed: Parsed) -> int:
    """Write a benchmark of new questions; return the exit code."""
    record: options.NewQuestions = parsed.options
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
    log.info("wrote %s into %s", counted(len(new.questions), "question"), folder)
    where = f"--bench-name {folder.name} --data-dir {folder.parent}"
    log.info("next: gen_answer %s --model NAME", where)
    return 0


def lines(rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
