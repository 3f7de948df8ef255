"""Several judges on the same items -> what each says alone, what they say together, and where they disagree.

    grades, also by criterion or dimension    together = mean of the judges' scores of an item
    pairs    together = the verdict that most judges give; a tie where two verdicts share the most
    labels   together = the label that most judges give; none where two labels share the most, counted as `undecided`
    disagreement = items on which not all judges say the same / items       sd = their standard deviation (k - 1)

Three judges give an answer 8, 7 and 9: together 8, sd 1, they disagree. Two of three say that x is better and one that
y is: x. One each for x, y and a tie: a tie. One each for three labels: no label, and the answer is in no rate of the
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
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from harness.errors import UsageError
from harness.records import QuestionId, Scale
from harness.results.about import is_fixed
from harness.results.grades.scores import scores
from harness.results.labels import Judgment, label_table
from harness.results.matrix import Floats, Grouped, Ints, Matrix, Pairs, common_scale, label
from harness.results.means import means_table
from harness.results.pairs.rates import rates
from harness.results.statistics.bootstrap import Resampling, estimates
from harness.results.table import ALL, Kind, Line, Table

TOGETHER = "all together"
"""What stands for the panel where a row names its judge."""
MEAN_RULE = "the mean of the judges' scores"
TIE_RULE = "the verdict that most judges give; a tie where two verdicts share the most"
LABEL_RULE = "the label that most judges give; none where two labels share the most, counted as undecided"


@dataclass(frozen=True, slots=True)
class Panel:
    """What several judges say of the same items."""

    judges: tuple[str, ...]
    table: Table
    """For each model, best of the panel first, a line for each judge and last one for all together."""
    disagreement: Table
    """How often the judges do not say the same, and for scores how far they are apart: of all, then by model; of grades
    by criterion or dimension, by these."""
    together: Any
    """What the panel says: a `Matrix` or `Pairs`, or the `Table` of labels or means as of one judge."""
    rule: str
    """How the panel comes to that."""
    common: int
    """Items that all judges judged; of means, the grades of these."""
    left_out: int
    """Items that some judge did not judge."""

    def notes(self, *, verdicts: bool) -> list[str]:
        """Return what a reader must know: the rule, and of how many items; `verdicts` may be several of one item."""
        told, judges = f"all together: {self.rule}; {self.common}", len(self.judges)
        if verdicts:
            left_out = f"{self.left_out} left out that not all of them gave"
            return [f"{told} verdicts on what all {judges} judges gave one, {left_out}"]
        lost = f"{self.left_out} items that not all of them judged are left out for all"
        return [f"{told} items that all {judges} judges judged", *([lost] if self.left_out else [])]


@dataclass(frozen=True, slots=True)
class PanelGrades(Grouped):
    """Scores of several judges on the same answers."""

    judges: tuple[str, ...]
    questions: tuple[QuestionId, ...]
    groups: tuple[Any, ...]
    models: tuple[str, ...]
    turns: tuple[int, ...]
    scores: Floats
    """Judges × questions × models × turns; NaN where a judge gave none."""
    scale: Scale | None = None
    """The least and the greatest score that there are; None where that is unknown."""
    fixed_mix: bool = False
    """As of a `Matrix`."""

    @property
    def common(self) -> Any:
        """Which items all judges gave a score."""
        return (~np.isnan(self.scores)).all(axis=0)

    @property
    def lost(self) -> Any:
        """Which items only some of them gave one."""
        return (~np.isnan(self.scores)).any(axis=0) & ~self.common

    def layers(self, excluded: Ints) -> list[Matrix]:
        """Return the scores of each judge on the common items, and last their means."""
        common, named = self.common, (self.questions, self.groups, self.models, self.turns)
        every = (*self.scores, self.scores.mean(axis=0))
        own = (np.where(common, layer, np.nan) for layer in every)
        return [Matrix(*named, layer, excluded, self.scale, self.fixed_mix) for layer in own]


@dataclass(frozen=True, slots=True)
class PanelPairs(Grouped):
    """Verdicts of several judges on the same pairs."""

    judges: tuple[str, ...]
    questions: tuple[QuestionId, ...]
    groups: tuple[Any, ...]
    models: tuple[str, ...]
    question: Ints
    """For each item, the index of its question."""
    turn: Ints
    model_1: Ints
    """For each item, the index of the model that comes first in `models`, whichever way round the rows name the two."""
    model_2: Ints
    outcomes: Floats
    """Judges × items; 1 if model_1 won, 0 if model_2 did, 0.5 for a tie, NaN where a judge gave no verdict."""
    fixed_mix: bool = False
    """As of a `Matrix`."""

    def layer(self, outcome: Floats) -> Pairs:
        """Return the items with these outcomes."""
        nothing = np.full(len(outcome), np.nan)
        named = self.questions, self.groups, self.models, self.question, self.turn, self.model_1, self.model_2
        return Pairs(*named, nothing, nothing, outcome, fixed_mix=self.fixed_mix)


def grades_panel(judges: Mapping[str, Matrix], **how: Unpack[Resampling]) -> Panel:
    """Return what several judges' grades say.

    Raises:
        UsageError: there are fewer than two judges.
    """
    panel = panel_grades(judges)
    layers = panel.layers(panel.lost.sum(axis=(0, 2)).astype(np.int64))
    found = [scores(table, **how) for table in layers]
    by_judge = [[_graded(line) for line in lines if line.group is ALL] for lines in found]
    differ = grade_disagreement(panel, **how)
    table = Table(_lines(panel.judges, by_judge), seed=how.get("seed", 0), beside=False, places=2)
    return Panel(panel.judges, table, differ, layers[-1], MEAN_RULE, int(panel.common.sum()), int(panel.lost.sum()))


def pairs_panel(judges: Mapping[str, Pairs], *, baseline: str | None = None, **how: Unpack[Resampling]) -> Panel:
    """Return what several judges' pairs say; `baseline` has no row of its own.

    Raises:
        UsageError: there are fewer than two judges.
    """
    panel = panel_pairs(judges)
    said = ~np.isnan(panel.outcomes)
    common = said.all(axis=0)
    # A judge asked several times of one pair: what it mostly says.
    alone = np.where(said, np.select([panel.outcomes > 0.5, panel.outcomes < 0.5], [1.0, 0.0], 0.5), np.nan)
    layers = [panel.layer(np.where(common, layer, np.nan)) for layer in (*alone, majority(panel.outcomes))]
    found = [rates(table, baseline=baseline, **how) for table in layers]
    by_judge = [[_compared(line) for line in lines if line.group is ALL and line.turn is None] for lines in found]
    differ = pair_disagreement(panel, **how)
    table = Table(_lines(panel.judges, by_judge), "pairs", seed=how.get("seed", 0), beside=False)
    lost = int((said.any(axis=0) & ~common).sum())
    return Panel(panel.judges, table, differ, layers[-1], TIE_RULE, int(common.sum()), lost)


def means_panel(
    judges: Mapping[str, Mapping[str, Matrix]],
    kind: Kind,
    *,
    groups: Mapping[QuestionId, Any] | None = None,
    by: str = "category",
    sure: bool = True,
    seed: int = 0,
) -> Panel:
    """Return what several judges' grades by criterion or dimension say; for each judge, the grades of each of them."""
    names = dict.fromkeys(name for own in judges.values() for name in own)
    shared = [name for name in names if all(name in own for own in judges.values())]
    panels = {name: panel_grades({judge: own[name] for judge, own in judges.items()}) for name in shared}
    layers = {name: own.layers(np.zeros(len(own.models), dtype=np.int64)) for name, own in panels.items()}
    tables = [
        means_table({name: own[at] for name, own in layers.items()}, kind, groups=groups, by=by, sure=sure, seed=seed)
        for at in range(len(judges) + 1)
    ]
    lost = [dict(zip(own.models, own.lost.sum(axis=(0, 2)).tolist(), strict=True)) for own in panels.values()]
    excluded: Counter[str] = sum(map(Counter, lost[:1] if kind == "dimension" else lost), Counter())
    by_judge = [
        [replace(line, fields={**line.fields, "excluded": excluded[line.model]}) for line in table.whole]
        for table in tables
    ]
    differ = [replace(grade_disagreement(panel, seed=seed).lines[0], model=name) for name, panel in panels.items()]
    table = replace(tables[-1], lines=_lines(tuple(judges), by_judge))
    n = sum(line.fields["n"] for line in by_judge[-1])
    return Panel(tuple(judges), table, Table(differ, key=kind), tables[-1], MEAN_RULE, n, sum(excluded.values()))


