"""Which judgments exist, and the jobs that make the missing ones.

    plan = plan_judgments(bench, options.build(GenJudgment, {"judge_model": ["gpt-4.1"]}))
    running.run(plan.jobs(), limits, state=bench.state, total=plan.total)

Matches are questions × turns × models (or pairs) × criteria × samples. A judgment is done if it was
made from today's question, answers, reference, template and parameters, by the hashes in its row;
also if only template and parameters differ and it is by an older version of the judge set. Rows
without hashes, which other tools wrote, are done.
"""

import dataclasses
import itertools
import pathlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec.structs import replace

from harness import models, store
from harness.answering import sampling
from harness.bench import Bench
from harness.bench.names import Kind as JudgmentKind
from harness.errors import MissingError, UsageError, near
from harness.judging import builtin
from harness.judging.draw import drawn_pairs
from harness.judging.judge import judging
from harness.judging.prompts import Match, Prompts, make_prompts, written
from harness.judging.sets import JudgeSet, load
from harness.models import Endpoint, ModelConfig
from harness.options import GenJudgment
from harness.running import Job
from harness.types import (
    UNSTATED,
    Answer,
    Judgment,
    Mode,
    Question,
    QuestionId,
    Vote,
    split_variant,
)

NO_REFERENCE = "none"
"""In place of a reference's author: judges see neither references nor notes."""
Votes: TypeAlias = frozenset[tuple[QuestionId, int, frozenset[str]]]
"""The pairs that people voted on: question, turn, models."""


@dataclass
class JudgeTask:
    """What one judge has judged and has to judge, in one file: one sample."""

    name: str
    endpoint: Endpoint
    prompts: Prompts
    path: pathlib.Path
    sample: int
    todo: list[Match] = field(default_factory=list)
    already: int = 0
    """Judgments that are there and done."""
    foreign: int = 0
    """Of these, made by another tool or by an older version of the judge set."""
    superseded: int = 0
    """Judgments that are there but made from something else."""
    newest: float | None = None
    """When the newest of the done ones was made, in seconds since 1970."""
    calls: int = 0
    """Calls, if none is repeated."""
    lengths: list[float] = field(default_factory=list)
    """Tokens of earlier replies."""


@dataclass
class JudgePlan:
    """What is to be judged; nothing was called or written yet."""

    bench: Bench
    options: GenJudgment
    mode: Mode
    judge_set: JudgeSet
    questions: list[Question]
    groups: list[tuple[str, ...]]
    """The single models, or the pairs."""
    awaited: dict[str, set[QuestionId]]
    """Answers that will be there while the plan is run, by model."""
    looks: Mapping[QuestionId, int]
    """Of a run that stops when it is decided, the look of each question."""
    votes: Votes | None
    """If only pairs are judged that people voted on: these."""
    retry_cut: float
    """The factor by which the token limit grows after a cut reply; 1: it is not repeated."""
    tasks: list[JudgeTask] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""

    def __repr__(self) -> str:
        size = f"{len(self.models)} models, {self.total:,} to do"
        return f"<JudgePlan {self.bench.name[:100]}: {size}>"

    @property
    def kind(self) -> JudgmentKind:
        """The kind of file that the judgments go to."""
        if self.mode == "single":
            return "single"
        return "pair" if self.judge_set.order == "both" else "pair1"

    @property
    def total(self) -> int:
        """The number of jobs; those that wait for answers included."""
        return sum(len(task.todo) for task in self.tasks)

    @property
    def calls(self) -> int:
        """Calls to judges, if none is repeated."""
        return sum(task.calls for task in self.tasks)

    @property
    def models(self) -> list[str]:
        """The models that are judged."""
        return list(dict.fromkeys(model for group in self.groups for model in group))

    def turns(self, question: Question) -> list[int]:
        """Return the turns of a question that are judged: those chosen, but no given ones."""
        chosen = self.options.slice.turns
        return [
            turn
            for turn in range(1, len(question.turns) + 1)
            if (not chosen or turn in chosen)
            and question.given(turn) is None
            and self.judge_set.criteria_of(question, turn)
        ]

    def pairs(self, question: Question, turn: int) -> list[tuple[str, ...]]:
        """Return the models or pairs that are judged on a turn: all, those drawn or voted on."""
        key, share = question.question_id, self.options.judging.share
        if share is not None:
            drawn = drawn_pairs(key, turn, self.models, share)
            return [group for group in self.groups if frozenset(group) in drawn]
        if self.votes is not None:
            return [group for group in self.groups if (key, turn, frozenset(group)) in self.votes]
        return self.groups

    def jobs(self) -> Iterator[Job]:
        """Yield the jobs whose answers are there."""
        for task in self.tasks:
            for match in task.todo:
                if not self._waits(match):
                    yield self._job(task, match)

    def about(self, answer: Answer) -> Iterator[Job]:
        """Yield the jobs that a new answer makes possible."""
        key, model = answer.question_id, answer.model_id
        self.awaited.get(model, set()).discard(key)
        for task in self.tasks:
            task.prompts.answers.get(model, {})[key] = answer
            for match in task.todo:
                if match.question.question_id != key or model not in match.models:
                    continue
                for choice in () if self._waits(match) else self._choices(task, match):
                    yield self._job(task, dataclasses.replace(match, choice=choice))

    def _waits(self, match: Match) -> bool:
        key = match.question.question_id
        return any(key in self.awaited.get(model, ()) for model in match.models)

    def _choices(self, task: JudgeTask, match: Match) -> Sequence[int]:
        every = self.options.judging.choices == "all" and not self._waits(match)
        return task.prompts.choices(match) if every else (0,)

    def _job(self, task: JudgeTask, match: Match) -> Job:
        where = f"{task.name} on {' and '.join(match.models)}, "
        where += f"question {match.question.question_id}, turn {match.turn}"
        where += f", {match.criterion}" if match.criterion else ""
        where += f", choice {match.choice}" if match.choice else ""
        where += f", sample {match.sample}" if match.sample else ""
        return Job(
            id=repr(match.key),
            where=where,
            endpoint=task.endpoint,
            path=task.path,
            kind=Judgment,
            steps=lambda: judging(match, task.name, task.prompts, self.retry_cut),
            first=task.prompts.beginning(match),
        )


