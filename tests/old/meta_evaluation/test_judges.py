import csv
import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.cli.main import main
from harness.old.errors import MissingError, StorageError, UsageError
from harness.old.meta_evaluation.choosing import ALPACA_EVAL, DEFINITIONS, judge_judges
from harness.old.meta_evaluation.judges import CORRELATIONS, MEASURES, has_list
from harness.old.meta_evaluation.report import Report
from harness.old.meta_evaluation.votes import mode
from harness.old.showing.html import html
from harness.old.showing.judge_report import judge_page, report_charts
from tests.old.small_bench import answer, question, small_bench, write

Shares = Sequence[float]


def vote(number: int, voter: str, share: float, models: tuple[str, str] = ("x", "y"), turn: int = 1) -> dict[str, Any]:
    winner = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}[share]
    sides = dict(zip(("model_a", "model_b"), models, strict=True))
    return {"question_id": number, "turn": turn, **sides, "winner": winner, "judge": voter}


def verdict(
    number: int, judge: str, share: float | None, models: tuple[str, str] = ("x", "y"), **more: Any
) -> dict[str, Any]:
    """Return a pair that was judged in one order, its first model shown first."""
    winner = {1.0: "model_1", 0.0: "model_2", 0.5: "tie", None: "error"}[share]
    named = dict(zip(("model_1", "model_2"), models, strict=True))
    row = {"question_id": number, "turn": 1, **named, "g1_winner": winner, "judge": [judge, "t"]}
    return row | {"shown_first": "model_1", "judge_set": "own", "judge_set_version": "1", **more}


def judged(
    data_dir: pathlib.Path,
    votes: Mapping[int, Shares],
    judges: Mapping[str, Mapping[int, Shares]],
    texts: Mapping[int, tuple[str, str]] | None = None,
    models: Mapping[int, tuple[str, str]] | None = None,
    **more: Any,
) -> pathlib.Path:
    """Write a benchmark with people's votes (voter by voter) and judges' samples, by question; return its folder."""
    pair = models or dict.fromkeys(votes, ("x", "y"))
    bench = small_bench(data_dir, *(question(number, turns=["Say it."]) for number in votes))
    write(
        bench.folder / "human_judgment" / "people.jsonl",
        [vote(q, f"p{at}", share, pair[q]) for q, own in votes.items() for at, share in enumerate(own)],
    )
    for judge, by_question in judges.items():
        for sample in range(max(map(len, by_question.values()))):
            path = bench.judgment_file(judge, "own", "pairwise-all", sample, one_order=True)
            given = {q: own[sample] for q, own in by_question.items() if len(own) > sample}
            write(path, [verdict(q, judge, share, pair[q], sample=sample, **more) for q, share in given.items()])
    said: dict[str, list[dict[str, Any]]] = {}
    for q, both in (texts or {}).items():
        for model, text in zip(pair[q], both, strict=True):
            said.setdefault(model, []).append(answer(q, model, text))
    for model, rows in said.items():
        write(bench.answer_file(model), rows)
    return bench.folder


def row_of(report: Report, judge: str) -> dict[str, Any]:
    return next(row for row in report.rows if row["judge"] == judge)


def report_on(data_dir: pathlib.Path, **words: Any) -> Report:
    return judge_judges(bench_name="small", data_dir=data_dir, **words)


def test_the_way_of_alpaca_eval_leaves_out_items_with_fewer_votes_that_have_answers(tmp_path: pathlib.Path) -> None:
    votes, texts = {1: [1, 1, 0, 1], 2: [0, 0]}, {1: ("long", "x"), 2: ("y", "long")}
    judged(tmp_path, votes, {"j": {1: [1], 2: [0]}}, texts)
    report = report_on(tmp_path, compatible=True)
    assert row_of(report, "j")["Human agreement"] == 100
    assert report.notes[1].startswith("measured on 1 pair of")


def test_the_way_of_alpaca_eval_says_that_no_pair_has_four_votes(tmp_path: pathlib.Path) -> None:
    judged(tmp_path, {1: [1, 1], 2: [0]}, {"j": {1: [1], 2: [0]}})
    with pytest.raises(
        UsageError, match="needs pairs with 4 votes, and none of 2 pairs has so many; leave --compatible"
    ):
        report_on(tmp_path, compatible=True)


