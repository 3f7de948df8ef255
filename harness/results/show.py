"""Judgment file -> the tables that `show_result` prints, and the viewer and reports show."""

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.records import MODES, Mode, QuestionId
from harness.results.grades.single import category_rows, single_rows
from harness.results.pairs.pairwise import pairwise_rows
from harness.results.reading.columns import Comparisons, Ratings
from harness.results.reading.read import Read, Which, of_kind, read_judgments
from harness.results.reading.select import About, about, chosen, usual_file
from harness.results.reading.sources import judged_by_several, told_once
from harness.results.result import Result as Result
from harness.results.verdict_tables import (
    Judged,
    OfJudge,
    judged_by,
    judged_by_panel,
    shown_models,
    verdict_kind,
    verdict_panel,
    verdict_table,
)

if TYPE_CHECKING:  # numpy is imported only where intervals are made
    from harness.results.statistics.paired import PairedTable

MOST_MODELS = 50
MOST_ROWS = 8_000
"""A table of more models or rows than this has intervals and ranks only where they are asked for: they would take
longer than all the rest."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What was asked for that concerns more than one step."""

    mode: Mode
    models: Sequence[str] | None
    baseline: str | None
    turns: Sequence[int] | None
    count_failed: bool
    intervals: bool | None
    by: str
    seed: int

    def counted(self, records: Any) -> Any:
        """Return the records of the turns that count."""
        if self.turns is None:
            return records
        counted = frozenset(self.turns)
        return records.keep(lambda case: case.turn in counted)

    def of_models(self, records: Any, baseline: str | None = None) -> Any:
        """Return the records of the models that are shown: of pairs, those of which both are."""
        named = set(self.models) if self.models else None
        if named is not None and baseline is not None:
            named.add(baseline)
        return records.keep(
            lambda case: (
                (named is None or named.issuperset(case.models)) and (baseline is None or baseline in case.models)
            )
        )


