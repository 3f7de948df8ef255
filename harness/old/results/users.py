"""Conversations with a simulated user -> what the user did, which rules it broke, its share of the variance.

    v_qmk        the score of model m in its conversation with sample k of the user about question q
    within       mean over q and m of the variance of v_qmk over k: two conversations of one model about one question
    shared       the part of it that all models have in common: of the two-way table of k and m of each question
                 (MS_k - MS_rest) / M, at least 0                     M: models
    model alone  mean variance over several choices of one model with one sample of the user, where there are any

The user's share of the variance of a single score lies between shared and all of within; with several choices of each
sample it is at most within - (model alone). Averaging K samples leaves a K-th of it. The rest of the variance is of
questions, models and their interaction.

Two models, two samples, one question, scores 6, 8 and 5, 9: within (2 + 8) / 2 = 5; MS_k = 9, MS_rest = 1, shared 4.

Source: method of moments for crossed random effects, as Searle, Casella and McCulloch, Variance Components (1992), 4.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from harness.old.answering.simulation import RULES, UserPrompt, broken_rules, ended, read_prompt
from harness.old.bench import Bench
from harness.old.errors import UsageError
from harness.old.judgments.observations import Observations
from harness.old.records import Choice, Question, QuestionId, Source
from harness.old.results.grades.single import mean
from harness.old.results.table import Row

Scores: TypeAlias = Mapping[tuple[QuestionId, str, int], float]
"""By question, model and choice."""


class UserVariance(NamedTuple):
    """How much of the variance of a single score is the user's."""

    total: float
    within: float
    shared: float
    model_alone: float | None
    samples: int
    """Conversations of each model about each question, the most."""

    @property
    def most(self) -> float:
        """The most of the variance that can be the user's."""
        return max(0.0, self.within - (self.model_alone or 0.0))

    def row(self) -> dict[str, Any]:
        """Return the row of a table: the standard deviations, and the user's share of the variance."""
        return {
            "user_samples": self.samples,
            "sd": self.total**0.5,
            "sd_within": self.within**0.5,
            "share_least": min(self.shared, self.most) / self.total if self.total else None,
            "share_most": self.most / self.total if self.total else None,
        }


@dataclass(frozen=True, slots=True)
class UserTable:
    """What `show_result` shows about simulated users."""

    user: Mapping[str, Any]
    """Who played them, as the rows state it."""
    parts: list[Row]
    """A row for each model: what the user did in the conversations with it."""
    variance: UserVariance | None
    """None where there is one conversation of each model about each question, or nothing is graded."""


def user_table(bench: Bench, found: Observations) -> UserTable | None:
    """Return what the users did in the conversations that were judged; None if there are none.

    Raises:
        UsageError: they were played by several chat models, or in several ways.
    """
    models = list(dict.fromkeys(model for case in found.cases for model in case.models))
    questions = {question.question_id: question for question in bench.questions if question.user is not None}
    judged = {
        (asked.question_id, model, _choice(case.source)) for case, asked, _ in found.rows() for model in case.models
    }
    held: dict[str, list[tuple[Question, Choice]]] = defaultdict(list)
    users: dict[str, Mapping[str, Any]] = {}
    for model in models:
        for key, answer in bench.answers(model).items():
            if key in questions and answer.user:
                users[model] = answer.user
                held[model] += [(questions[key], c) for c in answer.choices if (key, model, c.index) in judged]
    _one_user(users)
    if not any(held.values()):
        return None
    user = next(iter(users.values()))
    prompt = replace(read_prompt(), stop=str(user.get("stop") or read_prompt().stop))
    scores = {} if found.paired else _scores(found)
    parts = [_part(model, held[model], prompt, scores) for model in models if held[model]]
    return UserTable(user, parts, _variance(scores, int(user.get("num_choices") or 1)))


