"""Find a judge set by name or path, in whichever format it was written, and follow what it extends."""

import os
import pathlib
from collections.abc import Callable, Iterator

from harness.old.bench import shipped
from harness.old.errors import DataError, UsageError
from harness.old.judging.sets.alpaca_eval import source_from_alpaca_eval
from harness.old.judging.sets.colossalai import source_from_colossalai
from harness.old.judging.sets.fastchat import source_from_fastchat
from harness.old.judging.sets.judge_set import JudgeSet
from harness.old.judging.sets.settings import Source, judge_set_of, merged_into, read_source
from harness.old.written import nearest, takes_only

_READERS: dict[str, Callable[[pathlib.Path], Source]] = {
    ".jsonl": source_from_fastchat,
    ".json": source_from_colossalai,
    ".yaml": source_from_alpaca_eval,
    ".yml": source_from_alpaca_eval,
}
"""The reader of a file by its suffix; any other is read as FastChat's."""
_FILES = ("judge_set.toml", "judge_prompts.jsonl", "configs.yaml")
"""The file that makes a folder a judge set; the first found counts."""


@takes_only()
def load_judge_set(name: str = "mt_bench", bench_folder: pathlib.Path | None = None) -> JudgeSet:
    """Return the judge set of that name.

    `name` is a path (a folder, or a file in the format of FastChat, ColossalAI or AlpacaEval), else a name looked for
    in the benchmark's folder, then among the shipped ones.

    Raises:
        UsageError: there is none; the message lists the shipped ones.
        DataError: a file of the set is not what it must be.
    """
    for place in _places(name, bench_folder):
        source = _source_at(place)
        if source is not None:
            return judge_set_of(_resolved(source, bench_folder, (place.resolve(),)))
    if os.path.isdir(name):  # False for whatever cannot be a path
        raise UsageError(f"{name}: not a judge set: the folder contains no {' or '.join(_FILES)}")
    raise UsageError(
        f"no judge set {name!r}; {nearest(name, shipped_judge_sets())} "
        "(or give the path of a folder or of a judge_prompts.jsonl)"
    )


def judge_set_name(given: str) -> str:
    """Return the name that the judgments of a judge set carry: of a path the set's own, else what was given.

    Raises:
        DataError: a file of the set at that path is not what it must be.
    """
    source = _source_at(pathlib.Path(given))
    return given if source is None else load_judge_set(given).name


def shipped_judge_sets() -> list[str]:
    """Return the names of the judge sets that are shipped."""
    return sorted(path.parent.name for path in shipped("judge_prompts").glob("*/judge_set.toml"))


def _places(name: str, bench_folder: pathlib.Path | None) -> Iterator[pathlib.Path]:
    """Yield where a set of that name or path may be."""
    yield pathlib.Path(name)
    if pathlib.PurePath(name).name != name:
        return
    # A prompt file in the data folder must not take the place of a shipped set of the same name: it comes last.
    if bench_folder is not None:
        yield bench_folder / name
    yield shipped("judge_prompts") / name
    if bench_folder is not None:
        yield bench_folder.parent / name


def _source_at(place: pathlib.Path) -> Source | None:
    """Return the judge set at a place as written; None if there is none."""
    if os.path.isfile(place):
        return _READERS.get(place.suffix.lower(), source_from_fastchat)(place)
    found = next((place / file for file in _FILES if os.path.isfile(place / file)), None)
    if found is None:
        return None
    if found.name == "judge_set.toml":
        return read_source(place)
    source = _READERS[found.suffix](found)
    return source if found.suffix != ".jsonl" else source_from_fastchat(found, place.name)


def _resolved(source: Source, bench_folder: pathlib.Path | None, seen: tuple[pathlib.Path, ...]) -> Source:
    """Return a source with everything that it inherits, directly or not."""
    name = source.settings.get("extends")
    if not name:
        return source
    path = source.path / "judge_set.toml"
    own = source.path / name
    for place in (own, *_places(name, bench_folder)):
        if not _is_path(place):
            break
        if place.resolve() == source.path.resolve() and pathlib.PurePath(name).name == name:
            continue  # a set of the same name as the one that it extends: the next place holds the other one
        base = _source_at(place)
        if base is None:
            continue
        if place.resolve() in seen:
            raise DataError(f"extends is circular: {_told(*seen, place)}", path=path)
        whole = _resolved(base, bench_folder, (*seen, place.resolve()))
        return merged_into(whole, source)
    raise DataError(
        f"extends names the judge set {name!r}, which does not exist; {nearest(name, shipped_judge_sets())}", path=path
    )


def _is_path(place: pathlib.Path) -> bool:
    """Return whether a given text can be a path: without a NUL, and not thousands of letters long."""
    try:
        place.resolve().exists()
    except (OSError, ValueError, RuntimeError):  # the last for links that lead to themselves, before Python 3.13
        return False
    return True


def _told(*places: pathlib.Path) -> str:
    return " > ".join(place.name for place in places)
