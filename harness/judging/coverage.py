"""What the judgments of a benchmark are of: by judge, judge set, mode and sample, and how many.

for judged in read_coverage(bench):
    judged.current, judged.changed          80, {"answers": 40}
    command_line(judged.record(bench))      the `gen_judgment` that made them, and goes on
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness import store
from harness.bench import Bench
from harness.judging.current import NO_REFERENCE, UNKNOWN, Today
from harness.options import GenJudgment, Judging, Slice
from harness.types import UNSTATED, Judgment, Mode


class State(NamedTuple):
    """What counts of the row of a key."""

    good: bool
    """Whether it has a verdict."""
    changed: str | None
    """What has changed since it was made."""
    drawn: float | None
    look: int | None
    without_reference: bool
    models: frozenset[str]
    choice: int


@dataclass
class Coverage:
    """The judgments of one judge by one judge set, in one mode, of one sample."""

    judge: str
    judge_set: str
    paired: bool
    sample: int
    states: dict[Any, State] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """Judgments that are current, with a verdict or without."""
        return sum(state.changed is None for state in self.states.values())

    @property
    def unread(self) -> int:
        """Of these, those without a verdict."""
        return sum(state.changed is None and not state.good for state in self.states.values())

    @property
    def changed(self) -> Counter[str]:
        """What has changed since the others were made."""
        return Counter(state.changed for state in self.states.values() if state.changed)

    @property
    def stopped(self) -> bool:
        """Whether a run with --until judged them, as far as it was needed."""
        return any(state.look for state in self.states.values())

    @property
    def share(self) -> float | None:
        """The share of the pairs, if all of them were drawn at random."""
        shares = [state.drawn for state in self.states.values()]
        drawn = [share for share in shares if share is not None]
        return max(drawn) if drawn and len(drawn) == len(shares) else None

    @property
    def baseline(self) -> str | None:
        """The model that is in every pair of several."""
        pairs = {state.models for state in self.states.values()}
        if not self.paired or self.share is not None or len(pairs) < 2:
            return None
        return next(iter(frozenset.intersection(*pairs)), None)

    @property
    def mode(self) -> Mode:
        """Grades, pairs with a baseline, or all pairs."""
        if not self.paired:
            return "single"
        return "pairwise-all" if self.baseline is None else "pairwise-baseline"

    def record(
        self, bench: Bench, part: Slice | None = None, redo: str | None = None
    ) -> GenJudgment:
        """Return the options of the command that makes what is missing of them.

        It states every flag without which it would do something else; parameters of the judge are
        those of the rows that are there.
        """
        usual = bench.settings.judge_set or "mt_bench"
        every_choice = any(state.choice for state in self.states.values())
        without = any(state.without_reference for state in self.states.values())
        judging: dict[str, Any] = {
            "judge_model": (self.judge,),
            "judge_set": None if self.judge_set == usual else self.judge_set,
            "mode": self.mode,
            "baseline_model": self.baseline,
            "share": self.share,
            "samples": self.sample + 1,
            "choices": "all" if every_choice else "first",
            "reference": NO_REFERENCE if without else None,
            "redo": redo,
        }
        return GenJudgment(judging=Judging(**judging), bench=bench.named, slice=part or Slice())


def read_coverage(bench: Bench, today: Today | None = None) -> list[Coverage]:
    """Return what the judgment files of a benchmark hold, in whatever files."""
    today = today or Today(bench)
    kinds: dict[tuple[str, str, bool, int], Coverage] = {}
    for file in bench.judgment_files():
        for row, *_ in store.rows(file.path, Judgment):
            judge_set = row.judge_set
            if judge_set == UNSTATED:
                judge_set = file.name.judge_set if file.name is not None else "mt_bench"
            about = row.judge_model, judge_set, row.model is None, row.sample
            states = kinds.setdefault(about, Coverage(*about)).states
            earlier = states.get(row.key)
            if earlier is None or not row.failed or not earlier.good:
                states[row.key] = State(
                    not row.failed,
                    UNKNOWN if row.question_id not in bench.by_id else today.changed(row),
                    row.drawn,
                    row.look,
                    row.made_from is not None and row.made_from.reference == NO_REFERENCE,
                    frozenset(row.models),
                    row.choice,
                )
    today.answers.keep()
    return list(kinds.values())


def together(several: Sequence[Coverage]) -> list[Coverage]:
    """Return one of each judge, judge set and mode: that of the greatest sample."""
    last: dict[tuple[str, str, bool], Coverage] = {}
    for judged in sorted(several, key=lambda judged: judged.sample):
        last[judged.judge, judged.judge_set, judged.paired] = judged
    return list(last.values())
