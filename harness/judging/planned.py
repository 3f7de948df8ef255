"""What a run of judgments will do: for each judge its file, and the matches that it has still to judge."""

import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.bench import Bench
from harness.chat import Endpoint
from harness.judging.files import Done
from harness.judging.materials import Materials
from harness.judging.plan import plan_matches
from harness.judging.sets import JudgeSet
from harness.judging.voted import Voted
from harness.judgments.judgment import Match
from harness.records import Mode, Question, QuestionId


@dataclass
class JudgePlan:
    """What is to be done for one judge, in one file: one sample."""

    judge: str
    endpoint: Endpoint | None
    """None for a built-in judge."""
    path: pathlib.Path
    already: int = 0
    """Rows that are there and current."""
    superseded: int = 0
    """Rows that are there but were made from another question, answer, reference, template or sampling."""
    rows: int = 0
    """Rows to write."""
    calls: int = 0
    """Calls that these take, if none has to be repeated: two equal answers are a tie without one."""
    done: Done | None = None
    waiting: int = 0
    """Those of them whose answers are not there yet."""
    replaces: bool = False
    """Whether a row to be written replaces one that is there, be it only an error text."""
    sample: int = 0
    materials: Materials | None = None
    """The plan's materials with what models.toml says of the judge's sampling, once they are asked for."""

    @property
    def untidy(self) -> bool:
        """Whether the file has rows that later ones replace."""
        return self.done is not None and self.done.untidy


@dataclass
class JudgmentPlan:
    """Everything that `run_judgments` will do; nothing has been called or written yet."""

    bench: Bench
    mode: Mode
    judge_set: JudgeSet
    materials: Materials
    questions: tuple[Question, ...]
    groups: list[tuple[str, ...]]
    redo: bool
    judges: list[JudgePlan] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""
    awaited: Mapping[str, set[QuestionId]] = field(default_factory=dict)
    """Answers, by model and question, that are not there yet and will be while the plan is run."""
    voted: Voted | None = None
    """The only pairs that are judged; None: all."""
    redo_failed: bool = False
    """Whether what was judged without a verdict is judged again."""

    @property
    def one_order(self) -> bool:
        """Whether each pair is shown in one order only."""
        return self.mode != "single" and self.judge_set.order != "both"

    @property
    def games(self) -> int:
        """How many games a row holds, each of them a job."""
        return 1 if self.mode == "single" or self.one_order else 2

    @property
    def baseline(self) -> str | None:
        """The model that all others are compared with; None in other modes."""
        return self.groups[0][-1] if self.mode == "pairwise-baseline" else None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are judged."""
        return tuple(dict.fromkeys(model for group in self.groups for model in group))

    @property
    def rows(self) -> int:
        """Rows to write."""
        return sum(judge.rows for judge in self.judges)

    @property
    def jobs(self) -> int:
        """Grades and games to judge, with a call or without."""
        return self.rows * self.games

    @property
    def calls(self) -> int:
        """Calls to judges, if none has to be repeated."""
        return sum(judge.calls for judge in self.judges)

    def materials_of(self, judge: JudgePlan) -> Materials:
        """Return what a judge judges on: where the judge set leaves a parameter open, its endpoint's own counts."""
        if judge.endpoint is None or not judge.endpoint.sampling.stated():
            return self.materials
        if judge.materials is None:
            sampling = self.judge_set.sampling.before(judge.endpoint.sampling)
            judge.materials = replace(self.materials, judge_set=replace(self.judge_set, sampling=sampling))
        return judge.materials

    def matches(self, judge: JudgePlan) -> Iterator[Match]:
        """Yield the matches that the judge has still to judge."""
        for match in self.every_match(judge.sample):
            if self.open(match, judge):
                yield match

    def every_match(
        self,
        sample: int = 0,
        *,
        questions: Iterable[Question] | None = None,
        groups: Sequence[tuple[str, ...]] | None = None,
    ) -> Iterator[Match]:
        """Yield every match of a sample, judged or not; `questions` and `groups` narrow it."""
        matches = plan_matches(
            self.materials,
            self.questions if questions is None else questions,
            self.groups if groups is None else groups,
            sample,
        )
        voted = self.voted
        return matches if voted is None else (match for match in matches if voted.holds(match))

    def count(self, judge: JudgePlan, told: Callable[[float], None] = lambda share: None) -> None:
        """Count what a judge has done and has to do; `told` is called now and then with the share that is counted."""
        assert judge.done is not None
        for number, question in enumerate(self.questions):
            told(number / len(self.questions))
            for match in self.every_match(judge.sample, questions=[question]):
                if self.games == 2 and match.game == 2:
                    continue
                waits = self.awaits(match)
                current = None if waits else judge.done.current(match, self.materials_of(judge))
                if current and not self.open(match, judge):
                    judge.already += 1
                else:
                    judge.rows += 1
                    judge.calls += self.games if self.asks(match) else 0
                    judge.waiting += waits
                    judge.superseded += current is False
                    judge.replaces |= judge.done.holds(match)

    def open(self, match: Match, judge: JudgePlan) -> bool:
        """Return whether the answers of a match are there, and the judge has still to judge it."""
        if self.awaits(match):
            return False
        return (
            self.redo
            or judge.done is None
            or not judge.done.current(match, self.materials_of(judge))
            or (self.redo_failed and judge.done.unparsed(match))
        )

    def asks(self, match: Match) -> bool:
        """Return whether a match takes a call, as far as its answers are there: two equal ones take none."""
        return self.awaits(match) or not self.materials.equal(match)

    def awaits(self, match: Match) -> bool:
        """Return whether an answer of a match is not there yet."""
        return any(match.question.question_id in self.awaited.get(model, ()) for model in match.models)
