"""Several judges on the same items -> the results of each, of all together, and where they disagree.

    grades, also by criterion or dimension    together = mean of the judges' scores of an item
    pairs    together = the majority verdict; a tie if two verdicts are equally frequent
    labels   together = the majority label; none if two labels are equally frequent, counted as `undecided`
    disagreement = items on which not all judges agree / items       sd = their standard deviation (k - 1)

Three judges give an answer 8, 7 and 9: together 8, sd 1, they disagree. Two of three prefer x and one
y: x. One each for x, y and a tie: a tie. One each for three labels: no label, and the answer is in no rate of the
panel; a rule that picked a label there would favour that label.

Only items that every judge of the panel gave a score or verdict count, so that each judge alone and the panel are
compared on the same items; the others are left out and counted. Repeats of one judge on one item count as their mean
(for a verdict: a win where that is above one half). The numbers come from the functions of a table with one judge.
Intervals resample questions: all judges, turns and models of a question move together (see `bootstrap`).

Source: Verga et al. 2024 (arXiv 2404.18796), which pools scores by their mean and verdicts by majority; it has no rule
for ties.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, Unpack

import numpy as np

from harness.old.errors import UsageError
from harness.old.records import QuestionId
from harness.old.results.about import is_fixed
from harness.old.results.grades.aggregates import POOLED
from harness.old.results.grades.scores import scores
from harness.old.results.labels import Judgment, label_table
from harness.old.results.matrix import Floats, Ints, Matrix, Pairs, aligned, common_scale, label, places_of, tally
from harness.old.results.means import means_table
from harness.old.results.pairs.rates import RATES, rates
from harness.old.results.statistics.bootstrap import Resampling, estimates
from harness.old.results.table import ALL, Kind, Line, Made, Table

TOGETHER = "all together"
"""The name of the panel in the column for the judge."""
MEAN_RULE = "the mean of the judges' scores"
TIE_RULE = "the majority verdict; a tie if two verdicts are equally frequent"
LABEL_RULE = "the majority label; undecided if two labels are equally frequent"


@dataclass(frozen=True, slots=True)
class Panel:
    """The results of several judges on the same items."""

    judges: tuple[str, ...]
    table: Table
    """For each model, best of the panel first, a line for each judge and last one for all together."""
    disagreement: Table
    """How often the judges disagree, and for scores their standard deviation: for all, then by model; for grades
    by criterion or dimension, by these."""
    together: Any
    """The panel's result: a `Matrix` or `Pairs`, or the `Table` of labels or means as for one judge."""
    rule: str
    """How the panel combines its judges."""
    common: int
    """Items that all judges judged; of means, the grades of these."""
    left_out: int
    """Items that some judge did not judge."""

    def notes(self, *, verdicts: bool) -> list[str]:
        """Return what a reader must know: the rule, and of how many items; `verdicts` may be several of one item."""
        told, judges = f"all together: {self.rule}; {self.common}", len(self.judges)
        if verdicts:
            left_out = f"{self.left_out} left out because not all of them gave one"
            return [f"{told} verdicts on items with a verdict of all {judges} judges, {left_out}"]
        lost = f"{self.left_out} items that not all of them judged are left out for all"
        return [f"{told} items that all {judges} judges judged", *([lost] if self.left_out else [])]


Items = TypeVar("Items", Matrix, Pairs)


@dataclass(frozen=True, slots=True)
class Heard(Generic[Items]):
    """The results of several judges on the same items."""

    judges: tuple[str, ...]
    items: Items
    """The judged items, without verdicts."""
    said: Floats
    """Judges × items, in the shape of a matrix's scores or of the outcomes of pairs; NaN where a judge gave none."""

    @property
    def common(self) -> Any:
        """Which items all judges gave a score or verdict."""
        return (~np.isnan(self.said)).all(axis=0)

    @property
    def lost(self) -> Any:
        """Which items only some of them gave one."""
        return (~np.isnan(self.said)).any(axis=0) & ~self.common

    def by_model(self, values: Floats) -> Floats:
        """Return a number that items have, summed by question and model: questions × (all models, then each)."""
        items = self.items
        if isinstance(items, Matrix):
            own = values.sum(axis=2, dtype=np.float64)
            return np.concatenate([own.sum(axis=1, keepdims=True), own], axis=1)
        return summed(values, items.question, (items.model_1, items.model_2), len(items.questions), len(items.models))

    def disagreement(self, **how: Unpack[Resampling]) -> Table:
        """Return how often the judges disagree, and how much their scores vary: all models together, then each."""
        common = self.common
        said = np.where(common, self.said, 0.0)
        spread = self.by_model(said.std(axis=0, ddof=1)) if isinstance(self.items, Matrix) else None
        differ, counts, lost = map(self.by_model, (np.ptp(said, axis=0) > 1e-9, common, self.lost))
        return _disagreement(self.items.models, differ, spread, counts, lost, strata=self.items.strata, **how)


