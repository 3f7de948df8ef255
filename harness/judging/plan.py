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
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec import convert
from msgspec.structs import replace

from harness import models, store
from harness.answering import sampling
from harness.bench import Bench
from harness.bench.current import Parameters, Split, in_words, kept_note, kept_parameters, split
from harness.bench.names import Kind as JudgmentKind
from harness.errors import MissingError, UsageError, near
from harness.judging import builtin
from harness.judging.anchors import Anchors, none_left, read_anchors
from harness.judging.answers import JudgedAnswers
from harness.judging.current import NO_REFERENCE, Today, is_older
from harness.judging.draw import draw_order, drawn_number, drawn_pairs
from harness.judging.judge import judge_match
from harness.judging.prompts import Match, Prompts, make_prompts, parameters_hash
from harness.judging.sets import ANY, JudgeSet, load_for
from harness.models import Endpoint, ModelConfig
from harness.models.providers import company_of
from harness.options import GenJudgment
from harness.running import Job, check_limits
from harness.types import (
    UNSTATED,
    Answer,
    Judgment,
    Mode,
    Question,
    QuestionId,
    Sampling,
    Vote,
    split_variant,
)

Votes: TypeAlias = frozenset[tuple[QuestionId, int, frozenset[str]]]
"""The pairs that people voted on: question, turn, models."""


