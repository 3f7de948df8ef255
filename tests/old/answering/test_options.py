"""How answers are sampled, and options that cannot work."""

import pathlib

import pytest

from tests.old.answering.answers import answers, made
from tests.old.protocol_server import ProtocolServer
from tests.old.small_bench import question, small_bench

BY_CATEGORY = {
    "writing": 0.7,
    "roleplay": 0.7,
    "extraction": 0.0,
    "math": 0.0,
    "coding": 0.0,
    "reasoning": 0.0,
    "stem": 0.1,
    "humanities": 0.1,
    "gardening": 0.7,
}


@pytest.mark.parametrize(
    ("toml", "forced", "expected"),
    [
        pytest.param("", None, BY_CATEGORY, id="as in MT-Bench"),
        pytest.param("", 0, dict.fromkeys(BY_CATEGORY, 0.0), id="forced to nought"),
        pytest.param("", 1.2, dict.fromkeys(BY_CATEGORY, 1.2), id="forced"),
        pytest.param(
            "[temperatures]\nmath = 1\ngardening = 0.3",
            None,
            {**BY_CATEGORY, "math": 1.0, "gardening": 0.3},
            id="the benchmark's own",
        ),
    ],
)
def test_the_temperature_is_the_categorys(
    tmp_path: pathlib.Path, toml: str, forced: float | None, expected: dict[str, float]
) -> None:
    asked = [question(n, category, turns=[category]) for n, category in enumerate(BY_CATEGORY, 1)]
    bench = small_bench(tmp_path, *asked, toml=toml)
    with ProtocolServer() as server:
        made(server, bench, temperature=forced, top_p=0.9, max_tokens=77)
    assert {asked.texts[0]: asked.body["temperature"] for asked in server.requests} == expected
    assert {(asked.body["top_p"], asked.body["max_tokens"]) for asked in server.requests} == {(0.9, 77)}
    sampling = {row["question_id"]: row["sampling"]["temperature"] for row in answers(bench)}
    assert list(dict(sorted(sampling.items())).values()) == list(expected.values())


def test_choice_k_is_sampled_with_seed_plus_k(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    with ProtocolServer(lambda asked: f"seed {asked.body['seed']}") as server:
        made(server, bench, num_choices=3, seed=10)
    (row,) = answers(bench)
    assert [(c["index"], c["turns"]) for c in row["choices"]] == [(k, [f"seed {10 + k}"] * 2) for k in range(3)]
    assert [c["details"][0]["sampling_applied"]["seed"] for c in row["choices"]] == [10, 11, 12]
    assert row["sampling"]["seed"] == 10
