"""The state of a benchmark: what is answered, judged, missing and out of date, and what the missing part would cost.

    status = bench_status(load_bench("mt_bench"))
    status.models[0].missing, status.judges[0].judged, status.rest_rows()

Nothing is written and no lock is taken, so it can be used during a run. An answer is out of date here if its
question has changed, a judgment if its question, answers, reference or template have; the flags of the next run are
not known, so sampling is assumed to stay the same.
"""

import contextlib
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from harness.old.answering import AnswerOptions, AnswerPlan, ModelPlan, Todo
from harness.old.bench import Bench
from harness.old.chat import Endpoint, resolve
from harness.old.chat.prices import list_price
from harness.old.errors import MissingError, TurnbenchError
from harness.old.estimating import estimate_plan
from harness.old.jsonl import holder_of, is_there, logical_files, read_rows
from harness.old.judging.builtin import is_builtin_judge
from harness.old.judging.files import Done
from harness.old.judging.gathering import gather
from harness.old.judging.options import JudgeOptions
from harness.old.judging.planned import JudgePlan, JudgmentPlan, model_groups
from harness.old.judging.sets import load_judge_set
from harness.old.judgments.file_name import OWN_JUDGE_SET
from harness.old.judgments.row import JudgedRow
from harness.old.names import name_of, plain_model
from harness.old.records import UNSTATED, Answer, Mode, QuestionId
from harness.old.rows import is_good_answer, question_id, sampling_from_row
from harness.old.running.batches.ledger import ledger_beside, rows_awaited
from harness.old.running.estimate import Estimate
from harness.old.running.pending import kept_count, left_in, pending_file
from harness.old.written import takes_only


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """How far one model has answered."""

    model: str
    path: pathlib.Path
    answered: int
    """Questions with a current answer."""
    missing: tuple[QuestionId, ...]
    """Questions without an answer."""
    superseded: tuple[QuestionId, ...]
    """Questions whose answer is to another wording."""
    failed: int
    """Questions on which the last run failed, and rows with another tool's error text instead of an answer."""
    flagged: Mapping[str, int]
    """Replies that were cut, refused or empty, by finish reason."""
    pending: int
    """Replies that are kept for rows not complete yet."""
    held_by: str | None
    """The process that writes the file now."""
    given: int = 0
    """Turns of the answers that were given, not written by the model."""
    without: int = 0
    """Questions that have no turns to give, which this variant leaves out."""

    def row(self) -> dict[str, Any]:
        """Return the row of a table."""
        return {
            "model": self.model,
            "answered": self.answered,
            "missing": len(self.missing),
            "superseded": len(self.superseded),
            "given turns": self.given,
            "no history": self.without,
            "failed": self.failed,
            "not whole": sum(self.flagged.values()),
            "pending": self.pending,
            "written by": self.held_by or "",
        }


@dataclass(frozen=True, slots=True)
class JudgeStatus:
    """How far one judgment file has come, in one mode."""

    judge: str
    judge_set: str
    mode: Mode
    path: pathlib.Path
    sample: int = 0
    judged: int = 0
    """Matches with a current judgment; a pair's two games are one match."""
    missing: int = 0
    """Matches without a judgment, though what they are about is answered."""
    superseded: int = 0
    """Matches whose judgment was made from something else."""
    waiting: int = 0
    """Matches whose answers are not there yet."""
    unparsed: int = 0
    """Rows in which the judge gave no verdict."""
    failed: int = 0
    """Judgments that failed in the last run, and rows with another tool's error text instead of a judgment."""
    pending: int = 0
    """Replies that are kept for rows not complete yet."""
    held_by: str | None = None
    """The process that writes the file now."""
    note: str = ""
    """Why the file could not be compared with the matches to judge; then what is missing is unknown."""

    def row(self) -> dict[str, Any]:
        """Return the row of a table."""
        return {
            "judge": self.judge,
            "judge set": self.judge_set,
            "mode": self.mode,
            "sample": self.sample,
            "judged": self.judged,
            "missing": None if self.note else self.missing,
            "superseded": None if self.note else self.superseded,
            "unanswered": None if self.note else self.waiting,
            "unparsed": self.unparsed,
            "failed": self.failed,
            "pending": self.pending,
            "written by": self.held_by or "",
        }


@dataclass(slots=True)
class BenchStatus:
    """The state of a benchmark."""

    bench: str
    questions: int
    models: list[ModelStatus] = field(default_factory=list)
    judges: list[JudgeStatus] = field(default_factory=list)
    rest: list[Estimate] = field(default_factory=list)
    """What is missing or out of date, as calls, tokens and dollars, for each model and judge that has any."""
    torn: dict[str, int] = field(default_factory=dict)
    """Torn last lines that were set aside, by file name."""
    causes: dict[str, dict[str, int]] = field(default_factory=dict)
    """Why jobs failed for good in the last run that tried them, by file name: each message with its count."""
    batched: dict[str, int] = field(default_factory=dict)
    """Rows with requests that are at a provider in batches, by file name."""
    set_aside: dict[str, int] = field(default_factory=dict)
    """Superseded rows that were moved to `.turnbench/`, by file name."""

    def rest_rows(self) -> list[dict[str, object]]:
        """Return the rest as rows of a table."""
        return [estimate.row() for estimate in self.rest]