def labels_panel(
    judges: Mapping[str, Sequence[Judgment]],
    *,
    groups: Mapping[QuestionId, Any] | None = None,
    by: str = "category",
    sure: bool = True,
    seed: int = 0,
) -> Panel:
    """Return what several judges' labels say; `groups` as for `label_table`."""
    said = {judge: {row.item: row for row in rows} for judge, rows in judges.items()}
    every = list(dict.fromkeys(item for own in said.values() for item in own))
    common = [item for item in every if all(item in own and own[item].label is not None for own in said.values())]
    left_out = Counter(item[2] for item in {*every} - {*common})
    heard = [[own[item] for item in common] for own in said.values()]
    heard.append([_together(rows) for rows in zip(*heard, strict=True)])
    names = {row.label for rows in heard for row in rows if row.label is not None}
    tables = [label_table(rows, groups=groups, by=by, sure=sure, seed=seed, labels=names) for rows in heard]
    by_judge = [[_labelled(line, left_out[line.model]) for line in table.whole] for table in tables]
    table = replace(tables[-1], lines=_lines(tuple(judges), by_judge))
    called = {"unparsed": "undecided", "missing": "excluded"}
    whole = [
        replace(line, fields={called.get(name, name): own for name, own in line.fields.items()})
        for line in tables[-1].lines
    ]
    differ = _labels_differ(heard[:-1], left_out, groups, seed)
    together = replace(tables[-1], lines=whole)
    return Panel(tuple(judges), table, differ, together, LABEL_RULE, len(common), sum(left_out.values()))


