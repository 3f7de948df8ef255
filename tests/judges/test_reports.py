"""Reports on judges: textbook values on small invented files."""

import csv
import json
import pathlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import harness
from harness import bench
from harness.cli.main import main
from harness.errors import UsageError
from harness.results import read
from harness.results.agreement import with_votes
from tests.judges.conftest import answer, grade, pair, vote

Write = Callable[..., pathlib.Path]


def rows(report: str, **options: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in harness.judge_report(report, **options).page.all_rows]


def test_position_counts_and_lists_what_the_order_changed(write: Write) -> None:
    games = ["xx", "xx", "yy", "xy", "xy", "yx", "xt", "tt", "x-"]
    write("model_judgment/j_pair.jsonl", [pair(n, own) for n, own in enumerate(games, 1)])
    page = harness.judge_report("position", list=True).page
    whole = page.all_rows[0]
    assert (whole["n"], whole["errors"], whole["consistent"]) == (8, 1, 4)
    assert (whole["biased_first"], whole["biased_second"], whole["one_sided_tie"]) == (2, 1, 1)
    assert (whole["first_games"], whole["decided_games"]) == (8, 13)
    flipped = [(row["question"], row["won"]) for row in page.tables[1].rows]
    assert flipped == [(4, "first"), (5, "first"), (6, "second")]


def test_agreement_counts_ties_as_a_third_verdict_and_leaves_them_out(write: Write) -> None:
    write("model_judgment/j_pair.jsonl", [pair(1, "xx"), pair(2, "xx"), pair(3, "xy")])
    write("human_judgment/v.jsonl", [vote(1, "x"), vote(2, "y"), vote(3, "x")])
    found = {row["setup"]: row for row in rows("agreement") if row["category"] is None}
    assert (found["S1"]["agree"], found["S1"]["total"]) == (1, 3)
    assert found["S1"]["kappa"] == pytest.approx(0)
    assert (found["S2"]["agree"], found["S2"]["total"], found["S2"]["kappa"]) == (1, 2, 0)


def test_agreement_with_people_is_one_number_in_every_report(write: Write) -> None:
    own = [pair(n, games) for n, games in enumerate(["xx", "yy", "xy", "xt", "yy", "xx", "yy"], 1)]
    again = [pair(n, games, sample=1) for n, games in enumerate(["xx", "xx", "yy"], 1)]
    write("model_judgment/j_pair.jsonl", [*own, *again])
    votes = [vote(n, won, "p") for n, won in enumerate("xxyyxtx", 1)]
    write("human_judgment/v.jsonl", [*votes, vote(1, "y", "q"), vote(5, "y", "q")])
    (s2,) = (
        r
        for r in rows("agreement")
        if r["setup"] == "S2"
        and "people" in r["judge2"] + r["judge1"]
        and r["judge1"] != r["judge2"]
        and r["category"] is None
    )
    (judge,) = (row for row in rows("judges") if row["judge"] == "j")
    found = read(bench.load("mt_bench", "data"), votes=())
    direct = with_votes(found.by("judge"), found.by("person"))
    assert (s2["agree"], s2["total"]) == (direct.agree, direct.total) == (3, 6)
    assert s2["ratio"] == judge["human_agreement"] == direct.rate.value == 0.5


def people_and_two_judges(write: Write) -> None:
    """Write forty pairs with two votes each, and two judges: k is wrong more often than j."""
    for judge, wrong in (("j", 10), ("k", 2)):
        games = ["xx" if n % 2 or n % wrong == 0 else "yy" for n in range(1, 41)]
        games[0] = "xy"
        made = [pair(n, of_pair, judge) for n, of_pair in enumerate(games, 1)]
        write(f"model_judgment/{judge}_pair.jsonl", made)
    votes = [vote(n, "x" if n % 2 else "y", voter) for voter in "pq" for n in range(1, 41)]
    write("human_judgment/v.jsonl", [*votes[:-1], vote(40, "t", "q")])


