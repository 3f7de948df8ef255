"""Observations -> the questions on which all models were judged, and the models that were judged on too few.

x and y were judged on questions 1 to 80, z on 1 to 60, w on 1 to 20: w is listed separately, without a rank, because
that is less than half of 80; the other three have questions 1 to 60 in common. If z was judged on first turns only, but
x and y on both, a note says so: its average measures something else.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.old.judgments.observations import Bools, Observations, numbered
from harness.old.names import history_of, listed
from harness.old.records import QuestionId

FEW = 0.5
"""A model that was judged on less than this share of the questions of the one with the most is not ranked."""
UNRANKED = "judged on too few questions to be ranked"
"""What is said of such models where others have ranks."""
EQUAL = 0.9
"""If all have at least this share of them in common, they count as judged on the same: some verdicts fail."""


class Common(NamedTuple):
    """On which questions models were judged."""

    judged: dict[str, int]
    """For each model, the questions with a verdict on it."""
    questions: frozenset[QuestionId]
    """Those of all models that are ranked."""
    apart: tuple[str, ...]
    """The models that are not ranked, by name."""
    turns: dict[str, tuple[int, int]]
    """For each model that was judged on clearly fewer turns of its questions than others were: on how many, and on how
    many of each of these questions the model was that has the most."""
    every: int
    """The questions with a verdict on any model."""
    asked: tuple[Sequence[QuestionId], Sequence[int], Bools]
    """All questions, all turns, and on which of the questions each was judged, with or without a verdict."""

    def by_turn(self) -> dict[int, frozenset[QuestionId]]:
        """Return for each turn the questions on which it was judged, of whichever model."""
        questions, turns, there = self.asked
        return {
            turn: frozenset(questions[k] for k in np.flatnonzero(there[:, at]).tolist())
            for at, turn in enumerate(turns)
        }

    @property
    def most(self) -> int:
        """The questions of the model that has the most."""
        return max(self.judged.values(), default=0)

    def note(self, *, paired: bool = False, ranks: bool = True) -> str | None:
        """Return what a reader must know about the questions; None if they are the same for all.

        Pairs are ranked by strength, for which questions need not be common. Without `ranks` nothing is ranked.
        """
        if not self.most:  # no verdict at all, which other notes say
            return None
        too_few = UNRANKED if ranks else "judged on too few questions beside the others, so listed last"
        if paired or len(self.questions) >= EQUAL * self.most:
            return self.few_note(too_few)
        compared = len(self.judged) - len(self.apart)
        told = f"models were judged on different questions: {len(self.questions)} of {self.every} are common to all"
        told += f" {compared}{' that are ranked' if ranks else ' others'}" if self.apart else ""
        common = " (--common counts the common ones only)" if self.questions else ""
        told += f"; averages are over each model's own{common}, comparisons of two "
        told += "models over those that both have"
        return f"{told}; {apart}" if (apart := self.few_note(too_few)) else told

    def few_note(self, told: str) -> str | None:
        """Return which models were judged on too few questions, and on how many, after what is `told` of them; None
        where there are none."""
        return f"{told}: {self._apart_text}" if self.most and self.apart else None

    @property
    def _apart_text(self) -> str:
        return ", ".join(f"{model} ({self.judged[model]} of {self.most} questions)" for model in self.apart)

    @property
    def turns_note(self) -> str | None:
        """Return what a reader must know of models whose questions were judged on fewer turns; None where none were."""
        if not self.turns:
            return None
        told = ", ".join(f"{model} ({own} of {every} turns)" for model, (own, every) in self.turns.items())
        return (
            f"judged on fewer turns of the same questions than other models: {told}; numbers are over "
            "the model's own turns (--turns 1 compares first turns)"
        )


def few(judged: int, most: int) -> bool:
    """Return whether a model was judged on too few questions to be ranked."""
    return not judged or judged < FEW * most


def common_questions(
    found: Observations, baseline: str | None = None, panel: Sequence[str] = (), *, count_failed: bool = False
) -> Common:
    """Return on which questions the models were judged, in any turn; without a verdict only where such are counted.

    A baseline, which is in every pair and has no rank, is left out. Of a panel's judges a question needs all.
    """
    questions, question_at = numbered(asked.question_id for asked in found.asked)
    question = np.array(question_at, dtype=np.int64)
    models = list(dict.fromkeys(model for case in found.cases for model in case.models))
    place = {model: at for at, model in enumerate(models)}
    turns, turn_at = numbered(case.turn for case in found.cases)
    turn = np.array(turn_at, dtype=np.int64)
    there = np.zeros((len(panel) or 1, len(models), len(questions)), dtype=bool)
    # With or without a verdict: `failure_notes` tells of those without.
    on_turns = np.zeros((*there.shape, len(turns)), dtype=bool)
    judge = np.array([panel.index(case.source.judge) if panel else 0 for case in found.cases], dtype=np.int64)
    of_sides = zip(*(case.models for case in found.cases), strict=True)
    sides = [np.array([place[name] for name in names], dtype=np.int64) for names in of_sides]
    for part in found.parts():
        good = np.ones_like(part.failed) if count_failed else ~part.failed
        case, about = part.case_at, question[part.asked_at]
        for model in sides:
            on_turns[judge[case], model[case], about, turn[case]] = True
            there[judge[case[good]], model[case[good]], about[good]] = True
    shown = [model != baseline for model in models]
    models = [model for model in models if model != baseline]
    seen = np.logical_and.reduce(there)[shown]
    # Small numbers: of ten million rows that are all different, whole ones would take 80 MB.
    turned = on_turns.sum(axis=3, dtype=np.uint16).min(axis=0, initial=len(turns))[shown] * seen
    judged = dict(zip(models, seen.sum(axis=1).tolist(), strict=True))
    most = max(judged.values(), default=0)
    apart = tuple(sorted(model for model in judged if few(judged[model], most)))
    ranked = seen[[model not in apart for model in models]]
    common = np.flatnonzero(ranked.all(axis=0)).tolist() if len(ranked) else []
    most_turns = turned.max(axis=0, initial=0)
    own = {model: (int(turned[at].sum()), int(most_turns[seen[at]].sum())) for at, model in enumerate(models)}
    # Of a variant with a given history, whose first turn is another's, `history_note` tells.
    fewer = {
        model: (turns_of, every)
        for model, (turns_of, every) in sorted(own.items())
        if turns_of < EQUAL * every and not history_of(model)
    }
    asked_in: Bools = np.logical_or.reduce(on_turns, axis=(0, 1))
    every = int(seen.any(axis=0).sum())
    return Common(judged, frozenset(questions[at] for at in common), apart, fewer, every, (questions, turns, asked_in))


def history_note(found: Observations) -> str | None:
    """Return what a reader must know of variants with given history; None where there are none."""
    variants = sorted({model for case in found.cases for model in case.models if history_of(model)})
    if not variants:
        return None
    told = listed(variants)
    return (
        f"{told}: the average is over the turns that the model wrote, without the supplied first one; "
        "compare turn 2 (--first-turn-effect, or --turns 2)"
    )
