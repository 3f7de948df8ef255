"""Votes on some questions and a judge's verdicts on all -> estimates of people's win rates.

    corrected = lambda * judge_all + (human - lambda * judge_voted)
    half      = t * sqrt((s / i)² * (1 / n - 1 / N + (i * (judge_all - judge_voted))² / sum of b_q²) + inner)
    b_q       = judge_q - judge_voted * items_q
    s²        = sum of (human_q - human * items_q - lambda * b_q)² / (n - 2)
    inner     = n / N * w² * sum of items_q * (1 - items_q / judged_q) / (sum of items_q)²

human and judge_voted: win rates by people and by the judge on the voted items of the n voted questions; judge_all: by
the judge on all items of all N questions; human_q, judge_q: sums of outcomes on the items_q voted items of a question;
i: their mean number; judged_q: the items that the judge judged. The term with b_q is for the estimation of lambda.
inner is 0 if voted questions have votes on all their items, else w² is the variance of human - lambda * judge between
the items of one question, pooled (between questions if each has one item). A tie is half a win; several votes on an
item (question, turn, two models) count as their mean, so every item counts once. t is the 97.5% quantile of Student's t
with n - 2 degrees of freedom. The interval is the estimate ± half.

lambda is the slope of the human sums on the judge's over the voted questions, kept between 0 and 1: the judge's
verdicts are used as far as they predict the votes, so the interval is hardly ever wider than that of the votes alone.

Judge 60% on all 80 questions; on 20 voted ones judge 65%, humans 58%, lambda 0.8: 0.8 * 60 + (58 - 0.8 * 65) = 54%.
By chance the voted questions favoured this model, by 5 points according to the judge; four fifths are subtracted.

What `judge_report` estimates is the mean over all questions and raters of this kind, of which the N and their votes are
a sample (`finite=False`), as in every table of `show_result`. There the variance is

    s_r² / n + (lambda² * s_j² + 2 * lambda * s_rj) / N

s_r: of the residuals r_q = (human_q - human * items_q - lambda * b_q) / i, which includes the variance within a
question and between raters; s_j: of the judge's sums of all items; s_rj: their covariance. How often it misses, by
votes and design: `benchmarks/README.md`. With `finite` it is the mean over exactly the items that could be voted on,
taking these votes as the truth: hence the term 1 / N. It answers "what would these voters say on all items", not what
other raters would. In both the voted questions must be a random subset (`ASSUMPTION`). With votes on fewer than eight
questions there is no interval.

To halve the interval takes n' questions with 1 / n' - 1 / N = (1 / n - 1 / N) / 4; inner stays the same, and if it
is too large for that, or all questions already have votes, the same holds with items instead of questions.

Source: Angelopoulos et al. 2023 (arXiv 2301.09633) for prediction-powered inference and 2023 (arXiv 2311.01453) for
lambda; Cochran, Sampling Techniques (1977), sections 2.6, 6.3 and 7.3, for the finite form, a ratio and a regression.
"""

import math
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from harness.old.errors import UsageError
from harness.old.judgments.observations import Observations
from harness.old.meta_evaluation.report import Asked, Report, left_out, need_verdicts
from harness.old.meta_evaluation.votes import Item, pairs_in, vote_files
from harness.old.names import counted_are
from harness.old.results.about import about
from harness.old.results.common import UNRANKED, common_questions
from harness.old.results.finding import ask, counted_votes
from harness.old.results.matrix import Floats, Pairs
from harness.old.results.matrix import pairs as pair_arrays
from harness.old.results.query import Query, Words
from harness.old.results.replaced import without_replaced
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.written import takes_only

ASSUMPTION = (
    "assumes that the voted questions, and the voted pairs of a question, are a random subset of the judged ones; "
    "votes on pairs that people chose themselves may bias the win rate"
)
_COLUMNS = (
    "judge: win rate by the judge's verdicts alone, a tie half; votes: by the votes alone; corrected: by both, the "
    "judge counting by its weight (0: not at all); voted: the judged questions with votes; n: the pairs with votes"
)
LEAST = 8
"""With fewer voted questions than this there is no interval."""


@dataclass(frozen=True, slots=True)
class CorrectedReport:
    """Win rates as humans would give them."""

    rows: list[dict[str, Any]]
    """A row for each model with votes, best corrected win rate first; see `corrected_rates`."""
    without_votes: list[str]
    """Judged models without votes."""
    unjudged: int
    """Votes left out because there is no verdict of the judge on the item."""
    elsewhere: int
    """Of these, votes on items that it has not judged at all."""
    unclear: int
    """Votes left out because they name no winner and no tie."""


