"""A drawn share of the pairs: which they are, how it grows, what becomes of it when killed."""

import itertools
import json
import pathlib
import subprocess
import sys
import time
from collections import Counter

import pytest

from harness.errors import UsageError
from harness.judging.draw import drawn_pairs
from tests.judging.conftest import QUESTIONS, Folder, counts
from tests.servers import Rule, Server

MODELS = [f"m{number}" for number in range(9)]


@pytest.fixture
def many(folder: Folder) -> Folder:
    """Return the benchmark with six more models, so that there are 28 pairs a turn."""
    folder.write("question.jsonl", [{**row, "category": "writing"} for row in QUESTIONS])
    for number in range(6):
        name = f"m{number}"
        folder.answer(name, {q: [f"{name} says", f"{name} adds"] for q in (1, 2)})
    folder.answer("alpha", {q: ["alpha says", "alpha adds"] for q in (1, 2)})
    folder.answer("beta", {q: ["beta says", "beta adds"] for q in (1, 2)})
    return folder


def test_models_play_equally_often_and_everybody_meets_everybody() -> None:
    drawn = [drawn_pairs(q, turn, MODELS, 0.25) for q in range(80) for turn in (1, 2)]
    for pairs in drawn:
        plays = Counter(model for pair in pairs for model in pair)
        assert max(plays.values()) - min(plays[model] for model in MODELS) <= 2
    meetings = Counter(pair for pairs in drawn for pair in pairs)
    assert meetings.keys() == set(map(frozenset, itertools.combinations(MODELS, 2)))
    total = Counter(model for pairs in drawn for model in pair_members(pairs))
    assert max(total.values()) < 1.1 * min(total.values())
    assert sum(map(len, drawn)) == pytest.approx(0.25 * 160 * 36, rel=0.02)


def pair_members(pairs: frozenset[frozenset[str]]) -> list[str]:
    return [model for pair in pairs for model in pair]


def test_a_larger_share_holds_the_smaller_one_and_a_new_model_moves_few_pairs() -> None:
    needless = 0
    for question in range(80):
        tenth = drawn_pairs(question, 1, MODELS, 0.1)
        assert tenth <= drawn_pairs(question, 1, MODELS, 0.4) <= drawn_pairs(question, 1, MODELS, 1)
        joined = drawn_pairs(question, 1, [*MODELS, "new"], 0.1)
        needless += sum("new" not in pair for pair in joined - tenth)
    assert needless < 80
    assert len(drawn_pairs(1, 1, MODELS, 1)) == 36


def test_a_share_grows_without_judging_anything_twice(many: Folder) -> None:
    plan = many.plan(share=0.25)
    assert (plan.mode, plan.total, plan.calls) == ("pairwise-all", 28, 56)
    rows = many.judge(plan, "[[A]]")
    assert {row.drawn for row in rows} == {0.25}
    assert counts(many.plan(share=0.25)) == (0, 28, 0)
    assert counts(many.plan(share=0.5)) == (28, 28, 0)
    assert counts(many.plan(mode="pairwise-all")) == (84, 28, 0)


def test_new_models_join_by_the_share_alone(many: Folder) -> None:
    many.judge(many.plan(share=0.25), "[[A]]")
    many.answer("new", {q: ["new says", "new adds"] for q in (1, 2)})
    plan = many.plan(share=0.25)
    fresh = [match for match in plan.tasks[0].todo if "new" in match.models]
    assert 6 <= len(fresh) <= 10
    assert plan.total <= 2 * len(fresh)


def test_every_judge_of_a_panel_judges_the_same_pairs(many: Folder) -> None:
    judges = ["builtin/overlap", "builtin/longest"]
    first, second = many.plan(share=0.25, judge_model=judges).tasks
    assert [match.key for match in first.todo] == [match.key for match in second.todo]


@pytest.mark.parametrize("options", [{"mode": "single"}, {"votes": "votes.jsonl"}])
def test_a_share_is_of_all_pairs(many: Folder, options: dict[str, str]) -> None:
    (many.folder / "votes.jsonl").write_text("")
    if "votes" in options:
        options = {"votes": str(many.folder / "votes.jsonl")}
    with pytest.raises(UsageError, match="--share"):
        many.plan(share=0.5, **options)


@pytest.mark.slow
def test_a_killed_run_draws_the_same_pairs_when_it_goes_on(many: Folder) -> None:
    expected = sorted(repr(match.key) for match in many.plan(share=0.5).tasks[0].todo)
    path = many.folder / "model_judgment" / "j_pair.jsonl"
    with Server(Rule("[[A]]", delay=0.02)) as server:
        process = subprocess.Popen(command(many, server, "--share", "0.5"))
        wait_for_rows(path, 5)
        process.kill()
        process.wait()
        there = len(path.read_text().splitlines())
        assert 5 <= there < 56
        assert subprocess.run(command(many, server, "--share", "0.5"), check=False).returncode == 0
        assert len(server.calls) <= 2 * 56 + 2
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    keys = [
        (r["question_id"], r["turn"], tuple(sorted((r["model_1"], r["model_2"]))), None, 0, 0)
        for r in rows
    ]
    assert sorted(map(repr, keys)) == expected


def command(folder: Folder, server: Server, *flags: str) -> list[str]:
    """Return gen_judgment with the judge `j`, two calls at once, as a process of its own."""
    name, where = folder.folder.name, str(folder.folder.parent)
    command = [sys.executable, "-m", "harness.cli", "gen_judgment", "--bench-name", name, "-q"]
    command += ["--data-dir", where, "--judge-model", "j", "--parallel", "2", *flags]
    return [*command, "--base-url", f"{server.url}/v1"]


def wait_for_rows(path: pathlib.Path, number: int) -> None:
    """Wait until a file has some rows."""
    end = time.monotonic() + 30
    while not path.exists() or path.read_bytes().count(b"\n") < number:
        assert time.monotonic() < end, "no rows came"
        time.sleep(0.01)