@dataclass
class JudgeTask:
    """What one judge has judged and has to judge, in one file: one sample."""

    name: str
    endpoint: Endpoint
    path: pathlib.Path
    sample: int
    stated: frozenset[str]
    """The parameters that the command line or turnbench.toml states."""
    prompts: Prompts = field(init=False, repr=False)
    rows: dict[tuple[Any, ...], Judgment] = field(default_factory=dict, repr=False)
    """What is there, by key, without texts."""
    split: Split[Match] = field(default_factory=Split)
    """What is done and what is left."""
    foreign: int = 0
    """Of what is done, made by another tool or by an older version of the judge set."""
    calls_of: "array[int]" = field(default_factory=lambda: array("b"), repr=False)
    """Calls for each of what is left, if none is repeated; equal answers take none."""
    lengths: list[float] = field(default_factory=list)
    """Tokens of earlier replies."""
    only: frozenset[tuple[Any, ...]] | None = None
    """The keys of the anchors that are drawn; None: everything is judged."""
    stored: int = 0
    """How many judgments of it the stored run has, of which anchors are drawn."""

    @property
    def todo(self) -> list[Match]:
        """What is left to judge."""
        return self.split.todo

    @property
    def calls(self) -> int:
        """Calls, if none is repeated."""
        return sum(self.calls_of)


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
    today: Today
    reference: str | None
    """Whose references are shown; `none`: nobody's."""
    retry_cut: float
    """The factor by which the token limit grows after a cut reply; 1: it is not repeated."""
    tasks: list[JudgeTask] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""
    lacking: list[str] = field(default_factory=list)
    """Why questions are left out for every model, with their ids."""
    anchors: Anchors | None = None
    """What a stored run judged, if that is judged anew in place of what is missing."""
    answers: dict[str, JudgedAnswers] = field(default_factory=dict, repr=False)
    """By model."""
    _pairs: dict[tuple[QuestionId, int], list[tuple[str, ...]]] = field(
        default_factory=dict, repr=False
    )

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
        key, share, votes = question.question_id, self.options.judging.share, self.votes
        if share is None and votes is None:
            return self.groups
        if (key, turn) not in self._pairs:
            if share is not None:
                drawn = drawn_pairs(key, turn, self.models, share)
                pairs = [group for group in self.groups if frozenset(group) in drawn]
            else:
                about = {group: (key, turn, frozenset(group)) for group in self.groups}
                pairs = [group for group in self.groups if about[group] in (votes or ())]
            self._pairs[key, turn] = pairs
        return self._pairs[key, turn]

    def calls_by_share(self, shares: Sequence[float]) -> list[int]:
        """Return how many of the calls are left if only these shares of the pairs are judged.

        The draw is counted; a smaller share is the beginning of a larger one.
        """
        left: dict[tuple[QuestionId, int], dict[frozenset[str], int]] = {}
        for task in self.tasks:
            for match, calls in zip(task.todo, task.calls_of, strict=True):
                pairs = left.setdefault((match.question.question_id, match.turn), {})
                pair = frozenset(match.models)
                pairs[pair] = pairs.get(pair, 0) + calls
        sums, models = [0] * len(shares), self.models
        for (key, turn), pairs in left.items():
            numbers = [drawn_number(key, turn, len(models), share) for share in shares]
            order = draw_order(key, turn, models, max(numbers))
            for at, number in enumerate(numbers):
                sums[at] += sum(pairs.get(pair, 0) for pair in order[:number])
        return sums

    def jobs(self) -> Iterator[Job]:
        """Yield the jobs whose answers are there."""
        return (self.job(task, match) for task, match in self.ready())

    def ready(self) -> list[tuple[JudgeTask, Match]]:
        """Return what is left and whose answers are there: a job is made when it is taken."""
        return [
            (task, match)
            for task in self.tasks
            for match in task.todo
            if not (self.awaited and self._waits(match))
        ]

    def about(self, answer: Answer) -> Iterator[Job]:
        """Yield the jobs that a new answer makes possible."""
        key, model = answer.question_id, answer.model_id
        self.awaited.get(model, set()).discard(key)
        if model in self.answers:
            self.answers[model].add(answer)
        for task in self.tasks:
            for match in task.todo:
                if match.question.question_id != key or model not in match.models:
                    continue
                for choice in () if self._waits(match) else self._choices(match):
                    yield self.job(task, dataclasses.replace(match, choice=choice))

    def _waits(self, match: Match) -> bool:
        key = match.question.question_id
        return any(key in self.awaited.get(model, ()) for model in match.models)

    def _choices(self, match: Match) -> Sequence[int]:
        """Return the conversations that are judged: the first, or those that every model has."""
        if self.options.judging.choices != "all" or self._waits(match):
            return (0,)
        key = match.question.question_id
        choices = (self.answers[model].outlines[key].choices for model in match.models)
        return sorted(set.intersection(*map(set, choices)))

    def job(self, task: JudgeTask, match: Match) -> Job:
        """Return the job that judges a match."""
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
            steps=lambda: judge_match(match, task.name, task.prompts, self.retry_cut),
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
    check_limits(options.limits)
    flags = options.judging
    if not flags.judge_model:
        advice = "builtin/overlap needs no key, for trying things out"
        raise UsageError(f"name the judges with --judge-model ({advice})")
    anchors = read_anchors(options)
    typed = sampling.typed(options.sampling)
    loaded = load_for(bench, flags.judge_set)
    judge_set = _apply_options(loaded, options, typed, categories)
    votes = _read_votes(flags.votes)
    mode = _mode(options, judge_set, anchors)
    if questions is None:
        questions = bench.take(options.slice)
    waits = {model: set(ids) for model, ids in (awaited or {}).items()}
    voted = sorted(frozenset().union(*(pair for *_, pair in votes or ())))
    plan = JudgePlan(
        bench=bench,
        options=options,
        mode=mode,
        judge_set=judge_set,
        questions=_narrow(questions, anchors, votes),
        groups=anchors.groups
        if anchors is not None
        else _groups(bench, judge_set, mode, options.slice.model_list or voted, waits),
        awaited=waits,
        looks=looks or {},
        votes=votes,
        today=Today(bench, flags.reference, loaded),
        reference=flags.reference,
        retry_cut=1.0 if typed.max_tokens is not None else sampling.RETRY_CUT,
        anchors=anchors,
    )
    # The judges first: what is there says with which flags it was made, and those that this command
    # does not state are kept, before anything is planned by them.
    plan.tasks = _make_tasks(plan, typed, configs, key_needed=key_needed)
    _keep_reference(plan)
    prompts = _gather(plan)
    for task in plan.tasks:
        task.prompts = dataclasses.replace(prompts, judge_set=_judge_set(plan, task))
        if anchors is not None:
            _draw_anchors(plan, task, anchors)
        _fill(plan, task)
    if anchors is not None and not any(task.only for task in plan.tasks):
        raise none_left(anchors, {task.name: task.stored for task in plan.tasks})
    plan.today.answers.keep()
    built_in = any(task.endpoint.provider == "builtin_judge" for task in plan.tasks)
    if built_in or any("checks" in template.names for template in judge_set.templates.values()):
        bench.validate_checks(plan.questions)
    _tell(plan, configs or {})
    if not any(task.todo or task.split.done for task in plan.tasks):
        why = ["--turns, the chosen questions, --votes or --share and the judge set leave no match"]
        raise UsageError(f"there is nothing to judge: {'; '.join(plan.notices or why)}")
    return plan


