"""Vote files, and judgments beside them -> who agrees with whom, and what people would have said of the rest.

Pairs (votes of people, verdicts of a judge) are compared by `agreement`, grades by `graded_agreement`. A side is a file
and has the name of its stem; a judgment file with several judges is as many sides as it has judges. Win rates are
corrected by `corrected`.
"""

import fnmatch
import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from harness.errors import MissingError, UsageError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.records import Origin, QuestionId, Rating
from harness.results.judges.agreement import agreement_rows, table_estimate, votes_of, win_rate_rows, without_verdict
from harness.results.judges.corrected import Rate, corrected_rates
from harness.results.judges.graded_agreement import LEVELS, GradedRow, aligned, alpha, coincidences, graded_rows
from harness.results.judges.labels import by_label, holds_labels, label_parts, label_rows, read_labels
from harness.results.judges.preferences import as_preferences
from harness.results.judges.report import Report
from harness.results.reading.arrays import grades
from harness.results.reading.arrays import pairs as pair_arrays
from harness.results.reading.columns import Comparisons, Ratings
from harness.results.reading.read import Read, Which, of_kind, one_origin, one_wording, read_judgments, without_voters
from harness.results.reading.select import About, about
from harness.results.reading.sources import judged_by, told_once
from harness.results.statistics.bootstrap import COVERAGE, FEW, Method

MOST_VOTERS = 6
"""Of a file of grades by more voters than this, every two of them are not shown, only all together."""


class Side(NamedTuple):
    """The votes, verdicts or grades of one side; one of the two lists is empty."""

    name: str
    path: pathlib.Path
    ratings: Ratings
    pairs: Comparisons


def judge_agreement(
    votes: Sequence[pathlib.Path | str],
    *,
    exclude: Sequence[str] = (),
    judge_model: Sequence[str] | None = None,
    judge_set: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    seed: int = 0,
) -> Report:
    """Return how often every two files agree, and the judges within each; for pairs also `win_rates` beside it.

    Args:
        votes: files of votes or judgments, all of pairs or all of grades.
        exclude: patterns of voters to leave out, such as `author*`.
        judge_model: the judges or voters to take (default: all).
        judge_set: of a judgment file, the judge set; needed where there are several.
        sample: of a judgment file, which of the judge's samples; needed where there are several.
        criterion: of a judgment file, by which criterion; needed where there are several.
        score_method: of a judgment file, verdicts from `text` or from `logprobs`; needed where there are both.
        bench_name: the benchmark whose categories are shown (default: the one beside which a file lies).
        data_dir: the data folder.
        seed: of the resampling.

    Raises:
        UsageError: a file mixes what is not comparable, or files have nothing in common.
        DataError: a line is not what it must be.
    """
    paths = [pathlib.Path(path) for path in votes]
    if not paths:
        raise UsageError("no file of votes; name one or more with --votes")
    if len(set(paths)) < len(paths):
        raise UsageError(f"{next(p for p, n in Counter(paths).items() if n > 1)} is named twice")
    labelled = [path for path in paths if holds_labels(path)]
    if labelled:
        if other := [path for path in paths if path not in labelled]:
            held = f"{labelled[0].name} labels, {other[0].name} none"
            raise UsageError(f"labels and other votes cannot be compared ({held}); name files of one kind")
        return _labelled(paths, exclude, judge_model, bench_name, data_dir, seed)
    which = Which(sample, criterion, score_method)
    reads = {path: _of_kind(read_judgments(path), which, path) for path in paths}
    kinds = {
        path: "grades" if read.ratings else "pairs" for path, read in reads.items() if read.ratings or read.comparisons
    }
    for path in paths:
        if path not in kinds:
            raise MissingError(f"{path} holds no votes")
    preferred = [path for path in paths if len(set(kinds.values())) > 1 and kinds[path] == "grades"]
    for path in preferred:
        reads[path] = as_preferences(reads[path])
    names = _names(paths)
    sides = [
        side
        for path, read in reads.items()
        for side in _sides(names[path], path, read, judge_model, judge_set, exclude)
    ]
    absent = [name for name in judge_model or () if not any(_has(read, name) for read in reads.values())]
    if absent or not sides:
        raise UsageError(f"no vote by {', '.join(absent or judge_model or ())} in {', '.join(map(str, paths))}")
    records: Ratings | Comparisons = (
        Ratings.of([rating for side in sides for rating in side.ratings])
        if sides[0].ratings
        else Comparisons.of([pair for side in sides for pair in side.pairs])
    )
    subject = _subject(records, paths, bench_name, data_dir)
    notes = _notes(reads, sides, subject)
    notes += [
        f"{path.name} holds grades: of two answers to one question the one with the higher grade counts as preferred, "
        "equal grades as a tie"
        for path in preferred
    ]
    compare = _graded if sides[0].ratings else _paired
    rows, more = compare(sides, subject.categories or None, seed, notes)
    if not rows:
        raise UsageError(
            f"{', '.join(side.name for side in sides)}: no two judges say something about the same "
            f"{'answer' if sides[0].ratings else 'pair of answers'}"
        )
    questions = len({asked.question_id for asked in records.asked})
    methods: list[Method] = ["percentile"] if questions >= FEW else ["studentized"]
    if questions >= FEW and _by(rows):
        methods.append("studentized")
    notes += [f"intervals: {COVERAGE[method]}" for method in methods]
    return Report("agreement", ", ".join(side.name for side in sides), subject.bench, rows, more, notes, tuple(paths))


