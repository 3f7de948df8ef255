"""Which judgments are planned, made and counted as done."""

import gzip
import json
from typing import Any

import pytest

from harness import bench
from harness.cli.main import check_bench
from harness.errors import DataError, MissingError, UsageError
from harness.judging.plan import JudgePlan
from harness.models import ModelConfig
from harness.types import Answer, Choice, Judgment
from tests.judging.conftest import QUESTIONS, Folder, counts

SINGLE = "builtin%2Foverlap_single.jsonl"
FASTCHAT = {"judge": ["builtin/overlap", "single-v1"], "score": 9, "judgment": "[[9]]"}


def test_every_turn_of_every_answer_is_judged_once(folder: Folder) -> None:
    plan = folder.plan()
    assert counts(plan) == (8, 0, 0)
    rows = folder.judge(plan, "Fine. Rating: [[7]]")
    assert {row.template for row in rows if row.question_id == 2 and row.turn == 1} == {
        "single-math-v1"
    }
    assert all(row.grade == 7 and row.judge_set == "mt_bench" for row in rows)
    assert counts(folder.plan()) == (0, 8, 0)


def test_rows_of_other_tools_are_done_but_error_texts(folder: Folder) -> None:
    rows = [
        {**FASTCHAT, "question_id": q, "model": "alpha", "turn": t} for q in (1, 2) for t in (1, 2)
    ]
    rows[3] |= {"judgment": "$ERROR$", "score": -1}
    folder.write(f"model_judgment/{SINGLE}", rows)
    plan = folder.plan(model_list="alpha")
    assert counts(plan) == (1, 3, 0)
    assert any("do not say how they were made" in notice for notice in plan.notices)
    assert counts(folder.plan(model_list="alpha", redo="all")) == (4, 0, 3)


def test_a_changed_answer_is_judged_again(folder: Folder) -> None:
    folder.judge(folder.plan(), "Rating: [[7]]")
    folder.answer("alpha", {1: ["one", "another end"], 2: ["4", "one 8"]})
    assert counts(folder.plan()) == (1, 7, 1)


def test_rows_of_an_older_version_are_done_and_those_of_a_newer_one_are_not(folder: Folder) -> None:
    folder.judge(folder.plan(judge_set="battle_en", mode="pairwise-all"), "8 7")
    path = folder.folder / "model_judgment" / "builtin%2Foverlap@battle_en_pair.jsonl"
    text = path.read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    for version, expected in (("1", (0, 4, 0)), ("9", (4, 0, 4))):
        for row in rows:
            row["judge_set_version"] = version
            row["made_from"]["parameters"] = "0" * 16
        folder.write(f"model_judgment/{path.name}", rows)
        plan = folder.plan(judge_set="battle_en", mode="pairwise-all")
        assert counts(plan) == expected, version


def test_redo_failed_asks_again_what_has_no_verdict(folder: Folder) -> None:
    folder.judge(folder.plan(), lambda prompt: "none" if "rhyme" in prompt else "[[7]]")
    assert counts(folder.plan()) == (0, 8, 0)
    assert counts(folder.plan(redo="failed")) == (2, 6, 2)


def test_a_pair_is_one_row_with_a_game_in_each_order(folder: Folder) -> None:
    plan = folder.plan(mode="pairwise-all", first_n=1)
    assert (plan.total, plan.calls) == (2, 4)
    row = folder.judge(plan, "[[A]]")[0]
    assert (row.model_1, row.model_2) == ("alpha", "beta")
    assert (row.g1_winner, row.g2_winner) == ("model_1", "model_2")
    assert row.games == (1.0, 0.0)
    assert row.g1_user_prompt != row.g2_user_prompt


def test_equal_answers_are_a_tie_without_a_call(folder: Folder) -> None:
    plan = folder.plan(mode="pairwise-all", question_begin=1, turns=1)
    assert (plan.total, plan.calls) == (1, 0)
    row = folder.judge(plan, "never asked")[0]
    assert row.games == (0.5, 0.5)
    assert row.details[0].given == "equal answers"


