"""Reading rows: typed, with places; what is wrong is named."""

import gzip
import pathlib

import msgspec
import pytest

from harness import store
from harness.errors import DataError
from harness.types import Answer, Judgment, Question, Vote


def written(path: pathlib.Path, *lines: str) -> pathlib.Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


GRADE = '{"question_id": 81, "model": "x", "judge": ["gpt-4", "single-v1"], "score": 8, "turn": 1}'
PAIR = (
    '{"question_id": "81", "model_1": "x", "model_2": "y", "g1_winner": "model_1", '
    '"g2_winner": "error", "judge": ["gpt-4", "pair-v2"]}'
)


def test_a_grade_is_read_with_its_place(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path / "j.jsonl", "", GRADE, GRADE.replace('"turn": 1', '"turn": 2'))
    places = list(store.rows(path, Judgment))
    assert [(place.line, place.row.turn, place.row.grade) for place in places] == [
        (2, 1, 8),
        (3, 2, 8),
    ]
    last = places[-1]
    assert store.rows_at(path, Judgment, [last[2:]]) == [last.row]


def test_a_pair_without_turn_is_turn_1_and_its_id_a_number(tmp_path: pathlib.Path) -> None:
    row = next(store.rows(written(tmp_path / "j.jsonl", PAIR), Judgment)).row
    assert (row.question_id, row.turn, row.games, row.failed) == (81, 1, (1.0, None), True)


def test_a_row_is_written_as_it_was_read(tmp_path: pathlib.Path) -> None:
    row = next(store.rows(written(tmp_path / "j.jsonl", GRADE), Judgment)).row
    assert msgspec.json.decode(msgspec.json.encode(row)) == msgspec.json.decode(GRADE)


def test_heads_are_where_the_rows_are_and_end_before_a_fault(tmp_path: pathlib.Path) -> None:
    rows = [f'{{"question_id": "81", "choices": [{{"turns": ["{t}"]}}]}}' for t in ("a", "$ERROR$")]
    path = written(tmp_path / "m.jsonl", rows[0], "", rows[1], "{")
    heads = store.heads(path, Answer)
    found = next(heads)
    assert (found.questions, found.good, found.line) == ([81, 81], [True, False], 3)
    again = store.rows_at(path, Answer, zip(found.offsets, found.lengths, strict=True))
    assert [row.choices[0].turns for row in again] == [["a"], ["$ERROR$"]]
    with pytest.raises(DataError, match=r"m\.jsonl:4"):
        next(heads)


def test_packed_files_are_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "j.jsonl.gz"
    path.write_bytes(gzip.compress(f"{GRADE}\n".encode()))
    place = next(store.rows(path, Judgment))
    assert store.rows_at(path, Judgment, [place[2:]])[0].grade == 8


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param('{"question_id": 1, "model": "x", "scor": 8}', "no score", id="misspelt"),
        pytest.param('{"question_id": 1, "score": 8}', "names no model", id="no model"),
        pytest.param(
            '{"question_id": 1, "model_1": "x", "model_2": "y"}', "g1_winner", id="no winner"
        ),
        pytest.param(
            '{"question_id": 1, "model": "x", "score": "8"}', "score: expected a num", id="text"
        ),
        pytest.param('{"model": "x", "score": 8}', "'question_id' is missing", id="no id"),
        pytest.param("[1]", "JSON object", id="a list"),
        pytest.param("{", "not JSON", id="cut in the middle"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: pathlib.Path, line: str, message: str) -> None:
    path = written(tmp_path / "j.jsonl", GRADE, line, GRADE)
    with pytest.raises(DataError, match=rf"j\.jsonl:2: .*{message}"):
        list(store.rows(path, Judgment))


def test_a_wrong_last_line_with_its_end_was_not_cut_off(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"j\.jsonl:2: is not JSON"):
        list(store.rows(written(tmp_path / "j.jsonl", GRADE, GRADE[:40]), Judgment))


