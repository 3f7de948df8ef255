"""Votes and judgments on the same items -> how often judges and people agree: on pairs, grades and labels.

    pairs and labels   the share of pairs of votes that agree, and kappa (`verdict_agreement`)
    grades             correlations, equal grades, and Krippendorff's alpha (formulas in `contingency`); the measures
                       differ: a judge that is always one point more lenient has pearson 1 and exact 0

A side is a file of votes or judgments; every two sides are compared, and the judges within each. Intervals resample
questions: all votes on a question move together (see `bootstrap`). A file with several voters is compared with others
by the mean of their grades of an answer.
"""

import math
import pathlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations
from typing import Any, Unpack

import numpy as np

from harness.old.errors import MissingError, UsageError
from harness.old.jsonl.copies import local_file
from harness.old.judging.builtin import notices
from harness.old.judgments.file_name import judgment_files, kinds_of
from harness.old.judgments.observations import Observations
from harness.old.judgments.reading import Read, read_judgments
from harness.old.meta_evaluation.contingency import (
    Level,
    Scale,
    alpha,
    exact_tau_b,
    kendall_tau_b,
    pearson,
    scale_of,
    spearman,
    table_estimate,
    tabulated,
)
from harness.old.meta_evaluation.report import Report, columns, interval_notes, of_turn
from harness.old.meta_evaluation.verdict_agreement import agreement_rows, by_label, contingencies, win_rate_rows
from harness.old.meta_evaluation.votes import (
    Categories,
    Item,
    Side,
    Votes,
    as_preferences,
    by_judge,
    judgments,
    of_kind,
    sides_of,
    told_apart,
    vote_files,
    votes_of,
    without_verdict,
)
from harness.old.names import counted, counted_are
from harness.old.records import QuestionId
from harness.old.results.about import About, about
from harness.old.results.finding import Found
from harness.old.results.matrix import Floats
from harness.old.results.query import Query, Words
from harness.old.results.replaced import without_replaced
from harness.old.results.statistics.bootstrap import Estimate, Resampling, estimates
from harness.old.written import takes_only

LEVELS: tuple[Level, ...] = ("ordinal", "interval")
WITHIN = 1.0
MOST_VOTERS = 6
"""Of a file of grades by more voters than this, every two of them are not shown, only all together."""


