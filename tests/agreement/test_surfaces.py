"""Every surface is asked the same questions of random benchmarks, and all answers are equal.

What is true is counted from the rows, in plain loops; the surfaces are Python, JSON, csv, reports
about judges, status, the viewer's Board and Judges, and what is written for other projects.
"""

import csv
import io
import json
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest

import harness
from harness.registry import find
from tests.agreement.benches import GRADER, Small, make
from viewer.app import Views
from viewer.data import Home
from viewer.judges import judge_rows

QUICK = 12
SEEDS = [
    pytest.param(seed, marks=[pytest.mark.slow] if seed >= QUICK else [], id=f"seed {seed}")
    for seed in range(50)
]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module", params=SEEDS)
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Small:
    return make(tmp_path_factory.mktemp("agreement"), request.param)


def report(small: Small, name: str) -> list[dict[str, Any]]:
    """Return the rows of a report about judges, flat."""
    result = harness.judge_report(name, **small.words)
    return parsed(getattr(result, "page", result))


def parsed(page: Any) -> list[dict[str, Any]]:
    """Return the rows of a page as JSON has them."""
    rows: list[dict[str, Any]] = json.loads(find("format", "json")(page))["rows"]
    return rows


def results(small: Small, mode: str, **options: Any) -> Any:
    return harness.show_result(mode, **options, **small.words)


def by_model(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in rows}


def win_rates(small: Small, judge: str) -> dict[str, float]:
    """Return each model's win rate: the mean of its outcomes, a tie half a win."""
    outcomes: dict[str, list[float]] = {model: [] for model in small.models}
    for pair in small.pairs(judge):
        if pair.value is not None:
            outcomes[pair.model_1].append(pair.value)
            outcomes[pair.model_2].append(1 - pair.value)
    return {model: sum(found) / len(found) for model, found in outcomes.items() if found}


def flips(small: Small, judge: str) -> tuple[int, int]:
    """Return the flipped pairs of a judge, and those with two verdicts."""
    both = [pair for pair in small.pairs(judge) if None not in (pair.first, pair.second)]
    return sum({pair.first, pair.second} == {0.0, 1.0} for pair in both), len(both)


def first_share(small: Small, judge: str) -> float | None:
    """Return how many of the decided games the answer shown first won."""
    games = []
    for pair in small.pairs(judge):
        if pair.first is not None and pair.second is not None:
            games += [pair.first, 1 - pair.second]
    won = [game for game in games if game != 0.5]
    return won.count(1.0) / len(won) if won else None


def agreement(small: Small, judge: str) -> tuple[int, int]:
    """Return how often a judge decides as people's votes do, of those that both decided."""
    verdicts = {}
    for pair in small.pairs(judge):
        if pair.value is not None:
            key = pair.question, pair.turn, frozenset((pair.model_1, pair.model_2))
            winner = {1.0: pair.model_1, 0.0: pair.model_2}.get(pair.value)
            verdicts[key] = winner
    agree = total = 0
    for vote in small.votes():
        key = vote["question_id"], vote["turn"], frozenset((vote["model_a"], vote["model_b"]))
        winner = {"model_a": vote["model_a"], "model_b": vote["model_b"]}.get(vote["winner"])
        if winner is not None and verdicts.get(key) is not None:
            total += 1
            agree += winner == verdicts[key]
    return agree, total


def test_win_rates_are_the_same_in_python_json_csv_and_on_the_board(small: Small) -> None:
    for judge in small.judges:
        true = pytest.approx(win_rates(small, judge))
        result = results(small, "pairwise-all", judge_model=judge)
        rows = by_model(result.rows())
        assert {name: row["win_rate_adjusted"] for name, row in rows.items()} == true
        shown = by_model(parsed(result.page))
        assert {name: row["win_rate_adjusted"] for name, row in shown.items()} == true
        text = find("format", "csv")(result.page)
        written = by_model(list(csv.DictReader(io.StringIO(text))))
        assert {name: float(row["win_rate_adjusted"]) for name, row in written.items()} == true


def judges_tab(small: Small) -> dict[str, dict[str, Any]]:
    """Return the rows of the viewer's tab Judges."""
    rows, _ = judge_rows(Home(small.data_dir).data("small"))
    return {row["judge"]: row for row in rows}


