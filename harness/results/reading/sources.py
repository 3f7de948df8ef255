"""Which files and judges a report is about: one judge, one judge with all its samples, or several judges.

A report on one judge never mixes two; one on several takes those that were named (or all), each for itself, and asks
that they had the same judge set and the same questions.
"""

import pathlib
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from harness.bench import load_bench
from harness.errors import MissingError, UsageError
from harness.records import Mode
from harness.results.reading.columns import Case, Comparisons, Ratings
from harness.results.reading.read import ANY, Read, Which, of_kind, one_wording, read_judgments
from harness.results.reading.select import chosen, judgment_files, usual_file

Paths: TypeAlias = pathlib.Path | str | Sequence[pathlib.Path | str] | None


class Source(NamedTuple):
    """The judgments of one judge in one file, of one sample; one of the two sequences is empty."""

    path: pathlib.Path
    judge: str
    judge_set: str
    sample: int
    ratings: Ratings
    pairs: Comparisons
    replaced: int
    """Rows of the whole file that others with the same key replaced."""

    @property
    def told(self) -> str:
        """What it is, in words."""
        return f"{self.judge}{f' (sample {self.sample})' if self.sample else ''} in {self.path.name}"


def judged(
    mode: Mode | None,
    paths: Sequence[pathlib.Path],
    judges: str | Sequence[str] | None,
    judge_set: str | None,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    *,
    which: Which = ANY,
    every_sample: bool = False,
) -> list[Source]:
    """Return the judgments of the judges named, or of the only one that there is."""
    by = partial(judged_by_several, judges=judges)
    if judges is None or isinstance(judges, str):
        by = partial(judged_by, judge=judges)
    return by(
        mode,
        paths,
        judge_set=judge_set,
        bench_name=bench_name,
        data_dir=data_dir,
        which=which,
        every_sample=every_sample,
    )


def judged_by(
    mode: Mode | None,
    paths: Sequence[pathlib.Path],
    judge: str | None,
    judge_set: str | None,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    exclude: Sequence[str] = (),
    *,
    which: Which = ANY,
    every_sample: bool = False,
) -> list[Source]:
    """Return the judgments of the one judge that is named or that there is; several sources only if of its samples.

    `mode` None takes what the files hold, and grades where no file is given.

    Raises:
        UsageError: there are several judges or judge sets; the message lists them.
        MissingError: there are no judgments.
    """
    files = list(paths) or [usual_file(mode or "single", bench_name, data_dir, judge, judge_set, which.sample)]
    sources = [
        source
        for path in files
        for source in _in_file(path, mode, judge, judge_set, exclude, which, every_sample=every_sample)
    ]
    if every_sample and not paths and which.sample is None:
        named = "mt_bench" if sources[0].judge_set == "unstated" else sources[0].judge_set.rsplit(" ", 1)[0]
        bench = load_bench(bench_name or "mt_bench", data_dir)
        sample = 1
        one_order = files[0].stem.endswith("_pair1")
        of_number = partial(bench.judgment_file, sources[0].judge, named, mode or "single", one_order=one_order)
        while (path := of_number(sample)).exists():
            if path not in files:
                sources += _in_file(path, mode, judge, judge_set, exclude, which, every_sample=True)
            sample += 1
    _comparable(sources, ("judge", "judge_set"))
    return sources


def judged_by_several(
    mode: Mode | None,
    paths: Sequence[pathlib.Path],
    judges: Sequence[str] | None,
    judge_set: str | None,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    *,
    which: Which = ANY,
    every_sample: bool = False,
) -> list[Source]:
    """Return the judgments of the judges named, or of all that there are, all with one judge set.

    Raises:
        UsageError: a judge has no judgment there, or judge sets differ.
        MissingError: there are no judgments.
    """
    names = None if judges is None else list(dict.fromkeys(judges))
    if names is not None and not paths:
        return _same_set(
            [
                source
                for name in names
                for source in judged_by(
                    mode, (), name, judge_set, bench_name, data_dir, which=which, every_sample=every_sample
                )
            ]
        )
    files = list(paths) or _all_files(mode or "single", bench_name, data_dir, which.sample or 0)
    reads = [(path, read_judgments(path)) for path in files]
    if judge_set is None:
        _one_set(reads, mode, names)
    sources = []
    there: list[str] = []
    for path, read in reads:
        present = list(dict.fromkeys(origin.judge for origin in _of_mode(read, mode).origins()))
        there += present
        for name in present:
            fits = {o.judge_set for o in _of_mode(read, mode).origins() if o.judge == name}
            if judge_set is not None and not any(judge_set in {s, s.rsplit(" ", 1)[0]} for s in fits):
                continue
            if names is None or name in names:
                sources += _sources(read, path, mode, name, judge_set, (), which, every_sample=every_sample)
    absent = [name for name in names or () if name not in {source.judge for source in sources}]
    if absent or not sources:
        what = f" by {', '.join(absent)}" if absent else f" with judge set {judge_set}" if judge_set else ""
        known = f"; there are: {', '.join(dict.fromkeys(there))}" if there else ""
        raise UsageError(f"no judgment{what} in {', '.join(map(str, files))}{known}")
    return _same_set(sources)


