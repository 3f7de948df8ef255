"""Vote files, and judgments beside them -> who agrees with whom, and what people would have said of the rest.

Pairs (votes of people, verdicts of a judge) are compared by `agreement`, grades by `graded_agreement`. A side is a file
and has the name of its stem; a judgment file with several judges is as many sides as it has judges. Win rates are
corrected by `corrected`.
"""

import fnmatch
import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Unpack

from harness.errors import MissingError, UsageError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.judgments.observations import SCORE, WIN, Case, Observations
from harness.judgments.reading import Read, read_judgments
from harness.meta_evaluation.agreement import agreement_rows, table_estimate, votes_of, win_rate_rows, without_verdict
from harness.meta_evaluation.corrected import Rate, corrected_rates
from harness.meta_evaluation.graded_agreement import LEVELS, GradedRow, aligned, alpha, coincidences, graded_rows
from harness.meta_evaluation.label_agreement import by_label, label_parts, label_rows, labels_in
from harness.meta_evaluation.preferences import as_preferences
from harness.meta_evaluation.report import Report
from harness.records import QuestionId
from harness.results.matrix import matrix
from harness.results.matrix import pairs as pair_arrays
from harness.results.query import About, Query, Words, ask, one_source, one_wording, replaced_note, without_voters
from harness.results.statistics.bootstrap import COVERAGE, FEW, Method

MOST_VOTERS = 6
"""Of a file of grades by more voters than this, every two of them are not shown, only all together."""


class Side(NamedTuple):
    """The votes, verdicts or grades of one side."""

    name: str
    path: pathlib.Path
    observations: Observations


def judge_agreement(votes: Sequence[pathlib.Path | str], **words: Unpack[Words]) -> Report:
    """Return how often every two files agree, and the judges within each; for pairs also `win_rates` beside it.

    `votes` are files of votes or judgments, all of pairs, all of grades or all of labels; `judge_model` names the
    judges or voters to take (default: all). See `Words` for what else can be asked for.

    Raises:
        UsageError: a file mixes what is not comparable, or files have nothing in common.
        DataError: a line is not what it must be.
    """
    paths = [pathlib.Path(path) for path in votes]
    if not paths:
        raise UsageError("no file of votes; name one or more with --votes")
    if len(set(paths)) < len(paths):
        raise UsageError(f"{next(p for p, n in Counter(paths).items() if n > 1)} is named twice")
    query = replace(Query.of(**words), files=tuple(paths))
    reads = {path: read_judgments(path) for path in paths}
    if labelled := [path for path, read in reads.items() if read.form == "label"]:
        if other := [path for path in paths if path not in labelled]:
            held = f"{labelled[0].name} labels, {other[0].name} none"
            raise UsageError(f"labels and other votes cannot be compared ({held}); name files of one kind")
        return _labelled(query, reads)
    reads = {path: read._replace(observations=_of_kind(query, read, path)) for path, read in reads.items()}
    for path, read in reads.items():
        if not read.observations:
            raise MissingError(f"{path} holds no votes")
    mixed = len({read.observations.paired for read in reads.values()}) > 1
    preferred = [path for path, read in reads.items() if mixed and not read.observations.paired]
    for path in preferred:
        reads[path] = reads[path]._replace(observations=as_preferences(reads[path].observations))
    names = _names(paths)
    sides = [side for path, read in reads.items() for side in _sides(query, names[path], path, read.observations)]
    absent = [name for name in query.judges or () if not any(_has(read, name) for read in reads.values())]
    if absent or not sides:
        raise UsageError(f"no vote by {', '.join(absent or query.judges or ())} in {', '.join(map(str, paths))}")
    records = Observations.joined([side.observations for side in sides])
    subject = _subject(query, records)
    notes = _notes(reads, sides, subject)
    notes += [
        f"{path.name} holds grades: of two answers to one question the one with the higher grade counts as preferred, "
        "equal grades as a tie"
        for path in preferred
    ]
    compare = _paired if records.paired else _graded
    rows, more = compare(sides, subject.categories or None, query.seed, notes)
    if not rows:
        raise UsageError(
            f"{', '.join(side.name for side in sides)}: no two judges say something about the same "
            f"{'pair of answers' if records.paired else 'answer'}"
        )
    questions = len(records.questions())
    methods: list[Method] = ["percentile"] if questions >= FEW else ["studentized"]
    if questions >= FEW and _by(rows):
        methods.append("studentized")
    notes += [f"intervals: {COVERAGE[method]}" for method in methods]
    return Report("agreement", ", ".join(side.name for side in sides), subject.bench, rows, more, notes, tuple(paths))


