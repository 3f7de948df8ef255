"""What a query finds: files, and in them the observations of one source, or a `UsageError` that lists the choices.

    ask(Query("single", judges=("gpt-4",), judge_set="mt_bench"))  ->  gpt-4_single.jsonl, its grades by one wording

None means the only one that there is.
"""

import fnmatch
import pathlib
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import is_there
from harness.old.judgments.case import Case
from harness.old.judgments.file_name import OWN_JUDGE_SET, FileName, judgment_files, kinds_of
from harness.old.judgments.observations import Observations
from harness.old.judgments.reading import Read, read_judgments
from harness.old.names import counted_are
from harness.old.records import UNSTATED, QuestionId, Source
from harness.old.results.query import REPEATED, Query


class Found(NamedTuple):
    """The observations of one judge, or the votes, in one file, that may be in one table."""

    path: pathlib.Path
    judge: str
    judge_set: str
    """With its version; `votes` of votes."""
    sample: int
    observations: Observations
    replaced: int
    """Rows of the whole file that repeat the key of another row."""
    turned: int = 0
    """Of these, those that name the two models of a pair the other way round."""
    averaged: bool = False
    """Whether rows with the same key all count."""

    @property
    def text(self) -> str:
        """A description of it."""
        return f"{self.judge}{f' (sample {self.sample})' if self.sample else ''} in {self.path.name}"


def replaced_note(found: Sequence[Found]) -> list[str]:
    """Return a line on rows that others with the same key replaced, if there are any."""
    replaced = sum({one.path: one.replaced for one in found}.values())
    if not replaced:
        return []
    counts = "all count" if found[0].averaged else "the last valid one of each counts (--repeated average: all)"
    notes = [f"{counted_are(replaced, 'row')} repeated; {counts}"]
    if turned := sum({one.path: one.turned for one in found}.values()):
        notes.append(
            f"{turned} of them name the two models of a match in both orders (x, y and y, x): was it judged twice, or "
            f"is each row one order? {counts[0].upper()}{counts[1:]}"
        )
    return notes


def ask(query: Query) -> list[Found]:
    """Return what the query is about: for the judge named or the only judge, or for each of several judges.

    Raises:
        UsageError: there are several judges or judge sets; the message lists them.
        MissingError: there are no judgments.
        DataError: a line of a file is invalid.
    """
    return _of_several(query) if query.every_judge or query.several else _of_one(query)


def chosen(query: Query, read: Read, path: pathlib.Path) -> Found:
    """Return the observations of a file that may be in one table.

    Raises:
        UsageError: there are none, or several kinds; the message lists the choices.
    """
    found = read.observations
    mode = query.mode or ("pairwise-all" if found.paired else "single")
    if found and found.paired != (mode != "single"):
        held, other = ("pairs", "pairwise-all") if found.paired else ("grades", "single")
        raise UsageError(f"{path} holds {held}; show it with --mode {other}")
    if not found:
        raise MissingError(f"{path} contains no judgments; run gen_judgment --mode {mode} first")
    repeats = read.replaced, read.turned, query.repeated == "average"
    voted = {case.source.voter for case in found.cases}
    if len(voted) > 1:
        raise UsageError(f"{path} mixes judgments and votes, which are not comparable; split it")
    if voted == {True}:
        return Found(path, query.judge or path.stem, "votes", 0, _votes(query, found, path), *repeats)
    found = one_source(query, found, path)
    one_wording(found, path)
    source = found.cases[0].source
    return Found(path, source.judge, source.set_text, source.sample, found, *repeats)


def read_for(query: Query, path: pathlib.Path) -> Read:
    """Return a file's observations, with repeated rows treated as the query states.

    Raises:
        UsageError: there are repeated rows, and the query refuses them.
    """
    if query.repeated not in REPEATED:
        raise UsageError(f"--repeated must be one of {', '.join(REPEATED)}, this is {query.repeated!r}")
    read = read_judgments(path, every=query.repeated == "average")
    if query.repeated == "refuse" and read.replaced:
        raise UsageError(f"{path}: {counted_are(read.replaced, 'row')} repeated (--repeated refuse)")
    return read


