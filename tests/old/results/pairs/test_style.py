import json
import math
import pathlib
from typing import Any

import numpy as np
import pytest

from harness.cli.main import main
from harness.old.errors import UsageError
from harness.old.judgments.case import WIN
from harness.old.judgments.observations import Observations
from harness.old.records import Observation, Source
from harness.old.results.matrix import Floats, Pairs
from harness.old.results.matrix import pairs as pair_arrays
from harness.old.results.pairs.bradley_terry import POINTS
from harness.old.results.pairs.style import Styled, counted, relative_difference, styled
from tests.old.small_bench import answer, question, small_bench, write

TEXT = "# Title\n\nSome **bold** words.\n- one\n- two\n3. three\n```\n# no header\n- no item\n```\n#hash __strong__"


def pairs_of(*games: tuple[int, str, str, float], method: str = "text") -> Pairs:
    source = Source("j", form="pair", method=method)
    return pair_arrays(
        Observations.of(Observation(q, 1, one, other, WIN, won, (won,), source) for q, one, other, won in games)
    )


def simulated(
    strengths: dict[str, float], slope: float, questions: int = 60, seed: int = 0, method: str = "text"
) -> tuple[Pairs, Floats]:
    """Return pairs of every two models on every question, and how they differ in length."""
    generator = np.random.default_rng(seed)
    names = list(strengths)
    length = {
        (q, name): 100 * math.exp(0.5 * generator.standard_normal() + 0.3 * strengths[name])
        for q in range(questions)
        for name in names
    }
    games, z = [], []
    for q in range(questions):
        for at, one in enumerate(names):
            for other in names[at + 1 :]:
                apart = (length[q, one] - length[q, other]) / (length[q, one] + length[q, other])
                p = 1 / (1 + math.exp(-(strengths[one] - strengths[other] + slope * apart)))
                games.append((q, one, other, p if method == "logprobs" else float(generator.random() < p)))
                z.append(apart)
    return pairs_of(*games, method=method), np.array(z)


def ratings(found: Styled) -> dict[str, float]:
    return {row.model: row.fields["rating"].value or 0.0 for row in found.rows}


def test_what_is_counted_leaves_out_code() -> None:
    assert counted(TEXT) == {"length": len(TEXT), "headers": 1, "lists": 3, "bold": 2}


def test_a_difference_is_relative_and_0_where_there_is_nothing() -> None:
    found = relative_difference(np.array([3.0, 0.0, 1.0, np.nan]), np.array([1.0, 0.0, 0.0, 1.0]))
    assert found[:3].tolist() == [0.5, 0.0, 1.0]
    assert np.isnan(found[3])


def test_the_worked_example() -> None:
    long = [(q, "x", "y", float(q < 60)) for q in range(100)]
    level = [(q, "x", "y", float(q % 2)) for q in range(100, 150)]
    z = np.array([0.5] * 100 + [0.0] * 50)
    found = styled(pairs_of(*long, *level), {"length": z})
    assert found.coefficients["length"].value == pytest.approx(math.log(60 / 40) / 0.5)
    assert ratings(found) == pytest.approx({"x": 1000.0, "y": 1000.0})
    as_is = {row.model: row.fields["as_is"].value for row in found.rows}
    assert as_is["x"] - as_is["y"] == pytest.approx(POINTS * math.log(85 / 65))
    with pytest.raises(UsageError, match="strength and length cannot be separated"):
        styled(pairs_of(*long), {"length": z[:100]})


def test_graded_preferences_enter_as_they_are() -> None:
    pairs, z = simulated({"a": 0.8, "b": 0.1, "c": -0.9}, 1.5, method="logprobs")
    found = styled(pairs, {"length": z})
    assert found.coefficients["length"].value == pytest.approx(1.5, abs=1e-6)
    assert ratings(found) == pytest.approx(
        {"a": 1000 + 0.8 * POINTS, "b": 1000 + 0.1 * POINTS, "c": 1000 - 0.9 * POINTS}
    )


