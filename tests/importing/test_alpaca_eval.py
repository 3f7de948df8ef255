"""AlpacaEval's annotations become judgments, and judgments annotations that it reads."""

import json
import pathlib
from typing import Any

import pytest

from harness import bench, export, import_data
from harness.cli.main import main
from harness.errors import DataError, MissingError, UsageError
from tests.importing.files import ANNOTATIONS, annotation, json_array, json_lines, rows

JUDGMENTS = "model_judgment/weighted@weighted_pair1.jsonl"


def test_annotations_make_a_benchmark_with_answers_and_judgments(tmp_path: pathlib.Path) -> None:
    path = json_array(tmp_path / "a.json", ANNOTATIONS)
    report = import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    assert (report.questions, report.judgments, report.failed) == (4, 3, 1)
    assert bench.load("a", tmp_path).answers("mine")[1].choices[0].turns == ["mine 0"]
    judgments = rows(report.folder / JUDGMENTS)
    assert [(row["model_1"], row["model_2"]) for row in judgments] == [("mine", "base")] * 3
    shares = [row.get("g1_preference", row.get("g2_preference")) for row in judgments]
    assert shares == pytest.approx([0.2, 0.5, 1.0])
    assert {row["score_method"] for row in judgments} == {"logprobs"}


def test_who_was_shown_first_is_alpaca_evals_own_draw(tmp_path: pathlib.Path) -> None:
    # Which of these are switched with seed 0 is published with alpaca_eval's random.
    switched = {"Say hi.": False, "Explain tides to a child.": True, "写一首诗": False}
    records = [annotation(0, 2.0, instruction=text) for text in switched]
    path = json_array(tmp_path / "a.json", records)
    report = import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    first = [row["shown_first"] for row in rows(report.folder / JUDGMENTS)]
    assert first == ["model_1" if is_switched else "model_2" for is_switched in switched.values()]


def test_annotations_again_add_only_what_had_failed(tmp_path: pathlib.Path) -> None:
    path = json_array(tmp_path / "a.json", ANNOTATIONS)
    import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    json_array(path, [*ANNOTATIONS[:2], annotation(2, 1.0)])
    again = import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    assert (again.answers, again.judgments) == ({"mine": 0, "base": 0}, 1)


