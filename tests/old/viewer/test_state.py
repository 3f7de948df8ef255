"""The address bar holds the view, and whatever stands in it is safe."""

import pytest

from viewer.old.state import State, parse

FULL = State(
    tab="compare",
    bench="mt_bench",
    mode="pairwise-all",
    judge="gpt-4",
    judge_set="strict#1",
    question="81",
    turn=2,
    models=("org/a b", "模型&=?#"),
    whole=True,
    filter=(("category", "math & more"), ("page", "3")),
)


@pytest.mark.parametrize("state", [pytest.param(State(), id="empty"), pytest.param(FULL, id="full")])
def test_an_address_gives_the_same_view_back(state: State) -> None:
    assert parse(state.query()) == state


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(None, id="no text"),
        pytest.param("?" + "a" * 9_000, id="too long"),
        pytest.param("?" + "&".join(f"model={n}" for n in range(200)), id="too many fields"),
        pytest.param("?mode=x&turn=-1&turn=9999&whole=yes&f.secret=1", id="unknown values"),
    ],
)
def test_what_does_not_fit_is_as_if_it_were_not_there(query: object) -> None:
    assert parse(query) == State()


@pytest.mark.parametrize(
    "name",
    ["a\u3000b", "a\u200db", "a\u00a0b", "a\u200bb", "a\u202eb", "a\nb", " a ", "\x1b[2J", "\ufeffa", "e\u0301"],
)
def test_a_name_is_kept_as_it_is(name: str) -> None:
    assert parse(State(models=(name,), judge=name).query()) == State(models=(name,), judge=name)


def test_of_a_value_that_is_too_long_for_a_name_enough_is_kept_to_say_so() -> None:
    assert parse("?judge=" + "j" * 500) == State(judge="j" * 400 + "…")


def test_of_values_given_twice_the_first_counts() -> None:
    assert parse("?question=1&question=2&model=a&model=a&model=b") == State(question="1", models=("a", "b"))


def test_a_judge_and_its_set_may_come_in_one_field() -> None:
    assert parse("?judge=org/j+%40strict") == State(judge="org/j", judge_set="strict")


def test_filters_are_set_replaced_and_taken_out() -> None:
    state = State().where(category="math", page=2)
    assert state.looked_for("category") == "math"
    assert state.page == 2
    assert state.where(category="", page=None) == State()


@pytest.mark.parametrize("page", ["0", "-3", "x", "9" * 50, "²"])
def test_a_page_that_is_none_is_the_first(page: str) -> None:
    assert State().where(page=page).page == 1