def test_the_worked_example(tmp_path: pathlib.Path) -> None:
    judged(tmp_path, {1: [1, 1, 0], 2: [0, 0]}, {"j": {1: [1, 1], 2: [0, 1]}})
    own = row_of(report_on(tmp_path), "j")
    found = own["human_agreement"], own["bias"], own["variance"], own["parsed"], own["samples"]
    assert found == (0.75, 0.25, 0.5, 4, 2)


def test_people_are_measured_on_each_other(tmp_path: pathlib.Path) -> None:
    judged(tmp_path, {1: [1, 1, 0], 2: [0.5]}, {"j": {1: [1]}})
    people = row_of(report_on(tmp_path), "people")
    # The first agrees with a tie of the others by half, so does the second, the third not at all.
    assert people["human_agreement"] == pytest.approx(1 / 3)
    assert (people["bias"], people["spearman"], people["parsed"]) == (None, None, 4)


def test_one_sample_has_neither_bias_nor_variance(tmp_path: pathlib.Path) -> None:
    judged(tmp_path, {1: [1, 1], 2: [0, 0]}, {"j": {1: [1], 2: [0]}})
    report = report_on(tmp_path)
    own = row_of(report, "j")
    assert (own["human_agreement"], own["bias"], own["variance"]) == (1.0, None, None)
    assert any("bias and variance need two samples" in note for note in report.notes)


def test_habits_are_counted_on_the_pairs_that_show_them(tmp_path: pathlib.Path) -> None:
    listed, plain, long = "Two:\n- one\n- two", "One and two.", "One and two, " * 9
    texts = {1: (listed, plain), 2: (plain, listed), 3: (long, plain), 4: (plain, plain)}
    judged(tmp_path, {q: [1.0] for q in texts}, {"j": {1: [1], 2: [1], 3: [0], 4: [0.5]}}, texts)
    report = report_on(tmp_path)
    own, longest = row_of(report, "j"), row_of(report, "builtin/longest")
    assert (own["prefer_lists"], own["prefer_longer"], own["prefer_first"]) == (0.5, 0.0, 2.5 / 4)
    assert (longest["prefer_longer"], longest["price"], longest["variance"]) == (1.0, 0.0, 0.0)
    assert row_of(report, "builtin/first")["prefer_first"] == 1.0


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("* one", True),
        ("  - one", True),
        ("1. one", True),
        ("12) one", True),
        ("a) one", True),
        ("• one", True),
        ("a.one", False),
        ("well - one", False),
        ("-\n\none", False),
        ("e.g. this", False),
    ],
)
def test_a_list_is_a_line_that_begins_like_an_item(text: str, held: bool) -> None:
    assert has_list(f"Here:\n{text}") is held


@pytest.mark.parametrize(
    ("values", "ours", "theirs"),
    [
        ([1, 1, 0], 1, 1),
        ([1, 0], 0.5, 0),
        ([1, 0.5], 0.5, 0.5),
        ([0.5, 0], 0.5, 0),
        ([1, 0.5, 0], 0.5, 1),
        ([0.9, 0.2], 0.55, 0.55),
    ],
)
def test_the_mode_of_several(values: Shares, ours: float, theirs: float) -> None:
    assert mode(values) == pytest.approx(ours)
    assert mode(values, compatible=True) == pytest.approx(theirs)


def test_both_games_are_one_annotation_and_say_who_was_shown_first(tmp_path: pathlib.Path) -> None:
    folder = judged(tmp_path, {1: [1], 2: [1]}, {})
    rows = [
        {k: v for k, v in verdict(q, "j", 1.0).items() if k != "shown_first"} | {"g2_winner": second}
        for q, second in ((1, "model_2"), (2, "model_1"))
    ]
    write(folder / "model_judgment" / "j@own_pair.jsonl", rows)
    own = row_of(report_on(tmp_path), "j")
    # Question 1: whatever is shown first, a tie. Question 2: model_1 both times.
    assert (own["human_agreement"], own["prefer_first"], own["parsed"]) == (0.75, 0.75, 2)


def test_win_rates_are_correlated_over_models(tmp_path: pathlib.Path) -> None:
    models = {q: (("x", "y"), ("x", "z"), ("y", "z"))[q % 3] for q in range(1, 13)}
    votes: dict[int, Shares] = {q: [1.0] for q in models}
    judged(tmp_path, votes, {"same": votes, "other": {q: [0.0] for q in models}}, models=models)
    report = report_on(tmp_path)
    assert [round(row_of(report, j)["spearman"], 9) for j in ("same", "other")] == [1.0, -1.0]
    rates = {(r["judge"], r["model"]): (r["by_judge"], r["by_people"]) for r in report.more["win_rates"]}
    assert rates["other", "x"] == (0.0, 1.0)
    assert rates["same", "y"] == (0.5, 0.5)


