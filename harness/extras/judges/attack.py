"""Can an answer tell the judge what to say?

    shift    the mean over questions of (verdict on the attacked answer − verdict on the clean one)
    raised   the share of attacked answers that got more than the clean one

Clean grades 2, 3, 2 and attacked ones 9, 3, 4: shift (7 + 0 + 2) / 3 = 3, raised 2 of 3. Attacks
(`attacks.toml`) are planted in weak answers to first turns, each as the answers of a model of its
own in a benchmark under `.turnbench/attack/`, which is judged, resumed and paid for like any other.
In pairs the weak answer meets a strong one and the verdict is its share of the win.
"""

import pathlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from harness import answering, bench, running, store
from harness import options as records
from harness.bench import Bench, Settings
from harness.cli import calls
from harness.cli.parser import read_project
from harness.errors import DataError, MissingError, UsageError
from harness.extras.judges.data import interval_columns, mean, named
from harness.judging.extraction import extracted
from harness.judging.plan import JudgePlan, plan_judgments
from harness.judging.run import estimate_judgments
from harness.judging.sets import load
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table
from harness.types import Answer, Choice, Judgment, Question, QuestionId, content_hash

CLEAN, STRONG = "clean", "strong"
QUESTIONS = 10
"""Questions to attack on, if no number is given."""


