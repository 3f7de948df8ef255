"""Grades or pairs of one table -> their uncertainty: intervals, ranks, models compared, groups, turns.

One function for every output, so that the table, json, the report and the viewer show the same numbers.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

from harness.old.records import Observation, QuestionId, Scale
from harness.old.results.grades.aggregates import POOLED, with_turns
from harness.old.results.grades.scores import by_turn, scores
from harness.old.results.matrix import Matrix, Pairs, of_models, of_turn, ranked
from harness.old.results.pairs.bradley_terry import Ranking, ranking, rankings_by_group
from harness.old.results.pairs.comparing import compared_strengths
from harness.old.results.pairs.matrix import mean_over_opponents, pair_matrix
from harness.old.results.pairs.position import played_twice, position_rows
from harness.old.results.pairs.rates import rate_column, rates
from harness.old.results.statistics.bootstrap import Resampling
from harness.old.results.statistics.paired import Paired, PairedTable, named_pairs, paired
from harness.old.results.statistics.ranks import RankRange, rank_ranges
from harness.old.results.table import ALL, Line, Row, Table, ends

_PLAIN = ("win_rate", "loss_rate", "tie_rate")
"""The rates that are shown in addition to the one that ranks the models."""


@dataclass(frozen=True, slots=True)
class PairsOnly:
    """What only pairs have."""

    matrix: Table
    """Each model against each other one, which is its group."""
    strengths: Ranking
    """Bradley-Terry with ties."""
    group_strengths: list[tuple[Any, Ranking]]
    """The same for each group of questions."""
    position: list[Row]
    """The judge's position bias; empty for votes, which have one game only."""

    def without_strengths(self) -> list[str]:
        """Return a line for each reason why rankings do not exist, leave out a model, or have no intervals."""
        told: dict[tuple[str, str], list[str]] = {}
        for name, own in (("all questions", self.strengths), *((str(g), own) for g, own in self.group_strengths)):
            if own.why_not:
                told.setdefault(("no strengths (Bradley-Terry)", own.why_not), []).append(name)
                continue
            if own.missing:
                told.setdefault(("no strength", f"no pair counts of {', '.join(own.missing)}"), []).append(name)
            if own.without_estimate:
                apart = "the models differ so much that the estimate depends on single questions"
                count = f"{own.without_estimate} of {own.refits}"
                told.setdefault(("no intervals of strengths", f"{apart} ({count})"), []).append(name)
        return [f"{what}, {', '.join(names)}: {why}" for (what, why), names in told.items()]


@dataclass(frozen=True, slots=True)
class Detail:
    """How sure the numbers of a table are."""

    table: Table
    """With all intervals: of each model, by group and, of pairs and of grades of three turns or more, by turn."""
    column: str
    """The column that ranks the models."""
    ranks: Mapping[str, RankRange]
    """By model; a baseline, and one that was judged on few questions (`common`), has none."""
    pairs: PairedTable
    """Every two models compared: by grades, or by strength in win rates (`comparing`)."""
    scale: Scale | None = None
    """The least and the greatest score that there are; None where that is unknown, and of pairs."""
    grades: Matrix | None = None
    """What turns are compared by, where conversations have three turns or more."""
    only: PairsOnly | None = None

    @property
    def kind(self) -> Literal["grades", "pairs"]:
        """What was judged."""
        return "grades" if self.only is None else "pairs"

    @property
    def models(self) -> list[str]:
        """The models, in the order of the table."""
        return [line.model for line in self.table.whole]

    def rows(self) -> list[Row]:
        """Return for each model all its numbers, with intervals."""
        return self.table.table_rows()

    def pair_rows(self) -> list[Row]:
        """Return every two models compared; of pairs, each model against each other one."""
        if self.only is None:
            return [pair_row(pair) for pair in self.pairs.pairs]
        return self.only.matrix.group_rows()

    def between(self, one: str, other: str) -> dict[int, Paired]:
        """Return how two models differ in each turn, where there are turns to follow."""
        return {} if self.grades is None else compared_by_turn(self.grades, one, other, seed=self.table.seed)

    def by_turn(self) -> dict[str, dict[int, Line]]:
        """Return for each model its lines by turn, where there are turns to follow."""
        found: dict[str, dict[int, Line]] = {}
        for line in self.table.lines if self.grades is not None else ():
            if line.turn is not None:
                found.setdefault(line.model, {})[line.turn] = line
        return found

    def in_order(self, place: Mapping[str, int]) -> "Detail":
        """Return the same with the models in another order; one that has no place (a baseline) comes last."""
        only = self.only
        if only is not None:

            def at(model: str) -> int:
                return place.get(model, len(place))

            lines = sorted(only.matrix.lines, key=lambda line: (at(line.model), at(line.group)))
            only = replace(only, matrix=only.matrix._replace(lines=lines))
        return replace(self, table=self.table.in_order(place), only=only)

    def neighbours(self) -> list[Paired]:
        """Return each model compared with the next one of the table; model_1 is the higher one."""
        found = self.pairs.by_models()
        return [found[two] for two in itertools.pairwise(self.models) if two in found]