def plan_judgments(
    bench: Bench,
    options: GenJudgment,
    *,
    configs: Mapping[str, ModelConfig] | None = None,
    questions: Sequence[Question] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    awaited: Mapping[str, Collection[QuestionId]] | None = None,
    looks: Mapping[QuestionId, int] | None = None,
    key_needed: bool = True,
) -> JudgePlan:
    """Return what is left to do so that every judge has judged every match.

    `configs` are the models of turnbench.toml, `questions` those to judge in place of the slice's,
    `categories` the criteria of each category in place of the set's. `awaited` names answers, by
    model, that are still to be made. `looks` are those of a run that stops when it is decided.

    Raises:
        UsageError: no such judge, judge set, mode or model, or nothing is left to judge.
        MissingError: answers, references or a key are missing.
        DataError: a file is wrong.
    """
    flags, part = options.judging, options.slice
    if not flags.judge_model:
        advice = "builtin/overlap needs no key, for trying things out"
        raise UsageError(f"name the judges with --judge-model ({advice})")
    typed = sampling.typed(options.sampling)
    judge_set = load(flags.judge_set or bench.settings.judge_set or "mt_bench", bench.folder)
    judge_set = judge_set.by(part.criterion)
    if categories and judge_set.criteria:
        judge_set = judge_set.for_categories(categories)
    if flags.reference == NO_REFERENCE:
        judge_set = judge_set.without_references()
    if flags.structured == "off":
        judge_set = judge_set.without_schemas()
    judge_set = replace(
        judge_set,
        sampling=typed.over(judge_set.sampling),
        baseline=flags.baseline_model or judge_set.baseline,
    )
    votes: Votes | None = None
    if flags.votes:
        rows = (place.row for path in flags.votes for place in store.rows(path, Vote))
        votes = frozenset(
            (row.question_id, row.turn, frozenset({row.model_a, row.model_b})) for row in rows
        )
    mode = _mode(options, judge_set)
    if questions is None:
        questions = bench.take(part)
    if votes is not None:
        questions = [q for q in questions if q.question_id in {vote[0] for vote in votes}]
    waits = {model: set(ids) for model, ids in (awaited or {}).items()}
    voted = sorted(frozenset().union(*(pair for *_, pair in votes or ())))
    plan = JudgePlan(
        bench=bench,
        options=options,
        mode=mode,
        judge_set=judge_set,
        questions=list(questions),
        groups=_groups(bench, judge_set, mode, part.model_list or voted, waits),
        awaited=waits,
        looks=looks or {},
        votes=votes,
        retry_cut=1.0 if typed.max_tokens is not None else sampling.RETRY_CUT,
    )
    prompts = _gather(plan)
    address = ModelConfig(
        base_url=options.endpoint.base_url,
        api_key_env=options.endpoint.api_key_env,
        timeout=options.limits.timeout,
    )
    for name in dict.fromkeys(flags.judge_model):
        endpoint = models.resolve(
            name, address, configs, typed=frozenset(typed.stated()), key_needed=key_needed
        )
        by_judge = replace(judge_set, sampling=judge_set.sampling.over(endpoint.sampling))
        endpoint.check(by_judge.sampling)
        for sample in range(flags.samples):
            path = bench.judgment_file(name, judge_set.name, plan.kind, sample)
            task = JudgeTask(
                name, endpoint, dataclasses.replace(prompts, judge_set=by_judge), path, sample
            )
            plan.tasks.append(task)
            _fill(plan, task)
    built_in = any(task.endpoint.provider == "builtin_judge" for task in plan.tasks)
    if built_in or any("checks" in template.names for template in judge_set.templates.values()):
        bench.validate_checks(plan.questions)
    _tell(plan)
    if not any(task.todo or task.already for task in plan.tasks):
        why = ["--turns, the chosen questions, --votes or --share and the judge set leave no match"]
        raise UsageError(f"there is nothing to judge: {'; '.join(plan.notices or why)}")
    return plan


