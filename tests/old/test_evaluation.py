"""A configuration of ColossalAI's: what it comes to, and everything that is wrong with it at once."""

import json
import pathlib
from typing import Any

import pytest

import harness
from harness.old.bench import Bench, load_bench
from harness.cli.main import main
from harness.old.errors import DataError
from harness.old.evaluation import read_evaluation, usual_judge_set
from harness.old.importing.run import import_data
from tests.old.small_bench import rows

LANGUAGE = ["language organization", "relevance"]
CONFIG: dict[str, Any] = {
    "language": "en",
    "path_for_UniEval": {"dialogue": "unieval-dialog"},
    "category": {
        "chat": {"GPT": [*LANGUAGE, "fidelity"], "Metrics": ["Distinct"]},
        "closed_qa": {"GPT": [*LANGUAGE, "correctness"], "Metrics": ["BLEU", "Precision", "F1 score", "CHRF"]},
        "Finance": {"GPT": LANGUAGE},
    },
}


def target(number: int, category: str, text: str = "") -> dict[str, Any]:
    return {"id": number, "category": category, "instruction": f"{category} {number}?", "target": text, "output": ""}


TARGETS = [target(1, "chat"), target(2, "closed_qa", "It is Paris."), target(3, "closed_qa", "It is 7.")]


def written(folder: pathlib.Path, name: str, value: Any) -> pathlib.Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[str]:
    """Return a target file and two of answers."""
    said = [[{**row, "output": f"{text} {row['target']}"} for row in TARGETS] for text in ("Well,", "No idea.")]
    paths = [
        written(tmp_path, name, value)
        for name, value in zip(("targets.json", "a.json", "b.json"), [TARGETS, *said], strict=True)
    ]
    return list(map(str, paths))


@pytest.fixture
def bench(tmp_path: pathlib.Path, files: list[str]) -> Bench:
    import_data("colossalai", files[:2], "targets", data_dir=tmp_path / "data", model_id=["a"])
    return load_bench("targets", tmp_path / "data")


def run(tmp_path: pathlib.Path, config: Any, files: list[str], *more: str) -> int:
    where = ["--data-dir", str(tmp_path / "data"), "--config", str(written(tmp_path, "config.json", config))]
    return main(["run_bench", *where, "--import", "colossalai", *files, "--judge-model", "builtin/overlap", *more])


def test_one_file_of_answers_is_graded_and_measured_by_category(
    tmp_path: pathlib.Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, CONFIG, files[:2], "--model-id", "a") == 0
    out, err = capsys.readouterr()
    assert "single, questions: targets, judge: builtin/overlap, judge set: metrics_en" in out
    assert "token_f1" in out
    assert "no question has the category Finance" in err
    folder = tmp_path / "data" / "targets"
    judged = rows(folder / "model_judgment" / "builtin%2Foverlap@metrics_en_single.jsonl")
    assert {(row["question_id"], row["criterion"]) for row in judged if row["question_id"] < 3} == {
        *((1, name) for name in ("language_organization", "relevance", "fidelity")),
        *((2, name) for name in ("language_organization", "relevance", "correctness")),
    }
    assert [row["question_id"] for row in rows(folder / "model_metric" / "distinct.jsonl")] == [1]
    assert [row["question_id"] for row in rows(folder / "model_metric" / "bleu.jsonl")] == [2, 3]
    assert run(tmp_path, CONFIG, files[:2], "--model-id", "a") == 0
    assert "9 judged before, nothing left to judge" in capsys.readouterr().err


def test_two_files_are_a_battle_unless_the_mode_is_said(
    tmp_path: pathlib.Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, CONFIG, files, "-q", "--format", "json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["mode"] == "pairwise-all"
    assert all(row["score"] is not None for row in shown["rows"])
    assert run(tmp_path, CONFIG, files, "-q", "--format", "json", "--mode", "single") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in shown["rows"]] == ["a", "b"]


def test_a_judge_may_be_shown_no_reference(tmp_path: pathlib.Path, files: list[str]) -> None:
    file = tmp_path / "data" / "targets" / "model_judgment" / "builtin%2Foverlap@metrics_en_single.jsonl"

    def shown() -> set[bool]:
        return {row["made_from"]["reference"] is not None for row in rows(file) if row["criterion"] == "correctness"}

    assert run(tmp_path, CONFIG, files[:2], "-q") == 0
    assert shown() == {True}
    assert run(tmp_path, CONFIG, files[:2], "-q", "--reference", "none") == 0
    assert shown() == {False}


def test_a_file_without_criteria_needs_no_judge(
    tmp_path: pathlib.Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"language": "en", "category": {"chat": {"Metrics": ["Distinct"]}}}
    where = ["--data-dir", str(tmp_path / "data"), "--config", str(written(tmp_path, "config.json", config))]
    asked = ["run_bench", *where, "--import", "colossalai", *files[:2]]
    assert main(asked) == 0
    told = capsys.readouterr()
    assert "distinct_2" in told.out
    assert "left out: 2 questions of the category closed_qa" in told.err
    assert main([*asked, "--mode", "pairwise-all"]) == 2
    assert "name the judge with --judge-model" in capsys.readouterr().err


