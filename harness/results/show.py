"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness.bench import OWN_JUDGE_SET
from harness.errors import UsageError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.records import MODES, Mode, QuestionId
from harness.results.grades.single import CategoryRow, SingleRow, category_rows, single_rows
from harness.results.pairs.pairwise import PairwiseRow, pairwise_rows
from harness.results.reading.columns import Comparisons, Ratings
from harness.results.reading.read import Read, read_judgments
from harness.results.reading.select import about, chosen, usual_file

if TYPE_CHECKING:  # numpy is imported only where intervals are asked for
    from harness.results.detail import PairwiseDetail, SingleDetail
    from harness.results.statistics.paired import PairedTable


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
    detail: "SingleDetail | PairwiseDetail | None" = None
    """How sure the results are, where that was asked for."""
    runs: "PairedTable | None" = None
    """This run compared with another one, where that was asked for."""

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
    intervals: bool = False,
    by: str = "category",
    against: pathlib.Path | str | None = None,
    seed: int = 0,
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
        intervals: also say how sure the results are: intervals, and rank ranges and pairs told apart (grades), or the
            matrix of pairs, strengths and the judge's position bias (pairs).
        by: the field of the questions within which they are resampled, and by which scores are grouped.
        against: the judgment file of another run of the same questions to compare with, model by model (single mode).
        seed: of the resampling.

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
        path = usual_file(mode, bench_name, data_dir, judge_model, judge_set)
    read = read_judgments(path)
    ratings, pairs, judge, set_name = chosen(read, mode, path, judge_model, judge_set, exclude)
    if turns is not None:
        counted = frozenset(turns)
        ratings, pairs = ratings.keep(lambda c: c.turn in counted), pairs.keep(lambda c: c.turn in counted)
        if not ratings and not pairs:
            raise UsageError(f"{path} holds no judgment of turn {', '.join(map(str, turns))}")
    notes = _notes(read, mode, judge, turns, count_failed=count_failed, baseline=baseline_model)
    subject = about(ratings or pairs, path, bench_name, data_dir, given=input_file is not None)
    result = Result(mode, subject.bench, judge, set_name, path, notes=notes)
    if mode == "single":
        ratings = ratings.keep(lambda case: not model_list or case.models[0] in model_list)
        result.single.extend(single_rows(ratings, count_failed=count_failed))
        if subject.categories:
            result.categories.extend(category_rows(ratings, subject.categories, count_failed=count_failed))
        if subject.why_not:
            notes.append(subject.why_not)
        if intervals:
            from harness.results.detail import single_detail

            detail = single_detail(ratings, subject.groups(by), by=by, scale=_scale(set_name), seed=seed)
            result = replace(result, detail=detail)
        if against is not None:
            runs = _against(ratings, pathlib.Path(against), judge_set, turns, subject.groups(by), seed)
            result = replace(result, runs=runs)
    elif against is not None:
        raise UsageError("two runs can be compared by their single grades; use --mode single with --against")
    else:
        baseline = _baseline(pairs, mode, baseline_model)
        result.pairwise.extend(pairwise_rows(pairs, models=model_list or None, baseline=baseline))
        if intervals:
            from harness.results.detail import pairwise_detail

            named = None if not model_list else {*model_list, *([baseline] if baseline else [])}
            shown_pairs = pairs.keep(lambda case: _both(case.models, named, baseline))
            wins = pairwise_detail(shown_pairs, subject.groups(by), by=by, baseline=baseline, seed=seed)
            result = replace(result, detail=wins)
    shown = {row["model"] for row in result.rows()}
    if not shown:
        raise UsageError(f"{path} holds no {mode} judgment of {', '.join(model_list or ())}")
    absent = [model for model in dict.fromkeys(model_list or ()) if model not in {*shown, baseline_model}]
    if absent:
        notes.append(f"no {mode} judgment of {', '.join(absent)}")
    return result


def _scale(judge_set: str) -> tuple[float, float] | None:
    """Return the scale on which a judge set grades, where it is known: rows do not say."""
    return (1, 10) if judge_set.rsplit(" ", 1)[0] in {OWN_JUDGE_SET, "unstated"} else None


def _both(models: tuple[str, ...], named: set[str] | None, baseline: str | None) -> bool:
    """Return whether a pair is shown: both models are named, and the baseline is one of them."""
    return (named is None or named.issuperset(models)) and (baseline is None or baseline in models)


def _against(
    ratings: Ratings,
    path: pathlib.Path,
    judge_set: str | None,
    turns: Sequence[int] | None,
    groups: Mapping[QuestionId, Any],
    seed: int,
) -> "PairedTable":
    """Return this run compared with the one in another file, which must be by the same kind of judge."""
    from harness.results.detail import against

    other = chosen(read_judgments(path), "single", path, None, judge_set, ()).ratings
    if turns is not None:
        counted = frozenset(turns)
        other = other.keep(lambda case: case.turn in counted)
    return against(ratings, other, groups, seed=seed)


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


def _baseline(pairs: Comparisons, mode: Mode, baseline: str | None) -> str | None:
    if mode == "pairwise-all":
        return None
    models = {model for case in pairs.cases for model in case.models}
    if baseline is None:
        common = set.intersection(*(set(case.models) for case in pairs.cases))
        if len(common) != 1:
            raise UsageError(f"pairwise-baseline needs --baseline-model; the models are: {', '.join(sorted(models))}")
        return common.pop()
    if baseline not in models:
        raise UsageError(f"no pair with the baseline {baseline!r}; the models are: {', '.join(sorted(models))}")
    return baseline
