"""The questions with a seed: every level and seed proves its references."""

import pathlib

import pytest

from data.proofs.shipped import canary, question, reference
from harness.bench import load
from harness.cli.main import new_questions
from turnbench_questions import Template, make_set, shipped
from turnbench_questions.proving import PROVED_LEVELS, prove

TEMPLATES = shipped()
CASES = [
    pytest.param(template, level, id=f"{template.name}-{level}")
    for template in TEMPLATES
    for level in PROVED_LEVELS
]


@pytest.mark.parametrize(("template", "level"), CASES)
def test_right_answers_pass_and_the_traps_fail(template: Template, level: int) -> None:
    assert [str(fault) for fault in prove(template, [level])] == []


def test_the_shipped_questions_are_those_of_seed_0() -> None:
    made = make_set(0, "mt_bench", canary=canary("mt_bench"))
    for row in made.questions:
        assert row == question(row["question_id"])
    for row in made.references:
        assert row["choices"][0]["turns"] == reference(row["question_id"])


def test_the_command_writes_a_benchmark_that_loads(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "renewed_5"
    assert new_questions(["--seed", "5", "--out", str(folder)]) == 0
    bench = load("renewed_5", tmp_path)
    assert len(bench.questions) == len(TEMPLATES)
    assert bench.questions[0].turns != question(TEMPLATES[0].question_id)["turns"]
    assert new_questions(["--seed", "5", "--out", str(folder)]) == 2
    assert "is not empty" in capsys.readouterr().err
