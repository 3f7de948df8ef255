"""Templates: found by name or file, drawn within bounds, proved; what is wrong is one line."""

import pathlib
import random

import pytest

from harness.cli.main import new_questions, prove
from harness.errors import TurnbenchError
from harness.types import Question
from turnbench_questions import Template, draw, find, make_set, of_bench, rows
from turnbench_questions.book import Entry, void
from turnbench_questions.template import Made, aside

HEAD = """
from turnbench_questions.template import Made, Turn, redraw_if
CATEGORY = "sums"
"""
SUMS = f"""{HEAD}
def make(rng, level):
    a, b = rng.randint(1, 10 ** level), rng.randint(1, 10 ** level)
    one = Turn(f"What is {{a}} + {{b}}?", shape="sum", points=["Adds."])
    one.result, one.traps = (a + b,), {{"is less": (a - b,)}}
    two = Turn("And twice your sum?", shape="sum", points=["Doubles."])
    two.result, two.traps = (2 * a + 2 * b,), {{"is one": (a + b,)}}
    return Made((one, two), "your sum", "combine")
"""


@pytest.fixture
def sums(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "sums.py"
    path.write_text(SUMS)
    return path


def test_equal_seeds_give_equal_rows_that_say_what_made_them() -> None:
    one, other = (rows(find("paths"), 7, 5, 1, "c") for _ in range(2))
    assert one == other
    assert {key: one.question[key] for key in ("template", "level", "seed")} == {
        "template": "paths",
        "level": 5,
        "seed": 7,
    }


def test_what_higher_levels_have_more_leaves_the_rest_as_it_is() -> None:
    rng, same = random.Random(1), random.Random(1)
    aside(rng).random()
    assert rng.random() == same.random()
    first, second = (draw(find("lineup"), 3, level).turns[0].ask for level in (3, 4))
    names, others = (
        text.partition("left to right: ")[2].partition(".")[0] for text in (first, second)
    )
    assert names == others


@pytest.mark.parametrize("level", [0, 11])
def test_a_level_that_does_not_exist_is_one_line(
    level: int, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TurnbenchError, match=f"no level {level}; levels are 1 .* to 10"):
        draw(find("paths"), 1, level)
    assert new_questions(["--seed", "1", "--level", str(level), "--out", str(tmp_path / "x")]) == 2
    assert "--level must be" in capsys.readouterr().err


def test_a_template_without_a_good_draw_ends_in_one_line() -> None:
    template = find("paths")._replace(make=never)
    with pytest.raises(TurnbenchError, match="made no good question of level 5 in 50,000 draws"):
        draw(template, 1, 5)


def never(rng: random.Random, level: int) -> Made:
    from turnbench_questions.template import RedrawError

    raise RedrawError


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(f"{HEAD}\ndef make(rng): ...", "has no levels", id="without levels"),
        pytest.param("def make(rng, level): ...", "has no CATEGORY", id="without category"),
        pytest.param(HEAD, r"has no function make\(rng, level\)", id="without make"),
        pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="that raises"),
    ],
)
def test_a_file_that_is_no_template_is_one_line(
    code: str, message: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(code)
    with pytest.raises(TurnbenchError, match=message):
        find(str(path))


def test_prove_passes_a_good_file_and_names_what_is_at_fault(
    sums: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prove([str(sums), "--levels", "2", "9", "--seeds", "3"]) == 0
    assert "sums: 6 questions of levels 2, 9" in capsys.readouterr().out
    sums.write_text(SUMS.replace('"your sum"', '"their sum"').replace("(a - b,)", "(a + b,)"))
    assert prove([str(sums), "--levels", "2", "--seeds", "1"]) == 1
    said = capsys.readouterr().err
    assert "level 2, seed 0: turn 1: a wrong reply passes" in said
    assert "turn 2 does not say 'their sum'" in said
    sums.write_text(SUMS.replace("10 ** level", "10 // (level - 2)"))
    assert prove([str(sums), "--levels", "2", "--seeds", "1"]) == 1
    assert "make raised ZeroDivisionError" in capsys.readouterr().err


def test_a_benchmark_has_the_templates_of_its_rows_and_of_its_folder(sums: pathlib.Path) -> None:
    row = Question(question_id=1, category="x", turns=["a"], extra={"template": "paths"})
    assert [one.name for one in of_bench(sums.parent, [row])] == ["paths", "sums"]
    with pytest.raises(TurnbenchError, match="has no question templates"):
        of_bench(sums.parent / "none", [])


def test_a_set_can_be_of_own_templates(sums: pathlib.Path) -> None:
    made = make_set(1, "x", level=4, templates=[str(sums), "paths"])
    assert [row["question_id"] for row in made.questions] == [1, 1035]
    assert {row["level"] for row in made.questions} == {4}


def test_a_line_is_void_unless_another_is() -> None:
    book = {1: Entry("x", "in"), 2: Entry("x", "in"), 3: Entry("x", "unless", about=1, value=2)}
    assert void(book) == [1]
    assert void({**book, 4: Entry("x", "void", about=2)}) == [2]
    assert void({**book, 4: Entry("x", "void", about=3)}) == [3]


def test_a_template_of_a_name_says_its_category() -> None:
    template = find("drawer")
    assert isinstance(template, Template)
    assert (template.question_id, template.category) == (1034, "math")
