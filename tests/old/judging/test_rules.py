import asyncio
import pathlib
from typing import Any

import pytest

from harness.old.errors import UsageError
from harness.old.judging.builtin import RULES, notices
from harness.old.judging.builtin_model import BuiltinJudge, require_verdict
from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import known_formats, read_verdict
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.judging.verdicts.stated import FORMATS, stated
from harness.old.judgments.judgment import Scores, Winner
from harness.old.judgments.reading import read_judgments
from harness.old.records import Facts, Message, Question, Request, Side
from tests.old.judging.answered_bench import answered

LONG, SHORT = ("The longer one of the two answers.",), ("Short.",)
QUESTION = Question(1, "writing", ("Say it.",))


def form_of(name: str) -> VerdictForm:
    sides = ("m", "M") if name == "preference" else ("model_1", "model_2") if name == "ranking" else ("A", "B")
    return VerdictForm(name, "compare", sides=sides)


def side_of(judge: str, form: VerdictForm, *answers: tuple[str, ...], asked: str = "judge") -> tuple[Side, Any]:
    facts = Facts(QUESTION, 1, None, answers, form.format, sides=form.sides)
    weighed = 5 if form.score_method == "logprobs" else None
    request = Request((Message("user", asked),), facts=facts, top_logprobs=weighed)
    verdict = read_verdict(asyncio.run(BuiltinJudge(judge).reply(request)), form).verdict
    assert isinstance(verdict, Winner)
    return verdict.side, verdict.preference


def test_every_format_to_compare_has_its_words() -> None:
    assert set(FORMATS) == set(known_formats("compare"))


@pytest.mark.parametrize("side", ["A", "B", "tie"])
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_stated_is_read_back(name: str, side: Side) -> None:
    form = form_of(name)
    text = stated(side, name, sides=form.sides)
    if text is None:
        assert side == "tie"
        return
    from harness.old.records import Reply

    verdict = read_verdict(Reply(text), form).verdict
    if isinstance(verdict, Scores):
        a, b = verdict.values.values()
        assert side == ("tie" if a == b else "A" if a > b else "B")
    else:
        assert isinstance(verdict, Winner)
        assert verdict.side == side


@pytest.mark.parametrize("name", ["[[A]]", "[RESULT] A|B", "ranking", "preference"])
def test_the_longest_wins_in_either_order_and_the_first_wherever_it_is(name: str) -> None:
    form = form_of(name)
    assert [side_of("builtin/longest", form, *pair)[0] for pair in ((LONG, SHORT), (SHORT, LONG))] == ["A", "B"]
    assert [side_of("builtin/first", form, *pair)[0] for pair in ((LONG, SHORT), (SHORT, LONG))] == ["A", "A"]


def test_equally_long_answers_are_a_tie_or_the_seconds_where_there_is_none() -> None:
    assert side_of("builtin/longest", form_of("[[A]]"), LONG, LONG)[0] == "tie"
    assert side_of("builtin/longest", form_of("ranking"), LONG, LONG)[0] == "B"


def test_a_weighed_form_gets_log_probabilities() -> None:
    weighed = VerdictForm("preference", "compare", score_method="logprobs", sides=("m", "M"))
    assert side_of("builtin/longest", weighed, SHORT, LONG) == ("B", 1.0)
    assert side_of("builtin/longest", weighed, LONG, LONG) == ("tie", 0.5)


def test_the_random_one_repeats_itself_and_takes_both_sides() -> None:
    drawn = [side_of("builtin/random", form_of("[[A]]"), LONG, SHORT, asked=str(n))[0] for n in range(200)]
    assert drawn == [side_of("builtin/random", form_of("[[A]]"), LONG, SHORT, asked=str(n))[0] for n in range(200)]
    assert 70 < drawn.count("A") < 130


def test_each_sample_of_the_random_one_is_drawn_by_itself(tmp_path: pathlib.Path) -> None:
    plan = plan_judgments(["builtin/random"], answered(tmp_path), "pairwise-all", JudgeOptions(samples=8))
    paths = run_judgments(plan).paths
    assert len({tuple(one.games for one in read_judgments(path).observations) for path in paths}) > 1


def test_they_do_not_grade() -> None:
    for name in RULES:
        with pytest.raises(UsageError, match=f"{name} only compares two answers; use --mode pairwise"):
            require_verdict(name, VerdictForm("[[rating]]"))
        with pytest.raises(UsageError, match="cannot give verdicts of the form patterns"):
            require_verdict(name, VerdictForm("patterns", "compare"))


def test_a_table_says_what_they_are() -> None:
    assert notices(["gpt-4", "builtin/first", "builtin/first"]) == [
        "builtin/first prefers the answer shown first: a baseline, not a judge."
    ]


def test_they_judge_pairs_like_any_judge(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path)
    for judge_set in ("mt_bench", "alpaca_eval", "alpaca_eval_weighted"):
        plan = plan_judgments(["builtin/first"], bench, "pairwise-all", JudgeOptions(judge_set=judge_set))
        done = run_judgments(plan)
        assert done.written
        assert not done.unparsed
        games = {one.games for one in read_judgments(done.paths[0]).observations}
        # Shown first, game 1 goes to the row's first model and game 2 to the other.
        assert games == {(1.0, 0.0)}
