"""What answers and judgments cost, from the tokens that they store."""

import pathlib
from typing import Any

import pytest

from harness.cli.main import main
from harness.old.errors import DataError, MissingError
from harness.old.records import Reply, Usage
from harness.old.results.cost import Prices, show_cost
from tests.old.small_bench import answer, question, small_bench, write


def details(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": completion}, **more}


def answered(number: int, model: str, *calls: dict[str, Any]) -> dict[str, Any]:
    row = answer(number, model, *["said" for _ in calls])
    row["choices"][0]["details"] = list(calls)
    return row


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    bench = small_bench(tmp_path, question(1), question(2), name="mt_bench")
    calls = details(1000, 100), details(2000, 200, batch=True), details(4000, 400, from_cache=True)
    write(bench.answer_file("gpt-4.1"), [answered(1, "gpt-4.1", *calls)])
    write(bench.answer_file("own"), [answered(1, "own", details(10, 20), details(30, 40))])
    write(bench.answer_file("old"), [answer(2, "old", "a", "b")])
    single = {"question_id": 1, "model": "own", "judge": ["gpt-4o", "single-v1"], "score": 5, "turn": 1}
    again = [{"judgment": "?", **details(500, 10)}]
    pair = {"question_id": 1, "model_1": "own", "model_2": "old", "judge": ["gpt-4o", "pair-v2"], "turn": 1}
    pair |= {"g1_winner": "tie", "g2_winner": "tie"}
    folder = bench.folder / "model_judgment"
    write(folder / "gpt-4o_single.jsonl", [{**single, "details": [details(500, 50, earlier_attempts=again)]}])
    write(folder / "gpt-4o_pair.jsonl", [{**pair, "details": [details(1000, 1), details(1000, 1)]}, pair])
    return tmp_path


def test_tokens_are_summed_by_model_and_judge_at_todays_prices(data: pathlib.Path) -> None:
    found = {(row.what, row.model): row for row in show_cost(data_dir=data)}
    ours = found["answers", "gpt-4.1"]
    assert (ours.calls, ours.prompt_tokens, ours.reply_tokens, ours.unstated) == (2, 3000, 300, 0)
    assert ours.cost == pytest.approx((1000 * 2 + 100 * 8) / 1e6 + (2000 * 2 + 200 * 8) / 2e6)
    judge = found["judgments", "gpt-4o"]
    assert (judge.calls, judge.prompt_tokens, judge.reply_tokens, judge.unstated) == (6, 3000, 62, 2)
    assert judge.cost == pytest.approx((3000 * 2.5 + 62 * 10) / 1e6)


def test_an_unknown_price_and_rows_without_usage_are_said_to_be_so(data: pathlib.Path) -> None:
    found = {row.model: row for row in show_cost(data_dir=data)}
    assert (found["own"].cost, found["own"].reply_tokens) == (None, 60)
    assert (found["old"].calls, found["old"].unstated, found["old"].cost) == (2, 2, 0.0)


def test_an_unknown_price_gives_no_cost() -> None:
    assert Prices(None).cost("own", Reply("Hi", usage=Usage(1, 1))) is None


def test_models_toml_states_prices(data: pathlib.Path) -> None:
    file = data / "models.toml"
    file.write_text("[models.own]\nprice = {prompt = 1000, completion = 2000}", encoding="utf-8")
    found = {row.model: row for row in show_cost(data_dir=data, models_file=file)}
    assert found["own"].cost == pytest.approx(40 * 0.001 + 60 * 0.002)


def test_the_price_of_an_endpoint_with_another_name_is_that_of_the_model_that_replied(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, name="mt_bench")
    row = answered(1, "mine", details(1_000_000, 0, provider_model="gpt-4.1-2025-04-14"))
    write(bench.answer_file("mine"), [row])
    assert [row.cost for row in show_cost(data_dir=tmp_path)] == [2.0]


def test_local_weights_cost_nothing(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1), name="mt_bench")
    call = details(1000, 100, provider_model="./w", sampling_applied={"template": "its own (db52)"})
    write(bench.answer_file("mine"), [answered(1, "mine", call)])
    assert [row.cost for row in show_cost(data_dir=tmp_path)] == [0.0]


def test_one_file_and_named_models_and_judges_are_counted_alone(data: pathlib.Path) -> None:
    file = data / "mt_bench" / "model_judgment" / "gpt-4o_single.jsonl"
    assert [(row.what, row.calls) for row in show_cost(input_file=file)] == [("judgments", 2)]
    named = show_cost(data_dir=data, model_list=["old"])
    assert [(row.what, row.model, row.calls) for row in named] == [("answers", "old", 2), ("judgments", "gpt-4o", 4)]
    assert {row.what for row in show_cost(data_dir=data, judge_model="nobody")} == {"answers"}


def test_nothing_to_count_is_said(tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path, name="mt_bench")
    with pytest.raises(MissingError, match="no answers and no judgments to count the cost of"):
        show_cost(data_dir=tmp_path)


@pytest.mark.parametrize("choices", [7, [], ["x"], [{"turns": "x"}], [{"turns": [1]}], [None], {"turns": ["x"]}, None])
def test_a_row_that_is_no_answer_is_named(data: pathlib.Path, choices: Any) -> None:
    path = data / "mt_bench" / "model_answer" / "own.jsonl"
    write(path, [answered(1, "own", details(10, 20)), {"question_id": 2, "choices": choices}])
    with pytest.raises(DataError, match=r"own\.jsonl:2: .*choices"):
        show_cost(data_dir=data)


@pytest.mark.parametrize("odd", [7, "x", None, [1, 2], [{"usage": 7}, {"usage": {"prompt_tokens": "7"}}]])
def test_what_others_store_beside_a_reply_is_no_cost(
    data: pathlib.Path, odd: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    row = answered(1, "own", details(10, 20), details(30, 40))
    row["choices"][0]["details"] = odd
    write(data / "mt_bench" / "model_answer" / "own.jsonl", [row])
    single = {"question_id": 1, "model": "own", "judge": ["gpt-4o", "single-v1"], "score": 5, "turn": 1}
    single["details"] = [{"earlier_attempts": odd, "usage": odd}]
    write(data / "mt_bench" / "model_judgment" / "gpt-4o_single.jsonl", [single])
    own = next(row for row in show_cost(data_dir=data) if (row.what, row.model) == ("answers", "own"))
    assert (own.calls, own.unstated) == (2, 2)
    for words in (["status"], ["show_result", "--efficiency"], ["gen_answer", "--model", "own", "--dry-run"]):
        more = ["--base-url", "http://127.0.0.1:1/v1"] if words[0] == "gen_answer" else []
        assert main([*words, *more, "--data-dir", str(data), "-q"]) == 0
    assert "Traceback" not in capsys.readouterr().err
