"""The questions with a seed: every seed proves its references, and shares no question with another."""

import functools
import pathlib
import re

import pytest

from data.proofs.shipped import canary, question, reference
from harness.bench import load
from harness.cli.main import new_questions
from harness.extras.checks import check_turn
from turnbench_questions import draw, make_set, shipped
from turnbench_questions.template import Made, Turn

SEEDS = (0, 1, 2)
LONG = (1056, 1058, 1061)
TEMPLATES = {template.question_id: template for template in shipped()}
CASES = [
    pytest.param(i, seed, id=f"{TEMPLATES[i].name}-{seed}") for i in TEMPLATES for seed in SEEDS
]


@functools.cache
def make(question_id: int, seed: int) -> Made:
    return draw(TEMPLATES[question_id], seed)


def earlier(made: Made, number: int) -> list[str]:
    """Return a right reply to the turns before."""
    return [(made.reference() or turn.right)[0] for turn in made.turns[:number]]


def passes(made: Made, number: int, reply: str) -> bool:
    """Return whether a reply passes all checks of a turn."""
    turn = made.turns[number]
    verdicts = check_turn(
        reply,
        turn.all_checks(),
        questions=[one.request() for one in made.turns[: number + 1]],
        earlier=earlier(made, number),
    )
    return all(verdict.outcome.passed for verdict in verdicts)


def variants(turn: Turn) -> list[str]:
    """Return the right result as people and models write it."""
    if not isinstance(turn.result, tuple):
        return [f"Here it is.\n\n{turn.reply(turn.result)}\n\nI hope this helps."]
    plain = turn.reply(turn.result)
    values = [str(value) for value in turn.result]
    latex = [re.sub(r"^(\d+)/(\d+)$", r"$\\frac{\1}{\2}$", value) for value in values]
    return [
        f"So that is it.\n\n**{plain}**",
        f"{plain}.",
        f"**{turn.label}:** {', '.join(values)}",
        f"{turn.label}: {'; '.join(latex)}",
        f"{turn.label}: {'; '.join(f'`{value}`' for value in values)}",
        f"{turn.label}: {'; '.join(f'Ada: {value}' for value in values)}",
        f"{turn.label}: {'; '.join(f'{v} ≈ 0.12' if '/' in v else v for v in values)}",
    ]


@pytest.mark.parametrize(("question_id", "seed"), CASES)
def test_right_answers_pass_and_the_traps_fail(question_id: int, seed: int) -> None:
    made = make(question_id, seed)
    for number, turn in enumerate(made.turns):
        right = [turn.reply(turn.result, turn.work), *variants(turn)] if turn.result else turn.right
        wrong = [turn.reply(result, turn.work) for result in turn.traps.values()] + turn.wrong
        assert right
        assert wrong
        for reply in right:
            assert passes(made, number, reply), (number, reply[-300:])
        for reply in wrong:
            assert not passes(made, number, reply), (number, reply[-300:])


@pytest.mark.parametrize(("question_id", "seed"), CASES)
def test_a_question_is_whole(question_id: int, seed: int) -> None:
    made = make(question_id, seed)
    row = made.question(question_id, "x", "x")
    assert made.points_back in row.turns[1]
    points = [point for turn in row.checklist for point in turn]
    assert 3 <= len(points) <= 6
    assert all(row.note)
    assert all(row.checks)
    text = " ".join(row.turns)
    assert not re.search(r"\b(\d*1st|\b1 (days|people|sacks|crates|tenths))\b|\bNone\b", text)


@pytest.mark.parametrize("question_id", TEMPLATES)
def test_seeds_share_no_question(question_id: int) -> None:
    one, other = (make(question_id, seed) for seed in (0, 1))
    assert one.turns[0].request() != other.turns[0].request()
    assert [turn.result for turn in one.turns] != [turn.result for turn in other.turns] or not (
        one.turns[0].result
    )


def test_the_shipped_questions_are_those_of_seed_0() -> None:
    made = make_set(0, "mt_bench", canary("mt_bench"))
    for row in made.questions:
        assert row == question(row["question_id"])
    for row in made.references:
        assert row["choices"][0]["turns"] == reference(row["question_id"])


def test_three_texts_have_eight_thousand_words() -> None:
    for seed in SEEDS:
        assert all(len(make(i, seed).turns[0].ask.split()) >= 8_000 for i in LONG)


def test_the_command_writes_a_benchmark_that_loads(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "renewed_5"
    assert new_questions(["--seed", "5", "--out", str(folder)]) == 0
    bench = load("renewed_5", tmp_path)
    assert len(bench.questions) == len(TEMPLATES)
    assert bench.questions[0].turns != question(next(iter(TEMPLATES)))["turns"]
    assert new_questions(["--seed", "5", "--out", str(folder)]) == 2
    assert "is not empty" in capsys.readouterr().err
