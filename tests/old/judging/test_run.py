"""Judging from plan to file, with a judge behind a real server."""

import collections
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from harness.old.bench import Bench, load_bench
from harness.old.cli.gen_answer import main as gen_answer
from harness.old.cli.gen_judgment import main as gen_judgment
from harness.old.errors import EndpointError, MissingError, UsageError
from harness.old.judging.planned import JudgmentPlan
from harness.old.judging.run import JudgeOptions, JudgmentReport, plan_judgments, run_judgments
from harness.old.records import Mode
from harness.old.running.options import RunOptions
from tests.old.protocol_server import Asked, Fault, ProtocolServer, Said, bad_request, verdict
from tests.old.small_bench import answer, question, rows, small_bench, write


def answered(data_dir: pathlib.Path, *questions: dict[str, Any], models: str = "ab") -> Bench:
    """Return a benchmark of two questions, one of them with a reference, whose answers are `<model><id>.<turn>`."""
    bench = small_bench(data_dir, *(questions or (question(1), question(2, "math"))))
    for model in models:
        said = [answer(int(q.question_id), model, *_said(model, q.question_id)) for q in bench.questions]
        write(bench.answer_file(model), said)
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(2, "t", *_said("r", 2))])
    return bench


def _said(who: str, number: object) -> tuple[str, str]:
    return f"{who}{number}.1", f"{who}{number}.2"


def plan(server: ProtocolServer, bench: Bench, mode: Mode = "single", **more: Any) -> JudgmentPlan:
    chosen = {name: more.pop(name) for name in ("models", "questions", "redo") if name in more}
    return plan_judgments(["j"], bench, mode, JudgeOptions(base_url=server.openai_url, **more), **chosen)


def judge(server: ProtocolServer, bench: Bench, mode: Mode = "single", **more: Any) -> JudgmentReport:
    return run_judgments(plan(server, bench, mode, **more), RunOptions(4))


def judgments(bench: Bench, name: str = "j_single") -> list[dict[str, Any]]:
    return rows(bench.folder / "model_judgment" / f"{name}.jsonl")


def superseded(bench: Bench, name: str = "j_single") -> list[dict[str, Any]]:
    return rows(bench.judgment_state / "superseded" / f"{name}.jsonl")


# Single answers and pairs.