class _Sums(NamedTuple):
    """Sums of one model by question."""

    judge: Floats
    """Over all items that the judge judged."""
    items: Floats
    human: Floats
    """Over the voted items, as are the next three."""
    judge_voted: Floats
    voted: Floats
    """The number of voted items."""
    votes: Floats
    human_squares: Floats
    """Sums of squares over the voted items, for the variance between the items of a question."""
    judge_squares: Floats
    products: Floats


def corrected_rates(judge: Pairs, votes: Pairs, *, finite: bool = True) -> CorrectedReport:
    """Return the win rate of each model, corrected by the votes.

    judge            by the judge alone, on all items; its interval does not include the judge's bias
    votes            by the votes alone; no interval if all are equal, or if every item has votes
    weight           lambda: how far the judge is used, from 0 (not at all) to 1
    questions, voted those with an item of this model that could be voted on (N), and those with votes (n)
    n                items with votes
    more_questions   how many more must be voted on to halve the interval, each with as many votes as now; None if that
                     does not do it
    more_votes       how many more votes that takes; without a number of questions, spread over all items; None if no
                     number of votes on these questions does it, or where there is no interval

    Args:
        judge: the pairs of one judge on all items that could be voted on, and on no others.
        votes: pairs of people on some of them, one entry a vote; named as the judge's are, in any order.
        finite: whether to estimate for exactly these questions and votes, or for all questions and raters of their
            kind.
    """
    sums, (unjudged, elsewhere), unclear = _summed(judge, votes)
    rows = [_row(model, own, finite) for model, own in sums.items() if own.voted.any()]
    rows.sort(key=lambda row: (-(row["corrected"].value or 0.0), row["model"]))
    without = [model for model, own in sums.items() if own.items.any() and not own.voted.any()]
    return CorrectedReport(rows, without, unjudged, elsewhere, unclear)


def _summed(judge: Pairs, votes: Pairs) -> tuple[dict[str, _Sums], tuple[int, int], int]:
    """Return the sums of each model, and how many votes are left out: on items without a verdict (of these, on items
    not judged), and without a winner."""
    cast = _by_item(votes)
    every = {item: _mean(said) for item, said in _by_item(judge).items()}
    known = {item: verdict for item, verdict in every.items() if verdict is not None}
    unclear = sum(math.isnan(outcome) for said in cast.values() for outcome in said)
    clear = {item: [own for own in said if not math.isnan(own)] for item, said in cast.items()}
    unjudged, elsewhere = (sum(len(said) for item, said in clear.items() if item not in own) for own in (known, every))
    place = {question: at for at, question in enumerate(judge.questions)}
    sums = {model: np.zeros((len(_Sums._fields), len(place))) for model in judge.models}
    for item, verdict in known.items():
        said, at = clear.get(item, []), place[item.question_id]
        human = _mean(said)
        for model, turned in ((item.first, False), (item.second, True)):
            v = 1.0 - verdict if turned else verdict
            sums[model][:2, at] += (v, 1)
            if human is not None:
                h = 1.0 - human if turned else human
                sums[model][2:, at] += (h, v, 1, len(said), h**2, v**2, h * v)
    return {model: _Sums(*own) for model, own in sums.items()}, (unjudged, elsewhere), unclear


def _by_item(pairs: Pairs) -> dict[Item, list[float]]:
    """Return the outcomes by item, 1 if the first model won."""
    found: dict[Item, list[float]] = {}
    columns = (pairs.question, pairs.turn, pairs.model_1, pairs.model_2, pairs.outcome)
    for question, turn, one, other, outcome in zip(*(column.tolist() for column in columns), strict=True):
        first, second = pairs.models[one], pairs.models[other]
        if first > second:
            first, second, outcome = second, first, 1.0 - outcome
        found.setdefault(Item(pairs.questions[question], turn, first, second), []).append(outcome)
    return found


