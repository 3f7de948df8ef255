"""Turns that a model found and did not write are shown to the judge as such, and are not judged."""

import pathlib

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import Bench, load_bench
from harness.old.errors import MissingError
from harness.old.judging.filling import GIVEN
from harness.old.judging.prompts import judge_prompts
from harness.old.judging.run import plan_judgments, run_judgments
from harness.old.judgments.judgment import Match
from harness.old.metrics.checks import plan_checks
from harness.old.metrics.run import run_metrics
from harness.old.status import bench_status
from tests.old.judging.answered_bench import gathered, matches, prompt
from tests.old.small_bench import answer, question, rows, small_bench, write

TURNS = ["one?", "I need two?", "three?"]
VARIANT = "builtin/eliza+history=x"


def with_variant(tmp_path: pathlib.Path) -> Bench:
    """Return a benchmark of two questions, of which `x` answers the first, and `builtin/eliza` after `x`."""
    few = [{"kind": "count", "of": "words", "at_most": 2}]
    checks = [few, few, [{"kind": "quotes", "of": "answer"}]]
    bench = small_bench(tmp_path, question(1, turns=TURNS, checks=checks), question(2))
    write(bench.answer_file("x"), [answer(1, "x", "X1", "X2", "X3")])
    for history in (None, "x"):
        run_answers(plan_answers(["builtin/eliza"], bench, AnswerOptions(history=history), skip_missing=True))
    return load_bench(bench.name, tmp_path)


def test_turns_that_the_question_gives_are_not_judged(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=TURNS, history=["G1", None, None]))
    assert [(m.turn, m.models) for m in matches(bench.questions, [("a",)])] == [(2, ("a",)), (3, ("a",))]


def test_the_first_turn_of_a_variant_is_not_judged_nor_compared(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    groups = [("a",), ("a+history=x",), ("a", "a+history=x")]
    found = {(match.turn, match.models) for match in matches(bench.questions[:1], groups)}
    assert {models for turn, models in found if turn == 1} == {("a",)}
    assert {models for turn, models in found if turn == 2} == {*groups, groups[2][::-1]}


def test_a_judge_sees_which_turns_were_given_and_what_each_reply_saw(tmp_path: pathlib.Path) -> None:
    materials = gathered(with_variant(tmp_path), (VARIANT,))
    question_ = materials.bench.questions[0]
    own = materials.answers[VARIANT][1].choices[0].turns
    text = prompt(materials, Match(question_, 3, (VARIANT,)))
    assert text.count(GIVEN) == 2
    first, second, third = text.partition(GIVEN)[2].split("one?")[-1].split("### User, message ")
    assert "X1" in first
    assert f"{GIVEN}\n<<<text" in second
    assert "X2" in second
    assert own[1] not in text
    assert own[2] in third
    assert GIVEN not in third


def test_of_a_pair_only_the_given_turns_of_one_are_marked(tmp_path: pathlib.Path) -> None:
    materials = gathered(with_variant(tmp_path), ("builtin/eliza", VARIANT), skip_missing=True)
    text = prompt(materials, Match(materials.bench.questions[0], 2, ("builtin/eliza", VARIANT)))
    assert text.count(GIVEN) == 1
    assert f"{GIVEN}\n<<<text" in text


def test_a_reply_cannot_mark_itself_as_given(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    write(bench.answer_file("a"), [answer(1, "a", f"{GIVEN}\nHello", "Bye")])
    text = prompt(gathered(bench, ("a",)), Match(bench.questions[0], 2, ("a",)))
    assert text.partition(GIVEN)[0].rstrip().splitlines()[-1].startswith("<<<text")


def test_a_variant_is_judged_on_the_questions_that_have_a_history(tmp_path: pathlib.Path) -> None:
    bench = with_variant(tmp_path)
    models = ["builtin/eliza", VARIANT]
    run_judgments(plan_judgments(["builtin/overlap"], bench, models=models))
    found = {
        (row["model"], row["question_id"], row["turn"]) for row in rows(bench.judgment_file(*_own(bench), "single"))
    }
    plain = {("builtin/eliza", 1, turn) for turn in (1, 2, 3)} | {("builtin/eliza", 2, turn) for turn in (1, 2)}
    assert found == {*plain, (VARIANT, 1, 2), (VARIANT, 1, 3)}
    assert plan_judgments(["builtin/overlap"], bench, models=models).rows == 0
    (status,) = [model for model in bench_status(bench).models if model.model == VARIANT]
    assert (status.answered, status.missing) == (1, ())


def _own(bench: Bench) -> tuple[str, str]:
    return "builtin/overlap", "mt_bench"


def test_a_variants_answer_that_could_be_there_is_missing(tmp_path: pathlib.Path) -> None:
    bench = with_variant(tmp_path)
    write(bench.answer_file("x"), [answer(1, "x", "X1", "X2", "X3"), answer(2, "x", "X1", "X2")])
    with pytest.raises(MissingError, match=r"builtin/eliza\+history=x has no answer to question 2"):
        plan_judgments(["builtin/overlap"], bench, models=[VARIANT])


def test_checks_see_what_the_reply_saw(tmp_path: pathlib.Path) -> None:
    bench = with_variant(tmp_path)
    run_metrics(plan_checks(bench, models=[VARIANT]))
    assert [row["turn"] for row in rows(bench.metric_file("checks"))] == [2, 3]


def test_the_prompts_of_a_question_show_the_turns_that_it_gives(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=TURNS, history=["G1", None, None]))
    shown = judge_prompts("mt_bench", bench, 1, mode="single")
    assert [made.match.turn for made in shown] == [2, 3]
    assert all(f"{GIVEN}\n<<<text" in made.request.messages[-1].content for made in shown)
