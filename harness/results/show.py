"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.bench import Bench, load_bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.records import MODES, Comparison, Mode, Origin, QuestionId, Rating
from harness.results.pairwise import PairwiseRow, pairwise_rows
from harness.results.read import Read, of_voter, one_origin, one_wording, read_judgments, without_voters
from harness.results.single import CategoryRow, SingleRow, category_rows, single_rows


@dataclass(frozen=True, slots=True)
class Result:
    """One table of results, and what a reader must know about it."""

    mode: Mode
    bench: str | None
    """None if it is not known which questions the judgments are about."""
    judge: str
    judge_set: str
    path: pathlib.Path
    single: list[SingleRow] = field(default_factory=list)
    pairwise: list[PairwiseRow] = field(default_factory=list)
    categories: list[CategoryRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rows(self) -> list[dict[str, Any]]:
        """Return the table's rows by column name, as json and csv show them; numbers unrounded."""
        if self.mode == "single":
            return [
                {
                    "model": row.model,
                    **{f"turn_{turn}": value for turn, value in row.turns.items()},
                    "average": row.average,
                    "n": row.n,
                    "excluded": row.excluded,
                }
                for row in self.single
            ]
        return [
            {
                "model": row.model,
                "win": row.win,
                "loss": row.loss,
                "tie": row.tie,
                "win_rate": row.rate(row.win),
                "loss_rate": row.rate(row.loss),
                "tie_rate": row.rate(row.tie),
                "win_rate_adjusted": row.win_rate_adjusted,
                "n": row.n,
                "excluded": row.excluded,
            }
            for row in self.pairwise
        ]

    def category_table(self) -> list[dict[str, Any]]:
        """Return the rows of the table by category."""
        return [{"model": row.model, **row.averages} for row in self.categories]


def show_result(
    mode: Mode = "single",
    *,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    input_file: pathlib.Path | str | None = None,
    judge_model: str | None = None,
    judge_set: str | None = None,
    model_list: Sequence[str] | None = None,
    baseline_model: str | None = None,
    turns: Sequence[int] | None = None,
    count_failed: bool = False,
    exclude: Sequence[str] = (),
) -> Result:
    """Return the results of one judge in one mode.

    Args:
        mode: what was judged; pairwise-baseline keeps the pairs with `baseline_model`.
        bench_name: the benchmark (default mt_bench).
        input_file: a judgment or vote file to read in place of the benchmark's.
        judge_model: whose judgments; needed where there are several. In a vote file: whose votes (default: all).
        judge_set: made with which judge set; needed where there are several.
        model_list: the models to show (default: all); of pairs, those of which both models are named.
        baseline_model: the baseline of pairwise-baseline (default: the model that is in every pair).
        turns: the turns to count (default: all).
        count_failed: count a rating without score as -1 in place of leaving it out.
        exclude: patterns of voters to leave out of a vote file, such as `author*`.

    Raises:
        UsageError: the file mixes what is not comparable, or does not fit the mode.
        MissingError: there are no judgments.
        DataError: a line of the file is not what it must be.
    """
    if mode not in MODES:
        raise UsageError(f"no mode {mode!r}; there are: {', '.join(MODES)}")
    if input_file is not None:
        path = pathlib.Path(input_file)
    else:
        path = _usual_file(mode, bench_name, data_dir, judge_model, judge_set)
    read = read_judgments(path)
    ratings, pairs, judge, set_name = _chosen(read, mode, path, judge_model, judge_set, exclude)
    if turns is not None:
        ratings, pairs = [r for r in ratings if r.turn in turns], [p for p in pairs if p.turn in turns]
        if not ratings and not pairs:
            raise UsageError(f"{path} holds no judgment of turn {', '.join(map(str, turns))}")
    notes = _notes(read, mode, judge, turns, count_failed=count_failed, baseline=baseline_model)
    about = _about(ratings or pairs, path, bench_name, data_dir, given=input_file is not None)
    result = Result(mode, about.bench, judge, set_name, path, notes=notes)
    if mode == "single":
        ratings = [r for r in ratings if not model_list or r.model in model_list]
        result.single.extend(single_rows(ratings, count_failed=count_failed))
        if about.categories:
            result.categories.extend(category_rows(ratings, about.categories, count_failed=count_failed))
        if about.why_not:
            notes.append(about.why_not)
    else:
        baseline = _baseline(pairs, mode, baseline_model)
        result.pairwise.extend(pairwise_rows(pairs, models=model_list or None, baseline=baseline))
    shown = {row["model"] for row in result.rows()}
    if not shown:
        raise UsageError(f"{path} holds no {mode} judgment of {', '.join(model_list or ())}")
    absent = [model for model in dict.fromkeys(model_list or ()) if model not in {*shown, baseline_model}]
    if absent:
        notes.append(f"no {mode} judgment of {', '.join(absent)}")
    return result


class _Chosen(NamedTuple):
    """The judgments of one judge, or the votes, that go into one table; one of the two lists is empty."""

    ratings: list[Rating]
    pairs: list[Comparison]
    judge: str
    judge_set: str


def _chosen(
    read: Read, mode: Mode, path: pathlib.Path, judge: str | None, judge_set: str | None, exclude: Sequence[str]
) -> _Chosen:
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
        return _Chosen(ratings, [], ratings[0].origin.judge, ratings[0].origin.judge_set)
    voted = {pair.voter is not None for pair in read.comparisons}
    if len(voted) > 1:
        raise UsageError(f"{path} mixes judgments and votes, which are not comparable; split it")
    if voted == {True}:
        votes = without_voters(of_voter(read.comparisons, judge, path), exclude)
        if not votes:
            raise UsageError(f"--exclude {' '.join(exclude)} leaves no vote of {path}")
        return _Chosen([], votes, judge or path.stem, "votes")
    pairs = one_origin(read.comparisons, judge=judge, judge_set=judge_set, path=path)
    one_wording(pairs, path)
    return _Chosen([], pairs, pairs[0].origin.judge, pairs[0].origin.judge_set)


def _notes(
    read: Read, mode: Mode, judge: str, turns: Sequence[int] | None, *, count_failed: bool, baseline: str | None
) -> list[str]:
    """Return what a reader of the table must know, a line each."""
    notes = []
    if read.replaced:
        notes.append(f"{read.replaced} rows stand more than once; of each the last good one counts")
    if turns is not None:
        notes.append(f"turn {', '.join(map(str, turns))} only")
    if is_builtin_judge(judge):
        notes.append(NOTICE)
    if count_failed:
        single = "ratings without score count as -1 (--count-failed)"
        notes.append(single if mode == "single" else "--count-failed is about single grades and changes nothing here")
    if baseline is not None and mode != "pairwise-baseline":
        notes.append("--baseline-model is about pairwise-baseline and changes nothing here")
    return notes


def _usual_file(
    mode: Mode, bench_name: str | None, data_dir: pathlib.Path | str, judge: str | None, judge_set: str | None
) -> pathlib.Path:
    """Return the benchmark's judgment file of that judge and judge set; where neither is said, the only one there is.

    Rows of other tools name no judge set ("unstated"), and stand under the file name of the set `mt_bench`.
    """
    bench = load_bench(bench_name or "mt_bench", data_dir)
    folder = bench.folder / "model_judgment"
    kind = "single" if mode == "single" else "pair"
    there = sorted(path for path in folder.glob(f"*_{kind}.jsonl") if not path.name.startswith("."))
    named = judge_set.rsplit(" ", 1)[0] if judge_set else "mt_bench"
    if judge is not None:
        path = bench.judgment_file(judge, "mt_bench" if named == "unstated" else named, mode)
        if path.exists():
            return path
    fitting = [path for path in there if (judge is None and judge_set is None) or _fits(path, judge, judge_set)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = "; ".join(dict.fromkeys(map(_origins_told, fitting)))
        flags = "--judge-set" if judge else "--judge-model" if judge_set else "--judge-model and --judge-set"
        raise UsageError(f"{folder} holds several files of {mode} judgments; choose one with {flags}: {names}")
    known = f"; there are: {'; '.join(map(_origins_told, there))}" if there else ""
    what = "".join(f" {word} {name}" for word, name in (("by", judge), ("with judge set", judge_set)) if name)
    raise MissingError(f"no {mode} judgments{what} in {folder}{known}; run gen_judgment --mode {mode} first")


def _fits(path: pathlib.Path, judge: str | None, judge_set: str | None) -> bool:
    """Return whether the file holds a first judgment by that judge with that judge set."""
    return any(
        judge in {None, origin.judge}
        and judge_set in {None, origin.judge_set, origin.judge_set.rsplit(" ", 1)[0]}
        and not origin.sample
        for origin in _origins(path)
    )


def _origins_told(path: pathlib.Path) -> str:
    """Return whose judgments a file holds, in the words that the flags take."""
    return ", ".join(f"{origin.judge} with {origin.judge_set}" for origin in _origins(path)) or f"{path.name} (empty)"


def _origins(path: pathlib.Path) -> list[Origin]:
    read = read_judgments(path)
    return list(dict.fromkeys([r.origin for r in read.ratings] + [c.origin for c in read.comparisons]))


def _baseline(pairs: Sequence[Comparison], mode: Mode, baseline: str | None) -> str | None:
    if mode == "pairwise-all":
        return None
    models = {model for pair in pairs for model in (pair.model_1, pair.model_2)}
    if baseline is None:
        common = set.intersection(*({pair.model_1, pair.model_2} for pair in pairs))
        if len(common) != 1:
            raise UsageError(f"pairwise-baseline needs --baseline-model; the models are: {', '.join(sorted(models))}")
        return common.pop()
    if baseline not in models:
        raise UsageError(f"no pair with the baseline {baseline!r}; the models are: {', '.join(sorted(models))}")
    return baseline


class _About(NamedTuple):
    """Which questions the judgments are about, as far as that is known."""

    bench: str | None
    categories: Mapping[QuestionId, str] = {}
    why_not: str | None = None
    """Why there is no table by category, or what it lacks."""


def _about(
    records: Sequence[Rating] | Sequence[Comparison],
    path: pathlib.Path,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    *,
    given: bool,
) -> _About:
    """Return the benchmark that the judgments are about, and its questions' categories.

    A file that the user named belongs to the folder beside which it lies, if that holds questions; else to the
    benchmark named. The questions must fit, unless the user said that these are the ones: every id known, and every
    hash that the rows carry equal.
    """
    if given and bench_name is None:
        home = path.resolve().parent.parent
        if not (home / "question.jsonl").is_file():
            return _About(None, why_not="no table by category: which questions these are is unknown (see --bench-name)")
        try:
            bench = load_bench(home.name, home.parent)
        except TurnbenchError as error:
            return _About(None, why_not=f"no table by category: {error}")
    else:
        bench = load_bench(bench_name or "mt_bench", data_dir)
    categories = {q.question_id: q.category for q in bench.questions}
    fault = _misfit(records, bench)
    if fault is None:
        return _About(bench.name, categories)
    if given and bench_name and any(record.question_id in categories for record in records):
        return _About(bench.name, categories, f"the table by category is as --bench-name says, although {fault}")
    return _About(None if given else bench.name, why_not=f"no table by category: {fault}")


def _misfit(records: Sequence[Rating] | Sequence[Comparison], bench: Bench) -> str | None:
    """Return why the judgments are not about these questions, or None if they can be."""
    contents = {q.question_id: q.content for q in bench.questions}
    for record in records:
        if record.question_id not in contents:
            return f"question {record.question_id} is not in {bench.name}"
        if record.question_content is not None and record.question_content != contents[record.question_id]:
            return f"question {record.question_id} has another wording in {bench.name}"
    return None