def _labelled(
    paths: Sequence[pathlib.Path],
    exclude: Sequence[str],
    judges: Sequence[str] | None,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    seed: int,
) -> Report:
    """Return how often labels agree: every two files, and the voters within each; `by_label` beside it."""
    names, notes, files = _names(paths), [], {}
    for path in paths:
        found = read_labels(path)
        kept = {
            judge: own
            for judge, own in found.labels.items()
            if (not judges or judge in judges) and not any(fnmatch.fnmatchcase(judge, pattern) for pattern in exclude)
        }
        if kept:
            files[names[path]] = kept
        if found.without:
            notes.append(f"{found.without} rows of {path.name} without a label left out")
        if found.replaced:
            notes.append(f"{found.replaced} rows of {path.name} stand more than once; the last counts")
    ratings = Ratings.of(
        Rating(item.question_id, item.turn, item.model, None, Origin(judge))
        for own in files.values()
        for judge, labels in own.items()
        for item in labels
    )
    subject = _subject(ratings, paths, bench_name, data_dir) if ratings else About(None)
    rows: list[dict[str, Any]] = []
    each: list[dict[str, Any]] = []
    for one, other in [*combinations(files, 2), *((name, name) for name, own in files.items() if len(own) > 1)]:
        parts = label_parts(files[one], None if one == other else files[other], subject.categories or None)
        rows += label_rows((one, other), parts, seed=seed)
        each += by_label((one, other), parts)
    if not rows:
        raise UsageError(f"{', '.join(names.values())}: no two judges label the same answer")
    notes.append("share_of_judge1: of the answers to which judge1 gives the label, those to which judge2 gives it too")
    notes += [subject.why_not] if subject.why_not else []
    return Report("agreement", ", ".join(files), subject.bench, rows, {"by_label": each}, notes, tuple(paths))


