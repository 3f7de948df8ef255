"""Where a benchmark stands, told from its files alone."""

import json
import os
import pathlib
import re
from dataclasses import replace
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import Bench
from harness.old.cli.status import main
from harness.old.jsonl import Journal
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.records import Mode
from harness.old.running.pending import Pending
from harness.old.showing import text
from harness.old.showing.status import status_page
from harness.old.status import bench_status
from tests.old.protocol_server import Asked, Fault, ProtocolServer, bad_request
from tests.old.running.test_pending import ASKED, REPLY
from tests.old.small_bench import answer, question, rows, small_bench, write


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    """Return a benchmark of three questions, answered by two models and judged in two modes."""
    bench = small_bench(tmp_path)
    run_answers(plan_answers(["builtin/eliza", "builtin/outline"], bench))
    for mode in ("single", "pairwise-all"):
        judge(bench, mode)
    return bench


def judge(bench: Bench, mode: Mode = "single", **options: Any) -> None:
    run_judgments(plan_judgments(["builtin/overlap"], bench, mode, JudgeOptions(**options)))


def changed(bench: Bench) -> Bench:
    """Return the benchmark with another second question."""
    return small_bench(bench.folder.parent, question(1), question(2, turns=["Other?", "And then?"]), question(3))


def files_of(folder: pathlib.Path) -> dict[str, tuple[int, bytes]]:
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


def test_what_is_complete_has_nothing_left(bench: Bench) -> None:
    status = bench_status(bench)
    assert [(m.model, m.answered, m.missing, m.superseded) for m in status.models] == [
        ("builtin/eliza", 3, (), ()),
        ("builtin/outline", 3, (), ()),
    ]
    assert [(j.mode, j.judged, j.missing, j.superseded, j.waiting) for j in status.judges] == [
        ("pairwise-all", 6, 0, 0, 0),
        ("single", 12, 0, 0, 0),
    ]
    assert status.rest == []


def test_a_changed_question_makes_its_answers_out_of_date_and_its_judgments_wait(bench: Bench) -> None:
    status = bench_status(changed(bench))
    assert [(m.answered, m.superseded) for m in status.models] == [(2, (2,)), (2, (2,))]
    assert [(j.judged, j.superseded, j.waiting) for j in status.judges] == [(4, 0, 2), (8, 0, 4)]
    assert [(e.model, e.calls) for e in status.rest] == [
        ("builtin/eliza", 2),
        ("builtin/outline", 2),
        ("builtin/overlap", 4),
        ("builtin/overlap", 4),
    ]


def test_answers_made_again_make_judgments_out_of_date(bench: Bench) -> None:
    bench = changed(bench)
    run_answers(plan_answers(["builtin/eliza", "builtin/outline"], bench))
    status = bench_status(bench)
    assert [(j.judged, j.superseded, j.missing) for j in status.judges] == [(4, 2, 0), (8, 4, 0)]
    assert [(e.model, e.calls) for e in status.rest] == [("builtin/overlap", 4), ("builtin/overlap", 4)]
    assert status.set_aside == {"builtin%2Feliza.jsonl": 1, "builtin%2Foutline.jsonl": 1}


def test_a_new_model_is_missing_from_the_judgments(bench: Bench) -> None:
    run_answers(plan_answers(["builtin/reference"], bench))
    status = bench_status(bench)
    assert [(j.mode, j.judged, j.missing) for j in status.judges] == [("pairwise-all", 6, 12), ("single", 12, 6)]