def show_result(
    mode: Mode = "single",
    *,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    input_file: pathlib.Path | str | None = None,
    judge_model: str | Sequence[str] | None = None,
    judge_set: str | None = None,
    model_list: Sequence[str] | None = None,
    baseline_model: str | None = None,
    turns: Sequence[int] | None = None,
    count_failed: bool = False,
    exclude: Sequence[str] = (),
    intervals: bool | None = None,
    by: str = "category",
    against: pathlib.Path | str | None = None,
    sort: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    seed: int = 0,
) -> Result:
    """Return the results of one judge in one mode, or of a panel of several judges.

    Args:
        mode: what was judged; pairwise-baseline keeps the pairs with `baseline_model`.
        bench_name: the benchmark (default mt_bench).
        input_file: a judgment or vote file to read in place of the benchmark's.
        judge_model: whose judgments; needed where there are several. Several names make a panel: each judge alone and
            all together. In a vote file: whose votes (default: all).
        judge_set: made with which judge set, by name or path; needed where there are several.
        model_list: the models to show (default: all); of pairs, those of which both models are named.
        baseline_model: the baseline of pairwise-baseline (default: the model that is in every pair).
        turns: the turns to count (default: all).
        count_failed: count a rating without score as -1 in place of leaving it out.
        exclude: patterns of voters to leave out of a vote file, such as `author*`.
        intervals: True: say all about how sure the results are (`Result.detail`); None: the interval and the ranks of
            each row, of a table that is not too large; False: nothing.
        by: the field of the questions within which they are resampled, and by which scores are grouped.
        against: the judgment file of another run of the same questions to compare with, model by model (single mode).
        sort: the column by whose numbers the models are sorted (default: the average, or the adjusted win rate).
        sample: which of the judge's samples (default: the first); needed where a file holds several.
        criterion: by which criterion (default: of grades by several, all, a column each).
        score_method: verdicts read from the `text` or weighed by `logprobs`; needed where a file holds both.
        seed: of the resampling.

    Raises:
        UsageError: the file mixes what is not comparable, or does not fit the mode.
        MissingError: there are no judgments.
        DataError: a line of the file is not what it must be.
    """
    if mode not in MODES:
        raise UsageError(f"no mode {mode!r}; there are: {', '.join(MODES)}")
    if judge_set is not None:
        from harness.judging.sets import judge_set_name

        judge_set = judge_set_name(judge_set)
    wanted = _Wanted(mode, model_list, baseline_model, turns, count_failed, intervals, by, seed)
    judges = [judge_model] if isinstance(judge_model, str) else list(dict.fromkeys(judge_model or ()))
    if against is not None and (mode != "single" or len(judges) > 1):
        if len(judges) > 1:
            raise UsageError("two runs can be compared by one judge; name one with --judge-model")
        raise UsageError("two runs can be compared by their single grades; use --mode single with --against")
    place = pathlib.Path(input_file) if input_file is not None else None
    which = Which(sample, criterion, score_method)
    if len(judges) > 1:
        result = _panel(wanted, judges, place, judge_set, bench_name, data_dir, which)
    else:
        judge = judges[0] if judges else None
        path = place or usual_file(mode, bench_name, data_dir, judge, judge_set, sample)
        read = of_kind(read_judgments(path), which, path)
        kind = verdict_kind(read, path, judge, judge_set) if mode == "single" else "grades"
        if kind == "grades":
            ratings, pairs, judge, set_name = chosen(read, mode, path, judge, judge_set, exclude)
        else:
            if against is not None:
                raise UsageError(f"two runs can be compared by single grades, not by {kind}")
            judged, pairs = judged_by(kind, read, path, judge, judge_set), Comparisons()
            ratings, judge, set_name = judged.ratings, judged.judge, judged.judge_set
        ratings, pairs = wanted.counted(ratings), wanted.counted(pairs)
        _something_left(ratings or pairs, path, turns)
        subject = about(ratings or pairs, path, bench_name, data_dir, given=place is not None)
        notes = _notes(read, wanted, judge) + _weighed(ratings or pairs)
        if set_name != "votes" and pairs and len(pairs[0].winners) == 1:
            notes.append("pairs were judged in one order only, so a judge that goes by an answer's place is not caught")
        result = Result(mode, subject.bench, judge, set_name, path, notes=notes)
        if kind != "grades":
            result = _with_verdicts(result, judged, subject, wanted)
        else:
            fill = _with_grades if mode == "single" else _with_pairs
            result = fill(result, ratings if mode == "single" else pairs, subject, wanted)
        if against is not None:
            runs = _against(ratings, pathlib.Path(against), judge_set, turns, subject.groups(by), which, seed)
            result = replace(result, runs=runs)
    _some_shown(result, wanted)
    return result if sort is None else result.sorted_by(sort)


def _something_left(records: Ratings | Comparisons, path: pathlib.Path, turns: Sequence[int] | None) -> None:
    if not records:
        raise UsageError(f"{path} holds no judgment of turn {', '.join(map(str, turns or ()))}")


def _some_shown(result: Result, wanted: _Wanted) -> None:
    """Raise `UsageError` if no model named is there, and note those that are not."""
    shown = {row["model"] for row in result.rows()}
    if not shown:
        raise UsageError(f"{result.path} holds no {wanted.mode} judgment of {', '.join(wanted.models or ())}")
    absent = [m for m in dict.fromkeys(wanted.models or ()) if m not in {*shown, wanted.baseline}]
    if absent:
        result.notes.append(f"no {wanted.mode} judgment of {', '.join(absent)}")


def _with_grades(result: Result, ratings: Ratings, subject: About, wanted: _Wanted) -> Result:
    """Return the result with the rows of grades, and how sure they are as far as wanted."""
    ratings = wanted.of_models(ratings)
    result = replace(result, scale=ratings.scale())
    result.single.extend(single_rows(ratings, count_failed=wanted.count_failed))
    if subject.categories:
        result.categories.extend(category_rows(ratings, subject.categories, count_failed=wanted.count_failed))
    if subject.why_not:
        result.notes.append(subject.why_not)
    if not _sure(result, wanted, len(result.single), len(ratings)):
        return result
    from harness.results.brief import grades_brief
    from harness.results.reading.arrays import grades

    table = grades(ratings, subject.groups(wanted.by), count_failed=wanted.count_failed)
    result = replace(result, brief=grades_brief(table, seed=wanted.seed))
    if wanted.intervals:
        from harness.results.detail import grades_detail

        result = replace(result, detail=grades_detail(table, by=wanted.by, seed=wanted.seed))
    return result


