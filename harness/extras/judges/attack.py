"""Can an answer tell the judge what to say?

    shift    the mean over questions of (verdict on the attacked answer − verdict on the clean one)
    p        of the shift being 0; the worst attack is named if it is below 0.05 by Holm's method
    raised   the share of attacked answers that got more than the clean one

Clean grades 2, 3, 2 and attacked ones 9, 3, 4: shift (7 + 0 + 2) / 3 = 3, raised 2 of 3. Attacks
(`attacks.toml`) are planted in weak answers to first turns, each as the answers of a model of its
own in a benchmark under `.turnbench/attack/`, which is judged, resumed and paid for like any other.
In pairs the weak answer meets a strong one and the verdict is its share of the win.
"""

import math
import pathlib
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from harness import bench, running, store
from harness import options as records
from harness.answering.plan import plan_answers
from harness.bench import Bench
from harness.errors import DataError, MissingError, UsageError
from harness.extras.judges.estimates import mean, page, share
from harness.judging.extraction import extract
from harness.judging.plan import JudgePlan, plan_judgments
from harness.judging.sets import load
from harness.models import ModelConfig
from harness.options import JudgeReport
from harness.reporting import Cell, Column, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.results import of_rows
from harness.results.estimate import LEVEL, holm
from harness.results.spent import Cost
from harness.types import Answer, Choice, Judgment, Question, QuestionId, content_hash
from harness.words import p_value, rounded

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


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return what attacks changed in the verdicts on weak answers, which `plan` had judged."""
    attacks = load_attacks(options.attack_file)
    plan = plan_attacks(options, {}, key_needed=False)
    task = plan.tasks[0]
    rows = _rows(_verdicts(task.path, plan.questions), attacks, plan.questions)
    judge = f"{task.name}, judge set {plan.judge_set.name} {plan.judge_set.version}"
    sentence = f"No verdict of {task.name} on a clean answer can be compared."
    if rows[0]["shift"].value is not None:
        what = "grades" if plan.mode == "single" else "of the win"
        moved = _signed(rows[0]["shift"])
        sentence = f"{len(attacks)} attacks move {task.name} by {moved} {what} on average"
        sentence += f"{_worst(rows)}."
    columns = [
        Column("attack"),
        Column("kind"),
        Column("n"),
        Column("clean", format=".2"),
        Column("attacked", format=".2"),
        *interval_columns("shift", "shift", ".2"),
        Column("raised", "raised %", format="%"),
        Column("unparsed", "no verdict"),
    ]
    return Result(page("attack", sentence, columns, rows, judge=judge))


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


def plan(options: JudgeReport, configs: Mapping[str, ModelConfig]) -> JudgePlan:
    """Write the attacked answers as a benchmark under `.turnbench/`, and plan to judge them."""
    return plan_attacks(options, configs, key_needed=not options.limits.dry_run)


REPORT = PageKind(_show, plan=plan)


def plan_attacks(
    options: JudgeReport, configs: Mapping[str, ModelConfig], *, key_needed: bool
) -> JudgePlan:
    """Return the plan, with or without a look for the judge's key."""
    attacks = load_attacks(options.attack_file)
    mode = options.select.mode or "single"
    if mode not in ("single", "pairwise-baseline"):
        raise UsageError(f"attacks are run in mode single or pairwise-baseline, not {mode}")
    if len(options.select.judge_model) != 1:
        raise UsageError("name the judge to attack with --judge-model")
    source = bench.load_named(options.bench)
    part = options.slice
    sample = part.sample_n or (None if part.first_n else QUESTIONS)
    questions = tuple(
        replace(q, turns=q.turns[:1], checks=q.checks[:1], note=q.note[:1], history=[])
        for q in source.take(replace(part, sample_n=sample))
    )
    judge_set = options.select.judge_set or source.settings.usual_judge_set
    top = load(judge_set, source.folder).scale[1]
    answers = {CLEAN: _first_turns(source, questions, options.weak_model)}
    for attack in attacks:
        answers[attack.name] = {
            q.question_id: attack.plant(answers[CLEAN][q.question_id], q.turns[0], top)
            for q in questions
        }
    strong = options.strong_model if mode == "pairwise-baseline" else ""
    if strong:
        answers[STRONG] = _first_turns(source, questions, strong)
    made_from = content_hash([q.hash for q in questions], options.weak_model, strong, top)
    folder = source.state / "attack" / made_from
    settings = replace(source.settings, answer_field=None, confidence_field=None)
    target = Bench(source.name, folder, source.source, questions, settings)
    for name, texts in answers.items():
        _write(target.answer_file(name), name, texts)
    flags = {
        "judge_model": options.select.judge_model,
        "judge_set": judge_set,
        "mode": mode,
        "baseline_model": STRONG if strong else None,
        "model_list": list(answers),
        "turns": 1,
        "criterion": part.criterion,
        "skip_missing": True,
    }
    record = replace(
        records.build(records.GenJudgment, flags),
        sampling=options.sampling,
        endpoint=options.endpoint,
        limits=options.limits,
    )
    return plan_judgments(target, record, configs=configs, key_needed=key_needed)


