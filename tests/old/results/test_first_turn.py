"""How much of a second turn is the fault of the first."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.cli.show_result import main
from harness.old.errors import MissingError
from harness.old.results.first_turn import Effect, first_turn_effect
from harness.old.results.show import show_result
from harness.old.showing import text
from harness.old.showing.first_turn import first_turn_page
from tests.old.small_bench import question, write

GIVEN = "m+history=reference"


def graded(number: int, model: str, turn: int, score: float) -> dict[str, Any]:
    return {"question_id": number, "model": model, "judge": ["j", "t"], "turn": turn, "score": score}


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return ten questions: after a bad first turn (odd ones) a given history is worth 3 points, else none."""
    write(
        tmp_path / "small" / "question.jsonl",
        [question(n, category="math" if n <= 5 else "writing") for n in range(1, 11)],
    )
    rows = []
    for n in range(1, 11):
        good = n % 2 == 0
        rows += [graded(n, "m", 1, 9 if good else 2), graded(n, "m", 2, 8 if good else 4)]
        rows += [graded(n, GIVEN, 2, 8 if good else 7)] if n != 10 else []
        rows += [graded(n, "n", turn, 6) for turn in (1, 2)]
    write(tmp_path / "small" / "model_judgment" / "j_single.jsonl", rows)
    return tmp_path


def effect(effects: tuple[Effect, ...], category: str | None = None, first: str | None = None) -> Effect:
    (found,) = [one for one in effects if (one.category, one.first) == (category, first)]
    return found


def test_the_difference_is_paired_on_the_questions_that_have_both(data: pathlib.Path) -> None:
    found = first_turn_effect(bench_name="small", data_dir=data)
    whole = effect(found.effects)
    assert (whole.model, whole.history) == ("m", "reference")
    assert whole.own.value == pytest.approx((5 * 4 + 4 * 8) / 9)
    assert whole.given.value == pytest.approx((5 * 7 + 4 * 8) / 9)
    assert whole.difference.difference.value == pytest.approx(15 / 9)
    assert (whole.difference.n, whole.difference.left_out) == (9, 1)
    assert whole.difference.p == pytest.approx(2 / 2**5)
    low, high = whole.difference.difference.low, whole.difference.difference.high
    assert low is not None
    assert high is not None
    assert low < 15 / 9 < high


def test_good_and_bad_first_turns_are_told_apart_by_the_median_of_own_ones(data: pathlib.Path) -> None:
    found = first_turn_effect(bench_name="small", data_dir=data)
    assert found.good == 5.5
    good, bad = effect(found.effects, first="good"), effect(found.effects, first="bad")
    assert (good.own.value, good.difference.difference.value, good.difference.n) == (8, 0, 4)
    assert (bad.own.value, bad.difference.difference.value, bad.difference.n) == (4, 3, 5)


def test_each_category_has_its_own_row(data: pathlib.Path) -> None:
    found = first_turn_effect(bench_name="small", data_dir=data)
    assert effect(found.effects, category="math").difference.difference.value == pytest.approx(9 / 5)
    assert effect(found.effects, category="writing").difference.n == 4


def test_models_are_named_without_their_variant(data: pathlib.Path) -> None:
    found = first_turn_effect(bench_name="small", data_dir=data, model_list=["m"])
    assert {one.model for one in found.effects} == {"m"}
    with pytest.raises(MissingError, match="gen_answer --history reference, then run gen_judgment"):
        first_turn_effect(bench_name="small", data_dir=data, model_list=["n"])


def test_the_command_shows_it_in_every_form(data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--bench-name", "small", "--data-dir", str(data), "--first-turn-effect"]
    assert main([*where, "--report", str(data / "r.html")]) == 0
    shown = capsys.readouterr().out
    assert "Turn 2 with own and with supplied history" in shown
    assert "After a good and after a bad first turn" in shown
    assert "<table" in (data / "r.html").read_text()
    assert main([*where, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["difference"] == pytest.approx(15 / 9)
    assert main([*where, "--mode", "pairwise-all"]) == 2


def test_a_page_of_80_columns_holds_it(data: pathlib.Path) -> None:
    page = first_turn_page(first_turn_effect(bench_name="small", data_dir=data))
    assert max(len(line) for line in text(page, width=80).splitlines() if not line.startswith("note:")) <= 80


def test_results_say_that_a_variants_average_is_without_the_given_turn(data: pathlib.Path) -> None:
    notes = show_result(bench_name="small", data_dir=data).notes
    assert any(note.startswith(f"{GIVEN}: the average is over the turns that the model wrote") for note in notes)
    plain = show_result(bench_name="small", data_dir=data, model_list=["m", "n"]).notes
    assert not any("without the supplied first one" in note for note in plain)