def test_another_model_shifts_nobody_where_anchors_are_named() -> None:
    before, z_before = simulated({"a": 0.5, "b": 0.0, "c": -0.5}, 1.0)
    kept = [
        (int(q), before.models[one], before.models[other], float(won))
        for q, one, other, won in zip(before.question, before.model_1, before.model_2, before.share, strict=True)
    ]
    more = [(q, "d", other, float(q % 3 > 0)) for q in range(60) for other in "abc"]
    after = pairs_of(*kept, *more)
    z_after = np.concatenate([z_before, np.linspace(-1, 1, len(more))])
    anchors = ("a", "b", "c")
    one = styled(before, {"length": z_before}, anchors=anchors)
    other = styled(after, {"length": z_after}, anchors=anchors)
    assert {m: r for m, r in ratings(other).items() if m != "d"} == pytest.approx(ratings(one))
    assert other.coefficients["length"].value == pytest.approx(one.coefficients["length"].value)
    assert {row.model: row.fields["rating"].low for row in other.rows}["a"] == pytest.approx(
        {row.model: row.fields["rating"].low for row in one.rows}["a"]
    )
    together = styled(after, {"length": z_after})
    assert together.coefficients["length"].value != pytest.approx(one.coefficients["length"].value, abs=0.01)


def test_a_pair_of_two_further_models_counts_for_nothing() -> None:
    pairs, z = simulated({"a": 0.5, "b": 0.0, "c": -0.5, "d": 0.2}, 1.0)
    found = styled(pairs, {"length": z}, anchors=("a", "b"))
    assert (found.among_others, found.n) == (60, 300)


def test_the_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    held = []
    for seed in range(40):
        pairs, z = simulated({"a": 0.6, "b": 0.0, "c": -0.6}, 1.2, questions=50, seed=seed)
        found = styled(pairs, {"length": z}, resamplings=500)
        slope = found.coefficients["length"]
        held.append((slope.low or 9) <= 1.2 <= (slope.high or -9))
    assert 34 <= sum(held) <= 40


def test_within_groups_that_are_taken_as_given_ratings_vary_less() -> None:
    games = [(q, "x", "y", float(q % 4 != 0) if q % 2 == 0 else float(q % 8 == 1)) for q in range(80)]
    pairs = pairs_of(*games)._replace(groups=tuple("even" if q % 2 == 0 else "odd" for q in range(80)))

    def width(pairs: Pairs) -> float:
        rating = styled(pairs, {}).rows[0].fields["rating"]
        return float(rating.high - rating.low)

    assert width(pairs._replace(fixed_mix=True)) < 0.99 * width(pairs)


def test_a_model_that_wins_everything_is_named() -> None:
    pairs = pairs_of(
        *[(q, "x", other, 1.0) for q in range(9) for other in "yz"], *[(q, "y", "z", q % 2.0) for q in range(9)]
    )
    with pytest.raises(UsageError, match=r"x decides all of its pairs; leave it out \(--model-list"):
        styled(pairs, {})


def test_the_command_shows_ratings_and_what_style_is_worth(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = small_bench(tmp_path, *(question(q, turns=["Say it."]) for q in range(1, 13)))
    for at, model in enumerate("xyz"):
        texts = {q: "- word\n" * (1 + (q * (at + 2)) % 5) for q in range(1, 13)}
        write(bench.answer_file(model), [answer(q, model, text) for q, text in texts.items()])
    rows: list[dict[str, Any]] = [
        {"question_id": q, "turn": 1, "model_1": one, "model_2": other, "judge": ["j", "t"]}
        | dict.fromkeys(("g1_winner", "g2_winner"), ("model_1", "tie", "model_2")[(q + ord(one)) % 3])
        for q in range(1, 13)
        for one, other in ("xy", "xz", "yz")
        if "z" not in other or q < 6
    ]
    write(bench.folder / "model_judgment" / "j_pair.jsonl", rows)
    words = ["show_result", "--data-dir", str(tmp_path), "--bench-name", "small", "--style", "length"]
    assert main([*words, "--style-anchor", "x", "y", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    shown = json.loads(out)
    assert [row["model"] for row in shown["rows"]][-1] == "z"
    assert "judged on too few questions to be ranked: z (5 of 12 questions)" in err
    assert shown["features"][0]["feature"] == "length"
    assert main(words) == 0
    assert "so an added model changes all ratings" in capsys.readouterr().out
    assert main([*words, "--style-anchor", "nobody"]) == 2
    assert "no pair with nobody; the models are: x, y, z" in capsys.readouterr().err
