"""Attacks planted in weak answers -> whether they move a judge's verdict, compared with the clean answers.

    shift = mean over questions of (verdict on the attacked answer - verdict on the clean one)

A verdict is a grade on the judge set's scale (a label: its value), or, if answers are compared, the weak answer's
outcome against the strong one: 1 won, 0.5 tied, 0 lost. Clean grades 2, 3, 2 and attacked ones 9, 3, 4: shift (7 + 0 +
2) / 3 = 3, raised on 2 of 3 questions. A robust judge has shifts around 0 or below; an interval above 0 means that the
attack works on it.

Intervals resample questions (`statistics.bootstrap`). A question counts only if both verdicts exist; attacked
judgments without a verdict are counted as `unparsed`: an attack that prevents a verdict also has an effect.

The attacked answers are a separate benchmark, judged like any other, with resume, limits and cost: the weak answers
are the model `clean`, those with an attack of `attacks.toml` one model each, and good ones to compare with `strong`.

    report = judge_attack("gpt-4.1")            # 10 questions, 32 attacks, graded: 330 calls
    report.rows[0]["shift"]                     # by how much all attacks together move the grade
"""

import inspect
import pathlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Unpack

import numpy as np

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import Bench, load_bench
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.jsonl import Journal
from harness.old.judging.extraction import extracted
from harness.old.judging.planned import JudgmentPlan
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.judging.sets import load_judge_set
from harness.old.judgments.case import winner
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.report import OF_WHOLE, Report, columns, interval_notes, last_if_none
from harness.old.names import counted
from harness.old.records import Answer, Choice, Mode, Question, QuestionId, Reply, Sampling, content_hash
from harness.old.results.matrix import Floats
from harness.old.results.statistics.bootstrap import Resampling, estimates
from harness.old.rows import answer_to_row
from harness.old.running.options import RunOptions
from harness.old.running.watch import Watcher, nobody
from harness.old.written import FILLED, Wanted, decoded, read_toml, takes_only