# Who and what


def _apply_options(
    judge_set: JudgeSet,
    options: GenJudgment,
    typed: Sampling,
    categories: Mapping[str, Sequence[str]] | None,
) -> JudgeSet:
    """Return a judge set as a command's options, and the criteria of each category, change it."""
    flags = options.judging
    judge_set = judge_set.by(options.slice.criterion)
    if categories and judge_set.criteria:
        judge_set = judge_set.for_categories(categories)
    if flags.structured == "off":
        judge_set = judge_set.without_schemas()
    return replace(
        judge_set,
        sampling=typed.over(judge_set.sampling),
        baseline=flags.baseline_model or judge_set.baseline,
    )


def _read_votes(paths: Sequence[pathlib.Path]) -> Votes | None:
    """Return the pairs that people voted on in some files; None: no file is named."""
    if not paths:
        return None
    rows = (place.row for path in paths for place in store.rows(path, Vote))
    return frozenset(
        (row.question_id, row.turn, frozenset({row.model_a, row.model_b})) for row in rows
    )


def _narrow(
    questions: Sequence[Question], anchors: Anchors | None, votes: Votes | None
) -> list[Question]:
    """Return the questions that a stored run judged or people voted on, where these are judged."""
    if anchors is not None:
        stored = {row.question_id for row in anchors.rows}
        questions = [q for q in questions if q.question_id in stored]
    if votes is not None:
        voted = {vote[0] for vote in votes}
        questions = [q for q in questions if q.question_id in voted]
    return list(questions)


def _make_tasks(
    plan: JudgePlan,
    typed: Sampling,
    configs: Mapping[str, ModelConfig] | None,
    *,
    key_needed: bool,
) -> list[JudgeTask]:
    """Return a task for each judge and sample, with the rows that are there."""
    bench, options, judge_set, anchors = plan.bench, plan.options, plan.judge_set, plan.anchors
    typed_names = frozenset(typed.stated())
    address = ModelConfig(
        base_url=options.endpoint.base_url,
        api_key_env=options.endpoint.api_key_env,
        timeout=options.limits.timeout,
    )
    tasks = []
    for name in dict.fromkeys(options.judging.judge_model):
        endpoint = models.resolve(name, address, configs, typed=typed_names, key_needed=key_needed)
        endpoint.check(judge_set.sampling.over(endpoint.sampling))
        stated = typed_names | endpoint.sampling.stated().keys()
        for sample in range(options.judging.samples):
            path = bench.judgment_file(name, judge_set.name, plan.kind, sample)
            if anchors is not None:
                path = bench.state / "anchors" / path.name
            task = JudgeTask(name, endpoint, path, sample, stated)
            if anchors is None:
                task.rows = store.latest_of(_rows(plan, task))
            else:  # they are judged with the parameters that they were judged with
                task.rows = anchors.of(name, sample, judge_set.name)
            tasks.append(task)
    return tasks


