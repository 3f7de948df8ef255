"""Runs shows what is there, what is missing and why, while files grow."""

import json
import os
import pathlib
import time
from collections import Counter
from typing import Any

import pytest

from harness.old.bench import Bench
from harness.old.jsonl import Journal
from harness.old.status import BenchStatus, bench_status
from tests.old.small_bench import answer, question, small_bench, write
from tests.old.viewer.test_app import grade, pair
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.growth import counted_on, growth_of, reasons_in
from viewer.old.later import Later
from viewer.old.places import ends_of
from viewer.old.store import Store


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


def views(data: pathlib.Path) -> Views:
    """Return the views of a data folder."""
    return Views(Context(Store(data, ["small"])))


def test_nothing_run_yet_is_a_page_that_says_what_to_do(tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path)
    _, html = views(tmp_path).view("?tab=runs")
    assert "Nothing has been run here yet" in html
    assert "gen_answer --bench-name small --model NAME" in html


def test_done_missing_and_failed_are_counted_with_reasons(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("m"), [answer(1, "m", "x", "y"), answer(2, "m", "$ERROR$", "")])
    bad = grade(1, "m", -1, turn=2, details=[{"verdict_reason": "two <b>different</b> ratings"}])
    write(bench.folder / "model_judgment" / "j_single.jsonl", [grade(1, "m", 4), bad])
    _, html = views(tmp_path).view("?tab=runs")
    assert "</span></div> 1 of 3" in html
    assert "two &lt;b&gt;different&lt;/b&gt; ratings" in html
    assert "f.flag=failed" in html
    assert "nothing is running" in html


def test_a_file_that_is_written_now_is_told_with_its_writer(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    page = views(tmp_path)
    with Journal(bench.answer_file("m"), bench.answer_state) as journal:
        for number in (1, 2):
            journal.append(answer(number, "m", "x", "y") | {"tstamp": time.time()})
            _, html = page.view("?tab=runs")
            assert f"{number} of 3" in html
        assert f"process {os.getpid()}" in html
        assert 'data-refresh="2000"' in html
        assert ">running</span>" in html
    _, html = page.view("?tab=runs")
    assert "nothing is running" in html


def test_a_run_that_broke_a_moment_ago_does_not_run_and_nothing_is_said_to_be_left_of_it(
    tmp_path: pathlib.Path,
) -> None:
    bench = small_bench(tmp_path)
    now = time.time()
    with Journal(bench.answer_file("m"), bench.answer_state) as journal:
        for number in range(1, 4):
            journal.append(answer(number, "m", "x", "y") | {"tstamp": now - 10 + number})
    write(bench.folder / "question.jsonl", [question(n) for n in range(1, 9)])
    _, html = views(tmp_path).view("?tab=runs")
    assert "3 of 8" in html
    assert "nothing is running" in html
    assert ">left<" not in html
    bench.answer_file("m").rename(bench.answer_file("other"))  # which no program of ours has written: it may go on
    _, html = views(tmp_path).view("?tab=runs")
    assert ">running</span>" in html
    assert ">left<" in html


def test_a_damaged_file_leaves_the_list_of_files(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    path = write(bench.answer_file("m"), [answer(1, "m", "x", "y")])
    path.write_text("{broken\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    _, html = views(tmp_path).view("?tab=runs")
    assert "m.jsonl:1: not valid JSON" in html
    assert '<div class="tb-scroll" tabindex="0" role="group" aria-label="files">' in html


def test_the_rate_is_that_of_the_last_rows_without_a_pause(tmp_path: pathlib.Path) -> None:
    times = [1.7e9, 1.7e9 + 5000, 1.7e9 + 5010, 1.7e9 + 5030]
    path = write(tmp_path / "a.jsonl", [{"tstamp": stamp} for stamp in times])
    growth = growth_of(path)
    assert growth.per_minute == pytest.approx(4.0)
    assert growth.last == times[-1]
    assert not growth.recent


@pytest.mark.parametrize("content", [b"", b"{", b"[1]\n", b'{"tstamp": "x"}\n', b"\xff\n"], ids=repr)
def test_a_file_that_says_nothing_has_no_rate(content: bytes, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(content)
    assert growth_of(tmp_path / "a.jsonl").per_minute is None
    assert growth_of(tmp_path / "gone.jsonl").last is None


def test_reasons_are_those_of_the_first_game_without_a_verdict_of_each_judgment(tmp_path: pathlib.Path) -> None:
    details = [{"verdict_reason": "said [[A]]"}, {"verdict_reason": "no verdict at the end"}]
    rows = [pair(1, "a", "b", "model_1", "error") | {"details": details}, pair(2, "a", "b", "error", "error")]
    path = write(tmp_path / "j_pair.jsonl", rows)
    assert reasons_in(path) == {"no verdict at the end": 1, "no reason is stored": 1}


def test_rows_that_come_are_added_to_what_was_counted(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    answers = write(bench.answer_file("m"), [answer(n, "m", "x", "y") for n in (1, 2)])
    grades = write(bench.folder / "model_judgment" / "j_single.jsonl", [grade(1, "m", 4, turn=turn) for turn in (1, 2)])
    status, ends = bench_status(bench), ends_of([answers, grades])
    for path, row in ((answers, answer(3, "m", "x", "y")), (grades, grade(2, "m", -1)), (grades, grade(2, "m", 5, 2))):
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    more = counted_on(status, ends)
    assert more is not None
    [model], [judge] = more[0].models, more[0].judges
    assert (model.answered, model.missing) == (3, ())
    assert (judge.unparsed, judge.judged + judge.missing + judge.superseded) == (1, 4)
    assert judge.missing == status.judges[0].missing - 2
    again = counted_on(*more)
    assert again is not None
    assert again[0] == more[0]


def test_a_file_that_does_not_go_on_where_it_ended_is_counted_anew(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    path = write(bench.answer_file("m"), [answer(1, "m", "x", "y")])
    status, ends = bench_status(bench), ends_of([path])
    write(path, [answer(2, "m", "other", "words"), answer(3, "m", "x", "y")])  # the same inode, and longer
    assert counted_on(status, ends) is None


def test_while_a_file_grows_it_is_counted_anew_for_a_tenth_of_the_time(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = small_bench(tmp_path)
    path = write(bench.answer_file("m"), [answer(1, "m", "x", "y")])
    counted = Counter[str]()

    def counting(bench: Bench, **options: Any) -> BenchStatus:
        counted[bench.name] += 1
        return bench_status(bench, **options)

    monkeypatch.setattr("viewer.old.later.PAUSES", 1e9)
    monkeypatch.setattr("harness.old.status.bench_status", counting)
    page = views(tmp_path)
    for number in (1, 2, 3):
        if number > 1:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(answer(number, "m", "x", "y")) + "\n")
        _, html = page.view("?tab=runs")
        assert f"</span></div> {number} of 3" in html
    assert "new rows are added" in html
    assert counted == {"small": 1}