def test_every_fault_is_named_before_the_first_call(bench: Bench, tmp_path: pathlib.Path) -> None:
    categories = {
        "chatt": {"GPT": ["relevance"]},
        "chat": {"GPT": ["relevance", "wit"], "Metrics": ["BLEU", "BLEUX", "Precison"]},
        "closed_qa": {"UniEval": ["dialogue-naturalness"]},
    }
    evaluation = read_evaluation(written(tmp_path, "bad.json", {"language": "hu", "category": categories}))
    with pytest.raises(DataError) as caught:
        evaluation.planned(bench, bench.questions, judge_set="metrics_en")
    told = str(caught.value)
    for fault in (
        "bad.json: 6 problems: (1) no question has the category 'chatt'; did you mean 'chat'?",
        "chat: the judge set metrics_en has no prompt for 'wit'",
        "chat: no metric 'bleux'; did you mean 'bleu'?",
        "chat: no metric 'precison'; did you mean 'precision'?",
        "closed_qa: unieval is for English, these texts are 'hu'",
        "chat: no target (a reference answer) for question 1, required by bleu",
    ):
        assert fault in told
    with pytest.raises(DataError, match=r"no judge set 'metrics_hu'.*name one for 'hu' with --judge-set"):
        evaluation.planned(bench, bench.questions)


def test_a_prompt_file_of_theirs_has_a_prompt_only_where_it_says_so(bench: Bench, tmp_path: pathlib.Path) -> None:
    entry = {"prompt": "{question} {answer} {metric} {steps}", "metrics": {"correctness": "Right?"}, "CoT": {}}
    chat = {**entry, "category": "chat", "metrics": {"fidelity": "In the role?"}}
    prompts = written(tmp_path, "prompts.json", {"general": {**entry, "category": "general"}, "chat": chat})
    config = {"language": "en", "category": {"chat": {"GPT": ["fidelity"]}, "closed_qa": {"GPT": ["correctness"]}}}
    good = read_evaluation(written(tmp_path, "config.json", config))
    assert good.planned(bench, bench.questions, judge_set=str(prompts)).criteria["chat"] == ("fidelity",)
    config["category"]["closed_qa"]["GPT"] = ["fidelity"]  # type: ignore[index]
    with pytest.raises(DataError, match="closed_qa: the judge set prompts has no prompt for 'fidelity'"):
        read_evaluation(written(tmp_path, "config.json", config)).planned(
            bench, bench.questions, judge_set=str(prompts)
        )


def test_toml_says_the_same(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        'language = "cn"\n[category.chat]\nGPT = ["language organization"]\nMetrics = ["F1 score", "Recall"]\n'
        'UniEval = ["dialogue-naturalness"]\n',
        encoding="utf-8",
    )
    found = read_evaluation(path)
    usual = [usual_judge_set(found.language, mode) for mode in ("single", "pairwise-all")]
    assert (found.language, *usual) == ("zh", "metrics_zh", "battle_zh")
    assert (found.criteria, found.metrics) == ({"chat": ("language_organization",)}, {"chat": ("token_f1",)})
    assert found.dimensions == {"chat": ("dialogue/naturalness",)}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        pytest.param({"category": {}}, "language", id="no language"),
        pytest.param({"language": "en", "category": {"chat": {"GTP": []}}}, "did you mean 'GPT'", id="unknown key"),
        pytest.param({"language": 3, "category": {"chat": []}}, "2 problems", id="two faults of form"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: pathlib.Path, value: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_evaluation(written(tmp_path, "config.json", value))


def test_overlap_with_a_model_made_reference_is_warned_of(
    tmp_path: pathlib.Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = [{**row, "output": "A model says so."} if not row["target"] else row for row in TARGETS]
    targets = str(written(tmp_path, "targets.json", made))
    config = {"language": "en", "category": {"chat": {"GPT": LANGUAGE, "Metrics": ["BLEU"]}}}
    assert run(tmp_path, config, [targets, files[1]], "-q") == 0
    err = capsys.readouterr().err
    assert "chat: many different answers are good there" in err
    assert "a model's own answers (reference)" in err
    assert err.count("many different answers") == 1


def test_a_target_file_alone_is_not_enough(
    tmp_path: pathlib.Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, CONFIG, files[:1], "-q") == 2
    assert "targets.json: no answers; add files of answers, or models to ask with --model" in capsys.readouterr().err


def test_answers_that_differ_are_not_passed_over(
    tmp_path: pathlib.Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, CONFIG, files[:2], "--model-id", "a", "-q") == 0
    assert run(tmp_path, CONFIG, [files[0], files[2]], "--model-id", "a", "-q") == 2
    assert "contains other answers than these; give the model another name" in capsys.readouterr().err


def test_metrics_alone_need_no_judge_set(
    bench: Bench, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = written(tmp_path, "config.json", {**CONFIG, "language": "en"})
    where = ["--data-dir", str(bench.folder.parent), "--bench-name", "targets"]
    assert main(["auto_metrics", *where, "--config", str(config)]) == 0
    assert [row["question_id"] for row in rows(bench.metric_file("bleu"))] == [2, 3]
    assert [row["question_id"] for row in rows(bench.metric_file("distinct"))] == [1]
    capsys.readouterr()
    assert main(["auto_metrics", *where, "--config", str(config), "--metrics", "bleu"]) == 2
    assert "--config names the metrics; leave out --metrics" in capsys.readouterr().err


def test_the_python_interface_takes_the_same_file(bench: Bench, tmp_path: pathlib.Path) -> None:
    config = written(tmp_path, "config.json", CONFIG)
    report = harness.run_bench(
        [], "builtin/overlap", "targets", model_list=["a"], data_dir=bench.folder.parent, config=config
    )
    assert report.judgments.written == 9
    assert report.metrics is not None
    assert report.metrics.written == 1 + 2 + 2 + 2
