"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.bench import Bench, load_bench
from harness.errors import MissingError, UsageError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.judging.files import judgment_file
from harness.names import check_bench_name
from harness.records import MODES, Comparison, Mode, QuestionId, Rating
from harness.results.pairwise import PairwiseRow, pairwise_rows
from harness.results.read import Read, one_origin, one_wording, read_judgments, without_voters
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
        judge_model: whose judgments; needed where there are several.
        judge_set: made with which judge set; needed where there are several.
        model_list: the models to show (default: all).
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
    path = pathlib.Path(input_file) if input_file is not None else _usual_file(mode, bench_name, data_dir, judge_model, judge_set)
    read = read_judgments(path)
    notes: list[str] = []
    if read.replaced:
        notes.append(f"{read.replaced} rows stand more than once; of each the last good one counts")
    records = _of_mode(read, mode, path)
    votes = any(isinstance(r, Comparison) and r.voter is not None for r in records)
    if votes:
        records, judge, set_name = without_voters([r for r in records if isinstance(r, Comparison)], exclude), path.stem, "votes"
    else:
        records = one_origin(records, judge=judge_model, judge_set=judge_set, path=path)
        judge, set_name = records[0].origin.judge, records[0].origin.judge_set
    one_wording(records, path)
    if turns is not None:
        records = [r for r in records if r.turn in turns]
        notes.append(f"turns {', '.join(map(str, turns))} only")
    if is_builtin_judge(judge):
        notes.append(NOTICE)
    if count_failed and mode == "single":
        notes.append("ratings without score count as -1 (--count-failed)")
    bench, categories, why_not = _categories(records, path, bench_name, data_dir, given=input_file is not None)
    result = Result(mode, bench, judge, set_name, path, notes=notes)
    if mode == "single":
        ratings = [r for r in records if isinstance(r, Rating) and (not model_list or r.model in model_list)]
        result.single.extend(single_rows(ratings, count_failed=count_failed))
        if categories:
            result.categories.extend(category_rows(ratings, categories, count_failed=count_failed))
        elif why_not:
            notes.append(why_not)
    else:
        pairs = [r for r in records if isinstance(r, Comparison)]
        baseline = _baseline(pairs, mode, baseline_model)
        result.pairwise.extend(pairwise_rows(pairs, models=model_list, baseline=baseline))
    _none_of(model_list, {row["model"] for row in result.rows()}, path)
    return result


def _usual_file(
    mode: Mode, bench_name: str | None, data_dir: pathlib.Path | str, judge: str | None, judge_set: str | None
) -> pathlib.Path:
    """Return the benchmark's judgment file, which must exist; without a judge, the only one there is."""
    bench = load_bench(bench_name or "mt_bench", data_dir)
    folder = bench.folder / "model_judgment"
    kind = "single" if mode == "single" else "pair"
    there = sorted(folder.glob(f"*_{kind}.jsonl"))
    if judge is not None:
        path = judgment_file(bench, judge, judge_set or "mt_bench", mode)
        if path.exists():
            return path
    elif len(there) == 1:
        return there[0]
    elif there:
        names = ", ".join(p.name.removesuffix(f"_{kind}.jsonl") for p in there)
        raise UsageError(f"several judges have judged; choose one with --judge-model (or name the file with --input-file): {names}")
    known = f"; there are: {', '.join(p.name for p in there)}" if there else ""
    what = f"by {judge} " if judge else ""
    raise MissingError(f"no {mode} judgments {what}in {folder}{known}; run gen_judgment --mode {mode} first")


def _of_mode(read: Read, mode: Mode, path: pathlib.Path) -> Sequence[Rating] | Sequence[Comparison]:
    records: Sequence[Rating] | Sequence[Comparison] = read.ratings if mode == "single" else read.comparisons
    if records:
        return records
    if read.ratings or read.comparisons:
        held, other = ("grades", "single") if read.ratings else ("pairs", "pairwise-all")
        raise UsageError(f"{path} holds {held}; show it with --mode {other}")
    raise MissingError(f"{path} holds no judgments")


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


def _none_of(model_list: Sequence[str] | None, shown: set[str], path: pathlib.Path) -> None:
    if model_list and not shown:
        raise UsageError(f"{path} holds no judgment of {', '.join(model_list)}")


def _categories(
    records: Sequence[Rating] | Sequence[Comparison],
    path: pathlib.Path,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    *,
    given: bool,
) -> tuple[str | None, Mapping[QuestionId, str], str | None]:
    """Return the benchmark's name, its questions' categories, or why there are none.

    A file that the user named belongs to the folder beside which it lies, if that holds questions; else to the benchmark named.
    The questions must fit: every id known, and every hash the rows carry equal.
    """
    if given and bench_name is None:
        home = path.resolve().parent.parent
        if not (home / "question.jsonl").is_file():
            return None, {}, "no table by category: --bench-name does not say which questions the file is about"
        bench = load_bench(check_bench_name(home.name), home.parent)
    else:
        bench = load_bench(bench_name or "mt_bench", data_dir)
    fault = _misfit(records, bench)
    if fault and not (given and bench_name):
        return None if given else bench.name, {}, f"no table by category: {fault} {bench.name}"
    return bench.name, {q.question_id: q.category for q in bench.questions}, None


def _misfit(records: Sequence[Rating] | Sequence[Comparison], bench: Bench) -> str | None:
    contents = {q.question_id: q.content for q in bench.questions}
    for record in records:
        if record.question_id not in contents:
            return f"question {record.question_id} is not in"
        if record.question_content is not None and record.question_content != contents[record.question_id]:
            return f"question {record.question_id} has another wording than in"
    return None
