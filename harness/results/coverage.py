"""What the judgments of a benchmark are of: by judge, judge set, mode and sample, and how many.

for judged in read_coverage(bench):
    judged.judged, judged.changed           80, {"answers": 40}
    command_line(judged.record(bench))      the `gen_judgment` that made them, and goes on
"""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from msgspec.structs import replace

from harness.bench import Bench
from harness.bench.current import Split, split
from harness.bench.names import parse_judgment_name
from harness.errors import TurnbenchError
from harness.models import ModelConfig, address_of
from harness.options import Address, GenAnswer, GenJudgment, History, Judging, Models, Slice
from harness.results.reading import read
from harness.results.scores import LeftOut, Scores, Source, distinct
from harness.types import UNSTATED, Answer, Mode, Question, first_own_turn, split_variant

if TYPE_CHECKING:
    from harness.judging.plan import JudgePlan

About: TypeAlias = tuple[str, str, bool, int]
"""Judge, judge set, whether they are pairs, sample."""


@dataclass
class Coverage:
    """The judgments of one judge by one judge set, in one mode, of one sample."""

    judge: str
    judge_set: str
    paired: bool
    sample: int
    scores: Scores
    """Of what is current, one entry for each judgment."""
    not_current: list[LeftOut] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """Judgments that are current, with a verdict or without."""
        return len(self.scores)

    @property
    def unread(self) -> int:
        """Of these, those without a verdict."""
        return int((~self.scores.valid).sum())

    @property
    def changed(self) -> Counter[str]:
        """What has changed since the others were made."""
        return Counter(row.cause for row in self.not_current)

    @functools.cached_property
    def sources(self) -> list[Source]:
        """How they were made; of those that are not current too."""
        present = self.scores.sources_present.values()
        return [*present, *(row.source for row in self.not_current)]

    @property
    def stopped(self) -> bool:
        """Whether a run with --until judged them, as far as it was needed."""
        return any(source.look for source in self.sources)

    @property
    def share(self) -> float | None:
        """The share of the pairs, if all of them were drawn at random."""
        drawn = [source.drawn for source in self.sources if source.drawn is not None]
        return max(drawn) if drawn and len(drawn) == len(self.sources) else None

    @property
    def baseline(self) -> str | None:
        """The model that is in every pair of several."""
        both = zip(self.scores.model.tolist(), self.scores.opponent.tolist(), strict=True)
        names = self.scores.models
        pairs = {frozenset((names[first], names[second])) for first, second in set(both)}
        pairs |= {frozenset(row.models) for row in self.not_current}
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
        self,
        bench: Bench,
        part: Slice | None = None,
        redo: str | None = None,
        configs: Mapping[str, ModelConfig] | None = None,
    ) -> GenJudgment:
        """Return the options of the command that makes what is missing of them.

        It states every flag without which it would do something else; parameters of the judge, and
        whether it sees references, are kept as the rows have them. `configs` are the models of
        turnbench.toml.
        """
        usual = bench.settings.usual_judge_set
        judging: dict[str, Any] = {
            "judge_model": (self.judge,),
            "judge_set": None if self.judge_set == usual else self.judge_set,
            "mode": self.mode,
            "baseline_model": self.baseline,
            "share": self.share,
            "samples": self.sample + 1,
            "choices": "all" if any(source.choice for source in self.sources) else "first",
            "redo": redo,
        }
        return GenJudgment(
            judging=Judging(**judging),
            bench=bench.named,
            slice=part or Slice(),
            endpoint=Address() if configs is None else address_of(self.judge, configs),
        )


def split_answers(
    bench: Bench,
    model: str,
    configs: Mapping[str, ModelConfig] | None = None,
    part: Slice | None = None,
) -> Split[Question]:
    """Return which questions a model has answered, and which it has not, as `gen_answer` counts.

    `configs` are the models of turnbench.toml.
    """
    from harness.answering.plan import plan_answers  # slow to import, and tables seldom need it

    record = replace(make_answering(bench, [model], configs, part), skip_missing=True)
    try:
        plan = plan_answers(bench, record, configs=configs, key_needed=False)
    except TurnbenchError:  # nothing says how it was called: only the questions can be compared
        return _by_question(bench, model, record.slice)
    done = plan.models[0].split
    todo = [unit.question for unit in done.todo]
    return Split(todo, done.done, done.changed, done.causes, done.newest)


