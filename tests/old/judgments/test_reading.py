"""Files of judgments are read block by block as their rows are read one by one, however odd these are."""

import json
import os
import pathlib
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.old.errors import DataError
from harness.old.judgments import columns, observations, parts, reading
from harness.old.judgments.observations import Observations
from harness.old.judgments.parts import read_whole
from harness.old.judgments.reading import Part, Read, read_judgments
from harness.old.judgments.row import JudgedRow, judged_row

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


def read(path: pathlib.Path, large: int = 1 << 40) -> Read:
    """Return what a file holds; of `large` bytes or more in two processes."""
    part = Part(path)
    read_whole(part, large)
    return part.finished()


def reads(row: dict[str, Any], path: pathlib.Path) -> bool:
    """Return whether a row can be read, and is a grade or a pair."""
    try:
        return judged_row(row, path, 1).source.form in {"grade", "pair"}
    except DataError:
        return False


def one_by_one(path: pathlib.Path, lines: list[bytes]) -> list[Any]:
    """Return what rows say, each by itself, of equal keys the last with a verdict; or raise the first's error."""
    rows = [judged_row(json.loads(line), path, number) for number, line in enumerate(lines, 1)]
    latest: dict[Any, JudgedRow] = {}
    for row in rows:
        key = (row.key, row.source._replace(scale=None, form="grade"))
        if key not in latest or not row.unparsed:
            latest[key] = row
    return [
        (row.question_id, row.turn, row.models, row.source, row.games or sorted(row.numbers)) for row in latest.values()
    ]


def told(found: Observations) -> list[Any]:
    """Return the same of observations."""
    return [
        (one.question_id, one.turn, (one.model, one.opponent) if one.opponent else (one.model,), one.source,
         one.games or ([] if one.value is None else [one.metric]))
        for one in found
    ]  # fmt: skip


def outcome(of: Callable[[], Any]) -> Any:
    """Return what a call returns, or where and why it fails."""
    try:
        return list(of())
    except DataError as error:
        return str(error)


@pytest.mark.parametrize("kind", ["single", "pair", "vote"])
def test_odd_rows_are_read_as_each_is_by_itself(kind: str, tmp_path: pathlib.Path) -> None:
    rng = random.Random(f"odd {kind}")
    path = tmp_path / "some.jsonl"
    good = 0
    for _ in range(600):
        lines = [json.dumps(odd_row(kind, rng), ensure_ascii=rng.random() < 0.5) for _ in range(rng.randint(1, 3))]
        encoded = [line.encode("utf-8", "surrogatepass") for line in lines]
        path.write_bytes(b"".join(line + b"\n" for line in encoded))
        expected = outcome(lambda encoded=encoded: one_by_one(path, encoded))  # type: ignore[misc]
        assert outcome(lambda: told(read(path).observations)) == expected, lines
        good += isinstance(expected, list)
    assert 100 < good < 500


@pytest.mark.parametrize("kind", ["single", "pair"])
def test_damaged_lines_are_refused_where_each_is_by_itself(kind: str, tmp_path: pathlib.Path) -> None:
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
            expected = outcome(lambda line=line: one_by_one(path, [bytes(line), last]))  # type: ignore[misc]
        except (ValueError, AttributeError):
            expected = f"{path}:1: "
        found = outcome(lambda: told(read(path).observations))
        if isinstance(found, str) and isinstance(expected, str):
            assert found.startswith(f"{path}:1: "), line
            assert expected.startswith(f"{path}:1: "), line
        else:
            assert found == expected, line


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
    found = [(one.question_id, one.turn, one.value) for one in read(path).observations]
    assert found == [(row["question_id"], row["turn"], row["score"]) for row in rows]


# Several processes


def in_parts(path: pathlib.Path) -> Read:
    """Read the file in several processes, however small it is."""
    return read(path, large=1)


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_processes", lambda: 2)