def grades_panel(judges: Mapping[str, Matrix], **how: Unpack[Resampling]) -> Panel:
    """Return the panel of several judges' grades.

    Raises:
        UsageError: there are fewer than two judges.
    """
    heard = panel_grades(judges)
    layers = _layers(heard)
    lines = [[_plain(line, POOLED) for line in scores(layer, **how) if line.group is ALL] for layer in layers]
    table = Table(_lines(heard.judges, lines), seed=how.get("seed", 0), beside=False, places=2)
    return _panel(heard, table, layers[-1], MEAN_RULE, **how)


def pairs_panel(judges: Mapping[str, Pairs], *, baseline: str | None = None, **how: Unpack[Resampling]) -> Panel:
    """Return the panel of several judges' pairs; `baseline` has no row.

    Raises:
        UsageError: there are fewer than two judges.
    """
    heard = panel_pairs(judges)
    said = heard.said  # of a judge asked several times of one pair what it mostly says
    alone = np.where(np.isnan(said), np.nan, np.select([said > 0.5, said < 0.5], [1.0, 0.0], 0.5))
    every = (np.where(heard.common, outcome, np.nan) for outcome in (*alone, majority(said)))
    layers = [heard.items._replace(outcome=outcome) for outcome in every]
    found = [rates(layer, baseline=baseline, **how) for layer in layers]
    lines = [[_plain(line, RATES[-1]) for line in own if line.group is ALL and line.turn is None] for own in found]
    table = Table(_lines(heard.judges, lines), "pairs", seed=how.get("seed", 0), beside=False)
    return _panel(heard, table, layers[-1], TIE_RULE, **how)


def _panel(heard: Heard[Any], table: Table, together: Any, rule: str, **how: Unpack[Resampling]) -> Panel:
    common, lost = (int(which.sum()) for which in (heard.common, heard.lost))
    return Panel(heard.judges, table, heard.disagreement(**how), together, rule, common, lost)


def _layers(heard: Heard[Matrix]) -> list[Matrix]:
    """Return the scores of each judge on the common items, and last their means; excluded are the lost items."""
    excluded = heard.lost.sum(axis=(0, 2)).astype(np.int64)
    every = (np.where(heard.common, layer, np.nan) for layer in (*heard.said, heard.said.mean(axis=0)))
    return [heard.items._replace(scores=layer, excluded=excluded) for layer in every]


def means_panel(judges: Mapping[str, Mapping[str, Matrix]], kind: Kind, **how: Unpack[Made]) -> Panel:
    """Return the panel of several judges' grades by criterion or dimension; each judge has a matrix for each."""
    seed = how.get("seed", 0)
    names = dict.fromkeys(name for own in judges.values() for name in own)
    shared = [name for name in names if all(name in own for own in judges.values())]
    panels = {name: panel_grades({judge: own[name] for judge, own in judges.items()}) for name in shared}
    layers = {name: _layers(own) for name, own in panels.items()}
    none = {name: np.zeros_like(own[-1].excluded) for name, own in layers.items()}
    tables = [
        means_table({name: own[at]._replace(excluded=none[name]) for name, own in layers.items()}, kind, **how)
        for at in range(len(judges) + 1)
    ]
    lost = [dict(zip(own[-1].models, own[-1].excluded.tolist(), strict=True)) for own in layers.values()]
    excluded: Counter[str] = sum(map(Counter, lost[:1] if kind == "dimension" else lost), Counter())
    by_judge = [
        [line._replace(fields={**line.fields, "excluded": excluded[line.model]}) for line in table.whole]
        for table in tables
    ]
    differ = [panel.disagreement(seed=seed).lines[0]._replace(model=name) for name, panel in panels.items()]
    table = tables[-1]._replace(lines=_lines(tuple(judges), by_judge))
    n = sum(line.fields["n"] for line in by_judge[-1])
    return Panel(tuple(judges), table, Table(differ, key=kind), tables[-1], MEAN_RULE, n, sum(excluded.values()))


