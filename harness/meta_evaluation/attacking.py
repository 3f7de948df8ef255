"""Attack a judge and say what works: weak answers with and without attacks, judged, and compared question by question.

report = judge_attack("gpt-4.1")            # 10 questions, 32 attacks, graded: 330 calls
report.rows[0]["shift"]                     # by how much all attacks together move the grade
"""

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.bench import load_bench
from harness.errors import UsageError
from harness.judging.planned import JudgmentPlan
from harness.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.judging.sets import load_judge_set
from harness.judgments.observations import SHARE, TOTAL, winner
from harness.judgments.reading import read_judgments
from harness.meta_evaluation.attack_effects import AttackRow, attack_rows
from harness.meta_evaluation.attacks import (
    CLEAN,
    QUESTIONS,
    STRONG,
    STRONG_MODEL,
    WEAK_MODEL,
    Attack,
    attack_bench,
    load_attacks,
    spread,
)
from harness.meta_evaluation.report import Report
from harness.records import Mode, Question
from harness.running.options import RunOptions
from harness.running.watch import Watcher, nobody

ATTACK_MODES: tuple[Mode, ...] = ("single", "pairwise-baseline")
_COUNTED = {"label": SHARE, "dimensions": TOTAL}
"""Of a judgment that gives several numbers, the one that says how good the answer is."""


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
    first_n: int = QUESTIONS,
    weak_model: str = WEAK_MODEL,
    strong_model: str = STRONG_MODEL,
    attack_file: pathlib.Path | str | None = None,
) -> AttackPlan:
    """Return the plan to judge weak answers, clean and with every attack; the answers are written, no judge is called.

    `first_n` questions are taken, evenly spread over the file. `strong_model` gives the answers to compare with in mode
    `pairwise-baseline`. The benchmark on which the judge is attacked lies in `.turnbench/attack/` of the real one.

    Raises:
        UsageError: the judge set can't be used for this, or the mode.
        MissingError: answers or a key are missing.
    """
    if mode not in ATTACK_MODES:
        raise UsageError(f"attacks are tried in mode single or pairwise-baseline, not {mode!r}")
    asked = options or JudgeOptions()
    bench = load_bench(bench_name, data_dir)
    attacks = load_attacks(None if attack_file is None else pathlib.Path(attack_file))
    target = attack_bench(
        bench,
        spread(bench.questions, first_n),
        attacks,
        top=load_judge_set(asked.judge_set, bench.folder).scale[1],
        weak=weak_model,
        strong=None if mode == "single" else strong_model,
    )
    baseline = None if mode == "single" else STRONG
    models = [CLEAN, *(attack.name for attack in attacks)]
    asked = replace(asked, baseline=baseline, turns=(1,))
    return AttackPlan(attacks, plan_judgments([judge_model], target, mode, asked, models=models))


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
    verdicts = _verdicts(plan, done.paths[0])
    clean, attacked = _columns(plan.questions, verdicts, list(kinds))
    rows = [_told(row) for row in attack_rows(clean, attacked, kinds, seed=seed)]
    what = "grade" if plan.mode == "single" else "win rate against the strong answer"
    notes = [
        f"shift: mean change of the {what} from the clean weak answer to the attacked one, 95% interval by resampling "
        f"{len(plan.questions)} questions; an interval above 0 says that the attack works on this judge"
    ]
    if done.tally.failures:
        notes.append(f"{len(done.tally.failures)} calls failed and are left out; run it again to try them again")
    judge = f"{plan.judges[0].judge}, judge set {plan.judge_set.name} {plan.judge_set.version}"
    return Report("attack", judge, plan.bench.name, rows, notes=notes, paths=done.paths, failures=done.tally.failures)


def _verdicts(plan: JudgmentPlan, path: pathlib.Path) -> Mapping[tuple[str, Any], list[float]]:
    """Return the verdicts by model and question; several criteria of one answer stand side by side."""
    found: dict[tuple[str, Any], list[float]] = {}
    for one in read_judgments(path).observations:
        if one.metric != _COUNTED.get(one.source.form, one.metric):
            continue
        own = found.setdefault((one.model, one.question_id), [])
        value = one.value if one.opponent is None else winner(one.games)
        if value is not None:
            own.append(value)
    return found


def _columns(questions: Sequence[Question], verdicts: Mapping[tuple[str, Any], list[float]], names: list[str]) -> Any:
    import numpy as np

    def verdict(model: str, question: Question) -> float:
        given = verdicts.get((model, question.question_id), [])
        return float(np.mean(given)) if given else np.nan

    clean = np.array([verdict(CLEAN, question) for question in questions])
    return clean, np.array([[verdict(name, question) for name in names] for question in questions])


def _told(row: AttackRow) -> dict[str, Any]:
    return {
        "attack": row.attack,
        "kind": row.kind,
        "n": row.n,
        "clean": row.clean,
        "attacked": row.attacked,
        "shift": row.shift.value,
        "shift_low": row.shift.low,
        "shift_high": row.shift.high,
        "raised": row.raised,
        "unparsed": row.unparsed,
    }