# Who and what


def _mode(options: GenJudgment, judge_set: JudgeSet) -> Mode:
    """Return the mode that is asked for: by --mode, by --votes or --share, by the judge set."""
    flags = options.judging
    part = "--votes" if flags.votes else "--share" if flags.share is not None else ""
    if options.until is not None and (part or flags.redo):
        raise UsageError("--until goes without --share, --votes and --redo")
    if flags.votes and flags.share is not None:
        raise UsageError("--votes and --share exclude each other: pairs are voted on or drawn")
    mode = flags.mode or ("pairwise-all" if part else judge_set.mode) or "single"
    if part and mode != "pairwise-all":
        raise UsageError(f"{part} takes some of the pairs of --mode pairwise-all")
    return mode


def _groups(
    bench: Bench,
    judge_set: JudgeSet,
    mode: Mode,
    chosen: Sequence[str],
    awaited: Collection[str],
) -> list[tuple[str, ...]]:
    """Return the single models, or the pairs; a baseline is the second, as in FastChat."""
    answered = sorted({*bench.answered_models(), *awaited})
    folder = bench.folder / "model_answer"
    if not answered:
        raise UsageError(f"no model has answers in {folder}; run gen_answer first")
    baseline = judge_set.baseline if mode == "pairwise-baseline" else None
    if mode == "pairwise-baseline" and baseline is None:
        raise UsageError("pairwise-baseline needs --baseline-model")
    names = list(dict.fromkeys(chosen or answered))
    for name in names if baseline is None else [*names, baseline]:
        if name not in answered:
            advice = f"{near(name, answered)}; run gen_answer first"
            raise UsageError(f"no answers by {name!r} in {folder}{advice}")
    if mode == "single":
        return [(name,) for name in names]
    groups: list[tuple[str, ...]] = list(itertools.combinations(names, 2))
    if baseline is not None:
        groups = [(name, baseline) for name in names if name != baseline]
    if not groups:
        raise UsageError(f"{mode} compares two models or more; there is {', '.join(names)}")
    return groups


# What is needed


