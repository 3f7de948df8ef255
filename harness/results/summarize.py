"""Scores grouped by anything: the mean of each group with its error, and its counts.

    summarize(scores, by=("model", "category"))

    model      category  mean  n   failed
    claude-v1  math      4.8   20  0          mean = Σ values / n, FastChat's average

A pair counts for both of its models. `by` takes model, opponent, turn, category,
question_id, and any other field of the question; nothing: all together.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from harness.errors import UsageError
from harness.results.estimate import Bools, Estimate, Ints, ratio
from harness.results.scores import FLIPPED, ONE_SIDED, Scores, distinct
from harness.types import Question

Aggregate: TypeAlias = Literal["mean", "min", "first", "last"]


@dataclass(frozen=True, eq=False)
class Summary:
    """One group of scores."""

    by: tuple[str, ...]
    key: tuple[Any, ...]
    """The group's value of each field of `by`."""
    mean: Estimate
    n: int
    """Values with a verdict."""
    failed: int
    """Judgments without one."""
    win: int = 0
    tie: int = 0
    """Flipped pairs are among the ties."""
    loss: int = 0
    flipped: int = 0
    """The other model won when the order was swapped."""
    one_sided: int = 0
    """One of the two games was a tie."""

    def __getitem__(self, field: str) -> Any:
        """Return the group's value of a field."""
        return self.key[self.by.index(field)]

    @property
    def is_named(self) -> bool:
        """Whether it has a value of each field."""
        return not {None, ""} & {*self.key}

    @property
    def questions(self) -> int:
        """The questions that count."""
        return self.mean.n


def summarize(scores: Scores, by: Sequence[str] = ("model",)) -> list[Summary]:
    """Return the groups of scores, in the order of their names in the files.

    Raises:
        UsageError: no question has such a field.
    """
    if len(scores) == 0:
        return []
    both = scores.mirrored()
    coded = [_codes(both, field) for field in by]
    first, group = distinct(*(codes for codes, _ in coded), np.zeros_like(both.model))
    good, size, share = both.valid, len(both.questions), is_share(scores)
    cell = (group * size + both.question)[good]
    counts = np.bincount(cell, minlength=len(first) * size).reshape(-1, size)
    sums = np.bincount(cell, both.value[good], len(first) * size).reshape(-1, size)

    # A pair is there twice, so by anything but models its failure or flip counts in one of them.
    once = np.arange(len(both)) < len(scores)
    once |= "model" in by or "opponent" in by
    flip = np.append(scores.flip, scores.flip[scores.opponent >= 0])  # from either side the same
    paired, consistent = both.opponent >= 0, flip <= 0
    won, lost = consistent & (both.value > 0.5), consistent & (both.value < 0.5)
    counted = (
        good,
        ~good & once,
        paired & won,
        paired & good & ~won & ~lost,
        paired & lost,
        good & once & (flip == FLIPPED),
        good & once & (flip == ONE_SIDED),
    )
    columns = [np.bincount(group[which], minlength=len(first)).tolist() for which in counted]
    summaries = []
    for at, entry in enumerate(first.tolist()):
        key = tuple(names[codes[entry]] for codes, names in coded)
        mean = ratio(sums[at], counts[at], share=share)
        summaries.append(Summary(tuple(by), key, mean, *(column[at] for column in columns)))
    return summaries


def is_share(scores: Scores) -> bool:
    """Return whether all values lie between 0 and 1 by their kind, not by chance."""
    unsure = [
        source
        for source in scores.sources_present.values()
        if source.form not in ("pair", "label", "points", "vote") and source.scale != (0, 1)
    ]
    if any(source.form != "metric" for source in unsure):
        return False
    values = scores.value[scores.valid]
    return not unsure or (len(values) > 0 and bool(values.min() >= 0 and values.max() <= 1))


def split(scores: Scores, field: str) -> Iterator[tuple[Any, Scores]]:
    """Yield each value of a field, and the scores that have it."""
    codes, names = _codes(scores, field)
    for code in np.unique(codes).tolist():
        yield names[code], scores.take(codes == code)


def _codes(scores: Scores, field: str) -> tuple[Ints, Sequence[Any]]:
    """Return a field of each entry as codes, and what they stand for."""
    if field == "model":
        return scores.model, scores.models
    if field == "opponent":
        return scores.opponent, (*scores.models, None)  # -1 is the last
    if field == "turn":
        return scores.turn, range(int(scores.turn.max()) + 1)
    values = [_field_of(question, field) for question in scores.questions]
    names = list(dict.fromkeys(values))
    if names == [None]:
        fields = sorted({"category", *(key for q in scores.questions for key in q.extra)})
        raise UsageError(f"--by {field}: no question has this field; there are {', '.join(fields)}")
    code = {value: at for at, value in enumerate(names)}
    return np.array([code[value] for value in values])[scores.question], names


def _field_of(question: Question, field: str) -> Any:
    """Return a field of a question; None if it has none, and a list as a text."""
    if field in ("question_id", "category"):
        return getattr(question, field)
    value = question.extra.get(field)
    return ", ".join(map(str, value)) if isinstance(value, (list, dict)) else value


def conversations(scores: Scores, rule: Aggregate) -> Scores:
    """Return one value a conversation, with turn 0: the mean, least, first or last of its turns.

    Grades 8, 5, 6 in three turns are 6.33, 5, 8 and 6. A conversation with a turn that has no
    verdict has none: the least of the rest would be too high. MT-Bench-101 (Bai et al. 2024,
    arXiv:2402.14762) takes the least.
    """
    columns = scores.question, scores.model, scores.opponent, scores.metric, scores.source
    _, conversation = distinct(*columns)
    order = np.lexsort((scores.turn, conversation))
    ordered = scores.take(order)
    _, starts, turns = np.unique(conversation[order], return_index=True, return_counts=True)
    if rule == "mean":
        value = np.add.reduceat(ordered.value, starts) / turns
    elif rule == "min":
        value = np.minimum.reduceat(ordered.value, starts)
    else:
        value = ordered.value[starts + (0 if rule == "first" else turns - 1)]
    bad = np.logical_or.reduceat(~ordered.valid, starts)
    judged = scores.question[distinct(scores.question, scores.turn)[0]]  # by turn, of any model
    partial = turns < np.bincount(judged)[ordered.question[starts]]
    value = np.where(bad | partial, np.nan, value)
    return replace(ordered.take(starts), value=value, turn=np.zeros_like(starts))


def common(scores: Scores, models: Collection[str] | None = None) -> Scores:
    """Return the verdicts on (question, turn) on which every one of the models has one."""
    both = scores.mirrored()
    first, item = distinct(both.question, both.turn)
    has = np.zeros((len(scores.models), len(first)), dtype=bool)
    has[both.model[both.valid], item[both.valid]] = True
    names = scores.models if models is None else models
    present = [at for at, name in enumerate(scores.models) if name in names and has[at].any()]
    everywhere: Bools = np.all(has[present], axis=0)
    return scores.take(everywhere[item[: len(scores)]])