def _row(model: str, sums: _Sums, finite: bool) -> dict[str, Any]:
    total = int(np.count_nonzero(sums.items))
    chosen = sums.voted > 0
    human_q, judge_q, items = sums.human[chosen], sums.judge_voted[chosen], sums.voted[chosen]
    n, per_question = len(items), float(items.mean())
    judge_all = float(sums.judge.sum() / sums.items.sum())
    human, judge_voted = float(human_q.sum() / items.sum()), float(judge_q.sum() / items.sum())
    spread = human_q - human * items
    other = judge_q - judge_voted * items
    weight = min(1.0, max(0.0, float(spread @ other / (other @ other)))) if other.any() else 0.0
    residual = spread - weight * other
    own = float(residual @ residual) / max(1, n - 2) / per_question**2
    alone = float(spread @ spread) / max(1, n - 1) / per_question**2
    rest = 1 / n - 1 / total
    fitted = (per_question * (judge_all - judge_voted)) ** 2 / float(other @ other) if weight else 0.0
    if finite:
        inner, beyond = _inner(sums, weight) * n / total, 0.0
        of_votes = alone * rest + _inner(sums, 0.0) * n / total
    else:  # the residuals' spread over questions holds what is within them, so only the judge's mean comes on top
        inner, beyond = 0.0, own / total + max(0.0, _of_judge(sums, judge_all, residual / per_question, weight))
        of_votes = alone / n
    variance = own * (rest + fitted) + inner + beyond
    settled = finite and n == total and bool((sums.voted == sums.items).all())
    more = (0, 0) if settled else _more(sums, own, inner, beyond) if variance > 0 and n >= LEAST else (None, None)
    votes = _rate(human, of_votes, n, n - 1, settled)
    corrected = _rate(weight * judge_all + human - weight * judge_voted, variance, n, n - 2, settled)
    row = {"model": model, "judge": judge_all, "votes": votes, "corrected": corrected, "weight": weight}
    row |= {"questions": total, "voted": n, "n": int(items.sum())}
    return row | {"more_questions": more[0], "more_votes": more[1]}


def _rate(value: float, variance: float, n: int, freedom: int, settled: bool) -> Estimate:
    """Return a rate with its interval, both kept between 0 and 1; `settled`: every item has votes."""
    kept = min(1.0, max(0.0, value))
    if settled or n < LEAST or variance < 1e-12:
        return Estimate(kept, None, None, n, None)
    half = student(freedom) * math.sqrt(variance)
    return Estimate(kept, min(1.0, max(0.0, value - half)), min(1.0, max(0.0, value + half)), n, None)


def _of_judge(sums: _Sums, judge_all: float, residual: Floats, weight: float) -> float:
    """Return the variance of the judge's mean over all questions, and its covariance with the residuals."""
    there, chosen = sums.items > 0, sums.voted > 0
    items = sums.items[there]
    spread = (sums.judge - judge_all * sums.items)[there] / items.mean()
    voted = spread[chosen[there]]
    own = float(spread @ spread) / max(1, len(spread) - 1)
    both = float(residual @ voted) / max(1, len(voted) - 1)
    return (weight**2 * own + 2 * weight * both) / len(items)


def _inner(sums: _Sums, weight: float) -> float:
    """Return the variance that comes from items without votes on voted questions, were all questions voted on."""
    chosen = sums.voted > 0
    m = sums.voted[chosen]
    if not (m < sums.items[chosen]).any():
        return 0.0
    total = (sums.human - weight * sums.judge_voted)[chosen]
    squares = (sums.human_squares - 2 * weight * sums.products + weight**2 * sums.judge_squares)[chosen]
    if (m > 1).any():
        within = float((squares - total**2 / m).sum() / (m - 1).sum())
    else:
        within = float(np.var(total, ddof=1)) if len(m) > 1 else 0.0
    return max(0.0, within) * float((m * (1 - m / sums.items[chosen])).sum() / m.sum() ** 2)


def _more(sums: _Sums, own: float, inner: float, beyond: float) -> tuple[int | None, int | None]:
    """Return how many more questions and votes make the variance a quarter; None if these questions do not suffice."""
    n, total = int(np.count_nonzero(sums.voted)), int(np.count_nonzero(sums.items))
    wanted = (own * (1 / n - 1 / total) + inner + beyond) / 4 - inner - beyond
    if n < total and wanted >= 0 and own > 0:
        questions = _quartered(n, total, wanted / own)
        return questions, math.ceil(questions * float(sums.votes.sum()) / n)
    if beyond > 0:
        return None, None
    voted, judged = float(sums.voted.sum()), float(sums.items.sum())
    items = _quartered(voted, judged, (1 / voted - 1 / judged) / 4)
    return 0 if n == total else None, math.ceil(items * float(sums.votes.sum()) / voted - 1e-9)