def _labelled(query: Query, reads: Mapping[pathlib.Path, Read]) -> Report:
    """Return how often labels agree: every two files, and the voters within each; `by_label` beside it."""
    names, notes, files = _names(list(reads)), [], {}
    observed = []
    for path, read in reads.items():
        found = labels_in(read, path)
        kept = {
            judge: own
            for judge, own in found.labels.items()
            if (not query.judges or judge in query.judges)
            and not any(fnmatch.fnmatchcase(judge, pattern) for pattern in query.exclude)
        }
        if kept:
            files[names[path]] = kept
            observed.append(read.observations)
        if found.without:
            notes.append(f"{found.without} rows of {path.name} without a label left out")
        if found.replaced:
            notes.append(f"{found.replaced} rows of {path.name} stand more than once; the last counts")
    subject = _subject(query, Observations.joined(observed)) if observed else About(None)
    rows: list[dict[str, Any]] = []
    each: list[dict[str, Any]] = []
    for one, other in [*combinations(files, 2), *((name, name) for name, own in files.items() if len(own) > 1)]:
        parts = label_parts(files[one], None if one == other else files[other], subject.categories or None)
        rows += label_rows((one, other), parts, seed=query.seed)
        each += by_label((one, other), parts)
    if not rows:
        raise UsageError(f"{', '.join(names.values())}: no two judges label the same answer")
    notes.append("share_of_judge1: of the answers to which judge1 gives the label, those to which judge2 gives it too")
    notes += [subject.why_not] if subject.why_not else []
    return Report("agreement", ", ".join(files), subject.bench, rows, {"by_label": each}, notes, query.files)


def judge_corrected(votes: Sequence[pathlib.Path | str], *, finite: bool = False, **words: Unpack[Words]) -> Report:
    """Return each model's win rate as humans would give it: all of a judge's verdicts, corrected by votes on some.

    Args:
        votes: files of people's votes on pairs.
        finite: whether to ask for exactly the judged questions, or for all questions of their kind.
        words: see `Words`.
    """
    paths = [pathlib.Path(path) for path in votes]
    if not paths:
        raise UsageError("no file of votes; name one or more with --votes")
    query = Query.of("pairwise-all", **words)
    (source,) = sources = ask(replace(query, exclude=()))
    cast, replaced = [], 0
    for path in paths:
        read = read_judgments(path)
        if not read.observations.paired or not all(case.source.voter for case in read.observations.cases):
            raise UsageError(f"{path} holds no votes on pairs (model_a, model_b, winner), which are needed here")
        kept = without_voters(read.observations, query.exclude)
        if not kept:
            raise UsageError(f"--exclude {' '.join(query.exclude)} leaves no vote of {path}")
        cast.append(kept)
        replaced += read.replaced
    turns = frozenset(query.turns or ())
    judged, counted = (
        own.keep(lambda case: query.turns is None or case.turn in turns)
        for own in (source.observations, Observations.joined(cast))
    )
    if not judged or not counted:
        raise UsageError(f"no {'vote' if judged else 'judgment'} of turn {', '.join(map(str, query.turns or ()))}")
    subject = query.about(source.observations, source.path)
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
    what = (
        "exactly these questions, the votes on them taken for the truth"
        if finite
        else "all questions and raters of their kind, as those of show_result are"
    )
    notes = [
        *replaced_note(sources),
        *([f"{replaced} votes stand more than once; the last counts"] if replaced else []),
    ]
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
    voted = {side.name: votes_of(side.observations) for side in sides}
    if none := sum(without_verdict(side.observations) for side in sides):
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
    if none := sum(grade.value is None for side in sides for grade in side.observations):
        notes.append(f"{none} ratings without score left out")
    rows = []
    for turn in _turns(sides):
        own = {side.name: side.observations.keep(partial(_of_turn, turn)) for side in sides}
        if len(own) > 1:
            found = graded_rows({name: matrix(r, categories) for name, r in own.items() if r}, seed=seed)
            rows += [_graded_row(row, turn, ", ".join(row.judges)) for row in found if row.n]
        for name, grades in own.items():
            voters = sorted({case.source.judge for case in grades.cases})
            if len(voters) < 2:
                continue
            by_voter = {v: matrix(grades.keep(partial(_of_judge, v)), categories) for v in voters}
            found = graded_rows(by_voter, seed=seed) if len(voters) <= MOST_VOTERS else _alphas(by_voter, seed)
            everyone = f"all {len(voters)} of {name}"
            rows += [_graded_row(row, turn, everyone) for row in found if row.n]
    several = [side.name for side in sides if len({case.source.judge for case in side.observations.cases}) > 1]
    if several and len(sides) > 1:
        notes.append(
            f"beside other files, {', '.join(several)} counts with the mean of its voters' grades of an answer"
        )
    notes.append("exact: equal grades; within one: at most one point apart; alpha: Krippendorff's")
    return rows, {}


