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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec.structs import replace

from harness import models, store
from harness.bench import Bench, take
from harness.bench.names import Kind as JudgmentKind
from harness.errors import MissingError, UsageError
from harness.judging import builtin
from harness.judging.draw import drawn_pairs
from harness.judging.judge import MORE_TOKENS, judging
from harness.judging.prompts import Match, Prompts, written
from harness.judging.sets import JudgeSet, load
from harness.models import Endpoint, ModelConfig
from harness.options import GenJudgment
from harness.running import Job
from harness.types import (
    UNSTATED,
    Answer,
    Judgment,
    MadeFrom,
    Mode,
    Question,
    QuestionId,
    Sampling,
    Vote,
    split_variant,
)

NO_REFERENCE = "none"
"""In place of a reference's author: judges see neither references nor notes."""


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
    older: int = 0
    """Of these, by an older version of the judge set."""
    foreign: int = 0
    """Of these, made by another tool."""
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
    mode: Mode
    judge_set: JudgeSet
    questions: list[Question]
    groups: list[tuple[str, ...]]
    """The single models, or the pairs."""
    tasks: list[JudgeTask] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What the user should know before the first call."""
    awaited: dict[str, set[QuestionId]] = field(default_factory=dict)
    """Answers that will be there while the plan is run, by model."""
    turns: tuple[int, ...] = ()
    """The turns that are judged; empty: all."""
    every_choice: bool = False
    """Whether every conversation of an answer is judged, not the first alone."""
    voted: bool = False
    """Whether only pairs are judged that people voted on."""
    share: float | None = None
    """The share of the pairs that is drawn at random; None: all, and none is called drawn."""
    looks: Mapping[QuestionId, int] = field(default_factory=dict)
    """Of a run that stops when it is decided, the look of each question."""
    retry_cut: float = MORE_TOKENS

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

    @property
    def turns_judged(self) -> int:
        """The turns of the questions that are judged."""
        return sum(1 for question in self.questions for _ in _turns(self, question))

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
            if model in task.prompts.answers:
                task.prompts.add(model, answer)
            for match in task.todo:
                about = match.question.question_id == key and model in match.models
                if about and not self._waits(match):
                    for choice in task.prompts.choices(match) if self.every_choice else (0,):
                        yield self._job(task, dataclasses.replace(match, choice=choice))

    def _waits(self, match: Match) -> bool:
        key = match.question.question_id
        return any(key in self.awaited.get(model, ()) for model in match.models)

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
    judge_set = load(flags.judge_set or bench.settings.judge_set or "mt_bench", bench.folder)
    judge_set = judge_set.by(part.criterion)
    if categories and judge_set.criteria:
        judge_set = judge_set.for_categories(categories)
    reference = flags.reference
    if reference == NO_REFERENCE:
        judge_set = judge_set.without_references()
        reference = None
    typed = _typed(options)
    judge_set = replace(
        judge_set,
        sampling=typed.over(judge_set.sampling),
        baseline=flags.baseline_model or judge_set.baseline,
    )
    votes = _voted(flags.votes) if flags.votes else None
    if options.until is not None and (flags.share or flags.redo or votes is not None):
        raise UsageError("--until goes without --share, --votes and --redo")
    some_pairs = "--votes" if votes is not None else "--share" if flags.share is not None else ""
    mode = flags.mode or ("pairwise-all" if some_pairs else judge_set.mode) or "single"
    if some_pairs and mode != "pairwise-all":
        raise UsageError(f"{some_pairs} takes some of the pairs of --mode pairwise-all")
    if votes is not None and flags.share is not None:
        raise UsageError("--votes and --share exclude each other: pairs are voted on or drawn")
    chosen = list(part.model_list) or (sorted(votes.models) if votes is not None else [])
    waits = {model: set(ids) for model, ids in (awaited or {}).items()}
    known = sorted({*bench.answered_models(), *waits})
    baseline = judge_set.baseline if mode == "pairwise-baseline" else None
    names = _models(bench, chosen or known, known, baseline)
    if questions is None:
        bounds = part.question_begin, part.question_end, part.first_n, part.sample_n
        questions = take(bench.questions, *bounds)
    plan = JudgePlan(
        bench=bench,
        mode=mode,
        judge_set=judge_set,
        questions=list(questions),
        groups=_groups(judge_set, mode, names),
        awaited=waits,
        turns=part.turns,
        every_choice=flags.choices == "all",
        voted=votes is not None,
        share=flags.share,
        looks=looks or {},
        retry_cut=1.0 if typed.max_tokens is not None else MORE_TOKENS,
    )
    prompts = _gather(plan, options, reference, votes)
    address = ModelConfig(
        base_url=options.endpoint.base_url,
        api_key_env=options.endpoint.api_key_env,
        timeout=options.limits.timeout,
    )
    for name in dict.fromkeys(flags.judge_model):
        endpoint = models.resolve(
            name, address, configs, typed=frozenset(typed.stated()), key_needed=key_needed
        )
        own = judge_set.sampling.over(endpoint.sampling)
        endpoint.check(own)
        by = dataclasses.replace(prompts, judge_set=replace(judge_set, sampling=own))
        for sample in range(flags.samples):
            path = bench.judgment_file(name, judge_set.name, plan.kind, sample)
            _fill(plan, JudgeTask(name, endpoint, by, path, sample), flags, votes)
    _tell(plan)
    if not any(task.todo or task.already for task in plan.tasks):
        why = "--turns, the chosen questions and the judge set leave no turn"
        if votes is not None:
            why = "nobody voted on any of the chosen pairs"
        if plan.share is not None:
            why = f"--share {flags.share:g} draws no pair of so few questions and models"
        elif plan.notices:
            why = "; ".join(plan.notices)
        raise UsageError(f"there is nothing to judge: {why}")
    return plan


# Who and what


def _typed(options: GenJudgment) -> Sampling:
    """Return the sampling that the user gave by flags."""
    from harness.answering.sampling import parameters

    given = options.sampling
    temperature = None if given.temperature is None else float(given.temperature)
    own = Sampling(temperature=temperature, max_tokens=given.max_tokens)
    return own.over(parameters(given.param))


def _models(
    bench: Bench, names: Sequence[str], known: Sequence[str], baseline: str | None
) -> list[str]:
    """Return the models to judge and the baseline, all of which have answers."""
    folder = bench.folder / "model_answer"
    if not known:
        raise UsageError(f"no model has answers in {folder}; run gen_answer first")
    for name in [*names, *([baseline] if baseline else [])]:
        if name not in known:
            there = f"there are: {', '.join(known)}"
            raise UsageError(f"no answers by {name!r} in {folder}; {there}; run gen_answer first")
    return list(dict.fromkeys(names))


def _groups(judge_set: JudgeSet, mode: Mode, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the single models, or the pairs; a baseline is the second, as in FastChat."""
    if mode == "single":
        return [(name,) for name in names]
    if mode == "pairwise-all":
        if len(names) < 2:
            raise UsageError(
                f"pairwise-all compares two models or more; there is {', '.join(names)}"
            )
        return list(itertools.combinations(names, 2))
    baseline = judge_set.baseline
    if baseline is None:
        raise UsageError("pairwise-baseline needs --baseline-model")
    groups: list[tuple[str, ...]] = [(name, baseline) for name in names if name != baseline]
    if not groups:
        raise UsageError(f"there is no model to compare with the baseline {baseline}")
    return groups