def test_a_judge_set_of_the_annotators_name_gives_judge_and_version(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "weighted"
    folder.mkdir()
    (folder / "judge_set.toml").write_text('version = "7"\norder = "random"\njudge = "gpt-x"\n')
    (folder / "pair.toml").write_text('kind = "compare"\nuser = "{answer_a} {answer_b}"\n')
    path = json_array(tmp_path / "a.json", ANNOTATIONS)
    report = import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    (row, *_) = rows(report.folder / "model_judgment" / "gpt-x@weighted_pair1.jsonl")
    assert (row["judge"][0], row["judge_set"], row["judge_set_version"]) == (
        "gpt-x",
        "weighted",
        "7",
    )


def test_outputs_make_a_benchmark_that_can_be_judged_as_it_is(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = json_array(tmp_path / "a.json", ANNOTATIONS)
    import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    assert main(["check_bench", "a", "--data-dir", str(tmp_path)]) == 0
    words = ["gen_judgment", "--judge-model", "gpt-4.1", "--baseline-model", "base", "--dry-run"]
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert main([*words, "--bench-name", "a", "--data-dir", str(tmp_path)]) == 0
    assert "a, pairwise-baseline against base, judge set alpaca_eval" in capsys.readouterr().err


def test_a_wrong_preference_is_an_error(tmp_path: pathlib.Path) -> None:
    path = json_array(tmp_path / "a.json", [ANNOTATIONS[0] | {"preference": 3}])
    with pytest.raises(DataError, match="null or a number from 1 to 2"):
        import_data("alpaca_eval", [path], "a", data_dir=tmp_path)


def test_older_files_have_0_for_a_tie_and_a_cached_failure_is_no_verdict(
    tmp_path: pathlib.Path,
) -> None:
    path = json_array(tmp_path / "a.json", [annotation(0, 0), annotation(1, -1)])
    report = import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    (row,) = rows(report.folder / JUDGMENTS)
    assert (row.get("g1_winner", row.get("g2_winner")), report.failed) == ("tie", 1)


def test_the_judges_of_turnbench_toml_made_no_imported_annotation_and_are_those_of_an_export(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("turnbench.toml").write_text('judge_model = ["weighted", "mine"]\n')
    path = json_array(tmp_path / "a.json", ANNOTATIONS)
    words = ["alpaca_eval", str(path), "--bench-name", "a", "--data-dir", "d"]
    assert main(["import_data", *words]) == 0
    made = rows(tmp_path / "d" / "a" / JUDGMENTS)
    assert {row["judge"][0] for row in made} == {"weighted"}
    assert main(["export", *words[:1], *words[2:], "--output", "out"]) == 0
    with pytest.raises(UsageError, match="imported judgments have one judge"):
        import_data("alpaca_eval", [path], "b", data_dir="d", judge_model=["a", "b"])


# Back


def _imported(tmp_path: pathlib.Path) -> None:
    others = [record | {"generator_2": "other", "output_2": "o"} for record in ANNOTATIONS]
    paths = [
        json_array(tmp_path / "mine.json", ANNOTATIONS),
        json_array(tmp_path / "other.json", others),
    ]
    import_data("alpaca_eval", paths, "a", data_dir=tmp_path)


def _export(tmp_path: pathlib.Path, output: pathlib.Path, **words: Any) -> Any:
    return export("alpaca_eval", "a", data_dir=tmp_path, output=output, **words)


def test_the_export_has_a_file_for_each_model_with_all_that_came_in(
    tmp_path: pathlib.Path,
) -> None:
    _imported(tmp_path)
    report = _export(tmp_path, tmp_path / "out")
    assert (report.records, report.left_out.total()) == ({"mine": 4, "other": 4}, 0)
    for name in ("mine", "other"):
        written = json.loads(
            (tmp_path / "out" / name / "weighted" / "annotations.json").read_text()
        )
        imported = json.loads((tmp_path / f"{name}.json").read_text())
        failed = dict.fromkeys(("price_per_example", "time_per_example", "raw_completion"))
        imported[2] |= failed  # of which nothing is kept but that it is missing
        assert written == imported


def test_the_export_can_be_of_some_models(tmp_path: pathlib.Path) -> None:
    _imported(tmp_path)
    report = _export(tmp_path, tmp_path / "out", model_list=["other"])
    assert [path.parts[-3] for path in report.written] == ["other"]
    with pytest.raises(MissingError, match="there are no such pairs in"):
        _export(tmp_path, tmp_path / "x", model_list=["none"])
    with pytest.raises(UsageError, match="is there already; give another --output"):
        _export(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    ("games", "preference"),
    [
        pytest.param(("model_1", "model_1"), 2.0, id="won twice"),
        pytest.param(("model_1", "model_2"), 1.5, id="inconsistent"),
        pytest.param(("model_1", "error"), None, id="one failed"),
    ],
)
def test_two_games_are_one_preference(
    tmp_path: pathlib.Path, games: tuple[str, str], preference: float | None
) -> None:
    _imported(tmp_path)
    row = {"question_id": 1, "model_1": "mine", "model_2": "base", "turn": 1, "judge": ["j", "p"]}
    row |= {"g1_winner": games[0], "g2_winner": games[1], "judge_set": "own"}
    path = tmp_path / "a" / "model_judgment" / "j@own_pair.jsonl"
    path.write_text(json.dumps(row) + "\n")
    _export(tmp_path, tmp_path / "out", judge_model="j")
    first = json.loads((tmp_path / "out" / "mine" / "own" / "annotations.json").read_text())[0]
    assert first["preference"] == preference


def test_pairs_of_later_turns_and_samples_are_counted_as_left_out(tmp_path: pathlib.Path) -> None:
    _imported(tmp_path)
    row = {"question_id": 1, "model_1": "mine", "model_2": "base", "judge": ["j", "p"]}
    row |= {"g1_winner": "tie", "g2_winner": "tie", "judge_set": "own"}
    for sample, turns in ((0, (1, 2)), (1, (1,))):
        path = tmp_path / "a" / "model_judgment" / f"j@own#{sample}_pair.jsonl"
        json_lines(path, [row | {"turn": turn, "sample": sample} for turn in turns])
    report = _export(tmp_path, tmp_path / "out", judge_model="j")
    assert +report.left_out == {"alpaca_eval has one judgment of a first turn": 2}


def test_the_price_of_a_judgment_is_that_of_its_tokens(tmp_path: pathlib.Path) -> None:
    _imported(tmp_path)
    row = {"question_id": 1, "model_1": "mine", "model_2": "base", "turn": 1}
    row |= {"g1_winner": "model_1", "judge": ["gpt-4.1", "p"], "judge_set": "own"}
    row |= {"details": [{"usage": {"prompt_tokens": 1_000_000, "completion_tokens": 0}}]}
    path = tmp_path / "a" / "model_judgment" / "gpt-4.1@own_pair1.jsonl"
    path.write_text(json.dumps(row) + "\n")
    output = tmp_path / "out"
    _export(tmp_path, output, judge_model="gpt-4.1")
    (first, *_) = json.loads((output / "mine" / "own" / "annotations.json").read_text())
    assert first["price_per_example"] == pytest.approx(2.0)


def test_several_judges_must_be_chosen_from(tmp_path: pathlib.Path) -> None:
    _imported(tmp_path)
    import_data(
        "alpaca_eval", [tmp_path / "mine.json"], "a", data_dir=tmp_path, judge_model="second"
    )
    with pytest.raises(UsageError, match="choose one with --judge-model: second, weighted"):
        _export(tmp_path, tmp_path / "out")


def test_of_all_pairs_the_baseline_is_named(tmp_path: pathlib.Path) -> None:
    _imported(tmp_path)
    row = {"model_1": "mine", "model_2": "other", "turn": 1, "judge": ["j", "p"]}
    pairs = [
        row | {"question_id": n, "g1_winner": f"model_{n}", "g2_winner": f"model_{n}"}
        for n in (1, 2)
    ]
    pairs += [pairs[0] | {"model_2": "base"}, pairs[0] | {"model_1": "other", "model_2": "base"}]
    json_lines(tmp_path / "a" / "model_judgment" / "j_pair.jsonl", pairs)
    with pytest.raises(UsageError, match=r"models: base, other; .* with --baseline-model"):
        _export(tmp_path, tmp_path / "out", judge_model="j")
    words = {"judge_model": "j", "baseline_model": "mine", "model_list": ["other"]}
    (file,) = _export(tmp_path, tmp_path / "out", **words).written
    found = json.loads(file.read_text())
    assert {(one["generator_1"], one["generator_2"]) for one in found} == {("mine", "other")}
    assert [one["preference"] for one in found] == [1, 2, None, None]