def _mode(options: GenJudgment, judge_set: JudgeSet, anchors: Anchors | None) -> Mode:
    """Return the mode that is asked for: by --mode, --votes or --share, anchors, the judge set."""
    flags = options.judging
    part = "--votes" if flags.votes else "--share" if flags.share is not None else ""
    if options.until is not None and (part or flags.redo):
        raise UsageError("--until goes without --share, --votes and --redo")
    if flags.votes and flags.share is not None:
        raise UsageError("--votes and --share exclude each other: pairs are voted on or drawn")
    mode = flags.mode or ("pairwise-all" if part else judge_set.mode) or "single"
    if part and mode != "pairwise-all":
        raise UsageError(f"{part} takes some of the pairs of --mode pairwise-all")
    if anchors is not None and flags.mode is None:
        return "pairwise-all" if anchors.paired else "single"
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
        raise UsageError(f"no model has answers in {folder}; run gen_answer first{bench.nowhere}")
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
    reference = plan.reference if plan.reference != NO_REFERENCE else None
    if reference and not (judge_set.references.required or judge_set.references.if_any):
        raise UsageError(f"--reference: the judge set {judge_set.name} shows no references")
    questions = [q for q in plan.questions if plan.turns(q)]
    unjudged = [q for q in plan.questions if not plan.turns(q)]
    if unjudged and not plan.options.slice.turns:
        text = f"left out: the judge set {judge_set.name} is not for {_named(unjudged)}"
        plan.notices.append(text)
    for model in plan.models:
        plan.answers[model] = JudgedAnswers(bench, model, compared=plan.mode != "single")
        for key in plan.awaited.get(model, ()):
            plan.answers[model].leave_out(key)
    plan.notices += bench.answer_notes
    prompts = make_prompts(bench, judge_set, plan.answers, questions, reference)
    prompts.without_references = plan.reference == NO_REFERENCE
    missing: dict[str, list[Question]] = {}
    for question in questions:
        for fault in dict.fromkeys(_missing(plan, prompts, question)):
            missing.setdefault(fault, []).append(question)
    plan.lacking = [f"{text} {_named(lacking)}" for text, lacking in missing.items()]
    if plan.lacking and not flags.skip_missing:
        raise MissingError(f"{'; '.join(plan.lacking)}; {_remedies(missing)}")
    plan.notices += [f"left out for every model: {text}" for text in plan.lacking]
    left_out = {q.question_id for lacking in missing.values() for q in lacking}
    plan.questions = [q for q in questions if q.question_id not in left_out]
    return prompts


def _remedies(faults: Iterable[str]) -> str:
    """Return what to do about what questions lack."""
    remedies = {
        "demands a reference": "write it into reference_answer/NAME.jsonl (or name an answered "
        "model with --reference), or give them another category",
        "in the field": "add the text to question.jsonl",
        "answer": "run gen_answer",
    }
    found = (next(text for sign, text in remedies.items() if sign in fault) for fault in faults)
    return ", ".join([*dict.fromkeys(found), "or leave them out with --skip-missing"])


def _missing(plan: JudgePlan, prompts: Prompts, question: Question) -> Iterator[str]:
    """Yield what a question lacks, as phrases that the question's id ends."""
    key, wording, turns = question.question_id, question.hash, plan.turns(question)
    groups = {turn: plan.pairs(question, turn) for turn in turns}
    judged = [model for turn in turns for group in groups[turn] for model in group]
    for model in dict.fromkeys(judged):
        if key in plan.awaited.get(model, ()) or _no_history(plan.bench, model, question):
            continue
        answer = plan.answers[model].outlines.get(key)
        if answer is None:
            yield f"{model} has no answer to"
        elif answer.turns < turns[-1] and question.user is None:
            yield f"{model} has not answered every turn of"
        elif answer.question not in (None, wording):
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


def _rows(plan: JudgePlan, task: JudgeTask) -> Iterator[Judgment]:
    """Yield a judge's rows without texts, also those of files that are named otherwise.

    FastChat's `$ERROR$` is none.
    """
    files = plan.bench.judgment_files() if plan.anchors is None else ()
    paths = [file.path for file in files if file.name is None]
    paths += [task.path] if task.path.exists() else []
    for row in (place.row for path in paths for place in store.rows(path, Judgment)):
        about = (row.judge_model, row.sample, row.model is None)
        if about != (task.name, task.sample, plan.mode != "single"):
            continue
        if row.judge_set not in (plan.judge_set.name, UNSTATED):
            continue
        if row.made_from is None and "$ERROR$" in [getattr(row, name) for name in TEXTS]:
            continue
        tokens = row.details[0].usage.completion_tokens if row.details else None
        task.lengths += [float(tokens)] if tokens and len(task.lengths) < 1000 else []
        row.details = []  # they and the texts would fill the memory
        for name in TEXTS:
            setattr(row, name, None)
        yield row


WHY = {
    "question": "the question was changed",
    "answers": "the answers were replaced",
    "reference": "the reference was changed",
    "template": "the judge set's prompts were changed",
}
"""What `Today.changed` says of a judgment, in the words of a plan."""