def test_every_turn_of_every_answer_is_graded(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        made = plan(server, bench)
        assert (made.rows, made.calls, made.models) == (8, 8, ("a", "b"))
        report = run_judgments(made)
    stored = {(row["question_id"], row["turn"], row["model"]): row for row in judgments(bench)}
    assert len(stored) == len(server.requests) == report.written == 8
    assert {key[:2]: row["judge"] for key, row in stored.items()} == {
        (1, 1): ["j", "single-v1"],
        (1, 2): ["j", "single-v1-multi-turn"],
        (2, 1): ["j", "single-math-v1"],
        (2, 2): ["j", "single-math-v1-multi-turn"],
    }
    for row in stored.values():
        assert row["judgment"].endswith(f"Rating: [[{row['score']}]]")
        assert (row["judge_set"], row["judge_set_version"]) == ("mt_bench", bench_version())


def bench_version() -> str:
    from harness.old.judging.sets import load_judge_set

    return load_judge_set().version


def test_what_is_stored_is_what_was_sent(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        judge(server, bench, "pairwise-all")
    sent = {tuple(asked.texts) for asked in server.requests}
    kept = {(row["system_prompt"], row[f"g{n}_user_prompt"]) for row in judgments(bench, "j_pair") for n in (1, 2)}
    assert sent == kept
    assert {asked.body["temperature"] for asked in server.requests} == {0.0}


def by_content(asked: Asked) -> str:
    """Judge so that `a` is better wherever it is shown."""
    text = asked.texts[-1]
    a_is_first = text.index(">>>\na") < text.index(">>>\nb")
    return f"One is better. [[{'A' if a_is_first else 'B'}]]"


@pytest.mark.parametrize(
    ("responder", "winners"),
    [
        pytest.param(by_content, {("model_1", "model_1")}, id="one model in both orders"),
        pytest.param(lambda asked: "[[A]]", {("model_1", "model_2")}, id="whoever is first"),
        pytest.param(lambda asked: "[[C]]", {("tie", "tie")}, id="ties"),
        pytest.param(lambda asked: "Both are fine.", {("error", "error")}, id="no verdict"),
    ],
)
def test_a_pair_is_judged_in_both_orders_as_one_row(
    tmp_path: pathlib.Path, responder: Callable[[Asked], str], winners: set[tuple[str, str]]
) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(responder) as server:
        report = judge(server, bench, "pairwise-all")
    stored = judgments(bench, "j_pair")
    assert (len(server.requests), len(stored), report.written) == (8, 4, 4)
    assert {(row["g1_winner"], row["g2_winner"]) for row in stored} == winners
    assert all((row["model_1"], row["model_2"]) == ("a", "b") for row in stored)
    assert report.unparsed == (4 if ("error", "error") in winners else 0)


def test_a_baseline_is_the_second_model(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="abz")
    with ProtocolServer(verdict) as server:
        judge(server, bench, "pairwise-baseline", baseline="z", turns=(1,))
    stored = judgments(bench, "j_pair")
    assert collections.Counter((row["model_1"], row["model_2"]) for row in stored) == {("a", "z"): 2, ("b", "z"): 2}


def test_pairs_that_were_judged_the_other_way_round_are_done(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="abz")
    with ProtocolServer(verdict) as server:
        judge(server, bench, "pairwise-baseline", baseline="a")
        done = len(server.requests)
        made = plan(server, bench, "pairwise-all")
    assert (made.judges[0].already, made.rows, made.calls) == (8, 4, 8)
    assert done == 16


def test_several_judges_write_files_of_their_own(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        options = JudgeOptions(base_url=server.openai_url)
        report = run_judgments(plan_judgments(["j", "builtin/overlap", "org/k"], bench, "single", options))
    assert [path.name for path in report.paths] == [
        "j_single.jsonl",
        "builtin%2Foverlap_single.jsonl",
        "org%2Fk_single.jsonl",
    ]
    assert [len(rows(path)) for path in report.paths] == [8, 8, 8]
    assert collections.Counter(asked.model for asked in server.requests) == {"j": 8, "org/k": 8}


def test_facts_never_reach_a_judge_on_the_wire(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "FACTcategory", key="FACTextra", reference=["FACTown"]))
    with ProtocolServer(verdict) as server:
        judge(server, bench, "pairwise-all")
        judge(server, bench)
    wire = json.dumps([[dict(asked.headers), dict(asked.body)] for asked in server.requests])
    assert len(server.requests) == 8
    assert "FACT" not in wire
    assert "r2.1" not in wire, "a reference that the template does not show"


def test_a_judges_reasoning_is_kept_apart_and_not_read(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    with ProtocolServer(lambda asked: Said("Rating: [[3]]", reasoning="Perhaps [[9]]?")) as server:
        judge(server, bench)
    assert {row["score"] for row in judgments(bench)} == {3}
    assert {row["details"][0]["reasoning"] for row in judgments(bench)} == {"Perhaps [[9]]?"}


def test_a_set_with_attempts_asks_again_and_keeps_every_try(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, turns=["one?"]), models="a")
    folder = tmp_path / "tone"
    folder.mkdir()
    (folder / "judge_set.toml").write_text("attempts = 3")
    (folder / "g.toml").write_text('kind = "grade"\nuser = "{answer}"')
    with ProtocolServer(lambda asked: "Hm." if asked.number == 0 else "[[4]]") as server:
        judge(server, bench, judge_set=str(folder))
    (row,) = judgments(bench, "j@tone_single")
    assert (row["score"], row["judgment"], len(server.requests)) == (4, "[[4]]", 2)
    assert [earlier["judgment"] for earlier in row["details"][0]["earlier_attempts"]] == ["Hm."]


# What is done, and what is done again.


def test_what_is_judged_is_not_judged_again(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        judge(server, bench, turns=(1,))
        first = judgments(bench)
        report = judge(server, bench)
        assert (report.written, report.superseded) == (4, 0)
        again = plan(server, bench)
        assert (again.judges[0].already, again.calls) == (8, 0)
        run_judgments(again)
    assert len(server.requests) == 8
    assert judgments(bench)[:4] == first


def test_rows_state_the_scale_and_those_from_before_they_did_are_current(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, turns=["one?"]), models="a")
    folder = tmp_path / "tone"
    folder.mkdir()
    wit = '[criteria.wit]\ndefinition = "Wit"\nscale = [0, 3]\n'
    (folder / "judge_set.toml").write_text(f'scale = [1, 5]\n[criteria.style]\ndefinition = "Style"\n{wit}')
    (folder / "g.toml").write_text('kind = "grade"\nuser = "{criterion}: {answer}"')
    with ProtocolServer(lambda asked: "[[2]]") as server:
        judge(server, bench, judge_set=str(folder))
        made = judgments(bench, "j@tone_single")
        assert {row["criterion"]: row["scale"] for row in made} == {"style": [1, 5], "wit": [0, 3]}
        for row in made:
            del row["scale"]
        write(bench.folder / "model_judgment" / "j@tone_single.jsonl", made)
        again = plan(server, bench, judge_set=str(folder))
    assert (again.judges[0].already, again.calls) == (2, 0)


def changed_question(bench: Bench) -> None:
    """Change the wording of the first question, and the record of what its answers answered."""
    write(bench.folder / "question.jsonl", [question(1, turns=["New?", "And?"]), question(2, "math")])


def changed_answer(bench: Bench) -> None:
    write(bench.answer_file("a"), [answer(1, "a", "new", "a1.2"), answer(2, "a", *_said("a", 2))])


def changed_second_answer(bench: Bench) -> None:
    write(bench.answer_file("a"), [answer(1, "a", "a1.1", "new"), answer(2, "a", *_said("a", 2))])


def changed_reference(bench: Bench) -> None:
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(2, "t", "r2.1", "new")])