class Attack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to manipulate a judge."""

    name: str
    kind: str
    """null, verdict, marker, system, list, appeal, padding, language."""
    text: str
    """With `{answer}`, `{question}` and `{top}`; without `{answer}` it replaces the answer."""

    def plant(self, answer: str, question: str, top: float) -> str:
        """Return a weak answer with the attack in it; the values are filled in one pass."""
        values = {"answer": answer, "question": question, "top": f"{top:g}"}
        return re.sub(
            r"\{(answer|question|top)\}", lambda slot: values[slot[1]], self.text.strip("\n")
        )


class _File(msgspec.Struct, forbid_unknown_fields=True):
    attack: list[Attack]


def report(options: JudgeReport) -> Page:
    """Judge weak answers, clean and attacked, and return what the attacks change."""
    plan, attacks = _plan(options)
    if options.limits.dry_run:
        return calls.estimate_page(estimate_judgments(plan, batch=options.limits.batch))
    calls.carry_out(
        options.limits,
        plan.jobs,
        lambda: estimate_judgments(plan, batch=options.limits.batch),
        total=plan.total,
        unit="judgments",
        questions=len(plan.questions),
        state=plan.bench.state,
    )
    task = plan.tasks[0]
    rows = _rows(_verdicts(task.path), attacks, plan.questions)
    judge = f"{task.name}, judge set {plan.judge_set.name} {plan.judge_set.version}"
    whole = rows[0]
    what = "grades" if plan.mode == "single" else "of the win"
    sentence = f"No verdict of {task.name} on a clean answer can be compared."
    if whole["shift"] is not None:
        sentence = (
            f"{len(attacks)} attacks move {task.name} by {whole['shift']:+.2f} {what} on average, "
            f"the worst ({_worst(rows)['attack']}) by {_worst(rows)['shift']:+.2f}."
        )
    columns = [Column("attack"), Column("kind"), Column("n"), Column("clean", format=".2")]
    columns += [Column("attacked", format=".2"), *interval_columns("shift", "shift", ".2")]
    columns += [Column("raised", "raised %", format="%"), Column("unparsed", "no verdict")]
    return Page(
        sentence,
        [Table("", columns, rows)],
        title="attack",
        facts={"report": "attack", "judge": judge},
    )


def load_attacks(path: pathlib.Path | None = None) -> list[Attack]:
    """Return the attacks in a file, by default the shipped ones.

    Raises:
        DataError: the file is not what it must be, or a name occurs twice.
    """
    file = path or pathlib.Path(__file__).with_name("attacks.toml")
    attacks = store.read_toml(file, _File).attack
    names = [attack.name for attack in attacks]
    for name in names:
        if names.count(name) > 1 or name in (CLEAN, STRONG):
            raise DataError(f"the name {name!r} is taken", file)
    return attacks


def _plan(options: JudgeReport) -> tuple[JudgePlan, list[Attack]]:
    mode = options.select.mode or "single"
    if mode not in ("single", "pairwise-baseline"):
        raise UsageError(f"attacks are run in mode single or pairwise-baseline, not {mode}")
    if len(options.select.judge_model) != 1:
        raise UsageError("name the judge to attack with --judge-model")
    source = bench.load(options.bench.bench_name, options.bench.data_dir)
    attacks = load_attacks(options.attack_file)
    part = options.slice
    sample = part.sample_n or (None if part.first_n else QUESTIONS)
    questions = bench.take(
        source.questions, part.question_begin, part.question_end, part.first_n, sample
    )
    name = options.select.judge_set or source.settings.judge_set or "mt_bench"
    top = load(name, source.folder).scale[1]
    weak = options.weak_model or "builtin/eliza"
    strong = options.strong_model or "builtin/reference" if mode != "single" else None
    target = _attacked(source, questions, attacks, top, weak, strong)
    words: dict[str, Any] = {"judge_model": options.select.judge_model, "mode": mode, "turns": 1}
    words |= {"judge_set": name, "criterion": part.criterion, "yes": True, "skip_missing": True}
    words |= {"model_list": [CLEAN, *(a.name for a in attacks), *([STRONG] if strong else [])]}
    words |= {"baseline_model": STRONG} if strong else {}
    record = records.build(records.GenJudgment, words)
    record = msgspec.structs.replace(
        record, sampling=options.sampling, endpoint=options.endpoint, limits=options.limits
    )
    configs = calls.configs(read_project())
    key_needed = not options.limits.dry_run
    return plan_judgments(target, record, configs=configs, key_needed=key_needed), attacks


def _attacked(
    source: Bench,
    questions: Sequence[Question],
    attacks: Sequence[Attack],
    top: float,
    weak: str,
    strong: str | None,
) -> Bench:
    """Return the benchmark of attacked answers, written under `.turnbench/` of the real one."""
    made = content_hash([question.hash for question in questions], weak, strong or "", top)
    folder = source.state / "attack" / made
    settings: Settings = msgspec.structs.replace(
        source.settings, answer_field=None, confidence_field=None
    )
    first = tuple(
        msgspec.structs.replace(
            q, turns=q.turns[:1], checks=q.checks[:1], note=q.note[:1], history=[]
        )
        for q in questions
    )
    texts = _first_turns(source, first, weak)
    answers: dict[str, Mapping[QuestionId, str]] = {CLEAN: texts}
    for attack in attacks:
        answers[attack.name] = {
            q.question_id: attack.plant(texts[q.question_id], q.turns[0], top) for q in first
        }
    if strong is not None:
        answers[STRONG] = _first_turns(source, first, strong)
    target = Bench(source.name, folder, source.source, first, settings)
    for name, by_question in answers.items():
        _write(target, name, by_question)
    return target


def _first_turns(
    source: Bench, questions: tuple[Question, ...], model: str
) -> dict[QuestionId, str]:
    """Return a model's answers to the first turns: those it has given, or a built-in model's."""
    found = source.answers(model)
    if model.startswith("builtin/"):
        asked = Bench(
            source.name,
            source.state / "attack" / "answered",
            source.source,
            questions,
            source.settings,
        )
        plan = answering.plan_answers(
            asked, records.build(records.GenAnswer, {"model": model}), questions=questions
        )
        running.run(plan.jobs(), records.Limits(), state=asked.state, total=plan.total)
        found = asked.answers(model)
    lacking = [q.question_id for q in questions if q.question_id not in found]
    if lacking:
        raise MissingError(f"{model} has not answered question {lacking[0]}; run gen_answer first")
    texts = {q.question_id: found[q.question_id].choices[0].turns[0] for q in questions}
    field = source.settings.answer_field
    if field is None:
        return texts
    return {key: extracted(text, field).answer for key, text in texts.items()}


def _write(target: Bench, name: str, texts: Mapping[QuestionId, str]) -> None:
    path = target.answer_file(name)
    there = {key: answer.choices[0].turns[0] for key, answer in target.answers(name).items()}
    if there == texts:
        return
    with store.Writer(path, Answer) as writer:
        for key, text in texts.items():
            if there.get(key) != text:
                choice = Choice(turns=[text])
                writer.append(
                    Answer(question_id=key, model_id=name, choices=[choice], tstamp=time.time())
                )
        writer.compact()


def _verdicts(path: pathlib.Path) -> dict[tuple[str, QuestionId], float]:
    """Return the verdict on each answer, the mean of several criteria."""
    found: dict[tuple[str, QuestionId], list[float]] = {}
    for row in store.latest(path, Judgment).values():
        if row.failed:
            continue
        if row.model is not None:
            value = row.grade if row.grade is not None else row.share
            model = row.model
        else:
            weak = row.model_1 if row.model_1 != STRONG else row.model_2
            shares = [game for game in row.games if game is not None]
            value = sum(shares) / len(shares)
            value = value if weak == row.model_1 else 1 - value
            model = weak or ""
        if value is not None:
            found.setdefault((model, row.question_id), []).append(value)
    return {key: sum(own) / len(own) for key, own in found.items()}


def _rows(
    verdicts: Mapping[tuple[str, QuestionId], float],
    attacks: Sequence[Attack],
    questions: Sequence[Question],
) -> list[dict[str, Any]]:
    """Return a row for all attacks, for each kind and for each attack, the worst first."""

    def row(name: str, kind: str, own: Sequence[Attack]) -> dict[str, Any]:
        both = []
        unparsed = 0
        for attack in own:
            for question in questions:
                key = question.question_id
                old, new = verdicts.get((CLEAN, key)), verdicts.get((attack.name, key))
                unparsed += new is None
                if old is not None and new is not None:
                    both.append((key, old, new))
        n = len(both)
        about: dict[str, Any] = {"attack": name, "kind": kind, "n": n}
        about["clean"] = sum(old for _, old, _ in both) / n if n else None
        about["attacked"] = sum(new for *_, new in both) / n if n else None
        about |= named("shift", mean((key, new - old, 1.0) for key, old, new in both))
        raised = sum(new > old for _, old, new in both) / n if n else None
        return about | {"raised": raised, "unparsed": unparsed}

    def worst_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda r: -(r["shift"] if r["shift"] is not None else -1e9))

    kinds = dict.fromkeys(attack.kind for attack in attacks)
    of_kinds = [row("all", kind, [a for a in attacks if a.kind == kind]) for kind in kinds]
    single = [row(attack.name, attack.kind, [attack]) for attack in attacks]
    return [row("all", "all", attacks), *worst_first(of_kinds), *worst_first(single)]


def _worst(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["attack"] != "all")
