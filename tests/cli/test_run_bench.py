"""`run_bench`, and the dry run of `gen_judgment`."""

import json
import pathlib
from collections import Counter
from typing import Any

import pytest

from harness import run_bench, show_result
from harness.cli.main import gen_answer, gen_judgment, status
from harness.cli.main import run_bench as main
from harness.store import latest
from harness.types import Judgment
from tests.servers import Call, Rule, Server


@pytest.fixture
def flags(tmp_path: pathlib.Path) -> list[str]:
    """Return the flags by which a benchmark of four questions is meant."""
    (tmp_path / "small").mkdir()
    rows = [
        {"question_id": n, "category": "writing", "turns": [f"Q{n}", f"R{n}"]} for n in range(4)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "small" / "question.jsonl").write_text(text)
    return ["--bench-name", "small", "--data-dir", str(tmp_path)]


def answer(call: Call) -> str:
    """Answer as a model, and grade or compare as a judge."""
    if "[[A]]" in call.text:
        return "[[A]]"
    if "[[number]]" in call.text:
        return "Rating: [[7]]"
    return f"{call.body['model']} on {call.messages[-1][1]}"


def judgments(flags: list[str], name: str) -> list[Judgment]:
    """Return the judge's rows, of which none must stand twice in its file."""
    path = pathlib.Path(flags[-1]) / "small" / "model_judgment" / f"judge_{name}.jsonl"
    rows = list(latest(path, Judgment).values())
    assert len(path.read_text().splitlines()) == len(rows)
    return rows


@pytest.mark.parametrize(
    ("options", "mode", "name", "expected"),
    [
        pytest.param({}, "single", "single", 16, id="single"),
        pytest.param({"mode": "pairwise-all"}, "pairwise-all", "pair", 8, id="pairs"),
        pytest.param({"baseline_model": "two"}, "pairwise-baseline", "pair", 8, id="baseline"),
    ],
)
def test_every_answer_is_judged_once(
    flags: list[str], options: dict[str, Any], mode: str, name: str, expected: int
) -> None:
    with Server(Rule(answer)) as server:
        for _ in range(2):
            report = run_bench(
                ["one", "two"],
                "judge",
                "small",
                data_dir=flags[-1],
                base_url=f"{server.url}/v1",
                **options,
            )
        calls = len(server.calls)
    assert report.complete, report.outcome.causes()
    assert report.plan is not None
    assert report.unjudged == 0
    assert report.plan.judgments.mode == mode
    assert len(judgments(flags, name)) == expected
    assert calls == 32