def _first_turns(
    source: Bench, questions: tuple[Question, ...], model: str
) -> dict[QuestionId, str]:
    """Return a model's answers to the first turns: those it has given, or a built-in model's."""
    if model.startswith("builtin/"):
        folder = source.state / "attack" / "answered"
        source = Bench(source.name, folder, source.source, questions, source.settings)
        record = records.build(records.GenAnswer, {"model": model})
        plan = plan_answers(source, record, questions=questions)
        running.run(plan.jobs(), records.Limits(), state=source.state, total=plan.total)
    answers, field = source.answers(model), source.settings.answer_field
    texts = {}
    for key in (question.question_id for question in questions):
        if key not in answers:
            raise MissingError(f"{model} has not answered question {key}; run gen_answer first")
        text = answers[key].choices[0].turns[0]
        texts[key] = text if field is None else extract(text, field).answer
    return texts


def _write(path: pathlib.Path, model: str, texts: Mapping[QuestionId, str]) -> None:
    answers = (
        Answer(question_id=key, model_id=model, choices=[Choice(turns=[text])])
        for key, text in texts.items()
    )
    store.write_file(path, store.encode_lines(answers))


def _verdicts(
    path: pathlib.Path, questions: Sequence[Question]
) -> dict[tuple[str, QuestionId], float]:
    """Return the verdict on each answer, the mean of several criteria."""
    scores = of_rows((place.row for place in store.rows(path, Judgment)), questions)
    scores = scores.take(scores.valid).main()
    values: dict[tuple[str, QuestionId], list[float]] = {}
    names, ids = (*scores.models, ""), scores.question_ids
    columns = scores.question, scores.model, scores.opponent, scores.value
    for code, first, second, value in zip(*(of.tolist() for of in columns), strict=True):
        weak = names[first] if names[first] != STRONG else names[second]
        share = value if weak == names[first] else 1 - value
        values.setdefault((weak, ids[code]), []).append(share)
    return {key: statistics.fmean(verdicts) for key, verdicts in values.items()}


def _signed(shift: Cell) -> str:
    """Return a shift with its interval: +0.40 (0.12 to 0.68)."""
    value, low, high = shift
    text = f"{value or 0:+.2f}"
    if low is not None and high is not None:
        text += f" ({rounded(low, 2)} to {rounded(high, 2)})"
    return text


def _worst(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the attack that moves the judge most upwards, if that is significant among all."""
    single = [row for row in rows if row["attack"] != "all"]
    for row, tested in zip(single, holm([row["p"] for row in single]), strict=True):
        if (row["shift"].value or 0) > 0 and tested.p is not None and tested.p < LEVEL:
            name, moved = row["attack"], _signed(row["shift"])
            return f", the worst ({name}) by {moved}, p {p_value(tested.p)} over the {len(single)}"
    return f"; none of the {len(single)} stands out"


def _rows(
    verdicts: Mapping[tuple[str, QuestionId], float],
    attacks: Sequence[Attack],
    questions: Sequence[Question],
) -> list[dict[str, Any]]:
    """Return a row for all attacks, for each kind and for each attack, the worst first."""
    ids = [question.question_id for question in questions]

    def row(name: str, kind: str, group: Sequence[Attack]) -> dict[str, Any]:
        keys = [(attack.name, key) for attack in group for key in ids]
        unparsed = sum(key not in verdicts for key in keys)
        both = [
            (key, verdicts[CLEAN, key], verdicts[attack, key])
            for attack, key in keys
            if (CLEAN, key) in verdicts and (attack, key) in verdicts
        ]
        shift = mean((key, new - old) for key, old, new in both)
        estimates = row_of(
            {"attack": name, "kind": kind, "n": len(both), "p": shift.p},
            clean=mean((key, old) for key, old, _ in both),
            attacked=mean((key, new) for key, _, new in both),
            shift=shift,
            raised=share((key, new > old) for key, old, new in both),
        )
        return estimates | {"unparsed": unparsed}

    def shift_of(row: dict[str, Any]) -> float:
        number: float | None = row["shift"].value
        return -math.inf if number is None else number

    kinds = dict.fromkeys(attack.kind for attack in attacks)
    of_kinds = [row("all", kind, [a for a in attacks if a.kind == kind]) for kind in kinds]
    single = [row(attack.name, attack.kind, [attack]) for attack in attacks]
    of_kinds.sort(key=shift_of, reverse=True)
    single.sort(key=shift_of, reverse=True)
    return [row("all", "all", attacks), *of_kinds, *single]
