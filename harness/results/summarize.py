"""Scores grouped by anything: the mean of each group with its error, and its counts.

    summarize(scores, by=("model", "category"))

    model      category  mean  n   failed
    claude-v1  math      4.8   20  0          mean = Σ values / n, FastChat's average

A pair counts for both of its models. `by` takes model, opponent, turn, metric, judge, judge_set,
file, category, question_id, and any other field of the question.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from harness.errors import UsageError
from harness.results.estimate import Bools, Estimate, Ints, ratio
from harness.results.scores import FLIPPED, ONE_SIDED, Scores
from harness.types import Question

Aggregate: TypeAlias = Literal["mean", "min", "first", "last"]
AGGREGATES: tuple[Aggregate, ...] = ("mean", "min", "first", "last")


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
    size = [len(values) for _, values in coded]
    group = np.zeros(len(both), dtype=np.int64)
    for (codes, _), width in zip(coded, size, strict=True):
        group = group * width + codes
    groups, place = np.unique(group, return_inverse=True)
    place = place.reshape(-1)
    good, questions = both.valid, len(both.questions)
    cell = place[good] * questions + both.question[good]
    shape = (len(groups), questions)
    counts = np.bincount(cell, minlength=len(groups) * questions).reshape(shape)
    sums = np.bincount(cell, both.value[good], len(groups) * questions).reshape(shape)
    share = is_share(both)
    once = np.arange(len(both)) < len(scores)  # a flip counts once where a pair is seen twice
    once |= "model" in by or "opponent" in by
    decided = both.flip <= 0

    def count(which: Any) -> list[int]:
        counted: list[int] = np.bincount(place[which & good], minlength=len(groups)).tolist()
        return counted

    paired = both.opponent >= 0
    won, lost = (paired & decided & (both.value > 0.5)), (paired & decided & (both.value < 0.5))
    columns = [
        count(np.ones(len(both), dtype=bool)),
        np.bincount(place[~good & once], minlength=len(groups)).tolist(),
        count(won),
        count(paired & ~won & ~lost),
        count(lost),
        count((both.flip == FLIPPED) & once),
        count((both.flip == ONE_SIDED) & once),
    ]
    summaries = []
    for at, code in enumerate(groups.tolist()):
        key = []
        for (_, values), width in zip(reversed(coded), reversed(size), strict=True):
            code, value_code = divmod(code, width)
            key.append(values[value_code])
        mean = ratio(sums[at], counts[at].astype(np.float64), share=share)
        numbers = [column[at] for column in columns]
        summaries.append(Summary(tuple(by), tuple(reversed(key)), mean, *numbers))
    return summaries


def is_share(scores: Scores) -> bool:
    """Return whether all values lie between 0 and 1 by their kind, not by chance."""
    used = [scores.sources[code] for code in np.unique(scores.source).tolist()]
    return all(
        source.form in ("pair", "label", "points", "vote")
        or source.scale == (0, 1)
        or (source.form == "metric" and _within(scores))
        for source in used
    )


def _within(scores: Scores) -> bool:
    valid = scores.value[scores.valid]
    return bool(len(valid)) and float(valid.min()) >= 0 and float(valid.max()) <= 1


def _codes(scores: Scores, field: str) -> tuple[Ints, Sequence[Any]]:
    """Return a field of each entry as codes, and what they stand for."""
    if field == "model":
        return scores.model, scores.models
    if field == "opponent":
        codes = np.where(scores.opponent < 0, len(scores.models), scores.opponent)
        return codes, (*scores.models, None)
    if field == "metric":
        return scores.metric, scores.metrics
    if field == "turn":
        turns, place = np.unique(scores.turn, return_inverse=True)
        return place.reshape(-1), turns.tolist()
    if field in ("judge", "judge_set", "file", "sample", "choice", "version"):
        values = [getattr(source, field) for source in scores.sources]
        names = list(dict.fromkeys(values))
        return np.array([names.index(value) for value in values])[scores.source], names
    values = [field_of(question, field) for question in scores.questions]
    names = list(dict.fromkeys(values))
    if names == [None]:
        fields = sorted({"category", *(key for q in scores.questions for key in q.extra)})
        raise UsageError(f"--by {field}: no question has this field; there are {', '.join(fields)}")
    code = {value: at for at, value in enumerate(names)}
    return np.array([code[value] for value in values])[scores.question], names


def field_of(question: Question, field: str) -> Any:
    """Return a field of a question; None if it has none, and a list as a text."""
    if field in ("question_id", "category"):
        return getattr(question, field)
    value = question.extra.get(field)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value) if isinstance(value, dict) else value


def conversations(scores: Scores, rule: Aggregate) -> Scores:
    """Return one value a conversation, with turn 0: the mean, least, first or last of its turns.

    Grades 8, 5, 6 in three turns are 6.33, 5, 8 and 6. A conversation with a turn that has no
    verdict has none: the least of the rest would be too high. MT-Bench-101 (Bai et al. 2024,
    arXiv:2402.14762) takes the least.
    """
    if rule not in AGGREGATES:
        raise UsageError(f"--aggregate {rule}: there are {', '.join(AGGREGATES)}")
    order = np.lexsort(
        (scores.turn, scores.source, scores.metric, scores.opponent, scores.model, scores.question)
    )
    ordered = scores.take(order)
    key = np.stack(
        [ordered.question, ordered.model, ordered.opponent, ordered.metric, ordered.source]
    )
    differs = (key[:, 1:] != key[:, :-1]).any(axis=0)
    starts = np.flatnonzero(np.concatenate([[True], differs]))
    ends = np.append(starts[1:], len(ordered))
    turns = _turns_asked(scores)
    if rule == "mean":
        value = np.add.reduceat(ordered.value, starts) / (ends - starts)
    elif rule == "min":
        value = np.minimum.reduceat(ordered.value, starts)
    else:
        value = ordered.value[starts if rule == "first" else ends - 1]
    bad = np.add.reduceat(np.isnan(ordered.value).astype(np.int64), starts) > 0
    partial = (ends - starts) < turns[ordered.question[starts]]
    value = np.where(bad | partial, np.nan, value)
    return replace(ordered.take(starts), value=value, turn=np.zeros(len(starts), dtype=np.int64))


def _turns_asked(scores: Scores) -> Ints:
    """Return how many turns of each question any model was judged on."""
    items = np.unique(np.stack([scores.question, scores.turn]), axis=1)
    return np.bincount(items[0], minlength=len(scores.questions))


def common(scores: Scores, models: Collection[str] | None = None) -> Scores:
    """Return the verdicts on (question, turn) on which every one of the models has one."""
    names = [name for name in scores.models if models is None or name in models]
    both = scores.mirrored()
    turns = int(scores.turn.max(initial=0)) + 1
    item = scores.question * turns + scores.turn
    mirrored = both.question * turns + both.turn
    has = np.zeros((len(scores.models), len(scores.questions) * turns), dtype=bool)
    has[both.model[both.valid], mirrored[both.valid]] = True
    present = [at for at, name in enumerate(scores.models) if name in names and has[at].any()]
    everywhere: Bools = np.all(has[present], axis=0)
    return scores.take(everywhere[item])