def _gather(plan: JudgePlan) -> Prompts:
    """Read answers and references; leave out, or refuse, questions for which something is missing.

    Raises:
        MissingError: something is missing, and `--skip-missing` was not given.
        UsageError: it is not clear whose references to show, or the set shows none.
    """
    bench, judge_set, flags = plan.bench, plan.judge_set, plan.options.judging
    reference = flags.reference if flags.reference != NO_REFERENCE else None
    if reference and not (judge_set.references.required or judge_set.references.if_any):
        raise UsageError(f"--reference: the judge set {judge_set.name} shows no references")
    questions = [q for q in plan.questions if plan.turns(q)]
    unjudged = [q for q in plan.questions if not plan.turns(q)]
    if unjudged and not plan.options.slice.turns:
        text = f"left out: the judge set {judge_set.name} is not for {_named(unjudged)}"
        plan.notices.append(text)
    answers: dict[str, dict[QuestionId, Answer]] = {}
    for model in plan.models:
        awaited = plan.awaited.get(model, ())
        rows = bench.answers(model).items()
        answers[model] = {key: answer for key, answer in rows if key not in awaited}
    prompts = make_prompts(bench, judge_set, answers, questions, reference)
    missing: dict[str, list[Question]] = {}
    for question in questions:
        for fault in dict.fromkeys(_missing(plan, prompts, question)):
            missing.setdefault(fault, []).append(question)
    texts = [f"{text} {_named(lacking)}" for text, lacking in missing.items()]
    if texts and not flags.skip_missing:
        advice = "run gen_answer, add texts to question.jsonl or reference_answer/ (or --reference "
        advice += "MODEL), or leave the questions out with --skip-missing"
        raise MissingError(f"{'; '.join(texts)}; {advice}")
    plan.notices += [f"left out for every model: {text}" for text in texts]
    left_out = {q.question_id for lacking in missing.values() for q in lacking}
    plan.questions = [q for q in questions if q.question_id not in left_out]
    return prompts


def _missing(plan: JudgePlan, prompts: Prompts, question: Question) -> Iterator[str]:
    """Yield what a question lacks, as phrases that the question's id ends."""
    key, turns = question.question_id, plan.turns(question)
    groups = {turn: plan.pairs(question, turn) for turn in turns}
    judged = [model for turn in turns for group in groups[turn] for model in group]
    for model in dict.fromkeys(judged):
        if key in plan.awaited.get(model, ()) or _no_history(plan.bench, model, question):
            continue
        answer = prompts.answers[model].get(key)
        if answer is None:
            yield f"{model} has no answer to"
        elif len(answer.choices[0].turns) < turns[-1] and question.user is None:
            yield f"{model} has not answered every turn of"
        elif answer.made_from and answer.made_from.question not in (None, question.hash):
            yield f"{model} answered another wording of"
    for turn in turns:
        for criterion in plan.judge_set.criteria_of(question, turn) if groups[turn] else ():
            yield from prompts.missing(Match(question, turn, groups[turn][0], criterion))


def _no_history(bench: Bench, model: str, question: Question) -> bool:
    """Return whether a variant cannot have answered: no history reaches the last turn."""
    history = split_variant(model)[1]
    if history is None:
        return False
    try:
        turns = bench.history(history).get(question.question_id, [])
    except (MissingError, UsageError):  # what the answers continued from may be gone
        turns = []
    return len(turns) < len(question.turns) - 1


def _named(questions: Sequence[Question]) -> str:
    ids = [str(question.question_id) for question in questions]
    more = f" and {len(ids) - 6} more" if len(ids) > 6 else ""
    return f"question{'s' if len(ids) > 1 else ''} {', '.join(ids[:6])}{more}"


# What is done

TEXTS = [name for name in Judgment.__struct_fields__ if name.endswith(("prompt", "judgment"))]


def _rows(plan: JudgePlan, task: JudgeTask) -> dict[tuple[Any, ...], Judgment]:
    """Return the row that counts for each key, without texts; FastChat's `$ERROR$` is none.

    A judge's rows in files that are named otherwise count as well.
    """
    rows: dict[tuple[Any, ...], Judgment] = {}
    paths = [file.path for file in plan.bench.judgment_files() if file.name is None]
    paths += [task.path] if task.path.exists() else []
    for row in (place.row for path in paths for place in store.rows(path, Judgment)):
        about = (row.judge_model, row.sample, row.model is None)
        if about != (task.name, task.sample, plan.mode != "single"):
            continue
        if row.judge_set not in (plan.judge_set.name, UNSTATED):
            continue
        if row.made_from is None and "$ERROR$" in [getattr(row, name) for name in TEXTS]:
            continue
        earlier = rows.get(row.key)
        if earlier is None or earlier.failed or not row.failed:
            for name in TEXTS:  # they would fill the memory
                setattr(row, name, None)
            rows[row.key] = row
            tokens = row.details[0].usage.completion_tokens if row.details else None
            task.lengths += [float(tokens)] if tokens and len(task.lengths) < 1000 else []
    return rows