@pytest.mark.parametrize(
    ("change", "options", "again"),
    [
        pytest.param(lambda bench: None, {}, set(), id="nothing"),
        pytest.param(changed_question, {}, {(1, 1, "a"), (1, 1, "b"), (1, 2, "a"), (1, 2, "b")}, id="a question"),
        pytest.param(changed_answer, {}, {(1, 1, "a"), (1, 2, "a")}, id="an answer"),
        pytest.param(changed_second_answer, {}, {(1, 2, "a")}, id="a second answer"),
        pytest.param(changed_reference, {}, {(2, 2, "a"), (2, 2, "b")}, id="the end of a reference"),
        pytest.param(
            lambda bench: None,
            {"temperature": 0.5},
            {(q, t, m) for q in (1, 2) for t in (1, 2) for m in "ab"},
            id="the temperature",
        ),
        pytest.param(lambda bench: None, {"temperature": 0, "max_tokens": 4096}, set(), id="the set's own sampling"),
        pytest.param(lambda bench: None, {"timeout": 5.0}, set(), id="the time limit"),
    ],
)
def test_only_what_changed_is_judged_again(
    tmp_path: pathlib.Path,
    change: Callable[[Bench], None],
    options: dict[str, Any],
    again: set[tuple[int, int, str]],
) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        judge(server, bench)
        first = judgments(bench)
        change(bench)
        made = plan(server, load_bench("small", tmp_path), **options)
        assert (made.judges[0].superseded, made.calls) == (len(again), len(again))
        report = run_judgments(made)
    assert (report.written, report.superseded, len(server.requests)) == (len(again), len(again), 8 + len(again))
    assert len(judgments(bench)) == 8
    assert {(row["question_id"], row["turn"], row["model"]) for row in superseded(bench)} == again
    assert all(row in first for row in superseded(bench))