def one_source(query: Query, found: Observations, path: pathlib.Path) -> Observations:
    """Return the observations of the requested, or the only, judge, judge set and sampling.

    Raises:
        UsageError: there are several, and the query names none; the message lists them.
    """
    kept = found.keep(lambda case: query.judge in {None, case.source.judge} and case.source.made_with(query.judge_set))
    if not kept:
        there = "; ".join(dict.fromkeys(f"judge {s.judge}, judge set {s.set_text}" for s in found.sources()))
        asked = (("--judge-model", query.judge), ("--judge-set", query.judge_set))
        flags = " and ".join(f"{flag} {name}" for flag, name in asked if name)
        raise UsageError(f"{path} contains no judgment that matches {flags}; there are: {there}")
    sources = kept.sources()
    several = query.every_metric or sources[0].form in {"label", "dimensions"}
    for values, what_now in (
        ({s.judge for s in sources}, "choose one with --judge-model"),
        ({s.set_text for s in sources}, "choose one with --judge-set"),
        ({s.sampling for s in sources}, "split the file by the judge's sampling"),
        ({str(s.sample) for s in sources}, "choose one with --sample"),
        (set() if several else set(kept.metrics()), "choose one with --criterion"),
        ({s.method for s in sources}, "choose one with --score-method"),
    ):
        if len(values) > 1:
            choices = ", ".join(sorted(values))
            raise UsageError(f"{path} mixes judgments that are not comparable, {what_now}: {choices}")
    return kept


def one_wording(found: Observations, path: pathlib.Path) -> None:
    """Raise `UsageError` if judgments of one question were made from different wordings of it."""
    wordings: dict[QuestionId, str] = {}
    for asked in found.asked:
        if asked.content is None:
            continue
        if wordings.setdefault(asked.question_id, asked.content) != asked.content:
            raise UsageError(
                f"{path} mixes judgments of two versions of question {asked.question_id}, which are not comparable; "
                "run gen_judgment again for all models"
            )


def narrowed(query: Query, found: Observations, path: pathlib.Path) -> Observations:
    """Return the observations of one sample, criterion and score method, as far as these are named.

    Raises:
        UsageError: there are none.
    """
    named = {"--sample": query.sample, "--criterion": query.criterion, "--score-method": query.method}
    if all(value is None for value in named.values()):
        return found

    def wanted(case: Case) -> bool:
        held = case.source.sample, case.metric, case.source.method
        return all(value in {None, own} for value, own in zip(named.values(), held, strict=True))

    kept = found.keep(wanted)
    if not kept:
        there = "; ".join(dict.fromkeys(map(_kind_text, found.cases)))
        asked = " ".join(f"{flag} {value}" for flag, value in named.items() if value is not None)
        raise UsageError(f"{path} contains no judgment that matches {asked}; there are: {there}")
    return kept


def _kind_text(case: Case) -> str:
    weighed = "" if case.source.method == "text" else f", score method {case.source.method}"
    return f"sample {case.source.sample}, criterion {case.metric}{weighed}"


def of_turns(found: Observations, turns: Collection[int] | None, path: pathlib.Path) -> Observations:
    """Return the observations of the turns that count (None: all), or raise `UsageError` if a file has none."""
    if turns is None:
        return found
    kept = found.keep(lambda case: case.turn in turns)
    if not kept:
        raise UsageError(f"{path} contains no judgment of turn {', '.join(map(str, turns))}")
    return kept


def of_models(found: Observations, models: Collection[str] | None, baseline: str | None = None) -> Observations:
    """Return the observations of the models that are shown (None: all): of pairs, those of which both are."""
    named = {*models, baseline} if models else None
    return found.keep(
        lambda case: (named is None or named.issuperset(case.models)) and (baseline is None or baseline in case.models)
    )


