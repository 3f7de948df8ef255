"""Numbers that cannot be are refused from Python as they are on the command line, before anything is done."""

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import harness
from harness import AnswerOptions, JudgeOptions, RunOptions
from harness.old.errors import UsageError
from tests.old.small_bench import question, small_bench

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("options", "name", "value", "wanted"),
    [
        (AnswerOptions, "num_choices", 0, "a whole number from 1"),
        (AnswerOptions, "num_choices", 10**29, "a whole number from 1 to 10000"),
        (AnswerOptions, "user_samples", 10_001, "a whole number from 1 to 10000"),
        (AnswerOptions, "seed", "1", "a whole number"),
        (AnswerOptions, "params", 3, "a mapping"),
        (JudgeOptions, "samples", 10**29, "a whole number from 1 to 10000"),
        (JudgeOptions, "turns", (), "whole numbers from 1"),
        (AnswerOptions, "num_choices", "2", "a whole number from 1"),
        (AnswerOptions, "num_choices", 2.0, "a whole number from 1"),
        (AnswerOptions, "num_choices", True, "a whole number from 1"),
        (AnswerOptions, "temperature", NAN, "a number from 0 to 2"),
        (AnswerOptions, "temperature", "hot", "a number from 0 to 2"),
        (AnswerOptions, "top_p", INFINITE, "a number above 0, at most 1"),
        (AnswerOptions, "max_tokens", 0, "a whole number from 1"),
        (AnswerOptions, "timeout", 0, "a number of seconds above 0"),
        (AnswerOptions, "user_turns", 0, "a whole number from 1"),
        (JudgeOptions, "samples", 0, "a whole number from 1"),
        (JudgeOptions, "turns", (0,), "whole numbers from 1"),
        (JudgeOptions, "retry_cut", 0, "a number from 1 to 100"),
        (RunOptions, "parallel", 0, "a whole number from 1"),
        (RunOptions, "parallel", 10**400, "a whole number from 1 to 100,000"),
        (RunOptions, "rpm", 1e-300, "a number of calls in a minute, at least 0.0006"),
        (RunOptions, "rpm", 0.0005, "a number of calls in a minute, at least 0.0006"),
        (RunOptions, "tpm", 5e-324, "a number of tokens in a minute, at least 1"),
        (RunOptions, "processes", 10**24, "a whole number from 1 to 4,096"),
        (RunOptions, "max_cost", -1.0, "an amount of dollars from 0"),
        (RunOptions, "max_cost", NAN, "an amount of dollars from 0"),
        (RunOptions, "gpus_per_model", 1.5, "a whole number from 1, or a share of a GPU"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options: Callable[..., Any], name: str, value: Any, wanted: str) -> None:
    with pytest.raises(UsageError, match=f"^{name} must be {wanted}.*, this is "):
        options(**{name: value})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"first_n": -1}, "first_n must be a whole number from 1, this is -1"),
        ({"sample_n": 0}, "sample_n must be a whole number from 1, this is 0"),
        ({"question_begin": -2}, "question_begin must be a whole number from 0, this is -2"),
        ({"temperature": 3}, "temperature must be a number from 0 to 2, this is 3"),
    ],
)
def test_no_answer_is_made_for_a_slice_that_cannot_be(
    tmp_path: pathlib.Path, words: dict[str, Any], message: str
) -> None:
    bench = small_bench(tmp_path, question(1), question(2))
    with pytest.raises(UsageError, match=message):
        harness.gen_answer("builtin/eliza", bench.name, data_dir=tmp_path, **words)
    assert not (bench.folder / "model_answer").exists()


def test_numbers_of_numpy_and_one_name_in_place_of_a_list_will_do(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1), question(2))
    of: dict[str, Any] = {"bench_name": bench.name, "data_dir": tmp_path}
    assert harness.gen_answer("builtin/eliza", first_n=np.int64(1), **of).tally.done == 1
    harness.gen_judgment("builtin/overlap", model_list="builtin/eliza", first_n=1, turns=range(1, 3), **of)
    (row,) = harness.show_result(model_list="builtin/eliza", turns=(1, 2), **of).rows()
    assert row["n"] == 2


@pytest.mark.parametrize("word", ["margin", "difference"])
def test_a_margin_and_a_difference_are_above_0(tmp_path: pathlib.Path, word: str) -> None:
    wrong: dict[str, Any] = {word: -1}
    with pytest.raises(UsageError, match=f"{word} must be a number above 0, this is -1"):
        harness.show_result(data_dir=tmp_path, **wrong)


@pytest.mark.parametrize("turns", ["1", 1, [0], [1.5]])
def test_turns_are_a_list_of_whole_numbers(tmp_path: pathlib.Path, turns: Any) -> None:
    with pytest.raises(UsageError, match=r"turns must be whole numbers from 1, such as \[1, 2\], this is"):
        harness.show_result(turns=turns, data_dir=tmp_path)