def judge_corrected(
    votes: Sequence[pathlib.Path | str],
    *,
    input_file: pathlib.Path | str | None = None,
    judge_model: str | None = None,
    judge_set: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    exclude: Sequence[str] = (),
    turns: Sequence[int] | None = None,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    finite: bool = True,
) -> Report:
    """Return each model's win rate as humans would give it: all of a judge's verdicts, corrected by votes on some.

    Args:
        votes: files of people's votes on pairs.
        input_file: the judge's pairs (default: the benchmark's file).
        judge_model: whose verdicts; needed where there are several judges.
        judge_set: made with which judge set; needed where there are several.
        sample: which of the judge's samples (default: the first); needed where a file holds several.
        criterion: by which criterion; needed where there are several.
        score_method: verdicts read from the `text` or weighed by `logprobs`; needed where there are both.
        exclude: patterns of voters to leave out, such as `author*`.
        turns: the turns to count (default: all).
        bench_name: the benchmark (default mt_bench).
        data_dir: the data folder.
        finite: whether to ask for exactly the judged questions, or for all questions of their kind.
    """
    paths = [pathlib.Path(path) for path in votes]
    if not paths:
        raise UsageError("no file of votes; name one or more with --votes")
    given = [pathlib.Path(input_file)] if input_file is not None else []
    which = Which(sample, criterion, score_method)
    sources = judged_by("pairwise-all", given, judge_model, judge_set, bench_name, data_dir, which=which)
    (source,) = sources
    cast, replaced = [], 0
    for path in paths:
        read = read_judgments(path)
        if not read.comparisons or any(asked.voter is None for asked in read.comparisons.asked):
            raise UsageError(f"{path} holds no votes on pairs (model_a, model_b, winner), which are needed here")
        kept = without_voters(read.comparisons, exclude)
        if not kept:
            raise UsageError(f"--exclude {' '.join(exclude)} leaves no vote of {path}")
        cast += list(kept)
        replaced += read.replaced
    judged = [pair for pair in source.pairs if turns is None or pair.turn in turns]
    counted = [vote for vote in cast if turns is None or vote.turn in turns]
    if not judged or not counted:
        raise UsageError(f"no {'vote' if judged else 'judgment'} of turn {', '.join(map(str, turns or ()))}")
    subject = about(source.pairs, source.path, bench_name, data_dir, given=input_file is not None)
    found = corrected_rates(pair_arrays(judged), pair_arrays(counted), finite=finite)
    if not found.rows:
        raise UsageError(f"no vote of {', '.join(map(str, paths))} is about a pair in {source.path}")
    rows = [
        {
            "model": row.model,
            "judge": row.judge,
            **_rate("votes", row.votes),
            **_rate("corrected", row.corrected),
            "weight": row.weight,
            "questions": row.questions,
            "voted": row.voted,
            "n": row.n,
            "more_questions": row.more_questions,
            "more_votes": row.more_votes,
        }
        for row in found.rows
    ]
    what = "exactly these questions" if finite else "all questions of their kind"
    notes = [*told_once(sources), *([f"{replaced} votes stand more than once; the last counts"] if replaced else [])]
    notes += [found.rows[0].assumption, f"the intervals are about {what}"]
    notes.append("more_questions, more_votes: how many more would halve the interval")
    if any(row.n and row.more_votes == 0 and row.votes.low is None for row in found.rows):
        notes.append(
            "where every judged pair has votes, the win rate by votes is what is asked for, and has no interval"
        )
    if found.without_votes:
        notes.append(f"nobody voted on {', '.join(found.without_votes)}")
    if found.unjudged:
        notes.append(f"{found.unjudged} votes on what the judge gave no verdict on left out")
    if found.unclear:
        notes.append(f"{found.unclear} votes without a verdict left out")
    if is_builtin_judge(source.judge):
        notes.append(NOTICE)
    return Report("corrected", source.judge, subject.bench, rows, {}, notes, (source.path, *paths))


def _rate(name: str, rate: Rate) -> dict[str, Any]:
    return {name: rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}


