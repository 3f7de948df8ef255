"""Verdicts of one judge with and without the reference -> how well it can tell right from wrong without it.

    graded right    answers with a grade from the threshold on / answers
    wrong wins      pairs that the wrong answer won in both orders / pairs of a right and a wrong answer; so right wins
    difference      the share with the reference - the share without it         on the same answers or pairs

Grades are counted for answers known to be wrong, where every grade from the threshold on is a false positive, and
for answers known to be right. What is right is known from checks, not from a judge: on turns with a reference
answer, the checks that state the result (a final number or choice, equal JSON, CSV or table, code that passes its
cases, a result that must occur). An answer is wrong if it breaks one of them even by the loose reading, and right if
it passes them all. A check can miss a right result that is written differently (0.446 for 25/56); the judge's grades
of such answers are false positives with the reference too, so they cancel in the difference.

Ten wrong answers, 7 of them graded 7 or more without the reference and 2 with it: 0.7, 0.2 and a difference of -0.5.

The threshold is the start of the upper third of the scale, unless another is named: 7 of 1 to 10. Answers without both
grades, turns without a reference or without such checks, and turns where not all of these are decided (code that was
not run) are left out and counted. Intervals resample questions (see `bootstrap`).

Two files of one judge, made with two judge sets:

    gen_judgment --judge-model JUDGE
    gen_judgment --judge-model JUDGE --judge-set mt_bench_unaided

Source: Zheng et al. 2023 (arXiv 2306.05685), section 3.4 and table 4: of 20 judgments of math answers that were wrong,
GPT-4 accepted 14 with the default prompt, 6 when asked to solve the question first, 3 with a reference.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np

from harness.old.bench import Bench
from harness.old.checks import Check
from harness.old.checks.check import as_json
from harness.old.errors import MissingError, UsageError
from harness.old.judging.sets import judge_set_name
from harness.old.judgments.case import winner
from harness.old.judgments.file_name import OWN_JUDGE_SET
from harness.old.judgments.observations import numbered
from harness.old.meta_evaluation.checks import NO_GRADE, NO_VERDICT, Place, checked_bench
from harness.old.meta_evaluation.report import Asked, Report, grade_from, left_out, ratio
from harness.old.records import Mode, Observation, QuestionId
from harness.old.results.about import about
from harness.old.results.finding import Found, ask
from harness.old.results.measured import CheckedTurn, read_checks
from harness.old.results.query import Query, Words
from harness.old.results.replaced import without_replaced
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.written import takes_only

UNAIDED = "mt_bench_unaided"
_STATE = frozenset({"number", "choice", "equals", "contains", "code"})
"""Kinds that state a result on a turn that has a reference; data does so where it must equal some."""


WRONG, RIGHT = "wrong", "right"
WRONG_WINS, RIGHT_WINS = "wrong wins", "right wins"
_NOT_ONE_OF_EACH = "in which more than one answer is right"


class Outcome(NamedTuple):
    """What one answer's turn, or a pair of them, gave in both ways."""

    question_id: QuestionId
    category: str
    what: str
    """What the share is of: `WRONG` and `RIGHT` answers, or pairs by who wins."""
    without: bool
    """Whether it was so without the reference: graded right, or won."""
    beside: bool
    """Whether it was so with it."""


def states_result(check: Check) -> bool:
    """Return whether a check of a turn that has a reference states the result."""
    inner = getattr(check, "checks", None)
    if inner is not None:
        return any(states_result(one) for one in inner)
    return check.kind in _STATE or "equals" in as_json(check)