def _fill(plan: JudgePlan, task: JudgeTask) -> None:
    """Put into a judge's task what it has to do."""
    rows = _rows(plan, task)
    for match in _matches(plan, task):
        if task.endpoint.provider == "builtin_judge":
            builtin.require(task.name, task.prompts.template(match).form)
        waits = plan._waits(match)
        row = rows.get(match.key)
        if row is not None and not waits and _done(row, match, task, plan.options.judging.redo):
            task.already += 1
            task.foreign += row.made_from is None or row.judge_set_version != plan.judge_set.version
            task.newest = max(task.newest or 0.0, row.tstamp or 0.0) or None
            continue
        task.superseded += row is not None
        task.todo.append(match)
        if waits or not task.prompts.equal(match):
            games = task.prompts.judge_set.games(match.question, match.turn, match.sample)
            task.calls += len(games) if len(match.models) > 1 else 1


def _matches(plan: JudgePlan, task: JudgeTask) -> Iterator[Match]:
    """Yield every match; the criteria come last, since their prompts share a beginning."""
    answers, share = task.prompts.answers, plan.options.judging.share
    for question in plan.questions:
        key = question.question_id
        for turn in plan.turns(question):
            for group in plan.pairs(question, turn):
                about = Match(
                    question, turn, group, None, task.sample, 0, share, plan.looks.get(key)
                )
                present = [answers[model][key] for model in group if key in answers[model]]
                if len(present) < len(group) and not plan._waits(about):
                    continue  # a variant for which there is no history
                if not all(written(question, answer, turn) for answer in present):
                    continue
                for choice in plan._choices(task, about):
                    for criterion in plan.judge_set.criteria_of(question, turn):
                        yield dataclasses.replace(about, choice=choice, criterion=criterion)


def _done(row: Judgment, match: Match, task: JudgeTask, redo: str | None) -> bool:
    """Return whether a row is what judging the match today would be about."""
    if redo == "all" or (redo == "failed" and row.failed):
        return False
    judge_set = task.prompts.judge_set
    games = judge_set.games(match.question, match.turn, match.sample)
    if len(games) == 1 and row.shown_first not in (None, f"model_{games[0]}"):
        return False
    made_from = row.made_from
    if made_from is None:
        return True
    today = task.prompts.made_from(match)
    if _older(row.judge_set_version, judge_set.version):
        today = replace(today, template=made_from.template, parameters=made_from.parameters)
    return made_from == today


def _older(version: str, than: str) -> bool:
    """Return whether a version is an earlier one; versions that are not numbers are only different.

    >>> _older("1", "2"), _older("1.9", "1.10"), _older("b0b805e4", "2")
    (True, True, False)
    """
    try:
        return [int(n) for n in version.split(".")] < [int(n) for n in than.split(".")]
    except ValueError:
        return False


# What the user should know


FAMILIES = re.compile(
    r"(gpt|chatgpt|o[134]\b|davinci)|(claude)|(gemini|gemma|palm)|(llama)|(qwen|qwq)|(deepseek)"
    r"|(mi[sx]tral|ministral|magistral)|(command|aya)|(grok)|(glm|chatglm)|(phi)|(exaone)"
)
"""How the names of models begin: a group for each company."""


def _family(model: str) -> int | None:
    """Return the number of a model's family, by its name; None: unknown."""
    match = FAMILIES.match(split_variant(model)[0].rpartition("/")[2].lower())
    return match and match.lastindex


def _tell(plan: JudgePlan) -> None:
    """Add the notices that depend on who judges whom."""
    for task in plan.tasks:
        if task.sample:
            continue
        kin = [name for name in plan.models if _family(name) == _family(task.name) is not None]
        if kin and (task.todo or task.already):
            plan.notices.append(
                f"{task.name} judges models of its own family ({', '.join(kin[:3])}"
                f"{', …' if len(kin) > 3 else ''}); judges tend to favour those, add another judge"
            )
        if task.foreign:
            plan.notices.append(
                f"{task.name}: {task.foreign} judgments do not say how they were made (FastChat's "
                f"or another tool's) or are by an older version of {plan.judge_set.name}; they "
                "count as done, --redo judges again"
            )
        if task.name in builtin.NOTICES:
            plan.notices.append(builtin.NOTICES[task.name])
    if any(template.form.by_logprobs for template in plan.judge_set.templates.values()):
        plan.notices.append(
            f"{plan.judge_set.name} weighs the likely tokens of the verdict: a thinking model, or "
            "an endpoint without log-probabilities, cannot be its judge"
        )