def test_flips_are_the_same_on_the_page_in_the_report_and_in_the_tab(small: Small) -> None:
    of_report = {row["group"]: row for row in report(small, "position") if row["by"] == "judge"}
    of_tab = judges_tab(small)
    for judge in small.judges:
        flipped, both = flips(small, judge)
        row = of_report[judge]
        assert (row["biased_first"] + row["biased_second"], row["n"]) == (flipped, both)
        assert row["first_share"] == pytest.approx(first_share(small, judge))
        assert of_tab[judge]["pairs"] == both
        assert of_tab[judge]["flipped"].value == pytest.approx(flipped / both)
        shown = results(small, "pairwise-all", judge_model=judge).rows()
        assert sum(row["flipped"] for row in shown) == 2 * flipped


def test_a_judge_agrees_with_people_equally_often_everywhere(small: Small) -> None:
    if not small.votes():
        return
    of_tab = judges_tab(small)
    of_report = {row["judge"]: row for row in report(small, "judges")}
    for judge in small.judges:
        agree, total = agreement(small, judge)
        if not total:
            continue
        assert of_tab[judge]["compared"] == total
        assert of_tab[judge]["agrees"].value == pytest.approx(agree / total)
        assert of_report[judge]["human_agreement"] == pytest.approx(agree / total)


def status(small: Small) -> dict[str, Any]:
    """Return the rows of status, by judge and mode."""
    command = [sys.executable, "-m", "turnbench", "status", "--format", "json"]
    words = ["--bench-name", "small", "--data-dir", str(small.data_dir)]
    done = subprocess.run([*command, *words], capture_output=True, text=True, cwd=ROOT, check=True)
    rows = json.loads(done.stdout)["judges"]
    return {row["judge"]: row for row in rows}


def test_what_is_judged_missing_and_unread_is_the_same_in_status_and_results(small: Small) -> None:
    of_status = status(small)
    pairs = len(small.models) * (len(small.models) - 1) // 2
    items = sum(small.questions.values()) * pairs
    for judge in small.judges:
        valid = [pair for pair in small.pairs(judge) if pair.value is not None]
        unread = len(small.pairs(judge)) - len(valid)
        row = of_status[judge]
        assert row["judged"] == len(valid) + unread
        assert row["unparsed"] == unread
        assert row["missing"] + row["superseded"] == items - len(small.pairs(judge))
        shown = results(small, "pairwise-all", judge_model=judge)
        assert sum(row["n"] for row in shown.rows()) == 2 * len(valid)
        # On a question that nobody judged nothing is missing: another caveat counts these.
        judged = {(pair.question, pair.turn) for pair in small.pairs(judge)}
        if "missing" in shown.rows()[0] and len(judged) == sum(small.questions.values()):
            assert sum(row["missing"] for row in shown.rows()) == 2 * (items - len(valid))


def test_the_board_s_csv_is_the_terminal_s(small: Small) -> None:
    views = Views(Home(small.data_dir))
    for judge in small.judges:
        text = views.file(f"?bench=small&verdicts=pair/mt_bench&judge={judge}", "csv")
        rows = by_model(list(csv.DictReader(io.StringIO(text))))
        assert {name: float(row["win_rate_adjusted"]) for name, row in rows.items()} == (
            pytest.approx(win_rates(small, judge))
        )


def test_better_stands_where_the_interval_beside_it_excludes_no_difference(small: Small) -> None:
    if len(small.models) != 2:
        return
    for judge in small.judges:
        result = results(small, "pairwise-all", judge_model=judge)
        outcome = " ".join(str(result).split()).partition(" People, ")[0]
        found = re.search(r"win rate (?:[\d.]+) \(([\d.]+) to ([\d.]+)\)", outcome)
        if found:
            low, high = map(float, found.groups())
            assert (" is better than " in outcome) == (low > 0.5 or high < 0.5)


def test_grades_are_the_same_everywhere(small: Small) -> None:
    rows = by_model(results(small, "single", judge_model=GRADER).rows())
    path = small.data_dir / "small" / "model_judgment" / "builtin%2Foverlap_single.jsonl"
    for model in small.models:
        grades = [
            row["score"]
            for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
            if row["model"] == model and (row["question_id"], model) not in small.stale
        ]
        assert rows[model]["average"] == pytest.approx(sum(grades) / len(grades))
        assert rows[model]["n"] == len(grades)