class _Votes(NamedTuple):
    """The pairs that people voted on."""

    pairs: frozenset[tuple[QuestionId, int, frozenset[str]]]
    models: frozenset[str]

    def holds(self, match: Match) -> bool:
        """Return whether somebody voted on the pair of a match."""
        return (match.question.question_id, match.turn, frozenset(match.models)) in self.pairs


def _voted(paths: Iterable[pathlib.Path]) -> _Votes:
    pairs = {
        (row.question_id, row.turn, frozenset({row.model_a, row.model_b}))
        for path in paths
        for row, *_ in store.rows(path, Vote)
    }
    return _Votes(frozenset(pairs), frozenset().union(*(pair[2] for pair in pairs)))


# What is needed


def _gather(
    plan: JudgePlan, options: GenJudgment, reference: str | None, votes: _Votes | None
) -> Prompts:
    """Read answers and references; leave out, or refuse, questions for which something is missing.

    Raises:
        MissingError: something is missing, and `--skip-missing` was not given.
        UsageError: it is not clear whose references to show, or the set shows none.
    """
    bench, judge_set = plan.bench, plan.judge_set
    rules = judge_set.references
    if reference and not (rules.required or rules.if_any):
        raise UsageError(f"--reference: the judge set {judge_set.name} shows no references")
    if votes is not None:
        about = {pair[0] for pair in votes.pairs}
        plan.questions = [q for q in plan.questions if q.question_id in about]
    judged = [q for q in plan.questions if any(_turns(plan, q))]
    if others := [q for q in plan.questions if q not in judged and not plan.turns]:
        text = f"left out: the judge set {judge_set.name} is not for {_named(others)}"
        plan.notices.append(text)
    relevant = {q.category for q in judged if judge_set.shows_reference(q.category, present=True)}
    found = bench.references(reference) if relevant or reference else None
    references = found.turns if found is not None else {}
    present = {q.category for q in bench.questions if q.question_id in references}
    referenced = frozenset(
        c for c in relevant if judge_set.shows_reference(c, present=c in present)
    )
    if without := sorted(relevant - referenced):
        text = f"{', '.join(without)}: no question of these has a reference answer; judged without"
        plan.notices.append(text)
    answers = {
        model: {
            key: answer
            for key, answer in bench.answers(model).items()
            if key not in plan.awaited.get(model, ())
        }
        for model in plan.models
    }
    structured = options.judging.structured == "auto"
    prompts = Prompts(bench, judge_set, answers, references, referenced, structured)
    missing: dict[tuple[str, str], list[Question]] = {}
    for question in judged:
        for lack in _missing(plan, prompts, question, votes, reference):
            missing.setdefault(lack, []).append(question)
    texts = [f"{text} {_named(those)}" for (_, text), those in missing.items()]
    if texts and not options.judging.skip_missing:
        advice = ", ".join(dict.fromkeys(advice for advice, _ in missing))
        raise MissingError(f"{'; '.join(texts)}; {advice}, or leave them out with --skip-missing")
    plan.notices += [f"left out for every model: {text}" for text in texts]
    left = {question.question_id for those in missing.values() for question in those}
    plan.questions = [question for question in judged if question.question_id not in left]
    return prompts


