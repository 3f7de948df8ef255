"""The rule: which questions, turns and criteria there are, and which template each of them has."""

import pathlib
from typing import Any

import pytest

from harness.old.errors import UsageError
from harness.old.records import Question
from tests.old.judging.sets.written import COMPARE, GRADE, asked, loaded

METRICS = """
scale = [1, 5]

[criteria.relevance]
definition = "Does it answer the question?"
steps = "1. Read."

[criteria.correctness]
definition = "Is it right?"

[criteria.correctness.by_category.summary]
definition = "Are the main points right?"

[criteria.wit]
categories = ["chat"]
scale = [0, 1]

[categories]
default = ["relevance"]
summary = ["relevance", "correctness"]
math = []
"""
SHOWN = 'kind = "grade"\nuser = "{criterion} {steps} {answer}"\n'


@pytest.mark.parametrize(
    ("category", "criteria"),
    [
        pytest.param("writing", ["relevance"], id="default"),
        pytest.param("summary", ["relevance", "correctness"], id="its own"),
        pytest.param("chat", ["relevance", "wit"], id="default and one that asks for it"),
        pytest.param("math", [], id="none"),
    ],
)
def test_the_category_says_by_which_criteria(tmp_path: pathlib.Path, category: str, criteria: list[str]) -> None:
    made = loaded(tmp_path / "m", METRICS, shown=SHOWN)
    assert list(made.criteria_of(asked(category), 1)) == criteria


def test_a_set_without_criteria_makes_one_judgment(tmp_path: pathlib.Path) -> None:
    assert loaded(tmp_path / "s").criteria_of(asked(), 1) == (None,)


def test_criteria_without_a_table_are_for_everything_or_for_their_categories(tmp_path: pathlib.Path) -> None:
    made = loaded(tmp_path / "s", '[criteria.a]\n[criteria.b]\ncategories = ["math"]', shown=SHOWN)
    assert made.criteria_of(asked("writing"), 1) == ("a",)
    assert made.criteria_of(asked("math"), 1) == ("a", "b")


def test_criteria_that_are_not_usual_are_used_on_demand(tmp_path: pathlib.Path) -> None:
    optional = "[criteria.a]\ndefault = false\nrubric = 'R'\n[criteria.b]\ndefault = false"
    made = loaded(tmp_path / "s", optional)
    assert made.criteria_of(asked(), 1) == (None,)
    assert made.by(["b", "a", "b"]).criteria_of(asked(), 1) == ("b", "a")
    with pytest.raises(UsageError, match="the judge set s has no criterion 'c'"):
        made.by(["c"])
    with pytest.raises(UsageError, match="no criterion 'c'; it has none"):
        loaded(tmp_path / "t").by(["c"])


def test_words_and_scale_are_the_categorys_and_the_criterions(tmp_path: pathlib.Path) -> None:
    made = loaded(tmp_path / "m", METRICS, shown=SHOWN)
    correctness = made.criteria["correctness"]
    assert correctness.said("summary").definition == "Are the main points right?"
    assert correctness.said("other").definition == "Is it right?"
    template = made.templates["shown"]
    assert [made.form(template, name).scale for name in (None, "relevance", "wit")] == [(1, 5), (1, 5), (0, 1)]


@pytest.mark.parametrize(
    ("settings", "question", "turns"),
    [
        pytest.param('turns = "last"', asked(turns=3), [3], id="the last"),
        pytest.param('turns = "last"', asked(turns=1), [1], id="the last of one"),
        pytest.param('turns = "later"', asked(turns=3), [2, 3], id="later"),
        pytest.param('turns = "first"', asked(turns=3), [1], id="the first"),
        pytest.param('questions = { category = "math" }', asked("math"), [1], id="a category"),
        pytest.param('questions = { category = ["math", "stem"] }', asked("writing"), [], id="another category"),
        pytest.param("questions = { level = [1, 2] }", asked(level=2), [1], id="a field of its own"),
        pytest.param("questions = { level = [1, 2] }", asked(), [], id="without the field"),
        pytest.param('questions = { level = 1, category = "math" }', asked(level=1), [], id="one of two fields"),
    ],
)
def test_a_set_says_which_questions_and_turns_it_is_for(
    tmp_path: pathlib.Path, settings: str, question: Question, turns: list[int]
) -> None:
    made = loaded(tmp_path / "s", settings)
    assert [turn for turn in range(1, len(question.turns) + 1) if made.criteria_of(question, turn)] == turns