def known(bench: Bench, turns: list[CheckedTurn]) -> dict[Place, bool | None]:
    """Return whether each answer's turn is right; None where that is not decided.

    Turns without a reference or without a check that states the result, and turns whose question or checks have changed
    since, are not there.
    """
    asked = {question.question_id: question for question in bench.questions}
    referenced = _referenced(bench)
    found: dict[Place, bool | None] = {}
    for turn in turns:
        question = asked.get(turn.question_id)
        if question is None or turn.content not in {None, question.content}:
            continue
        if turn.turn > min(referenced.get(turn.question_id, 0), len(question.turns)):
            continue
        checks = question.checks_of(turn.turn)
        if [check.statement for check in checks] != [check.text for check in turn.checks]:
            continue
        met = [own.loose for check, own in zip(checks, turn.checks, strict=True) if states_result(check)]
        if met:
            place = (turn.question_id, turn.turn, turn.model, turn.choice)
            found[place] = False if False in met else None if None in met else True
    return found


def _referenced(bench: Bench) -> dict[QuestionId, int]:
    """Return how many turns of each question have a reference answer by any author."""
    found: dict[QuestionId, int] = {}
    for author in bench.references():
        for key, texts in bench.reference_answers(author).items():
            found[key] = max(len(texts), found.get(key, 0))
    return found


def _placed(found: Found) -> dict[Place, Observation]:
    """Return the verdicts by what they are about; the models of a pair in the order of their names."""
    placed = {}
    for one in found.observations:
        models = "\n".join(sorted(filter(None, (one.model, one.opponent))))
        placed[one.question_id, one.turn, models, one.source.choice] = one
    return placed


def _outcomes(
    beside: Found,
    without: Found,
    right: Mapping[Place, bool | None],
    bench: Bench,
    least: float,
    skipped: Counter[str],
) -> list[Outcome]:
    """Return what became of the answers or pairs of which it is known what is right, and that were judged both ways.

    `least` is the least grade that takes an answer for right.
    """
    categories = {question.question_id: question.category for question in bench.questions}
    first, second = _placed(beside), _placed(without)
    found = []
    for place in dict.fromkeys([*first, *second]):
        one, other = first.get(place), second.get(place)
        question, turn, models, choice = place
        truth = {model: right.get((question, turn, model, choice), ...) for model in models.split("\n")}
        if ... in truth.values():
            skipped["on turns without a check of the result"] += 1
        elif None in truth.values():
            skipped["whose checks are not all decided (auto_checks --run-code)"] += 1
        elif len(truth) == 2 and sum(map(bool, truth.values())) != 1:
            skipped[_NOT_ONE_OF_EACH] += 1
        elif one is None or other is None:
            skipped["judged in one of the two ways only"] += 1
        elif one.value is None or other.value is None:
            skipped[NO_VERDICT if one.opponent else NO_GRADE] += 1
        elif None not in {one.content, other.content} and one.content != other.content:
            skipped["judged with two wordings of the question"] += 1
        elif one.opponent is None:
            graded = other.value >= least, one.value >= least
            found.append(Outcome(question, categories[question], RIGHT if truth[one.model] else WRONG, *graded))
        else:
            won = _winner(other, truth), _winner(one, truth)
            found += [
                Outcome(question, categories[question], what, *(own is wanted for own in won))
                for what, wanted in ((WRONG_WINS, False), (RIGHT_WINS, True))
            ]
    return found


def _winner(pair: Observation, truth: Mapping[str, Any]) -> bool | None:
    """Return whether the right answer won, or the wrong one; None for a tie."""
    won = winner(pair.games)
    if won == 0.5:
        return None
    return bool(truth[pair.model]) == (won == 1.0)


def _rows(outcomes: list[Outcome], paired: bool, seed: int) -> list[dict[str, Any]]:
    """Return the rows of all categories together and of each, the judge's mistakes first."""
    rows = []
    for category in (None, *dict.fromkeys(one.category for one in outcomes)):
        for what in (WRONG_WINS, RIGHT_WINS) if paired else (WRONG, RIGHT):
            own = [one for one in outcomes if one.what == what and category in {None, one.category}]
            about = {"category": category, "pairs" if paired else "answers": what, "n": len(own)}
            rows.append(about | _shares(own, seed))
    return rows


