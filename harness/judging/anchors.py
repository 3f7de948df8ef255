"""Anchors: answers that a stored run judged, judged anew, to know whether the judge has changed.

    gen_judgment --judge-model gpt-4.1 --anchors baseline.jsonl 20

Only judgments that would be made from the same question, answers, reference, prompt and parameters
today are anchors. They are drawn over the questions: one of each in an order that their hashes
give, then the second of each, so that a larger number adds to a smaller one. Their verdicts go to
`.turnbench/anchors/`, which nothing but `show_result --against` reads.
"""

import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness import store
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.options import GenJudgment
from harness.store import looks_like
from harness.types import UNSTATED, Judgment, content_hash


@dataclass
class Anchors:
    """What a stored run judged, and how much of it is to be judged anew."""

    path: pathlib.Path
    number: int | None
    """None: all."""
    rows: list[Judgment] = field(default_factory=list)

    def of(self, judge: str, sample: int, judge_set: str) -> dict[tuple[Any, ...], Judgment]:
        """Return what one judge judged, by key."""
        return {
            row.key: row
            for row in self.rows
            if row.judge_model == judge
            and row.sample == sample
            and row.judge_set in (judge_set, UNSTATED)
        }

    @property
    def paired(self) -> bool:
        """Whether it compared answers."""
        return self.rows[0].model is None

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The models, or the pairs."""
        return list(dict.fromkeys(row.models for row in self.rows))

    def draw(self, keys: Iterable[tuple[Any, ...]]) -> frozenset[tuple[Any, ...]]:
        """Return as many of some keys as are asked for, drawn over the questions."""
        by_question: dict[Any, list[tuple[str, tuple[Any, ...]]]] = {}
        for key in keys:
            by_question.setdefault(key[0], []).append((content_hash("anchor", repr(key)), key))
        order = [
            (place, digits, key)
            for each in by_question.values()
            for place, (digits, key) in enumerate(sorted(each))
        ]
        return frozenset(key for _, _, key in sorted(order, key=lambda one: one[:2])[: self.number])


def read_anchors(options: GenJudgment) -> Anchors | None:
    """Return what `--anchors` names; None: it is not given.

    Raises:
        UsageError: the flag says something else, or goes not with others.
        MissingError: the file is not there, or holds no verdict that says what it was made from.
    """
    if not options.anchors:
        return None
    flags = options.judging
    if options.until is not None or flags.share is not None or flags.votes:
        raise UsageError("--anchors goes without --until, --share and --votes")
    path, *number = options.anchors
    if len(number) > 1 or (number and number[0] != "all" and not number[0].isdecimal()):
        raise UsageError(f"--anchors {' '.join(options.anchors)}: write --anchors FILE [N|all]")
    file = pathlib.Path(path)
    if not file.is_file() or not looks_like(file, Judgment):
        raise MissingError(f"--anchors {path}: no file of judgments")
    found = store.latest(file, Judgment).values()
    rows = [row for row in found if not row.failed and row.made_from is not None]
    modes = {None: None, "single": False}
    paired = modes.get(flags.mode, True)
    rows = [row for row in rows if paired is None or (row.model is None) == paired]
    rows = [row for row in rows if (row.model is None) == (rows[0].model is None)]
    names = options.slice.model_list
    rows = [row for row in rows if not names or set(row.models) & set(names)]
    if not rows:
        raise MissingError(f"--anchors {path}: no verdicts that say what they were made from")
    return Anchors(file, int(number[0]) if number and number[0] != "all" else None, rows)


def anchor_files(bench: Bench) -> list[pathlib.Path]:
    """Return the files of anchors."""
    return store.data_files(bench.state / "anchors")


def none_left(anchors: Anchors, counts: Mapping[str, int]) -> UsageError:
    """Return the error that nothing of the stored run would be judged from the same today."""
    models = ", ".join(dict.fromkeys(name for group in anchors.groups for name in group))
    which = ", ".join(f"{judge} {count}" for judge, count in counts.items())
    return UsageError(
        f"--anchors {anchors.path}: none of its judgments ({which}) is of an answer that is here "
        f"as it was judged; put the answers of {models} into model_answer/, and state the judge's "
        "parameters, --reference and --judge-set as they were"
    )
