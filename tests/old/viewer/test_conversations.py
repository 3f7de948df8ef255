"""Given turns and played users in the viewer: who wrote what is seen, and nobody votes on what was given."""

import pathlib
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.judging.run import plan_judgments, run_judgments
from tests.old.small_bench import answer, question, small_bench, write
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.later import Later
from viewer.old.store import Store
from viewer.old.votes import Booth

TURNS = [f"Message {number}?" for number in (1, 2, 3)]
VARIANT = "builtin/eliza+history=reference"
USER = {
    "persona": "A baker.",
    "goal": "To count the loaves.",
    "done": "the assistant has counted them",
    "knows": ["There are four shelves."],
    "most_turns": 3,
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


@pytest.fixture
def views(tmp_path: pathlib.Path) -> Views:
    """Return the views of three turns, answered after own and after given turns."""
    bench = small_bench(tmp_path, question(1, turns=TURNS))
    write(bench.folder / "reference_answer" / "ref.jsonl", [answer(1, "ref", "First.", "Second.", "Third.")])
    for history in ("own", "reference"):
        run_answers(plan_answers(["builtin/eliza"], bench, AnswerOptions(history=history)))
    return Views(Context(Store(tmp_path, ["small"])))


def test_both_conversations_stand_side_by_side_and_given_turns_are_marked(views: Views) -> None:
    _, page = views.view(f"?tab=compare&question=1&model=builtin/eliza&model={VARIANT.replace('+', '%2B')}")
    assert page.count("given by reference") == 1
    assert page.count("Continued from these supplied turns") == 1, (
        "turn 3 was written after another turn 2 than is shown"
    )
    assert "Second." in page


def test_the_answers_lead_to_the_other_history(views: Views) -> None:
    assert "Compare with supplied history" in views.view("?tab=answers&question=1&model=builtin/eliza")[1]
    _, page = views.view(f"?tab=answers&question=1&model={VARIANT.replace('+', '%2B')}")
    assert "Compare with own history" in page
    assert "given by reference" in page


def test_differences_are_marked_on_request_and_the_system_prompt_is_at_hand(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1, turns=TURNS[:1]))
    for model, year in (("a", 1665), ("b", 1666)):
        said = f"<b>London</b> burnt in the year {year}, and in four days it was gone."
        write(bench.answer_file(model), [answer(1, model, said, system_prompt="You are <i>brief</i>.")])
    views = Views(Context(Store(tmp_path, ["small"])))
    _, page = views.view("?tab=compare&question=1&model=a&model=b")
    assert "<mark>" not in page
    assert "f.differences=yes" in page
    _, page = views.view("?tab=compare&question=1&model=a&model=b&f.differences=yes")
    assert ("<mark>1665,</mark>" in page, "<mark>1666,</mark>" in page, page.count("<mark>")) == (True, True, 2)
    for tab in ("compare", "answers"):
        _, page = views.view(f"?tab={tab}&question=1&model=a&model=b")
        assert page.count("<summary>System prompt</summary>") == 1
        assert "You are &lt;i&gt;brief&lt;/i&gt;." in page


def test_no_vote_is_asked_for_on_a_given_turn(tmp_path: pathlib.Path, views: Views) -> None:
    del views
    bench = small_bench(tmp_path, question(1, turns=TURNS))
    models = ("builtin/eliza", VARIANT)
    booth = Booth(bench, "ann", {model: {1} for model in models}, lambda model, key: bench.answers(model)[key])
    assert booth.total() == 2
    ballot = booth.next()
    assert ballot is not None
    assert ballot.turn == 2


@pytest.fixture
def played(tmp_path: pathlib.Path) -> Views:
    """Return the views of a conversation with a played user, graded and compared."""
    row: dict[str, Any] = question(1, turns=["How many loaves?"], user=USER)
    bench = small_bench(tmp_path, row)
    models = ["builtin/eliza", "builtin/outline"]
    run_answers(plan_answers(models, bench, AnswerOptions(user="builtin/user", user_samples=2)))
    for mode in ("single", "pairwise-all"):
        run_judgments(plan_judgments(["builtin/overlap"], bench, mode, models=models))
    return Views(Context(Store(tmp_path, ["small"])))


def test_a_played_conversation_shows_what_each_user_said_and_who_is_played(played: Views) -> None:
    _, page = played.view("?tab=compare&question=1&model=builtin/eliza&model=builtin/outline")
    assert "The user is simulated by a chat model" in page
    assert page.count("There are four shelves.") >= 3, "what is known, and what both users said"
    assert "There is no answer" not in page
    assert page.index("There are four shelves.") < page.index("Game 1")


def test_its_grade_stands_below_the_last_turn_of_the_choice_that_was_judged(played: Views) -> None:
    _, first = played.view("?tab=answers&question=1&model=builtin/eliza")
    _, second = played.view("?tab=answers&question=1&model=builtin/eliza&f.choice=1")
    assert first.index("There are four shelves.") < first.index('class="tb-judged"')
    assert 'class="tb-judged"' not in second