def test_samples_have_files_and_seeds_of_their_own(folder: Folder) -> None:
    plan = folder.plan(samples=2, param="seed=7", judge_model="builtin/overlap")
    first, second = plan.tasks
    assert first.path != second.path
    seeds = [next(job.steps()).sampling.seed for job in plan.jobs()]
    assert set(seeds) == {7, 8}


def test_all_conversations_of_an_answer_can_be_judged(folder: Folder) -> None:
    choices = [{"index": n, "turns": [f"line {n}", "x"]} for n in (0, 1)]
    folder.write("model_answer/alpha.jsonl", [{"question_id": 1, "choices": choices}])
    options = {"model_list": "alpha", "first_n": 1, "turns": 1}
    assert folder.plan(**options).total == 1
    rows = folder.judge(folder.plan(choices="all", **options), "[[7]]")
    assert [row.choice for row in rows] == [0, 1]
    assert "line 1" in (rows[1].user_prompt or "")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"judge_model": ()}, UsageError, "--judge-model"),
        ({"judge_set": "mt_bensh"}, UsageError, "did you mean mt_bench"),
        ({"mode": "pairwise-baseline"}, UsageError, "--baseline-model"),
        ({"mode": "pairwise-all", "model_list": "alpha"}, UsageError, "two models or more"),
        ({"model_list": "gamma"}, UsageError, "no answers by 'gamma'"),
        ({"judge_model": "builtin/first"}, UsageError, "only compares"),
        ({"judge_set": "short_fact_en", "mode": "pairwise-all"}, UsageError, "--mode single"),
        ({"judge_set": "metrics_en", "criterion": "relevanse"}, UsageError, "relevance"),
        (
            {"judge_set": "short_fact_en"},
            MissingError,
            "demands a reference for the category .*question 1; write it into reference_answer",
        ),
        ({"judge_set": "prometheus"}, MissingError, "'rubric'"),
    ],
)
def test_what_cannot_be_judged_is_said_before_the_first_call(
    folder: Folder, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        folder.plan(**options)


def test_an_invalid_check_is_said_before_the_first_call(folder: Folder) -> None:
    path = folder.folder / "question.jsonl"
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    row["checks"] = [[{"kind": "countt"}], []]
    folder.write("question.jsonl", [row])
    with pytest.raises(DataError, match=r"question 1: check 1 of turn 1: .* did you mean count"):
        folder.plan()


def test_missing_answers_stop_or_are_left_out(folder: Folder) -> None:
    folder.answer("beta", {1: ["two", "two more"]})
    for mode in ("single", "pairwise-all"):
        with pytest.raises(MissingError, match="beta has no answer to question 2; run gen_answer,"):
            folder.plan(mode=mode)
    plan = folder.plan(skip_missing=True)
    assert plan.total == 4
    assert any("left out for every model" in notice for notice in plan.notices)


def test_without_references_the_plain_template_is_used(folder: Folder) -> None:
    rows = folder.judge(folder.plan(reference="none", question_begin=1), "[[7]]")
    assert {row.template for row in rows} == {"single-v1", "single-v1-multi-turn"}


def test_prompts_that_differ_in_the_criterion_share_a_beginning(folder: Folder) -> None:
    jobs = list(folder.plan(judge_set="metrics_en", model_list="alpha", first_n=1, turns=1).jobs())
    assert len(jobs) == 3
    assert len({job.first for job in jobs}) == 1
    assert jobs[0].first
    assert next(jobs[0].steps()).shared > 300


def test_a_judge_of_a_models_family_is_named(folder: Folder) -> None:
    folder.answer("gpt-4o", {1: ["x", "y"], 2: ["4", "8"]})
    plan = folder.plan(judge_model="gpt-4.1")
    assert any("of its own family (gpt-4o)" in notice for notice in plan.notices)


def test_a_judge_of_its_own_answers_is_named_before_it_judges(folder: Folder) -> None:
    folder.answer("gpt-4.1", {1: ["x", "y"], 2: ["4", "8"]})
    plan = folder.plan(judge_model="gpt-4.1")
    assert any("gpt-4.1 judges answers of its own;" in notice for notice in plan.notices)


def test_a_judge_under_another_name_at_the_same_address_is_itself(folder: Folder) -> None:
    folder.answer("mine", {1: ["x", "y"], 2: ["4", "8"]})
    served = ModelConfig(base_url="http://localhost:8000/v1/", model="judge")
    address = "http://localhost:8000/v1"
    plan = folder.plan(judge_model="judge", base_url=address, configs={"mine": served})
    assert any("of its own (mine: the same name and address)" in said for said in plan.notices)


def test_a_set_by_log_probabilities_says_who_cannot_be_its_judge(folder: Folder) -> None:
    plan = folder.plan(judge_model="gpt-4.1", judge_set="metrics_en_logprobs", first_n=1)
    assert any("a thinking model" in notice for notice in plan.notices)


def test_every_reply_of_several_attempts_is_kept(folder: Folder) -> None:
    texts = iter(["no idea", "[RESULT] 4"])
    plan = folder.plan(
        judge_model="gpt-4.1",
        judge_set="prometheus",
        criterion="honesty",
        model_list="alpha",
        turns=1,
        first_n=1,
    )
    row = folder.judge(plan, lambda prompt: next(texts))[0]
    assert row.grade == 4
    assert row.details[0].earlier_attempts[0]["judgment"] == "no idea"


def test_answers_still_to_be_made_are_judged_as_they_come(folder: Folder) -> None:
    folder.answer("beta", {1: ["two", "two more"]})
    plan = folder.plan(mode="pairwise-all", awaited={"beta": [2]})
    assert (plan.total, len(list(plan.jobs()))) == (4, 2)
    answer = Answer(question_id=2, model_id="beta", choices=[Choice(turns=["5", "10"])])
    assert len(list(plan.about(answer))) == 2


def _shown(row: Judgment) -> list[str]:
    """Return which of some texts a judge was shown."""
    return [text for text in ("first text", "second text") if text in (row.user_prompt or "")]


@pytest.mark.parametrize("form", ["lines", "packed", "array"])
def test_an_answer_is_shown_from_whatever_file_it_is_in(folder: Folder, form: str) -> None:
    folder.answer("alpha", {1: ["first text", "more"], 2: ["second text", "more"]})
    path = folder.folder / "model_answer/alpha.jsonl"
    lines = path.read_text().splitlines()
    if form == "packed":
        path.with_name("alpha.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    elif form == "array":
        path.write_text(f"\ufeff[{','.join(lines)}]", encoding="utf-8")
    rows = folder.judge(folder.plan(model_list="alpha", turns=1), "[[7]]")
    assert [_shown(row) for row in rows] == [["first text"], ["second text"]]


def test_an_answer_that_was_replaced_after_the_plan_is_judged_as_it_is_now(folder: Folder) -> None:
    folder.answer("alpha", {1: ["old", "more"], 2: ["old", "more"]})
    plan = folder.plan(model_list="alpha", turns=1)
    folder.answer("alpha", {2: ["second text", "more"], 1: ["first text", "more"]})
    rows = folder.judge(plan, "[[7]]")
    assert [_shown(row) for row in rows] == [["first text"], ["second text"]]
    assert counts(folder.plan(model_list="alpha", turns=1)) == (0, 2, 0)


def test_an_answer_that_is_gone_after_the_plan_is_named(folder: Folder) -> None:
    plan = folder.plan(model_list="alpha", turns=1)
    folder.answer("alpha", {2: ["second text", "more"]})
    with pytest.raises(MissingError, match="the answer to question 1 is not there any more"):
        folder.judge(plan, "[[7]]")


def test_given_turns_are_shown_and_not_judged(folder: Folder) -> None:
    question = {
        "question_id": 1,
        "category": "writing",
        "turns": ["a", "b"],
        "history": ["x", None],
    }
    folder.write("question.jsonl", [question])
    details = [{"given": "question"}, {}]
    for model in ("alpha", "beta"):
        folder.answer(model, {1: ["x", "mine"]}, details=details)
    rows = folder.judge(folder.plan(model_list="alpha"), "[[7]]")
    assert [row.turn for row in rows] == [2]
    assert "did not write it" in (rows[0].user_prompt or "")


def test_a_variant_is_judged_on_each_turn_it_wrote_after_the_given_ones(folder: Folder) -> None:
    questions = [
        {"question_id": 1, "category": "topic_shift", "turns": ["a", "b"]},
        {"question_id": 2, "category": "context_memory", "turns": ["c", "d"]},
    ]
    folder.write("question.jsonl", questions)
    gold = [{"question_id": q, "choices": [{"turns": ["gold 1", "gold 2"]}]} for q in (1, 2)]
    folder.write("reference_answer/human.jsonl", gold)
    name = "alpha+history=reference"
    folder.answer(name, {q: ["own 1", "own 2"] for q in (1, 2)}, history=["gold 1"])
    plan = folder.plan(judge_set="mt_bench_101", model_list=name, judge_model="gpt-4.1")
    rows = folder.judge(plan, "Rating: [[8]]")
    judged = {(row.question_id, row.turn) for row in rows}
    assert judged == {(1, 1), (1, 2), (2, 2)}, "memory has nothing to remember at turn 1"
    second = next(row for row in rows if row.turn == 2)
    assert "gold 1" in (second.user_prompt or "")
    assert "own 1" not in (second.user_prompt or "")


def test_of_dimensions_the_total_is_the_score(folder: Folder) -> None:
    names = ("factuality", "need_satisfaction", "clarity", "completeness", "style")
    text = json.dumps(dict.fromkeys(names, 6) | {"overall": 8})
    options = {"judge_set": "dimensions", "judge_model": "gpt-4.1", "first_n": 1}
    row = folder.judge(folder.plan(**options), text)[0]
    assert (row.score, row.scores["style"]) == (8, 6)  # type: ignore[index]
    assert row.scale == (1, 10)


def _checklist_plan(folder: Folder) -> JudgePlan:
    points = [
        {"point": "It names a year.", "weight": 2, "tag": "facts"},
        {"point": "It rhymes.", "tag": "form"},
        {"point": "It apologises.", "weight": -1, "tag": "form"},
        {"point": "It is short."},
    ]
    question = {"question_id": 1, "category": "writing", "turns": ["a", "b"]}
    folder.write("question.jsonl", [{**question, "checklist": [points, []]}])
    folder.answer("alpha", {1: ["In 1873, I am sorry to say.", "x"]})
    return folder.plan(judge_set="checklist", model_list="alpha", judge_model="gpt-4.1")


def test_a_checklist_counts_met_weights_over_positive_ones(folder: Folder) -> None:
    said = [
        {"point": 1, "met": True, "quote": "In 1873"},
        {"point": 2, "met": False, "quote": ""},
        {"point": 3, "met": True, "quote": "I am sorry"},
        {"point": 4, "met": True, "quote": "words that are not there"},
    ]
    row = folder.judge(_checklist_plan(folder), json.dumps({"points": said}))[0]
    assert row.grade == pytest.approx((2 - 1) / (2 + 1), abs=1e-5)
    assert isinstance(row.points, list)
    assert [point["met"] for point in row.points] == [True, False, True, None]
    assert row.points[0]["tag"] == "facts"
    assert row.scale == (0, 1)


def test_a_forgotten_parameter_of_the_judge_is_kept(folder: Folder) -> None:
    folder.judge(folder.plan(temperature=0.5, model_list="alpha"), "Rating: [[7]]")
    plan = folder.plan()
    assert counts(plan) == (4, 4, 0)
    assert any("temperature 0.5, which is kept" in notice for notice in plan.notices)
    rows = folder.judge(plan, "Rating: [[7]]")
    assert {row.sampling["temperature"] for row in rows} == {0.5}
    stated = folder.plan(temperature=0.2)
    assert counts(stated) == (8, 0, 8)
    assert stated.tasks[0].split.causes == {"temperature was 0.5 and is 0.2 now": 8}


def test_shares_are_counted_as_whole_plans_would(folder: Folder) -> None:
    for at in range(5):
        folder.answer(f"m{at}", {1: [f"one {at}", f"more {at}"], 2: ["4", f"8 {at}"]})
    shares = (0.1, 0.4, 1.0)
    whole = folder.plan(mode="pairwise-all")
    plans = [folder.plan(mode="pairwise-all", share=share) for share in shares]
    assert whole.calls_by_share(shares) == [plan.calls for plan in plans]


def test_judges_see_no_reasoning_of_other_tools_answers_unless_it_is_kept(folder: Folder) -> None:
    thinking = ["<think>Hm.</think>one", "two"]
    folder.answer("alpha", {1: thinking, 2: ["4", "<think>cut"]})
    file = (folder.folder / "model_answer" / "alpha.jsonl").read_bytes()
    prompts: list[str] = []

    def grade(prompt: str) -> str:
        prompts.append(prompt)
        return "[[7]]"

    plan = folder.plan(mode="single", model_list="alpha")
    assert any("2 answers of alpha came with reasoning" in notice for notice in plan.notices)
    folder.judge(plan, grade)
    assert not any("Hm." in prompt or "cut" in prompt for prompt in prompts)
    assert folder.plan(mode="single", model_list="alpha").total == 0
    kept = folder.plan(mode="single", model_list="alpha", reasoning="keep")
    prompts.clear()
    folder.judge(kept, grade)
    assert any("Hm." in prompt for prompt in prompts)
    assert folder.plan(mode="single", model_list="alpha", reasoning="keep").total == 0
    assert (folder.folder / "model_answer" / "alpha.jsonl").read_bytes() == file


def test_a_reply_that_turnbench_wrote_is_judged_as_it_stands(folder: Folder) -> None:
    text = "The tag </think> ends it."
    choices = [{"index": 0, "turns": [text, "8"]}]
    rows = [{"question_id": 2, "choices": choices, "made_from": {"parameters": "p"}}]
    folder.write("model_answer/alpha.jsonl", rows)
    assert bench.load("small", folder.folder.parent).answers("alpha")[2].choices[0].turns[0] == text


def test_a_category_by_another_name_is_judged_and_sampled_as_the_one_it_stands_for(
    folder: Folder,
) -> None:
    questions = [
        {**row, "category": "Mathematik"} for row in QUESTIONS if row["category"] == "math"
    ]
    folder.write("question.jsonl", questions)
    (folder.folder / "bench.toml").write_text('[categories]\n"Mathematik" = "math"\n')
    prompts: list[str] = []
    plan = folder.plan(mode="single", model_list="alpha")

    def grade(prompt: str) -> str:
        prompts.append(prompt)
        return "[[7]]"

    folder.judge(plan, grade)
    assert all("Reference answer" in prompt for prompt in prompts)
    assert plan.bench.temperature("Mathematik") == 0.0
    assert folder.plan(mode="single", model_list="alpha").total == 0


def test_check_bench_names_categories_that_no_judge_set_knows(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.write("question.jsonl", [{**QUESTIONS[1], "category": "Mathematik"}])
    assert check_bench([str(folder.folder)]) == 0
    assert '"Mathematik" = "coding"' in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("said", "winner", "weight"),
    [
        ("So: [[A>>B]]", "model_1", 3),
        ("So: [[B<A]]", "model_1", 1),
        ("So: [[A=B]]", "tie", 1),
        ("So: [[B>>A]]", "model_2", 3),
        ("So: [[A>A]]", "error", None),
    ],
)
def test_a_verdict_of_five_steps_has_a_weight(
    folder: Folder, said: str, winner: str, weight: int | None
) -> None:
    words = {"judge_model": "gpt-4.1", "judge_set": "arena_hard", "baseline_model": "beta"}
    plan = folder.plan(mode="pairwise-baseline", **words)
    rows = folder.judge(plan, said)
    assert {(row.g1_winner, row.g1_weight, row.score_method) for row in rows} >= {
        (winner, weight, "steps")
    }