@pytest.mark.parametrize(
    ("question", "criterion", "name"),
    [
        pytest.param(asked("writing"), "a", "general", id="the general one"),
        pytest.param(asked("math"), "a", "for_math", id="one for certain questions"),
        pytest.param(asked("math"), "b", "of_b", id="one for the criterion before that"),
        pytest.param(asked(context="C"), "a", "with_context", id="one with a context that is there"),
        pytest.param(asked(context=" "), "a", "general", id="a context of nothing"),
        pytest.param(asked(turns=2), "a", "last", id="the last turn's"),
    ],
)
def test_the_nearest_template_is_taken(tmp_path: pathlib.Path, question: Question, criterion: str, name: str) -> None:
    made = loaded(
        tmp_path / "s",
        "[criteria.a]\n[criteria.b]",
        general=GRADE,
        for_math=GRADE + 'questions = { category = "math" }',
        of_b=GRADE + 'criterion = "b"',
        with_context='kind = "grade"\nuser = "{answer} {context}"',
        last=GRADE + 'turns = "last"\nquestions = { category = "writing" }' if len(question.turns) > 1 else COMPARE,
    )
    chosen = made.choose("grade", question, len(question.turns), reference=False, criterion=criterion)
    assert chosen is not None
    assert chosen.name == name


@pytest.mark.parametrize(
    ("references", "category", "present", "shown"),
    [
        pytest.param('required = ["*"]', "any", False, True, id="required everywhere"),
        pytest.param('required = ["*"]\nnever = ["chat"]', "chat", True, False, id="never beats required"),
        pytest.param('if_any = ["*"]', "any", True, True, id="where there are some"),
        pytest.param('if_any = ["*"]', "any", False, False, id="where there are none"),
        pytest.param('if_any = ["math"]', "any", True, False, id="another category"),
    ],
)
def test_the_category_says_whether_a_reference_is_shown(
    tmp_path: pathlib.Path, references: str, category: str, present: bool, shown: bool
) -> None:
    made = loaded(tmp_path / "s", f"[references]\n{references}")
    assert made.shows_reference(category, present=present) is shown


@pytest.mark.parametrize(
    ("instruction", "switched"),
    [
        pytest.param("Say hi.", [False, False, False, True], id="English"),
        pytest.param("Explain tides to a child.", [True, True, False, False], id="a sentence"),
        pytest.param("写一首诗", [False, True, False, True], id="Chinese"),
        pytest.param("Написать письмо", [True, True, True, False], id="Russian"),
    ],
)
def test_the_random_order_is_alpaca_evals(tmp_path: pathlib.Path, instruction: str, switched: list[bool]) -> None:
    question = Question(1, "c", (instruction,))
    made = [loaded(tmp_path / "s", f'order = "random"\norder_seed = {seed}') for seed in range(4)]
    # Their reference is our second model: it is shown first unless the two are switched.
    assert [one.games(question, 1) for one in made] == [(1,) if switch else (2,) for switch in switched]
    assert [made[0].games(question, 1, sample) for sample in range(4)] == [one.games(question, 1) for one in made]


@pytest.mark.parametrize(("order", "games"), [("both", (1, 2)), ("as_given", (1,))])
def test_other_orders_do_not_depend_on_anything(tmp_path: pathlib.Path, order: str, games: Any) -> None:
    made = loaded(tmp_path / "s", f'order = "{order}"', pair=COMPARE)
    assert {made.games(Question(n, "c", (f"q{n}",)), 1) for n in range(20)} == {games}