def _turns(plan: JudgePlan, question: Question) -> Iterator[int]:
    """Yield the turns of a question that are judged: not given ones, nor others than asked for."""
    for turn in range(1, len(question.turns) + 1):
        wanted = (not plan.turns or turn in plan.turns) and question.given(turn) is None
        if wanted and plan.judge_set.criteria_of(question, turn):
            yield turn


def _missing(
    plan: JudgePlan,
    prompts: Prompts,
    question: Question,
    votes: _Votes | None,
    reference: str | None,
) -> Iterator[tuple[str, str]]:
    """Yield what a question lacks: what to do, and a phrase that the question's id ends."""
    key, turns = question.question_id, list(_turns(plan, question))
    groups = plan.groups
    if votes is not None:
        holds = votes.holds
        groups = [g for g in groups if any(holds(Match(question, turn, g)) for turn in turns)]
    for model in dict.fromkeys(model for group in groups for model in group):
        if key in plan.awaited.get(model, ()) or _no_history(plan.bench, model, question):
            continue
        answer, advice = prompts.answers[model].get(key), "run gen_answer"
        if answer is None:
            yield advice, f"{model} has no answer to"
        elif len(answer.choices[0].turns) < turns[-1] and question.user is None:
            yield advice, f"{model} has not answered every turn of"
        elif answer.made_from and answer.made_from.question not in (None, question.hash):
            yield advice, f"{model} answered another wording of"
    found: dict[tuple[str, str], None] = {}
    for turn in turns if groups else ():
        for criterion in plan.judge_set.criteria_of(question, turn):
            match = Match(question, turn, groups[0], criterion)
            if prompts.lacks_reference(match):
                by = f" by {reference}" if reference else ""
                advice = "write reference_answer/NAME.jsonl or name a model with --reference"
                found[advice, f"there is no reference answer{by} to"] = None
            for name in prompts.lacking(match):
                text = f"there is no text in the field {name!r}, which the prompt shows, of"
                found["add the field to question.jsonl", text] = None
    yield from found


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


