"""Which judgments a table or a report is about: the file, the one origin in it, and the questions behind it.

What every command that reads judgments shares; none of it computes a result.
"""

import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.bench import Bench, load_bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.records import Mode, Origin, Question, QuestionId
from harness.results.reading.columns import Comparisons, Ratings
from harness.results.reading.read import Read, of_voter, one_origin, one_wording, read_judgments, without_voters


class Chosen(NamedTuple):
    """The judgments of one judge, or the votes, that go into one table; one of the two is empty."""

    ratings: Ratings
    pairs: Comparisons
    judge: str
    judge_set: str


def chosen(
    read: Read, mode: Mode, path: pathlib.Path, judge: str | None, judge_set: str | None, exclude: Sequence[str]
) -> Chosen:
    """Return what may stand in one table, or raise `UsageError` that says what to choose."""
    records = read.ratings if mode == "single" else read.comparisons
    if not records and (read.ratings or read.comparisons):
        held, other = ("grades", "single") if read.ratings else ("pairs", "pairwise-all")
        raise UsageError(f"{path} holds {held}; show it with --mode {other}")
    if not records:
        raise MissingError(f"{path} holds no judgments; run gen_judgment --mode {mode} first")
    if mode == "single":
        ratings = one_origin(read.ratings, judge=judge, judge_set=judge_set, path=path)
        one_wording(ratings, path)
        return Chosen(ratings, Comparisons(), ratings[0].origin.judge, ratings[0].origin.judge_set)
    voted = {asked.voter is not None for asked in read.comparisons.asked}
    if len(voted) > 1:
        raise UsageError(f"{path} mixes judgments and votes, which are not comparable; split it")
    if voted == {True}:
        votes = without_voters(of_voter(read.comparisons, judge, path), exclude)
        if not votes:
            raise UsageError(f"--exclude {' '.join(exclude)} leaves no vote of {path}")
        return Chosen(Ratings(), votes, judge or path.stem, "votes")
    pairs = one_origin(read.comparisons, judge=judge, judge_set=judge_set, path=path)
    one_wording(pairs, path)
    return Chosen(Ratings(), pairs, pairs[0].origin.judge, pairs[0].origin.judge_set)


