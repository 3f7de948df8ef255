"""The fast way of reading judgments says what the long way says, on rows as odd as they come."""

import json
import os
import pathlib
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from harness.results.reading import parts
from harness.results.reading.columns import Columns, Comparisons, Ratings
from harness.results.reading.lines import Part
from harness.results.reading.parts import read_parts

from harness.errors import DataError
from harness.judgments.reading import read_judgments
from harness.rows import comparison_from_row, rating_from_row

ODD_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    2,
    7.5,
    8.0,
    -1.0,
    1e300,
    10**30,
    "",
    " ",
    "7",
    "x",
    "\ud800",
    "é",
    "模型",
    [],
    ["gpt-4"],
    ["gpt-4", "t", "more"],
    ["gpt-4", None],
    ["", "t"],
    {},
    {"question": "q"},
    {"question": 5},
    {"temperature": 0},
    {"temperature": 0.0},
    {"temperature": None},
    {"best_of": 2, "seed": 1},
    [1, 5],
    [0.5, 5.0],
    [5, 1],
    [True, 5],
    [1, 10**400],
]
FIELDS = [
    *("question_id", "turn", "judge", "judge_set", "judge_set_version", "sampling", "sample", "criterion", "choice"),
    *("made_from", "judgment", "tstamp", "details", "scale"),
]


def plain_row(kind: str, rng: random.Random) -> dict[str, Any]:
    row: dict[str, Any] = {"question_id": rng.randint(1, 4)}
    if kind == "single":
        row |= {"model": rng.choice("xyz"), "judge": ["gpt-4", "single-v1"], "score": rng.choice([1, 5, 8.5, 10, -1])}
    elif kind == "pair":
        row |= {"model_1": rng.choice("xy"), "model_2": rng.choice("yz")}
        row |= {f"g{game}_winner": rng.choice(["model_1", "model_2", "tie", "error"]) for game in (1, 2)}
        row["judge"] = ["gpt-4", "pair-v2"]
    else:
        row |= {"model_a": rng.choice("xy"), "model_b": rng.choice("yz"), "judge": rng.choice(["expert_0", "author_1"])}
        row["winner"] = rng.choice(["model_a", "model_b", "tie", "tie (inconsistent)", "error"])
    return {**row, "turn": rng.randint(1, 2), "tstamp": 1.5, "judgment": rng.choice(["Fine.", "Très bien.", "好"])}


def odd_row(kind: str, rng: random.Random) -> dict[str, Any]:
    row = plain_row(kind, rng)
    if rng.random() < 0.5:
        row |= {"judge_set": "mt_bench", "judge_set_version": "1", "criterion": None, "sample": 0, "choice": 0}
        row |= {"sampling": {"temperature": rng.choice([0, 0.0, 0.7]), "max_tokens": 2048}}
        row |= {"made_from": {"question": "abc", "template": "t"}, "system_prompt": "Be fair."}
    if rng.random() < 0.3:
        row["scale"] = rng.choice([[1, 10], [1.0, 10], [0, 1]])
    while rng.random() < 0.4:
        row[rng.choice([*FIELDS, *row])] = rng.choice(ODD_VALUES)
    if rng.random() < 0.03:
        del row[rng.choice(list(row))]
    return row


def by_the_long_way(path: pathlib.Path, lines: list[bytes]) -> list[Rating | Comparison]:
    """Return the records of lines that are all JSON objects, or raise the error of the first that is no judgment."""
    records: list[Rating | Comparison] = []
    for number, line in enumerate(lines, 1):
        row = json.loads(line)
        pair = row.keys() & {"model_1", "model_2", "g1_winner", "g2_winner", "model_a", "model_b", "winner"}
        if not pair and not row.keys() & {"model", "score"}:
            raise DataError("neither", path=path, line=number)
        records.append((comparison_from_row if pair else rating_from_row)(row, path, number))
    return records


def outcome(of: Callable[[], Any]) -> Any:
    """Return what a call returns, or where and why it fails."""
    try:
        return list(of())
    except DataError as error:
        return str(error).split(" neither", 1)[0]