def _keep_reference(plan: JudgePlan) -> None:
    """Judge without references where all that is there was and this command does not say.

    Raises:
        UsageError: some judgments were made with references, some without.
    """
    flags, required = plan.options.judging, plan.judge_set.references.required
    if plan.reference is None and flags.redo != "all":
        kept_away, shown = 0, 0
        for row in (row for task in plan.tasks for row in task.rows.values()):
            question = plan.bench.by_id.get(row.question_id)
            if row.made_from is not None and question is not None:
                reference = row.made_from.reference
                needs = bool({question.category, ANY} & required)
                kept_away += reference == NO_REFERENCE or (reference is None and needs)
                shown += reference not in (None, NO_REFERENCE)
        if kept_away and shown:
            raise UsageError(
                f"{shown} judgments were made with references and {kept_away} without; state "
                f"--reference NAME or --reference {NO_REFERENCE}"
            )
        if kept_away:
            plan.reference = NO_REFERENCE
            plan.notices.append(
                f"{kept_away} judgments were made without references, which is kept; --reference "
                "or --redo changes it"
            )
    if plan.reference == NO_REFERENCE:
        plan.judge_set = plan.judge_set.without_references()


def _judge_set(plan: JudgePlan, task: JudgeTask) -> JudgeSet:
    """Return the judge set with the judge's sampling: as stated, else as the rows have it.

    Raises:
        UsageError: a parameter that nothing states differs among the rows.
    """
    judge_set = replace(
        plan.judge_set, sampling=plan.judge_set.sampling.over(task.endpoint.sampling)
    )
    if plan.options.judging.redo == "all":
        return judge_set
    now = sampling.with_seed(judge_set.sampling, task.sample).stated()
    rows = [
        row.sampling
        for row in task.rows.values()
        if row.made_from is not None and row.judge_set_version == judge_set.version and row.sampling
    ]
    different = {repr(then): Parameters(then, now, task.stated) for then in rows}
    kept = kept_parameters(task.path, list(different.values()))
    if not kept:
        return judge_set
    plan.notices.append(kept_note(task.name, len(rows), kept))
    if kept.get("seed") is not None:
        kept["seed"] -= task.sample  # each sample has its own
    values = judge_set.sampling.stated() | kept
    return replace(judge_set, sampling=convert(values, Sampling))


def _fill(plan: JudgePlan, task: JudgeTask) -> None:
    """Put into a judge's task what it has to do."""
    redo, prompts = plan.options.judging.redo, task.prompts
    version = prompts.judge_set.version

    def change(match: Match, row: Judgment) -> list[str]:
        """Return in words what has changed since a row was made."""
        if plan.awaited and plan._waits(match):
            return ["the answers are made again"]
        if redo == "all" or (redo == "failed" and row.failed):
            return ["--redo"]
        if row.shown_first is not None:
            # Of one order, the other one is another judgment; both orders hold either.
            games = prompts.judge_set.games(match.question, match.turn, match.sample)
            if len(games) == 1 and row.shown_first != f"model_{games[0]}":
                return ["the pair is shown in the other order"]
        if row.made_from is None:
            task.foreign += 1
            return []
        parts = plan.today.changed(row)
        causes = [WHY[part] for part in parts.split(", ")] if parts else []
        # Another version has other parameters of its own; an older one counts as it is.
        if row.judge_set_version != version and is_older(row.judge_set_version, version):
            task.foreign += not causes
            return causes
        return causes + _changed_parameters(task, match, row)

    built_in = task.endpoint.provider == "builtin_judge"
    matches = _matches(plan, task)
    if built_in:
        matches = _able(task, matches)
    task.split = split(((match.key, match) for match in matches), task.rows, change)
    task.calls_of = array("b", _calls(plan, task))


def _calls(plan: JudgePlan, task: JudgeTask) -> Iterator[int]:
    """Yield the calls for each match that is left; two answers that are the same text take none."""
    prompts = task.prompts
    # All pairs of a turn stand together: each answer is looked at once, not once for each pair.
    about, texts = None, dict[str, int]()
    for match in task.todo:
        if len(match.models) == 1:
            yield 1
            continue
        if not (plan.awaited and plan._waits(match)):
            key = match.question.question_id
            if about != (turn := (key, match.turn, match.choice)):
                about, texts = turn, {}
            for model in match.models:
                if model not in texts:
                    outline = plan.answers[model].outlines[key]
                    texts[model] = outline.texts(match.choice, match.turn)
            if texts[match.models[0]] == texts[match.models[1]]:
                yield 0
                continue
        yield len(prompts.judge_set.games(match.question, match.turn, match.sample))