class _Row(NamedTuple):
    """The part of a row that tells whether it is done; the texts would fill the memory."""

    made_from: MadeFrom | None
    shown_first: str | None
    failed: bool
    version: str
    tstamp: float | None
    tokens: int | None


def _rows(plan: JudgePlan, task: JudgeTask) -> dict[tuple[Any, ...], _Row]:
    """Return the row that counts for each key; FastChat's `$ERROR$` is none.

    A judge's rows in files that are named otherwise count as well.
    """
    found: dict[tuple[Any, ...], _Row] = {}
    others = [file.path for file in plan.bench.judgment_files() if file.name is None]
    paths = [*others, task.path] if task.path.exists() else others
    for row in (place.row for path in paths for place in store.rows(path, Judgment)):
        texts = (row.judgment, row.g1_judgment, row.g2_judgment)
        if row.made_from is None and "$ERROR$" in texts:
            continue
        about = (row.judge_model, row.sample, row.model is None)
        if about != (task.name, task.sample, plan.mode != "single"):
            continue
        if row.judge_set not in (plan.judge_set.name, UNSTATED):
            continue
        kept = found.get(row.key)
        if kept is None or kept.failed or not row.failed:
            tokens = row.details[0].usage.completion_tokens if row.details else None
            made, version = row.made_from, row.judge_set_version
            found[row.key] = _Row(made, row.shown_first, row.failed, version, row.tstamp, tokens)
    return found


def _fill(plan: JudgePlan, task: JudgeTask, flags: Any, votes: _Votes | None) -> None:
    """Put into a judge's task what it has to do."""
    builtin_name = task.name if task.endpoint.provider == "builtin_judge" else None
    rows = _rows(plan, task)
    task.lengths = [float(row.tokens) for row in rows.values() if row.tokens][:1000]
    for match in _matches(plan, task, flags, votes):
        if builtin_name is not None:
            builtin.require(builtin_name, task.prompts.form(match))
        waits = plan._waits(match)
        row = rows.get(match.key)
        if row is not None and not waits and _done(row, match, task, flags.redo):
            task.already += 1
            task.foreign += row.made_from is None
            task.older += row.version != plan.judge_set.version and row.made_from is not None
            task.newest = max(task.newest or 0.0, row.tstamp or 0.0) or None
            continue
        task.superseded += row is not None
        task.todo.append(match)
        if waits or not task.prompts.equal(match):
            games = task.prompts.judge_set.games(match.question, match.turn, match.sample)
            task.calls += len(games) if len(match.models) > 1 else 1
    plan.tasks.append(task)


def _matches(plan: JudgePlan, task: JudgeTask, flags: Any, votes: _Votes | None) -> Iterator[Match]:
    """Yield every match; the criteria come last, since their prompts share a beginning."""
    answers, judge_set = task.prompts.answers, plan.judge_set
    names = plan.models
    for question in plan.questions:
        key = question.question_id
        for turn in _turns(plan, question):
            drawn = None
            if plan.share is not None:
                drawn = drawn_pairs(key, turn, names, plan.share)
            for group in plan.groups:
                if drawn is not None and frozenset(group) not in drawn:
                    continue
                there = [answers[model].get(key) for model in group]
                known = [answer for answer in there if answer is not None]
                if len(known) < len(group) and not plan._waits(Match(question, turn, group)):
                    continue  # a variant for which there is no history
                if not all(written(question, answer, turn) for answer in known):
                    continue
                about = Match(question, turn, group)
                every = plan.every_choice and len(known) == len(group)
                for choice in task.prompts.choices(about) if every else (0,):
                    for criterion in judge_set.criteria_of(question, turn):
                        which = (task.sample, choice, plan.share, plan.looks.get(key))
                        match = Match(question, turn, group, criterion, *which)
                        if votes is None or votes.holds(match):
                            yield match


