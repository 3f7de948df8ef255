"""Whether the judge of two runs has changed: what it gives the same answers now and then.

    old run     answer X of question 81, by hash: 7
    new run     the same answer, prompt and parameters: 8      the judge gives it 1 more
    anchors     answers of the old run that were judged anew:  the same, whatever the new run holds

Equal rows are those with equal `made_from`: question, conversation, reference, template and
parameters. A copy of a judgment, or a reply from a cache, says nothing about the judge and is left
out. Rows of both runs that are equal count as difference 0 of the models: their answers are the
same, so what differs is the judge.

    shift      mean of (now − then) over such answers, by question
    gate       (new − old) − share · shift      share: of the verdicts that are of other answers

Both are means of the same questions, so their influences are subtracted question by question, which
counts the covariance (as of any two estimates, see `estimate`). With few anchors the error of the
shift is the larger one, so t has the degrees of freedom of the fewer questions.

Source: linking two scales by common items, as in Kolen and Brennan, "Test Equating, Scaling, and
Linking" 2014, chapter 4 (mean equating with an anchor).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
import numpy as np

from harness.results.estimate import LEAST, LEVEL, Estimate, Fixed, ratio
from harness.results.panels import Panel
from harness.results.reading import whole_rows
from harness.types import Judgment, QuestionId, content_hash

ItemKey: TypeAlias = tuple[QuestionId, int, str]
"""Question id, turn and, of pairs, the opponent; empty: none."""
Outcomes: TypeAlias = dict[str, dict[ItemKey, float]]
"""Verdicts on each model; NaN: asked for, not read."""
Differences: TypeAlias = Mapping[QuestionId, Sequence[float]]


def outcomes(panel: Panel, baseline: str | None) -> Outcomes:
    """Return the verdicts on each model; of pairs on each but the baseline."""
    scores = panel.combined.of(metric=panel.metrics[0]).mirrored()
    ids, names = scores.question_ids, (*scores.models, "")
    found: Outcomes = {}
    columns = (scores.question, scores.turn, scores.model, scores.opponent, scores.value)
    for question, turn, model, opponent, value in zip(*(c.tolist() for c in columns), strict=True):
        found.setdefault(names[model], {})[ids[question], turn, names[opponent]] = value
    if scores.paired:
        found.pop(baseline or "", None)
    return found


def mean_by_question(
    differences: Differences, questions: Sequence[QuestionId] | None = None
) -> Estimate:
    """Return the mean of differences with its error by question.

    `questions` fixes their order, for estimates that are subtracted; those that lack some, and
    their influences, count for nothing.
    """
    ids = differences.keys() if questions is None else questions
    found = [differences.get(question, ()) for question in ids]
    return ratio(np.array([sum(each) for each in found]), np.array([len(each) for each in found]))


@dataclass(frozen=True, eq=False)
class Drift:
    """What two runs say of their judge."""

    differences: Differences = field(default_factory=dict)
    """Of the same answers, the judge's verdict now less that of then."""
    same: frozenset[tuple[str, ItemKey]] = frozenset()
    """What the new run and the old one judged of the same answer, by the new names."""
    anchored: bool = False
    """Whether answers of the old run were judged anew."""
    snapshots: str = ""
    """How the provider calls the judge now and then, if it has changed; empty: it has not."""
    stale: str = ""
    """How it called the judge of the anchors, if not as in the new run."""

    @property
    def shift(self) -> Estimate:
        """How much more the judge gives the same answers now."""
        return mean_by_question(self.differences)

    @property
    def known(self) -> bool:
        """Whether there are enough answers to say something of the shift."""
        return self.shift.n >= LEAST

    def within(self, margin: float | None) -> bool:
        """Return whether the shift is surely within half a margin; without one, not significant."""
        shift = self.shift
        if margin is None:
            return shift.p is None or shift.p >= LEVEL
        low, high = shift.interval or (shift.value, shift.value)  # all equal: the value itself
        return max(-low, high) <= margin / 2 + 1e-12


@dataclass
class _Origin:
    """What the verdict on one item was made from, and the judge's words."""

    made: set[object] = field(default_factory=set)
    said: set[Any] = field(default_factory=set)
    anew: bool = True
    """Whether the judge was really asked."""


@dataclass
class _Origins:
    """What the judgments of a run were made from."""

    items: dict[tuple[QuestionId, int, frozenset[str]], _Origin] = field(default_factory=dict)
    snapshots: dict[str, set[str]] = field(default_factory=dict)
    """By judge, how its provider called it."""

    def of(self, model: str, item: ItemKey) -> _Origin | None:
        question, turn, opponent = item
        return self.items.get((question, turn, frozenset({model, opponent} - {""})))


