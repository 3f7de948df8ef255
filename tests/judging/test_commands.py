"""gen_judgment and show_judge_set as commands, over a real socket."""

import pathlib
from typing import Any

import pytest

from harness import gen_judgment as judge
from harness.cli.main import gen_judgment, show_judge_set
from tests.judging.conftest import Folder
from tests.servers import Rule, Server


def run(folder: Folder, server: Server, *flags: str) -> int:
    """Run gen_judgment with the judge `j` at a server."""
    where = ["--bench-name", folder.folder.name, "--data-dir", str(folder.folder.parent)]
    return gen_judgment(
        [*where, "--judge-model", "j", "--base-url", f"{server.url}/v1", "-q", *flags]
    )


def scores(folder: Folder, name: str = "j_single.jsonl") -> list[Any]:
    return [row["score"] for row in folder.written(name)]


def test_a_second_run_makes_no_call(folder: Folder) -> None:
    with Server(Rule("[[7]]")) as server:
        run(folder, server, "--mode", "pairwise-all")
        calls = len(server.calls)
        run(folder, server, "--mode", "pairwise-all")
        assert len(server.calls) == calls == 6
    assert len(folder.written("j_pair.jsonl")) == 4


def test_a_verdict_that_is_not_there_is_counted_and_kept(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(Rule("I would rather not say.")) as server:
        assert run(folder, server, "--model-list", "alpha") == 0
    assert scores(folder) == [-1] * 4
    assert "4 of 4 judgments give no verdict" in capsys.readouterr().err
    with Server(Rule("[[7]]")) as server:
        assert run(folder, server, "--model-list", "alpha", "--redo", "failed") == 0
    assert scores(folder) == [7] * 4


def test_the_reason_is_that_of_the_game_without_a_verdict(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(Rule("I would rather not say.", times=1), Rule("[[A]]")) as server:
        some = "--first-n", "1", "--turns", "1", "--parallel", "1"
        assert run(folder, server, "--mode", "pairwise-all", *some) == 0
    said = "1 of 1 judgments give no verdict (most often: no verdict in the form that was asked for"
    assert said in capsys.readouterr().err


def test_a_refused_call_leaves_a_row_missing_and_exits_1(folder: Folder) -> None:
    rules = Rule(status=400, body={"error": {"message": "no"}}, times=1), Rule("[[7]]")
    with Server(*rules) as server:
        assert run(folder, server, "--parallel", "1") == 1
        assert run(folder, server) == 0
    assert scores(folder) == [7] * 8


def test_a_cut_judgment_is_asked_again_with_more_room_unless_the_limit_was_typed(
    folder: Folder,
) -> None:
    rules = Rule("Let me thi", finish="length", times=1), Rule("[[7]]")
    with Server(*rules) as server:
        run(folder, server, "--model-list", "alpha", "--first-n", "1", "--turns", "1")
        assert [call.body["max_tokens"] for call in server.calls] == [4096, 8192]
    with Server(Rule("Let me thi", finish="length")) as server:
        run(folder, server, "--model-list", "beta", "--max-tokens", "50", "--parallel", "1")
        assert {call.body["max_tokens"] for call in server.calls} == {50}
    assert (
        "raise --max-tokens" in folder.written("j_single.jsonl")[-1]["details"][0]["verdict_reason"]
    )


def test_a_program_judges_by_the_same_words(folder: Folder) -> None:
    report = judge(
        "builtin/longest",
        "pairwise-all",
        folder.folder.name,
        data_dir=str(folder.folder.parent),
    )
    assert report.complete
    assert not report.unread()
    assert report.paths[0].name == "builtin%2Flongest_pair.jsonl"


def test_built_in_judges_give_the_same_verdict_every_time(folder: Folder) -> None:
    names = ("builtin/overlap", "builtin/longest", "builtin/first", "builtin/random")
    options: dict[str, Any] = {"data_dir": str(folder.folder.parent), "mode": "pairwise-all"}
    for _ in range(2):
        report = judge(names, bench_name=folder.folder.name, redo="all", **options)
        winners = {
            path.name: {(row["g1_winner"], row["g2_winner"]) for row in folder.written(path.name)}
            for path in report.paths
        }
        # Question 2's first answers are equal; all others are different and of one length.
        assert winners["builtin%2Ffirst_pair.jsonl"] == {("tie", "tie"), ("model_1", "model_2")}
        assert winners["builtin%2Flongest_pair.jsonl"] == {("tie", "tie")}
    judge("builtin/overlap", bench_name=folder.folder.name, data_dir=options["data_dir"])
    assert all(1 <= score <= 10 for score in scores(folder, "builtin%2Foverlap_single.jsonl"))


def test_a_plan_says_which_pairs_take_no_call(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--bench-name", folder.folder.name, "--data-dir", str(folder.folder.parent)]
    words += ["--judge-model", "builtin/first", "--mode", "pairwise-all", "--dry-run"]
    assert gen_judgment(words) == 0
    said = "4 pairs to compare in both orders (1 of equal answers, a tie without a call), 6 calls"
    assert said in capsys.readouterr().err


def test_show_judge_set_names_what_is_wrong(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "judge_set.toml").write_text('extends = "mt_bench"\nstepp = 1', encoding="utf-8")
    assert show_judge_set([str(tmp_path)]) == 2
    assert "did you mean step?" in capsys.readouterr().err
    assert show_judge_set(["--question", "1031"]) == 2
    assert "--question needs a judge set" in capsys.readouterr().err