def test_the_sentence_on_agreement_is_the_same_in_every_report(write: Write) -> None:
    people_and_two_judges(write)
    found = {name: harness.judge_report(name).page.outcome for name in ("agreement", "judges")}
    expected = (
        "j agrees with people on 91% (78 to 97) of the 77 votes that both decided, of 80 by 2 "
        "people; people agree with each other on 100% (90 to 100) of 39. It agrees more than k: "
        "a difference of 42 points (25 to 58) on the 77 votes that both decided."
    )
    assert found["agreement"] == expected
    assert found["judges"].startswith(expected)
    assert harness.judge_report("corrected").page.outcome.endswith(expected)


def test_a_difference_that_is_not_significant_is_said_with_its_interval(write: Write) -> None:
    people_and_two_judges(write)
    outcome = harness.judge_report("agreement", first_n=6).page.outcome
    assert "j and k are not decided: a difference of" in outcome
    assert "close" not in outcome


OTHER = {"model_a": "model_b", "model_b": "model_a", "model_1": "model_2", "model_2": "model_1"}


def named_the_other_way(line: str) -> str:
    """Return a row of a file that names its two models in the other order."""
    row = json.loads(line)
    turned = {OTHER.get(key, key): value for key, value in row.items()}
    games = {"g1_winner": "g2_winner", "g2_winner": "g1_winner", "winner": "winner"}
    for game, other in games.items():
        if game in row:
            turned[other] = OTHER.get(row[game], row[game])
    return json.dumps(turned)


@pytest.mark.parametrize("report", ["agreement", "judges", "corrected", "worth"])
def test_two_orders_of_naming_give_the_same_numbers(write: Write, report: str) -> None:
    people_and_two_judges(write)
    outcomes = [harness.judge_report(report).page.outcome]
    for path in pathlib.Path("data/mt_bench").glob("*_judgment/*.jsonl"):
        # x, which is z now, comes after y; every second row names it second, too.
        lines = path.read_text().replace('"x"', '"z"').splitlines()
        lines[::2] = map(named_the_other_way, lines[::2])
        path.write_text("\n".join(lines) + "\n")
    outcomes.append(harness.judge_report(report).page.outcome.replace("z ", "x "))
    assert outcomes[0] == outcomes[1]


def test_flips_are_one_number_in_show_result_and_the_report(write: Write) -> None:
    for judge, games in (("j", "xy"), ("k", "xx")):
        own = [pair(n, games, judge) for n in range(1, 6)]
        write(f"model_judgment/{judge}_pair.jsonl", own)
    whole = rows("position")[0]
    assert (whole["biased_first"], whole["n"]) == (5, 10)
    shown = harness.show_result("pairwise-all")
    assert "50% of the pairs (5 of 10)" in shown.page.outcome
    flipped = {(r["judge"], r["model"]): r["flipped"] for r in shown.rows()}
    assert flipped["j", "x"] == flipped["all together", "x"] == 5
    assert flipped["k", "x"] == 0


def test_agreement_of_grades_has_correlations(write: Write) -> None:
    for judge, scores in (("j", [1, 2, 3, 4]), ("k", [1, 3, 2, 4])):
        own = [grade(n, "x", score, judge) for n, score in enumerate(scores, 1)]
        write(f"model_judgment/{judge}_single.jsonl", own)
    found = {r["measure"]: r["value"] for r in rows("agreement") if r["category"] is None}
    assert found["pearson"] == found["spearman"] == pytest.approx(0.8)
    assert found["kendall tau-b"] == pytest.approx(4 / 6)
    assert (found["exact"], found["within one"]) == (0.5, 1)


def test_agreement_says_what_it_compares_of_samples(write: Write) -> None:
    again = [grade(n, "x", n % 4, sample=1) for n in range(1, 9)]
    write("model_judgment/j_single.jsonl", [grade(n, "x", n % 3) for n in range(1, 9)])
    write("model_judgment/j@mt_bench#1_single.jsonl", again)
    with pytest.raises(UsageError, match=r"only j judged; .* judge_report repeat"):
        harness.judge_report("agreement")
    write("model_judgment/k_single.jsonl", [grade(n, "x", n % 3, "k") for n in range(1, 9)])
    page = harness.judge_report("agreement").page
    assert page.outcome.startswith("j and k agree: rank correlation 1.00")
    assert "Of the samples of j the first one is compared" in str(page.notes[0])