def _quartered(voted: float, total: float, rest: float) -> int:
    """Return how many more of `total` must be voted on to make 1 / voted - 1 / total that small."""
    return math.ceil(1 / (rest + 1 / total) - voted - 1e-9)


def student(freedom: int) -> float:
    """Return the 97.5% quantile of Student's t, to 0.2% (Abramowitz and Stegun 26.7.5, from 3 degrees of freedom)."""
    z = 1.959963984540054
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def _mean(outcomes: Sequence[float]) -> float | None:
    known = [outcome for outcome in outcomes if not math.isnan(outcome)]
    return math.fsum(known) / len(known) if known else None


@takes_only(Words.__annotations__)
def judge_corrected(
    votes: Sequence[pathlib.Path | str] = (), *, finite: bool = False, **words: Unpack[Words]
) -> Report:
    """Return each model's win rate as humans would give it: all of a judge's verdicts, corrected by votes on some.

    Args:
        votes: files of people's votes on pairs (default: the benchmark's `human_judgment/`).
        finite: whether to ask for exactly the judged questions, or for all questions of their kind.
        words: see `Words`.
    """
    query = Query.of("pairwise-all", **words)
    paths = vote_files(query, votes)
    stale: list[str] = []
    (source,) = sources = without_replaced(ask(query._replace(exclude=())), stale)
    reads = {path: pairs_in(path, by_voters=True) for path in paths}
    cast = Observations.joined([counted_votes(query, read.observations, path) for path, read in reads.items()])
    replaced, turns = sum(read.replaced for read in reads.values()), query.turns
    judged, counted = (
        own.keep(lambda case: turns is None or case.turn in turns) for own in (source.observations, cast)
    )
    if not judged or not counted:
        raise UsageError(f"no {'vote' if judged else 'judgment'} of turn {', '.join(map(str, turns or ()))}")
    need_verdicts(judged, source.path)
    subject = about(query, source.observations, source.path)
    found = corrected_rates(pair_arrays(judged), pair_arrays(counted), finite=finite)
    if not found.rows:
        raise UsageError(f"no vote of {', '.join(map(str, paths))} is about a pair in {source.path}")
    what = "all questions and raters of their kind, like those of show_result"
    what = "exactly these questions, with the votes on them as the truth" if finite else what
    apart = common_questions(judged).apart
    rows = sorted(found.rows, key=lambda row: (row["model"] in apart, row["voted"] < LEAST))  # they rank nobody
    notes = [f"{counted_are(replaced, 'vote')} repeated; the last counts"] if replaced else []
    notes += [_COLUMNS, ASSUMPTION]
    if any(end is not None for row in rows for end in (row["votes"].low, row["corrected"].low)):
        notes.append(f"the intervals are about {what}")
    if any(row["more_votes"] is not None for row in rows):
        notes.append("more_questions, more_votes: how many more would halve the interval")
    elif any(row["corrected"].low is not None for row in rows):
        notes.append("no number of further votes on these questions would halve an interval")
    settled = [row["model"] for row in rows if row["more_votes"] == 0 and row["votes"].low is None]
    if settled:
        notes.append("if every judged pair has votes, the win rate by votes is the result, and has no interval")
    if few := [f"{row['model']} ({row['voted']})" for row in found.rows if row["voted"] < LEAST]:
        notes.append(f"no interval with votes on fewer than {LEAST} questions: {', '.join(few)}")
    alike = [row["model"] for row in rows if row["voted"] >= LEAST and row["corrected"].low is None]
    if alike := [model for model in alike if model not in settled]:
        notes.append(f"no interval where the votes say the same on every question: {', '.join(alike)}")
    if found.without_votes:
        notes.append(f"nobody voted on {', '.join(found.without_votes)}")
    skipped = {
        "on pairs that the judge has not judged": found.elsewhere,
        "on pairs on which the judge gave no verdict": found.unjudged - found.elsewhere,
        "without a verdict": found.unclear,
    }
    notes += left_out(skipped, "vote")
    report = Asked(query, sources, judged, subject, tuple(stale)).report(
        "corrected", rows, notes, explained=False, few=UNRANKED
    )
    return replace(report, paths=(*report.paths, *paths))