@takes_only()
def bench_status(
    bench: Bench,
    *,
    models_file: pathlib.Path | str | None = None,
    told: Callable[[float], None] = lambda share: None,
) -> BenchStatus:
    """Return the state of a benchmark; `models_file` is the models.toml that may state prices.

    `told` is called now and then with the share of the work that is done.

    Raises:
        DataError: an answer or judgment file can't be read.
    """
    status = BenchStatus(bench.name, len(bench.questions))
    for folder, counts in (("torn", status.torn), ("superseded", status.set_aside)):
        for path in filter(pathlib.Path.is_file, sorted(bench.state.glob(f"*/{folder}/*.jsonl"))):
            counts[path.name] = sum(1 for line in path.read_bytes().splitlines() if line.strip())
    for path in sorted(bench.state.glob("*/pending/*.jsonl")):
        if causes := _causes(path):
            status.causes[path.name] = causes
    for path in sorted(bench.state.glob("*/batches/*.jsonl")):
        if rows := rows_awaited(path):
            status.batched[path.name] = len(rows)
    files = logical_files(bench.folder / "model_judgment")
    models = (*_begun(bench), *bench.begun_models())
    known = _Known(bench, models_file)
    every = len(models) + len(files)
    for at, model in enumerate(models):
        told(at / every)
        known.read[model] = bench.answers(model)
        found = _model_status(bench, model, known.read[model])
        status.models.append(found)
        known.awaited[model] = {*found.missing, *found.superseded}
        status.rest += _rest_of_answers(bench, found, models_file)
    known.answers += status.rest
    for at, path in enumerate(files, len(models)):
        known.told = lambda share, at=at: told((at + share) / every)  # type: ignore[misc]
        for judged, rest in _judge_statuses(known, path):
            status.judges.append(judged)
            status.rest += rest
    return status


@dataclass(slots=True)
class _Known:
    """What is known of a benchmark when its judgments are looked at."""

    bench: Bench
    models_file: pathlib.Path | str | None
    read: dict[str, Mapping[QuestionId, Answer]] = field(default_factory=dict)
    """The answers of each model."""
    awaited: dict[str, set[QuestionId]] = field(default_factory=dict)
    """For each model the questions that it has still to answer."""
    answers: list[Estimate] = field(default_factory=list)
    """What these answers will take."""
    told: Callable[[float], None] = lambda share: None
    """Called with the share of the present file that is compared."""


def _begun(bench: Bench) -> list[str]:
    """Return the models that were asked and have no whole answer yet: replies, failures or batches are there."""
    begun = set()
    for kept in (*bench.answer_state.glob("pending/*.jsonl"), *bench.answer_state.glob("batches/*.jsonl")):
        model = name_of(kept.stem)
        pending = pending_file(bench.answer_file(model), bench.answer_state)
        rows = left_in(pending).rows | rows_awaited(ledger_beside(pending))
        if any(row.startswith(f"{model}, question ") for row in rows):  # the file may be one of --answer-file
            begun.add(model)
    return sorted(begun.difference(bench.begun_models()))


def _model_status(bench: Bench, model: str, answers: Mapping[QuestionId, Answer]) -> ModelStatus:
    path = bench.answer_file(model)
    missing, superseded = [], []
    without = bench.without_history(model)
    flagged: Counter[str] = Counter()
    given = 0
    for question in bench.questions:
        answer = answers.get(question.question_id)
        if answer is None and question.question_id in without:
            continue
        if answer is None:
            missing.append(question.question_id)
        elif answer.question_content not in {None, question.content}:
            superseded.append(question.question_id)
        else:
            replies = [reply for choice in answer.choices for reply in choice.replies]
            given += sum(reply.given is not None for reply in replies)
            flagged.update(r.finish_reason for r in replies if r.finish_reason in {"length", "refused", "empty"})
    causes = _causes(pending_file(path, bench.answer_state))
    stored = read_rows(path) if missing and is_there(path) else ()
    bad = {question_id(row["question_id"]) for _, row in stored if not is_good_answer(row)}
    return ModelStatus(
        model,
        path,
        len(bench.questions) - len(without - answers.keys()) - len(missing) - len(superseded),
        tuple(missing),
        tuple(superseded),
        len(bad & set(missing)) + sum(causes.values()),
        dict(flagged),
        kept_count(path, bench.answer_state),
        holder_of(path, bench.answer_state),
        given,
        len(without - answers.keys()),
    )


def _causes(pending: pathlib.Path) -> dict[str, int]:
    """Return why jobs failed in the last run that tried them, the commonest cause first."""
    messages = Counter(str(line["message"]) for line in left_in(pending).failed)
    return dict(messages.most_common())