@pytest.mark.parametrize("kind", ["single", "pair", "vote"])
def test_odd_rows_are_read_as_the_long_way_reads_them(kind: str, tmp_path: pathlib.Path) -> None:
    rng = random.Random(f"odd {kind}")
    path = tmp_path / "some.jsonl"
    good = 0
    for _ in range(600):
        lines = [json.dumps(odd_row(kind, rng), ensure_ascii=rng.random() < 0.5) for _ in range(rng.randint(1, 3))]
        encoded = [line.encode("utf-8", "surrogatepass") for line in lines]
        path.write_bytes(b"".join(line + b"\n" for line in encoded))
        expected = outcome(lambda encoded=encoded: by_the_long_way(path, encoded))  # type: ignore[misc]
        assert outcome(lambda: read_parts(path).finished()) == expected, lines
        good += isinstance(expected, list)
    assert 100 < good < 500


@pytest.mark.parametrize("kind", ["single", "pair"])
def test_damaged_lines_are_refused_where_the_long_way_refuses_them(kind: str, tmp_path: pathlib.Path) -> None:
    """A byte is put in, taken out or changed; the line after it makes the damage an error."""
    rng = random.Random(f"damaged {kind}")
    path = tmp_path / "some.jsonl"
    last = json.dumps(plain_row(kind, rng)).encode()
    for _ in range(1500):
        line = bytearray(json.dumps(odd_row(kind, rng) | {"turn": 1}, ensure_ascii=False).encode("utf-8", "replace"))
        at = rng.randrange(len(line))
        line[at : at + rng.randint(0, 1)] = rng.choice([b"", b'"', b"\\", b"{", b",", b"0", b"\xff", b"\xe6", b"\x01"])
        path.write_bytes(line + b"\n" + last + b"\n")
        try:
            expected = outcome(lambda line=line: by_the_long_way(path, [bytes(line), last]))  # type: ignore[misc]
        except (ValueError, AttributeError):
            expected = f"{path}:1: "
        found = outcome(lambda: read_parts(path).finished())
        if isinstance(found, str) and isinstance(expected, str):
            assert found.startswith(f"{path}:1: "), line
            assert expected.startswith(f"{path}:1: "), line
        else:
            assert found == expected, line


def test_usual_lines_never_take_the_long_way(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    ours: dict[str, Any] = {
        "judge_set": "mt_bench",
        "judge_set_version": "1",
        "criterion": None,
        "sample": 0,
        "choice": 0,
    }
    ours |= {"sampling": {"temperature": 0.0, "max_tokens": 2048}, "made_from": {"question": "abc", "template": "t"}}
    for kind, more in (
        ("single", {}),
        ("single", ours),
        ("single", {"scale": [1, 10], **ours}),
        ("single", {"scale": [0, 2.5], **ours}),
        ("pair", {}),
        ("pair", ours),
    ):
        path = tmp_path / "some.jsonl"
        path.write_text("".join(json.dumps(plain_row(kind, rng) | more) + "\n" for _ in range(300)))
        seen: list[int] = []
        monkeypatch.setattr(Part, "_take_long_way", counting(Part._take_long_way, seen))
        assert len(read_parts(path).finished()) == 300
        monkeypatch.undo()
        usual_from_the_start = (kind, more) == ("single", {})
        assert len(seen) == (0 if usual_from_the_start else 1), "the first line shows what the others are like"


def counting(method: Any, seen: list[int]) -> Any:
    def counted(part: Part, line: bytes, place: int) -> None:
        seen.append(place)
        method(part, line, place)

    return counted


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([1] * 9, id="one case"),
        pytest.param([1, 2] * 4 + [1], id="two cases by turns"),
        pytest.param([1, 2, 3] * 3, id="three cases by turns"),
        pytest.param([1, 1, 2, 2, 1, 2, 1, 1, 1], id="as they come"),
        pytest.param([2], id="one row"),
    ],
)
def test_rows_keep_their_order_however_their_cases_follow_each_other(turns: list[int], tmp_path: pathlib.Path) -> None:
    path = tmp_path / "some.jsonl"
    rows = [
        {"question_id": n, "model": "m", "judge": ["j", "t"], "score": n % 10, "turn": turn}
        for n, turn in enumerate(turns, 1)
    ]
    write(path, rows)
    read = [(r.question_id, r.turn, r.score) for r in read_parts(path).finished() if isinstance(r, Rating)]
    assert read == [(row["question_id"], row["turn"], row["score"]) for row in rows]


# Two processes


def halves(path: pathlib.Path) -> Part:
    """Read the file in two processes, however small it is."""
    return read_parts(path, large=0)


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_second_is_possible", lambda: True)


