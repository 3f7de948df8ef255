"""The same items under several judges -> whether a judge favours the models of its own family.

    scores     self_preference = (own_J - rest_J) - (own_O - rest_O)
    win rates  self_preference = rate_J - rate_O

own and rest: mean scores of the models of the judge's family and of all others; rate: the win rate of the family's
models against the others, a tie half; J: under this judge, O: the mean of the judges of other families. A stricter
judge cancels out, and so does a strong family. For win rates the second difference is built in: what the family's
models win the others lose, and pairs within the family or without it are uninformative and left out.

Judge gpt-5 gives gpt-4 a mean of 9 and the rest 7, two other judges give 8 and 6.5: (9 - 7) - (8 - 6.5) = +0.5. Under
gpt-5 gpt-4 wins 62% of its pairs, under the others 55%: +7 points.

Only items (answers or pairs) count that this judge and at least one judge of another family judged. Of scores, every
question counts once, with its difference between the mean over its own items and the mean over the rest; questions
without one of the two are left out. Of pairs, every pair counts once. Intervals resample questions (see `bootstrap`).
It cannot distinguish a judge that favours its family from one that recognises its strengths better.

A family is the part of a name before the first `-` or `/`, in lower case (gpt-4 and gpt-5: gpt), unless a mapping
names another: names such as openai/gpt-4 need one.

Source: Zheng et al. 2023 (arXiv 2306.05685), section 3.3 and figure 3b, which compare win rates by judge with those by
humans (gpt-4 +10%, claude-v1 +25%) without intervals; the second difference is that of differences in differences.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from harness.old.judgments.observations import Bools
from harness.old.meta_evaluation.contingency import quotient
from harness.old.meta_evaluation.report import Report, asked, ratio
from harness.old.records import Mode
from harness.old.results.matrix import Floats, Matrix, Pairs, matrix
from harness.old.results.matrix import pairs as pair_arrays
from harness.old.results.panel import Heard, panel_grades, panel_pairs
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import NONE, Estimate, Resampling, estimates
from harness.old.written import takes_only

LEVELS = ("own_by_judge", "own_by_others", "rest_by_judge", "rest_by_others")
"""Mean scores of the family's models and of the rest, by the judge and by the others; of pairs win rates of the family.
"""


def family_of(name: str, families: Mapping[str, str] | None = None) -> str:
    """Return the family of a model or judge: as `families` states for its name, else the part before `-` or `/`."""
    if families is not None and name in families:
        return families[name]
    return re.split(r"[-/]", name, maxsplit=1)[0].lower()


def self_preference(
    panel: Heard[Matrix] | Heard[Pairs], *, families: Mapping[str, str] | None = None, **how: Unpack[Resampling]
) -> list[dict[str, Any]]:
    """Return a row for each judge: its rating of its family's models, compared with that of other judges.

    `own` are the models of the family that were judged, `others` the judges of other families; `n` counts the answers
    or pairs that count, `left_out` those without a verdict of this judge or of any judge of another family, or on
    questions that lack one kind. Without an estimate, `why_not` says why.
    """
    items, rows = panel.items, []
    for judge, by_judge in zip(panel.judges, panel.said, strict=True):
        family = family_of(judge, families)
        own = np.array([family_of(model, families) == family for model in items.models], dtype=bool)
        others = [name for name in panel.judges if family_of(name, families) != family]
        against = panel.said[[panel.judges.index(name) for name in others]]
        count = (~np.isnan(against)).sum(axis=0)
        by_others = quotient(np.nansum(against, axis=0), count)
        there = np.stack([~np.isnan(by_judge), count > 0])
        if isinstance(items, Pairs):
            there &= own[items.model_1] != own[items.model_2]
        both, sides = np.asarray(there.all(axis=0)), (by_judge, by_others)
        if isinstance(items, Matrix):
            n, levels, found = _graded(items, own, both, sides, how)
        else:
            n, levels, found = _paired(items, own, both, sides, how)
        models = tuple(model for model, is_own in zip(items.models, own, strict=True) if is_own)
        row: dict[str, Any] = {"judge": judge, "family": family, "own": models, "others": tuple(others)}
        row |= dict(zip(LEVELS, levels or [None] * 4, strict=True)) | {"difference": found}
        counts = {"n": n, "left_out": int(there.any(axis=0).sum()) - n}
        why_not = None if n else _why_not(judge, family, own, others, paired=isinstance(items, Pairs))
        rows.append(row | counts | {"why_not": why_not})
    return rows


def _graded(
    items: Matrix, own: Bools, both: Bools, sides: tuple[Floats, Floats], how: Resampling
) -> tuple[int, list[float | None], Estimate]:
    """Return how many answers count, the `LEVELS`, and the difference; `sides` are the scores by judge and others."""
    own = np.repeat(own, len(items.turns))  # question × (model and turn)
    both = both.reshape(len(items.questions), -1)
    scores = [values.reshape(both.shape) for values in sides]
    used = np.asarray((both & own).any(axis=1) & (both & ~own).any(axis=1))
    if not used.any():
        return 0, [], NONE
    kinds = [both & kind & used[:, None] for kind in (own, ~own)]
    means = [_by_question(values, kind) for kind in kinds for values in scores]
    value = (means[0] - means[2]) - (means[1] - means[3])
    found = estimates(value[:, None], used.astype(np.float64)[:, None], **how)
    return int(sum(kind.sum() for kind in kinds)), [float(mean[used].mean()) for mean in means], found[0]


def _paired(
    items: Pairs, own: Bools, both: Bools, sides: tuple[Floats, Floats], how: Resampling
) -> tuple[int, list[float | None], Estimate]:
    """Return how many pairs count, the `LEVELS` (of the others there are none), and the difference."""
    if not both.any():
        return 0, [], NONE
    rates = [np.where(own[items.model_1], values, 1.0 - values)[both] for values in sides]
    apart = rates[0] - rates[1]
    found = ratio(items.question[both], apart, 1.0, len(items.questions), bounds=(-1.0, 1.0), **how)
    return int(both.sum()), [*(float(own.mean()) for own in rates), None, None], found


def _why_not(judge: str, family: str, own: Bools, others: Sequence[str], *, paired: bool) -> str:
    """Return why there is no estimate for a judge."""
    if not own.any():
        return f"no model of the family {family} was judged"
    if own.all():
        return f"only models of the family {family} were judged"
    if not others:
        return f"all judges are of the family {family}"
    pair = "pair of a model of the family with another one"
    item = pair if paired else "question with answers of the family and of other models"
    return f"no {item} was judged by {judge} and by a judge of another family"


def _by_question(values: Floats, chosen: Bools) -> Floats:
    """Return the mean of the chosen values of each question; 0 where none is chosen."""
    total, count = np.where(chosen, values, 0.0).sum(axis=1), np.asarray(chosen.sum(axis=1))
    mean: Floats = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
    return mean


@takes_only(Words.__annotations__)
def judge_self(
    mode: Mode | None = None, *, families: Mapping[str, str] | None = None, **words: Unpack[Words]
) -> Report:
    """Return for each of several judges whether it favours the models of its own family, compared with other judges.

    `judge_model` are the judges (default: all that there are), `families` names the family of a model or judge
    if its name does not; see `Words` for the other keywords.

    Raises:
        UsageError: there are fewer than two judges, or they had different judge sets.
    """
    given = asked(Query.of(mode, **words)._replace(every_judge=True))
    records, seed, groups = given.verdicts, given.query.seed, given.subject.categories or None
    judges = list(dict.fromkeys(source.judge for source in given.sources))
    own = {judge: records.keep(lambda case, judge=judge: case.source.judge == judge) for judge in judges}  # type: ignore[misc]
    panel: Heard[Matrix] | Heard[Pairs]
    if records.paired:
        panel = panel_pairs({judge: pair_arrays(judged, groups) for judge, judged in own.items()})
    else:
        panel = panel_grades({judge: matrix(judged, groups) for judge, judged in own.items()})
    found = self_preference(panel, families=families, seed=seed)
    item = "pairs" if records.paired else "answers"
    notes = [
        "difference: how much better the models of the judge's family fare under it than under the others; it cannot "
        "distinguish a judge that favours them from one that sees better what they are good at",
        f"n: {item} with a verdict of the judge and of a judge of another family",
    ]
    guessed = [name for name in (*judges, *panel.items.models) if "/" in name and name not in (families or {})]
    if guessed:
        example = f"{family_of(guessed[0])} of {guessed[0]}"
        notes.append(f"families are the first part of a name, such as {example}; --family NAME=FAMILY says otherwise")
    return given.report("self", found, notes)
