"""Every kind of judging, from a folder of TOML to rows, with a judge behind a real server."""

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from harness.old.bench import shipped
from harness.old.judging.run import JudgeOptions, plan_judgments
from harness.old.judgments.case import SHARE
from harness.old.judgments.row import judged_row
from tests.old.judging.sets.written import COMPARE, answered, judged, written
from tests.old.protocol_server import Asked, ProtocolServer, Said, verdict
from tests.old.small_bench import question, rows

LABELS = """
[labels]
CORRECT = 1
INCORRECT = 0
NOT_ATTEMPTED = 0
"""
LABEL = """
kind = "label"
user = 'Is {answer} true? Reply as {"evaluation": "CORRECT"} or with INCORRECT or NOT_ATTEMPTED.'
"""
SCHEMA = """
[schema]
type = "object"
properties = { evaluation = { type = "string", enum = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"] } }
"""
DIMENSIONS = """
kind = "dimensions"
dimensions = ["clarity", "depth", "overall"]
total = "overall"
user = "Grade {answer} as an object of clarity, depth and overall."
"""
WEIGHED = """
kind = "compare"
verdict = "preference"
score_method = "logprobs"
top_logprobs = 5
sides = ["m", "M"]
user = "m: {answer_a} M: {answer_b} Which is better, m or M?"
"""


def one_row(path: pathlib.Path) -> dict[str, Any]:
    (row,) = rows(path)
    return row


@pytest.mark.parametrize(
    ("said", "label", "share", "score"),
    [
        pytest.param('{"evaluation": "CORRECT"}', "CORRECT", 1.0, None, id="correct"),
        pytest.param('{"evaluation": "not attempted"}', "NOT_ATTEMPTED", 0.0, None, id="written otherwise"),
        pytest.param("Hard to say.", None, None, -1, id="no verdict"),
    ],
)
def test_a_label_is_no_score(
    tmp_path: pathlib.Path, said: str, label: str | None, share: float | None, score: int | None
) -> None:
    bench = answered(tmp_path, models="a")
    with ProtocolServer(lambda _: said) as server:
        report = judged(server, bench, written(tmp_path / "facts", LABELS, fact=LABEL))
    (path,) = report.paths
    row = one_row(path)
    assert path.name == "j@facts_single.jsonl"
    assert (row["label"], row["share"], row["score"]) == (label, share, score)
    assert report.unparsed == (label is None)
    assert judged_row(row, path, 1).numbers == ({} if label is None else {label: 1.0, SHARE: share})