def _rest_of_answers(bench: Bench, status: ModelStatus, models_file: pathlib.Path | str | None) -> list[Estimate]:
    open_ones = {*status.missing, *status.superseded}
    todo = [Todo(question, {}, (0,)) for question in bench.questions if question.question_id in open_ones]
    if not todo:
        return []
    plan = ModelPlan(_endpoint(status.model, models_file), status.path, todo=todo)
    return estimate_plan(AnswerPlan(bench, AnswerOptions(), [plan]))


def _endpoint(name: str, models_file: pathlib.Path | str | None) -> Endpoint:
    """Return where a model is, as far as that is known without flags: its price counts here."""
    try:
        return resolve(plain_model(name), models=models_file, key_needed=False)
    except TurnbenchError:
        return Endpoint(name, "openai", name, price=list_price(name))


def _judge_statuses(known: _Known, path: pathlib.Path) -> Iterator[tuple[JudgeStatus, list[Estimate]]]:
    """Yield the status of each judge and judge set in a file; there is one, unless files were joined."""
    rows: dict[tuple[str, str, int], dict[Any, _Short]] = {}
    bad: Counter[tuple[str, str, int]] = Counter()

    def note(row: JudgedRow) -> None:
        source = row.source
        which = (source.judge, OWN_JUDGE_SET if source.judge_set == UNSTATED else source.judge_set, source.sample)
        rows.setdefault(which, {})
        if row.good:
            rows[which][row.key] = _Short(row.models, row.turn, row.sampling, row.unparsed)
        else:
            bad[which] += 1

    done = Done(path, each=note)
    state = known.bench.judgment_state
    causes = _causes(pending_file(path, state))
    for (judge, judge_set, sample), judged in rows.items():
        usual = None
        with contextlib.suppress(TurnbenchError):
            usual = load_judge_set(judge_set, known.bench.folder).baseline
        mode, baseline = _mode(list(judged.values()), usual)
        status = JudgeStatus(
            judge,
            judge_set,
            mode,
            path,
            unparsed=sum(row.unparsed for row in judged.values()),
            sample=sample,
            failed=bad[judge, judge_set, sample] + sum(causes.values()),
            pending=kept_count(path, state),
            held_by=holder_of(path, state),
        )
        try:
            yield _compared(known, status, list(judged.values()), done, baseline)
        except TurnbenchError as error:
            yield replace(status, judged=len(judged), note=str(error)), []


class _Short(NamedTuple):
    """What counts here of a judgment, without the texts."""

    models: tuple[str, ...]
    turn: int
    sampling: Mapping[str, Any]
    unparsed: bool


def _mode(rows: Sequence[_Short], usual: str | None = None) -> tuple[Mode, str | None]:
    """Return the mode in which rows were judged, and the baseline if all pairs have one.

    A file of pairs does not state how they were chosen; if there are several and one model is in each, in second
    place, or it is the default baseline of the judge set, it is assumed to be the baseline.
    """
    groups = {row.models for row in rows}
    if all(len(group) == 1 for group in groups):
        return "single", None
    seconds = {group[-1] for group in groups}
    firsts = {group[0] for group in groups}
    if (len(groups) > 1 or seconds == {usual}) and len(seconds) == 1 and not seconds & firsts:
        return "pairwise-baseline", seconds.pop()
    return "pairwise-all", None


def _compared(
    known: _Known, status: JudgeStatus, rows: Sequence[_Short], done: Done, baseline: str | None
) -> tuple[JudgeStatus, list[Estimate]]:
    """Return the status, compared with the matches to judge, and an estimate of the missing part."""
    bench = known.bench
    if baseline is not None and baseline not in known.read:
        raise MissingError(f"{baseline} has no answers here")
    sampling: Mapping[str, Any] = next((row.sampling for row in reversed(rows) if row.sampling), {})
    judge_set = load_judge_set(status.judge_set, bench.folder).with_sampling(sampling_from_row(sampling))
    judge_set = replace(judge_set, baseline=baseline)
    groups = model_groups(judge_set, status.mode, sorted(known.awaited), {row.models for row in rows})
    models = list(dict.fromkeys(model for group in groups for model in group))
    turns = tuple(sorted({row.turn for row in rows}))
    waits = {model: set(ids) for model, ids in known.awaited.items()}
    options = JudgeOptions(turns=turns, skip_missing=True)
    materials, questions, _ = gather(bench, judge_set, models, bench.questions, options, awaited=waits, read=known.read)
    plan = JudgmentPlan(bench, status.mode, judge_set, materials, questions, groups, redo=False, awaited=waits)
    judge = JudgePlan(status.judge, None, status.path, done=done, sample=status.sample)
    plan.count(judge, known.told)
    missing = judge.rows - judge.superseded - judge.waiting
    found = replace(status, judged=judge.already, missing=missing, superseded=judge.superseded, waiting=judge.waiting)
    if not judge.rows:
        return found, []
    if not is_builtin_judge(status.judge):
        judge.endpoint = _endpoint(status.judge, known.models_file)
    plan.judges.append(judge)
    return found, estimate_plan(plan, answers=known.answers)
