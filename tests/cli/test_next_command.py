"""What `status` prints as the next command does what it says, with no flag forgotten."""

import json
import pathlib
import re
import shlex

import pytest

from harness.cli.main import main
from harness.options import GenJudgment, Judging, command_line
from tests.servers import Rule, Server

QUESTIONS = [
    {"question_id": key, "category": "writing", "turns": [f"Write {key}."]} for key in range(1, 9)
]


def make(data: pathlib.Path, models: int) -> list[str]:
    folder = data / "small"
    (folder / "model_answer").mkdir(parents=True)
    lines = [json.dumps(question) + "\n" for question in QUESTIONS]
    (folder / "question.jsonl").write_text("".join(lines))
    for model in range(models):
        answer(data, f"m{model}", "first")
    return ["--bench-name", "small", "--data-dir", str(data)]


def answer(data: pathlib.Path, model: str, text: str) -> None:
    rows = [
        {"question_id": q["question_id"], "choices": [{"index": 0, "turns": [f"{text} {model}"]}]}
        for q in QUESTIONS
    ]
    path = data / "small" / "model_answer" / f"{model}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def state(where: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert main(["status", *where, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="grades"),
        pytest.param(["--mode", "pairwise-all"], id="pairs"),
        pytest.param(["--mode", "pairwise-baseline", "--baseline-model", "m1"], id="baseline"),
        pytest.param(["--share", "0.4"], id="share"),
        pytest.param(["--judge-set", "battle_en", "--mode", "pairwise-all"], id="judge set"),
        pytest.param(["--samples", "2"], id="samples"),
        pytest.param(["--reference", "none"], id="no references"),
    ],
)
def test_it_makes_again_exactly_what_was_made_before(
    tmp_path: pathlib.Path, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 4)
    assert main(["gen_judgment", "--judge-model", "builtin/overlap", *flags, *where]) == 0
    before = state(where, capsys)
    assert "all judgments are there" in str(before["outcome"])
    answer(tmp_path, "m2", "second")
    stale = state(where, capsys)
    text, command = str(stale["outcome"]).split(" Next:\n")
    assert "missing" in text
    assert main(shlex.split(command)) == 0
    after = state(where, capsys)
    assert "all judgments are there" in str(after["outcome"])
    assert after["judges"] == before["judges"]


def test_after_a_changed_question_both_say_the_commands_that_make_all_of_it_again(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 0)
    assert main(["gen_answer", "--model", "builtin/outline", "builtin/eliza", *where]) == 0
    assert main(["gen_judgment", "--judge-model", "builtin/overlap", *where]) == 0
    questions = tmp_path / "small" / "question.jsonl"
    questions.write_text(questions.read_text().replace("Write 1.", "Write one."))
    capsys.readouterr()
    main(["status", *where])
    said = capsys.readouterr().out
    assert "out of date\nbuiltin/eliza" in said
    answering = said.split(" Next:\n")[1].splitlines()[0]
    main(["show_result", *where])
    said = capsys.readouterr().out
    assert "changed since; given new answers, gen_judgment makes them again:" in said
    commands = re.findall("^ +(gen_.*)", said, re.MULTILINE)
    assert commands[0] == answering
    assert main(shlex.split(answering)) == 0
    capsys.readouterr()
    main(["show_result", *where])
    said = capsys.readouterr().out  # the answers are there: no gen_answer is spoken of any more
    assert "gen_answer" not in said
    assert re.findall("^ +(gen_.*)", said, re.MULTILINE) == commands[1:]
    for command in commands[1:]:
        assert main(shlex.split(command)) == 0
    assert "all judgments are there" in str(state(where, capsys)["outcome"])


def test_of_changed_questions_those_that_the_flags_choose_are_answered_again(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 0)
    assert main(["gen_answer", "--model", "builtin/outline", "builtin/eliza", *where]) == 0
    assert main(["gen_judgment", "--judge-model", "builtin/overlap", *where]) == 0
    questions = tmp_path / "small" / "question.jsonl"
    questions.write_text(questions.read_text().replace("Write ", "Do write "))
    questions.write_text(questions.read_text().replace("Do write 3", "Write 3"))
    main(["show_result", "--first-n", "3", "--turns", "1", *where])
    said = capsys.readouterr().out
    for command in re.findall("^ +(gen_.*)", said, re.MULTILINE):
        assert main(shlex.split(command)) == 0
    models = json.loads(json.dumps(state(where, capsys)["models"]))
    assert {row["superseded"] for row in models} == {5}


def test_questions_that_were_never_answered_are_not_asked_for_to_mend_others(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 0)
    some = ["--first-n", "4", *where]
    with Server(Rule(say="No.")) as server:
        flags = ["--base-url", f"{server.url}/v1", *some]
        assert main(["gen_answer", "--model", "a", "b", *flags]) == 0
        assert main(["gen_judgment", "--judge-model", "mine", *flags]) == 0
    capsys.readouterr()
    main(["show_result", *where])
    said = capsys.readouterr().out
    assert "8 replies without a verdict:\n    gen_judgment --judge-model mine" in said
    assert "gen_answer" not in said


