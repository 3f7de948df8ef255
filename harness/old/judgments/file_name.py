"""The names of judgment files: `JUDGE@SET[#n]_{single|pair|pair1}.jsonl`, and FastChat's for our own set, unless the
judge's name contains an `@`.

>>> FileName("gpt-4.1", "mt_bench", "single").text
'gpt-4.1_single.jsonl'
>>> FileName("org/judge", "metrics_en", "single", sample=2).text
'org%2Fjudge@metrics_en#2_single.jsonl'
>>> parse("org%2Fjudge@metrics_en#2_single.jsonl")
FileName(judge='org/judge', judge_set='metrics_en', kind='single', sample=2)
"""

import pathlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from harness.old.jsonl import logical_files
from harness.old.names import file_stem, name_of
from harness.old.records import Mode

OWN_JUDGE_SET = "mt_bench"
"""The set whose files have FastChat's names."""
Kind: TypeAlias = Literal["single", "pair", "pair1"]
"""Single answers, pairs judged in both orders, pairs judged in one order only."""
_NAME = re.compile(r"(.+?)(?:@([^@#]+)(?:#(\d+))?)?_(single|pair1?)\.jsonl", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileName:
    """Whose judgments a file contains."""

    judge: str
    judge_set: str
    kind: Kind
    sample: int = 0

    @property
    def text(self) -> str:
        """The file's name."""
        plain = self.judge_set == OWN_JUDGE_SET and not self.sample and "@" not in self.judge
        which = "" if plain else f"@{file_stem(self.judge_set)}{f'#{self.sample}' if self.sample else ''}"
        return f"{file_stem(self.judge)}{which}_{self.kind}.jsonl"


def parse(name: str) -> FileName | None:
    """Return the parts of a file's name; None if it is not named like a judgment file."""
    found = _NAME.fullmatch(name)
    if found is None or name.startswith("."):
        return None
    judge, judge_set, sample, kind = found.groups()
    own = OWN_JUDGE_SET if judge_set is None else name_of(judge_set)
    return FileName(name_of(judge), own, cast("Kind", kind), int(sample or 0))


def kinds_of(mode: Mode) -> tuple[Kind, ...]:
    """Return the kinds of files that hold judgments of a mode."""
    return ("single",) if mode == "single" else ("pair", "pair1")


def judgment_files(folder: pathlib.Path, kinds: Sequence[Kind], sample: int | None = None) -> list[pathlib.Path]:
    """Return the judgment files in a folder, by name; of one sample where that is named."""
    named = {path: parse(path.name) for path in logical_files(folder)}
    return [
        path
        for path, name in named.items()
        if name is not None and name.kind in kinds and (sample is None or name.sample == sample)
    ]
