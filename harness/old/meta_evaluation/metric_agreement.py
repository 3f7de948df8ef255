"""Metrics, and judgments or votes on the same answers -> which metric's order agrees with them.

    agree = (pairs that the metric orders the same way + half of those that it ties) / pairs with a preferred answer

A pair is two models' answers to one turn of one question. Unequal grades prefer one, as does a comparison or a
vote with a winner; each vote counts. Ties of the judge do not test a metric and are left out. A random metric
has 0.5, one that contradicts the judge less.

Grades x 9, y 7, z 7 and BLEU x 0.3, y 0.4, z 0.1: the judge prefers x to y and x to z; BLEU agrees only on the
second: 0.5, of 2 pairs.

Pairs are within one question, so that a metric gains nothing by distinguishing easy questions from hard ones. Intervals
resample questions (see `bootstrap`). Source: pairwise accuracy, Kocmi et al. 2021 (arXiv 2107.10821), here for single
answers, with ties as half.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from harness.old.errors import UsageError
from harness.old.judgments.case import SCORE, TOTAL, WIN
from harness.old.judgments.observations import numbered
from harness.old.meta_evaluation.report import Report, asked, need_verdicts, ratio
from harness.old.meta_evaluation.votes import TIE, as_preferences, votes_of
from harness.old.records import Mode, QuestionId
from harness.old.results.about import is_fixed
from harness.old.results.common import few
from harness.old.results.measured import measured_metrics, read_metric
from harness.old.results.query import Query, Words
from harness.old.written import takes_only


@takes_only(Words.__annotations__)
def judge_metrics(
    metric: Sequence[str], mode: Mode | None = None, *, variant: str | None = None, **words: Unpack[Words]
) -> Report:
    """Return how well each metric's order of the answers agrees with the judge's or the voters', by category.

    Args:
        metric: names as in `auto_metrics`; each of their numbers has separate rows. Empty: all that there are.
        mode: grades or pairs (default: what the file holds; of the benchmark's files, grades).
        variant: which variant of the metrics, where there are several.
        words: whose judgments or votes; see `Words`.

    Raises:
        MissingError: there are no such numbers or judgments.
        UsageError: no answers were both judged and measured.
    """
    given = asked(Query.of(mode, **words)._replace(every_metric=True))
    query, said = given.query, given.judged
    need_verdicts(said, given.sources[0].path)
    categories = given.subject.groups
    bench = query.bench
    names = list(metric) or [name for name in measured_metrics(bench) if name != "checks"]
    if not names:
        raise UsageError(f"no metric has numbers in {bench.folder}; run auto_metrics {bench.flags} first")
    orders = {
        number: votes_of(as_preferences(found.keep(lambda case, number=number: case.metric == number)))  # type: ignore[misc]
        for name in names
        for found in [read_metric(bench, name, variant)]
        for number in found.metrics()
    }
    criteria = [name for name in said.metrics() if name != TOTAL or len(said.metrics()) == 1]
    rows: list[dict[str, Any]] = []
    lacking: dict[str, int] = {}
    for criterion in criteria:
        own = said.keep(lambda case, criterion=criterion: case.metric == criterion)  # type: ignore[misc]
        votes = votes_of(own if own.paired else as_preferences(own))
        # Each pair that was put in order, with the side that came first, once for each vote.
        judged = [(item, vote.said) for item, cast in votes.items() for vote in cast if vote.said != TIE]
        for number, order in orders.items():
            found = [(item.question_id, order[item][0].said, first) for item, first in judged if item in order]
            if len(found) < len(judged):
                lacking[number] = lacking.get(number, 0) + len(judged) - len(found)
            named = {} if criterion in {SCORE, WIN} and len(criteria) == 1 else {"criterion": criterion}
            rows += [{**named, "metric": number, **row} for row in _rows(found, categories, query.seed)]
    if not rows:
        raise UsageError("no two answers were both ordered by the judge and measured; judge more models or measure")
    places = {category: at for at, category in enumerate(dict.fromkeys([None, *categories.values()]))}
    most: dict[Any, int] = {}
    for row in rows:
        most[row["category"]] = max(row["n"], most.get(row["category"], 0))
    thin = [row for row in rows if few(row["n"], most[row["category"]])]
    rows.sort(key=lambda row: (places[row["category"]], row.get("criterion", ""), row in thin, -row["agree"].value))
    notes = [
        "agree: of the pairs of answers to one question in which the judge prefers one, the share that a metric orders "
        "the same way, its ties as half; 0.5 is chance, and the greatest share shows which metric to trust most"
    ]
    if behind := dict.fromkeys(f"{row['metric']} ({row['n']} of {most[None]})" for row in thin if not row["category"]):
        notes.append(f"on too few of these pairs to be compared, and listed last: {', '.join(behind)}")
    if lacking:
        told = ", ".join(f"{number} {count}" for number, count in lacking.items())
        notes.append(f"pairs left out because an answer has no number: {told}")
    return given.report("ranking", rows, notes)


def _rows(
    found: Sequence[tuple[QuestionId, float, float]], categories: Mapping[QuestionId, Any], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for all questions, and one for each category where there are several.

    Each finding has a question, and the orders of a pair of answers by the metric and the judge.
    """
    own = {categories.get(question) for question, _, _ in found}
    for category in (None, *(sorted(own - {None}, key=str) if len(own - {None}) > 1 else ())):
        counted = [one for one in found if category in {None, categories.get(one[0])}]
        if not counted:
            continue
        questions, places = numbered(question for question, _, _ in counted)
        groups = [categories.get(key) for key in questions] if is_fixed(categories) else None
        agreed = [0.5 if by_metric == TIE else float(by_metric == first) for _, by_metric, first in counted]
        estimate = ratio(places, agreed, 1.0, groups=groups, seed=seed, bounds=(0.0, 1.0))
        tied = agreed.count(0.5)
        yield {"category": category, "agree": estimate, "n": len(counted), "tied": tied}
