"""Rows of a question are found without the rest of the file, which may grow, be damaged or go away."""

import json
import pathlib

import pytest

from harness.old.errors import DataError
from tests.old.small_bench import answer, small_bench, write
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.places import Places, end_of
from viewer.old.store import Store


def looked_at(path: pathlib.Path) -> Places:
    """Return the places of a file after one look."""
    places = Places(path)
    places.look()
    return places


def values(places: Places, key: int | str) -> list[object]:
    """Return the field x of each row of a question."""
    return [row.value["x"] for row in places.rows(key) if not isinstance(row, DataError)]


def test_rows_are_found_by_question_wherever_the_id_stands(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = ['{"question_id": 1, "x": "a"}', '{"x": "b", "question_id": "1"}', "", '{ "question_id":"q é", "x":"c"}']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    places = looked_at(path)
    assert values(places, 1) == ["a", "b"]
    assert values(places, "q é") == ["c"]
    assert values(places, 7) == []
    assert [row.line for row in places.rows("q é") if not isinstance(row, DataError)] == [4]


def test_only_what_was_added_is_read_when_a_file_grows(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question_id": 1, "x": 1}\n{"question_id": 2, "x"', encoding="utf-8")
    places = looked_at(path)
    assert 2 not in places
    with path.open("a", encoding="utf-8") as file:
        file.write(': 2}\n{"question_id": 1, "x": 3}')
    places.look()
    assert values(places, 1) == [1, 3]
    assert values(places, 2) == [2]


def test_another_file_of_that_name_is_looked_through_anew(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question_id": 1, "x": 1}\n' * 3, encoding="utf-8")
    places = looked_at(path)
    path.write_text('{"question_id": 2, "x": 5}\n', encoding="utf-8")
    places.look()
    assert places.questions() == {2}


def test_a_longer_file_written_in_its_place_is_looked_through_anew(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question_id": 1, "x": 1}\n', encoding="utf-8")
    places = looked_at(path)
    path.write_text('{"question_id": 2, "x": 5}\n{"question_id": 3, "x": 5}\n', encoding="utf-8")
    places.look()
    assert places.questions() == {2, 3}


def test_damaged_lines_are_counted_and_told_when_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'nonsense\n[1]\n{"question_id": 1, "x": \n\xff\xfe\n{"question_id": 1, "x": 2}\n')
    places = looked_at(path)
    assert places.damaged == [1, 2, 4]
    fault, good = places.rows(1)
    assert isinstance(fault, DataError)
    assert "a.jsonl:3: not valid JSON" in str(fault)
    assert not isinstance(good, DataError)
    assert good.line == 5


def test_a_file_that_is_not_there_is_an_error_with_its_name(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"gone\.jsonl: cannot be read: No such file"):
        looked_at(tmp_path / "gone.jsonl")


def test_many_rows_of_one_question_come_in_their_order(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"question_id": n % 3, "x": n}) + "\n" for n in range(300)), encoding="utf-8")
    assert values(looked_at(path), 2) == list(range(2, 300, 3))


def test_a_row_that_had_no_newline_yet_is_one_line_with_the_newline_that_comes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question_id": 1, "x": 1}', encoding="utf-8")
    places = looked_at(path)
    assert values(places, 1) == [1]
    with path.open("a", encoding="utf-8") as file:
        file.write('\n{"question_id": 1, "x": 2}\n')
    places.look()
    assert [row.line for row in places.rows(1) if not isinstance(row, DataError)] == [1, 2]
    assert values(places, 1) == [1, 2]


@pytest.mark.parametrize(
    "key",
    [7, -3, 123_456_789_012_345_678, "q7", "a question with a name that is longer than what is compared", "é" * 20],
)
def test_ids_of_every_length_are_told_apart(key: int | str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jsonl"
    other = f"{key}x"
    rows = [{"question_id": key, "x": 1}, {"question_id": other, "x": 2}, {"question_id": key, "x": 3}]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    places = looked_at(path)
    assert (values(places, key), values(places, other), len(places)) == ([1, 3], [2], 2)


def test_a_file_of_several_blocks_is_read_whole(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"question_id": n % 5, "x": n}) if n % 7 else "" for n in range(200)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for block in (1, 50, 10_000):
        monkeypatch.setattr("viewer.old.places._BLOCK", block)
        found = [row for row in looked_at(path).rows(3) if not isinstance(row, DataError)]
        assert [(row.line, row.value["x"]) for row in found] == [(n + 1, n) for n in range(200) if n % 7 and n % 5 == 3]


def test_whatever_is_shown_first_the_judgments_are_looked_through_for_the_next_question(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = small_bench(tmp_path)
    write(bench.answer_file("m"), [answer(1, "m", "one", "two")])
    files = [bench.folder / "model_judgment" / f"{judge}_single.jsonl" for judge in ("j", "k")]
    grades = [{"question_id": 1, "model": "m", "judge": ["j", "t"], "score": 7, "turn": 1}]
    for file in files:
        write(file, grades)
    looked: list[str] = []
    look = Places.look

    def noted(places: Places) -> None:
        looked.append(places.path.name)
        look(places)

    monkeypatch.setattr(Places, "look", noted)
    store = Store(tmp_path, ["small"])
    views = Views(Context(store))
    views.view("?tab=runs&bench=small")
    for file in files:
        assert store.places(file, patience=60).questions() == {1}
    assert sorted(looked) == ["j_single.jsonl", "k_single.jsonl"]


def test_the_end_of_a_file_that_grows_while_it_is_looked_at_is_in_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    empty = path.stat()
    monkeypatch.setattr("viewer.old.places.os.fstat", lambda _: empty)
    path.write_bytes(b'{"question_id": 1')
    assert end_of(path).place == 0