def test_a_baseline_is_told_from_the_pairs(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    run_answers(plan_answers(["builtin/eliza", "builtin/outline", "builtin/reference"], bench))
    judge(bench, "pairwise-baseline", baseline="builtin/eliza")
    (found,) = bench_status(bench).judges
    assert (found.mode, found.judged, found.missing) == ("pairwise-baseline", 12, 0)
    bench.answer_file("builtin/eliza").unlink()
    (found,) = bench_status(bench).judges
    assert (found.judged, found.note) == (12, "builtin/eliza has no answers here")


def test_pairs_that_nobody_planned_are_not_missing(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    run_answers(plan_answers(["builtin/eliza", "builtin/outline", "builtin/reference"], bench))
    for one, other in (("eliza", "outline"), ("outline", "reference")):
        models = [f"builtin/{one}", f"builtin/{other}"]
        run_judgments(plan_judgments(["builtin/overlap"], bench, "pairwise-all", models=models))
    (found,) = bench_status(bench).judges
    assert (found.judged, found.missing) == (12, 0)


def test_a_pair_judged_in_both_orders_by_two_criteria_is_counted_once_for_each(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    own = bench.folder / "two" / "judge_set.toml"
    own.parent.mkdir()
    own.write_text('extends = "mt_bench"\n[criteria.wit]\n[criteria.depth]\n', encoding="utf-8")
    run_answers(plan_answers(["builtin/eliza", "builtin/outline"], bench))
    judge(bench, "pairwise-all", judge_set="two")
    (found,) = bench_status(bench).judges
    assert (found.judged, found.missing) == (12, 0)


def test_sampling_that_was_asked_for_does_not_make_judgments_out_of_date(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    run_answers(plan_answers(["builtin/eliza"], bench))
    judge(bench, temperature=0.5, max_tokens=77)
    (found,) = bench_status(bench).judges
    assert (found.judged, found.superseded) == (6, 0)


def test_missing_failed_and_unparsed_are_counted(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("m"), [answer(1, "m", "One.", "Two."), answer(2, "m", "$ERROR$", "$ERROR$")])
    with ProtocolServer() as server:
        options = JudgeOptions(base_url=server.openai_url, skip_missing=True)
        run_judgments(plan_judgments(["j"], bench, "single", options))
    status = bench_status(bench)
    (model,), (judged,) = status.models, status.judges
    assert (model.answered, model.missing, model.failed) == (1, (2, 3), 1)
    assert (judged.judged, judged.unparsed, judged.waiting) == (2, 2, 4)
    assert [(e.model, e.calls, e.cost) for e in status.rest] == [("m", 4, None), ("j", 4, None)]


def test_the_rest_has_a_price_where_one_is_known(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("gpt-4.1"), [answer(1, "gpt-4.1", "One.", "Two.")])
    (rest,) = bench_status(bench).rest
    assert (rest.calls, rest.cost is not None) == (4, True)


def test_rows_of_one_judge_say_which_mode_and_which_judge_set_they_are_of(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(bench, judge_set="mt_bench_unaided")
    changed(bench)
    assert main(["--bench-name", "small", "--data-dir", str(bench.folder.parent)]) == 0
    shown = capsys.readouterr().out
    left = [line.split()[:4] for line in shown.split("Left to do")[1].splitlines() if line.startswith("judgments")]
    assert sorted(left) == [
        ["judgments", "builtin/overlap", "pairwise-all", "mt_bench"],
        ["judgments", "builtin/overlap", "single", "mt_bench"],
        ["judgments", "builtin/overlap", "single", "mt_bench_unaided"],
    ]
    assert "note: judgments by builtin/overlap, pairwise-all: " in shown
    assert main(["--bench-name", "small", "--data-dir", str(bench.folder.parent), "--format", "json"]) == 0
    rest = json.loads(capsys.readouterr().out)["rest"]
    assert {(row["mode"], row["judge_set"]) for row in rest if row["what"] == "judgments"} == {
        ("pairwise-all", "mt_bench"),
        ("single", "mt_bench"),
        ("single", "mt_bench_unaided"),
    }


def test_pending_replies_torn_tails_and_the_writer_are_told(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    path = bench.answer_file("builtin/eliza")
    with Pending(path, bench.answer_state) as pending:
        pending.keep("row", "job", 0, ASKED, REPLY)
    with path.open("a") as file:
        file.write('{"question_id": 9')
    with Journal(path, bench.answer_state):
        status = bench_status(bench)
        assert main(["--data-dir", str(bench.folder.parent), "--bench-name", bench.name]) == 0
    eliza, outline = status.models
    assert (eliza.pending, outline.pending) == (1, 0)
    assert eliza.held_by is not None
    assert eliza.held_by.startswith(f"process {os.getpid()} ")
    assert outline.held_by is None
    assert status.torn == {"builtin%2Feliza.jsonl": 1}
    assert f"process {os.getpid()} " in capsys.readouterr().out
    assert bench_status(bench).models[0].held_by is None


def test_what_a_killed_process_left_holds_nothing(bench: Bench) -> None:
    holder = bench.answer_state / "locks" / "builtin%2Feliza.jsonl.holder"
    holder.write_text("process 4194999 (gen_answer)", encoding="utf-8")
    assert bench_status(bench).models[0].held_by is None


def test_nothing_is_written(bench: Bench) -> None:
    before = files_of(bench.folder)
    bench_status(bench)
    assert files_of(bench.folder) == before


def test_a_judge_set_that_is_gone_is_a_note(bench: Bench) -> None:
    path = bench.folder / "model_judgment" / "j@gone_single.jsonl"
    row = rows(bench.folder / "model_judgment" / "builtin%2Foverlap_single.jsonl")[0]
    write(path, [{**row, "judge_set": "gone"}])
    found = next(j for j in bench_status(bench).judges if j.path == path)
    assert found.judged == 1
    assert "gone" in found.note


def test_what_is_missing_of_judgments_that_nothing_can_be_compared_with_is_unknown_and_not_0(bench: Bench) -> None:
    path = bench.folder / "model_judgment" / "j@gone_single.jsonl"
    row = rows(bench.folder / "model_judgment" / "builtin%2Foverlap_single.jsonl")[0]
    write(path, [{**row, "judge": ["j", "t"], "judge_set": "gone"}])
    page = status_page(bench_status(bench))
    (own,) = (judge for judge in page.data["judges"] if judge["judge"] == "j")
    assert (own["judged"], own["missing"], own["superseded"]) == (1, None, None)
    assert any(note.startswith("j@gone_single.jsonl: the number of missing ones is unknown: ") for note in page.notes)
    shown = text(page)
    assert re.search(r"^j +gone +single +1 +– +–", shown, re.MULTILINE)
    assert "out of date" in shown


def test_the_command_prints_tables_and_json(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--data-dir", str(bench.folder.parent), "--bench-name", bench.name]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "small: 3 questions" in shown
    assert "builtin/overlap" in shown
    assert main([*words, "--format", "json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert [model["answered"] for model in status["models"]] == [3, 3]
    assert [judge["judged"] for judge in status["judges"]] == [6, 12]


def test_an_untouched_benchmark_has_nothing_to_tell(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_bench(tmp_path)
    assert main(["--data-dir", str(tmp_path), "--bench-name", "small"]) == 0
    assert "no answers yet\n\nno judgments yet" in capsys.readouterr().out


def test_what_failed_is_told_with_its_cause_until_it_is_done(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = small_bench(tmp_path)
    options = AnswerOptions()

    def refusing(asked: Asked) -> Fault | None:
        return bad_request("too long") if "Question 2" in asked.texts[-1] else None

    with ProtocolServer(faults=refusing) as server:
        options = replace(options, base_url=server.openai_url)
        run_answers(plan_answers(["m"], bench, options))
        assert [(m.answered, m.failed) for m in bench_status(bench).models] == [(2, 1)]
        assert main(["--bench-name", "small", "--data-dir", str(tmp_path)]) == 0
        assert "m.jsonl: 1 failed: " in capsys.readouterr().out
    with ProtocolServer() as server:
        run_answers(plan_answers(["m"], bench, replace(options, base_url=server.openai_url)))
    assert bench_status(bench).causes == {}