def labels_panel(judges: Mapping[str, Sequence[Judgment]], **how: Unpack[Made]) -> Panel:
    """Return the panel of several judges' labels; `how` is that of `label_table`."""
    said = {judge: {row.item: row for row in rows} for judge, rows in judges.items()}
    every = list(dict.fromkeys(item for own in said.values() for item in own))
    common = [item for item in every if all(item in own and own[item].label is not None for own in said.values())]
    left_out = Counter(item[2] for item in {*every} - {*common})
    heard = [[own[item] for item in common] for own in said.values()]
    heard.append([_together(rows) for rows in zip(*heard, strict=True)])
    names = {row.label for rows in heard for row in rows if row.label is not None}
    tables = [label_table(rows, labels=names, **how) for rows in heard]
    by_judge = [[_labelled(line, left_out[line.model]) for line in table.whole] for table in tables]
    table = tables[-1]._replace(lines=_lines(tuple(judges), by_judge))
    called = {"unparsed": "undecided", "missing": "excluded"}
    whole = [
        line._replace(fields={called.get(name, name): own for name, own in line.fields.items()})
        for line in tables[-1].lines
    ]
    differ = _labels_differ(heard[:-1], left_out, how.get("groups"), how.get("seed", 0))
    together = tables[-1]._replace(lines=whole)
    return Panel(tuple(judges), table, differ, together, LABEL_RULE, len(common), sum(left_out.values()))


def _lines(judges: Sequence[str], found: Sequence[Sequence[Line]]) -> list[Line]:
    """Return for each model, in the order of the last judge's lines, its line of each judge."""
    by_judge = [{line.model: line for line in lines} for lines in found]
    return [
        own[model]._replace(judge=judge)
        for model in by_judge[-1]
        for judge, own in zip((*judges, TOGETHER), by_judge, strict=True)
    ]


def _plain(line: Line, column: str) -> Line:
    """Return the line without the drop, and with the interval of one column only."""
    own = {name: number.value for name, number in line.estimates().items() if name != column}
    return line._replace(fields={name: own.get(name, field) for name, field in line.fields.items() if name != "drop"})


def _labelled(line: Line, excluded: int) -> Line:
    """Return the line of a judge or of all: without a label are those of all on which they tie."""
    own = {name: field for name, field in line.fields.items() if name not in ("unparsed", "missing")}
    return line._replace(fields=own | {"undecided": line.fields["unparsed"], "excluded": excluded})


def _together(rows: Sequence[Judgment]) -> Judgment:
    """Return the majority label of one item (`LABEL_RULE`)."""
    most = Counter(row.label for row in rows).most_common(2)
    decided = len(most) == 1 or most[0][1] > most[1][1]
    chosen = next((row for row in rows if decided and row.label == most[0][0]), None)
    if chosen is None:
        return rows[0]._replace(label=None, share=None)
    return rows[0]._replace(label=chosen.label, share=chosen.share)


def panel_grades(judges: Mapping[str, Matrix]) -> Heard[Matrix]:
    """Return the grades of several judges on the same items; what only some of them saw is NaN for the others.

    Raises:
        UsageError: there are fewer than two judges.
    """
    questions, models = _named(judges)
    turns = sorted({turn for own in judges.values() for turn in own.turns})
    said = np.stack([aligned(own, list(questions), models, turns) for own in judges.values()])
    scale, fixed = common_scale((own.scale for own in judges.values()), said), _fixed_mix(judges)
    nothing = np.empty(0), np.empty(0, dtype=np.int64)
    items = Matrix(tuple(questions), tuple(questions.values()), tuple(models), tuple(turns), *nothing, scale, fixed)
    return Heard(tuple(judges), items, said)


def panel_pairs(judges: Mapping[str, Pairs]) -> Heard[Pairs]:
    """Return the verdicts of several judges on the same items, every pair turned the same way round.

    Raises:
        UsageError: there are fewer than two judges.
    """
    questions, models = _named(judges)
    rows, outcomes = [], []
    for own in judges.values():
        named = places_of(models, own.models)
        first, second = named[own.model_1], named[own.model_2]
        question = places_of(questions, own.questions)[own.question]
        rows.append(np.stack([question, own.turn, np.minimum(first, second), np.maximum(first, second)], axis=1))
        outcomes.append(np.where(first > second, 1.0 - own.outcome, own.outcome))
    items, place = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    said = np.full((len(judges), len(items)), np.nan)
    ends = np.cumsum([0, *map(len, outcomes)])
    for layer, values, start, end in zip(said, outcomes, ends, ends[1:], strict=False):
        good = ~np.isnan(values)
        own_place = place[start:end][good]
        counts = np.bincount(own_place, minlength=len(items))
        np.divide(np.bincount(own_place, values[good], len(items)), counts, out=layer, where=counts > 0)
    nothing = np.full(len(items), np.nan)
    question, turn, first, second = items.T
    named_by = tuple(questions), tuple(questions.values()), tuple(models), question, turn, first, second
    pairs = Pairs(*named_by, nothing, fixed_mix=_fixed_mix(judges))
    return Heard(tuple(judges), pairs, said)


