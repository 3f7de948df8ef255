"""Where the variance of verdicts comes from."""

import itertools
import json
import pathlib

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.meta_evaluation.repeat import (
    RepeatReport,
    judge_repeat,
    records,
    records_of,
    repeat_report,
    spread_of,
)
from harness.old.results.statistics.bootstrap import estimates
from tests.old.observed import Origin, grade
from tests.old.observed import pair as _pair

WORKED = {(0, 0): (8, 8), (1, 0): (6, 6), (0, 1): (6, 8), (1, 1): (3, 3)}
"""The docstring's example: scores by question and model."""
NAN = float("nan")


def variances(report: RepeatReport) -> dict[str, float | None]:
    return {component.facet: component.variance.value for component in report.components}


def missing(report: RepeatReport) -> dict[str, str]:
    return {facet.facet: str(facet.why_not) for facet in report.missing}


def simulated(
    seed: int,
    sizes: tuple[int, int, int, int, int] = (20, 5, 2, 3, 2),
    sds: tuple[float, ...] = (1.0, 0.9, 0.7, 0.5, 0.5, 0.6),
    dropped: float = 0.0,
) -> np.ndarray:
    """Return verdicts on questions × models × orders × judges × repeats; `dropped` is the share that is missing."""
    generator = np.random.default_rng(seed)
    q, m, o, j, _ = sizes
    parts = [(q, 1, 1, 1, 1), (1, m, 1, 1, 1), (q, m, 1, 1, 1), (1, 1, o, 1, 1), (1, 1, 1, j, 1), sizes]
    table = np.full(sizes, 5.0)
    for sd, shape in zip(sds, parts, strict=True):
        table += generator.normal(0, sd, shape)
    kept = np.argwhere(generator.random(sizes) >= dropped)
    return records((a, b, c, d, table[a, b, c, d, e]) for a, b, c, d, e in kept.tolist())


def test_the_worked_line_of_the_docstring() -> None:
    report = repeat_report(records((q, m, 0, 0, s) for (q, m), scores in WORKED.items() for s in scores))
    found = variances(report)
    assert found == pytest.approx({"question": 4, "model": 1.5, "question × model": 0.75, "rest": 0.5, "repeat": 0.5})
    shares = {component.facet: component.share for component in report.components}
    assert shares["model"] == pytest.approx(1.5 / 6.75)
    assert [component.levels for component in report.components] == [2, 2, 4, 8, 4]
    assert missing(report) == {"order": "there is only one order", "judge": "there is only one judge"}
    assert (report.n, report.left_out) == (8, 0)


def test_complete_data_give_the_estimates_of_the_analysis_of_variance() -> None:
    sizes = (6, 4, 2, 3, 2)
    verdicts = simulated(1, sizes)
    table = verdicts["score"].reshape(sizes)
    q, m, o, j = sizes[:4]
    n = table.size
    whole = table.mean()
    by_q, by_m = table.mean(axis=(1, 2, 3, 4)), table.mean(axis=(0, 2, 3, 4))
    by_o, by_j, by_qm = table.mean(axis=(0, 1, 3, 4)), table.mean(axis=(0, 1, 2, 4)), table.mean(axis=(2, 3, 4))
    ss = {
        "q": n / q * ((by_q - whole) ** 2).sum(),
        "m": n / m * ((by_m - whole) ** 2).sum(),
        "qm": n / q / m * ((by_qm - by_q[:, None] - by_m + whole) ** 2).sum(),
        "o": n / o * ((by_o - whole) ** 2).sum(),
        "j": n / j * ((by_j - whole) ** 2).sum(),
    }
    df = {"q": q - 1, "m": m - 1, "qm": (q - 1) * (m - 1), "o": o - 1, "j": j - 1}
    rest = (((table - whole) ** 2).sum() - sum(ss.values())) / (n - 1 - sum(df.values()))
    square = {name: ss[name] / df[name] for name in ss}
    assert variances(repeat_report(verdicts)) == pytest.approx(
        {
            "question": (square["q"] - square["qm"]) / (n / q),
            "model": (square["m"] - square["qm"]) / (n / m),
            "question × model": (square["qm"] - rest) / (n / q / m),
            "order": (square["o"] - rest) / (n / o),
            "judge": (square["j"] - rest) / (n / j),
            "rest": rest,
            "repeat": table.var(axis=4, ddof=1).mean(),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("dropped", [pytest.param(0.0, id="complete"), pytest.param(0.5, id="half-is-missing")])
def test_estimates_are_right_on_average(dropped: float) -> None:
    true = [1.0, 0.81, 0.49, 0.25, 0.25, 0.36, 0.36]
    found = np.array(
        [
            [component.variance.value for component in repeat_report(verdicts, resamplings=2).components]
            for verdicts in (simulated(seed, (20, 8, 4, 5, 2), dropped=dropped) for seed in range(100))
        ],
        dtype=np.float64,
    )
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - true) < 3.5 * error).all()