def write(path: pathlib.Path, rows: list[dict[str, Any]], tail: bytes = b"") -> pathlib.Path:
    path.write_bytes("".join(json.dumps(row) + "\n" for row in rows).encode() + tail)
    return path


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("kind", ["single", "pair", "vote"])
def test_two_processes_read_what_one_reads(kind: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"halves {kind}")
    path = write(tmp_path / "some.jsonl", [plain_row(kind, rng) for _ in range(200)])
    alone = read_parts(path)
    seen: list[int] = []
    monkeypatch.setattr(Part, "_take_long_way", counting(Part._take_long_way, seen))
    both = halves(path)
    assert list(both.finished()) == list(alone.finished())
    assert (both.kind, both.torn) == (alone.kind, None)
    if kind == "vote":
        assert 0 < len(seen) < 200, "the rest is read elsewhere"
    assert list(both.finished().latest()) == list(alone.finished().latest())


@pytest.mark.usefixtures("two_cores")
def test_a_row_is_found_by_its_place_whichever_process_has_read_it(tmp_path: pathlib.Path) -> None:
    rng = random.Random("places")
    path = write(tmp_path / "some.jsonl", [plain_row("single", rng) for _ in range(50)])
    alone = read_parts(path).finished()
    for place in (0, 49, 26, -1):
        both = halves(path).finished()
        assert len(both) == 50
        assert both[place] == alone[place]


@pytest.mark.usefixtures("two_cores")
def test_an_error_in_the_second_half_is_told_with_its_line(tmp_path: pathlib.Path) -> None:
    rows = [plain_row("single", random.Random(1)) for _ in range(100)]
    rows[95]["turn"] = "first"
    with pytest.raises(DataError, match=r"some\.jsonl:96: turn must be a whole number from 1, this is 'first'"):
        halves(write(tmp_path / "some.jsonl", rows))


@pytest.mark.usefixtures("two_cores")
def test_an_error_in_the_first_half_is_told_with_its_line(tmp_path: pathlib.Path) -> None:
    rows = [plain_row("single", random.Random(1)) for _ in range(100)]
    rows[5]["score"] = "8"
    with pytest.raises(DataError, match=r"some\.jsonl:6: score must be a number"):
        halves(write(tmp_path / "some.jsonl", rows))