def _able(task: JudgeTask, matches: Iterable[Match]) -> Iterator[Match]:
    """Yield matches for which a built-in judge has a verdict of the form that is asked for."""
    for match in matches:
        builtin.require(task.name, task.prompts.template(match).form)
        yield match


def _changed_parameters(task: JudgeTask, match: Match, row: Judgment) -> list[str]:
    """Return which parameters differ from a row's and are stated, with both values."""
    assert row.made_from is not None
    now, schema = task.prompts.sampling(match).stated(), task.prompts.schema(match)
    made = row.made_from.parameters
    if made in (None, parameters_hash(now, schema)):
        return []
    changes = Parameters(row.sampling, now, task.stated).changes
    if changes:
        return in_words(changes)
    # Nothing that is stated differs: is what the row says of itself all that it was made with?
    if made in (parameters_hash(row.sampling, schema), parameters_hash(row.sampling, None)):
        return []
    return ["the parameters or the form of the reply were others"]


def _draw_anchors(plan: JudgePlan, task: JudgeTask, anchors: Anchors) -> None:
    """Choose what a judge judges anew: of its rows those that would be made from the same today."""
    then = task.rows
    same = [
        match.key
        for match in _matches(plan, task)
        if match.key in then and task.prompts.made_from(match) == then[match.key].made_from
    ]
    task.only, task.stored = anchors.draw(same), len(then)
    task.rows = store.latest_of(_rows(plan, task))
    plan.notices.append(
        f"{task.name}: {len(task.only)} of the {len(then)} judgments of {anchors.path} are judged "
        "anew, as anchors"
    )


def _matches(plan: JudgePlan, task: JudgeTask) -> Iterator[Match]:
    """Yield every match; the criteria come last, since their prompts share a beginning."""
    share, models = plan.options.judging.share, plan.models
    every_choice = plan.options.judging.choices == "all"
    for question in plan.questions:
        key, look = question.question_id, plan.looks.get(question.question_id)
        for turn in plan.turns(question):
            criteria = plan.judge_set.criteria_of(question, turn)
            # A model is not judged on a turn that was given to it, nor, as a variant, on one for
            # which there is no history: then there is no answer, and none is awaited.
            judged = {
                model: outline.wrote(question, turn)
                if (outline := plan.answers[model].outlines.get(key)) is not None
                else key in plan.awaited.get(model, ())
                for model in models
            }
            for group in plan.pairs(question, turn):
                if not all(judged[model] for model in group):
                    continue
                choices: Sequence[int] = (0,)
                if every_choice:
                    first = Match(question, turn, group, None, task.sample)
                    choices = plan._choices(first)
                for choice in choices:
                    for criterion in criteria:
                        match = Match(
                            question, turn, group, criterion, task.sample, choice, share, look
                        )
                        if task.only is None or match.key in task.only:
                            yield match


# What the user should know


def _company(model: str) -> str | None:
    return company_of(split_variant(model)[0])


def _is_itself(judge: Endpoint, model: str, config: ModelConfig | None) -> bool:
    """Return whether a model is the judge, or served under the same name and address."""
    if split_variant(model)[0] == judge.name:
        return True
    if config is None or not judge.base_url:
        return False
    address = (config.base_url or "").rstrip("/"), config.model or model
    return address == (judge.base_url.rstrip("/"), judge.model)


def _tell(plan: JudgePlan, configs: Mapping[str, ModelConfig]) -> None:
    """Add the notices that depend on who judges whom."""
    for task in plan.tasks:
        if task.sample:
            continue
        is_used = bool(task.todo or task.split.done)
        own = [
            name
            for name in plan.models
            if _is_itself(task.endpoint, name, configs.get(split_variant(name)[0]))
        ]
        if own and is_used:
            renamed = [name for name in own if split_variant(name)[0] != task.name]
            served = f" ({', '.join(renamed)}: the same name and address)" if renamed else ""
            plan.notices.append(
                f"{task.name} judges answers of its own{served}; judges tend to favour those, add "
                "another judge"
            )
        company = _company(task.name)
        kin = [
            name
            for name in plan.models
            if name not in own and company is not None and _company(name) == company
        ]
        if kin and is_used:
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
