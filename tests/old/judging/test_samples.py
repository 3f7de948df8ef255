"""Judging the same several times: samples, choices, criteria, several judges, each with its place in the files."""

import dataclasses
import pathlib
from typing import Any

import pytest

from harness.old.bench import Bench
from harness.old.errors import MissingError, UsageError
from harness.old.judging.made_from import made_from
from harness.old.judging.planned import plan_matches
from harness.old.judging.run import JudgeOptions, JudgmentReport, plan_judgments, run_judgments
from harness.old.records import Mode
from harness.old.running.options import RunOptions
from tests.old.judging.sets.written import COMPARE, GRADE, answered, written
from tests.old.protocol_server import Asked, ProtocolServer, Said, verdict
from tests.old.small_bench import answer, question, rows, write


def judge(server: ProtocolServer, bench: Bench, mode: Mode = "single", **more: Any) -> JudgmentReport:
    judges = more.pop("judges", ["j"])
    redo = more.pop("redo", False)
    options = JudgeOptions(base_url=server.openai_url, **more)
    return run_judgments(plan_judgments(judges, bench, mode, options, redo=redo), RunOptions(4))


def names(report: JudgmentReport) -> list[str]:
    return [path.name for path in report.paths]


# Samples.


def test_each_further_sample_has_a_file_of_its_own(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        report = judge(server, bench, samples=3)
    assert names(report) == ["j_single.jsonl", "j@mt_bench#1_single.jsonl", "j@mt_bench#2_single.jsonl"]
    assert [{row["sample"] for row in rows(path)} for path in report.paths] == [{0}, {1}, {2}]
    assert [len(rows(path)) for path in report.paths] == [2, 2, 2]


@pytest.mark.parametrize(
    ("seed", "seeds"), [pytest.param("seed = 7", [7, 8, 9], id="stated"), pytest.param("", [None] * 3, id="none")]
)
def test_a_stated_seed_is_another_in_each_sample(tmp_path: pathlib.Path, seed: str, seeds: list[int | None]) -> None:
    bench = answered(tmp_path, models="a")
    judge_set = written(tmp_path / "s", f"[sampling]\ntemperature = 1.0\n{seed}", grade=GRADE)
    with ProtocolServer(verdict) as server:
        report = judge(server, bench, judge_set=str(judge_set), samples=3)
        assert sorted((asked.body.get("seed") for asked in server.requests), key=str) == seeds
    assert names(report) == ["j@s_single.jsonl", "j@s#1_single.jsonl", "j@s#2_single.jsonl"]


def test_more_samples_later_are_only_the_new_ones(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(verdict) as server:
        judge(server, bench)
        assert judge(server, bench, samples=2).written == 2
        assert judge(server, bench, samples=3).written == 2
        assert judge(server, bench, samples=3).written == 0
        assert judge(server, bench).written == 0
        assert len(server.requests) == 6


def test_a_sample_that_fails_is_asked_again_alone(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    judge_set = written(tmp_path / "s", "[sampling]\nseed = 7", grade=GRADE)

    def unwilling(asked: Asked) -> Said | str:
        return Said("", finish="content_filter") if asked.body["seed"] == 8 else "[[4]]"

    with ProtocolServer(unwilling) as server:
        report = judge(server, bench, judge_set=str(judge_set), samples=3)
    assert report.unparsed == 1
    assert [[row["score"] for row in rows(path)] for path in report.paths] == [[4], [-1], [4]]


def test_pairs_are_sampled_in_both_orders_or_in_each_samples_own(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, *(question(n, turns=[f"Question {n}?"]) for n in range(1, 7)))
    once = written(tmp_path / "once", 'order = "random"', pair=COMPARE)
    with ProtocolServer(verdict) as server:
        both = judge(server, bench, "pairwise-all", samples=2)
        assert (both.written, len(server.requests)) == (12, 24)
        one = judge(server, bench, "pairwise-all", judge_set=str(once), samples=2)
    assert names(one) == ["j@once_pair1.jsonl", "j@once#1_pair1.jsonl"]
    orders = [{row["question_id"]: row["shown_first"] for row in rows(path)} for path in one.paths]
    assert orders[0] != orders[1]


# Choices.


def with_choices(tmp_path: pathlib.Path, **counts: int) -> Bench:
    """Return a benchmark of one question whose models have given several choices each."""
    bench = answered(tmp_path, models="")
    for model, count in counts.items():
        row = answer(1, model)
        row["choices"] = [{"index": index, "turns": [f"{model}{index}"]} for index in range(count)]
        write(bench.answer_file(model), [row])
    return bench


def test_the_first_choice_alone_is_judged_unless_all_are_asked_for(tmp_path: pathlib.Path) -> None:
    bench = with_choices(tmp_path, a=3, b=1)
    with ProtocolServer(verdict) as server:
        assert judge(server, bench).written == 2
        report = judge(server, bench, every_choice=True)
        assert report.written == 2
        assert judge(server, bench, every_choice=True).written == 0
    stored = rows(report.paths[0])
    assert {(row["model"], row["choice"]) for row in stored} == {("a", 0), ("a", 1), ("a", 2), ("b", 0)}
    shown = {row["choice"]: row["user_prompt"] for row in stored if row["model"] == "a"}
    assert all(f"\na{choice}\n" in prompt for choice, prompt in shown.items())


def test_pairs_are_judged_on_the_choices_that_both_have(tmp_path: pathlib.Path) -> None:
    bench = with_choices(tmp_path, a=3, b=2)
    with ProtocolServer(verdict) as server:
        report = judge(server, bench, "pairwise-all", every_choice=True)
    assert {row["choice"] for row in rows(report.paths[0])} == {0, 1}


def test_a_choice_that_broke_off_is_missing_only_where_it_is_judged(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1), models="")
    row = answer(1, "a", "one", "two")
    row["choices"].append({"index": 1, "turns": ["one"]})
    write(bench.answer_file("a"), [row])
    judges = ["builtin/overlap"]
    assert plan_judgments(judges, bench).rows == 2
    with pytest.raises(MissingError, match="a has not answered every turn of question 1"):
        plan_judgments(judges, bench, options=JudgeOptions(every_choice=True))


# Criteria and judges.

CRITERIA = "[criteria.wit]\ndefinition = 'Wit'\n[criteria.tone]\ndefinition = 'Tone'"
BY = 'kind = "grade"\nuser = "{criterion}: {answer}"\n'


def test_each_criterion_is_a_row_and_is_done_by_itself(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    judge_set = str(written(tmp_path / "s", CRITERIA, by=BY))
    with ProtocolServer(verdict) as server:
        assert judge(server, bench, judge_set=judge_set, criteria=("tone",)).written == 2
        report = judge(server, bench, judge_set=judge_set)
        assert report.written == 2
        assert judge(server, bench, judge_set=judge_set).written == 0
    (path,) = report.paths
    assert {(row["model"], row["criterion"], row["user_prompt"].split(":")[0]) for row in rows(path)} == {
        (model, name, name.capitalize()) for model in "ab" for name in ("wit", "tone")
    }


def test_pairs_are_compared_by_each_criterion(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    judge_set = written(tmp_path / "s", CRITERIA, pair=COMPARE)
    with ProtocolServer(verdict) as server:
        report = judge(server, bench, "pairwise-all", judge_set=str(judge_set))
    stored = rows(report.paths[0])
    assert (len(stored), {row["criterion"] for row in stored}) == (2, {"wit", "tone"})


def test_a_panel_judges_every_sample(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    with ProtocolServer(verdict) as server:
        report = judge(server, bench, judges=["j", "k"], samples=2)
        assert sorted(asked.model for asked in server.requests) == ["j", "j", "k", "k"]
    assert names(report) == [f"{name}{which}_single.jsonl" for name in "jk" for which in ("", "@mt_bench#1")]


# Texts that a question brings.


RUBRIC = 'kind = "grade"\nuser = "{rubric} {answer}"\n'


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        pytest.param("", ["own 1", None], id="the question's"),
        pytest.param('rubric = "set"', ["own 1", "set"], id="else the set's"),
        pytest.param('[criteria.a]\nrubric = "criterion"', ["criterion", "criterion"], id="the criterion's first"),
    ],
)
def test_a_rubric_comes_from_the_nearest_place(tmp_path: pathlib.Path, settings: str, shown: list[str | None]) -> None:
    bench = answered(tmp_path, question(1, turns=["?"], rubric="own 1"), question(2, turns=["?"]), models="a")
    options: dict[str, Any] = {"judge_set": str(written(tmp_path / "s", "fence = false\n" + settings, by=RUBRIC))}
    with ProtocolServer(verdict) as server:
        if None in shown:
            with pytest.raises(
                MissingError, match=r"no text in the field 'rubric', which the template by needs, for ques"
            ):
                judge(server, bench, **options)
            judge(server, bench, skip_missing=True, **options)
        else:
            judge(server, bench, **options)
        sent = sorted(asked.texts[-1] for asked in server.requests)
    assert sent == sorted(f"{rubric} a{n}.1" for n, rubric in enumerate(shown, 1) if rubric)


def test_a_changed_rubric_outdates_what_was_judged_by_it(tmp_path: pathlib.Path) -> None:
    bench = answered(
        tmp_path, question(1, turns=["?"], rubric="one"), question(2, turns=["?"], rubric="two"), models="a"
    )
    options: dict[str, Any] = {"judge_set": str(written(tmp_path / "s", by=RUBRIC))}
    with ProtocolServer(verdict) as server:
        assert judge(server, bench, **options).written == 2
        changed = answered(
            tmp_path, question(1, turns=["?"], rubric="one"), question(2, turns=["?"], rubric="3"), models="a"
        )
        report = judge(server, changed, **options)
    assert (report.written, report.superseded) == (1, 1)


def test_without_criteria_the_criterion_is_the_rubrics_first_line(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, turns=["?"], rubric="[Is it kind?]\nScore 1: no\nScore 5: yes"), models="a")
    judge_set = written(tmp_path / "s", "fence = false", by=BY)
    with ProtocolServer(verdict) as server:
        judge(server, bench, judge_set=str(judge_set))
        assert server.requests[0].texts == ["Is it kind?: a1.1"]


def test_every_question_that_lacks_a_text_is_named_at_once(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, *(question(n, turns=["?"]) for n in range(1, 4)), models="a")
    judge_set = written(tmp_path / "s", by='kind = "grade"\nuser = "{context} {rubric} {answer}"')
    with pytest.raises(MissingError) as raised:
        plan_judgments(["builtin/overlap"], bench, options=JudgeOptions(judge_set=str(judge_set)))
    told = str(raised.value)
    assert "'rubric', which the template by needs, for questions 1, 2, 3" in told
    assert "'context', which the template by needs, for questions 1, 2, 3" in told
    assert "Add the field to question.jsonl, or leave these questions out with --skip-missing" in told


def test_criteria_that_bring_a_rubric_are_offered_where_one_is_missing(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, models="a")
    judge_set = written(tmp_path / "s", "[criteria.kind]\ndefault = false\nrubric = 'Kind?'", by=RUBRIC)
    options = JudgeOptions(judge_set=str(judge_set))
    with pytest.raises(MissingError, match=r"choose a criterion that has a rubric \(--criterion kind\)"):
        plan_judgments(["builtin/overlap"], bench, options=options)
    chosen = dataclasses.replace(options, criteria=("kind",))
    assert plan_judgments(["builtin/overlap"], bench, options=chosen).rows == 1


@pytest.mark.parametrize(
    ("template", "mode", "words"),
    [
        pytest.param(GRADE, "pairwise-all", "it judges single answers; use --mode single", id="only grades"),
        pytest.param(
            COMPARE, "single", "it compares; use --mode pairwise-baseline or pairwise-all", id="only compares"
        ),
    ],
)
def test_a_set_says_what_it_is_for(tmp_path: pathlib.Path, template: str, mode: Mode, words: str) -> None:
    judge_set = written(tmp_path / "s", one=template)
    with pytest.raises(UsageError, match=words):
        plan_judgments(["builtin/overlap"], answered(tmp_path), mode, JudgeOptions(judge_set=str(judge_set)))


def test_answers_that_stand_in_leave_no_hashes_behind(tmp_path: pathlib.Path) -> None:
    materials = plan_judgments(["builtin/overlap"], answered(tmp_path)).materials
    (match, *_) = plan_matches(materials, materials.bench.questions, [("a",)])
    before = made_from(materials, match)
    other = dataclasses.replace(materials, answers={"a": {1: materials.answers["b"][1]}})
    assert made_from(other, match).conversation != before.conversation
    assert made_from(materials, match) == before


def test_questions_that_a_set_is_not_for_are_left_out_and_told(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1, "math", ["?"]), question(2, "stem", ["?"]), models="a")
    judge_set = written(tmp_path / "s", 'questions = { category = "math" }', by=GRADE)
    plan = plan_judgments(["builtin/overlap"], bench, options=JudgeOptions(judge_set=str(judge_set)))
    assert [question.question_id for question in plan.questions] == [1]
    assert plan.notices == ["left out: the judge set s is not for question 2"]
    with pytest.raises(UsageError, match=r"there is nothing to judge: .*the judge set s is not for question 2"):
        plan_judgments(
            ["builtin/overlap"], bench, options=JudgeOptions(judge_set=str(judge_set)), questions=bench.questions[1:]
        )
