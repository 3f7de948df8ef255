"""Names as file names."""

import pathlib
import random
import re

import pytest

from harness.old.errors import UsageError
from harness.old.names import MOST_BYTES, check_bench_name, check_model_name, file_stem, name_of

ODD_NAMES = [
    "gpt-4o",
    "org/model",
    "org/model:latest",
    r"c:\models\one",
    "../../etc/passwd",
    "..",
    ".",
    ".hidden",
    "a.b.",
    "100%",
    "%2F",
    "%252F",
    "%2e",
    "a%20b",
    "%",
    "%%",
    "a\nb\tc",
    "\x1b[31mred",
    "\x7f",
    "a\x85b",
    "模型/通义千问",
    "модель",
    "🦙 3",
    "e\u0301",
    " leading and trailing ",
    "a@b#1_single",
    "~",
    "-rf",
    "CON",
]


def random_names(number: int) -> list[str]:
    """Return names made of the pieces that escaping cares about, the same ones every time."""
    pieces = [
        "%",
        "2F",
        "2f",
        "25",
        "2E",
        "00",
        "85",
        ".",
        "/",
        "\\",
        ":",
        "\x01",
        "\x1f",
        "\x7f",
        "\x9f",
        "a",
        "Z",
        "模",
        " ",
    ]
    draw = random.Random(1)
    return [name for _ in range(number) if (name := "".join(draw.choices(pieces, k=draw.randint(1, 12)))).strip()]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_comes_back_from_its_file_name(name: str) -> None:
    assert name_of(file_stem(name)) == name


def test_any_mixture_comes_back_and_no_two_share_a_file() -> None:
    names = {*random_names(5000), *ODD_NAMES}
    stems = {name: file_stem(name) for name in names}
    assert all(name_of(stem) == name for name, stem in stems.items())
    assert len(set(stems.values())) == len(names)


@pytest.mark.parametrize("name", [*ODD_NAMES, *random_names(300)])
def test_a_file_name_stays_in_its_folder(name: str, tmp_path: pathlib.Path) -> None:
    stem = file_stem(name)
    assert not re.search(r"[/\\:\x00-\x1f\x7f-\x9f]", stem)
    assert not stem.startswith(".")
    path = tmp_path / f"{stem}.jsonl"
    path.touch()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        pytest.param("org/model:7b", "org%2Fmodel%3A7b", id="slash-and-colon"),
        pytest.param("a\\b", "a%5Cb", id="backslash"),
        pytest.param("50%", "50%25", id="percent"),
        pytest.param(".env", "%2Eenv", id="leading-dot"),
        pytest.param("v1.5", "v1.5", id="inner-dot"),
        pytest.param("a\nb", "a%0Ab", id="newline"),
        pytest.param("通义千问", "通义千问", id="chinese"),
        pytest.param("a b@c#d", "a b@c#d", id="left-alone"),
    ],
)
def test_escaping_is_stable(name: str, stem: str) -> None:
    assert file_stem(name) == stem


@pytest.mark.parametrize(
    "stem",
    [
        pytest.param("a%20b", id="space-is-never-escaped"),
        pytest.param("a%2fb", id="lower-case"),
        pytest.param("a%2Eb", id="inner-dot"),
        pytest.param("%2Fa%20b", id="one-of-two"),
        pytest.param("a:b%2Fc", id="beside-a-character-that-would-be-escaped"),
        pytest.param("%00", id="nul"),
        pytest.param("%C3%A9", id="utf-8-bytes"),
        pytest.param("100%", id="bare-percent"),
        pytest.param("openai--gpt-4", id="plain"),
        pytest.param(".hidden", id="dot"),
    ],
)
def test_a_file_name_that_we_never_write_is_the_name_itself(stem: str) -> None:
    assert name_of(stem) == stem


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("", "name is empty; give one", id="empty"),
        pytest.param(" \t", "name is empty; give one", id="blank"),
        pytest.param("a\0b", r"'a\\x00b' holds a NUL character", id="nul"),
        pytest.param("x" * 201, "is over 200 bytes long; give a shorter one", id="too-long"),
        pytest.param("模" * 67, "is over 200 bytes long", id="too-long-in-bytes"),
        pytest.param(
            "/" * 80, r"over 220 bytes long as a file name, in which .* take three each", id="too-long-escaped"
        ),
        pytest.param("a\udcff", r"'a\\udcff' is not valid UTF-8 text", id="not-text"),
    ],
)
def test_what_no_model_can_be_called(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_model_name(name)
    with pytest.raises(UsageError, match=message):
        file_stem(name)


@pytest.mark.parametrize("name", ["x" * MOST_BYTES, "模" * 66, "org/" + "x" * 196])
def test_the_longest_names_fit_a_file_name(name: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / f"{file_stem(name)}_single.jsonl.holder").touch()


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ".",
        "..",
        ".turnbench",
        "a/b",
        "/etc",
        "../data",
        "a\\b",
        "c:",
        "a%2Fb",
        "a\nb",
        "a\0b",
        "data/mt_bench/",
    ],
)
def test_a_bench_name_is_no_path(name: str) -> None:
    with pytest.raises(UsageError, match=r"is not a plain folder name; use --data-dir"):
        check_bench_name(name)


def test_a_bench_name_that_no_folder_can_have_is_refused() -> None:
    with pytest.raises(UsageError, match="over 200 bytes"):
        check_bench_name("x" * 300)
    with pytest.raises(UsageError, match="not valid UTF-8"):
        check_bench_name("\udcff")


@pytest.mark.parametrize("name", ["mt_bench", "mt-bench 2.0", "基准", "x" * 200])
def test_a_plain_bench_name_is_returned(name: str) -> None:
    assert check_bench_name(name) == name