def write(path: pathlib.Path, rows: list[dict[str, Any]], tail: bytes = b"") -> pathlib.Path:
    path.write_bytes("".join(json.dumps(row) + "\n" for row in rows).encode() + tail)
    return path


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("kind", ["single", "pair", "vote"])
def test_two_processes_read_what_one_reads(kind: str, tmp_path: pathlib.Path) -> None:
    rng = random.Random(f"halves {kind}")
    path = write(tmp_path / "some.jsonl", [plain_row(kind, rng) for _ in range(200)])
    alone, both = read(path), in_parts(path)
    assert list(both.observations) == list(alone.observations)
    assert (both.form, both.replaced) == (alone.form, alone.replaced)


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("large", [1 << 40, 1 << 17], ids=["one process", "two processes"])
@pytest.mark.parametrize("table", [0, 1 << 24], ids=["apart by question", "table of keys"])
@pytest.mark.parametrize("kind", ["single", "pair"])
def test_many_rows_are_in_a_file_and_say_the_same(
    kind: str, table: int, large: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random("repeated")
    path = tmp_path / "judge_some.jsonl"
    path.write_text("".join(json.dumps(odd_row(kind, rng) | {"turn": 1}) + "\n" for _ in range(2500)))
    path.write_text("".join(line for line in path.read_text().splitlines(True) if reads(json.loads(line), path)))
    whole = read(path, large)
    monkeypatch.setattr(reading, "ROOM", 100)
    monkeypatch.setattr(columns, "BLOCK", 150)
    monkeypatch.setattr(observations, "BLOCK", 150)
    monkeypatch.setattr(observations, "_TABLE", table)
    found = read(path, large)
    assert isinstance(found.observations.columns, np.memmap)
    assert sorted(map(repr, found.observations)) == sorted(map(repr, whole.observations))
    assert found[1:] == whole[1:]
    assert found.replaced > 100
    every = Part(path, every=True)
    read_whole(every, large)
    assert len(every.finished().observations) == len(whole.observations) + whole.replaced


@pytest.mark.usefixtures("two_cores")
def test_a_row_is_found_by_its_place_whichever_process_has_read_it(tmp_path: pathlib.Path) -> None:
    rng = random.Random("places")
    path = write(tmp_path / "some.jsonl", [{**plain_row("single", rng), "question_id": n} for n in range(50)])
    alone = read(path).observations
    for place in (0, 49, 26, -1):
        both = in_parts(path).observations
        assert len(both) == 50
        assert both[place] == alone[place]


@pytest.mark.usefixtures("two_cores")
def test_an_error_in_the_second_half_is_told_with_its_line(tmp_path: pathlib.Path) -> None:
    rows = [plain_row("single", random.Random(1)) for _ in range(100)]
    rows[95]["turn"] = "first"
    with pytest.raises(DataError, match=r"some\.jsonl:96: turn must be a whole number from 1, this is 'first'"):
        in_parts(write(tmp_path / "some.jsonl", rows))


@pytest.mark.usefixtures("two_cores")
def test_an_error_in_the_first_half_is_told_with_its_line(tmp_path: pathlib.Path) -> None:
    rows = [plain_row("single", random.Random(1)) for _ in range(100)]
    rows[5]["score"] = "8"
    with pytest.raises(DataError, match=r"some\.jsonl:6: score must be a number"):
        in_parts(write(tmp_path / "some.jsonl", rows))


@pytest.mark.usefixtures("two_cores")
def test_a_torn_last_line_is_told_once_with_its_number(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [plain_row("single", random.Random(1)) for _ in range(100)]
    rows = [{**row, "question_id": n} for n, row in enumerate(rows)]
    path = write(tmp_path / "some.jsonl", rows, b'{"question_id": 2, "mod\n \n')
    part = Part(path)
    read_whole(part, large=1)
    assert part.torn is not None
    assert part.torn.line.startswith(b'{"question_id": 2')
    assert len(read_judgments(path).observations) == 100
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
            in_parts(path)


@pytest.mark.usefixtures("two_cores")
def test_grades_in_one_half_and_pairs_in_the_other_are_refused(tmp_path: pathlib.Path) -> None:
    rng = random.Random(2)
    rows = [plain_row("single", rng) for _ in range(60)] + [plain_row("pair", rng) for _ in range(60)]
    with pytest.raises(DataError, match=r"some\.jsonl:61: grades and pairs in one file; split it"):
        in_parts(write(tmp_path / "some.jsonl", rows))


@pytest.mark.usefixtures("two_cores")
def test_without_a_second_process_one_reads_all(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{**plain_row("single", random.Random(1)), "question_id": n} for n in range(50)]
    path = write(tmp_path / "some.jsonl", rows)
    for program in ("/no/such/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", program)
        assert len(in_parts(path).observations) == 50


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n\n", b'{"a"', b"\n \n\n{\n\n"], ids=repr)
def test_files_without_rows_hold_nothing(content: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(content)
    assert len(in_parts(path).observations) == 0
    assert read_judgments(path) == Read(Observations(), 0, None)


def test_lines_of_any_length_and_end_are_read(tmp_path: pathlib.Path) -> None:
    row = {"question_id": 1, "model": "x", "judge": "j", "turn": 1}
    texts = ["", "long " * 100_000, "é" * 70_000, "", "x" * 300_000]
    lines = [json.dumps({**row, "question_id": n, "score": n, "judgment": text}) for n, text in enumerate(texts, 1)]
    for end in ("\n", "\r\n", "\n\n"):
        path = tmp_path / "some.jsonl"
        path.write_text(end.join(lines), encoding="utf-8", newline="")
        assert [one.value for one in read(path).observations] == [1, 2, 3, 4, 5]


def test_lines_are_counted_right_wherever_the_error_stands(tmp_path: pathlib.Path) -> None:
    """In files of many blocks, with blank lines that a block of lines does not show."""
    rng = random.Random(6)
    long = {"user_prompt": "What now? " * 300}
    lines = [json.dumps(plain_row("single", rng) | long) for _ in range(400)]
    for at in range(30, 400, 60):
        lines[at] = ""
    for at in (1, 89, 250, 399):
        path = tmp_path / "some.jsonl"
        path.write_text("\n".join([*lines[:at], '{"model": "x"}', *lines[at:]]) + "\n")
        with pytest.raises(DataError, match=rf"some\.jsonl:{at + 1}: the field '\w+' is missing"):
            read(path)


def test_rows_that_do_not_stand_one_a_line_are_refused(tmp_path: pathlib.Path) -> None:
    rows = [plain_row("single", random.Random(7)) for _ in range(3)]
    path = tmp_path / "some.jsonl"
    spread = "\n".join(json.dumps(row, indent=1) for row in rows)
    for content in (spread, "".join(map(json.dumps, rows)) + "\n" + json.dumps(rows[0])):
        path.write_text(content)
        with pytest.raises(DataError, match=r"some\.jsonl:1: not valid JSON"):
            read(path)


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
                read(pipe)
        else:
            assert list(read(pipe).observations) == list(read(tmp_path / "some.jsonl").observations)
    finally:
        writer.join(timeout=10)


def test_half_a_character_ends_no_reading(tmp_path: pathlib.Path) -> None:
    row = {"question_id": 1, "model": "x", "judge": "j", "score": 5, "turn": 1}
    path = write(tmp_path / "some.jsonl", [{**row, "judgment": "\ud800"}, {**row, "question_id": 2}])
    assert [one.value for one in read(path).observations] == [5, 5]


def test_a_last_line_that_is_left_out_leaves_the_others(tmp_path: pathlib.Path) -> None:
    row = {"question_id": 1, "model": "x", "judge": "j", "score": 5, "turn": 1}
    path = write(tmp_path / "some.jsonl", [row, {**row, "model": "y", "score": "high"}])
    faults: list[DataError] = []
    found = read_judgments(path, faults=faults).observations
    assert [one.value for one in found] == [5]
    assert [case.models for case in found.cases] == [("x",)]
    assert len(faults) == 1


@pytest.mark.parametrize("kind", ["single", "pair", "vote"])
def test_half_a_character_in_the_place_of_a_number_is_named(kind: str, tmp_path: pathlib.Path) -> None:
    row = plain_row(kind, random.Random(1)) | {"turn": "\ud800"}
    path = tmp_path / "some.jsonl"
    path.write_text(f"{json.dumps(row)}\n" * 2, encoding="utf-8")
    with pytest.raises(DataError, match=r"some\.jsonl:1: turn must be a whole number from 1, this is '\\ud800'"):
        read(path)


def test_hashes_of_conversations_are_numbers_beside_rows_that_have_none(tmp_path: pathlib.Path) -> None:
    """All of a block are converted together; what is no hash is 0 and changes none of its neighbours."""
    good = [f"{number:016x}" for number in (1, 2**64 - 1, 0xABCDEF)]
    odd = [None, 5, "", "12", "g" * 16, " " * 16, "0x" + "1" * 14, "+" + "1" * 15, "1" * 17, "é" * 16, ["1"], {"a": 1}]
    said = [good[0], *odd, good[1], " 1" * 8, good[2].upper()]
    rows = [plain_row("single", random.Random(0)) | {"question_id": at} for at in range(len(said))]
    made = [{"made_from": {"question": "q", "conversation": own}} for own in said]
    path = write(tmp_path / "some.jsonl", [row | own for row, own in zip(rows, made, strict=True)])
    expected = [1, *[0] * len(odd), 2**64 - 1, 0, 0xABCDEF]
    assert read(path).observations.judged.tolist() == expected