def usual_file(query: Query) -> pathlib.Path:
    """Return the benchmark's judgment file of the query's judge and judge set; of none named, the only one there is.

    Of several samples it is the first, unless the query names another. Pairs in one order (`..._pair1.jsonl`) count as
    well. Rows of other tools name no judge set ("unstated"), and are in the file of the set `mt_bench`.
    """
    mode, sample = query.mode or "single", query.sample or 0
    folder = query.bench.folder / "model_judgment"
    judge, judge_set = query.judge, query.judge_set
    there = judgment_files(folder, kinds_of(mode), sample)
    if judge is not None:
        named = judge_set.rsplit(" ", 1)[0] if judge_set else OWN_JUDGE_SET
        own = OWN_JUDGE_SET if named == UNSTATED else named
        found = [path for kind in kinds_of(mode) if is_there(path := folder / FileName(judge, own, kind, sample).text)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(_both_text(found))
    named_any = judge is not None or judge_set is not None
    fitting = [path for path in there if not named_any or _fits(query, path, sample)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        told = list(dict.fromkeys(map(_sources_text, fitting)))
        if len(told) == 1:
            raise UsageError(_both_text(fitting))
        flags = "--judge-set" if judge else "--judge-model" if judge_set else "--judge-model and --judge-set"
        raise UsageError(
            f"{folder} holds several files of {mode} judgments; choose one with {flags}: {'; '.join(told)}"
        )
    known = f"; there are: {'; '.join(map(_sources_text, there))}" if there else ""
    asked = ("by", judge), ("with judge set", judge_set), ("of sample", query.sample)
    what = "".join(f" {word} {name}" for word, name in asked if name)
    by = f" --judge-set {shlex.quote(judge_set.rsplit(' ', 1)[0])}" if judge_set not in {None, UNSTATED} else ""
    raise MissingError(f"no {mode} judgments{what} in {folder}{known}; run gen_judgment --mode {mode}{by} first")


def _of_one(query: Query) -> list[Found]:
    """Return the observations of one judge; several only if of its samples."""
    files = list(query.files) or [usual_file(query)]
    found = [one for path in files for one in _in_file(query, path, read_for(query, path))]
    if query.every_sample and not query.files and query.sample is None:
        first = found[0]
        source = first.observations.cases[0].source
        named = OWN_JUDGE_SET if source.judge_set == UNSTATED else source.judge_set
        kind = "pair1" if files[0].stem.endswith("_pair1") else kinds_of(query.mode or "single")[0]
        sample = 1
        while is_there(path := files[0].parent / FileName(first.judge, named, kind, sample).text):
            found += _in_file(query, path, read_for(query, path)) if path not in files else []
            sample += 1
    _comparable(found, ("judge", "judge_set"))
    return found


def _of_several(query: Query) -> list[Found]:
    """Return the observations of the judges named, or of all that there are, all with one judge set."""
    if query.judges is not None and not query.files:
        return _same_set([one for name in query.judges for one in _of_one(query._replace(judges=(name,)))])
    files = list(query.files) or _all_files(query)
    reads = {path: read_for(query, path) for path in files}
    if query.mode is not None:
        paired = query.mode != "single"
        reads = {path: read for path, read in reads.items() if read.observations.paired == paired}
    if query.judge_set is None:
        _one_set(query, reads)
    found: list[Found] = []
    for path, read in reads.items():
        for name in dict.fromkeys(source.judge for source in read.observations.sources()):
            fits = any(s.made_with(query.judge_set) for s in read.observations.sources() if s.judge == name)
            if fits and (query.judges is None or name in query.judges):
                found += _in_file(query._replace(judges=(name,)), path, read)
    absent = [name for name in query.judges or () if name not in {one.judge for one in found}]
    if absent or not found:
        there = dict.fromkeys(s.judge for read in reads.values() for s in read.observations.sources())
        with_set = f" with judge set {query.judge_set}" if query.judge_set else ""
        what = f" by {', '.join(absent)}" if absent else with_set
        known = f"; there are: {', '.join(there)}" if there else ""
        raise UsageError(f"no judgment{what} in {', '.join(map(str, files))}{known}")
    return _same_set(found)


def _in_file(query: Query, path: pathlib.Path, read: Read) -> list[Found]:
    """Return a file's observations of a judge, split by sample if all samples are requested."""
    read = read._replace(observations=narrowed(query, read.observations, path))
    if not query.every_sample:
        return [chosen(query, read, path)]
    sources = [source for source in read.observations.sources() if query.judge in {None, source.judge}]
    found = []
    for sample in sorted({source.sample for source in sources}) or [0]:
        own = read.observations.keep(lambda case, sample=sample: case.source.sample == sample)  # type: ignore[misc]
        found.append(chosen(query, read._replace(observations=own), path)._replace(sample=sample))
    return found


def _votes(query: Query, found: Observations, path: pathlib.Path) -> Observations:
    """Return the votes of the voter that is named, or of all, but for those left out."""
    votes = found.keep(lambda case: query.judge in {None, case.source.judge})
    if not votes:
        voters = ", ".join(sorted({case.source.judge for case in found.cases}))
        raise UsageError(f"{path} holds no vote by {query.judge}; there are: {voters}")
    return counted_votes(query, votes, path)


def counted_votes(query: Query, votes: Observations, path: pathlib.Path) -> Observations:
    """Return the votes of a file without those of the voters that the query leaves out.

    Raises:
        UsageError: none is left.
    """
    kept = without_voters(votes, query.exclude)
    if votes and not kept:
        raise UsageError(f"--exclude {' '.join(query.exclude)} leaves no vote of {path}")
    return kept


def without_voters(found: Observations, patterns: Sequence[str]) -> Observations:
    """Return the votes of those voters whose name fits none of the patterns (`author*`)."""

    def counts(case: Case) -> bool:
        return not case.source.voter or not is_left_out(case.source.judge, patterns)

    return found.keep(counts)


def is_left_out(voter: str, patterns: Sequence[str]) -> bool:
    """Return whether the name of a voter fits one of the patterns."""
    return any(fnmatch.fnmatchcase(voter, own) for own in patterns)


def _one_set(query: Query, reads: Mapping[pathlib.Path, Read]) -> None:
    """Raise `UsageError` if the judges' files are of several judge sets, before anything else that they differ in."""
    sources = [s for read in reads.values() for s in read.observations.sources()]
    sets = dict.fromkeys(s.set_text for s in sources if query.judges is None or s.judge in query.judges)
    if len(sets) > 1:
        raise UsageError(f"there are judgments with several judge sets, choose one with --judge-set: {', '.join(sets)}")


def _same_set(found: list[Found]) -> list[Found]:
    _comparable(found, ("judge_set",))
    one_wording(Observations.joined([one.observations for one in found]), found[0].path)
    return found


def _comparable(found: Sequence[Found], names: Sequence[str]) -> None:
    """Raise `UsageError` if what was found differs in what must be one."""
    for name in names:
        values = list(dict.fromkeys(getattr(one, name) for one in found))
        if len(values) > 1:
            flag = "--judge-model" if name == "judge" else "--judge-set"
            there = ", ".join(values)
            raise UsageError(f"the files contain judgments that are not comparable, choose one with {flag}: {there}")
    if len({one.observations.paired for one in found}) > 1:
        raise UsageError("some files contain grades and some pairs, which are not comparable; choose with --mode")


def _all_files(query: Query) -> list[pathlib.Path]:
    """Return all judgment files of the benchmark in the query's mode, of one sample.

    Pairs in one order are left out where the same judge and judge set have pairs in both.
    """
    mode = query.mode or "single"
    folder = query.bench.folder / "model_judgment"
    there = judgment_files(folder, kinds_of(mode), query.sample or 0)
    files = [p for p in there if not p.stem.endswith("_pair1") or p.with_stem(p.stem.removesuffix("1")) not in there]
    if not files:
        raise MissingError(f"no {mode} judgments in {folder}; run gen_judgment --mode {mode} first")
    return files


def _fits(query: Query, path: pathlib.Path, sample: int) -> bool:
    """Return whether the file holds a judgment by the query's judge with its judge set, of that sample."""
    return any(
        query.judge in {None, source.judge} and source.made_with(query.judge_set) and source.sample == sample
        for source in _sources(path)
    )


def _sources_text(path: pathlib.Path) -> str:
    """Return whose judgments a file contains, as the flags would name them."""
    told = dict.fromkeys(f"{source.judge} with {source.set_text}" for source in _sources(path))
    return ", ".join(told) or f"{path.name} (empty)"


def _sources(path: pathlib.Path) -> list[Source]:
    return read_judgments(path).observations.sources()


def _both_text(paths: Sequence[pathlib.Path]) -> str:
    """Return what to do where one judge and judge set have several files, as of pairs in both orders and in one."""
    names = ", ".join(path.name for path in paths)
    one_order = "; pair1 has pairs in one order only" if "_pair1.jsonl" in names else ""
    several = f"{paths[0].parent} contains several such files for one judge and judge set"
    return f"{several}; name one with --input-file: {names}{one_order}"
