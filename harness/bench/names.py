"""Names of models and benchmarks as file names, reversibly; names of judgment files.

In a file name `/ \\ % :`, a leading dot and control characters become `%XX`; on Windows also
`< > " | ? *` and the first letter of CON, NUL and the like. Either is read everywhere.

>>> file_stem("org/model:latest")
'org%2Fmodel%3Alatest'
>>> name_of("org%2Fmodel%3Alatest")
'org/model:latest'
"""

import os
import re
from typing import Literal, NamedTuple, TypeAlias

from harness.errors import UsageError

_UNSAFE = re.compile(r"[/\\%:\x00-\x1f\x7f-\x9f]|^\.")
_UNSAFE_ON_WINDOWS = re.compile(
    r'[<>"|?*]|^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)).', re.IGNORECASE
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ESCAPED = re.compile(r"%([0-9A-F]{2})")

Kind: TypeAlias = Literal["single", "pair", "pair1"]
"""Single answers, pairs judged in both orders, pairs judged in one order."""


def check_model_name(name: str) -> str:
    """Return the name, or raise `UsageError` if no model can be called that."""
    data = name.encode(errors="ignore")
    if not name.strip() or _UNSEEN.search(name) or len(data) > 200 or data.decode() != name:
        wrong = "is empty, over 200 bytes long, or holds what no line of text can"
        raise UsageError(f"the model name {name[:40]!r} {wrong}")
    return name


def file_stem(model: str, *, windows: bool = os.name == "nt") -> str:
    """Return a model's name as a file name, without its ending.

    >>> file_stem("who?", windows=True), file_stem("con", windows=True), file_stem("who?")
    ('who%3F', '%63on', 'who?')
    """
    return _escaped(check_model_name(model), windows=windows)


def name_of(stem: str) -> str:
    """Return the name of a file's stem; one that `file_stem` never writes is the name itself."""
    name = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), stem)
    written = {_escaped(name, windows=windows) for windows in (False, True)}
    return name if stem in written else stem


def name_of_file(name: str) -> str:
    """Return whose rows a data file holds, by the file's name.

    >>> name_of_file("org%2Fmodel.jsonl.gz")
    'org/model'
    """
    return name_of(name.removesuffix(".gz").removesuffix(".jsonl"))


def _escaped(name: str, *, windows: bool = False) -> str:
    escaped = _UNSAFE.sub(_code, name)
    return _UNSAFE_ON_WINDOWS.sub(_code, escaped) if windows else escaped


def _code(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def check_bench_name(name: str) -> str:
    """Return the name, or raise `UsageError` if it is not one plain folder name."""
    if not name.strip() or _UNSAFE.search(name) or len(name.encode("utf-8", "replace")) > 200:
        advice = "use --data-dir for the folder that holds it"
        raise UsageError(f"the benchmark name {name!r} is not a plain folder name; {advice}")
    return name


class JudgmentName(NamedTuple):
    """What the name of a judgment file says."""

    judge: str
    judge_set: str
    kind: Kind
    sample: int = 0


def judgment_file_name(judge: str, judge_set: str, kind: Kind, sample: int = 0) -> str:
    """Return `JUDGE@SET[#SAMPLE]_KIND.jsonl`; for the first sample of `mt_bench` FastChat's name.

    >>> judgment_file_name("gpt-4.1", "mt_bench", "single")
    'gpt-4.1_single.jsonl'
    >>> judgment_file_name("org/judge", "metrics_en", "pair", sample=2)
    'org%2Fjudge@metrics_en#2_pair.jsonl'
    """
    plain = judge_set == "mt_bench" and not sample and "@" not in judge
    which = "" if plain else f"@{file_stem(judge_set)}{f'#{sample}' if sample else ''}"
    return f"{file_stem(judge)}{which}_{kind}.jsonl"


def parse_judgment_name(name: str) -> JudgmentName | None:
    """Return what a judgment file's name says; None if it is not named like one.

    >>> parse_judgment_name("org%2Fjudge@metrics_en#2_pair.jsonl")
    JudgmentName(judge='org/judge', judge_set='metrics_en', kind='pair', sample=2)
    """
    pattern = r"(.+?)(?:@([^@#]+)(?:#(\d+))?)?_(single|pair1?)\.jsonl(?:\.gz)?"
    match = re.fullmatch(pattern, name, re.DOTALL)
    if match is None:
        return None
    judge, judge_set, sample, kind = match.groups(default="")
    judge_set = name_of(judge_set) or "mt_bench"
    return JudgmentName(name_of(judge), judge_set, kind, int(sample or 0))  # type: ignore[arg-type]