def _with_verdicts(result: Result, judged: Judged, subject: About, wanted: _Wanted) -> Result:
    """Return the result with the table of labels, dimensions or several criteria."""
    if subject.why_not:
        result.notes.append(subject.why_not)
    sure = _sure(result, wanted, 1, len(judged.ratings))
    table = verdict_table(
        judged,
        result.path,
        subject.groups(wanted.by),
        shown_models(wanted.models, wanted.turns),
        by=wanted.by,
        sure=sure,
        seed=wanted.seed,
    )
    return replace(result, verdicts=table)


def _with_pairs(result: Result, pairs: Comparisons, subject: About, wanted: _Wanted) -> Result:
    """Return the result with the rows of pairs, and how sure they are as far as wanted."""
    baseline = _baseline(pairs, wanted.mode, wanted.baseline)
    result.pairwise.extend(pairwise_rows(pairs, models=wanted.models or None, baseline=baseline))
    if not _sure(result, wanted, len(result.pairwise), len(pairs)):
        return result
    from harness.results.brief import pairs_brief
    from harness.results.reading.arrays import pairs as arrays

    shown = wanted.of_models(pairs, baseline)
    groups = subject.groups(wanted.by)
    if shown:
        result = replace(result, brief=pairs_brief(arrays(shown, groups), baseline=baseline, seed=wanted.seed))
    if wanted.intervals and shown:
        from harness.results.pair_detail import pairwise_detail

        found = pairwise_detail(shown, groups, by=wanted.by, baseline=baseline, seed=wanted.seed)
        result.notes.extend(found.without_strengths())
        result = replace(result, detail=found)
    return result


def _sure(result: Result, wanted: _Wanted, models: int, rows: int) -> bool:
    """Return whether intervals are made; note that they are not because there is too much."""
    if wanted.intervals is None and (models > MOST_MODELS or rows > MOST_ROWS):
        result.notes.append("intervals and ranks of so large a table are made with --intervals only")
        return False
    return wanted.intervals is not False and models > 0


def _panel(
    wanted: _Wanted,
    judges: Sequence[str],
    path: pathlib.Path | None,
    judge_set: str | None,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    which: Which,
) -> Result:
    """Return what several judges say, each alone and all together."""
    from harness.results.judges.panel_table import graded_table, paired_table
    from harness.results.reading.arrays import grades
    from harness.results.reading.arrays import pairs as arrays

    if wanted.mode == "single" and (parts := judged_by_panel(judges, path, judge_set, bench_name, data_dir, which)):
        return _panel_of_verdicts(wanted, parts, bench_name, data_dir, given=path is not None)
    paths = [path] if path else []
    sources = judged_by_several(wanted.mode, paths, judges, judge_set, bench_name, data_dir, which=which)
    records: Any = Ratings.of([r for s in sources for r in s.ratings]) or Comparisons.of(
        [pair for s in sources for pair in s.pairs]
    )
    records = wanted.counted(records)
    _something_left(records, sources[0].path, wanted.turns)
    subject = about(records, sources[0].path, bench_name, data_dir, given=path is not None)
    notes = [*told_once(sources), *_asked_notes(wanted)]
    notes += [NOTICE] if any(map(is_builtin_judge, judges)) else []
    notes += [subject.why_not] if subject.why_not else []
    baseline = None if wanted.mode == "single" else _baseline(records, wanted.mode, wanted.baseline)
    records, groups = wanted.of_models(records, baseline), subject.groups(wanted.by)
    own = {judge: records.keep(asked=lambda asked, judge=judge: asked.judge == judge) for judge in judges}
    found: Any
    if wanted.mode == "single":
        found = graded_table({j: grades(r, groups) for j, r in own.items() if r}, seed=wanted.seed)
    else:
        tables = {j: arrays(r, groups) for j, r in own.items() if r}
        found = paired_table(tables, baseline=baseline, seed=wanted.seed)
    result = Result(wanted.mode, subject.bench, ", ".join(judges), sources[0].judge_set, sources[0].path, notes=notes)
    result.notes.append(f"all together: {found.rule}; {found.common} items that all {len(judges)} judges judged")
    if found.left_out:
        result.notes.append(f"{found.left_out} items that not all of them judged are left out for all")
    return replace(result, panel=found, detail=_together(found.together, records, baseline, result, subject, wanted))