def told_once(sources: Sequence[Source]) -> list[str]:
    """Return a line on rows that stand more than once, if there are any."""
    replaced = sum({source.path: source.replaced for source in sources}.values())
    return [f"{replaced} rows stand more than once; of each the last good one counts"] if replaced else []


def _one_set(reads: Sequence[tuple[pathlib.Path, Read]], mode: Mode | None, names: Sequence[str] | None) -> None:
    """Raise `UsageError` if the judges' files are of several judge sets, before anything else that they differ in."""
    origins = [o for _, read in reads for o in _of_mode(read, mode).origins() if names is None or o.judge in names]
    sets = list(dict.fromkeys(origin.judge_set for origin in origins))
    if len(sets) > 1:
        raise UsageError(f"there are judgments with several judge sets, choose one with --judge-set: {', '.join(sets)}")


def _same_set(sources: list[Source]) -> list[Source]:
    _comparable(sources, ("judge_set",))
    one_wording(Ratings.of([record for source in sources for record in source.ratings]), sources[0].path)
    one_wording(Comparisons.of([record for source in sources for record in source.pairs]), sources[0].path)
    return sources


def _comparable(sources: Sequence[Source], names: Sequence[str]) -> None:
    """Raise `UsageError` if the sources differ in what must be one."""
    for name in names:
        values = list(dict.fromkeys(getattr(source, name) for source in sources))
        if len(values) > 1:
            flag = "--judge-model" if name == "judge" else "--judge-set"
            raise UsageError(
                f"the files hold judgments that are not comparable, choose one with {flag}: {', '.join(values)}"
            )
    if len({bool(source.ratings) for source in sources}) > 1:
        raise UsageError("some of the files hold grades and some pairs, which are not comparable; choose with --mode")


def _in_file(
    path: pathlib.Path,
    mode: Mode | None,
    judge: str | None,
    judge_set: str | None,
    exclude: Sequence[str],
    which: Which,
    *,
    every_sample: bool,
) -> list[Source]:
    return _sources(read_judgments(path), path, mode, judge, judge_set, exclude, which, every_sample=every_sample)


def _sources(
    read: Read,
    path: pathlib.Path,
    mode: Mode | None,
    judge: str | None,
    judge_set: str | None,
    exclude: Sequence[str],
    which: Which,
    *,
    every_sample: bool,
) -> list[Source]:
    """Return what a file holds of a judge, apart for each sample where all are wanted."""
    read = of_kind(read, which, path)
    mode = mode or ("single" if read.ratings or not read.comparisons else "pairwise-all")
    records = _of_mode(read, mode)
    if not every_sample:
        return [_source(read, path, mode, judge, judge_set, exclude, 0)]
    samples = sorted({origin.sample for origin in records.origins() if judge in {None, origin.judge}}) or [0]
    found = []
    for sample in samples:
        of_sample = partial(_has_sample, sample)
        part = Read(read.ratings.keep(case=of_sample), read.comparisons.keep(case=of_sample), read.replaced)
        found.append(_source(part, path, mode, judge, judge_set, exclude, sample))
    return found


def _source(
    read: Read,
    path: pathlib.Path,
    mode: Mode,
    judge: str | None,
    judge_set: str | None,
    exclude: Sequence[str],
    sample: int,
) -> Source:
    ratings, pairs, name, set_name = chosen(read, mode, path, judge, judge_set, exclude)
    return Source(path, name, set_name, sample, ratings, pairs, read.replaced)


def _has_sample(sample: int, case: Case) -> bool:
    return case.sample == sample


def _of_mode(read: Read, mode: Mode | None) -> Ratings | Comparisons:
    if mode is None:
        return read.ratings or read.comparisons
    return read.ratings if mode == "single" else read.comparisons


def _all_files(mode: Mode, bench_name: str | None, data_dir: pathlib.Path | str, sample: int) -> list[pathlib.Path]:
    """Return all judgment files of the benchmark in that mode, of one sample.

    Pairs in one order are left out where the same judge and judge set have pairs in both.
    """
    folder = load_bench(bench_name or "mt_bench", data_dir).folder / "model_judgment"
    there = judgment_files(folder, mode, sample)
    files = [p for p in there if not p.stem.endswith("_pair1") or p.with_stem(p.stem.removesuffix("1")) not in there]
    if not files:
        raise MissingError(f"no {mode} judgments in {folder}; run gen_judgment --mode {mode} first")
    return files
