"""show_judge_set: the list, one set, and the messages that it would send."""

import json
import pathlib

import pytest

from tests.old.cli.conftest import Run
from tests.old.judging.sets.written import COMPARE, GRADE, written


def test_without_a_name_the_shipped_sets_are_listed(run: Run) -> None:
    ended = run("show_judge_set")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [line for line in ended.stdout.splitlines() if line.startswith("mt_bench ")]
    listed = json.loads(run("show_judge_set", "--json").stdout)
    assert "mt_bench" in {told["name"] for told in listed}


def test_a_set_is_described_in_the_words_of_its_files(run: Run, tmp_path: pathlib.Path) -> None:
    settings = """
    title = "Two things"
    scale = [1, 5]
    order = "random"
    order_seed = 3
    turns = "last"
    questions = { category = "math" }
    references = { if_any = ["*"] }
    [criteria.wit]
    definition = "Is it witty?"
    """
    written(tmp_path / "two", settings, one=GRADE + 'criterion = "wit"', pair=COMPARE)
    shown = run("show_judge_set", "two").stdout
    for words in ("two 1: Two things", "order_seed  3", "turns       last", "category: math", "if_any: *"):
        assert words in shown
    assert "wit                      Is it witty?" in shown
    assert "one                      grade; [[rating]]; turns: every; for wit" in shown
    told = json.loads(run("show_judge_set", "--judge-set", "two", "--format", "json").stdout)
    assert (told["scale"], told["order_seed"], [t["name"] for t in told["templates"]]) == ([1, 5], 3, ["one", "pair"])


def test_the_messages_are_printed_as_they_are_sent(run: Run, data: pathlib.Path) -> None:
    words = ("--bench-name", "tiny", "--data-dir", str(data), "--model-list", "builtin/eliza", "--turns", "1")
    ended = run("show_judge_set", "mt_bench", "--question", "1", *words)
    assert ended.returncode == 0
    heading, asked, system = ended.stdout.splitlines()[:3]
    assert heading == "===== question 1, turn 1, builtin/eliza"
    assert asked.startswith("===== template single-")
    assert asked.endswith("grade as [[rating]], from 1 to 10")
    assert system == "----- system"
    (prompt,) = json.loads(run("show_judge_set", "mt_bench", "--question", "1", *words, "--json").stdout)
    assert [message["role"] for message in prompt["messages"]] == ["system", "user"]
    assert prompt["messages"][1]["content"] in ended.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["--question", "1"], "--question needs a judge set", id="no set"),
        pytest.param(["mt_bensh"], "did you mean 'mt_bench'?", id="unknown set"),
        pytest.param(["mt_bench", "--question", "7777"], "mt_bench has no question 7777", id="unknown question"),
        pytest.param(["mt_bench", "--question", "1001", "--criterion", "wit"], "no criterion 'wit'", id="criterion"),
    ],
)
def test_what_cannot_be_shown_is_one_line(run: Run, words: list[str], told: str) -> None:
    ended = run("show_judge_set", *words)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert told in ended.stderr