def test_a_line_that_is_not_utf_8_is_named(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "question.jsonl"
    row = '{"question_id": 1, "category": "writing", "turns": ["Wie heißt du?"]}'
    path.write_bytes(b"\n" + row.encode("latin-1") + b"\n")
    with pytest.raises(DataError, match=r"question\.jsonl:2: is not UTF-8"):
        list(store.rows(path, Question))


VOTE = '{"question_id": 81, "model_a": "x", "model_b": "y", "winner": "%s", "judge": %s}'


@pytest.mark.parametrize(
    ("winner", "value"),
    [("model_a", 1), ("model_b", 0), ("tie (bothbad)", 0.5), ("both_bad", 0.5), ("error", None)],
)
def test_a_vote_s_winner_is_a_published_word(
    tmp_path: pathlib.Path, winner: str, value: float | None
) -> None:
    path = written(tmp_path / "v.jsonl", VOTE % (winner, '"ann"'))
    assert [place.row.value for place in store.rows(path, Vote)] == [value]


@pytest.mark.parametrize("winner", ["left", "", "Model_A"])
def test_another_word_is_an_error_with_its_place(tmp_path: pathlib.Path, winner: str) -> None:
    path = written(tmp_path / "v.jsonl", VOTE % ("tie", '"ann"'), VOTE % (winner, '"ann"'))
    with pytest.raises(DataError, match=r"v\.jsonl:2: winner .* is no known word"):
        list(store.rows(path, Vote))


def test_an_array_is_read_like_lines(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "human.json"
    first, second = VOTE % ("tie", '["gpt-4", "pair-v2"]'), VOTE % ("model_a", '"ann ő"')
    path.write_text(f"[{first},\n {second}\n]", encoding="utf-8")
    places = list(store.rows(path, Vote))
    assert [(place.row.voter, place.row.template, place.line) for place in places] == [
        ("gpt-4", "pair-v2", 1),
        ("ann ő", None, 2),
    ]
    again = store.rows_at(path, Vote, [place[2:] for place in places])
    assert again == [place.row for place in places]


def test_a_cut_last_line_is_left_out_with_a_warning(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(f"{GRADE}\n{GRADE[:40]}", encoding="utf-8")
    assert len(list(store.rows(path, Judgment))) == 1
    assert "cut off" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(GRADE.replace("8,", "NaN,"), id="NaN is no verdict"),
        pytest.param(GRADE[:-1] + ', "judgment": "\\ud83d half"}', id="half a character"),
        pytest.param(
            GRADE[:-1] + ', "tstamp": "yesterday", "sampling": 3}', id="odd optional fields"
        ),
    ],
)
def test_odd_rows_of_others_are_read(tmp_path: pathlib.Path, line: str) -> None:
    row = next(store.rows(written(tmp_path / "j.jsonl", line), Judgment)).row
    assert row.grade in (8, None)
    assert msgspec.json.encode(row)


def test_the_last_good_row_of_a_key_counts(tmp_path: pathlib.Path) -> None:
    failed = GRADE.replace("8,", "-1,")
    path = written(tmp_path / "j.jsonl", failed, GRADE, GRADE.replace("8,", "9,"), failed)
    assert [row.grade for row in store.latest(path, Judgment).values()] == [9]


def test_error_texts_are_no_answers(tmp_path: pathlib.Path) -> None:
    rows = [
        '{"question_id": 1, "choices": [{"index": 0, "turns": ["fine", "yes"]}]}',
        '{"question_id": 1, "choices": [{"index": 0, "turns": ["$ERROR$", "$ERROR$"]}]}',
    ]
    path = written(tmp_path / "a.jsonl", *rows)
    assert store.latest(path, Answer)[(1,)].choices[0].turns == ["fine", "yes"]


def test_a_question_keeps_every_other_field(tmp_path: pathlib.Path) -> None:
    line = '{"question_id": 1, "category": "a", "turns": ["b"], "note": "by hand", "level": 3}'
    question = next(store.rows(written(tmp_path / "q.jsonl", line), Question)).row
    assert question.extra == {"note": "by hand", "level": 3}
    assert question.note == []


@pytest.mark.parametrize(
    ("field", "message"),
    [
        pytest.param('"turns": []', "turns must be", id="no turns"),
        pytest.param('"turns": ["a", " "]', "turns must be", id="an empty turn"),
        pytest.param(
            '"turns": ["a", "b"], "history": ["x"]', "history has 1 entries", id="history"
        ),
        pytest.param('"turns": ["a"], "history": ["x"]', "gives every turn", id="all given"),
        pytest.param('"turns": ["a"], "checks": [[], []]', "checks has 2", id="checks"),
    ],
)
def test_a_wrong_question_is_named(tmp_path: pathlib.Path, field: str, message: str) -> None:
    path = written(tmp_path / "q.jsonl", f'{{"question_id": 7, "category": "c", {field}}}')
    with pytest.raises(DataError, match=f"question 7: .*{message}"):
        list(store.rows(path, Question))


@pytest.mark.reference
def test_published_rows_are_read_and_written_unchanged(reference_data: pathlib.Path) -> None:
    files = list((reference_data / "mt_bench").rglob("*single*.jsonl"))
    files += list((reference_data / "mt_bench" / "other_runs").glob("*_pair.jsonl"))
    for path in files:
        lines = path.read_bytes().splitlines()
        for place in store.rows(path, Judgment):
            before = msgspec.json.decode(lines[place.line - 1])
            assert msgspec.json.decode(msgspec.json.encode(place.row)).items() <= before.items()


@pytest.mark.reference
def test_published_votes_are_read(reference_data: pathlib.Path) -> None:
    path = reference_data / "mt_bench" / "human_judgment" / "human.jsonl"
    assert sum(1 for _ in store.rows(path, Vote)) == 3355
