"""Judgments without a verdict -> the first note of a table: how many, why, and bounds for the averages.

    12 of 160 judgments (8%) give no verdict and are left out: 9 no score, 3 two scores; such as question 81, x: "Sorry"
    bounds with failed verdicts as the worst or the best: x 6.10 to 6.91

The bounds hold whatever made the judge fail: if it failed on the bad answers, the true average is near the
lower one.

Source: Manski (1990), Am. Econ. Rev. 80, 319, for bounds without an assumption about what is missing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.old.judgments.case import CONFIDENCE, CORRECT, FACTS, SCORE, SHARE, TOTAL, WIN, Case
from harness.old.judgments.observations import Observations, numbered
from harness.old.judgments.sums import Sums
from harness.old.names import counted, listed
from harness.old.records import QuestionId, Scale, Source
from harness.old.results.finding import Found
from harness.old.results.measured import UNSAID, reasons_without

if TYPE_CHECKING:  # rows are read again only where some have no verdict
    from harness.old.judgments.row import JudgedRow

LOUD = 0.01
"""From this share of judgments without a verdict on, the note comes first."""
CLUSTERED = 0.1
"""A model lacks clearly more verdicts than another one from this difference of their shares on."""
_REASONS, _MODELS, _LETTERS = 3, 3, 60


class Bounds(NamedTuple):
    """The bounds of a model's average, or win rate with ties as half, whatever the failed verdicts would have been."""

    model: str
    failed: int
    n: int
    """Judgments with a verdict."""
    low: float
    """All that failed are the worst."""
    high: float
    """All that failed are the best."""


def failure_notes(
    found: Sequence[Found],
    shown: Observations,
    whole: Callable[[Observations], Observations] | None = None,
    *,
    baseline: str | None = None,
    several: bool = False,
) -> list[str]:
    """Return the note on judgments without a verdict, the first of all notes; None if they are few.

    `shown` is what is in the table; reasons and the example are from the files' rows about it. `whole` aggregates the
    grades of a conversation's turns, if the table shows that. A `baseline` has no row. If `several` judges are
    shown, no row covers all their judgments, and so none has such bounds.
    """
    lost, every, failed = _lost(shown)
    if not failed:
        return []
    told = f"{failed} of {every} judgments ({failed / every:.0%}) give no verdict and are left out"
    spans = [] if several else _spans(shown, whole, "failed verdicts as the worst or the best", baseline)
    return [told + _reasons(found, lost), *spans, *_clustered(shown, baseline)]


def _clustered(shown: Observations, baseline: str | None) -> list[str]:
    """Return which models lack clearly more of their verdicts than another one: what is left is no fair sample."""
    every = lost_by(shown, lambda case: case.models).items()
    shares = {model: failed / n for model, (failed, n) in every if model != baseline}
    least = min(shares.values(), default=0.0)
    most = [(share, model) for model, share in shares.items() if share > least + CLUSTERED]
    if not most:
        return []
    told = [f"{model} {share:.0%}" for share, model in sorted(most, reverse=True)]
    rest = "averages, ranks and comparisons are of the rest, and whatever made these fail may be in them"
    return [f"judgments that give no verdict are spread unevenly ({listed(told)}; the least {least:.0%}): {rest}"]


def lost_by(found: Observations, names: Callable[[Case], Sequence[str]]) -> dict[str, tuple[int, int]]:
    """Return for each name that cases have how many of its judgments give no verdict, and how many there are."""
    n, failed = np.zeros((2, len(found.cases)), dtype=np.int64)
    for part in found.parts():
        n += np.bincount(part.case_at, minlength=len(n))
        failed += np.bincount(part.case_at[part.failed], minlength=len(n))
    each: dict[str, tuple[int, int]] = {}
    for case, gone, there in zip(found.cases, failed.tolist(), n.tolist(), strict=True):
        for name in names(case) if there else ():
            lost, every = each.get(name, (0, 0))
            each[name] = lost + gone, every + there
    return each


def unmeasured_notes(found: Sequence[Found], shown: Observations, variant: str | None) -> list[str]:
    """Return the same of metrics: an answer that is empty, or too short for a metric, is in none of its means."""
    lost, every, failed = _lost(shown)
    if not failed:
        return []
    reasons: Counter[str] = Counter()
    for one in found:
        own = lost.keep(lambda case, one=one: case.source.judge_set == one.judge_set)  # type: ignore[misc]
        reasons += reasons_without(own, one.path, variant)
    why = [f"{reason} ({count})" for reason, count in reasons.most_common()]
    told = f"{failed} of {every} measurements have no number and are left out: {listed(why, _REASONS)}"
    return [told, *_spans(shown, None, "missing numbers as 0 or as 1")]


def _lost(shown: Observations) -> tuple[Observations, int, int]:
    """Return what has no verdict, how many judgments there are, and how many of them it is; 0 if they are few."""
    lost = shown.only(part.failed for part in shown.parts())
    every, failed = _judgments(shown), _judgments(lost)
    return lost, every, failed if failed >= LOUD * every else 0