@takes_only(Words.__annotations__)
def judge_agreement(votes: Sequence[pathlib.Path | str] = (), **words: Unpack[Words]) -> Report:
    """Return how often every two files agree, and the judges within each; for pairs also `win_rates`.

    `votes` (default: the benchmark's votes, and its judgments of the same kind) are files of votes or judgments, all of
    pairs, all of grades or all of labels (then also `by_label`), grades beside pairs as preferences; `judge_model`
    names the judges or voters to take (default: all). A side of votes is a file and has the name of its stem; a
    judgment file is a side for each of its judges, by the judge's name, followed by judge set, mode, sample or
    file if two sides are of one judge. See `Words` for the other keywords.

    Raises:
        UsageError: a file mixes judgments that are not comparable, or files have nothing in common.
        DataError: a line is invalid.
    """
    query = Query.of(**words)
    paths = [local_file(path) for path in votes] or _usual_files(query)
    if len(set(paths)) < len(paths):
        raise UsageError(f"{next(p for p, n in Counter(paths).items() if n > 1)} is named twice")
    query = query._replace(files=tuple(paths))
    reads = {path: read_judgments(path) for path in paths}
    labelled = [path for path, read in reads.items() if read.form == "label"]
    if labelled and (other := [path for path in paths if path not in labelled]):
        held = f"{labelled[0].name} labels, {other[0].name} none"
        raise UsageError(f"labels and other votes cannot be compared ({held}); name files of one kind")
    asked_for = []
    for path, read in reads.items():
        asked_for.append(Found(path, path.stem, "", 0, of_kind(query, read, path), read.replaced))
        if not asked_for[-1].observations:
            raise MissingError(f"{path} holds no votes")
    stale: list[str] = []
    reads = {
        one.path: reads[one.path]._replace(observations=one.observations) for one in without_replaced(asked_for, stale)
    }
    mixed = len({read.observations.paired for read in reads.values()}) > 1
    preferred = [path for path, read in reads.items() if mixed and not read.observations.paired]
    for path in preferred:
        reads[path] = reads[path]._replace(observations=as_preferences(reads[path].observations))
    modes = {path: "single" if path in preferred else "pairwise" for path in paths}
    own = [sides_of(query, path, read.observations, modes[path]) for path, read in reads.items()]
    sides = told_apart([side for found in own for side in found])
    given = {case.source.judge for read in reads.values() for case in read.observations.cases}
    absent = [name for name in query.judges or () if name not in given]
    if absent or not sides:
        raise UsageError(f"no vote by {', '.join(absent or query.judges or ())} in {', '.join(map(str, paths))}")
    records = Observations.joined([side.observations for side in sides])
    subject = _subject(query, records)
    notes = [*stale, *_notes(reads, sides, subject)]
    notes += [
        f"{path.name} holds grades: of two answers to one question the one with the higher grade counts as preferred, "
        "equal grades as a tie"
        for path in preferred
    ]
    none = "without a verdict" if records.paired else "without a label" if labelled else "without a score"
    notes += [
        f"{lost} of {counted(judgments(side.observations), 'judgment')} by {side.name} {none} left out"
        for side in sides
        if (lost := without_verdict(side.observations))
    ]
    compare = _said if records.paired or labelled else _graded
    rows, more = compare(sides, subject.categories or None, query.seed, notes)
    if not rows:
        raise UsageError(
            f"{', '.join(side.name for side in sides)}: no two judges judged the same "
            f"{'pair of answers' if records.paired else 'answer'}"
        )
    if "kappa" in rows[0] and any(row["kappa"].value is None for row in rows if row["total"]):
        notes.append("no kappa where both say the same of everything: chance alone would agree as often")
    notes += interval_notes(value for row in rows for value in row.values())
    judges = ", ".join(side.name for side in sides)
    return Report("agreement", judges, subject.bench, list(map(columns, rows)), more, notes, tuple(paths))


def _usual_files(query: Query) -> list[pathlib.Path]:
    """Return a benchmark's files of votes, and its judgments of what was voted on: pairs, labels, grades.

    Where pairs have votes and only grades were judged, these are compared as preferences.
    """
    votes = vote_files(query, ())
    reads = [read_judgments(path) for path in votes]
    labelled, folder = any(read.form == "label" for read in reads), query.bench.folder / "model_judgment"
    paired = any(read.observations.paired for read in reads)
    judged = (paired and judgment_files(folder, kinds_of("pairwise-all"))) or judgment_files(folder, kinds_of("single"))
    return [*votes, *(path for path in judged if (read_judgments(path).form == "label") == labelled)]


