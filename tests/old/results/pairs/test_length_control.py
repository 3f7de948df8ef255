"""Length-controlled win rates: our own fit, and the one that is compatible with alpaca_eval's."""

import csv
import gzip
import io
import pathlib

import numpy as np
import pytest

from harness.old.errors import DataError, UsageError
from harness.old.results.matrix import Floats, Pairs
from harness.old.results.pairs.length_control import (
    GAMED_WEIGHT,
    USUAL_C,
    ControlTable,
    Gamed,
    length_controlled,
    read_gamed,
)


def table(*models: Floats) -> Pairs:
    """Return pairs of models with the baseline, which is named second; each on questions 0, 1, ..."""
    share = np.concatenate(models)
    question = np.concatenate([np.arange(len(own)) for own in models])
    model = np.concatenate([np.full(len(own), at) for at, own in enumerate(models)])
    names = (*(f"m{at}" for at in range(len(models))), "base")
    won = np.where(np.isnan(share), np.nan, (1 + np.sign(share - 0.5)) / 2)
    ids = tuple(range(max(map(len, models))))
    ones = np.ones(len(share), dtype=np.int64)
    return Pairs(ids, (None,) * len(ids), names, question, ones, model, ones * len(models), won, share)


def worked() -> tuple[Pairs, Floats, Floats]:
    """Return the example of the docstring."""
    longer = np.repeat([True, False], 50)
    return table(np.where(longer, 0.9, 0.6)), np.where(longer, 600.0, 400.0), np.full(100, 500.0)


def test_the_worked_line_of_the_docstring() -> None:
    (row,) = length_controlled(*worked(), "base", resamplings=0).table.lines
    assert (row.fields["rate"].value, row.fields["length"], row.fields["model_term"]) == pytest.approx(
        (0.7789, -1.1177, 1.2591), abs=1e-4
    )
    assert row.fields["difficulty"] is None
    assert row.fields["c"] == USUAL_C


def test_which_of_the_two_a_row_names_first_changes_nothing() -> None:
    pairs, own, other = worked()
    turned = pairs._replace(
        model_1=pairs.model_2, model_2=pairs.model_1, outcome=1 - pairs.outcome, weighed=1 - pairs.share
    )
    one = length_controlled(pairs, own, other, "base", resamplings=0).table.lines[0]
    two = length_controlled(turned, other, own, "base", resamplings=0).table.lines[0]
    assert one.fields["rate"].value == pytest.approx(two.fields["rate"].value, abs=1e-12)


def test_the_order_of_rows_changes_no_digit() -> None:
    rng = np.random.default_rng(3)
    pairs, own = table(rng.random(60)), rng.integers(100, 900, 60).astype(float)
    other = rng.integers(100, 900, 60).astype(float)
    found = length_controlled(pairs, own, other, "base", resamplings=500).table.lines[0].fields["rate"]
    at = rng.permutation(60)
    mixed = pairs._replace(question=pairs.question[at], outcome=pairs.outcome[at], weighed=pairs.share[at])
    again = length_controlled(mixed, own[at], other[at], "base", resamplings=500).table.lines[0].fields["rate"]
    assert (found.value, found.low, found.high) == pytest.approx((again.value, again.low, again.high), abs=1e-12)


def test_rows_without_a_verdict_are_predicted_and_those_without_an_answer_left_out() -> None:
    pairs, own, other = worked()
    share = pairs.share.copy()
    share[[0, 1]] = np.nan
    own[[2, 3, 4]] = np.nan
    (row,) = length_controlled(pairs._replace(weighed=share), own, other, "base", resamplings=0).table.lines
    assert (row.fields["n"], row.fields["without_verdict"], row.fields["without_length"]) == (97, 2, 3)


def test_a_model_that_wins_everything_has_a_rate() -> None:
    pairs, own, other = worked()
    (row,) = length_controlled(pairs._replace(weighed=np.ones(100)), own, other, "base").table.lines
    assert row.fields["rate"].value is not None
    assert 0.95 < row.fields["rate"].value < 1