def _lines(judges: Sequence[str], found: Sequence[Sequence[Line]]) -> list[Line]:
    """Return for each model, in the order of the last judge's lines, its line of each judge."""
    by_judge = [{line.model: line for line in lines} for lines in found]
    return [
        replace(own[model], judge=judge)
        for model in by_judge[-1]
        for judge, own in zip((*judges, TOGETHER), by_judge, strict=True)
    ]


def _graded(line: Line) -> Line:
    """Return the line without the drop, and with the interval of the average alone."""
    own = line.fields
    turns = {name: number.value for name, number in line.estimates().items() if name.startswith("turn_")}
    return replace(line, fields={**turns, **{name: own[name] for name in ("average", "n", "excluded")}})


def _compared(line: Line) -> Line:
    """Return the line with the interval of the last rate alone."""
    own = line.fields
    names = ("win", "loss", "tie", "win_rate", "loss_rate", "tie_rate", "win_rate_adjusted", "n", "excluded")
    plain = {name: own[name].value for name in ("win_rate", "loss_rate", "tie_rate")}
    return replace(line, fields={name: plain.get(name, own[name]) for name in names})


def _labelled(line: Line, excluded: int) -> Line:
    """Return the line of a judge or of all: without a label are those of all on which they tie."""
    own = {name: field for name, field in line.fields.items() if name not in ("unparsed", "missing")}
    return replace(line, fields=own | {"undecided": line.fields["unparsed"], "excluded": excluded})


def _together(rows: Sequence[Judgment]) -> Judgment:
    """Return what most judges say of one item (`LABEL_RULE`)."""
    most = Counter(row.label for row in rows).most_common(2)
    decided = len(most) == 1 or most[0][1] > most[1][1]
    chosen = next((row for row in rows if decided and row.label == most[0][0]), None)
    if chosen is None:
        return rows[0]._replace(label=None, share=None)
    return rows[0]._replace(label=chosen.label, share=chosen.share)


def panel_grades(judges: Mapping[str, Matrix]) -> PanelGrades:
    """Return the grades of several judges as one array; what only some of them saw is NaN for the others.

    Raises:
        UsageError: there are fewer than two judges.
    """
    _several(judges)
    questions, models = _questions(judges), _models(judges)
    turns = sorted({turn for own in judges.values() for turn in own.turns})
    scores = np.full((len(judges), len(questions), len(models), len(turns)), np.nan)
    q_at, m_at, t_at = (_index(list(names)) for names in (questions, models, turns))
    for layer, own in zip(scores, judges.values(), strict=True):
        at = np.ix_([q_at[q] for q in own.questions], [m_at[m] for m in own.models], [t_at[t] for t in own.turns])
        layer[at] = own.scores
    scale = common_scale((own.scale for own in judges.values()), scores)
    named = tuple(judges), tuple(questions), tuple(questions.values()), tuple(models), tuple(turns)
    return PanelGrades(*named, scores, scale, _fixed_mix(judges))


def panel_pairs(judges: Mapping[str, Pairs]) -> PanelPairs:
    """Return the verdicts of several judges as one array, every pair turned the same way round.

    Raises:
        UsageError: there are fewer than two judges.
    """
    _several(judges)
    questions, models = _questions(judges), _models(judges)
    q_at, m_at = _index(list(questions)), _index(models)
    heard: list[dict[tuple[int, int, int, int], list[float]]] = []
    for own in judges.values():
        said: dict[tuple[int, int, int, int], list[float]] = {}
        columns = (own.question.tolist(), own.turn.tolist(), own.model_1.tolist(), own.model_2.tolist())
        for q, turn, one, other, outcome in zip(*columns, own.outcome.tolist(), strict=True):
            first, second = m_at[own.models[one]], m_at[own.models[other]]
            if first > second:
                first, second, outcome = second, first, 1.0 - outcome
            said.setdefault((q_at[own.questions[q]], turn, first, second), []).append(outcome)
        heard.append(said)
    items = sorted({item for said in heard for item in said})
    outcomes = np.array([[_mean(said.get(item, ())) for item in items] for said in heard], dtype=np.float64)
    question, turns, model_1, model_2 = np.array(items, dtype=np.int64).reshape(-1, 4).T
    return PanelPairs(
        tuple(judges), tuple(questions), tuple(questions.values()), tuple(models), question, turns, model_1, model_2,
        outcomes, _fixed_mix(judges),
    )  # fmt: skip