def test_judgments_of_a_question_that_is_gone_are_not_to_be_made_again(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 2)
    assert main(["gen_judgment", "--judge-model", "builtin/overlap", *where]) == 0
    questions = tmp_path / "small" / "question.jsonl"
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[1:]))
    shown = state(where, capsys)
    assert "all judgments are there" in str(shown["outcome"])
    cause = "2 judgments are of questions that the benchmark lacks"
    assert shown["notes"] == [cause]
    main(["show_result", *where])
    said = capsys.readouterr().out
    assert f"\n  {cause}\n" in said
    assert "gen_judgment" not in said
    path = tmp_path / "small" / "model_judgment" / "builtin%2Foverlap_single.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    main(["show_result", *where])
    assert "1 judgment never made:\n    gen_judgment" in capsys.readouterr().out


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="all"),
        pytest.param(["--mode", "single"], id="grades"),
        pytest.param(["--first-n", "3"], id="questions"),
        pytest.param(["--turns", "1"], id="turn"),
        pytest.param(["--model", "m0", "m1"], id="two models"),
        pytest.param(["--model", "m0"], id="one against the others"),
        pytest.param(["--model", "m0", "--baseline-model", "m1"], id="baseline"),
    ],
)
def test_show_result_says_what_is_out_of_date_of_what_it_shows_and_its_commands_make_that(
    tmp_path: pathlib.Path, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 3)
    judging = ["gen_judgment", "--judge-model", "builtin/overlap", *where]
    for mode in ("single", "pairwise-all"):
        assert main([*judging, "--mode", mode]) == 0
    folder = tmp_path / "small" / "model_judgment"
    for path in list(folder.iterdir()):
        other = path.name.replace("builtin%2Foverlap", "other")
        (folder / other).write_text(path.read_text().replace("builtin/overlap", "other"))
    answer(tmp_path, "m1", "second")

    def out_of_date() -> int:
        judges = json.loads(json.dumps(state(where, capsys)["judges"]))
        return sum(row["superseded"] for row in judges)

    before = out_of_date()
    main(["show_result", "--judge-model", "builtin/overlap", *flags, *where])
    said = capsys.readouterr().out
    stated = re.search(r"(\d+) judgments are of answers that were replaced", said)
    assert stated is not None
    for command in re.findall("^ +(gen_.*)", said, re.MULTILINE):
        assert main(shlex.split(command)) == 0
    assert before - out_of_date() == int(stated[1])


def test_where_all_that_is_asked_for_is_out_of_date_that_is_the_error(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 2)
    for judge_set in ("mt_bench", "mt_bench_wording_1"):
        judging = ["gen_judgment", "--judge-model", "builtin/overlap", "--judge-set", judge_set]
        assert main([*judging, *where]) == 0
    questions = tmp_path / "small" / "question.jsonl"
    questions.write_text(questions.read_text().replace("Write 1.", "Write one."))
    flags = ["--judge-set", "mt_bench", "--first-n", "1"]
    assert main(["show_result", *flags, *where]) == 2
    said = capsys.readouterr().err
    assert "none of these judgments is current: 2 judgments are of questions that were" in said


def test_what_is_not_shown_is_not_said_to_be_out_of_date(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 3)
    assert main(["gen_judgment", "--judge-model", "builtin/overlap", *where]) == 0
    answer(tmp_path, "m1", "second")
    capsys.readouterr()
    assert main(["show_result", "--model", "m0", "m2", *where]) == 0
    assert "replaced" not in capsys.readouterr().out


def test_a_judge_of_turnbench_toml_need_not_be_named(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 2)
    monkeypatch.chdir(tmp_path)
    pathlib.Path("turnbench.toml").write_text('judge_model = "builtin/overlap"\n')
    command = str(state(where, capsys)["outcome"]).split(" Next:\n")[1]
    assert main(shlex.split(command)) == 0
    assert "all judgments are there" in str(state(where, capsys)["outcome"])


def test_a_name_is_quoted() -> None:
    record = GenJudgment(judging=Judging(judge_model=("my judge",)))
    assert command_line(record) == "gen_judgment --judge-model 'my judge'"


def test_a_judge_that_only_an_address_tells_of_is_counted(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 2)
    with Server(Rule(say="Good.\n\nRating: [[7]]")) as server:
        address = ["--base-url", f"{server.url}/v1"]
        flags = ["gen_judgment", "--judge-model", "mine", "--first-n", "3", *address, *where]
        assert main(flags) == 0
        stale = state(where, capsys)
        text, command = str(stale["outcome"]).split(" Next:\n")
        assert "10 judgments missing" in text
        assert command.endswith("--base-url URL")
        assert main(shlex.split(command.replace("URL", address[1]))) == 0
    assert "all judgments are there" in str(state(where, capsys)["outcome"])
    answer(tmp_path, "m1", "second")
    capsys.readouterr()
    main(["show_result", *where])
    assert f"\n    {command}\n" in capsys.readouterr().out


def test_questions_that_cannot_be_judged_are_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make(tmp_path, 2)
    questions = tmp_path / "small" / "question.jsonl"
    first, *others = questions.read_text().splitlines(keepends=True)
    math = json.dumps({**json.loads(first), "category": "math"}) + "\n"
    questions.write_text("".join([math, *others]))
    flags = ["gen_judgment", "--judge-model", "builtin/overlap", "--skip-missing", *where]
    assert main(flags) == 0
    answer(tmp_path, "m1", "second")
    capsys.readouterr()
    main(["show_result", *where])
    command = re.search("^ *(gen_judgment .*)", capsys.readouterr().out, re.MULTILINE)
    assert command is not None
    assert main(shlex.split(command[1])) == 0
    said = state(where, capsys)
    assert "all judgments that can be made are there" in str(said["outcome"])
    assert "demands a reference for the category 'math'" in str(said["notes"])