def _said(
    sides: Sequence[Side], categories: Categories | None, seed: int, notes: list[str]
) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Return the rows of votes on pairs and the win rates beside them, or those of labels and of each label."""
    voted = {side.name: votes_of(side.observations) for side in sides}
    tables = contingencies(voted, categories)
    rows = [row for met in tables for row in agreement_rows(met, seed=seed)]
    if not sides[0].observations.paired:
        notes.append(
            "share of judge 1: of the answers to which judge 1 gives the label, those to which judge 2 gives it too"
        )
        return rows, {"by_label": [row for met in tables for row in by_label(met)]}
    rates: list[dict[str, Any]] = []
    for one, other in combinations(voted, 2):
        if voted[one].keys() & voted[other].keys():
            rates += win_rate_rows(voted[one], voted[other], (one, other), categories, seed=seed)
        else:
            notes.append(f"{one} and {other} have no pair of answers with a verdict of both in common")
    notes.append("S1: a tie is a third label; S2: pairs of votes in which either is a tie are left out")
    notes.append("two games that disagree are a tie; kappa counts each pair of votes in both orientations")
    return rows, {"win_rates": rates}


def _graded(
    sides: Sequence[Side], categories: Categories | None, seed: int, notes: list[str]
) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Return the rows of grades: every two sides, all sides, and the voters within each side of several."""
    turns = sorted({case.turn for side in sides for case in side.observations.cases})
    rows = []
    for turn in [*turns, None] if len(turns) > 1 else turns:
        own = {side.name: side.observations.keep(partial(of_turn, turn)) for side in sides}
        found: list[dict[str, Any]] = []
        if len(own) > 1:
            grades = {name: grades_of(votes_of(one)) for name, one in own.items() if one}
            found += graded_rows(grades, categories, everyone=", ".join(grades), seed=seed)
        for name, one in own.items():
            voters = {voter: grades_of(votes) for voter, votes in by_judge(votes_of(one)).items()}
            if len(voters) > 1:
                measure = graded_rows if len(voters) <= MOST_VOTERS else alpha_rows
                found += measure(voters, categories, everyone=f"all {len(voters)} of {name}", seed=seed)
        rows += [row | {"turn": turn} for row in found if row["n"]]
    several = [side.name for side in sides if len({case.source.judge for case in side.observations.cases}) > 1]
    if several and len(sides) > 1:
        notes.append(
            f"compared with other files, {', '.join(several)} counts as the mean of its voters' grades of an answer"
        )
    notes.append("exact: equal grades; within one: at most one point apart; alpha: Krippendorff's")
    return rows, {}


def _subject(query: Query, records: Observations) -> About:
    """Return the benchmark that all files are about: the one named, or the one that contains one of them."""
    found = [about(query, records, path) for path in query.files]
    return next((subject for subject in found if subject.categories), found[0])


def _notes(reads: Mapping[pathlib.Path, Read], sides: Sequence[Side], subject: About) -> list[str]:
    """Return what a reader must know before any number."""
    notes = []
    if replaced := sum(read.replaced for read in reads.values()):
        notes.append(f"{counted_are(replaced, 'row')} repeated; the last valid one of each counts")
    for path, read in reads.items():
        kept = sum(judgments(side.observations) for side in sides if side.path == path)
        if left := judgments(read.observations) - kept:
            notes.append(f"{counted(left, 'row')} of {path.name} left out by --exclude")
    notes += notices(side.observations.cases[0].source.judge for side in sides)
    if subject.why_not:
        notes.append(subject.why_not)
    return notes


def _moved(estimate: Estimate, value: float | None) -> Estimate:
    """Return the estimate with its exact value, and its interval as far around that as it was around the old one."""
    if value is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return replace(estimate, value=value)
    step = value - estimate.value
    return replace(estimate, value=value, low=estimate.low + step, high=min(1.0, estimate.high + step))


def grades_of(votes: Votes) -> dict[Item, float]:
    """Return the grade of each answer, the mean of what several voters gave it."""
    return {item: math.fsum(vote.said for vote in cast) / len(cast) for item, cast in votes.items()}


def graded_rows(
    sides: Mapping[str, Mapping[Item, float]],
    categories: Categories | None = None,
    *,
    everyone: str = "all",
    **how: Unpack[Resampling],
) -> list[dict[str, Any]]:
    """Return every measure for every two sides, then alpha for all of them, `everyone`, if they are more than two.

    `value` is None if it does not exist, such as the correlation with a judge that gives everything the same grade;
    there is no interval on fewer than five questions, or if these do not differ. `n` are the answers that count:
    those with a grade of both judges, for alpha of several those with two grades or more; `left_out` are those that at
    least one of these judges graded, and too few of the others.
    """
    questions = _questions(sides, categories or {})
    rows = [row for names in combinations(sides, 2) for row in _of_two(names, sides, questions, how)]
    return rows + (alpha_rows(sides, categories, everyone=everyone, **how) if len(sides) > 2 else [])