def _spans(
    shown: Observations,
    whole: Callable[[Observations], Observations] | None,
    what: str,
    baseline: str | None = None,
) -> list[str]:
    """Return a note on the widest bounds of what the table shows, and how many there are besides: of averages or win
    rates, of the mean of each criterion, of the share of each label or, of short facts, of those that are correct."""
    metrics = [name for name in shown.metrics() if name not in {TOTAL, SHARE, CONFIDENCE, ""}]
    labels = any(case.source.form == "label" for case in shown.cases)
    facts, several = labels and {*metrics} <= {*FACTS}, labels or len(metrics) > 1
    found: list[tuple[float, str, Bounds]] = []
    for name in [CORRECT] if facts and CORRECT in metrics else metrics:
        own = shown.keep(lambda case, name=name: case.metric == name) if several else shown  # type: ignore[misc]
        scale = (0.0, 1.0) if own.paired or labels else own.scale()
        if scale is not None:
            of = f" {name.lower() if facts else name}" if several else ""
            each = (one for one in bounds(own, scale, whole) if one.failed and one.model != baseline)
            found.extend((one.low - one.high, one.model + of, one) for one in each)
    spans = [f"{who} {one.low:.2f} to {one.high:.2f}" for _, who, one in sorted(found)]
    more = f" and {len(spans) - _MODELS} more" if len(spans) > _MODELS else ""
    return [f"bounds with {what}: {'; '.join(spans[:_MODELS])}{more}"] if spans else []


def bounds(
    found: Observations, scale: Scale, whole: Callable[[Observations], Observations] | None = None
) -> list[Bounds]:
    """Return for each model the average with failed verdicts as the worst, and as the best; for pairs the win rate.

    With `whole`, that of conversations, in which a turn that failed may change what its conversation has.
    """
    if whole is not None:
        without = {own.model: own.failed for own in bounds(whole(found), scale)}
        ends = [bounds(whole(_filled(found, end)), scale) for end in scale]
        return [
            Bounds(least.model, without[least.model], least.n - without[least.model], least.low, most.high)
            for least, most in zip(*ends, strict=True)
        ]
    least, greatest = scale
    models, model_at = numbered(model for case in found.cases for model in case.models)
    sides = np.array(model_at, dtype=np.int64).reshape(len(found.cases), -1).T
    sums, failed = Sums(len(models)), np.zeros(len(models), dtype=np.int64)
    for part in found.parts():
        value = part.values()
        good = ~np.isnan(value)
        for own, side in zip((value, 1.0 - value), sides, strict=False):
            model = side[part.case_at]
            sums.add(model[good], own[good])
            failed += np.bincount(model[~good], minlength=len(models))
    rows = []
    for at, model in enumerate(models):
        total, n, lost = sums.sum([at]), sums.count([at]), int(failed[at])
        low, high = ((total + lost * end) / (n + lost) for end in (least, greatest))
        rows.append(Bounds(model, lost, n, low, high))
    return rows


def _filled(found: Observations, value: float) -> Observations:
    """Return the grades with every missing verdict replaced by this one."""
    return Observations.from_rows((case, asked, value if said != said else said) for case, asked, said in found.rows())


def _judgments(given: Observations) -> int:
    """Return by how many judgments these numbers are given: one gives several, of dimensions and of labels."""
    if {case.source.form for case in given.cases} <= {"grade", "pair"}:
        return len(given)
    of_case = np.array(numbered(case._replace(metric="") for case in given.cases)[1], dtype=np.int64)
    return len(np.unique(of_case[given.case_at] * len(given.asked) + given.asked_at))


def _reasons(found: Sequence[Found], lost: Observations) -> str:
    """Return the reasons, their counts and one example, as far as the rows state them."""
    from harness.old.judgments.row import rows_without_verdict

    failed = {
        _key(about.question_id, case.models, case.turn, case.metric, case.source) for case, about, _ in lost.rows()
    }
    counts: Counter[str] = Counter()
    example: str | None = None
    for path in dict.fromkeys(one.path for one in found):
        for row in rows_without_verdict(path):
            key = _key(row.question_id, row.models, row.turn, row.criterion, row.source)
            if key not in failed:
                continue
            failed.remove(key)  # of repeated rows, all without a verdict, one counts
            counts[_reason(row)] += 1
            example = example or _example(row)
    shown = counts.most_common(_REASONS)
    told = [f"{count} {reason}" for reason, count in shown]
    more = counts.total() - sum(count for _, count in shown)
    told += [counted(more, "other")] if more else []
    return (f": {', '.join(told)}" if told else "") + (example or "")


def _key(question: QuestionId, models: Sequence[str], turn: int, criterion: str | None, source: Source) -> object:
    """Return what identifies a judgment; of one that gives several numbers no metric is a criterion."""
    one = source.form in {"grade", "pair"} and criterion not in {SCORE, WIN}
    return question, frozenset(models), turn, criterion if one else None, source.judge, source.sample, source.choice


def _reason(row: "JudgedRow") -> str:
    """Return why a row has no verdict: of the first of its games that has none."""
    for words, game in zip(row.words, row.games or (None,), strict=False):
        if game is None:
            return str(words.details.get("verdict_reason") or UNSAID)
    return UNSAID


def _example(row: "JudgedRow") -> str | None:
    for words, game in zip(row.words, row.games or (None,), strict=False):
        if game is None and words.judgment is not None:
            text = " ".join(words.judgment.split())
            text = text if len(text) <= _LETTERS else "... " + text[-_LETTERS:]
            return f'; such as question {row.question_id}, {" and ".join(row.models)}: "{text}"'
    return None
