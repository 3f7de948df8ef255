"""Two runs -> how each model of the new one compares with the old one, and whether a gate lets the new one pass.

    difference   new minus old by question, over verdicts that both runs have (`paired.compare_runs`); of pairs
                 the outcome against the same opponent, a tie half a win
    missing      share of all verdicts of either run that are missing in one: failed, or not made at all
    as good as   the lower end of the difference's 95% interval is above -margin
    gate         fails if a model is worse (Holm over the models), if more than `max_missing` is missing or a model is
                 altogether, if there are too few questions for any drop to be significant (`Paired.least`), or, with a
                 margin, if a model is not shown to be as good as before within it

Two runs are compared only if one judge made both with one judge set, scale and sampling, on the same wordings, as in a
table; differences that the user allows are noted.

80 questions, the new run lost 8 to an outage: 10% are missing, and the gate fails with the usual 5%, whatever the
grades of the rest. So it does if the other run broke after 11 questions: nothing shows a drop in the 69 others.

Source: Piaggio et al. (2012), JAMA 308, 2594, for non-inferiority by a confidence interval.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

from harness.old.errors import UsageError
from harness.old.judgments.case import scale_text
from harness.old.judgments.observations import Observations
from harness.old.names import counted
from harness.old.records import Observation, QuestionId
from harness.old.results.matrix import matrix
from harness.old.results.statistics.bootstrap import Resampling
from harness.old.results.statistics.paired import Paired, PairedTable, compare_runs

ALLOWED = ("judge", "judge-set", "scale", "sampling", "criterion", "score-method", "questions")
"""What may differ between two runs if the user allows it."""
MAX_MISSING = 0.05

Item = tuple[QuestionId, int, str | None]
"""Question, turn and, of pairs, the opponent."""


class Missing(NamedTuple):
    """What is missing of one model in the two runs."""

    failed: int
    """Judgments without a verdict."""
    absent: int
    """Judgments that only the other run has."""
    other_failed: int
    """Judgments of the other run without a verdict."""
    items: int
    """Judgments of either run."""
    other_absent: int = 0
    """Judgments that only the new run has; not those against a model that is new itself."""

    @property
    def share(self) -> float:
        """The larger share of all that is missing in one of the two runs."""
        lost = max(self.failed + self.absent, self.other_failed + self.other_absent)
        return lost / self.items if self.items else 1.0

    @property
    def in_other(self) -> str:
        """A text about what is missing in the other run."""
        absent = f" and {self.other_absent} not made" if self.other_absent else ""
        return f"{self.other_failed} failed{absent} in the other"


class Runs(NamedTuple):
    """A run compared with another one."""

    table: PairedTable
    """model_1 is of the new run."""
    missing: tuple[Missing, ...]
    """For each pair of the table."""
    gone: tuple[str, ...]
    """The models that only the other run has."""
    notes: tuple[str, ...]

    def faults(self, *, max_missing: float = MAX_MISSING, margin: float | None = None) -> list[str]:
        """Return why the new run does not pass, a line each; nothing if it does."""
        found = [f"{model} is not judged in this run (--model-list names those to compare)" for model in self.gone]
        for pair, lost in zip(self.table.pairs, self.missing, strict=True):
            if lost.share > max_missing:
                found.append(
                    f"{pair.model_1}: {lost.share:.0%} of the judgments are missing ({lost.failed} failed, "
                    f"{lost.absent} not made, {lost.in_other} run), more than {max_missing:.0%}"
                )
            if pair.better == "model_2":
                found.append(f"{pair.model_1} is worse than in the other run")
            elif pair.p is None:
                found.append(f"{pair.model_1} has no verdict in common with the other run")
            elif margin is not None and not as_good(pair, margin):
                told = f"is not shown to be as good as in the other run, within {margin:g}{_unseen(pair)}"
                found.append(f"{pair.model_1} {told}")
            elif margin is None and pair.n < pair.least:
                on = f"on {counted(pair.n, 'question')} no drop would be significant, however large"
                found.append(f"{pair.model_1} is not shown to be no worse: {on} ({pair.least} or more would do)")
        return found


def as_good(pair: Paired, margin: float) -> bool:
    """Return whether model_1 is at most `margin` worse than model_2, at the 2.5% level."""
    low = pair.difference.low
    if low is None and pair.sd == 0 and pair.n >= _ALL_AGREE:
        low = pair.difference.value
    return low is not None and low > -margin


def _unseen(pair: Paired) -> str:
    """Return why a model of which no question differs is not shown to be as good; empty where one differs."""
    if pair.sd != 0 or pair.p != 1 or pair.difference.low is None:
        return ""
    return (
        f"; none of {pair.n} questions differs, but others may: a drop of {-pair.difference.low:.2g} is not ruled out"
    )


_ALL_AGREE = 6
"""So many questions without any difference have a chance below 2.5% (1 in 2^6) if half of them could have shown one."""


def compared_runs(
    new: Observations,
    old: Observations,
    groups: Mapping[QuestionId, Any],
    *,
    models: Sequence[str] | None = None,
    allow: Sequence[str] = (),
    count_failed: bool = False,
    margin: float | None = None,
    **how: Unpack[Resampling],
) -> Runs:
    """Return each model's new run compared with its old one, question by question: of `models`, or of all.

    A file with a single model is compared with a single one of any name: a new checkpoint with the one before.

    Raises:
        UsageError: the runs have another judge, judge set, sampling, criterion or wording, which is not allowed, or no
            model or question in common.
    """
    notes = _differing(new, old, allow)
    if new.paired:
        places: dict[tuple[int, str | None], int] = {}
        arrays = [matrix(_outcomes(run, places), dict(groups)) for run in (new, old)]
    else:
        arrays = [matrix(run, groups, count_failed=count_failed) for run in (new, old)]
    table = compare_runs(arrays[0], arrays[1], models, **how)
    items = _items(new), _items(old)
    missing = tuple(_missing(items[0][pair.model_1], items[1][pair.model_2]) for pair in table.pairs)
    wanted = set(models if models is not None else [*items[0], *items[1]])
    fresh = sorted(wanted & items[0].keys() - {pair.model_1 for pair in table.pairs})
    gone = sorted(wanted & items[1].keys() - {pair.model_2 for pair in table.pairs})
    for which, alone in (("the other", gone), ("this", fresh)):
        notes += [f"judged only in {which} run, so not compared: {', '.join(alone)}"] if alone else []
    for pair, lost in zip(table.pairs, missing, strict=True):
        if lost.share:
            notes.append(
                f"{pair.model_1}, of {lost.items} judgments: {lost.failed} failed and {lost.absent} not made in this "
                f"run, {lost.in_other}"
            )
        if margin is not None:
            good = as_good(pair, margin)
            shown, room = ("as good as", "") if good else ("not shown to be as good as", _unseen(pair))
            on = f", on the {counted(pair.n, 'question')} that both have" if lost.share else ""
            notes.append(f"{pair.model_1} is {shown} {pair.model_2} of the other run, within {margin:g}{on}{room}")
    if table.smallest_detectable is not None and any(pair.n >= pair.least for pair in table.pairs):
        notes.append(
            f"the smallest drop that this comparison detects with 80% power is {table.smallest_detectable:.2g}"
        )
    return Runs(table, missing, tuple(gone), tuple(notes))


def _differing(new: Observations, old: Observations, allow: Sequence[str]) -> list[str]:
    """Return a note on each difference that is allowed.

    Raises:
        UsageError: there is one that is not, or no such name.
    """
    unknown = [name for name in allow if name not in ALLOWED]
    if unknown:
        raise UsageError(f"--allow {unknown[0]}: no such difference; there are: {', '.join(ALLOWED)}")
    if new.paired != old.paired:
        raise UsageError("one run has grades and the other pairs, which cannot be compared")
    notes = []
    other = _origin(old)
    for name, here in _origin(new).items():
        there = other[name]
        if here == there or (name == "scale" and not (here and there)):  # not every row states one
            continue
        told = f"{name} {', '.join(sorted(here))} here and {', '.join(sorted(there))} there"
        if name not in allow:
            raise UsageError(f"the two runs are not comparable: {told}; --allow {name} compares them anyway")
        notes.append(f"compared although they differ: {told} (--allow {name})")
    reworded = _reworded(new, old)
    if reworded:
        told = f"{len(reworded)} questions have another wording (question {reworded[0]})"
        if "questions" not in allow:
            raise UsageError(f"the two runs are not comparable: {told}; --allow questions compares them anyway")
        notes.append(f"compared although {told} (--allow questions)")
    return notes


def _origin(run: Observations) -> dict[str, set[str]]:
    sources = run.sources()
    return {
        "judge": {s.judge for s in sources},
        "judge-set": {s.set_text for s in sources},
        "scale": set() if run.paired else {scale_text(scale) for scale in run.scales()},
        "sampling": {s.sampling for s in sources},
        "criterion": set(run.metrics()),
        "score-method": {s.method for s in sources},
    }


def _reworded(new: Observations, old: Observations) -> list[QuestionId]:
    """Return the questions whose texts differ between the two runs, as far as the rows show."""
    before = {asked.question_id: asked.content for asked in old.asked if asked.content is not None}
    own = {asked.question_id: asked.content for asked in new.asked if asked.content is not None}
    return [question for question, content in own.items() if before.get(question, content) != content]


def _outcomes(pairs: Observations, places: dict[tuple[int, str | None], int]) -> list[Observation]:
    """Return each model's outcomes as grades from 0 to 1; their turns are the `places` of turn and opponent, alike in
    both runs."""
    return [
        one._replace(
            model=str(model),
            opponent=None,
            turn=places.setdefault((one.turn, opponent), len(places)),
            value=value,
            games=(),
            source=one.source._replace(scale=(0.0, 1.0)),
        )
        for one in pairs
        if one.value is not None
        for model, opponent, value in ((one.model, one.opponent, one.value), (one.opponent, one.model, 1 - one.value))
    ]


def _items(found: Observations) -> dict[str, dict[Item, bool]]:
    """Return for each model its judgments, and whether they have a verdict."""
    items: dict[str, dict[Item, bool]] = {}
    for (case, asked, _), failed in zip(found.rows(), found.failed.tolist(), strict=True):
        for model in case.models:
            own = items.setdefault(model, {})
            opponent = next((other for other in case.models if other != model), None)
            key = (asked.question_id, case.turn, opponent)
            own[key] = own.get(key, False) or not failed
    return items


def _missing(new: Mapping[Item, bool], old: Mapping[Item, bool]) -> Missing:
    failed = sum(not good for good in new.values())
    other_failed = sum(not good for good in old.values())
    known = {opponent for *_, opponent in old}
    other_absent = sum(item not in old and item[-1] in known for item in new)
    return Missing(failed, len(old.keys() - new.keys()), other_failed, len(new.keys() | old.keys()), other_absent)