def test_length_counts_decided_pairs(write: Write) -> None:
    write("model_answer/x.jsonl", [answer(n, "long text") for n in (1, 2, 3, 4)])
    write("model_answer/y.jsonl", [answer(n, "short") for n in (1, 2, 3, 4)])
    games = ["xx", "xx", "yy", "xy"]
    write("model_judgment/j_pair.jsonl", [pair(n, own) for n, own in enumerate(games, 1)])
    whole = rows("length")[0]
    assert (whole["n"], whole["longer_wins"]) == (3, pytest.approx(2 / 3))


def test_repeat_compares_samples_of_one_judge(write: Write) -> None:
    grades = [grade(1, "x", score, sample=sample) for sample, score in enumerate((7, 7, 8))]
    write("model_judgment/j_single.jsonl", grades)
    whole = rows("repeat")[0]
    assert whole["same"] == pytest.approx(1 / 3)
    assert whole["difference"] == pytest.approx(2 / 3)
    assert whole["sd"] == pytest.approx((1 / 3) ** 0.5)
    assert whole["later"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("texts", "temperature", "noted"),
    [(("Good.", "Good."), 0.7, True), (("Good.", "Fine."), 0.7, False), (("Good.",) * 2, 0, False)],
)
def test_repeat_notes_a_server_that_decodes_greedily(
    write: Write, texts: tuple[str, str], temperature: float, noted: bool
) -> None:
    rows = [
        msgspec.structs.replace(
            grade(n, "x", 7, sample=sample), judgment=text, sampling={"temperature": temperature}
        )
        for n in (1, 2)
        for sample, text in enumerate(texts)
    ]
    write("model_judgment/j_single.jsonl", rows)
    notes = [note.text for note in harness.judge_report("repeat").page.notes]
    assert any("does its server decode greedily" in note for note in notes) == noted


def test_corrected_takes_the_votes_alone_of_few_questions(write: Write) -> None:
    write("model_judgment/j_pair.jsonl", [pair(n, "xx" if n % 4 else "yy") for n in range(1, 41)])
    write("human_judgment/v.jsonl", [vote(n, "x" if n % 4 else "y") for n in range(1, 20)])
    page = harness.judge_report("corrected").page
    assert {row["weight"] for row in page.all_rows} == {0}
    assert "not known to be random" in str(page.notes[0])


def test_corrected_knows_votes_that_a_ballot_drew(write: Write) -> None:
    write("model_judgment/j_pair.jsonl", [pair(n, "xx" if n % 4 else "yy") for n in range(1, 41)])
    votes = [vote(n, "x" if n % 4 else "y") for n in range(1, 21)]
    for own in votes:
        own.answers = "hash"
    write("human_judgment/v.jsonl", votes)
    assert not harness.judge_report("corrected").page.notes


def test_corrected_moves_the_judge_by_the_votes(write: Write) -> None:
    write("model_judgment/j_pair.jsonl", [pair(n, "xx" if n % 4 else "yy") for n in range(1, 41)])
    write("human_judgment/v.jsonl", [vote(n, "x" if n % 4 else "y") for n in range(1, 21)])
    found = {row["model"]: row for row in rows("corrected")}
    assert found["x"]["judge"] == found["x"]["votes"] == 0.75
    assert found["x"]["corrected"] == pytest.approx(0.75)
    assert (found["x"]["weight"], found["x"]["voted"]) == (1, 20)


