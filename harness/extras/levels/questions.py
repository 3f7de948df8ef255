"""The benchmark that `--levels` asks: made where there is none, questions added wave by wave."""

import hashlib
import json
import pathlib
import random
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness import bench as benches
from harness import registry, store
from harness.bench import Bench
from harness.bench.bench import Settings
from harness.errors import UsageError
from harness.options import BenchName
from harness.types import Question

START = 5
"""The level of the first wave."""
_SETTINGS = """\
title = "Questions at levels"
version = "3.1"
licence = "Apache-2.0"
language = "en"
# Identifies the set in training data.
canary = "{canary}"
"""


class Wanted(NamedTuple):
    """A question of a wave."""

    template: str
    level: int
    wave: int

    @property
    def seed(self) -> int:
        """What the question is drawn from, the same for all models."""
        digest = hashlib.sha256(f"{self.template} {self.level} {self.wave}".encode()).digest()
        return int.from_bytes(digest[:4], "big")


def nudge(template: str, wave: int) -> int:
    """Return by how much a template's level differs from its wave's: -1, 0 or 1."""
    return random.Random(f"{template} {wave}").choice((-1, 0, 1))


class Questions:
    """The questions of a benchmark that grows."""

    def __init__(self, options: BenchName, *, keep: bool) -> None:
        """Look at the benchmark; one that is not there will be made of the shipped templates.

        Raises:
            UsageError: it has questions without a template, or no template.
        """
        self.options, self.keep = options, keep
        self.folder = pathlib.Path(options.data_dir) / options.bench_name
        self.bench = self._load()
        bare = [q.question_id for q in self.bench.questions if not q.extra.get("template")]
        of_bench = registry.find("questions", "of_bench")
        if self.bench.questions or list(self.folder.glob("*.py")):
            found = of_bench(self.folder, self.bench.questions)
            if bare:
                raise UsageError(
                    f"--levels adds questions to its benchmark; {options.bench_name} has others "
                    f"(question {bare[0]}); name a new one: --bench-name NAME"
                )
        else:
            found = registry.find("questions", "shipped")()
        self.templates: dict[str, Any] = {template.name: template for template in found}

    def ask(self, wanted: Iterable[Wanted]) -> dict[Wanted, Question]:
        """Return the questions, those that are not there yet added to the benchmark."""
        wanted = list(dict.fromkeys(wanted))
        if not self.keep:
            return self._added(wanted)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "question.jsonl"
        with store.Writer(path, Question, store.state_dir(self.folder)):  # one process at a time
            self.bench = self._load()
            return self._added(wanted)

    def _added(self, wanted: Sequence[Wanted]) -> dict[Wanted, Question]:
        there = {_key(question): question for question in self.bench.questions}
        ids = [q.question_id for q in self.bench.questions if isinstance(q.question_id, int)]
        canary = self.bench.settings.canary or _canary(self.options.bench_name)
        questions: list[dict[str, Any]] = []
        references: list[dict[str, Any]] = []
        make = registry.find("questions", "rows")
        for number, one in enumerate(
            (w for w in wanted if w not in there), max(ids, default=0) + 1
        ):
            made = make(self.templates[one.template], one.seed, one.level, number, canary)
            row = made.question | {"wave": one.wave}
            questions.append(row)
            references += [made.reference] if made.reference else []
            there[one] = store.question_of(dict(row))
        if questions and self.keep:
            if not (self.folder / "bench.toml").exists():
                store.write_file(self.folder / "bench.toml", _SETTINGS.format(canary=canary))
            _append(self.folder / "reference_answer" / "turnbench.jsonl", references)
            _append(self.folder / "question.jsonl", questions)
            self.bench = self._load()
        elif questions:
            more = tuple(there[one] for one in wanted if one in there)
            known = set(self.bench.by_id)
            more = tuple(question for question in more if question.question_id not in known)
            self.bench = replace(self.bench, questions=(*self.bench.questions, *more))
        return {one: there[one] for one in wanted}

    def _load(self) -> Bench:
        path = self.folder / "question.jsonl"
        if path.exists() or _is_shipped(self.options.bench_name):
            return benches.load_named(self.options)
        benches.names.check_bench_name(self.options.bench_name)
        settings = self.folder / "bench.toml"
        return Bench(
            self.options.bench_name,
            self.folder,
            self.folder,
            (),
            store.read_toml(settings, Settings) if settings.exists() else Settings(),
            self.options.reasoning,
        )


def _is_shipped(name: str) -> bool:
    return (benches.shipped("data") / name / "question.jsonl").exists()


def _key(question: Question) -> Wanted:
    extra = question.extra
    return Wanted(str(extra.get("template")), extra.get("level", 0), extra.get("wave", 0))


def _canary(name: str) -> str:
    number = random.Random(f"canary {name}").getrandbits(128)
    return f"turnbench {name} canary {uuid.UUID(int=number, version=4)}"


def _append(path: pathlib.Path, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows to a file, all of them at once."""
    before = path.read_bytes() if path.exists() else b""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    store.write_file(path, before + lines.encode())