def _by_question(bench: Bench, model: str, part: Slice) -> Split[Question]:
    def change(question: Question, row: Answer) -> list[str]:
        made = row.made_from
        same = made is None or made.question in (None, question.hash)
        return [] if same else ["the question was changed"]

    least = first_own_turn(model)  # a variant answers only where a turn of its own follows
    units = [(q.question_id, q) for q in bench.take(part) if len(q.turns) >= least]
    return split(units, bench.answers(model), change)


def make_answering(
    bench: Bench,
    models: Sequence[str],
    configs: Mapping[str, ModelConfig] | None = None,
    part: Slice | None = None,
) -> GenAnswer:
    """Return the options of the command that makes missing answers of some models.

    It is of those with the history of the first, and of those that need --base-url as it does. Of
    the slice it has the questions: turns, criteria and models are of judgments.
    """
    names = [split_variant(model) for model in models]
    history, address = names[0][1], address_of(names[0][0], configs)
    alike = dict.fromkeys(model for model, source in names if source == history)
    return GenAnswer(
        models=Models(model=tuple(m for m in alike if address_of(m, configs) == address)),
        bench=bench.named,
        history=History(history=history or "own"),
        slice=replace(part or Slice(), turns=(), criterion=(), model_list=()),
        endpoint=address,
    )


class Rest(NamedTuple):
    """What is left to judge."""

    record: GenJudgment
    """The options of the command that does it."""
    plan: "JudgePlan | None"
    """None: it cannot be planned."""
    fault: str = ""
    """Why not."""


def plan_rest(
    bench: Bench,
    judged: Coverage,
    configs: Mapping[str, ModelConfig] | None = None,
    part: Slice | None = None,
    redo: str | None = None,
) -> Rest:
    """Return what is left to judge, by the plan of the command that makes it.

    The command is that of `Coverage.record`. Where questions lack an answer or a reference and
    others can be judged, it leaves them out; alone, it says what they lack.
    """
    from harness.judging.plan import plan_judgments  # slow to import, and tables seldom need it

    record = judged.record(bench, part, redo, configs)
    skipping = replace(record, judging=replace(record.judging, skip_missing=True))
    planned = skipping
    if record.endpoint.base_url is not None:  # only the user knows it, and no call is made
        planned = replace(skipping, endpoint=Address(base_url="http://127.0.0.1:9"))
    try:
        plan = plan_judgments(bench, planned, configs=configs, key_needed=False)
    except TurnbenchError as error:
        return Rest(record, None, str(error))
    leaves_out = plan.lacking and any(task.todo for task in plan.tasks)
    return Rest(skipping if leaves_out else record, plan)


def read_coverage(bench: Bench) -> list[Coverage]:
    """Return what the judgment files of a benchmark hold, in whatever files."""
    return coverage_of(read(bench, needed=False))


def coverage_of(scores: Scores) -> list[Coverage]:
    """Return what judgments are of."""
    left_out: dict[About, list[LeftOut]] = {}
    for row in scores.not_current:
        left_out.setdefault(_about(row.source), []).append(row)
    codes: dict[About, list[int]] = {about: [] for about in left_out}
    for code, source in scores.sources_present.items():
        codes.setdefault(_about(source), []).append(code)
    return [
        Coverage(
            *about, _one_each(scores.take(np.isin(scores.source, own))), left_out.get(about, [])
        )
        for about, own in codes.items()
    ]


def _about(source: Source) -> About:
    """Return whose judgments a source's are; other tools' are of the judge set of their file."""
    judge_set = source.judge_set
    if judge_set == UNSTATED:
        name = parse_judgment_name(source.file)
        judge_set = "mt_bench" if name is None else name.judge_set
    return source.judge, judge_set, source.form == "pair", source.sample


def _one_each(scores: Scores) -> Scores:
    """Return one entry for each judgment: one with a verdict, if there is one in any file."""
    kinds = [(source.criterion, source.choice) for source in scores.sources]
    kind = np.array([kinds.index(of_source) for of_source in kinds], dtype=np.int64)
    scores = scores.take(np.argsort(~scores.valid, kind="stable"))
    columns = scores.question, scores.turn, *scores.ends, kind[scores.source]
    return scores.take(distinct(*columns)[0])


def together(several: Sequence[Coverage]) -> list[Coverage]:
    """Return one of each judge, judge set and mode: that of the greatest sample."""
    last: dict[tuple[str, str, bool], Coverage] = {}
    for judged in sorted(several, key=lambda judged: judged.sample):
        last[judged.judge, judged.judge_set, judged.paired] = judged
    return list(last.values())