def test_judges_are_measured_by_votes(write: Write, tmp_path: pathlib.Path) -> None:
    votes = [vote(1, w, v) for w, v in (("x", "p"), ("x", "q"), ("y", "r"))]
    write("human_judgment/v.jsonl", [*votes, vote(2, "y", "p"), vote(2, "y", "q")])
    write("model_judgment/j_pair.jsonl", [pair(1, "xx"), pair(2, "yy")])
    write("model_judgment/j_pair.jsonl", [pair(n, "xx", sample=1) for n in (1, 2)])
    table = tmp_path / "judges.csv"
    found = {row["judge"]: row for row in rows("judges", table=table)}
    assert found["j"]["human_agreement"] == pytest.approx(2 / 3)
    assert (found["j"]["bias"], found["j"]["variance"]) == (0.25, 0.5)
    with table.open(newline="") as file:
        assert {row["judge"] for row in csv.DictReader(file)} == set(found)
    write("human_judgment/w.jsonl", [vote(3, "x", "new")])
    with pytest.raises(UsageError, match="other votes"):
        rows("judges", table=table)


def test_of_few_votes_it_is_not_said_that_a_judge_agrees_no_more_than_a_rule(write: Write) -> None:
    for model, text in (("x", "long"), ("y", "")):
        write(f"model_answer/{model}.jsonl", [answer(n, text) for n in (1, 2)])
    write("human_judgment/v.jsonl", [vote(1, "x"), vote(2, "y")])
    write("model_judgment/j_pair.jsonl", [pair(1, "xx"), pair(2, "yy")])
    said = harness.judge_report("judges").page.outcome
    assert "j is not shown to agree more than the rule builtin/longest: do not rely on it." in said


def test_worth_with_single_votes_is_a_lower_bound(write: Write) -> None:
    people_and_two_judges(write)
    two = harness.judge_report("worth").page
    assert not two.facts["at_least"]
    write("human_judgment/v.jsonl", [])
    page = harness.judge_report("worth", exclude="q").page
    assert "at least" in page.outcome
    assert 1 <= page.facts["worth"] <= 2


def test_worth_is_kishs_effective_number(write: Write) -> None:
    write("human_judgment/v.jsonl", [vote(n, "x") for n in range(1, 13)])
    twins = ["xx" if n % 3 else "yy" for n in range(1, 13)]
    other = ["xx" if n % 4 else "yy" for n in range(1, 13)]
    for judge, own in (("j", twins), ("k", twins), ("l", other)):
        made = [pair(n, games, judge) for n, games in enumerate(own, 1)]
        write(f"model_judgment/{judge}_pair.jsonl", made)
    page = harness.judge_report("worth").page
    assert 1 < page.facts["worth"] < 3
    adds = {row["judge"]: row["adds"] for row in page.all_rows}
    assert adds["l"] > adds["j"] == pytest.approx(adds["k"])


def test_wording_compares_judge_sets_beside_repeats(write: Write) -> None:
    made = [grade(n, "x", 7) for n in range(1, 9)]
    made += [grade(n, "x", 7, sample=1) for n in range(1, 9)]
    other = [grade(n, "x", 7 if n > 2 else 5, judge_set="mt_bench_wording_1") for n in range(1, 9)]
    write("model_judgment/j_single.jsonl", made + other)
    found = {row["what"]: row["changed"] for row in rows("wording")}
    assert found["mt_bench and mt_bench_wording_1"] == 0.25
    assert found["repeats of one wording"] == 0
    assert found["excess"] == 0.25
    excess = next(row for row in rows("wording") if row["what"] == "excess")
    assert excess["changed_low"] < 0.25 < excess["changed_high"]


