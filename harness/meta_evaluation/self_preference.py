"""The same items under several judges -> whether a judge favours the models of its own family.

    scores     self_preference = (own_J - rest_J) - (own_O - rest_O)
    win rates  self_preference = rate_J - rate_O

own and rest: mean scores of the models of the judge's family and of all others; rate: the win rate of the family's
models against the others, a tie half; J: under this judge, O: the mean of the judges of other families. That a judge is
stricter than others cancels out, and so does that its family is good. For win rates the second difference is built in:
what the family's models win the others lose, and pairs within the family or without it say nothing and are left out.

Judge gpt-5 gives gpt-4 a mean of 9 and the rest 7, two other judges give 8 and 6.5: (9 - 7) - (8 - 6.5) = +0.5. Under
gpt-5 gpt-4 wins 62% of its pairs, under the others 55%: +7 points.

Only items (answers or pairs) count that this judge and at least one judge of another family judged. Of scores, every
question counts once, with its difference between the mean over its own items and the mean over the rest; questions
without one of the two are left out. Of pairs, every pair counts once. Intervals resample questions (see `bootstrap`).
It cannot distinguish a judge that favours its family from one that sees better what its family is good at.

A family is the part of a name before the first `-` or `/`, in small letters (gpt-4 and gpt-5: gpt), unless a mapping
says otherwise: names such as openai/gpt-4 need one.

Source: Zheng et al. 2023 (arXiv 2306.05685), section 3.3 and figure 3b, which compare win rates by judge with those by
humans (gpt-4 +10%, claude-v1 +25%) without intervals; the second difference is that of differences in differences.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from harness.judgments.observations import Bools
from harness.meta_evaluation.report import NO_ESTIMATE, Report, asked, ratio
from harness.records import Mode
from harness.results.matrix import Floats, Ints, Matrix, Pairs, matrix
from harness.results.matrix import pairs as pair_arrays
from harness.results.panel import Heard, panel_grades, panel_pairs
from harness.results.query import Query, Words
from harness.results.statistics.bootstrap import Estimate, Resampling, estimates


def family_of(name: str, families: Mapping[str, str] | None = None) -> str:
    """Return the family of a model or judge: what `families` says of its name, else the part before `-` or `/`."""
    if families is not None and name in families:
        return families[name]
    return re.split(r"[-/]", name, maxsplit=1)[0].lower()


def graded_self_preference(
    panel: Heard[Matrix], *, families: Mapping[str, str] | None = None, **how: Unpack[Resampling]
) -> list[dict[str, Any]]:
    """Return a row for each judge: the scores of its family's models under it, against those under other judges.

    `own` are the models of the family that were judged, `others` the judges of other families; `n` counts the answers
    that count, `left_out` those without a verdict of this judge or of any judge of another family, or on questions that
    lack one kind. Where there is no estimate, `why_not` says why.
    """
    rows = []
    judges, questions = panel.said.shape[:2]
    flat = panel.said.reshape(judges, questions, -1)  # question × (model and turn)
    for at, judge in enumerate(panel.judges):
        case = _Case(judge, at, panel.judges, panel.items.models, families)
        met = case.compared(flat)
        own = np.repeat([model in case.own for model in panel.items.models], len(panel.items.turns))
        used = (met.both & own).any(axis=1) & (met.both & ~own).any(axis=1)
        kinds = [met.both & kind & used[:, None] for kind in (own, ~own)]
        n = int(sum(kind.sum() for kind in kinds))
        left_out = int(met.seen.sum()) - n
        if why_not := case.why_not(n, "question with answers of the family and of other models"):
            rows.append(case.row(n, left_out, why_not))
            continue
        means = [_by_question(values, kind) for kind in kinds for values in (met.by_judge, met.by_others)]
        value = (means[0] - means[2]) - (means[1] - means[3])
        counts = used.astype(np.float64)
        found = estimates(value[:, None], counts[:, None], **how)
        rows.append(case.row(n, left_out, None, [float(mean[used].mean()) for mean in means], found[0]))
    return rows


def paired_self_preference(
    panel: Heard[Pairs], *, families: Mapping[str, str] | None = None, **how: Unpack[Resampling]
) -> list[dict[str, Any]]:
    """Return a row for each judge: the win rate of its family's models under it, against that under other judges."""
    rows = []
    for at, judge in enumerate(panel.judges):
        case = _Case(judge, at, panel.judges, panel.items.models, families)
        met = case.compared(panel.said)
        own = np.array([model in case.own for model in panel.items.models], dtype=bool)
        first, second = own[panel.items.model_1], own[panel.items.model_2]
        both = met.both & (first != second)
        n = int(both.sum())
        left_out = int((met.seen & (first != second)).sum()) - n
        if why_not := case.why_not(n, "pair of a model of the family with another one"):
            rows.append(case.row(n, left_out, why_not))
            continue
        rates = [np.where(first, values, 1.0 - values)[both] for values in (met.by_judge, met.by_others)]
        apart = rates[0] - rates[1]
        found = ratio(panel.items.question[both], apart, 1.0, len(panel.items.questions), bounds=(-1.0, 1.0), **how)
        rows.append(case.row(n, left_out, None, [*(float(own.mean()) for own in rates), None, None], found))
    return rows


