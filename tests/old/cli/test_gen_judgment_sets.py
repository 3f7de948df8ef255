"""gen_judgment: the flags that say by which set, how often and on which choices is judged."""

import json
import pathlib

import pytest

from tests.old.cli.conftest import Run
from tests.old.judging.sets.written import GRADE, written
from tests.old.protocol_server import ProtocolServer, verdict
from tests.old.small_bench import rows

CRITERIA = '[criteria.wit]\ndefinition = "Wit"\n[criteria.tone]\ndefinition = "Tone"'
SCHEMA = 'schema = { type = "object", properties = { rating = { type = "integer" } } }'


def words(data: pathlib.Path, *more: str) -> list[str]:
    return ["--data-dir", str(data), "--bench-name", "tiny", *more]


def test_samples_of_a_panel_are_told_and_written(run: Run, data: pathlib.Path) -> None:
    with ProtocolServer(verdict) as server:
        panel = ["--judge-model", "j", "k", "--base-url", server.openai_url, "--samples", "2"]
        ended = run("gen_judgment", *words(data, *panel, "--turns", "1"))
        assert len(server.requests) == 16
    assert ended.returncode == 0
    assert "j, sample 1: 4 judgments to make, 4 calls" in ended.stderr
    assert [pathlib.Path(line).name for line in ended.stdout.splitlines()] == [
        f"{judge}{which}_single.jsonl" for judge in "jk" for which in ("", "@mt_bench#1")
    ]


def test_a_criterion_can_be_chosen_and_every_choice_judged(
    run: Run, data: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    judge_set = written(tmp_path / "set", CRITERIA, by=GRADE.replace("Grade", "{criterion}"))
    path = data / "tiny" / "model_answer" / "builtin%2Feliza.jsonl"
    answers = rows(path)
    for row in answers:
        row["choices"].append({**row["choices"][0], "index": 1})
    path.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    chosen = ["--judge-set", str(judge_set), "--criterion", "tone", "--choices", "all", "--turns", "1"]
    ended = run("gen_judgment", *words(data, "--judge-model", "builtin/overlap", *chosen))
    assert ended.returncode == 0, ended.stderr
    found = {(row["model"], row["choice"], row["criterion"]) for row in rows(pathlib.Path(ended.stdout.strip()))}
    assert found == {("builtin/eliza", 0, "tone"), ("builtin/eliza", 1, "tone"), ("builtin/outline", 0, "tone")}


@pytest.mark.parametrize(("structured", "asked"), [("auto", True), ("off", False)])
def test_a_schema_is_asked_for_unless_it_is_off(
    run: Run, data: pathlib.Path, tmp_path: pathlib.Path, structured: str, asked: bool
) -> None:
    judge_set = written(tmp_path / "set", grade=GRADE + SCHEMA)
    with ProtocolServer(verdict) as server:
        judge = ["--judge-model", "j", "--base-url", server.openai_url, "--judge-set", str(judge_set)]
        assert run("gen_judgment", *words(data, *judge, "--structured", structured)).returncode == 0
        assert {request.schema is not None for request in server.requests} == {asked}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param(
            ["--criterion", "wit"], "the judge set mt_bench has no criterion 'wit'; it has none", id="criterion"
        ),
        pytest.param(["--samples", "0"], "must be a whole number from 1", id="samples"),
        pytest.param(["--choices", "last"], "invalid choice: 'last'", id="choices"),
        pytest.param(["--judge-set", "mt_bensh"], "did you mean 'mt_bench'?", id="judge set"),
    ],
)
def test_wrong_use_is_one_line(run: Run, data: pathlib.Path, more: list[str], told: str) -> None:
    ended = run("gen_judgment", *words(data, "--judge-model", "builtin/overlap", *more))
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert told in ended.stderr
