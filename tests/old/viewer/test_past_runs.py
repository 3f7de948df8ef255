"""Runs so far with their settings, what came last, and the difference of two runs, on the tab Runs."""

import gzip
import pathlib
from typing import Any

import pytest

from harness.old.chat.prices import price_list
from tests.old.small_bench import answer, question, small_bench, write
from tests.old.viewer.test_app import grade, pair
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.later import Later
from viewer.old.past_runs import runs_in
from viewer.old.store import Store

NOON = 1_700_000_000.0


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


def shown(data: pathlib.Path, more: str = "") -> str:
    """Return the tab."""
    return Views(Context(Store(data, ["small"]))).view(f"?tab=runs&bench=small{more}")[1]


def made(row: dict[str, Any], seconds: float, **more: Any) -> dict[str, Any]:
    """Return a row as it was written so many seconds after noon."""
    return {**row, "tstamp": NOON + seconds, **more}


def test_rows_between_pauses_are_a_run_with_the_settings_of_its_first_row(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    cold, hot = {"sampling": {"temperature": 0}}, {"sampling": {"temperature": 1.5}, "system_prompt": "Be brief."}
    rows = [
        made(answer(1, "m", 'says "tstamp": 9999999999'), 0, **cold),
        made(answer(2, "m", "x"), 300, **hot),
        made(answer(3, "m", "x"), 5_000, **hot),
    ]
    path = write(bench.answer_file("m"), rows)
    late, early = runs_in([path, tmp_path / "gone.jsonl"])
    assert (early.began, early.ended, early.rows) == (NOON, NOON + 300, 2)
    assert (late.began, late.rows) == (NOON + 5_000, 1)
    html = shown(tmp_path)
    assert "sampling temperature=0<" in html
    assert "sampling temperature=1.5; a system prompt" in html
    assert "2023-11-14 22:13" in html


def test_a_torn_line_is_no_row_of_a_run(tmp_path: pathlib.Path) -> None:
    path = write(small_bench(tmp_path).answer_file("m"), [made(answer(n, "m", "x"), n) | {"last": "x"} for n in (1, 2)])
    path.write_bytes(path.read_bytes()[:-4])
    (run,) = runs_in([path])
    assert run.rows == 1


def test_a_run_says_what_the_calls_behind_its_rows_cost(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)

    def costing(number: int, seconds: float, model: str) -> dict[str, Any]:
        row = made(answer(number, model, "x"), seconds)
        usage = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
        row["choices"][0]["details"] = [{"usage": usage, "finish_reason": "stop"}]
        return row

    rows = [costing(1, 0, "gpt-4.1"), costing(2, 10, "gpt-4.1"), made(answer(3, "gpt-4.1", "x"), 20)]
    write(bench.answer_file("gpt-4.1"), [*rows, costing(1, 5_000, "gpt-4.1")])
    write(bench.answer_file("mine"), [costing(1, 9_000, "mine")])
    price = price_list().prices["gpt-4.1"]
    one = price.prompt + price.completion / 10
    html = shown(tmp_path)
    runs = html[html.index("Runs so far") :]
    told = ["unknown price", f"${one:,.2f}", f"${2 * one:,.2f}; rows without tokens: 1"]
    assert [runs.index(f">{cost}<") for cost in told] == sorted(runs.index(f">{cost}<") for cost in told)


def test_runs_of_split_and_compressed_files_are_found(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "m.part-1.jsonl", [made(answer(1, "m", "x"), 0), made(answer(2, "m", "x"), 5_000)])
    last = write(tmp_path / "m.part-2.jsonl", [made(answer(3, "m", "x"), 5_100)])
    last.with_name(f"{last.name}.gz").write_bytes(gzip.compress(last.read_bytes()))
    last.unlink()
    late, early = runs_in([tmp_path / "m.jsonl"])
    assert (early.rows, late.rows) == (1, 2)
    assert late.ended == NOON + 5_100


def test_what_came_last_leads_to_its_page(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("a"), [made(answer(1, "a", "<b>first words</b>"), 0)])
    judged = bench.folder / "model_judgment"
    write(judged / "j_pair.jsonl", [made(pair(2, "a", "b", "model_2", "model_2"), 20)])
    write(judged / "j_single.jsonl", [made(grade(3, "a", 7), 10), {"tstamp": NOON, "question_id": [1]}])
    html = shown(tmp_path)
    last = html[html.index("Came last") : html.index("Runs so far")]
    assert last.index("a and b: b wins") < last.index("a: score 7") < last.index("&lt;b&gt;first words")
    assert "tab=compare&amp;bench=small&amp;mode=single&amp;question=2&amp;model=a&amp;model=b" in last
    assert "a row that is neither an answer nor a judgment" in last


def test_two_runs_are_compared_model_by_model_and_it_says_what_differs(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 21)))
    folder = bench.folder / "model_judgment"
    write(folder / "j_single.jsonl", [grade(n, "m", 3 + n % 2) for n in range(1, 21)])
    other = [grade(n, "m", 6 + n % 3) | {"judge": ["k", "single-v1"]} for n in range(1, 21)]
    write(folder / "k_single.jsonl", other)
    assert "Difference of two runs" in shown(tmp_path)
    html = shown(tmp_path, "&f.run=k_single.jsonl&f.against=j_single.jsonl")
    assert "compared although they differ: judge k here and j there" in html
    assert 'aria-label="this run less the other"' in html
    assert "3.55" in html


@pytest.mark.parametrize("name", ["gone.jsonl", "../../question.jsonl", "/etc/passwd"])
def test_a_file_that_is_not_a_run_of_this_benchmark_is_not_opened(name: str, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    for judge in ("j", "k"):
        write(bench.folder / "model_judgment" / f"{judge}_single.jsonl", [grade(1, "m", 3)])
    html = shown(tmp_path, f"&f.run={name}&f.against=j_single.jsonl")
    assert "this run less the other" not in html
    assert "root:" not in html