class _Met(NamedTuple):
    """Verdicts of a judge and of those of other families on the same items."""

    by_judge: Floats
    by_others: Floats
    """The mean of the others that judged the item."""
    both: Bools
    """Where there are both."""
    seen: Bools
    """Where there is either."""


class _Case:
    """One judge, its family's models, and the judges that it is compared with."""

    def __init__(
        self, judge: str, at: int, judges: Sequence[str], models: Iterable[str], families: Mapping[str, str] | None
    ) -> None:
        self.judge, self.at = judge, at
        self.family = family_of(judge, families)
        self.models = tuple(models)
        self.own = tuple(model for model in self.models if family_of(model, families) == self.family)
        self.against = [place for place, name in enumerate(judges) if family_of(name, families) != self.family]
        self.others = tuple(judges[place] for place in self.against)

    def compared(self, values: Floats) -> _Met:
        """Return the verdicts of this judge beside those of the judges of other families; axis 0 is the judge."""
        by_judge, by_others = values[self.at], values[self.against]
        judged, known = ~np.isnan(by_judge), ~np.isnan(by_others)
        count: Ints = np.asarray(known.sum(axis=0))
        total = np.where(known, by_others, 0.0).sum(axis=0)
        mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return _Met(by_judge, mean, judged & (count > 0), judged | (count > 0))

    def why_not(self, n: int, item: str) -> str | None:
        """Return why there is no estimate for this judge, or None."""
        if not self.own:
            return f"no model of the family {self.family} was judged"
        if len(self.own) == len(self.models):
            return f"only models of the family {self.family} were judged"
        if not self.others:
            return f"all judges are of the family {self.family}"
        return None if n else f"no {item} was judged by {self.judge} and by a judge of another family"

    def row(
        self,
        n: int,
        left_out: int,
        why_not: str | None,
        levels: Sequence[float | None] = (None, None, None, None),
        difference: Estimate = NO_ESTIMATE,
    ) -> dict[str, Any]:
        """Return the row; `levels` are own by the judge and by the others, then rest by the judge and by the others."""
        about = {"judge": self.judge, "family": self.family, "own": self.own, "others": self.others}
        names = ("own_by_judge", "own_by_others", "rest_by_judge", "rest_by_others")
        counts = {"n": n, "left_out": left_out, "why_not": why_not}
        return about | dict(zip(names, levels, strict=True)) | {"difference": difference} | counts


def _by_question(values: Floats, chosen: Bools) -> Floats:
    """Return the mean of the chosen values of each question; 0 where none is chosen."""
    total, count = np.where(chosen, values, 0.0).sum(axis=1), np.asarray(chosen.sum(axis=1))
    mean: Floats = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
    return mean


def judge_self(
    mode: Mode | None = None, *, families: Mapping[str, str] | None = None, **words: Unpack[Words]
) -> Report:
    """Return for each of several judges whether it favours the models of its own family, against the other judges.

    `judge_model` are the judges (default: all that there are), `families` says of which family a model or judge is
    where its name does not; see `Words` for what else can be asked for.

    Raises:
        UsageError: there are fewer than two judges, or they had different judge sets.
    """
    given = asked(Query.of(mode, **words)._replace(every_judge=True))
    records, seed, groups = given.judged, given.query.seed, given.subject.categories or None
    judges = list(dict.fromkeys(source.judge for source in given.sources))
    own = {judge: records.keep(lambda case, judge=judge: case.source.judge == judge) for judge in judges}  # type: ignore[misc]
    if records.paired:
        paired = panel_pairs({judge: pair_arrays(judged, groups) for judge, judged in own.items()})
        found = paired_self_preference(paired, families=families, seed=seed)
    else:
        graded = panel_grades({judge: matrix(judged, groups) for judge, judged in own.items()})
        found = graded_self_preference(graded, families=families, seed=seed)
    note = (
        "difference: how much better the models of the judge's family fare under it than under the others; it cannot "
        "distinguish a judge that favours them from one that sees better what they are good at"
    )
    return given.report("self", found, [note])