def test_leaving_a_question_out_is_done_right() -> None:
    """The interval must be that of pseudo-values from estimates that were computed afresh without each question."""
    verdicts = simulated(3, (12, 4, 2, 3, 2), dropped=0.3)
    report = repeat_report(verdicts)
    value = np.array(list(variances(report).values()), dtype=np.float64)
    afresh = [
        list(variances(repeat_report(verdicts[verdicts["question"] != q], resamplings=2)).values()) for q in range(12)
    ]
    without = np.array(afresh, dtype=np.float64)
    pseudo = value + 11 * (without.mean(axis=0) - without)
    expected = estimates(pseudo, np.ones(pseudo.shape), [None] * 12)
    for at, component in enumerate(report.components):
        assert component.variance.low == pytest.approx(expected[at].low)
        assert component.variance.high == pytest.approx(expected[at].high)


def test_the_order_of_rows_and_the_numbers_of_levels_change_nothing() -> None:
    verdicts = simulated(4, dropped=0.2)
    shuffled = np.random.default_rng(0).permutation(verdicts)
    for name in ("model", "judge"):
        shuffled[name] = 100 - 7 * shuffled[name]
    first, second = (variances(repeat_report(rows, resamplings=2)) for rows in (verdicts, shuffled))
    assert second == pytest.approx(first)


def test_adding_a_constant_or_a_unit_changes_what_it_must() -> None:
    verdicts = simulated(5, dropped=0.2)
    changed = verdicts.copy()
    changed["score"] = 1000 + 10 * verdicts["score"]
    first, second = (variances(repeat_report(rows, resamplings=2)) for rows in (verdicts, changed))
    assert second == pytest.approx({facet: 100 * (value or 0) for facet, value in first.items()})


@pytest.mark.parametrize(
    ("sizes", "lacking"),
    [
        pytest.param((6, 3, 1, 1, 2), {"order": "only one order", "judge": "only one judge"}, id="repeats-only"),
        pytest.param(
            (6, 3, 1, 1, 1),
            {
                "question × model": "separated from rest: no answer was judged twice",
                "order": "one order",
                "judge": "one judge",
                "repeat": "--samples",
            },
            id="each-once",
        ),
        pytest.param(
            (6, 1, 1, 1, 2),
            {"model": "one model", "question × model": "one model", "order": "one order", "judge": "one judge"},
            id="one-model",
        ),
        pytest.param((6, 3, 2, 1, 1), {"judge": "only one judge", "repeat": "--samples"}, id="orders-only"),
        pytest.param((6, 3, 2, 2, 1), {"repeat": "--samples"}, id="orders-and-judges"),
        pytest.param((6, 3, 2, 2, 2), {}, id="everything"),
    ],
)
def test_what_the_data_lack_is_named_and_not_zero(
    sizes: tuple[int, int, int, int, int], lacking: dict[str, str]
) -> None:
    report = repeat_report(simulated(6, sizes), resamplings=2)
    assert missing(report).keys() == lacking.keys()
    for facet, part in lacking.items():
        assert part in missing(report)[facet]
    facets = {"question", "model", "question × model", "order", "judge", "rest", "repeat"}
    assert variances(report).keys() == facets - lacking.keys()


def test_two_facets_that_go_together_are_not_both_estimated() -> None:
    verdicts = simulated(7, (8, 3, 2, 1, 2))
    verdicts["judge"] = verdicts["order"]
    report = repeat_report(verdicts, resamplings=2)
    assert missing(report) == {"judge": "it cannot be separated from the facets before it: their levels coincide"}