def _panel_of_verdicts(
    wanted: _Wanted, parts: Sequence[OfJudge], bench_name: str | None, data_dir: pathlib.Path | str, *, given: bool
) -> Result:
    """Return what several judges say by labels, dimensions or several criteria, each alone and all together."""
    path, judges = parts[0].path, [own.judged.judge for own in parts]
    ratings = wanted.counted(Ratings.of([rating for own in parts for rating in own.judged.ratings]))
    _something_left(ratings, path, wanted.turns)
    subject = about(ratings, path, bench_name, data_dir, given=given)
    replaced = sum({own.path: own.read.replaced for own in parts}.values())
    notes = [f"{replaced} rows stand more than once; of each the last good one counts"] if replaced else []
    notes += _asked_notes(wanted) + _weighed(ratings)
    notes += [NOTICE] if any(map(is_builtin_judge, judges)) else []
    notes += [subject.why_not] if subject.why_not else []
    result = Result(wanted.mode, subject.bench, ", ".join(judges), parts[0].judged.judge_set, path, notes=notes)
    sure = _sure(result, wanted, 1, len(ratings))
    shown = shown_models(wanted.models, wanted.turns)
    found = verdict_panel(parts, subject.groups(wanted.by), shown, by=wanted.by, sure=sure, seed=wanted.seed)
    told = f"all together: {found.rule}; {found.common} verdicts on what all {len(judges)} judges gave one"
    result.notes.append(f"{told}, {found.left_out} left out that not all of them gave")
    return replace(result, panel=found, verdicts=found.together)


def _together(table: Any, records: Any, baseline: str | None, result: Result, subject: About, wanted: _Wanted) -> Any:
    """Return how sure the panel's own numbers are, where that was asked for."""
    if not wanted.intervals:
        return None
    if wanted.mode == "single":
        from harness.results.detail import grades_detail

        return grades_detail(table, by=wanted.by, seed=wanted.seed)
    from harness.results.pair_detail import pairs_detail, position_of

    position = position_of(records, subject.groups(wanted.by), seed=wanted.seed)  # of all judges, and of each
    found = pairs_detail(table, by=wanted.by, baseline=baseline, position=position, seed=wanted.seed)
    result.notes.extend(found.without_strengths())
    return found


def _against(
    ratings: Ratings,
    path: pathlib.Path,
    judge_set: str | None,
    turns: Sequence[int] | None,
    groups: Mapping[QuestionId, Any],
    which: Which,
    seed: int,
) -> "PairedTable":
    """Return this run compared with the one in another file, which must be by the same kind of judge."""
    from harness.results.detail import against

    read = read_judgments(path)
    if len({case.sample for case in read.ratings.cases}) < 2:  # its only sample is the one that is meant
        which = which._replace(sample=None)
    other = chosen(of_kind(read, which, path), "single", path, None, judge_set, ()).ratings
    if turns is not None:
        counted = frozenset(turns)
        other = other.keep(lambda case: case.turn in counted)
    return against(ratings, other, groups, seed=seed)


def _notes(read: Read, wanted: _Wanted, judge: str) -> list[str]:
    """Return what a reader of the table must know, a line each."""
    notes = []
    if read.replaced:
        notes.append(f"{read.replaced} rows stand more than once; of each the last good one counts")
    asked = _asked_notes(wanted)
    turns, rest = (asked[:1], asked[1:]) if wanted.turns is not None else ([], asked)
    return notes + turns + ([NOTICE] if is_builtin_judge(judge) else []) + rest


def _weighed(records: Ratings | Comparisons) -> list[str]:
    """Return a line on verdicts that are not read from the judge's text."""
    weighed = any(case.score_method == "logprobs" for case in records.cases)
    return ["verdicts weighed by the judge's log-probabilities"] if weighed else []


def _asked_notes(wanted: _Wanted) -> list[str]:
    """Return what follows from the flags."""
    notes = []
    if wanted.turns is not None:
        notes.append(f"turn {', '.join(map(str, wanted.turns))} only")
    if wanted.count_failed:
        single = "ratings without score count as -1 (--count-failed)"
        useless = "--count-failed is about single grades and changes nothing here"
        notes.append(single if wanted.mode == "single" else useless)
    if wanted.baseline is not None and wanted.mode != "pairwise-baseline":
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