def test_price_and_time_are_those_of_all_calls_of_a_pair(tmp_path: pathlib.Path) -> None:
    details = {"finish_reason": "stop", "usage": {"prompt_tokens": 1000, "completion_tokens": 100}, "seconds": 2.0}
    more: Any = {"details": [{**details, "earlier_attempts": [details]}]}
    judged(tmp_path, {1: [1], 2: [1]}, {"gpt-4.1": {1: [1], 2: [1]}, "unknown": {1: [1], 2: [1]}}, **more)
    report = report_on(tmp_path)
    # Two attempts, each 1,000 tokens at $2 and 100 at $8 a million.
    assert row_of(report, "gpt-4.1")["price"] == pytest.approx(1000 * 2 * 0.0028)
    assert row_of(report, "gpt-4.1")["seconds"] == 4000.0
    assert (row_of(report, "unknown")["price"], row_of(report, "builtin/first")["price"]) == (None, 0.0)


def spread(number: int) -> float:
    return float(number % 3 > 0)


def test_the_advice_names_the_best_the_cheaper_and_what_is_no_better_than_length(tmp_path: pathlib.Path) -> None:
    numbers = range(1, 61)
    votes = {q: [spread(q)] * 3 for q in numbers}
    right = {q: [spread(q)] for q in numbers}
    first = {q: [1.0] for q in numbers}
    texts = {q: ("long " * 20, "short") if spread(q) or q % 2 else ("short", "long " * 20) for q in numbers}
    usage = {"finish_reason": "stop", "usage": {"prompt_tokens": 1000, "completion_tokens": 100}, "seconds": 2.0}
    judged(tmp_path, votes, {"gpt-4.1": right, "gpt-4.1-mini": right, "gpt-4": first}, texts, details=[usage])
    report = report_on(tmp_path)
    told = " ".join(note for note in report.notes if note.startswith("advice: "))
    assert "gpt-4.1 (own 1) agrees with people most, 1.000 (0." in told
    assert "; people agree with each other 1.000 (0." in told
    assert "gpt-4.1-mini (own 1) costs $0.56 for 1,000 where that costs $2.80" in told
    assert "gpt-4 (own 1) does not agree significantly more than 'builtin/longest' does: do not rely on it" in told
    assert "gpt-4.1 (own 1) is not shown" not in told
    # The order was the same in all pairs, so what gpt-4.1 saw first was the better one; gpt-4 always took that.
    assert "gpt-4 (own 1) prefers the answer shown first more often than the answers deserve (by 0.333)" in told
    assert "gpt-4.1 (own 1) prefers what" not in told


def test_no_judge_is_advised_on_votes_on_a_handful_of_questions(tmp_path: pathlib.Path) -> None:
    judged(tmp_path, {1: [1], 2: [0]}, {"j": {1: [1], 2: [0]}})
    advice = [note for note in report_on(tmp_path).notes if note.startswith("advice: ")]
    assert advice == ["advice: votes on 2 questions are too few to choose a judge by; vote on more"]


def test_a_judge_of_few_pairs_is_not_the_best(tmp_path: pathlib.Path) -> None:
    votes = {q: [spread(q)] * 3 for q in range(1, 13)}
    most = {q: [spread(q) if q > 2 else 1 - spread(q)] for q in range(1, 13)}
    judged(tmp_path, votes, {"few": {q: [spread(q)] for q in range(1, 5)}, "most": most, "half": {**most, 1: []}})
    report = report_on(tmp_path)
    assert report.rows[-1]["judge"] == "few"
    assert report.rows[-1]["human_agreement"] == 1.0
    told = "\n".join(report.notes)
    assert "verdicts on too few of the pairs to be compared, and last: few (4 of 12 pairs)" in told
    assert "few (own 1) agrees" not in told
    assert "half (own 1) agrees with people most" in told
    assert "but not significantly more than most (own 1)" in told
    assert "different pairs" not in told