def majority(outcomes: Floats) -> Floats:
    """Return what most judges say of each item (`TIE_RULE`); NaN where a judge says nothing. Axis 0 is the judge."""
    votes = np.stack([(outcomes > 0.5).sum(axis=0), (outcomes == 0.5).sum(axis=0), (outcomes < 0.5).sum(axis=0)])
    most = votes == votes.max(axis=0)
    verdict = np.where(most.sum(axis=0) > 1, 0.5, np.select([most[0], most[1]], [1.0, 0.5], 0.0))
    return np.where(np.isnan(outcomes).any(axis=0), np.nan, verdict)


def grade_disagreement(panel: PanelGrades, **how: Unpack[Resampling]) -> Table:
    """Return how far the judges' scores are apart: all models together, then each."""
    common = panel.common
    differ = np.where(common, np.ptp(panel.scores, axis=0) > 1e-9, 0.0).sum(axis=2)
    spread = np.where(common, panel.scores.std(axis=0, ddof=1), 0.0).sum(axis=2)
    count, left_out = (own.sum(axis=2).astype(np.float64) for own in (common, panel.lost))
    whole = [np.concatenate([own.sum(axis=1, keepdims=True), own], axis=1) for own in (differ, spread, count, left_out)]
    return _disagreement(panel.models, *whole, strata=panel.strata, **how)


def pair_disagreement(panel: PanelPairs, **how: Unpack[Resampling]) -> Table:
    """Return how often the judges' verdicts differ: all pairs together, then the pairs of each model."""
    said = ~np.isnan(panel.outcomes)
    common = np.asarray(said.all(axis=0))
    differ = np.zeros(len(common))
    differ[common] = np.ptp(panel.outcomes[:, common], axis=0) > 0
    sums, counts, missing = np.zeros((3, len(panel.questions), 1 + len(panel.models)))
    everyone = np.zeros_like(panel.question)
    for column in (everyone, 1 + panel.model_1, 1 + panel.model_2):
        np.add.at(sums, (panel.question[common], column[common]), differ[common])
        np.add.at(counts, (panel.question[common], column[common]), 1.0)
        np.add.at(missing, (panel.question, column), said.any(axis=0) & ~common)
    return _disagreement(panel.models, sums, None, counts, missing, strata=panel.strata, **how)


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
    sums, counts = np.zeros((2, len(places), 1 + len(models)))
    for rows in zip(*heard, strict=True):
        apart = len({row.label for row in rows}) > 1
        for column in (0, 1 + models.index(rows[0].model)):
            sums[places[rows[0].question_id], column] += apart
            counts[places[rows[0].question_id], column] += 1
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


def _several(judges: Mapping[str, Any]) -> None:
    if len(judges) < 2:
        there = ", ".join(judges) or "none"
        raise UsageError(f"a panel needs two judges or more; judgments are there of: {there}")


def _questions(judges: Mapping[str, Matrix] | Mapping[str, Pairs]) -> dict[QuestionId, Any]:
    """Return the group of every question that a judge saw, in the order of the first judge that saw it."""
    found: dict[QuestionId, Any] = {}
    for own in judges.values():
        for question, group in zip(own.questions, own.groups, strict=True):
            found.setdefault(question, group)
    return found


def _fixed_mix(judges: Mapping[str, Matrix] | Mapping[str, Pairs]) -> bool:
    return any(own.fixed_mix for own in judges.values())


def _models(judges: Mapping[str, Matrix] | Mapping[str, Pairs]) -> list[str]:
    return sorted({model for own in judges.values() for model in own.models})


def _index(names: Sequence[Any]) -> dict[Any, int]:
    return {name: place for place, name in enumerate(names)}


def _mean(outcomes: Sequence[float]) -> float:
    """Return the mean of the outcomes that are known; NaN of none."""
    known = [outcome for outcome in outcomes if outcome == outcome]
    return sum(known) / len(known) if known else float("nan")
