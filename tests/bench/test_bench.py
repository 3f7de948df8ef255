"""A benchmark folder: found, loaded, and where its files are."""

import json
import pathlib

import pytest

from harness import bench, check_bench
from harness.errors import MissingError, UsageError

QUESTION = {"question_id": 1, "category": "math", "turns": ["1 + 1?", "Why?"]}


def make(folder: pathlib.Path, *questions: object, settings: str = "") -> pathlib.Path:
    (folder / "mine").mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(question) + "\n" for question in questions or (QUESTION,))
    (folder / "mine" / "question.jsonl").write_text(lines)
    (folder / "mine" / "bench.toml").write_text(settings)
    return folder


def test_shipped_benchmarks_load_and_name_their_judge_set() -> None:
    names = sorted(path.parent.name for path in bench.shipped("data").glob("*/question.jsonl"))
    assert "mt_bench" in names
    for name in names:
        loaded = bench.load(name, "nowhere")
        judge_set = loaded.settings.judge_set
        assert judge_set
        assert (bench.shipped("judge_prompts") / judge_set).is_dir()


def test_ids_of_shipped_questions_do_not_overlap() -> None:
    names = [path.parent.name for path in bench.shipped("data").glob("*/question.jsonl")]
    ids = [key for name in names for key in bench.load(name, "nowhere").by_id]
    assert len(ids) == len(set(ids))
    assert not set(ids) & set(range(81, 161)), "the official set's"


def test_an_unknown_benchmark_names_those_there_are(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="mt_bench"):
        bench.load("mt_bnch", tmp_path)


def test_every_problem_is_listed_with_its_place(tmp_path: pathlib.Path) -> None:
    folder = make(tmp_path, QUESTION, "no question", QUESTION, settings='langage = "fi"') / "mine"
    (folder / "reference_answer").mkdir()
    rows = [{"question_id": n, "choices": [{"turns": ["2"]}]} for n in (1, 7)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "reference_answer" / "ann.jsonl").write_text(text)
    problems = [p.removeprefix(f"{folder}/") for p in check_bench(folder).problems]
    assert problems == [
        "bench.toml: unknown key 'langage'; did you mean language?",
        "question.jsonl:2: must be a JSON object",
        "question.jsonl:3: question 1 is also on line 1",
        "reference_answer/ann.jsonl:1: question 1 has 2 turns, its reference 1",
        "reference_answer/ann.jsonl:2: a reference to question 7, which is not in question.jsonl",
    ]


def test_temperatures_are_those_of_the_category(tmp_path: pathlib.Path) -> None:
    loaded = bench.load("mine", make(tmp_path, settings="[temperatures]\nmath = 0.3"))
    assert [loaded.temperature(c) for c in ("math", "stem", "cooking")] == [0.3, 0.1, 0.7]


def test_judgments_are_found_under_other_names_and_in_folders(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = make(tmp_path) / "mine" / "model_judgment"
    row = '{"question_id": 1, "model": "x", "judge": ["gpt-4", "t"], "score": 8}\n'
    for path in ("gpt-4_single.jsonl", "run7.jsonl", "gpt-4/all.jsonl"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(row)
    (home / "notes.jsonl").write_text('{"hello": 1}\n')
    found = bench.load("mine", tmp_path).judgment_files()
    assert [str(file.path.relative_to(home)) for file in found] == [
        "gpt-4_single.jsonl",
        "run7.jsonl",
        "gpt-4/all.jsonl",
    ]
    assert "notes.jsonl" in caplog.text


def test_references_are_chosen_where_there_are_several(tmp_path: pathlib.Path) -> None:
    folder = make(tmp_path) / "mine"
    row = '{"question_id": 1, "choices": [{"index": 0, "turns": ["2", "because"]}]}\n'
    for path in (
        "reference_answer/ann.jsonl",
        "reference_answer/bob.jsonl",
        "model_answer/m.jsonl",
    ):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(row)
    loaded = bench.load("mine", tmp_path)
    with pytest.raises(UsageError, match="--reference: ann, bob"):
        loaded.references()
    assert loaded.references("m") == ("m", {1: ["2", "because"]})
    with pytest.raises(MissingError, match="there are: ann, bob, m"):
        loaded.references("zoe")


@pytest.mark.parametrize(
    "name", ["gpt-4", "org/model:latest", ".hidden", "100%", "Ünïcode", "a\\b"]
)
def test_names_of_models_are_names_of_files_and_back(name: str) -> None:
    stem = bench.file_stem(name)
    assert "/" not in stem
    assert not stem.startswith(".")
    assert bench.name_of(stem) == name


def test_names_of_judgment_files_say_what_they_hold() -> None:
    name = bench.judgment_file_name("org/judge", "metrics_en", "pair1", 2)
    assert bench.parse_judgment_name(name) == ("org/judge", "metrics_en", "pair1", 2)
    assert bench.judgment_file_name("gpt-4", "mt_bench", "pair") == "gpt-4_pair.jsonl"
    assert bench.parse_judgment_name("run7.jsonl") is None


def test_a_sample_of_questions_is_spread_over_the_categories() -> None:
    loaded = bench.load("mt_bench", "nowhere")
    sample = bench.spread(loaded.questions, 8)
    assert len({question.category for question in sample}) == 8
