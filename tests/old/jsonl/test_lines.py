"""Rows of a file, and one line of each."""

import json
import logging
import pathlib
from typing import Any

import pytest

from harness.old.errors import DataError
from harness.old.jsonl import encode, finite, read_rows
from tests.old.jsonl.journals import written


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n \n", [], id="blank"),
        pytest.param(b'{"a": 1}\n{"a": 2}\n', [(1, 1), (2, 2)], id="plain"),
        pytest.param(b'{"a": 1}\n\n\n{"a": 2}\n\n', [(1, 1), (4, 2)], id="blank-lines-are-counted"),
        pytest.param(b'{"a": 1}\r\n{"a": 2}\r\n', [(1, 1), (2, 2)], id="windows"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n', [(1, 1), (2, 2)], id="byte-order-mark"),
        pytest.param(b'{"a": 1}\n\xef\xbb\xbf{"a": 2}\n', [(1, 1), (2, 2)], id="files-with-marks-joined"),
        pytest.param(b'{"a": 1}\n{"a": 2}', [(1, 1), (2, 2)], id="no-newline-at-the-end"),
        pytest.param('{"a": "x\u2028y\x85z"}\n'.encode(), [(1, "x\u2028y\x85z")], id="other-line-ends-are-text"),
    ],
)
def test_rows_come_with_their_lines(content: bytes, rows: list[Any], tmp_path: pathlib.Path) -> None:
    assert [(row.line, row.value["a"]) for row in read_rows(written(tmp_path, content))] == rows


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b'{"a": 2, "b": "ha', id="cut-in-a-text"),
        pytest.param(b'{"a": 2, "b": "\xe6\xa8', id="cut-in-a-character"),
        pytest.param(b'{"a": 2,}\n', id="whole-line-but-no-json"),
        pytest.param(b"\0\0\0\0", id="zeros-after-power-loss"),
        pytest.param(b'{"a": 2, "b": "ha\n\n\n', id="blank-lines-follow"),
    ],
)
def test_a_broken_last_line_is_left_out_with_a_warning(
    tail: bytes, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path, b'{"a": 1}\n' + tail)
    assert [row.value for row in read_rows(path)] == [{"a": 1}]
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert f"{path}:2: " in record.getMessage()
    assert "this last line is left out" in record.getMessage()


def test_in_a_file_that_people_write_a_broken_last_line_is_an_error(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, b'{"a": 1}\n{"a": 2')
    with pytest.raises(DataError, match=r"a\.jsonl:2: not valid JSON"):
        list(read_rows(path, whole=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            b'{"a": 1}\n{"a": \n{}\n', r"a\.jsonl:2: not valid JSON \(column \d+\); each line must be", id="json"
        ),
        pytest.param(b'{"a": "\xff"}\n{}\n', r"a\.jsonl:1: not UTF-8; save the file as UTF-8", id="encoding"),
        pytest.param('{"a": 1}\n{}\n'.encode("utf-16"), r"a\.jsonl:1: not UTF-8", id="utf-16"),
        pytest.param(b"[1]\n{}\n", r"a\.jsonl:1: a JSON object is needed, this is a list", id="no-object"),
        pytest.param(b'{}\n[{"a": 1}]\n', r"a\.jsonl:2: a JSON object is needed, this is a list", id="no-object-last"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}\n{}\n", r"a\.jsonl:1: not valid JSON;", id="number-of-5000-digits"),
        pytest.param(b"[" * 100_000 + b"\n{}\n", r"a\.jsonl:1: not valid JSON", id="too-deep"),
    ],
)
def test_any_other_broken_line_is_an_error_with_its_place(content: bytes, message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=message) as raised:
        list(read_rows(written(tmp_path, content)))
    assert "\n" not in str(raised.value)


def test_what_cannot_be_read_says_why(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read: No such file"):
        list(read_rows(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(read_rows(tmp_path))


@pytest.mark.parametrize(
    "text", ["line\nline", "a\r\nb", "\u2028 \u2029 \x85", "\x00\x0b\x0c\x1c\x1e", "模型 🦙", '"quotes" \\n', "\x7f"]
)
def test_a_row_is_one_line_for_every_reader(text: str) -> None:
    line = encode({"text": text})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}


def test_chinese_stays_readable() -> None:
    assert encode({"模型": "通义"}) == '{"模型": "通义"}'


def test_what_json_does_not_have_is_null() -> None:
    row = {"a": float("nan"), "b": [float("inf"), (1.5,)], "c": {"d": -float("inf")}, "e": True}
    assert encode(row) == '{"a": null, "b": [null, [1.5]], "c": {"d": null}, "e": true}'
    assert finite(2.5) == 2.5
