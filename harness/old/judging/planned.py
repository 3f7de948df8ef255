"""What a run of judgments will do: which matches there are, and for each judge its file and those still to judge.

Matches are questions × turns × criteria × models, or pairs of models in both orders. They are yielded one by one and
never held in a list: there may be a hundred thousand.
"""

import itertools
import pathlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.old.bench import Bench
from harness.old.chat import Endpoint
from harness.old.errors import UsageError
from harness.old.judging.files import Done
from harness.old.judging.materials import Materials
from harness.old.judging.sets import JudgeSet
from harness.old.judgments.judgment import Match
from harness.old.judgments.row import judged_rows
from harness.old.records import Mode, Question, QuestionId


def model_groups(
    judge_set: JudgeSet, mode: Mode, models: Iterable[str], met: Collection[tuple[str, ...]] = ()
) -> list[tuple[str, ...]]:
    """Return the single models or the pairs that are judged in a mode.

    Pairs are in the order of `models`; against the set's baseline, that is the second (`model_2`), as in FastChat.
    `met` are the groups in a file: if two models of it have never met there, its pairs were chosen one by one, and
    nobody has planned any other.

    Raises:
        UsageError: too few models, or no baseline where one is needed.
    """
    names = list(dict.fromkeys(models))
    if mode == "single":
        groups: list[tuple[str, ...]] = [(name,) for name in names]
    elif mode == "pairwise-all":
        if len(names) < 2:
            raise UsageError(
                f"pairwise-all compares at least two models, but there is {len(names)}: {', '.join(names)}"
            )
        groups = list(itertools.combinations(names, 2))
    elif judge_set.baseline is None:
        raise UsageError("pairwise-baseline needs --baseline-model")
    else:
        groups = [(name, judge_set.baseline) for name in names if name != judge_set.baseline]
        if not groups:
            raise UsageError(f"there is no model to compare with the baseline {judge_set.baseline}")
    there, sets = frozenset[str]().union(*met), set(map(frozenset, met))
    chosen = any(there.issuperset(group) and frozenset(group) not in sets for group in groups)
    return [group for group in groups if frozenset(group) in sets] if chosen else groups


def plan_matches(
    materials: Materials, questions: Iterable[Question], groups: Iterable[tuple[str, ...]], sample: int = 0
) -> Iterator[Match]:
    """Yield every match: for each question and turn each model, or each pair in game 1, then game 2, by all criteria.

    The criteria come last since their prompts share a prefix, and a provider's cache keeps a prefix for minutes. The
    options choose turns and choices, the judge set the games. Turns that a model did not
    write are not judged, nor are questions for which a variant has no history.
    """
    judge_set, options = materials.judge_set, materials.options
    for question in questions:
        for turn in range(1, len(question.turns) + 1):
            if options.turns is not None and turn not in options.turns:
                continue
            games, criteria = judge_set.games(question, turn, sample), judge_set.criteria_of(question, turn)
            for group in groups:
                if not all(materials.wrote(model, question, turn) for model in group):
                    continue
                for choice in materials.choices(question, group) if options.every_choice else (0,):
                    for game, criterion in itertools.product((1,) if len(group) == 1 else games, criteria):
                        shown = group if game == 1 else group[::-1]
                        yield Match(question, turn, shown, game, criterion, sample, choice)


@dataclass(frozen=True, slots=True)
class Voted:
    """The pairs with votes."""

    pairs: frozenset[tuple[QuestionId, int, frozenset[str]]]
    """Question, turn, and the two models."""
    models: Mapping[QuestionId, frozenset[str]]
    """For each question, the models that are in one of its pairs."""

    def holds(self, match: Match) -> bool:
        """Return whether the pair of a match has votes."""
        return (match.question.question_id, match.turn, frozenset(match.models)) in self.pairs


def voted_pairs(paths: Iterable[pathlib.Path | str]) -> Voted:
    """Return the pairs in these files of votes.

    Raises:
        UsageError: a file contains votes on single answers.
        DataError: a line is invalid.
    """
    pairs = set()
    models: dict[QuestionId, set[str]] = {}
    for path in map(pathlib.Path, paths):
        for row in judged_rows(path):
            if len(row.models) != 2:
                raise UsageError(f"{path} contains grades of single answers, but pairs are requested")
            pairs.add((row.question_id, row.turn, frozenset(row.models)))
            models.setdefault(row.question_id, set()).update(row.models)
    return Voted(frozenset(pairs), {question: frozenset(own) for question, own in models.items()})


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
    sample: int = 0
    materials: Materials | None = None
    """The plan's materials with the judge's sampling from models.toml, made on first use."""

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
        """How many games a row has, each of them a job."""
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
        """Count a judge's done and remaining work; `told` is called now and then with the share that is counted."""
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

    def open(self, match: Match, judge: JudgePlan) -> bool:
        """Return whether the answers of a match exist and the judge still has to judge it."""
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
