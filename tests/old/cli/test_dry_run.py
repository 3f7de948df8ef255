"""--dry-run needs no key, calls nothing and writes nothing; the run that follows needs its key."""

import pathlib
import re

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import write_questions
from tests.old.small_bench import question


@pytest.fixture
def where(tmp_path: pathlib.Path) -> list[str]:
    """Return the flags that name a benchmark which nobody has answered."""
    write_questions(tmp_path / "data" / "tiny", question(1), question(2))
    return ["--data-dir", str(tmp_path / "data"), "--bench-name", "tiny"]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["gen_answer", "--model", "gpt-4.1"], id="gen_answer"),
        pytest.param(["run_bench", "--model", "gpt-4.1", "--judge-model", "claude-sonnet-4-5"], id="run_bench"),
    ],
)
def test_the_cost_is_told_without_a_key(
    words: list[str], where: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert main([*words, *where, "--dry-run"]) == 0
    assert "answers    gpt-4.1  " in capsys.readouterr().out.replace("answers  gpt", "answers    gpt")
    assert sorted(tmp_path.rglob("*")) == before
    assert main([*words, *where]) == 2
    assert "no key in the environment variable OPENAI_API_KEY" in capsys.readouterr().err


def test_the_cost_of_judging_is_told_without_a_key(where: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gen_answer", "--model", "builtin/eliza", *where, "-q"]) == 0
    assert main(["gen_judgment", "--judge-model", "gpt-4.1", *where, "--dry-run"]) == 0
    assert "judgments  gpt-4.1  single      4" in capsys.readouterr().out


def test_a_pool_whose_keys_are_not_there_is_estimated_by_its_own_price(
    where: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.toml").write_text(
        '[models.m]\nbase_url = "http://localhost:1/v1"\nprice = {prompt = 0, completion = 0}\n'
        '[[models.m.endpoints]]\napi_key_env = "ONE_KEY"\n[[models.m.endpoints]]\napi_key_env = "OTHER_KEY"\n',
        encoding="utf-8",
    )
    assert main(["gen_answer", "--model", "m", *where, "--dry-run"]) == 0
    assert "$0.00" in capsys.readouterr().out


def test_the_smallest_difference_that_a_plan_would_show_is_told(
    where: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gen_answer", "--model", "builtin/eliza", "builtin/outline", *where, "-q"]) == 0
    capsys.readouterr()
    assert main(["gen_judgment", "--judge-model", "gpt-4.1", "--samples", "2", *where, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "questions  samples  judges  smallest difference  calls  cost at most" in shown
    assert "detected with 80% power at the level of a table of 1 pair of models; variances: assumed" in shown


def test_a_plan_of_few_questions_promises_no_smallest_difference(
    where: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gen_answer", "--model", "builtin/eliza", "builtin/outline", *where, "-q"]) == 0
    capsys.readouterr()
    assert main(["gen_judgment", "--judge-model", "gpt-4.1", *where, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^ *2 +1 +1 +– ", shown, re.M)
    assert re.search(r"^ *42 +1 +1 +0\.", shown, re.M)
    assert "note: fewer than 6 questions show no difference, however large" in shown


def test_of_one_model_alone_there_is_no_difference_to_show(
    where: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gen_answer", "--model", "builtin/eliza", *where, "-q"]) == 0
    assert main(["gen_judgment", "--judge-model", "gpt-4.1", *where, "--dry-run"]) == 0
    assert "smallest difference" not in capsys.readouterr().out