def usual_file(
    mode: Mode,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    judge: str | None,
    judge_set: str | None,
    sample: int | None = None,
) -> pathlib.Path:
    """Return the benchmark's judgment file of that judge and judge set; where neither is said, the only one there is.

    Of several samples it is the first, unless `sample` says another. Pairs in one order (`..._pair1.jsonl`) count as
    well. Rows of other tools name no judge set
    ("unstated"), and stand under the file name of the set `mt_bench`.
    """
    bench = load_bench(bench_name or "mt_bench", data_dir)
    folder = bench.folder / "model_judgment"
    there = judgment_files(folder, mode, sample or 0)
    named = judge_set.rsplit(" ", 1)[0] if judge_set else "mt_bench"
    if judge is not None:
        own = "mt_bench" if named == "unstated" else named
        paths = {bench.judgment_file(judge, own, mode, sample or 0, one_order=one) for one in (False, True)}
        found = sorted(path for path in paths if path.exists())
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(_both_told(found))
    named_any = judge is not None or judge_set is not None
    fitting = [path for path in there if not named_any or _fits(path, judge, judge_set, sample or 0)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        told = list(dict.fromkeys(map(_origins_told, fitting)))
        if len(told) == 1:
            raise UsageError(_both_told(fitting))
        names = "; ".join(told)
        flags = "--judge-set" if judge else "--judge-model" if judge_set else "--judge-model and --judge-set"
        raise UsageError(f"{folder} holds several files of {mode} judgments; choose one with {flags}: {names}")
    known = f"; there are: {'; '.join(map(_origins_told, there))}" if there else ""
    asked = ("by", judge), ("with judge set", judge_set), ("of sample", sample)
    what = "".join(f" {word} {name}" for word, name in asked if name)
    raise MissingError(f"no {mode} judgments{what} in {folder}{known}; run gen_judgment --mode {mode} first")


def judgment_files(folder: pathlib.Path, mode: Mode, sample: int = 0) -> list[pathlib.Path]:
    """Return the files of a results folder with judgments of that mode and sample; pairs in both orders or in one."""
    endings = ("single",) if mode == "single" else ("pair", "pair1")
    found = sorted(path for ending in endings for path in folder.glob(f"*_{ending}.jsonl"))
    return of_sample((path for path in found if not path.name.startswith(".")), sample)


def _both_told(paths: Sequence[pathlib.Path]) -> str:
    """Return what to do where one judge and judge set have several files, as of pairs in both orders and in one."""
    names = ", ".join(path.name for path in paths)
    one_order = "; pair1 is of pairs in one order only" if "_pair1.jsonl" in names else ""
    several = f"{paths[0].parent} holds several such files of one judge and judge set"
    return f"{several}; name one with --input-file: {names}{one_order}"


def of_sample(paths: Iterable[pathlib.Path], sample: int) -> list[pathlib.Path]:
    """Return the files whose name says that sample; a first one has no number, and holds whatever it holds."""
    said = {path: (re.findall(r"@[^@]*#(\d+)_[a-z]+\d?\.jsonl$", path.name) or ["0"])[0] for path in paths}
    return [path for path, number in said.items() if number == str(sample)]


def _fits(path: pathlib.Path, judge: str | None, judge_set: str | None, sample: int) -> bool:
    """Return whether the file holds a judgment by that judge with that judge set, of that sample."""
    return any(
        judge in {None, origin.judge}
        and judge_set in {None, origin.judge_set, origin.judge_set.rsplit(" ", 1)[0]}
        and origin.sample == sample
        for origin in _origins(path)
    )


def _origins_told(path: pathlib.Path) -> str:
    """Return whose judgments a file holds, in the words that the flags take."""
    told = dict.fromkeys(f"{origin.judge} with {origin.judge_set}" for origin in _origins(path))
    return ", ".join(told) or f"{path.name} (empty)"


def _origins(path: pathlib.Path) -> list[Origin]:
    read = read_judgments(path)
    return read.ratings.origins() + read.comparisons.origins()


class About(NamedTuple):
    """Which questions the judgments are about, as far as that is known."""

    bench: str | None
    categories: Mapping[QuestionId, str] = {}
    why_not: str | None = None
    """Why there is no table by category, or what it lacks."""
    questions: tuple[Question, ...] = ()
    """The questions themselves, where they are known."""

    def groups(self, by: str) -> dict[QuestionId, Any]:
        """Return for each question the value of a field; empty where the questions are not known.

        Raises:
            UsageError: no question has that field.
        """
        fields = {name for question in self.questions for name in ("category", *question.extra)}
        if self.questions and by not in fields:
            known = ", ".join(sorted(fields))
            raise UsageError(f"no question of {self.bench} has the field {by!r}; there are: {known}")
        return {q.question_id: q.category if by == "category" else q.extra.get(by) for q in self.questions}


def about(
    records: Ratings | Comparisons,
    path: pathlib.Path,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    *,
    given: bool,
) -> About:
    """Return the benchmark that the judgments are about, and its questions' categories.

    A file that the user named belongs to the folder beside which it lies, if that holds questions or has the name of a
    shipped benchmark; else to the benchmark named. The questions must fit, unless the user said that these are the
    ones: every id known, and every hash that the rows carry equal.
    """
    if given and bench_name is None:
        home = path.resolve().parent.parent
        beside = (home / "question.jsonl").is_file()
        try:
            found = load_bench(home.name, home.parent) if beside or _is_results_folder(path.resolve().parent) else None
        except TurnbenchError as error:
            found = None
            if beside:
                return About(None, why_not=f"no table by category: {error}")
        if found is None:
            return About(None, why_not="no table by category: which questions these are is unknown (see --bench-name)")
        bench = found
    else:
        bench = load_bench(bench_name or "mt_bench", data_dir)
    categories = {q.question_id: q.category for q in bench.questions}
    fault = _misfit(records, bench)
    if fault is None:
        return About(bench.name, categories, questions=bench.questions)
    if given and bench_name and any(asked.question_id in categories for asked in records.asked):
        why = f"the table by category is as --bench-name says, although {fault}"
        return About(bench.name, categories, why, bench.questions)
    return About(None if given else bench.name, why_not=f"no table by category: {fault}")


def _is_results_folder(folder: pathlib.Path) -> bool:
    """Return whether a folder is one of a benchmark's, whose questions may be shipped with the harness."""
    return folder.name in {"model_judgment", "human_judgment"}


def _misfit(records: Ratings | Comparisons, bench: Bench) -> str | None:
    """Return why the judgments are not about these questions, or None if they can be."""
    contents = {q.question_id: q.content for q in bench.questions}
    for asked in records.asked:
        if asked.question_id not in contents:
            return f"question {asked.question_id} is not in {bench.name}"
        if asked.question_content is not None and asked.question_content != contents[asked.question_id]:
            return f"question {asked.question_id} has another wording in {bench.name}"
    return None
