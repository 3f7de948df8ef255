"""Files that people write: within bounds, of the right types, and mistakes named with the nearest key."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest

from harness.old.errors import DataError
from harness.old.written import Wanted, decoded, faults_of, is_deep, nearest, read_json, read_text, read_toml, read_yaml


@dataclasses.dataclass(frozen=True)
class Inner:
    rate: Annotated[float, Wanted("a number above 0", lambda number: number > 0)] | None = None
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Outer:
    kind: Literal["first", "second"]
    inner: Inner = dataclasses.field(default_factory=Inner)
    by_name: Mapping[str, Inner] = dataclasses.field(default_factory=dict)
    count: int = 0
    anything: Any = None


def written(folder: pathlib.Path, text: str | bytes, name: str = "a.toml") -> pathlib.Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: pathlib.Path) -> Outer:
    return decoded(read_toml(path), Outer, path)


def test_a_file_becomes_a_record(tmp_path: pathlib.Path) -> None:
    text = 'kind = "first"\ncount = 3\nanything = [1]\n[inner]\nrate = 2\n[by_name.x]\nnames = ["a", "b"]'
    made = read(written(tmp_path, text))
    assert made == Outer("first", Inner(2.0), {"x": Inner(names=("a", "b"))}, 3, [1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", 'the key \'kind\' is missing; it must be "first" or "second"', id="missing"),
        pytest.param(
            'kind = "frist"', 'a.toml:1: kind must be "first" or "second" \\(did you mean \'first\'\\?\\)', id="word"
        ),
        pytest.param('kind = "first"\ncuont = 1', "a.toml:2: unknown key 'cuont'; did you mean 'count'", id="key"),
        pytest.param('kind = "first"\nzzz = 1', "unknown key 'zzz'; known: kind, inner", id="far key"),
        pytest.param('kind = "first"\ncount = "1"', "a.toml:2: count must be a whole number, this is '1'", id="type"),
        pytest.param('kind = "first"\ncount = true', "count must be a whole number, this is True", id="no number"),
        pytest.param('kind = "first"\ninner = 1', "inner must be a table, this is 1", id="table"),
        pytest.param('kind = "first"\n[inner]\nrate = 0', "a.toml:3: inner.rate must be a number above 0", id="bound"),
        pytest.param('kind = "first"\ninner.names = "a"', "inner.names must be a list", id="list"),
        pytest.param(
            'kind = "first"\ninner.names = [1]', "inner.names.1 must be a text in quotes, this is 1", id="item"
        ),
        pytest.param('kind = "first"\n[by_name.x]\nrat = 1', "a.toml:3: unknown key 'by_name.x.rat'", id="deep key"),
        pytest.param("anything = 2024-01-01", "anything must be a text in quotes, a number", id="date"),
        pytest.param("anything = [inf]", "anything must be a number that is finite, this is inf", id="infinite"),
        pytest.param(f"anything = 0x{'f' * 6000}", "anything must be a number of at most 64 bits", id="long hex"),
        pytest.param(f"anything = {'9' * 5000}", "not usable TOML: Exceeds the limit", id="long number"),
        pytest.param(f"anything = {'[' * 5000}", "not usable TOML", id="brackets"),
        pytest.param(f"anything = {'[' * 150}{']' * 150}", "holds values nested over 100 deep", id="deep"),
    ],
)
def test_a_mistake_is_named_with_key_and_line(tmp_path: pathlib.Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_all_mistakes_can_be_had_at_once(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, 'kind = 1\nx = 2\n[inner]\nrate = -1\nnames = [1, "a", 2]')
    assert [
        (fault.line, str(fault).partition(" ")[2].split(",")[0]) for fault in faults_of(read_toml(path), Outer, path)
    ] == [
        (2, "unknown key 'x'; known: kind"),
        (1, 'kind must be "first" or "second"'),
        (4, "inner.rate must be a number above 0"),
        (5, "inner.names.1 must be a text in quotes"),
        (5, "inner.names.3 must be a text in quotes"),
    ]


def test_a_value_that_may_be_a_key_is_not_repeated(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, 'kind = "sk-secret"')
    with pytest.raises(DataError, match='kind must be "first" or "second"') as caught:
        decoded(read_toml(path), Outer, path, repeat=False)
    assert "secret" not in str(caught.value)


def test_a_key_that_stands_on_two_lines_is_placed_by_its_table(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, 'kind = "first"\n[by_name.x]\nrate = 1\n[by_name.y]\nrate = 0')
    with pytest.raises(DataError, match=r"a\.toml:4: by_name\.y\.rate must be"):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [", id="syntax"),
        pytest.param("!!bool x", id="bool"),
        pytest.param("!!timestamp x", id="timestamp"),
        pytest.param("!!binary eA==", id="bytes"),
        pytest.param("? [a]\n: b", id="a list as a key"),
        pytest.param("&a [*a]", id="a circle"),
        pytest.param("[" * 400, id="deep"),
        pytest.param("9" * 5000, id="long number"),
        pytest.param(
            "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n"
                for old, new in zip("abcdefgh", "bcdefghi", strict=True)
            ),
            id="a billion values",
        ),
    ],
)
def test_yaml_that_cannot_be_used_is_our_own_error(tmp_path: pathlib.Path, text: str) -> None:
    with pytest.raises(DataError, match=r"a\.yaml: ") as caught:
        read_yaml(written(tmp_path, text, "a.yaml"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, '"\\ud800"', "[1e999]", "{", "[" * 200 + "]" * 200])
def test_json_that_cannot_be_used_is_our_own_error(tmp_path: pathlib.Path, text: str) -> None:
    with pytest.raises(DataError, match=r"a\.json(:\d+)?: "):
        read_json(written(tmp_path, text, "a.json"))


def test_texts_are_utf_8_with_one_kind_of_line_end(tmp_path: pathlib.Path) -> None:
    assert read_text(written(tmp_path, b"\xef\xbb\xbfa\r\nb\rc")) == "a\nb\nc"
    with pytest.raises(DataError, match="not UTF-8; save the file as UTF-8"):
        read_text(written(tmp_path, b"\xff"))
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_text(tmp_path / "none")


def test_what_nobody_writes_by_hand_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match="is larger than 16 MiB; is this the right file"):
        read_text(written(tmp_path, b"#" * (16 * 2**20 + 1)))


@pytest.mark.parametrize(("depth", "deep"), [(1, False), (99, False), (101, True), (900, True)])
def test_depth_is_counted_without_recursion(depth: int, deep: bool) -> None:
    value: Any = 1
    for number in range(depth):
        value = [value] if number % 2 else {"a": value}
    assert is_deep(value) == deep


def test_the_nearest_word_is_named() -> None:
    assert nearest("temprature", ["temperature", "seed"]) == "did you mean 'temperature'?"
    assert nearest("x", ["temperature", "seed"]) == "known: temperature, seed"