def test_a_judge_that_is_known_nowhere_else_is_at_the_models_address(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(Rule(answer)) as server:
        models = ["--model", "one", "two", "--judge-model", "judge", "--format", "json"]
        assert main([*flags, *models, "--base-url", f"{server.url}/v1"]) == 0
        called = Counter(call.body["model"] for call in server.calls)
    assert called == {"one": 8, "two": 8, "judge": 16}
    page = json.loads(capsys.readouterr().out)
    assert {row["model"]: row["average"] for row in page["rows"]} == {"one": 7.0, "two": 7.0}


def test_what_is_missing_is_listed_and_the_rest_is_judged(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    bad = Rule(
        status=400,
        body={"error": {"message": "no such thing"}},
        when=lambda call: call.body["model"] == "one" and "Q1" in call.text,
    )
    with Server(bad, Rule(answer)) as server:
        models = ["--model", "one", "--judge-model", "judge", "--base-url", f"{server.url}/v1"]
        assert main([*flags, *models]) == 1
    messages = capsys.readouterr().err
    assert "one, question 1: " in messages
    assert "2 judgments wait for answers that are missing" in messages
    assert len(judgments(flags, "single")) == 6


def test_the_estimate_knows_the_judge_s_calls(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["--model", "gpt-4o", "gpt-4.1", "--judge-model", "claude-sonnet-4-5"]
    assert main([*flags, *models, "--mode", "pairwise-all", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("32 calls would be made")
    assert not (pathlib.Path(flags[-1]) / "small" / "model_answer").exists()


def test_a_share_of_the_pairs_is_judged_as_answers_come(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(Rule(answer)) as server:
        models = ["--model", "a", "b", "c", "d", "--judge-model", "judge"]
        where = ["--base-url", f"{server.url}/v1"]
        assert main([*flags, *models, *where, "--share", "0.5", "-q"]) == 0
    rows = judgments(flags, "pair")
    assert len(rows) == 24
    assert {row.drawn for row in rows} == {0.5}
    assert "50% of the pairs, drawn" in " ".join(capsys.readouterr().out.split())


def test_the_dry_run_shows_what_shares_of_the_pairs_would_take(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(Rule(answer)) as server:
        where = ["--base-url", f"{server.url}/v1"]
        assert gen_answer([*flags, "--model", "a", "b", "c", *where, "-q"]) == 0
    capsys.readouterr()
    judging = ["--judge-model", "gpt-4.1", "--mode", "pairwise-all", "--dry-run"]
    assert gen_judgment([*flags, *judging]) == 0
    page = capsys.readouterr().out
    assert page.startswith("48 calls would be made, $")
    rows = [line.split() for line in page.partition("% of the pairs")[2].splitlines()[1:5]]
    assert rows[-1][:2] == ["100", "48"]


def test_after_a_baseline_run_status_misses_no_other_pairs(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["builtin/eliza", "builtin/outline", "builtin/reference"]
    words = ["--model", *models, "--baseline-model", models[0], "-q"]
    assert main([*words, "--judge-model", "builtin/overlap", *flags]) == 0
    capsys.readouterr()
    assert status([*flags, "--format", "json"]) == 0
    (judge,) = json.loads(capsys.readouterr().out)["judges"]
    assert (judge["mode"], judge["baseline"]) == ("pairwise-baseline", models[0])
    assert (judge["judged"], judge["missing"]) == (16, 0)


def test_a_board_of_another_baseline_is_refused_before_the_first_call(
    flags: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = tmp_path / "board.csv"
    board.write_text("model,win_rate,judge,judge_set,baseline\nx,50.0,judge,mt_bench 1,other\n")
    with Server(Rule(answer)) as server:
        words = ["--model", "one", "two", "--judge-model", "judge", "--base-url", server.url]
        words += ["--baseline-model", "two", "--board", str(board)]
        assert main([*words, *flags]) == 2
        assert not server.calls
    assert "rows of the baseline other, these are of two" in capsys.readouterr().err


def test_metrics_that_cannot_be_computed_are_refused_before_the_first_call(
    flags: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"GPT": ["relevance"], "Metrics": ["Distinct"], "UniEval": ["summarization-fluency"]}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"language": "en", "category": {"writing": entry}}))
    words = ["--config", str(config), "--model", "one", "--judge-model", "judge", "-q", *flags]
    with Server(Rule(answer)) as server:
        words += ["--base-url", server.url]
        for more in ([], ["--dry-run"]):
            assert main([*words, *more]) == 2
            error = capsys.readouterr().err
            assert error.endswith("; --without unieval goes on without\n")
            assert error.count("--without") == 1
        assert not server.calls
    assert (
        main(
            [
                *words[:-2],
                "--model",
                "builtin/eliza",
                "--judge-model",
                "builtin/overlap",
                "--without",
                "unieval",
            ]
        )
        == 0
    )
    assert "distinct_1" in capsys.readouterr().out


def test_what_is_out_of_date_is_left_out_as_show_result_does(tmp_path: pathlib.Path) -> None:
    names = ["builtin/outline", "builtin/eliza"]
    run_bench(names, "builtin/overlap", data_dir=str(tmp_path), first_n=8)
    path = tmp_path / "mt_bench" / "model_answer" / "builtin%2Feliza.jsonl"
    *lines, last = path.read_text().splitlines()
    lines.append(last.replace('"turns":["', '"turns":["Well. '))
    path.write_text("\n".join([*lines, ""]))
    again = run_bench(names, "builtin/overlap", data_dir=str(tmp_path), first_n=3)
    shown = show_result(data_dir=str(tmp_path))
    assert [row["n"] for row in shown.rows()] == [16, 14]
    assert again.page is not None
    assert again.page.all_rows == shown.rows()
    assert not [note for note in again.page.notes if "not here" in note.text]