def _choice(source: Source) -> int:
    """Return which conversation a judgment is of; -1 where another tool names it otherwise."""
    return int(source.choice) if source.choice.isdigit() else -1


def _one_user(users: Mapping[str, Mapping[str, Any]]) -> None:
    told = {model: repr(sorted(user.items())) for model, user in users.items()}
    if len(set(told.values())) > 1:
        named = ", ".join(f"{model} with {user.get('model')}" for model, user in users.items())
        raise UsageError(
            f"the users were simulated differently ({named}), so the conversations are not comparable; run gen_answer "
            "with one --user for all, or choose models with --model-list"
        )


def _part(model: str, held: Sequence[tuple[Question, Choice]], prompt: UserPrompt, scores: Scores) -> Row:
    """Return what the user did in the conversations with one model: how many it ended (the others ran to their last
    turn), in how many it broke each rule, and the mean score of those in which it broke none."""
    broken: Counter[str] = Counter()
    whole = []
    faulty = 0
    for question, choice in held:
        rules = {one.rule for one in broken_rules(question, choice, prompt)}
        broken.update(rules)
        faulty += bool(rules)
        score = scores.get((question.question_id, model, choice.index))
        whole += [score] if not rules and score is not None else []
    over = sum(ended(choice, prompt) for _, choice in held)
    return {
        "model": model,
        "conversations": len(held),
        "turns": sum(len(choice.replies) for _, choice in held) / len(held),
        "ended_by_user": over,
        "out_of_turns": len(held) - over,
        **{rule.replace(" ", "_"): broken[rule] for rule in RULES},
        "with_breaks": faulty,
        "average_without": mean(whole),
    }


def _scores(found: Observations) -> Scores:
    sums: dict[tuple[QuestionId, str, int], list[float]] = defaultdict(list)
    for case, asked, value in found.rows():
        if not np.isnan(value):
            sums[asked.question_id, case.models[0], _choice(case.source)].append(value)
    return {key: sum(values) / len(values) for key, values in sums.items()}


def _variance(scores: Scores, num_choices: int) -> UserVariance | None:
    """Return the components of the variance; None unless some model has two conversations about a question."""
    cells: dict[tuple[QuestionId, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (question, model, choice), value in scores.items():
        cells[question, model][choice // num_choices].append(value)
    within = [np.var([own for values in by.values() for own in values], ddof=1) for by in cells.values() if len(by) > 1]
    if not within:
        return None
    alone = [np.var(values, ddof=1) for by in cells.values() for values in by.values() if len(values) > 1]
    by_model: dict[str, list[float]] = defaultdict(list)
    for (_, model, _), value in scores.items():
        by_model[model].append(value)
    means = {model: sum(values) / len(values) for model, values in by_model.items()}
    centred = [value - means[model] for (_, model, _), value in scores.items()]
    shared = _shared(cells)
    return UserVariance(
        total=float(np.var(centred, ddof=1)) if len(scores) > 1 else 0.0,
        within=float(np.mean(within)),
        shared=max(0.0, float(np.mean(shared))) if shared else 0.0,
        model_alone=float(np.mean(alone)) if alone else None,
        samples=max(len(by) for by in cells.values()),
    )


def _shared(cells: Mapping[tuple[QuestionId, str], Mapping[int, Sequence[float]]]) -> list[float]:
    """Return for each question the variance that its samples have in common over the models that all have them."""
    found = []
    for question in dict.fromkeys(question for question, _ in cells):
        tables = [by for (key, _), by in cells.items() if key == question]
        samples = sorted(set.intersection(*(set(by) for by in tables)))
        if len(tables) < 2 or len(samples) < 2:
            continue
        values = np.array([[np.mean(by[k]) for by in tables] for k in samples])
        k, m = values.shape
        rest = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
        of_samples = m * np.var(values.mean(axis=1), ddof=1)
        found.append(float((of_samples - (rest**2).sum() / ((k - 1) * (m - 1))) / m))
    return found