def _of_turn(turn: int | None, case: Case) -> bool:
    return turn in {None, case.turn}


def _of_judge(judge: str, case: Case) -> bool:
    return case.source.judge == judge


def _turns(sides: Sequence[Side]) -> list[int | None]:
    turns = sorted({case.turn for side in sides for case in side.observations.cases})
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


def _sides(query: Query, name: str, path: pathlib.Path, found: Observations) -> list[Side]:
    """Return the sides that a file makes; none if it has no vote of the judges asked for."""
    voted = {case.source.voter for case in found.cases}
    if len(voted) > 1:
        raise UsageError(f"{path} mixes judgments and votes, which are not comparable; split it")
    asked_for = found.keep(lambda case: not query.judges or case.source.judge in query.judges)
    # Grades by people name no template.
    if voted == {True} or not (found.paired or any(asked.template for asked in found.asked)):
        votes = asked_for.keep(
            lambda case: not any(fnmatch.fnmatchcase(case.source.judge, own) for own in query.exclude)
        )
        if asked_for and not votes:
            raise UsageError(f"--exclude {' '.join(query.exclude)} leaves no vote of {path}")
        return [Side(name, path, votes)] if votes else []
    sides = []
    there = list(dict.fromkeys(source.judge for source in asked_for.sources()))
    for judge in there:
        own = one_source(replace(query, judges=(judge,)), found, path)
        one_wording(own, path)
        sides.append(Side(name if len(there) == 1 else judge, path, own))
    return sides


def _of_kind(query: Query, read: Read, path: pathlib.Path) -> Observations:
    """Return what was asked for of judgments; of votes, and of what says no sample or criterion, all."""
    found = read.observations
    if any(case.source.voter for case in found.cases):
        return found
    criterion = query.criterion if set(found.metrics()) - {SCORE, WIN} else None
    sample = query.sample if any(case.source.sample for case in found.cases) else None
    return replace(query, sample=sample, criterion=criterion).of_kind(found, path)


def _has(read: Read, judge: str) -> bool:
    return any(judge == case.source.judge for case in read.observations.cases)


def _names(paths: Sequence[pathlib.Path]) -> dict[pathlib.Path, str]:
    """Return the name of each file: its stem, with its folder before it where two have the same stem."""
    often = Counter(path.stem for path in paths)
    names = {path: path.stem if often[path.stem] == 1 else f"{path.parent.name}/{path.stem}" for path in paths}
    if len(set(names.values())) < len(names):
        names = {path: str(path) for path in paths}
    return names


def _subject(query: Query, records: Observations) -> About:
    """Return the benchmark that all files are about: the one named, or the one beside which one of them lies."""
    found = [query.about(records, path) for path in query.files]
    return next((subject for subject in found if subject.categories), found[0])


def _notes(reads: Mapping[pathlib.Path, Read], sides: Sequence[Side], subject: About) -> list[str]:
    """Return what a reader must know before any number."""
    notes = []
    if replaced := sum(read.replaced for read in reads.values()):
        notes.append(f"{replaced} rows stand more than once; of each the last good one counts")
    for path, read in reads.items():
        kept = sum(len(side.observations) for side in sides if side.path == path)
        if left := len(read.observations) - kept:
            notes.append(f"{left} rows of {path.name} left out as asked")
    judges = {side.observations.cases[0].source.judge for side in sides}
    if any(map(is_builtin_judge, judges)):
        notes.append(NOTICE)
    if subject.why_not:
        notes.append(subject.why_not)
    return notes
