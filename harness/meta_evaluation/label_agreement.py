"""Labels that judges and people gave the same answers -> how often they agree, over all and label by label.

    agree       = answers to which both give the same label / answers that both labelled
    kappa       = (agree - chance) / (1 - chance)          chance = sum over labels of share_1 * share_2 (Cohen)
    of a label  = answers to which both give it / answers to which judge1 gives it, and the same by judge2

Four answers, CORRECT, CORRECT, WRONG, WRONG by one and CORRECT, WRONG, WRONG, WRONG by the other: agree = 3/4, chance
= 1/2 * 1/4 + 1/2 * 3/4 = 1/2, kappa = 1/2. Of the two that the first calls CORRECT the other does so with one: 1/2; of
the one that the other calls CORRECT the first does with all: 1.

A label has no order, and two labels that differ by capitals are two. Several voters in a file count each against each
voter of another file; within a file, each two of them once. Judgments without a label are left out and counted.
Intervals resample questions (`agreement`).

Source: Cohen (1960), Educ. Psychol. Meas. 20, 37.
"""

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from harness.errors import UsageError
from harness.judgments.observations import CONFIDENCE, SHARE
from harness.judgments.reading import Read
from harness.meta_evaluation.agreement import cohen_kappa, table_estimate
from harness.records import QuestionId
from harness.results.matrix import Floats


class Labelled(NamedTuple):
    """One answer, of one turn."""

    question_id: QuestionId
    turn: int
    model: str


Labels = Mapping[str, Mapping[Labelled, str]]
"""By voter or judge, the label of each answer."""


class LabelFile(NamedTuple):
    """What a file of labels holds."""

    labels: Labels
    without: int
    """Rows without a label."""
    replaced: int
    """Rows that a later one on the same answer replaced."""


@dataclass(frozen=True, slots=True)
class LabelPart:
    """The answers that both sides labelled, of one turn and category (None: all), as tables by question."""

    turn: int | None
    category: str | None
    names: tuple[str, ...]
    """The labels that occur."""
    groups: tuple[Any, ...]
    """For each question, its category."""
    tables: Floats
    """Questions × labels of the first × labels of the second."""


def labels_in(read: Read, path: pathlib.Path) -> LabelFile:
    """Return the labels of a file of votes (`judge, model, question_id, turn, label`) or judgments.

    Raises:
        UsageError: labels of several judge sets are mixed.
    """
    labels: dict[str, dict[Labelled, str]] = {}
    without, replaced = set(), read.replaced
    sets: dict[str, None] = {}
    for one in read.observations:
        item = Labelled(one.question_id, one.turn, one.model)
        if one.value is None:
            without.add((item, one.source))
        elif one.value == 1 and one.metric not in {SHARE, CONFIDENCE}:
            sets[one.source.set_text] = None
            own = labels.setdefault(one.source.judge, {})
            replaced += item in own
            own[item] = one.metric
    if len(sets) > 1:
        raise UsageError(f"{path} mixes labels of several judge sets, which are not comparable: {', '.join(sets)}")
    return LabelFile(labels, len(without), replaced)


def label_parts(one: Labels, other: Labels | None, categories: Mapping[QuestionId, str] | None) -> list[LabelPart]:
    """Return the labels of every two voters side by side, by turn and category; `other` None: within `one`."""
    met = list(_met(one, other))
    names = tuple(sorted({label for _, *both in met for label in both}))
    place = {name: at for at, name in enumerate(names)}
    questions = sorted({item.question_id for item, _, _ in met}, key=lambda q: (isinstance(q, str), q))
    row = {question: at for at, question in enumerate(questions)}
    groups = tuple((categories or {}).get(question) for question in questions)
    turns: list[int | None] = [*sorted({item.turn for item, _, _ in met})]
    turns += [None] if len(turns) > 1 else []
    order = dict.fromkeys((categories or {}).values())
    there = [None, *(category for category in order if category in groups)]
    parts = []
    for turn in turns:
        tables = np.zeros((len(questions), len(names), len(names)))
        for item, left, right in met:
            if turn in {None, item.turn}:
                tables[row[item.question_id], place[left], place[right]] += 1
        for category in there if len(there) > 2 else [None]:
            chosen = [at for at, group in enumerate(groups) if category in {None, group}]
            own = tables[chosen]
            if own.any():
                parts.append(LabelPart(turn, category, names, tuple(groups[at] for at in chosen), own))
    return parts


def label_rows(judges: tuple[str, str], parts: Iterable[LabelPart], *, seed: int = 0) -> list[dict[str, Any]]:
    """Return how often both say the same, and kappa, a row for each part."""
    rows = []
    for part in parts:
        whole = part.tables.sum(axis=0)
        agree, kappa = (
            table_estimate(part.tables, statistic, part.groups, seed=seed) for statistic in (_agreed, cohen_kappa)
        )
        rows.append(
            {
                "judge1": judges[0],
                "judge2": judges[1],
                "turn": part.turn,
                "category": part.category,
                "agree": int(np.trace(whole)),
                "total": int(whole.sum()),
                "ratio": agree.value,
                "low": agree.low,
                "high": agree.high,
                "kappa": kappa.value,
                "kappa_low": kappa.low,
                "kappa_high": kappa.high,
            }
        )
    return rows


def by_label(judges: tuple[str, str], parts: Sequence[LabelPart]) -> list[dict[str, Any]]:
    """Return for each label how often either gives it, how often both do, and the shares that follow."""
    rows = []
    for part in parts:
        whole = part.tables.sum(axis=0)
        for at, name in enumerate(part.names):
            one, other, both = int(whole[at].sum()), int(whole[:, at].sum()), int(whole[at, at])
            if part.category is None and one + other:
                rows.append(
                    {
                        "judge1": judges[0],
                        "judge2": judges[1],
                        "turn": part.turn,
                        "label": name,
                        "by_judge1": one,
                        "by_judge2": other,
                        "by_both": both,
                        "share_of_judge1": both / one if one else None,
                        "share_of_judge2": both / other if other else None,
                    }
                )
    return rows


def _met(one: Labels, other: Labels | None) -> Iterable[tuple[Labelled, str, str]]:
    """Yield every two labels of one answer by two different voters; within one file each two voters once."""
    for at, left in enumerate(one.values()):
        for right in list(one.values())[at + 1 :] if other is None else other.values():
            for item in left.keys() & right.keys():
                yield item, left[item], right[item]


def _agreed(tables: Floats) -> Floats:
    total = tables.sum(axis=(-1, -2))
    agreed: Floats = np.divide(
        np.trace(tables, axis1=-2, axis2=-1), total, out=np.full(total.shape, np.nan), where=total > 0
    )
    return agreed