def _done(row: _Row, match: Match, task: JudgeTask, redo: str | None) -> bool:
    """Return whether a row is what judging the match today would be about."""
    if redo == "all" or (redo == "failed" and row.failed):
        return False
    games = task.prompts.judge_set.games(match.question, match.turn, match.sample)
    if len(games) == 1 and row.shown_first not in (None, f"model_{games[0]}"):
        return False
    if row.made_from is None:
        return True
    made = task.prompts.made_from(match)
    if row.made_from == made:
        return True
    same = all(
        getattr(row.made_from, name) == getattr(made, name)
        for name in ("question", "conversation", "reference")
    )
    return same and _older(row.version, task.prompts.judge_set.version)


def _older(version: str, than: str) -> bool:
    """Return whether a version is an earlier one; versions that are not numbers are only different.

    >>> _older("1", "2"), _older("1.9", "1.10"), _older("b0b805e4", "2")
    (True, True, False)
    """
    numbers = [
        [int(part) for part in text.split(".")] if re.fullmatch(r"\d+(?:\.\d+)*", text) else None
        for text in (version, than)
    ]
    return None not in numbers and numbers[0] < numbers[1]  # type: ignore[operator]


# What the user should know


FAMILIES: Mapping[str, str] = {
    r"gpt|chatgpt|o[134]\b|davinci": "OpenAI's",
    r"claude": "Anthropic's",
    r"gemini|gemma|palm": "Google's",
    r"llama": "Meta's",
    r"qwen|qwq": "Alibaba's",
    r"mi[sx]tral|ministral|magistral": "Mistral's",
    r"deepseek": "DeepSeek's",
    r"command|aya": "Cohere's",
    r"grok": "xAI's",
    r"glm|chatglm": "Zhipu's",
    r"phi": "Microsoft's",
    r"exaone": "LG's",
}


def family(model: str) -> str | None:
    """Return whose family a model is of, by its name; None: unknown.

    >>> family("openai/gpt-4o-mini")
    "OpenAI's"
    """
    name = split_variant(model)[0].rpartition("/")[2].lower()
    return next((owner for names, owner in FAMILIES.items() if re.match(names, name)), None)


def _tell(plan: JudgePlan) -> None:
    """Add the notices that depend on who judges whom."""
    for task in plan.tasks:
        if task.sample:
            continue
        own = family(task.name)
        kin = [model for model in plan.models if own is not None and family(model) == own]
        if kin and (task.todo or task.already):
            plan.notices.append(
                f"{task.name} judges models of its own family ({', '.join(kin[:3])}"
                f"{', …' if len(kin) > 3 else ''}); judges tend to favour those, add another judge"
            )
        if task.foreign:
            plan.notices.append(
                f"{task.name}: {task.foreign} judgments do not say how they were made (FastChat's "
                "or another tool's); they count as done, --redo judges again"
            )
        if task.older:
            plan.notices.append(
                f"{task.name}: {task.older} judgments are by an older version of "
                f"{plan.judge_set.name}; they count as done, --redo judges again"
            )
    if any(template.form.by_logprobs for template in plan.judge_set.templates.values()):
        plan.notices.append(
            f"{plan.judge_set.name} weighs the likely tokens of the verdict: a thinking model, or "
            "an endpoint without log-probabilities, cannot be its judge"
        )
    plan.notices += builtin.notices(task.name for task in plan.tasks)