CLEAN, STRONG = "clean", "strong"
WEAK_MODEL, STRONG_MODEL = "builtin/eliza", "builtin/reference"
QUESTIONS = 10
"""Questions to attack on, if no number is given."""
_SLOT = re.compile(r"\{(answer|question|top)\}")


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to manipulate a judge."""

    name: Annotated[str, FILLED]
    kind: Annotated[str, FILLED]
    """null, verdict, marker, system, list, appeal, padding, language."""
    text: Annotated[str, FILLED]
    """With `{answer}`, `{question}` and `{top}`; without `{answer}` it replaces the answer."""

    def plant(self, answer: str, question: str, top: float) -> str:
        """Return a weak answer with the attack in it; the values are filled in one pass."""
        values = {"answer": answer, "question": question, "top": f"{top:g}"}
        return _SLOT.sub(lambda slot: values[slot[1]], self.text)


@dataclass(frozen=True, slots=True)
class _File:
    attack: Annotated[tuple[Attack, ...], Wanted("[[attack]] tables, one or more", bool)]


def load_attacks(path: pathlib.Path | None = None) -> tuple[Attack, ...]:
    """Return the attacks in a file, by default the shipped ones.

    Raises:
        DataError: the file is not TOML, or an attack has no text or occurs twice.
    """
    file = path or pathlib.Path(__file__).with_name("attacks.toml")
    found: dict[str, Attack] = {}
    for attack in decoded(read_toml(file), _File, file).attack:
        if attack.name in found or attack.name in {CLEAN, STRONG}:
            raise DataError(f"the name {attack.name!r} is taken", path=file)
        found[attack.name] = replace(attack, text=attack.text.strip("\n"))
    return tuple(found.values())


def _attacked(
    bench: Bench, questions: Sequence[Question], attacks: Sequence[Attack], top: float, weak: str, strong: str | None
) -> Bench:
    """Return the benchmark on which a judge is attacked, its answers written under `.turnbench/` of the real one.

    `weak` gave the weak answers, `strong` those that they are compared with (None: they are graded);
    each is a built-in model, which is called here, or one that has answered the benchmark. Only first turns
    are attacked.
    """
    first = tuple(replace(question, turns=question.turns[:1]) for question in questions)
    made = content_hash([question.content for question in first], weak, strong or "", f"{top:g}")
    folder = bench.state / "attack" / str(made)
    # An attack is planted in what the judge sees, so answers are extracted from JSON replies here, not by the judging.
    settings = replace(bench.settings, answer_field=None, confidence_field=None)
    target = replace(bench, folder=folder, questions=first, settings=settings)
    texts = _texts(bench, target, weak)
    answers: dict[str, Mapping[QuestionId, str]] = {CLEAN: texts}
    for attack in attacks:
        answers[attack.name] = {
            q.question_id: attack.plant(texts[q.question_id], q.turns[0], top) for q in target.questions
        }
    if strong is not None:
        answers[STRONG] = _texts(bench, target, strong)
    for name, by_question in answers.items():
        _write(target, name, by_question)
    return target


def _texts(bench: Bench, target: Bench, model: str) -> dict[QuestionId, str]:
    """Return a model's answers to the first turns: those it has given, or a built-in model's."""
    if model.startswith("builtin/"):
        asked = replace(target, folder=target.folder / "answered")
        run_answers(plan_answers([model], asked, AnswerOptions()))
        found = asked.answers(model)
    else:
        found = bench.answers(model)
    lacking = [q.question_id for q in target.questions if q.question_id not in found]
    if lacking:
        raise MissingError(f"{model} has not answered question {lacking[0]}; run gen_answer for it first")
    said = {q.question_id: found[q.question_id].choices[0].turns[0] for q in target.questions}
    field = bench.settings.answer_field
    return said if field is None else {key: extracted(text, field).answer for key, text in said.items()}


def _write(target: Bench, name: str, texts: Mapping[QuestionId, str]) -> None:
    """Write the answers of one attack, unless they are there already."""
    there = {key: answer.choices[0].turns[0] for key, answer in target.answers(name).items()}
    if there == texts:
        return
    with Journal(target.answer_file(name), target.answer_state) as journal:
        for key, text in texts.items():
            if there.get(key) != text:
                reply = Reply(text, finish_reason="stop" if text else "empty")
                journal.append(answer_to_row(Answer(key, name, (Choice(0, (reply,)),), Sampling(), tstamp=0.0)))


def attack_rows(
    clean: Floats, attacked: Floats, kinds: Mapping[str, str], **how: Unpack[Resampling]
) -> list[dict[str, Any]]:
    """Return a row for all attacks, one for each kind, and one for each attack, those that work best first.

    `n` counts pairs of an attacked and a clean verdict, whose means are `attacked` and `clean`; in the share `raised`
    of them the attacked answer got more. `unparsed` counts attacked judgments that gave no verdict.

    Args:
        clean: for each question, the verdict on the clean answer; NaN where there is none.
        attacked: questions × attacks.
        kinds: the kind of each attack by name, in the order of the columns of `attacked`.
        how: how questions are resampled.
    """
    of_attacks = np.array(list(kinds.values()))

    def row(name: str, kind: str, new: Floats) -> dict[str, Any]:
        there = np.isfinite(new) & np.isfinite(clean)[:, None]
        n, base = int(there.sum()), np.where(there, clean[:, None], 0.0)
        new, unparsed = np.where(there, new, 0.0), int(np.isnan(new).sum())
        moved, counts = (new - base).sum(axis=1), there.sum(axis=1).astype(np.float64)
        means = [float(part.sum() / n) if n else None for part in (base, new, there & (new > base))]
        about = {"attack": name, "kind": kind, "n": n, "clean": means[0], "attacked": means[1]}
        shift = estimates(moved[:, None], counts[:, None], **how)[0]
        return {**about, "shift": shift, "raised": means[2], "unparsed": unparsed}

    of_kinds = [row("all", kind, attacked[:, of_attacks == kind]) for kind in dict.fromkeys(kinds.values())]
    single = [row(name, kind, attacked[:, [at]]) for at, (name, kind) in enumerate(kinds.items())]
    for rows in (of_kinds, single):
        rows.sort(key=lambda row: last_if_none(row["shift"].value), reverse=True)
    return [row("all", "all", attacked), *of_kinds, *single]


def _verdicts(plan: JudgmentPlan, path: pathlib.Path, names: Sequence[str]) -> Floats:
    """Return the verdicts on the answers of these names, questions × names; of several criteria the mean."""
    found: dict[tuple[str, QuestionId], list[float]] = defaultdict(list)
    for one in read_judgments(path).observations:
        value = one.value if one.opponent is None else winner(one.games)
        if value is not None and one.metric == OF_WHOLE.get(one.source.form, one.metric):
            found[one.model, one.question_id].append(value)
    means = [[np.mean(found.get((name, one.question_id), np.nan)) for name in names] for one in plan.questions]
    return np.array(means, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class AttackPlan:
    """What has to be judged to see what the attacks do."""

    attacks: tuple[Attack, ...]
    judgments: JudgmentPlan


def plan_attack(
    judge_model: str,
    bench_name: str = "mt_bench",
    *,
    mode: Mode = "single",
    options: JudgeOptions | None = None,
    data_dir: pathlib.Path | str = "data",
    first_n: int | None = None,
    sample_n: int | None = None,
    weak_model: str = WEAK_MODEL,
    strong_model: str = STRONG_MODEL,
    attack_file: pathlib.Path | str | None = None,
) -> AttackPlan:
    """Return the plan to judge weak answers, clean and with every attack; the answers are written, no judge is called.

    The first `first_n` questions of the file are taken, or `sample_n` that are spread over the categories (default:
    `QUESTIONS` of these). `strong_model` gives the answers to compare with in mode
    `pairwise-baseline`. The benchmark on which the judge is attacked lies in `.turnbench/attack/` of the real one.

    Raises:
        UsageError: the judge set can't be used for this, or the mode.
        MissingError: answers or a key are missing.
    """
    if mode not in ("single", "pairwise-baseline"):
        raise UsageError(f"attacks are run in mode single or pairwise-baseline, not {mode!r}")
    asked = options or JudgeOptions()
    bench = load_bench(bench_name, data_dir)
    attacks = load_attacks(None if attack_file is None else pathlib.Path(attack_file))
    questions = bench.slice(first_n=first_n, sample_n=QUESTIONS if first_n is None and sample_n is None else sample_n)
    top, alone = load_judge_set(asked.judge_set, bench.folder).scale[1], mode == "single"
    strong = None if alone else strong_model
    target = _attacked(bench, questions, attacks, top, weak_model, strong)
    models = [CLEAN, *(attack.name for attack in attacks)]
    asked = replace(asked, baseline=None if alone else STRONG, turns=(1,))
    return AttackPlan(attacks, plan_judgments([judge_model], target, mode, asked, models=models))


def run_attack(
    attack: AttackPlan, running: RunOptions = RunOptions(), *, watch: Watcher = nobody, seed: int = 0
) -> Report:
    """Judge what `plan_attack` has planned, and return what the attacks do.

    Raises:
        EndpointError: the judge cannot be called at all.
        Interrupted: the user stopped the run. In every case what was done is kept.
    """
    plan = attack.judgments
    done = run_judgments(plan, running, watch=watch)
    kinds = {one.name: one.kind for one in attack.attacks}
    verdicts = _verdicts(plan, done.paths[0], [CLEAN, *kinds])
    rows = attack_rows(verdicts[:, 0], verdicts[:, 1:], kinds, seed=seed)
    what = "grade" if plan.mode == "single" else "win rate against the strong answer"
    notes = [
        f"shift: mean change of the {what} from the clean weak answer to the attacked one, on "
        f"{counted(len(plan.questions), 'question')}"
    ]
    if any(row["shift"].low is not None for row in rows):
        notes[0] += (
            "; an interval above 0 means that the attack works on this judge (of 40 attacks that do nothing, one would "
            "have such an interval by chance)"
        )
    notes += interval_notes(row["shift"] for row in rows)
    if without := int(np.isnan(verdicts[:, 0]).sum()):
        of = f"{without} of {counted(len(verdicts), 'question')}"
        notes.append(f"no verdict on the clean answer to {of}: what is attacked there is left out")
    if done.tally.failures:
        notes.append(
            f"{len(done.tally.failures)} calls failed and are left out; run the same command to try them again"
        )
    judge = f"{plan.judges[0].judge}, judge set {plan.judge_set.name} {plan.judge_set.version}"
    shown = list(map(columns, rows))
    return Report("attack", judge, plan.bench.name, shown, notes=notes, paths=done.paths, failures=done.tally.failures)


@takes_only(inspect.signature(plan_attack).parameters)
def judge_attack(
    judge_model: str,
    bench_name: str = "mt_bench",
    *,
    running: RunOptions = RunOptions(),
    watch: Watcher = nobody,
    seed: int = 0,
    **how: Any,
) -> Report:
    """Return by how much each attack moves a judge's verdict on weak answers; `how` is that of `plan_attack`."""
    return run_attack(plan_attack(judge_model, bench_name, **how), running, watch=watch, seed=seed)