@pytest.mark.usefixtures("two_cores")
def test_a_torn_last_line_is_told_once_with_its_number(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [plain_row("single", random.Random(1)) for _ in range(100)]
    path = write(tmp_path / "some.jsonl", rows, b'{"question_id": 2, "mod\n \n')
    assert len(halves(path).finished()) == 100
    [record] = caplog.records
    assert "some.jsonl:101: not valid JSON" in record.getMessage()


@pytest.mark.usefixtures("two_cores")
def test_a_line_torn_at_the_seam_is_an_error(tmp_path: pathlib.Path) -> None:
    row = json.dumps(plain_row("single", random.Random(1))).encode()
    for torn in range(1, 20):
        lines = [row] * 20
        lines[torn - 1] = row[:-1]
        path = tmp_path / "some.jsonl"
        path.write_bytes(b"\n".join(lines) + b"\n")
        with pytest.raises(DataError, match=rf"some\.jsonl:{torn}: not valid JSON"):
            halves(path)


@pytest.mark.usefixtures("two_cores")
def test_grades_in_one_half_and_pairs_in_the_other_are_refused(tmp_path: pathlib.Path) -> None:
    rng = random.Random(2)
    rows = [plain_row("single", rng) for _ in range(60)] + [plain_row("pair", rng) for _ in range(60)]
    with pytest.raises(DataError, match=r"some\.jsonl:61: grades and pairs in one file; split it"):
        halves(write(tmp_path / "some.jsonl", rows))


@pytest.mark.usefixtures("two_cores")
def test_without_a_second_process_one_reads_all(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "some.jsonl", [plain_row("single", random.Random(1)) for _ in range(50)])
    for program in ("/no/such/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", program)
        assert len(halves(path).finished()) == 50


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n\n", b'{"a"', b"\n \n\n{\n\n"], ids=repr)
def test_files_without_rows_hold_nothing(content: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(content)
    assert len(halves(path).finished()) == 0
    assert read_judgments(path) == (Ratings(), Comparisons(), 0)


def test_lines_of_any_length_and_end_are_read(tmp_path: pathlib.Path) -> None:
    row = {"question_id": 1, "model": "x", "judge": "j", "turn": 1}
    texts = ["", "long " * 100_000, "é" * 70_000, "", "x" * 300_000]
    lines = [json.dumps({**row, "score": score, "judgment": text}) for score, text in enumerate(texts, 1)]
    for end in ("\n", "\r\n", "\n\n"):
        path = tmp_path / "some.jsonl"
        path.write_text(end.join(lines), encoding="utf-8", newline="")
        found = read_parts(path).finished()
        assert isinstance(found, Ratings)
        assert [r.score for r in found] == [1, 2, 3, 4, 5]


def test_lines_are_counted_right_wherever_the_error_stands(tmp_path: pathlib.Path) -> None:
    """In files of many blocks, with blank lines that the fast way does not see."""
    rng = random.Random(6)
    long = {"user_prompt": "What now? " * 300}
    lines = [json.dumps(plain_row("single", rng) | long) for _ in range(400)]
    for at in range(30, 400, 60):
        lines[at] = ""
    for at in (1, 89, 250, 399):
        path = tmp_path / "some.jsonl"
        path.write_text("\n".join([*lines[:at], '{"model": "x"}', *lines[at:]]) + "\n")
        with pytest.raises(DataError, match=rf"some\.jsonl:{at + 1}: the field '\w+' is missing"):
            read_parts(path)


def test_rows_that_do_not_stand_one_a_line_are_refused(tmp_path: pathlib.Path) -> None:
    rows = [plain_row("single", random.Random(7)) for _ in range(3)]
    path = tmp_path / "some.jsonl"
    spread = "\n".join(json.dumps(row, indent=1) for row in rows)
    for content in (spread, "".join(map(json.dumps, rows)) + "\n" + json.dumps(rows[0])):
        path.write_text(content)
        with pytest.raises(DataError, match=r"some\.jsonl:1: not valid JSON"):
            read_parts(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("fault", [False, True])
def test_a_pipe_is_read_like_a_file(fault: bool, tmp_path: pathlib.Path) -> None:
    rng = random.Random(8)
    rows = [plain_row("single", rng) for _ in range(900)]
    rows[800] |= {"turn": 0} if fault else {}
    content = write(tmp_path / "some.jsonl", rows).read_bytes().replace(b"\n", b"\n\n", 5)
    os.mkfifo(pipe := tmp_path / "pipe.jsonl")
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    try:
        if fault:
            with pytest.raises(DataError, match=r"pipe\.jsonl:806: turn must be"):
                read_parts(pipe)
        else:
            assert list(read_parts(pipe).finished()) == list(read_parts(tmp_path / "some.jsonl").finished())
    finally:
        writer.join(timeout=10)


# Columns


def test_columns_are_the_records_that_they_were_made_of(tmp_path: pathlib.Path) -> None:
    rng = random.Random(3)
    made: list[tuple[str, type[Columns[Any]]]] = [("single", Ratings), ("pair", Comparisons), ("vote", Comparisons)]
    for kind, columns in made:
        lines = [json.dumps(plain_row(kind, rng)).encode() for _ in range(80)]
        records = by_the_long_way(tmp_path, lines)
        held = columns.of(records)
        assert held == records
        assert list(held) == records
        assert [held[at] for at in range(-80, 80)] == [records[at] for at in range(-80, 80)]
        assert held[10:30:3] == records[10:30:3]
        assert columns.of(held) is held
        assert held != records[:-1]
        wanted = [r for r in records if r.turn == 1 and r.question_id != 2]
        assert held.keep(lambda case: case.turn == 1, lambda asked: asked.question_id != 2) == wanted
        assert held.keep() is held
        assert held.origins() == list(dict.fromkeys(r.origin for r in records))
        with pytest.raises(IndexError):
            held[80]


def test_every_verdict_is_found_once_by_case_and_group(tmp_path: pathlib.Path) -> None:
    rng = random.Random(4)
    records = by_the_long_way(tmp_path, [json.dumps(plain_row("single", rng)).encode() for _ in range(200)])
    held = Ratings.of(r for r in records if isinstance(r, Rating))
    for group in (None, lambda asked: asked.question_id % 2):
        found = [
            (verdicts.case.models[0], verdicts.case.turn, verdicts.group, score)
            for verdicts in held.by_case(group)
            for score in verdicts.verdicts
        ]
        expected = [
            (r.model, r.turn, None if group is None else int(r.question_id) % 2, -1 if r.score is None else r.score)
            for r in held
        ]
        assert sorted(found, key=repr) == sorted(expected, key=repr)