def _origins(panel: Panel) -> _Origins:
    found = _Origins()
    for _, row in whole_rows(panel.scores) if panel.form != "vote" else ():
        if not isinstance(row, Judgment):
            continue
        key = row.question_id, row.turn, frozenset(row.models)
        origin = found.items.setdefault(key, _Origin())
        if row.made_from is None:
            origin.made.add(object())  # a row that does not say what it was made from equals none
        else:
            made = msgspec.json.encode(row.made_from).decode()
            about = content_hash(row.judge_model, row.criterion, row.sample, made)
            origin.made.add(about)
        origin.said.add((row.tstamp, row.judgment, row.g1_judgment, row.g2_judgment))
        origin.anew &= not (row.details and all(detail.from_cache for detail in row.details))
        names = found.snapshots.setdefault(row.judge_model, set())
        names.update(call.provider_model for call in row.details if call.provider_model)
    return found


def contents_of(panel: Panel, models: Sequence[str]) -> str:
    """Return the hash of the answers of some models that a run judged: what a candidate is."""
    parts = set()
    for _, row in whole_rows(panel.scores):
        if not isinstance(row, Judgment):
            parts.add((str(row.question_id), row.turn, content_hash(msgspec.to_builtins(row))))
        elif set(row.models) & set(models):
            made = row.made_from.conversation if row.made_from else None
            said = content_hash(row.judgment, row.g1_judgment, row.g2_judgment)
            parts.add((str(row.question_id), row.turn, made or said))
    return content_hash(sorted(parts))


def drift_of(
    new: Panel,
    old: Panel,
    anchors: Panel | None,
    *,
    baseline: str | None,
    new_names: Mapping[str, str],
) -> Drift:
    """Return what the judge gives the same answers now and then.

    Args:
        new: the run in question.
        old: the other run.
        anchors: answers of the other run, judged anew.
        baseline: of pairs, the opponent of all; without one, no shift of pairs is known.
        new_names: by the name of a model in the other run its name in this one.
    """
    then, values = _origins(old), outcomes(old, baseline)
    by_made: dict[tuple[QuestionId, int, frozenset[object]], tuple[str, ItemKey]] = {}
    for model, verdicts in values.items():
        for item in verdicts:
            if (origin := then.of(model, item)) is not None:
                by_made.setdefault((*item[:2], frozenset(origin.made)), (model, item))
    differences: dict[QuestionId, list[float]] = defaultdict(list)
    same, counted_anchors = set(), 0
    runs = [_origins(panel) for panel in (new, anchors) if panel is not None]
    for panel, origins in zip((new, anchors), runs, strict=False):
        assert panel is not None
        for model, verdicts in outcomes(panel, baseline).items():
            for item, value in verdicts.items():
                now = origins.of(model, item)
                if now is None:
                    continue
                twin = by_made.get((*item[:2], frozenset(now.made)))
                if twin is None:
                    continue
                old_model, old_item = twin
                if panel is new and new_names.get(old_model, old_model) == model:
                    same.add((model, item))
                before = then.of(old_model, old_item)
                copied = before is None or bool(now.said & before.said) or not now.anew
                if copied or (item[2] and baseline is None):
                    continue
                change = value - values[old_model][old_item]
                if change == change:  # both were read
                    differences[item[0]].append(change)
                    counted_anchors += panel is anchors
    here, there = runs[0].snapshots, then.snapshots
    stale = _changed(runs[1].snapshots, here) if anchors is not None else ""
    anchored = counted_anchors > 0
    return Drift(differences, frozenset(same), anchored, _changed(here, there), stale)


def _changed(now: Mapping[str, set[str]], then: Mapping[str, set[str]]) -> str:
    """Return how providers call judges now and then, of the first that is called otherwise."""
    for judge, names in now.items():
        before = then.get(judge, set())
        if names and before and names - before:
            return f"{judge} is {', '.join(sorted(names))}, and was {', '.join(sorted(before))}"
    return ""


def subtract_shift(differences: Differences, drift: Drift, weight: float) -> Estimate:
    """Return new − old less `weight` times the judge's shift, with the error of both.

    The degrees of freedom are those of the fewer questions, and so is n / (n − 1).
    """
    questions = [*differences, *(q for q in drift.differences if q not in differences)]
    models, judge = (mean_by_question(each, questions) for each in (differences, drift.differences))
    both = models - judge.scaled(weight)
    n = min(models.n, judge.n)
    moves = both.influence[~np.isnan(both.influence)]
    se = float(np.sqrt(moves @ moves * n / (n - 1))) if n > 1 else float("nan")
    return Estimate(both.value, np.empty(0), models.count, fixed=Fixed(n, se))
