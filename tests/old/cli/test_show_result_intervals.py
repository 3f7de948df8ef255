"""show_result --intervals, --by, --against and --fail-if-worse."""

import json
import pathlib

import pytest

from harness.cli.main import main


def judgments(folder: pathlib.Path, name: str, **levels: float) -> str:
    """Write grades of models on thirty questions; return the file's path."""
    rows = [
        {"question_id": q, "model": m, "judge": ["j", "single-v1"], "score": level + q % 3, "turn": turn}
        for q in range(1, 31)
        for m, level in levels.items()
        for turn in (1, 2)
    ]
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_the_table_says_how_sure_it_is(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = judgments(tmp_path, "j_single.jsonl", a=2, b=5)
    assert main(["show_result", "--input-file", path, "--intervals"]) == 0
    shown = capsys.readouterr().out
    assert "95% interval" in shown
    assert "1 of 1 pairs of models differ significantly" in shown
    assert "model 1 is" in shown


def test_json_has_all_intervals_only_where_they_are_asked_for_and_those_of_the_table_always(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = judgments(tmp_path, "j_single.jsonl", a=2, b=5)
    assert main(["show_result", "--input-file", path, "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert "intervals" not in shown
    assert [(row["model"], row["rank_first"], row["rank_last"]) for row in shown["rows"]] == [("b", 1, 1), ("a", 2, 2)]
    assert all(row["average_low"] <= row["average"] <= row["average_high"] for row in shown["rows"])
    assert main(["show_result", "--input-file", path, "--format", "json", "--no-intervals"]) == 0
    assert not any("low" in name or "rank" in name for name in json.loads(capsys.readouterr().out)["rows"][0])
    assert main(["show_result", "--input-file", path, "--format", "json", "--intervals"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in shown["intervals"]["rows"]] == ["b", "a"]
    assert shown["intervals"]["pairs"][0]["verdict"] == "worse"


@pytest.mark.parametrize(
    ("level", "code"), [pytest.param(1, 1, id="worse"), pytest.param(3, 0, id="better"), pytest.param(2, 0, id="same")]
)
def test_a_worse_run_fails_where_that_was_asked_for(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], level: int, code: int
) -> None:
    old, new = judgments(tmp_path, "old.jsonl", m=2), judgments(tmp_path, "new.jsonl", m=level)
    words = ["show_result", "--input-file", new, "--against", old]
    assert main([*words, "--fail-if-worse"]) == code
    assert ("is worse than in the other run" in capsys.readouterr().err) == bool(code)
    assert main(words) == 0


def test_an_unknown_field_is_named_with_those_there_are(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (
        ["gen_answer", "--model", "builtin/eliza", "--first-n", "2"],
        ["gen_judgment", "--judge-model", "builtin/overlap", "--first-n", "2"],
    ):
        assert main([*command, "--data-dir", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["show_result", "--data-dir", str(tmp_path), "--intervals", "--by", "colour"]) == 2
    told = "no question of mt_bench has the field 'colour'; there are: canary, category, claim, difficulty, points_back"
    assert told in capsys.readouterr().err


def pairs(folder: pathlib.Path) -> str:
    """Write pairs of three models on thirty questions, of which every fifth was judged by place; return the path."""
    rows = []
    for q in range(1, 31):
        for one, other, wins in (("a", "b", q % 3 > 0), ("b", "c", q % 4 > 0), ("a", "c", q % 6 > 0)):
            first = "model_1" if wins else "model_2"
            second = first if q % 5 else "model_2" if wins else "model_1"
            row = {"question_id": q, "model_1": one, "model_2": other, "g1_winner": first, "g2_winner": second}
            rows.append({**row, "judge": ["j", "pair-v2"], "turn": 1})
    path = folder / "j_pair.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_pairs_have_a_matrix_strengths_and_a_look_at_the_judge(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["show_result", "--mode", "pairwise-all", "--input-file", pairs(tmp_path), "--intervals"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "Win rate of the row's model against the column's, ties half" in shown
    assert "position: of 90 pairs 72 got the same verdict in both orders" in shown
    assert main([*words, "--format", "json"]) == 0
    intervals = json.loads(capsys.readouterr().out)["intervals"]
    assert [row["model"] for row in intervals["rows"]] == ["a", "b", "c"]
    for row in intervals["rows"]:
        assert row["win_rate_adjusted_low"] < row["win_rate_adjusted"] < row["win_rate_adjusted_high"]
    assert len(intervals["pairs"]) == 6


def test_runs_of_pairs_are_compared_too(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = pairs(tmp_path)
    words = ["show_result", "--mode", "pairwise-all", "--input-file", path, "--against", path, "--fail-if-worse"]
    assert main(words) == 0
    assert "This run (model 1) against the other" in capsys.readouterr().out


@pytest.mark.parametrize(
    "flags", [["--fail-if-worse"], ["--margin", "1"], ["--allow", "judge"]], ids=lambda own: own[0]
)
def test_a_gate_without_another_run_is_an_error(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    path = judgments(tmp_path, "new.jsonl", m=2)
    assert main(["show_result", "--input-file", path, *flags]) == 2
    assert "name the other one with --against FILE" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
def test_the_report_is_one_page_with_the_tables_and_charts(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    path = judgments(tmp_path, "j_single.jsonl", a=2, b=5) if mode == "single" else pairs(tmp_path)
    page = tmp_path / "report.html"
    assert main(["show_result", "--mode", mode, "--input-file", path, "--report", str(page)]) == 0
    assert "wrote" in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert "Content-Security-Policy" in text
    assert text.count("<svg") >= 2
    assert "<script" not in text