def test_a_variance_below_zero_is_kept_and_its_share_is_none_of_it() -> None:
    noise = simulated(10, (30, 3, 2, 2, 2), (1.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    below = [c for c in repeat_report(noise, resamplings=2).components if (c.variance.value or 0) < 0]
    assert below
    assert {component.share for component in below} == {0.0}


def test_verdicts_without_a_score_are_left_out() -> None:
    rows = [(q, m, 0, 0, s) for (q, m), scores in WORKED.items() for s in scores]
    report = repeat_report(records([*rows, (0, 0, 0, 0, NAN)]))
    assert (report.n, report.left_out) == (8, 1)
    assert variances(report)["question"] == pytest.approx(4)
    empty = repeat_report(records([(0, 0, 0, 0, NAN)]))
    assert (empty.components, empty.n, empty.left_out, len(empty.missing)) == ([], 0, 1, 7)


def test_grades_as_records() -> None:
    rows = [
        grade(q, 1, model, score, Origin(judge, sample=sample))
        for q, model, judge, sample, score in [(81, "x", "a", 0, 7), (81, "x", "a", 1, None), (82, "y", "b", 0, 3)]
    ]
    found = records_of(rows)
    assert [tuple(row)[:4] for row in found.tolist()] == [(0, 0, 0, 0), (0, 0, 0, 0), (1, 1, 0, 1)]
    np.testing.assert_array_equal(found["score"], [7, NAN, 3])


def test_pairs_as_records_are_turned_one_way() -> None:
    rows = [
        _pair(1, 1, "x", "y", ("model_1", "tie"), Origin("a")),
        _pair(1, 1, "y", "x", ("model_1", None), Origin("b")),
    ]
    found = records_of(rows)
    assert found[["question", "model", "order", "judge"]].tolist() == [
        (0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1), (0, 0, 0, 1),
    ]  # fmt: skip
    np.testing.assert_array_equal(found["score"], [1, 0.5, 0, NAN])


def test_a_taste_for_the_first_place_is_variance_of_the_order() -> None:
    rows = [
        _pair(q, 1, *pair, ("model_1", "model_1" if q % 4 == 0 else "model_2"), Origin("a"))
        for q in range(20)
        for pair in itertools.combinations("xyz", 2)
    ]
    found = variances(repeat_report(records_of(rows), resamplings=2))
    assert (found["order"] or 0) > 0.2
    assert abs(found["model"] or 0) < 0.01


def test_turns_are_not_mixed() -> None:
    rows = [grade(1, turn, "x", 7, Origin("a")) for turn in (1, 2)]
    with pytest.raises(UsageError, match="one turn at a time; choose one with --turns: 1, 2"):
        records_of(rows)


def test_the_same_seed_gives_the_same_digits() -> None:
    verdicts = simulated(9, (40, 3, 2, 2, 2))
    assert repeat_report(verdicts, resamplings=300, seed=4) == repeat_report(verdicts, resamplings=300, seed=4)


def test_a_decision_study_recovers_the_variances_of_a_difference() -> None:
    report = repeat_report(simulated(1, (400, 4, 1, 1, 3)), resamplings=2)
    spread = spread_of(report, paired=False)
    assert spread is not None
    assert spread.between == pytest.approx(2 * 0.7**2, rel=0.1)
    assert spread.noise == pytest.approx(2 * 0.6**2, rel=0.1)
    assert spread_of(repeat_report(simulated(1, (20, 4, 1, 1, 1)), resamplings=2), paired=False) is None


def test_the_report_says_what_a_sample_and_more_questions_bring(tmp_path: pathlib.Path) -> None:
    own = {"judge": ["j", "single-v1"], "turn": 1}
    places = itertools.product(range(20), "xyz", range(2))
    rows = [{"question_id": q, "model": m, "score": 5 + (q * 7 + s) % 4, "sample": s, **own} for q, m, s in places]
    path = tmp_path / "j_single.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    report = judge_repeat(input_file=path)
    designs = report.more["designs"]
    assert [(row["questions"], row["samples"]) for row in designs] == [(20, 1), (20, 2), (60, 1), (40, 1)]
    assert any("a second sample lowers that to" in note and "40 more questions to" in note for note in report.notes)
    assert {row["facet"]: row["levels_are"] for row in report.rows}["question"] == "a sample"