def test_dimensions_stand_apart_and_their_total_is_the_score(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    grades = {"clarity": 7, "depth": 4, "overall": 6}
    with ProtocolServer(lambda _: json.dumps(grades)) as server:
        (path,) = judged(server, bench, written(tmp_path / "d", dimensions=DIMENSIONS)).paths
    assert (one_row(path)["scores"], one_row(path)["score"]) == (grades, 6)


def test_dimensions_without_a_total_have_no_score(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    plain = DIMENSIONS.replace('total = "overall"\n', "")
    with ProtocolServer(lambda _: '{"clarity": 7, "depth": 4, "overall": 6}') as server:
        (path,) = judged(server, bench, written(tmp_path / "d", dimensions=plain)).paths
    assert one_row(path)["score"] is None


def test_a_schema_is_asked_for_and_words_are_enough_without(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    facts = written(tmp_path / "facts", LABELS, fact=LABEL + SCHEMA)
    with ProtocolServer(verdict) as server:
        (path,) = judged(server, bench, facts).paths
        assert server.requests[-1].schema is not None
        assert one_row(path)["label"] in {"CORRECT", "INCORRECT", "NOT_ATTEMPTED"}
    with ProtocolServer(lambda _: "INCORRECT") as server:
        judged(server, bench, facts, structured=False)
        assert server.requests[-1].schema is None
    assert one_row(path)["label"] == "INCORRECT", "asked otherwise, so it was judged again"


def test_what_is_weighed_by_log_probabilities_says_so_with_its_preference(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)

    def said(asked: Asked) -> Said:
        first_is_a = asked.texts[-1].index("a1.1") < asked.texts[-1].index("b1.1")
        a, b = ("m", "M") if first_is_a else ("M", "m")
        return Said("m", logprobs=[("m", {a: 0.8, b: 0.2})])

    with ProtocolServer(said) as server:
        judged(server, bench, written(tmp_path / "w", "fence = false", weighed=WEIGHED), "pairwise-all")
        assert {asked.body["top_logprobs"] for asked in server.requests} == {5}
    row = one_row(bench.judgment_file("j", "w", "pairwise-all"))
    assert (row["g1_winner"], row["g2_winner"], row["score_method"]) == ("model_1", "model_1", "logprobs")
    assert (round(row["g1_preference"], 6), round(row["g2_preference"], 6)) == (0.8, 0.8)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        pytest.param('order = "as_given"', {"model_1"}, id="as given"),
        pytest.param('order = "random"', {"model_1", "model_2"}, id="random"),
    ],
)
def test_pairs_in_one_order_stand_in_a_file_of_their_own(
    tmp_path: pathlib.Path, settings: str, shown: set[str]
) -> None:
    bench = answered(tmp_path, *(question(n, turns=[f"Question {n}?"]) for n in range(1, 9)))
    judge_set = written(tmp_path / "once", settings, pair=COMPARE)

    def better_a(asked: Asked) -> str:
        return "[[A]]" if asked.texts[-1].index("\na") < asked.texts[-1].index("\nb") else "[[B]]"

    with ProtocolServer(better_a) as server:
        report = judged(server, bench, judge_set, "pairwise-all")
        assert (len(server.requests), report.written) == (8, 8)
        judged(server, bench, judge_set, "pairwise-all")
        assert len(server.requests) == 8, "what is judged in one order is done"
    (path,) = report.paths
    assert path.name == "j@once_pair1.jsonl"
    stored = rows(path)
    assert {row["shown_first"] for row in stored} == shown
    for row in stored:
        game, other = ("g1", "g2") if row["shown_first"] == "model_1" else ("g2", "g1")
        assert row[f"{game}_winner"] == "model_1"
        assert not any(name.startswith(other) for name in row)
        assert judged_row(row, path, 1).games == (1.0,)


def test_another_seed_judges_only_the_pairs_that_turn_round(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, *(question(n, turns=[f"Question {n}?"]) for n in range(1, 9)))
    judge_set = written(tmp_path / "once", 'order = "random"', pair=COMPARE)
    with ProtocolServer(verdict) as server:
        (path,) = judged(server, bench, judge_set, "pairwise-all").paths
        before = {row["question_id"]: row["shown_first"] for row in rows(path)}
        written(judge_set, 'order = "random"\norder_seed = 1')
        report = judged(server, bench, judge_set, "pairwise-all")
    after = {row["question_id"]: row["shown_first"] for row in rows(path)}
    turned = sum(before[key] != after[key] for key in before)
    assert 0 < turned < 8
    assert (report.written, report.superseded) == (turned, turned)


@pytest.mark.parametrize(
    ("judge_set", "words"),
    [
        pytest.param({"settings": LABELS, "fact": LABEL}, "cannot judge by label", id="labels"),
        pytest.param({"dimensions": DIMENSIONS}, "cannot judge by dimensions", id="dimensions"),
    ],
)
def test_a_built_in_judge_refuses_what_it_cannot_do(
    tmp_path: pathlib.Path, judge_set: dict[str, str], words: str
) -> None:
    from harness.old.errors import UsageError

    bench = answered(tmp_path, models="a")
    folder = written(tmp_path / "s", judge_set.pop("settings", ""), **judge_set)
    with pytest.raises(UsageError, match=words):
        plan_judgments(["builtin/overlap"], bench, "single", JudgeOptions(judge_set=str(folder)))


def fastchats_prompts(path: pathlib.Path) -> pathlib.Path:
    row = {"name": "pair-v2", "type": "pairwise", "system_prompt": "", "prompt_template": "{answer_a} {answer_b}"}
    path.write_text(json.dumps({**row, "output_format": "[[A]]"}) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda path: shipped("judge_prompts") / "mt_bench", id="ours"),
        pytest.param(lambda path: fastchats_prompts(path / "p.jsonl"), id="FastChat's"),
    ],
)
def test_sets_of_the_first_days_go_on_in_both_orders(
    tmp_path: pathlib.Path, place: Callable[[pathlib.Path], pathlib.Path]
) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        (path,) = judged(server, bench, place(tmp_path), "pairwise-all").paths
    assert path.name.endswith("_pair.jsonl")
    assert {"g1_winner", "g2_winner"} <= one_row(path).keys()
