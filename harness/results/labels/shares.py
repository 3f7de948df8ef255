"""How often each label of a closed set was given, by model and group, with intervals.

    share of a label = judgments with it / judgments with any label

A judgment that gave no label is in no share; it is counted beside them. Ten answers, 6 CORRECT, 3 INCORRECT and one
judgment without a verdict: CORRECT 6 / 9 = 0.667, `unparsed` 1. Intervals resample questions (`statistics.bootstrap`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from harness.records import QuestionId
from harness.results.reading.arrays import Floats, Ints
from harness.results.statistics.bootstrap import RESAMPLINGS, Estimate, estimates, label

NONE = -1
"""In place of a label, where the judgment gave none."""


class Labelled(NamedTuple):
    """One judgment that labels an answer."""

    question_id: QuestionId
    model: str
    label: str | None
    """None if the judgment gave no label."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of answers as arrays, one entry a judgment."""

    questions: tuple[QuestionId, ...]
    groups: tuple[Any, ...]
    """For each question, the value of the field that groups it."""
    models: tuple[str, ...]
    names: tuple[str, ...]
    """The labels there are."""
    question: Ints
    """For each entry, the index of its question."""
    model: Ints
    label: Ints
    """For each entry, the index of its label; `NONE` where the judgment gave none."""

    def counts(self, model: int) -> Floats:
        """Return how often a model has each label on each question: questions × labels."""
        own = (self.model == model) & (self.label != NONE)
        places = self.question[own] * len(self.names) + self.label[own]
        table = np.bincount(places, minlength=len(self.questions) * len(self.names))
        return table.reshape(len(self.questions), len(self.names)).astype(np.float64)

    def unparsed(self, model: int) -> Ints:
        """Return how many judgments of a model gave no label, for each question."""
        own = (self.model == model) & (self.label == NONE)
        return np.bincount(self.question[own], minlength=len(self.questions)).astype(np.int64)


def labels_of(
    judgments: Iterable[Labelled], names: Sequence[str], groups: Mapping[QuestionId, Any] | None = None
) -> Labels:
    """Return judgments as arrays; a label that is not among `names` counts as none.

    `groups` gives each question's group, and the order of questions; without it there is one group.
    """
    rows = list(judgments)
    known = {name: place for place, name in enumerate(names)}
    asked = dict.fromkeys(row.question_id for row in rows)
    order = [key for key in groups if key in asked] if groups is not None else list(asked)
    models = list(dict.fromkeys(row.model for row in rows))
    place = {key: number for number, key in enumerate(order)}
    rows = [row for row in rows if row.question_id in place]
    return Labels(
        questions=tuple(order),
        groups=tuple(label(groups[key]) if groups is not None else None for key in order),
        models=tuple(models),
        names=tuple(names),
        question=np.array([place[row.question_id] for row in rows], dtype=np.int64),
        model=np.array([models.index(row.model) for row in rows], dtype=np.int64),
        label=np.array([known.get(row.label or "", NONE) for row in rows], dtype=np.int64),
    )


@dataclass(frozen=True, slots=True)
class ShareRow:
    """What one model's answers were labelled, all of them or those of one group."""

    model: str
    group: Any
    """None: all."""
    n: int
    """Judgments with a label."""
    unparsed: int
    shares: Mapping[str, Estimate]
    """By label."""


def shares(labels: Labels, *, resamplings: int = RESAMPLINGS, seed: int = 0) -> list[ShareRow]:
    """Return a row for each model and, where there are several groups, for each model and group."""
    rows = []
    for number, model in enumerate(labels.models):
        counts, unparsed = labels.counts(number), labels.unparsed(number)
        for group, questions in parts(labels):
            own = counts[questions]
            every = np.repeat(own.sum(axis=1, keepdims=True), len(labels.names), axis=1)
            found = estimates(
                own,
                every,
                [labels.groups[q] for q in questions],
                resamplings=resamplings,
                seed=seed,
                bounds=(0.0, 1.0),
            )
            by_name = {name: found[place] for place, name in enumerate(labels.names)}
            rows.append(ShareRow(model, group, int(own.sum()), int(unparsed[questions].sum()), by_name))
    return rows


def parts(labels: Labels) -> list[tuple[Any, Ints]]:
    """Return all questions under None, then, if there are several groups, the questions of each."""
    every = np.arange(len(labels.questions), dtype=np.int64)
    names = list(dict.fromkeys(labels.groups))
    groups = [(name, np.array([q for q in every if labels.groups[q] == name], dtype=np.int64)) for name in names]
    return [(None, every), *(groups if len(groups) > 1 else [])]