def _shares(own: list[Outcome], seed: int) -> dict[str, Estimate]:
    places = numbered(one.question_id for one in own)[1]
    without, beside = np.array([(one.without, one.beside) for one in own], dtype=np.float64).reshape(-1, 2).T
    columns = {"without_reference": without, "with_reference": beside, "difference": beside - without}
    bounds = {"difference": (-1.0, 1.0)}
    return {
        name: ratio(places, column, 1.0, seed=seed, bounds=bounds.get(name, (0.0, 1.0)))
        for name, column in columns.items()
    }


def _both(words: Words, mode: Mode, without: str) -> tuple[Query, Query]:
    """Return the judgments requested with the reference and without it."""
    query = Query.of(mode, **words)
    if not query.files:
        named = query if query.judge_set else query._replace(judge_set=OWN_JUDGE_SET)
        return named, query._replace(judge_set=judge_set_name(without))
    if len(query.files) != 2:
        raise UsageError("--input-file takes two files: the grades with the reference, then those without it")
    return query._replace(files=query.files[:1]), query._replace(files=query.files[1:], judge_set=None)


@takes_only(Words.__annotations__)
def judge_reference(
    mode: Mode = "single", *, without: str = UNAIDED, threshold: float | None = None, **words: Unpack[Words]
) -> Report:
    """Return how often the judge takes wrong and right answers for right, with and without the reference.

    Args:
        mode: grades, or pairs: how often the wrong answer of a right and a wrong one wins.
        without: the judge set that shows no reference; `judge_set` is the one that does (default mt_bench).
        threshold: the least grade that takes an answer for right (default: where the upper third of the scale begins).
        words: see `Words`; `input_file` are two files, with the reference and without it.

    Raises:
        MissingError: judgments of one of the sets or the checks are missing, or of no answer it is known what it is.
        UsageError: the two files are of different judges, or of one judge set.
    """
    queries = _both(words, mode, without)
    stale: list[str] = []
    (beside,), (bare,) = sources = [without_replaced(ask(query), stale) for query in queries]
    if beside.judge != bare.judge:
        raise UsageError(f"the two must be by one judge, these are by {beside.judge} and {bare.judge}")
    if beside.judge_set == bare.judge_set:
        raise UsageError(f"both are made with judge set {bare.judge_set}; one must show the reference, the other not")
    query, paired = queries[0], mode != "single"
    bench = checked_bench(query, beside.path)
    skipped: Counter[str] = Counter()
    named = "grade of a right one with --threshold"
    least = 0.0 if paired else grade_from(beside.observations.scale(), threshold, 2 / 3, named)
    outcomes = _outcomes(beside, bare, known(bench, read_checks(bench)), bench, least, skipped)
    if not outcomes:
        missing = "; ".join(left_out(skipped, "pair" if paired else "answer"))
        what = (
            "no pair judged in both ways is known to be of" if paired else "no answer with both grades is known to be"
        )
        raise MissingError(f"{what} right {'and' if paired else 'or'} wrong: {missing}")
    rows = _rows(outcomes, paired, query.seed)
    both = [one for own in sources for one in own]
    sets = f"with {beside.judge_set} and, without reference, {bare.judge_set}"
    if paired:
        notes = [f"pairs of a right and a wrong answer, {sets}; the rest, up to 1, are ties"]
    else:
        notes = [f"graded right: {least:g} or more, {sets}"]
    mistakes = "where the wrong answer wins" if paired else "of wrong answers"
    notes.append(f"{mistakes} these are the judge's mistakes; right and wrong are by the loose reading of checks")
    notes += left_out(skipped, "pair" if paired else "answer")
    subject = about(query, beside.observations, beside.path)._replace(bench=bench.name)
    return Asked(query, both, beside.observations, subject, tuple(stale)).report("reference", rows, notes, lost=False)