def alpha_rows(
    sides: Mapping[str, Mapping[Item, float]],
    categories: Categories | None = None,
    *,
    everyone: str = "all",
    **how: Unpack[Resampling],
) -> list[dict[str, Any]]:
    """Return Krippendorff's alpha of all sides together."""
    questions = _questions(sides, categories or {})
    scale = scale_of(grade for own in sides.values() for grade in own.values())
    raters = Counter(item for own in sides.values() for item in own)
    coincident = tabulated(
        (
            (questions[item.question_id], scale.place[one[item]], scale.place[other[item]], 1.0 / (raters[item] - 1))
            for one, other in permutations(sides.values(), 2)
            for item in one
            if item in other
        ),
        len(questions),
        len(scale.values),
    )
    n = sum(own > 1 for own in raters.values())
    return _rows((everyone, None), _alphas(scale, coincident, how), n, len(raters) - n)


def _alphas(scale: Scale, coincident: Floats, how: Resampling) -> dict[str, Estimate]:
    return {
        f"alpha ({level})": table_estimate(coincident, partial(alpha, scale.values, level=level), **how)
        for level in LEVELS
    }


def _rows(names: Sequence[str | None], found: Mapping[str, Estimate], n: int, left_out: int) -> list[dict[str, Any]]:
    about = {"judge1": names[0], "judge2": names[1], "turn": None}
    counts = {"n": n, "left_out": left_out}
    return [{**about, "measure": measure, "value": one, **counts} for measure, one in found.items()]


def _of_two(
    names: tuple[str, str],
    sides: Mapping[str, Mapping[Item, float]],
    questions: Mapping[QuestionId, int],
    how: Resampling,
) -> list[dict[str, Any]]:
    """Return every measure for two sides."""
    one, other = (sides[name] for name in names)
    scale = scale_of([*one.values(), *other.values()])
    met = [(questions[item.question_id], grade, other[item]) for item, grade in one.items() if item in other]
    coded = ((question, scale.place[x], scale.place[y], 1.0) for question, x, y in met)
    tables = tabulated(coded, len(questions), len(scale.values))
    statistics: dict[str, Callable[[Floats], Floats]] = {
        "pearson": partial(pearson, scale.values),
        "spearman": spearman,
        "kendall tau-b": kendall_tau_b,
    }
    found = {measure: table_estimate(tables, statistic, **how) for measure, statistic in statistics.items()}
    if scale.rounded:  # tau-b would feel the new ties
        x, y = np.array([both for _, *both in met], dtype=np.float64).reshape(-1, 2).T
        found["kendall tau-b"] = _moved(found["kendall tau-b"], exact_tau_b(x, y))
    apart, counts = np.zeros((2, len(questions), 2))
    for question, one_grade, other_grade in met:  # of the grades as they are, not as they are rounded
        apart[question] += abs(one_grade - other_grade) <= np.array([0.0, WITHIN]) + 1e-9
        counts[question] += 1.0
    found["exact"], found["within one"] = estimates(apart, counts, bounds=(0.0, 1.0), **how)
    found |= _alphas(scale, tables + tables.swapaxes(1, 2), how)  # every pair of grades in both orders
    return _rows(names, found, len(met), len(one) + len(other) - 2 * len(met))


def _questions(sides: Mapping[str, Mapping[Item, float]], categories: Categories) -> dict[QuestionId, int]:
    """Return the places of the questions: those of the first side in the order of the benchmark, then the others'."""
    found: dict[QuestionId, None] = {}
    for own in sides.values():
        present = dict.fromkeys(item.question_id for item in own)
        found |= dict.fromkeys(question for question in categories if question in present) | present
    return {question: at for at, question in enumerate(found)}