def test_judges_of_different_pairs_are_said_to_be(tmp_path: pathlib.Path) -> None:
    votes = {q: [spread(q)] for q in range(1, 11)}
    one, other = ({q: [spread(q)] for q in numbers} for numbers in (range(1, 8), range(4, 11)))
    judged(tmp_path, votes, {"one": one, "other": other})
    told = "\n".join(report_on(tmp_path).notes)
    assert "judges are measured on different pairs: 4 of 10 are common to all;" in told
    assert "too few" not in told.replace("too few questions for intervals", "")


def test_judges_are_compared_on_what_they_have_where_only_rules_have_more(tmp_path: pathlib.Path) -> None:
    votes = {q: [spread(q)] * 3 for q in range(1, 21)}
    judged(tmp_path, votes, {"j": {q: [spread(q)] for q in range(1, 8)}, "k": {q: [0] for q in range(1, 8)}})
    report = report_on(tmp_path)
    told = "\n".join(report.notes)
    assert "advice: j (own 1) agrees with people most, 1.000" in told
    assert "then run this again" not in told
    assert "judges are measured on different pairs: 7 of 20 are common to all" in told
    assert "too few of the pairs" not in told


def test_a_judge_of_pairs_without_votes_is_not_shown_but_named(tmp_path: pathlib.Path) -> None:
    votes = {q: [spread(q)] for q in range(1, 7)}
    judged(tmp_path, votes, {"j": {q: [1] for q in votes}, "far": {q: [1] for q in range(1, 3)}}, models=None)
    path = tmp_path / "small" / "model_judgment"
    for file in path.glob("far*"):
        file.write_text(file.read_text(encoding="utf-8").replace('"y"', '"z"'), encoding="utf-8")
    report = report_on(tmp_path)
    assert "not shown, since no judgment of theirs counts: far" in report.notes
    assert "far" not in {row["judge"] for row in report.rows}
    assert "no pair has votes of two people: how far people agree with each other is unknown" in report.notes


def test_votes_without_winners_are_said_to_show_little(tmp_path: pathlib.Path) -> None:
    votes = {q: [1, 0] if q % 2 else [0.5, 0.5] for q in range(1, 13)} | {13: [1, 1]}
    judged(tmp_path, votes, {"j": {q: [1] for q in votes}})
    told = "of 13 pairs 12 have no winner by the votes, which are ties or contradict each other"
    assert any(told in note for note in report_on(tmp_path).notes)