def majority(outcomes: Floats) -> Floats:
    """Return the majority verdict on each item (`TIE_RULE`); NaN if a judge has none. Axis 0 is the judge."""
    votes = np.stack([(outcomes > 0.5).sum(axis=0), (outcomes == 0.5).sum(axis=0), (outcomes < 0.5).sum(axis=0)])
    most = votes == votes.max(axis=0)
    verdict = np.where(most.sum(axis=0) > 1, 0.5, np.select([most[0], most[1]], [1.0, 0.5], 0.0))
    return np.where(np.isnan(outcomes).any(axis=0), np.nan, verdict)


def _labels_differ(
    heard: Sequence[Sequence[Judgment]],
    left_out: Counter[str],
    groups: Mapping[QuestionId, Any] | None,
    seed: int,
) -> Table:
    """Return on how many items not all labels are the same: all models together, then each."""
    first = heard[0]
    models = list(dict.fromkeys(row.model for row in first))
    places = {key: at for at, key in enumerate(dict.fromkeys(row.question_id for row in first))}
    at = np.array([places[row.question_id] for row in first], dtype=np.int64)
    model = np.array([models.index(row.model) for row in first], dtype=np.int64)
    differ = np.array([len({row.label for row in rows}) > 1 for rows in zip(*heard, strict=True)])
    sums, counts = (summed(own, at, [model], len(places), len(models)) for own in (differ, np.ones(len(first))))
    inside = [label(groups.get(key)) for key in places] if groups and is_fixed(groups) else None
    missing = np.array([[sum(left_out.values()), *(left_out[model] for model in models)]], dtype=np.float64)
    return _disagreement(models, sums, None, counts, missing, strata=inside, seed=seed)


def _disagreement(
    models: Sequence[str],
    differ: Floats,
    spread: Floats | None,
    counts: Floats,
    missing: Floats,
    *,
    strata: Sequence[Any] | None,
    **how: Unpack[Resampling],
) -> Table:
    """Return the shares of items on which judges differ, and how far; each array is questions × (all, then models)."""

    def column(sums: Floats, most: float) -> Any:
        return estimates(sums, counts, strata, **how, bounds=(0.0, most))

    share, sd = column(differ, 1.0), None if spread is None else column(spread, np.inf)
    lines = []
    for at, model in enumerate(("all", *models)):
        apart = {"differ": share[at], **({} if sd is None else {"sd": sd[at]})}
        own = {"n": int(counts[:, at].sum()), "excluded": int(missing[:, at].sum())}
        lines.append(Line(model, apart | own))
    return Table(lines)


def summed(values: Any, question: Ints, sides: Sequence[Ints], questions: int, models: int) -> Floats:
    """Return a number that items have, summed by question and model: questions × (all models, then each).

    `sides` are the models of each item, of which a pair has two.
    """
    columns = (np.zeros_like(question), *(1 + side for side in sides))
    shape, times = (questions, 1 + models), len(columns)
    weights = np.tile(np.broadcast_to(values, question.shape), times)
    return tally(shape, np.tile(question, times), np.concatenate(columns), weights=weights)


def _named(judges: Mapping[str, Matrix] | Mapping[str, Pairs]) -> tuple[dict[QuestionId, Any], list[str]]:
    """Return the group of every question that a judge saw, in the order of the first judge that saw it, and all models.

    Raises:
        UsageError: there are fewer than two judges.
    """
    if len(judges) < 2:
        there = ", ".join(judges) or "none"
        raise UsageError(f"a panel needs two judges or more; there are judgments of: {there}")
    found: dict[QuestionId, Any] = {}
    for own in judges.values():
        for question, group in zip(own.questions, own.groups, strict=True):
            found.setdefault(question, group)
    return found, sorted({model for own in judges.values() for model in own.models})


def _fixed_mix(judges: Mapping[str, Matrix] | Mapping[str, Pairs]) -> bool:
    return any(own.fixed_mix for own in judges.values())
