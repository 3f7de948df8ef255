"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import UsageError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.records import MODES, Comparison, Mode
from harness.results.pairwise import PairwiseRow, pairwise_rows
from harness.results.read import Read, read_judgments
from harness.results.select import about, chosen, usual_file
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
        path = usual_file(mode, bench_name, data_dir, judge_model, judge_set)
    read = read_judgments(path)
    ratings, pairs, judge, set_name = chosen(read, mode, path, judge_model, judge_set, exclude)
    if turns is not None:
        ratings, pairs = [r for r in ratings if r.turn in turns], [p for p in pairs if p.turn in turns]
        if not ratings and not pairs:
            raise UsageError(f"{path} holds no judgment of turn {', '.join(map(str, turns))}")
    notes = _notes(read, mode, judge, turns, count_failed=count_failed, baseline=baseline_model)
    subject = about(ratings or pairs, path, bench_name, data_dir, given=input_file is not None)
    result = Result(mode, subject.bench, judge, set_name, path, notes=notes)
    if mode == "single":
        ratings = [r for r in ratings if not model_list or r.model in model_list]
        result.single.extend(single_rows(ratings, count_failed=count_failed))
        if subject.categories:
            result.categories.extend(category_rows(ratings, subject.categories, count_failed=count_failed))
        if subject.why_not:
            notes.append(subject.why_not)
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