def _by(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether some rows are about a category alone."""
    return any(row.get("category") is not None for row in rows)


def _paired(
    sides: Sequence[Side], categories: Mapping[QuestionId, str] | None, seed: int, notes: list[str]
) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Return the rows and the win rates of votes on pairs; what is left out goes to the notes."""
    voted = {side.name: votes_of(side.pairs) for side in sides}
    if none := sum(without_verdict(side.pairs) for side in sides):
        notes.append(f"{none} votes or pairs without a verdict left out")
    couples = list(combinations(voted, 2)) or [(sides[0].name, sides[0].name)]
    found, rates, seen = [], [], set()
    for one, other in couples:
        # Of a side alone, the judges within it are what there is to compare.
        left, right = voted[one], voted[other] if one != other else {}
        for row in agreement_rows(left, right, names=(one, other), categories=categories, seed=seed):
            key = (row.judge1, row.judge2, row.turn, row.category, row.setup)
            if key not in seen:
                seen.add(key)
                found.append(row)
        if one != other and left.keys() & right.keys():
            rates += win_rate_rows(left, right, names=(one, other), categories=categories, seed=seed)
        elif one != other:
            notes.append(f"{one} and {other} have no pair of answers in common")
    between = [row for row in found if row.judge1 != row.judge2]
    within = [row for row in found if row.judge1 == row.judge2]
    notes.append("S1: a tie is a third label; S2: pairs of votes in which either is a tie are left out")
    notes.append("two games that disagree are a tie; kappa counts each pair of votes in both orientations")
    return [_agreement_row(row) for row in between + within], {"win_rates": [asdict(row) for row in rates]}


def _agreement_row(row: Any) -> dict[str, Any]:
    """Return the columns of a row, in the order promised; the interval of kappa beside kappa."""
    found = asdict(row)
    order = ("judge1", "judge2", "turn", "category", "setup", "agree", "total", "ratio", "low", "high", "kappa")
    return {name: found[name] for name in (*order, "kappa_low", "kappa_high")}


def _graded(
    sides: Sequence[Side], categories: Mapping[QuestionId, str] | None, seed: int, notes: list[str]
) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Return the rows of grades: every two sides, all sides, and the voters within each side of several."""
    if none := sum(rating.score is None for side in sides for rating in side.ratings):
        notes.append(f"{none} ratings without score left out")
    rows = []
    for turn in _turns(sides):
        own = {side.name: [r for r in side.ratings if turn in {None, r.turn}] for side in sides}
        if len(own) > 1:
            found = graded_rows({name: grades(r, categories) for name, r in own.items() if r}, seed=seed)
            rows += [_graded_row(row, turn, ", ".join(row.judges)) for row in found if row.n]
        for name, ratings in own.items():
            voters = sorted({rating.origin.judge for rating in ratings})
            if len(voters) < 2:
                continue
            by_voter = {v: grades([r for r in ratings if r.origin.judge == v], categories) for v in voters}
            found = graded_rows(by_voter, seed=seed) if len(voters) <= MOST_VOTERS else _alphas(by_voter, seed)
            everyone = f"all {len(voters)} of {name}"
            rows += [_graded_row(row, turn, everyone) for row in found if row.n]
    several = [side.name for side in sides if len({r.origin.judge for r in side.ratings}) > 1]
    if several and len(sides) > 1:
        notes.append(
            f"beside other files, {', '.join(several)} counts with the mean of its voters' grades of an answer"
        )
    notes.append("exact: equal grades; within one: at most one point apart; alpha: Krippendorff's")
    return rows, {}


def _turns(sides: Sequence[Side]) -> list[int | None]:
    turns = sorted({rating.turn for side in sides for rating in side.ratings})
    return [*turns, None] if len(turns) > 1 else list(turns)


def _graded_row(row: GradedRow, turn: int | None, everyone: str) -> dict[str, Any]:
    pair = row.judges if len(row.judges) == 2 else (everyone, None)
    return {
        "judge1": pair[0],
        "judge2": pair[1],
        "turn": turn,
        "measure": row.measure,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "n": row.n,
        "left_out": row.left_out,
    }


def _alphas(voters: Mapping[str, Any], seed: int) -> list[GradedRow]:
    """Return alpha of all voters together."""
    answers = aligned(voters)
    met = coincidences(answers)
    raters = (answers.grades == answers.grades).sum(axis=0)
    n, left_out = int((raters > 1).sum()), int((raters == 1).sum())
    rows = []
    for level in LEVELS:
        e = table_estimate(met.counts, partial(alpha, met.values, level=level), answers.groups, seed=seed)
        rows.append(GradedRow(tuple(voters), f"alpha ({level})", e.value, e.low, e.high, n, left_out))
    return rows


def _sides(
    name: str,
    path: pathlib.Path,
    read: Read,
    judges: Sequence[str] | None,
    judge_set: str | None,
    exclude: Sequence[str],
) -> list[Side]:
    """Return the sides that a file makes; none if it has no vote of the judges asked for."""
    if read.comparisons and all(asked.voter is not None for asked in read.comparisons.asked):
        asked_for = read.comparisons.keep(asked=lambda asked: not judges or asked.voter in judges)
        votes = without_voters(asked_for, exclude)
        if asked_for and not votes:
            raise UsageError(f"--exclude {' '.join(exclude)} leaves no vote of {path}")
        return [Side(name, path, Ratings(), votes)] if votes else []
    if read.comparisons and any(asked.voter is not None for asked in read.comparisons.asked):
        raise UsageError(f"{path} mixes judgments and votes, which are not comparable; split it")
    records: Any = read.ratings or read.comparisons
    there = [j for j in dict.fromkeys(o.judge for o in records.origins()) if not judges or j in judges]
    if read.ratings and not any(asked.template for asked in read.ratings.asked):
        return _graded_votes(name, path, read, there, exclude)
    found = []
    for judge in there:
        own = one_origin(records, judge=judge, judge_set=judge_set, path=path)
        one_wording(own, path)
        title = name if len(there) == 1 else judge
        found.append(Side(title, path, *((own, Comparisons()) if read.ratings else (Ratings(), own))))
    return found


def _graded_votes(
    name: str, path: pathlib.Path, read: Read, voters: Sequence[str], exclude: Sequence[str]
) -> list[Side]:
    """Return the one side of a file of grades by people."""
    kept = {v for v in voters if not any(fnmatch.fnmatchcase(v, pattern) for pattern in exclude)}
    if voters and not kept:
        raise UsageError(f"--exclude {' '.join(exclude)} leaves no vote of {path}")
    return [Side(name, path, read.ratings.keep(asked=lambda asked: asked.judge in kept), Comparisons())] if kept else []


def _of_kind(read: Read, which: Which, path: pathlib.Path) -> Read:
    """Return what was asked for of judgments; of votes, and of what says no sample or criterion, all."""
    if any(asked.voter is not None for asked in read.comparisons.asked):
        return read
    cases = [*read.ratings.cases, *read.comparisons.cases]
    criterion = which.criterion if any(case.criterion for case in cases) else None
    sample = which.sample if any(case.sample for case in cases) else None
    return of_kind(read, which._replace(sample=sample, criterion=criterion), path)


def _has(read: Read, judge: str) -> bool:
    return any(judge == (asked.voter or asked.judge) for asked in (*read.ratings.asked, *read.comparisons.asked))


def _names(paths: Sequence[pathlib.Path]) -> dict[pathlib.Path, str]:
    """Return the name of each file: its stem, with its folder before it where two have the same stem."""
    often = Counter(path.stem for path in paths)
    names = {path: path.stem if often[path.stem] == 1 else f"{path.parent.name}/{path.stem}" for path in paths}
    if len(set(names.values())) < len(names):
        names = {path: str(path) for path in paths}
    return names


def _subject(
    records: Ratings | Comparisons, paths: Sequence[pathlib.Path], bench_name: str | None, data_dir: pathlib.Path | str
) -> About:
    """Return the benchmark that all files are about: the one named, or the one beside which one of them lies."""
    found = [about(records, path, bench_name, data_dir, given=True) for path in paths]
    return next((subject for subject in found if subject.categories), found[0])


def _notes(reads: Mapping[pathlib.Path, Read], sides: Sequence[Side], subject: About) -> list[str]:
    """Return what a reader must know before any number."""
    notes = []
    if replaced := sum(read.replaced for read in reads.values()):
        notes.append(f"{replaced} rows stand more than once; of each the last good one counts")
    for path, read in reads.items():
        kept = sum(len(side.ratings) + len(side.pairs) for side in sides if side.path == path)
        if left := len(read.ratings) + len(read.comparisons) - kept:
            notes.append(f"{left} rows of {path.name} left out as asked")
    judges = {r.origin.judge for side in sides for r in side.ratings[:1]}
    judges |= {r.origin.judge for side in sides for r in side.pairs[:1]}
    if any(map(is_builtin_judge, judges)):
        notes.append(NOTICE)
    if subject.why_not:
        notes.append(subject.why_not)
    return notes