def test_two_models_are_compared_on_their_questions() -> None:
    rng = np.random.default_rng(0)
    luck = rng.random(120) * 0.4
    pairs = table(luck + 0.5, luck + 0.1, luck + 0.12)
    lengths = rng.integers(100, 900, 360).astype(float)
    found = length_controlled(pairs, lengths, np.full(360, 500.0), "base", resamplings=500)
    told = {(pair.model_1, pair.model_2): pair for pair in found.pairs.pairs}
    assert told["m0", "m1"].told_apart
    assert told["m0", "m1"].difference.value == pytest.approx(0.4, abs=0.03)
    low, high = told["m0", "m1"].difference.low, told["m0", "m1"].difference.high
    assert low is not None
    assert high is not None
    assert high - low < 0.1


def test_the_interval_includes_the_fit() -> None:
    """The interval is as wide as what refits on drawn questions give."""
    rng = np.random.default_rng(7)
    apart = rng.normal(0, 400, 200)
    share = 1 / (1 + np.exp(-(2 * np.tanh(apart / 400) - 0.5 + rng.normal(0, 1.5, 200))))
    own, other = 1000 + apart, np.full(200, 1000.0)
    rate = length_controlled(table(share), own, other, "base").table.lines[0].fields["rate"]
    drawn = []
    for _ in range(200):
        at = rng.integers(0, 200, 200)
        drawn.append(
            length_controlled(table(share[at]), own[at], other, "base", resamplings=0)
            .table.lines[0]
            .fields["rate"]
            .value
            or 0.0
        )
    assert rate.low is not None
    assert rate.high is not None
    assert rate.high - rate.low == pytest.approx(2 * 1.96 * float(np.std(drawn)), rel=0.2)


def test_a_rate_that_the_penalty_holds_at_a_half_is_no_surer_than_the_raw_one() -> None:
    share, own = np.tile([0.1, 0.7, 0.9, 0.3], 3), np.tile([400.0, 650.0, 500.0], 4)
    (row,) = length_controlled(table(share), own, np.full(12, 500.0), "base").table.lines
    assert row.fields["model_term"] == 0.0
    rate = row.fields["rate"]
    assert rate.value == 0.5
    raw = 2.201 * float(np.std(share, ddof=1)) / 12**0.5  # t with 11 degrees of freedom
    assert rate.high - rate.value == pytest.approx(raw, rel=0.3)


@pytest.mark.parametrize("judged", [pytest.param(1, id="one"), pytest.param(4, id="four")])
def test_questions_without_a_verdict_make_the_fit_no_surer(judged: int) -> None:
    share = np.full(25, np.nan)
    share[:judged] = [0.9, 0.8, 0.7, 0.9][:judged]
    lengths = np.linspace(300.0, 700.0, 25)
    (row,) = length_controlled(table(share), lengths, np.full(25, 500.0), "base").table.lines
    assert (row.fields["n"], row.fields["without_verdict"]) == (25, 25 - judged)
    assert (row.fields["rate"].low, row.fields["rate"].high) == (None, None)


def test_the_mix_of_categories_is_resampled_too_unless_it_is_taken_as_given() -> None:
    pairs, own, other = worked()
    share = np.where(np.arange(100) % 2, 0.9, 0.5)
    pairs = pairs._replace(weighed=share, groups=tuple("easy" if at % 2 else "hard" for at in range(100)))

    def width(pairs: Pairs) -> float:
        rate = length_controlled(pairs, own, other, "base").table.lines[0].fields["rate"]
        return float(rate.high - rate.low)

    assert width(pairs) > 10 * width(pairs._replace(fixed_mix=True))


def test_without_difficulties_the_term_is_left_out_and_said_so() -> None:
    found = length_controlled(*worked(), "base", resamplings=0)
    assert "no term for the difficulty of questions" in found.note
    zeros = np.zeros(4)
    known = Gamed(zeros, zeros, zeros + 0.5, {at: at / 100 for at in range(100)})
    with_it = length_controlled(*worked(), "base", gamed=known, places={q: q for q in range(100)}, resamplings=0)
    assert with_it.table.lines[0].fields["difficulty"] is not None
    assert "difficulty of the question" in with_it.note
    other_set = length_controlled(*worked(), "base", gamed=known, places={q: q + 5 for q in range(100)}, resamplings=0)
    assert other_set.table.lines[0].fields["difficulty"] is None
    assert "no term for the difficulty of questions" in other_set.note


