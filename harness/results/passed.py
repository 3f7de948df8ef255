"""Conversations of one question: passed every time, and where the spread of verdicts comes from.

    pass^j = mean over questions of C(c, j) / C(n, j)      c of a question's n conversations passed

3 of 4 conversations passed: pass^1 0.75, pass^2 3/6, pass^3 1/4, pass^4 0. A conversation passes if
every check of each of its turns does; one with an undecided check is left out.

A verdict is a question's mean, plus what the conversation adds, plus what the judge adds to it. The
variances of the three are those of a nested analysis of variance of unequal numbers; negative ones
are 0. An interval's width goes with the root of

    question / N + conversation / (N·n) + judge / (N·n·m)      N questions, n conversations of each,
                                                               m verdicts on each
so 40 questions beside 80 narrow it by 1 − √(80/120) = 18%.

Sources: Kulal et al. 2019 and Chen et al. 2021 (arXiv:2107.03374) for the unbiased form of pass@k;
Yao et al. 2024 (τ-bench, arXiv:2406.12045) for pass^k; Searle, Casella and McCulloch 1992, Variance
Components, for the analysis of variance.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from harness.results.estimate import Estimate, Floats, Ints, ratio
from harness.results.reading import whole_rows
from harness.results.scores import Scores, distinct
from harness.results.summarize import conversations
from harness.types import Measurement, Question, first_own_turn

STRICT_ALL = "checks strict_all"


def passes(scores: Scores) -> Scores:
    """Return of each conversation whether it passes its checks: 1, 0, or NaN for undecided."""
    own = scores.of(metric=STRICT_ALL)
    undecided = [
        number
        for number, row in whole_rows(own)
        if isinstance(row, Measurement) and any(check.get("strict") is None for check in row.checks)
    ]
    value = np.where(np.isin(own.row, undecided), np.nan, own.value)
    result = conversations(replace(own, value=value), "min")
    # A turn of which no check was decided has no number at all.
    _, conversation = distinct(own.question, own.model, own.source)
    counts = dict(zip(_keys(own), np.bincount(conversation)[conversation].tolist(), strict=True))
    whole = [
        counts[key] >= _checked_turns(result.questions[key[0]], result.models[key[1]])
        for key in _keys(result)
    ]
    return replace(result, value=np.where(whole, result.value, np.nan))


def _keys(scores: Scores) -> list[tuple[int, int, int]]:
    columns = scores.question.tolist(), scores.model.tolist(), scores.source.tolist()
    return list(zip(*columns, strict=True))


def _checked_turns(question: Question, model: str) -> int:
    """Return how many turns that the model writes itself have checks."""
    first = first_own_turn(model)
    return sum(
        bool(checks) and turn >= first and question.given(turn) is None
        for turn, checks in enumerate(question.checks, 1)
    )


def each_time(passed: Scores, model: str) -> list[Estimate]:
    """Return pass^1, pass^2, … of a model, each over the questions with so many conversations."""
    own, size = passed.of(models=[model]), len(passed.questions)
    own = own.take(own.valid)
    total = np.bincount(own.question, minlength=size)
    good = np.bincount(own.question, own.value, size).round().astype(np.int64)
    estimates = []
    for times in range(1, int(total.max(initial=0)) + 1):
        enough = total >= times
        share = [
            math.comb(c, times) / math.comb(n, times) if n >= times else 0.0
            for c, n in zip(good.tolist(), total.tolist(), strict=True)
        ]
        estimates.append(ratio(np.array(share), enough.astype(np.int64), share=True))
    return estimates


@dataclass(frozen=True)
class Spread:
    """The variance of a model's verdicts, by what it comes from."""

    question: float
    conversation: float
    """With the judge's, where no verdict was repeated."""
    judge: float | None
    """None: no verdict was repeated."""
    questions: int
    conversations: float
    """Of a question."""
    verdicts: float
    """On a conversation."""

    @property
    def total(self) -> float:
        """The variance of one verdict."""
        return self.question + self.conversation + (self.judge or 0.0)

    def narrower(
        self, *, questions: int = 0, conversations: int = 0, verdicts: int = 0
    ) -> float | None:
        """Return by which part more of something narrows the interval; None: nothing varies.

        >>> round(Spread(1, 1, None, 80, 2, 1).narrower(questions=40), 2)
        0.18
        """
        n, each, m = self.questions, self.conversations, self.verdicts
        now = self._variance(n, each, m)
        then = self._variance(n + questions, each + conversations, m + verdicts)
        return 1 - math.sqrt(then / now) if now > 0 else None

    def _variance(self, questions: float, each: float, verdicts: float) -> float:
        of_judge = (self.judge or 0.0) / verdicts
        return (self.question + (self.conversation + of_judge) / each) / questions


def spread(values: Floats, question: Ints, conversation: Ints) -> Spread | None:
    """Return the variance components of verdicts; None: no question has two conversations.

    Args:
        values: the verdicts, none of them NaN.
        question: of each, a number from 0.
        conversation: of each, a number from 0; a conversation is of one question.
    """
    total, in_question = len(values), np.bincount(question)
    in_conversation = np.bincount(conversation)
    owner = np.zeros(len(in_conversation), dtype=np.int64)
    owner[conversation] = question
    a, b = len(in_question), len(in_conversation)
    if a < 2 or b == a:
        return None
    mean = values.mean()
    of_question = np.bincount(question, values) / in_question
    of_conversation = np.bincount(conversation, values) / in_conversation
    within = float(((values - of_conversation[conversation]) ** 2).sum())
    middle = float((in_conversation * (of_conversation - of_question[owner]) ** 2).sum())
    between = float((in_question * (of_question - mean) ** 2).sum())
    squares = float((in_conversation**2 / in_question[owner]).sum())
    judge = within / (total - b) if total > b else None
    noise = judge or 0.0
    own = (middle - (b - a) * noise) / (total - squares)
    other = squares - float((in_conversation**2).sum()) / total
    rest = between - own * other - (a - 1) * noise
    top = rest / (total - float((in_question**2).sum()) / total)
    return Spread(max(top, 0.0), max(own, 0.0), judge, a, b / a, total / b)


def spread_of(scores: Scores, model: str) -> Spread | None:
    """Return the variance components of one model's conversations; None: one a question."""
    own = scores.take((scores.model == scores.models.index(model)) & scores.valid)
    if not len(own):
        return None
    choices = np.array([source.choice for source in own.sources])[own.source]
    question = np.unique(own.question, return_inverse=True)[1]
    return spread(own.value, question, distinct(own.question, choices)[1])
