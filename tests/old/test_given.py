"""Wrong arguments from Python: one clear error of our own, whatever they are."""

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import harness
from harness.old.answering.options import AnswerOptions
from harness.old.bounds import COUNT
from harness.old.errors import UsageError
from harness.old.given import misfit
from tests.old.small_bench import question, small_bench

untyped: Any = harness
NAMES, PATHS = str | Sequence[str] | None, pathlib.Path | str
ODD = [0, -1, 1.5, float("nan"), True, b"x", [None], {"a": 1}, object(), "\0", "\ud800", "a" * 5000, 10**400]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (None, NAMES),
        ("a", NAMES),
        (["a"], NAMES),
        (("a",), NAMES),
        ({"a": 1}.keys(), NAMES),
        (np.array(["a"]), NAMES),
        (pathlib.Path("a"), PATHS),
        ("s3://bucket/data", PATHS),
        (np.int64(3), int),
        (np.float64(3), float),
        (3, float),
        (3, Annotated[int, COUNT] | None),
        ({"a": 1}, Mapping[str, Any]),
        (len, Callable[[str], int]),
        (AnswerOptions(), AnswerOptions | None),
        ("mean", Literal["mean", "min"] | None),
        (1, bool),
        (object(), Any),
    ],
)
def test_what_fits(value: Any, hint: Any) -> None:
    assert misfit(value, hint) is None


@pytest.mark.parametrize(
    ("value", "hint", "said"),
    [
        (None, str, "a text"),
        (b"x", str, "a text"),
        (5, NAMES, "a text or a list of texts"),
        ([5], NAMES, "a text or a list of texts"),
        ("abc", Sequence[str], "a list of texts"),
        ("a\0b", PATHS, "a path"),
        ("\ud800", PATHS, "a path"),
        ("a" * 300, PATHS, "a path"),
        (3, Sequence[pathlib.Path | str], "a list of paths"),
        (True, int, "a whole number"),
        (2.0, int, "a whole number"),
        ("2", float, "a number"),
        ([], Literal["mean", "min"] | None, '"mean" or "min"'),
        ([("a", 1)], Mapping[str, Any], "a mapping"),
        ("len", Callable[[str], int] | None, "a function"),
        ({}, AnswerOptions | None, "of the type AnswerOptions"),
    ],
)
def test_what_does_not_is_told(value: Any, hint: Any, said: str) -> None:
    assert misfit(value, hint) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: untyped.show_result(bench_name=5), "bench_name must be a text, this is 5"),
        (lambda: untyped.show_result(input_file="a\0b"), "input_file must be a path or a list of paths, this is"),
        (lambda: untyped.show_result(turns=[]), r"turns must be whole numbers from 1, .* this is \[\]"),
        (lambda: untyped.gen_answer(None), "model must be a text or a list of texts, this is None"),
        (lambda: untyped.gen_answer("m", options={}), "options must be of the type AnswerOptions"),
        (lambda: untyped.gen_answer("m", seed="1"), "seed must be a whole number, this is '1'"),
        (lambda: untyped.gen_judgment("j", turns=1.5), "turns must be whole numbers from 1"),
        (lambda: untyped.gen_judgment("j", criterion=5), "criteria must be a list of texts"),
        (lambda: untyped.show_cost(model_list="abc"), "model_list must be a list of texts, this is 'abc'"),
        (lambda: untyped.load_bench(None), "name must be a text, this is None"),
        (lambda: untyped.check_bench(3), "which must be a path, this is 3"),
        (lambda: untyped.judge_repeat(data_dir=None), "data_dir must be a path, this is None"),
    ],
)
def test_the_error_names_the_argument(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError, match=f"^{said}"):
        call()


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:20] if value != 10**400 else "huge")
@pytest.mark.parametrize(
    ("name", "good", "words"),
    [
        (
            "show_result",
            {},
            "input_file judge_model judge_set criterion model_list exclude bench_name data_dir by against",
        ),
        ("judge_repeat", {}, "input_file judge_model judge_set criterion model_list exclude bench_name data_dir by"),
        ("show_cost", {}, "input_file judge_model model_list models_file bench_name data_dir"),
        ("gen_answer", {"model": "builtin/eliza"}, "model bench_name data_dir options params system history"),
        ("gen_judgment", {"judge_model": "builtin/overlap"}, "judge_model model_list judge_set turns votes criterion"),
        ("check_bench", {}, "which data_dir"),
        ("load_judge_set", {}, "name bench_folder"),
    ],
)
def test_only_our_own_errors_come_out(
    name: str, good: dict[str, Any], words: str, value: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small_bench(tmp_path / "data", question(1), name="mt_bench")
    for word in words.split():
        told = ""
        try:
            getattr(harness, name)(**{**good, word: value})
        except harness.TurnbenchError as error:
            told = str(error)
        assert "\n" not in told