def test_a_baseline_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no pair with the baseline 'gpt'; the models are: base, m0"):
        length_controlled(*worked(), "gpt")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("preference,index\n0.5,0\n", "lacks the column 'std_delta_len'", id="column"),
        pytest.param(
            "preference,index,std_delta_len,instruction_difficulty\nx,0,1,1\n", "not a file of gamed rows", id="number"
        ),
        pytest.param(
            "preference,index,std_delta_len,instruction_difficulty\n1.5,0,1,1\n", "preferences from 0 to 1", id="range"
        ),
    ],
)
def test_a_file_that_is_not_what_it_must_be_is_named(tmp_path: pathlib.Path, text: str, fault: str) -> None:
    (tmp_path / "df_gamed.csv").write_text(text)
    with pytest.raises(DataError, match=fault) as raised:
        read_gamed(tmp_path / "df_gamed.csv")
    assert "df_gamed.csv" in str(raised.value)


class Published:
    """The published rows of each model."""

    def __init__(self, folder: pathlib.Path) -> None:
        lines = (folder / "official_values.csv").read_text().splitlines()
        self.official = {row["model"]: row for row in csv.DictReader(lines)}
        text = gzip.decompress((folder / "lc_rows.csv.gz").read_bytes()).decode()
        self.rows = list(csv.DictReader(io.StringIO(text)))
        self.gamed = read_gamed(folder / "df_gamed_reconstructed.csv.gz")

    def controlled(self, model: str, c: float = USUAL_C, *, compatible: bool = False) -> ControlTable:
        own = [row for row in self.rows if row["model"] == model]
        question = np.array([int(row["instruction_index"]) for row in own])
        share = np.array([float(row["preference"]) - 1 if row["preference"] else np.nan for row in own])
        n, ids = len(own), tuple(range(805))
        zero = np.zeros(n, dtype=np.int64)
        side = np.where(np.isnan(share), np.nan, (1 + np.sign(share - 0.5)) / 2)
        pairs = Pairs(ids, (None,) * 805, ("m", "base"), question, zero + 1, zero, zero + 1, side, share)
        length, of_base = (np.array([float(row[f"len_{name}"]) for row in own]) for name in ("model", "baseline"))
        return length_controlled(
            pairs, length, of_base, "base", gamed=self.gamed, places={q: q for q in ids}, c=c, compatible=compatible,
            resamplings=0,
        )  # fmt: skip


@pytest.mark.reference
def test_the_own_fit_gives_the_leaderboard_at_its_c(reference_data: pathlib.Path) -> None:
    published = Published(reference_data / "alpaca_eval")
    assert GAMED_WEIGHT == 0.1
    for model, row in published.official.items():
        c = float(row["pkg_C" if model == "NullModel" else "C_of_weights"])  # that row and its weights differ in C
        found = published.controlled(model, c).table.lines[0].fields["rate"].value or 0.0
        wanted = 14.96 if model == "gpt35_turbo_instruct" else float(row["length_controlled_winrate"])
        assert 100 * found == pytest.approx(wanted, abs=0.02), model


@pytest.mark.reference
def test_the_compatible_fit_gives_the_digits_of_alpaca_eval(reference_data: pathlib.Path) -> None:
    pytest.importorskip("sklearn")
    published = Published(reference_data / "alpaca_eval")
    for model in ("claude-2", "vicuna-7b", "gpt35_turbo_instruct"):
        row = published.official[model]
        (found,) = published.controlled(model, compatible=True).table.lines
        assert found.fields["c"] == pytest.approx(float(row["pkg_C"]))
        assert 100 * (found.fields["rate"].value or 0.0) == pytest.approx(
            float(row["pkg_length_controlled_winrate"]), abs=1e-6
        )
        assert 100 * (found.fields["spread_error"] or 0.0) == pytest.approx(
            float(row["pkg_lc_standard_error"]), abs=1e-6
        )