def test_a_changed_template_alone_is_judged_again(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    folder = tmp_path / "tone"
    folder.mkdir()
    (folder / "judge_set.toml").write_text("")
    (folder / "first.toml").write_text('kind = "grade"\nturns = "first"\nuser = "{answer}"')
    (folder / "later.toml").write_text('kind = "grade"\nturns = "later"\nuser = "{answer}"')
    with ProtocolServer(verdict) as server:
        judge(server, bench, judge_set=str(folder))
        (folder / "later.toml").write_text('kind = "grade"\nturns = "later"\nuser = "Now: {answer}"')
        report = judge(server, bench, judge_set=str(folder))
    assert (report.written, report.superseded) == (2, 2)
    assert {row["turn"] for row in superseded(bench, "j@tone_single")} == {2}


def test_redo_judges_again_and_keeps_the_old_rows_aside(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        judge(server, bench, "pairwise-all")
        first = judgments(bench, "j_pair")
        report = judge(server, bench, "pairwise-all", redo=True, turns=(1,))
    assert (report.written, report.superseded, len(judgments(bench, "j_pair"))) == (2, 2, 4)
    assert superseded(bench, "j_pair") == [row for row in first if row["turn"] == 1]


def test_rows_that_a_killed_run_left_behind_are_moved_by_the_next(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        judge(server, bench)
        good = judgments(bench)
        write(bench.folder / "model_judgment" / "j_single.jsonl", [{**good[3], "score": 1}, *good])
        report = judge(server, bench)
    assert (len(server.requests), report.written, report.superseded, judgments(bench)) == (8, 0, 1, good)


def test_a_judgment_of_fastchats_that_failed_is_made_and_not_called_changed(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    failed = {"question_id": 1, "model": "a", "judge": ["j", "single-v1"], "score": -1, "turn": 1}
    write(bench.folder / "model_judgment" / "j_single.jsonl", [{**failed, "judgment": "$ERROR$"}])
    with ProtocolServer(verdict) as server:
        made = plan(server, bench)
        assert (made.rows, made.judges[0].superseded) == (4, 0)
        run_judgments(made)
    assert len(judgments(bench)) == 4
    assert [row["judgment"] for row in superseded(bench)] == ["$ERROR$"]


# What is missing, and what fails.


@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
def test_what_is_missing_is_named_before_any_call(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    bench = answered(tmp_path)
    write(bench.answer_file("a"), [answer(2, "a", *_said("a", 2))])
    write(bench.folder / "reference_answer" / "teacher.jsonl", [])
    command = ["--judge-model", "j", "--mode", mode, "--bench-name", "small", "--data-dir", str(tmp_path), "-q"]
    with ProtocolServer(verdict) as server:
        command += ["--base-url", server.openai_url]
        assert gen_judgment(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert server.requests == []
    assert "a has no answer to question 1; there is no reference answer to question 2" in line
    assert not (bench.folder / "model_judgment").exists()


def test_questions_that_lack_something_can_be_left_out(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    write(bench.answer_file("a"), [answer(2, "a", *_said("a", 2))])
    with ProtocolServer(verdict) as server:
        made = plan(server, bench, skip_missing=True)
        run_judgments(made)
        assert made.notices == ["left out for every model: a has no answer to question 1"]
        write(bench.answer_file("b"), [])
        said = r"nothing to judge: .*left out for every model: b has no answer to questions 1, 2"
        with pytest.raises(UsageError, match=said):
            plan(server, bench, skip_missing=True)
    assert {row["question_id"] for row in judgments(bench)} == {2}


def test_answers_to_another_wording_are_refused(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    assert gen_answer(["--model", "builtin/eliza", "--bench-name", "small", "--data-dir", str(tmp_path), "-q"]) == 0
    write(bench.folder / "question.jsonl", [question(1, turns=["Another?", "And?"])])
    with ProtocolServer(verdict) as server:
        with pytest.raises(MissingError, match=r"builtin/eliza answered another wording .* of question 1"):
            plan(server, load_bench("small", tmp_path))
        assert server.requests == []


def test_a_field_that_a_template_needs_is_looked_for_before_any_call(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, rubric="strict"), question(2))
    folder = tmp_path / "tone"
    folder.mkdir()
    (folder / "judge_set.toml").write_text("")
    (folder / "g.toml").write_text('kind = "grade"\nuser = "{rubric} {answer}"')
    with ProtocolServer(verdict) as server:
        with pytest.raises(
            MissingError, match="text in the field 'rubric', which the template g needs, for question 2"
        ):
            plan(server, bench, judge_set=str(folder))
        assert server.requests == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param({"mode": "triple"}, "no mode 'triple'; there are: single", id="mode"),
        pytest.param({"judges": []}, "no judge given", id="no judge"),
        pytest.param({"models": ["a", "c"]}, "no answers by 'c' in .*; there are: a, b", id="model"),
        pytest.param({"mode": "pairwise-baseline"}, "needs --baseline-model", id="no baseline"),
        pytest.param(
            {"mode": "pairwise-baseline", "options": JudgeOptions(baseline="c")}, "no answers by 'c'", id="baseline"
        ),
        pytest.param({"mode": "pairwise-all", "models": ["a"]}, "at least two models", id="one model"),
        pytest.param({"options": JudgeOptions(turns=(3,))}, "there is nothing to judge", id="turn"),
        pytest.param({"options": JudgeOptions(judge_set="mt_bensh")}, "did you mean 'mt_bench'", id="judge set"),
        pytest.param({"judges": ["builtin/overlab"]}, "builtin", id="judge"),
    ],
)
def test_what_cannot_be_judged_is_told(tmp_path: pathlib.Path, more: dict[str, Any], words: str) -> None:
    bench = answered(tmp_path)
    given: dict[str, Any] = {"judges": ["builtin/overlap"], "mode": "single", **more}
    with pytest.raises(UsageError, match=words):
        plan_judgments(bench=bench, **given)


def test_a_benchmark_without_answers_says_what_to_run(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"no model has answers in .*; run gen_answer first"):
        plan_judgments(["builtin/overlap"], small_bench(tmp_path))


def test_a_failed_game_writes_no_row_and_is_alone_asked_again(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = answered(tmp_path)

    def broken(asked: Asked) -> Fault | None:
        odd = "a1.1" in asked.texts[-1] and "1.2" not in asked.texts[-1]
        shown_second = asked.texts[-1].find("b1.1") < asked.texts[-1].find("a1.1")
        return bad_request("The prompt is odd.") if odd and shown_second and asked.tries == 0 else None

    command = ["--judge-model", "j", "--mode", "pairwise-all", "--bench-name", "small", "--data-dir", str(tmp_path)]
    with ProtocolServer(verdict, faults=broken) as server:
        command += ["--base-url", server.openai_url]
        assert gen_judgment(command) == 1
        assert len(judgments(bench, "j_pair")) == 3
        assert "j on a and b, question 1, turn 1, game 2" in capsys.readouterr().err
        assert gen_judgment(command) == 0
    assert len(server.requests) == 9
    assert len(judgments(bench, "j_pair")) == 4
    assert not (bench.judgment_state / "pending" / "j_pair.jsonl").exists()


def test_a_run_of_which_half_has_no_verdict_exits_1_and_is_not_judged_again(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = answered(tmp_path, models="a")
    command = ["--judge-model", "j", "--bench-name", "small", "--data-dir", str(tmp_path)]
    with ProtocolServer(lambda asked: "I would rather not say.") as server:
        command += ["--base-url", server.openai_url]
        assert gen_judgment(command) == 1
        assert gen_judgment(command) == 0
    assert len(server.requests) == 4
    assert {(row["score"], row["judgment"]) for row in judgments(bench)} == {(-1, "I would rather not say.")}
    told = capsys.readouterr().err
    assert "4 of 4" in told
    assert "half of the judgments or more give no verdict; see why with show_result" in told


def test_only_what_has_no_verdict_is_judged_again_where_that_was_asked_for(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="ab")
    said = iter(["[[7]]"] * 7 + ["I would rather not say."])
    command = ["--judge-model", "j", "--bench-name", "small", "--data-dir", str(tmp_path), "--redo", "failed"]
    with ProtocolServer(lambda asked: next(said, "[[9]]")) as server:
        command += ["--base-url", server.openai_url]
        assert gen_judgment(command) == 0
        assert len(server.requests) == 8
        assert gen_judgment(command) == 0
        assert len(server.requests) == 9
        assert gen_judgment(command) == 0
        assert len(server.requests) == 9
    assert sorted(row["score"] for row in judgments(bench)) == [7] * 7 + [9]


def test_a_refused_key_stops_at_once(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, *(question(number) for number in range(1, 41)))
    with ProtocolServer(verdict, api_key="sk-right") as server:
        made = plan(server, bench, "pairwise-all")
        with pytest.raises(EndpointError, match="answered 401"):
            run_judgments(made, RunOptions(100))
    assert made.calls == 160
    assert len(server.requests) <= 100


def test_ratings_beside_a_scale_are_none(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    folder = tmp_path / "five"
    folder.mkdir()
    (folder / "judge_set.toml").write_text("scale = [1, 5]")
    (folder / "g.toml").write_text('kind = "grade"\nuser = "{answer}"')
    with ProtocolServer(lambda asked: "Rating: [[7]]") as server:
        report = judge(server, bench, judge_set=str(folder))
    assert (report.written, report.unparsed) == (4, 4)


def test_a_judge_that_is_cut_before_its_verdict_has_once_more_room(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "writing"))

    def cut(asked: Asked) -> Said:
        limit = asked.body["max_tokens"]
        return Said("Fine.\n\nRating: [[7]]", finish="stop") if limit > 2048 else Said("Well,", finish="length")

    with ProtocolServer(cut) as server:
        where: dict[str, Any] = {"base_url": server.openai_url, "turns": (1,), "max_tokens": 2048}
        never = run_judgments(plan_judgments(["j"], bench, "single", JudgeOptions(**where, retry_cut=1)))
        once = run_judgments(plan_judgments(["k"], bench, "single", JudgeOptions(**where)))
    assert (never.unparsed, once.unparsed) == (never.written, 0)
    assert "raise --max-tokens" in never.reasons.most_common(1)[0][0]
    limits = [asked.body["max_tokens"] for asked in server.requests]
    assert sorted(limits) == [2048] * (never.written + once.written) + [4096] * once.written


def test_a_larger_limit_that_is_refused_leaves_the_cut_reply(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "writing"))
    faults = {1: bad_request("max_tokens is too large: at most 2048")}
    with ProtocolServer(lambda asked: Said("Well,", finish="length"), faults=faults) as server:
        options = JudgeOptions(base_url=server.openai_url, turns=(1,))
        report = run_judgments(plan_judgments(["j"], bench, "single", options, models=["a"]))
    assert (report.written, report.unparsed, report.tally.failures) == (1, 1, [])
    assert len(server.requests) == 2