def test_attacks_are_planted_judged_and_resumed(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "judge_report attack --judge-model builtin/overlap --first-n 2 --yes -q --format json"
    shifts = []
    for _ in range(2):
        assert main(command.split()) == 0
        page = json.loads(capsys.readouterr().out)
        shifts.append([row["shift"] for row in page["rows"]])
    assert shifts[0] == shifts[1]
    assert page["rows"][0]["n"] == 64
    assert "stands out" in page["outcome"] or "over the 32" in page["outcome"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param("judge_report", "name a report", id="none"),
        pytest.param("judge_report positon", "did you mean position", id="misspelt"),
        pytest.param("judge_report position", "there are no pairs", id="no judgments"),
        pytest.param("judge_report judges", "there are no votes on pairs", id="no votes"),
        pytest.param("judge_report repeat", "gen_judgment --samples", id="no samples"),
        pytest.param("judge_report wording", "mt_bench_wording_1", id="one wording"),
        pytest.param("judge_report checks", "run turnbench auto_checks", id="nothing checked"),
        pytest.param(
            "judge_report reference",
            "there are no judgments of these judges in data/mt_bench; judge with --judge-set "
            "mt_bench_unaided",
            id="one judge set",
        ),
    ],
)
def test_what_is_missing_is_one_line(
    write: Write, capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    write("model_judgment/j_single.jsonl", [grade(1, "x", 7)])
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.reference
def test_the_papers_table_5(reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench" / "human_judgment"
    found = rows(
        "agreement",
        votes=[folder / "gpt4_pair.jsonl", folder / "human.jsonl"],
        exclude="author*",
        data_dir="nowhere",
    )
    cells = {
        (row["judge1"], row["judge2"], row["turn"], row["setup"]): (row["agree"], row["total"])
        for row in found
        if row["category"] is None
    }
    assert cells["gpt4_pair", "human", 1, "S1"] == (886, 1343)
    assert cells["gpt4_pair", "human", 1, "S2"] == (727, 859)
    assert cells["gpt4_pair", "human", 2, "S2"] == (731, 864)


@pytest.mark.reference
def test_alpaca_evals_analysis_to_the_digit(write: Write, reference_data: pathlib.Path) -> None:
    folder = reference_data / "alpaca_eval"
    lines = (folder / "cross_annotations.jsonl").read_text().splitlines()
    expected = json.loads((folder / "cross_annotations_expected.json").read_text())["expected"]
    sides = {1: "model_a", 2: "model_b", 0: "tie", 1.5: "tie"}
    votes, made = [], []
    for item in map(json.loads, lines):
        names = {"model_a": "base", "model_b": item["generator"]}
        for at, said in enumerate(item["gold_votes"]):
            row = {"question_id": item["key"], "turn": 1, "winner": sides[said], "judge": f"p{at}"}
            votes.append(row | names)
        for sample, said in enumerate(item["judge_votes"]):
            winner = sides[said].replace("_a", "_1").replace("_b", "_2")
            row = {"question_id": item["key"], "turn": 1, "g1_winner": winner, "sample": sample}
            row |= {"model_1": "base", "model_2": item["generator"], "shown_first": "model_1"}
            made.append(row | {"judge": ["gpt4_b1", "t"], "judge_set": "own"})
    keys = dict.fromkeys(row["question_id"] for row in votes)
    path = write("question.jsonl", [])
    path.write_bytes(b"")
    write("question.jsonl", [{"question_id": k, "category": "c", "turns": ["?"]} for k in keys])
    write("human_judgment/people.jsonl", votes)
    write("model_judgment/gpt4_b1@own_pair1.jsonl", made)
    found = {row["judge"]: row for row in rows("judges", compatible=True)}
    for judge, theirs in (("gpt4_b1", "gpt4_b1"), ("people", "humans")):
        for column in ("Human agreement", "Bias", "Variance", "Spearman corr.", "Proba. prefer 1"):
            assert found[judge][column] == pytest.approx(expected[theirs][column], abs=1e-9), column


def test_a_flag_of_another_report_is_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="--threshold is for reference"):
        harness.judge_report("position", threshold=7)
    with pytest.raises(UsageError, match="--dry-run is for attack"):
        harness.judge_report("agreement", dry_run=True)


def test_judgments_with_and_without_a_criterion_are_told_apart_by_their_judge_set(
    write: Write,
) -> None:
    rows = [grade(1, "x", 5, sample=n) for n in (0, 1)]
    write("model_judgment/j_single.jsonl", rows)
    other = {"judge_set": "metrics_en", "criterion": "relevance"}
    write(
        "model_judgment/j@metrics_en_single.jsonl",
        [msgspec.structs.replace(row, **other) for row in rows],
    )
    with pytest.raises(UsageError, match=r"\(none, relevance\); choose .* or --judge-set"):
        harness.judge_report("repeat")
    assert harness.judge_report("repeat", judge_set="mt_bench").rows()