def grades_detail(
    table: Matrix,
    *,
    by: str = "category",
    whole: Matrix | None = None,
    column: str = POOLED,
    **how: Unpack[Resampling],
) -> Detail:
    """Return the uncertainty of the scores of an array of grades.

    `whole` holds another aggregate of each conversation's turns, which then replaces the pooled average, and
    `column` is its name.
    """
    compared = paired(ranked(table if whole is None else whole), **how)
    ranks = rank_ranges(compared)
    lines = scores(table, column=column, ranks=ranks, **how)
    if whole is not None:
        of_turns = {line.model: line for line in lines if line.group is ALL}
        found = scores(whole, column=column, ranks=ranks, **how)
        lines = [with_turns(line, of_turns[line.model]) if line.group is ALL else line for line in found]
    long = len(table.turns) > 2
    lines += by_turn(table, **how) if long else []
    shown = Table(lines, "grades", by, how.get("seed", 0), places=2, strata=by if table.fixed_mix else "")
    return Detail(shown, column, ranks, compared, table.scale, table if long else None)


def compared_by_turn(grades: Matrix, one: str, other: str, **how: Unpack[Resampling]) -> dict[int, Paired]:
    """Return how two models differ in each turn that both have; the turns are one family of tests."""
    two = of_models(grades, (one, other))
    found = {turn: paired(of_turn(two, turn), **how).pairs[0] for turn in grades.turns}
    shared = {turn: pair for turn, pair in found.items() if pair.n}
    named = named_pairs(list(shared.values()), [(one, other)] * len(shared))
    return dict(zip(shared, named, strict=True))


def position_of(
    comparisons: Sequence[Observation], groups: Mapping[QuestionId, Any], **how: Unpack[Resampling]
) -> list[Row]:
    """Return whether the judges go by the place of an answer, over the pairs that were played in both orders."""
    twice = played_twice(comparisons)
    categories = {question: str(group) for question, group in groups.items()}
    return position_rows(twice, categories=categories or None, **how) if twice else []


def pairs_detail(
    table: Pairs,
    *,
    by: str = "category",
    baseline: str | None = None,
    position: Sequence[Row] = (),
    **how: Unpack[Resampling],
) -> Detail:
    """Return how sure the results of an array of pairs are."""
    compared = compared_strengths(table, baseline=baseline, **how)
    ranks = rank_ranges(compared)
    strengths = ranking(table, anchor=baseline, **how)
    by_group = rankings_by_group(table, anchor=baseline, **how)
    by_group = by_group if len(by_group) > 1 else []
    column = rate_column(table)
    means = {(line.model, line.group): line.fields for line in mean_over_opponents(table, **how)}
    ratings = {
        (row.model, group): row.fields["rating"] for group, own in ((ALL, strengths), *by_group) for row in own.rows
    }
    lines = []
    for line in rates(table, baseline=baseline, **how):
        names = ("win", "loss", "tie") if line.turn is not None else () if line.group is not ALL else _PLAIN
        shown = {name: line.fields[name] for name in names if name != column}
        shown[column] = line.fields["win_rate_adjusted"]
        if line.turn is None:
            key = line.model, line.group
            if line.group is ALL:
                shown["rank"] = str(ranks[line.model]) if line.model in ranks else None
            shown |= means.get(key, {})
            shown |= {"strength": ratings[key]} if key in ratings else {}
        shown["n"] = line.fields["n"]
        shown |= {"excluded": line.fields["excluded"]} if line.group is ALL and line.turn is None else {}
        lines.append(line._replace(fields=shown))
    only = PairsOnly(pair_matrix(table, **how), strengths, by_group, list(position))
    strata = by if table.fixed_mix else ""
    return Detail(Table(lines, "pairs", by, how.get("seed", 0), strata=strata), column, ranks, compared, only=only)


def pair_row(pair: Paired) -> Row:
    """Return a compared pair by column name."""
    return {
        "model_1": pair.model_1,
        "model_2": pair.model_2,
        "verdict": pair.verdict,
        **ends("difference", pair.difference),
        "p": pair.p,
        "p_holm": pair.p_holm,
        "n": pair.n,
        "left_out": pair.left_out,
        "smallest_detectable": pair.smallest_detectable,
        "stated_difference": pair.stated,
        "power": pair.power,
        "questions_needed": pair.questions_needed,
    }