def test_an_own_table_grows_and_keeps_what_it_has(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "judges.csv"
    folder = judged(tmp_path, {1: [1], 2: [0]}, {"j": {1: [1], 2: [0]}})
    report_on(tmp_path, table=table)
    write(folder / "model_judgment" / "j@own_pair1.jsonl", [verdict(1, "j", 0.0), verdict(2, "j", 0.0)])
    write(folder / "model_judgment" / "k@own_pair1.jsonl", [verdict(1, "k", 1.0), verdict(2, "k", 1.0)])
    grown = report_on(tmp_path, table=table)
    assert [row_of(grown, judge)["human_agreement"] for judge in ("j", "k")] == [1.0, 0.5]
    assert any("judges.csv had people, " in note and "already; they are kept" in note for note in grown.notes)
    assert row_of(report_on(tmp_path, table=table, overwrite=True), "j")["human_agreement"] == 0.5
    assert {row["judge"] for row in csv.DictReader(table.read_text().splitlines())} >= {
        "people",
        "j",
        "k",
        "builtin/first",
    }
    write(folder / "human_judgment" / "people.jsonl", [vote(1, "p", 0.0)])
    with pytest.raises(UsageError, match="contains judges measured on other votes; name another file"):
        report_on(tmp_path, table=table)
    with pytest.raises(UsageError, match="has other columns: it was made without --compatible"):
        judge_judges(bench_name="small", data_dir=tmp_path, compatible=True, table=_four(folder, table))


def test_what_is_no_table_of_judges_stays(tmp_path: pathlib.Path) -> None:
    judged(tmp_path, {1: [1], 2: [0]}, {"=j": {1: [1], 2: [0]}})
    notes = tmp_path / "notes.txt"
    notes.write_text("Ask the judges.\n")
    with pytest.raises(UsageError, match="or is not a table of judges; name another file"):
        report_on(tmp_path, table=notes)
    assert notes.read_text() == "Ask the judges.\n"
    with pytest.raises(StorageError, match="is a device or a pipe"):
        report_on(tmp_path, table=pathlib.Path("/dev/null"))
    report_on(tmp_path, table=(table := tmp_path / "table.csv"))
    assert any("already; they are kept" in note for note in report_on(tmp_path, table=table).notes)
    assert "'=j" in {row["judge"] for row in csv.DictReader(table.read_text().splitlines())}


def _four(folder: pathlib.Path, table: pathlib.Path) -> pathlib.Path:
    write(folder / "human_judgment" / "people.jsonl", [vote(1, f"p{n}", 0.0) for n in range(4)])
    return table


def test_both_plots_are_drawn_and_the_page_is_whole(tmp_path: pathlib.Path) -> None:
    judged(tmp_path, {1: [1, 0], 2: [0, 0]}, {"j": {1: [1, 1], 2: [0, 1]}})
    for compatible in (False, True):
        if compatible:
            _four(tmp_path / "small", tmp_path)
        report = report_on(tmp_path, compatible=compatible)
        assert "dollars for 1,000 pairs" in report_charts(report)[0].draw()
        page = html(judge_page(report))
        assert "Agreement with people and its cost" in page
        assert all(f"{name}: " in "".join(report.notes) for name in DEFINITIONS)
    with pytest.raises(UsageError, match="needs a point that has both"):
        report_charts(report)[1].draw()  # one model is no ranking


def test_what_is_missing_is_said(tmp_path: pathlib.Path) -> None:
    folder = judged(tmp_path, {1: [1], 2: [1]}, {"j": {1: [1]}})
    rows = [verdict(1, "j", 1.0), verdict(2, "j", None), verdict(2, "j", 1.0, ("x", "z"))]
    write(folder / "model_judgment" / "j@own_pair1.jsonl", rows)
    report = report_on(tmp_path)
    assert (row_of(report, "j")["parsed"], row_of(report, "j")["unparsed"]) == (1, 1)
    assert any(note.startswith("1 judgment of pairs that nobody voted on") for note in report.notes)
    assert any(note.startswith("2 pairs without both answers in ") for note in report.notes)
    (folder / "human_judgment" / "people.jsonl").unlink()
    with pytest.raises(MissingError, match=r"there are no votes in .*; vote in the viewer, or name files"):
        report_on(tmp_path)


def test_the_command_shows_and_says_it(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged(tmp_path, {1: [1, 1, 0], 2: [0, 0]}, {"j": {1: [1, 1], 2: [0, 1]}})
    words = ["judge_report", "judges", "--data-dir", str(tmp_path), "--bench-name", "small"]
    assert main([*words, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["judge"] == "people"
    assert main([*words, "--judge-model", "j", "--table", str(tmp_path / "t.csv")]) == 0
    assert "human agreement" in capsys.readouterr().out


@pytest.mark.reference
def test_the_votes_of_alpaca_eval_give_its_digits(reference_data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = reference_data / "alpaca_eval"
    rows = [json.loads(line) for line in (folder / "cross_annotations.jsonl").read_text().splitlines()]
    expected = json.loads((folder / "cross_annotations_expected.json").read_text())["expected"]

    def shares(votes: Sequence[float]) -> list[float]:
        return [2.0 - vote for vote in votes]

    judged(
        tmp_path,
        {row["key"]: shares(row["gold_votes"]) for row in rows},
        {"gpt4_b1": {row["key"]: shares(row["judge_votes"]) for row in rows}},
        {row["key"]: ("x" * row["len_1"], "x" * row["len_2"]) for row in rows},
        {row["key"]: ("baseline", row["generator"]) for row in rows},
    )
    report = report_on(tmp_path, compatible=True)
    for judge, ours in (("gpt4_b1", "gpt4_b1"), ("longest", "builtin/longest"), ("humans", "people")):
        found = row_of(report, ours)
        measured = {name for name in expected[judge] if found[name] is not None}
        lacking = {"Price [$/1000 examples]", "Time [seconds/1000 examples]"}  # the votes do not say what they took
        assert set(expected[judge]) - measured <= lacking
        for name in measured:
            assert math.isclose(found[name], expected[judge][name], rel_tol=0, abs_tol=1e-9), (judge, name)
    for name in (*MEASURES[:4], *CORRELATIONS):
        theirs = ALPACA_EVAL[name][0]
        own = row_of(report, "gpt4_b1")
        assert own[f"{theirs}_low"] < own[theirs] < own[f"{theirs}_high"]
