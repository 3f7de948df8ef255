"""A benchmark folder: found, read and checked."""

import gzip
import json
import pathlib
from typing import Any

import pytest

from harness.old import bench as bench_module
from harness.old.bench import Bench, load_bench, load_questions, load_settings, read_answers, shipped
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.names import file_stem

ROWS = [
    {"question_id": 1, "category": "writing", "turns": ["Name three rivers.", "Now two lakes."]},
    {"question_id": 2, "category": "math", "turns": ["What is 2 + 2?"]},
    {"question_id": 3, "category": "stem", "turns": ["What melts ice?", "What freezes water?", "And why?"]},
]


def write(path: pathlib.Path, *rows: Any) -> pathlib.Path:
    """Write rows, or texts as they stand, a line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def answer(key: int | str, *turns: str, model: str = "x") -> dict[str, Any]:
    return {"question_id": key, "model_id": model, "choices": [{"index": 0, "turns": list(turns)}]}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return the folder of a benchmark `tiny`."""
    write(tmp_path / "tiny" / "question.jsonl", *ROWS)
    return tmp_path / "tiny"


def tiny(folder: pathlib.Path) -> Bench:
    return load_bench(folder.name, folder.parent)


# Where it is


def test_questions_come_in_the_order_of_the_file(folder: pathlib.Path) -> None:
    bench = tiny(folder)
    assert [q.question_id for q in bench.questions] == [1, 2, 3]
    assert (bench.folder, bench.source, bench.state) == (folder, folder, folder / ".turnbench")
    question = bench.question(3)
    assert question is not None
    assert len(question.turns) == 3
    assert bench.question(4) is None


def test_the_shipped_one_is_found_and_results_go_to_the_data_folder(tmp_path: pathlib.Path) -> None:
    bench = load_bench(data_dir=tmp_path / "none")
    assert bench.source == shipped("data") / "mt_bench"
    assert bench.folder == tmp_path / "none" / "mt_bench"
    assert bench.answer_file("x") == tmp_path / "none" / "mt_bench" / "model_answer" / "x.jsonl"
    assert bench.reference_answers()
    assert not (tmp_path / "none").exists()


def test_an_own_one_of_the_same_name_comes_first(folder: pathlib.Path) -> None:
    write(folder.parent / "mt_bench" / "question.jsonl", ROWS[0])
    assert len(load_bench("mt_bench", folder.parent).questions) == 1


def test_own_settings_count_for_shipped_questions(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mt_bench").mkdir()
    (tmp_path / "mt_bench" / "bench.toml").write_text('system_prompt = "Be short."')
    assert load_bench("mt_bench", tmp_path).settings.system_prompt == "Be short."


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(
            "tinny", r"no benchmark 'tinny': .*question\.jsonl does not exist; did you mean 'tiny'\?", id="near"
        ),
        pytest.param("qqq", "no benchmark 'qqq': .* known: .*mt_bench.*, tiny", id="far"),
        pytest.param("../tiny", "the benchmark name '../tiny' is not a plain folder name; use --data-dir", id="path"),
        pytest.param("/etc", "the benchmark name '/etc' is not a plain folder name", id="absolute"),
        pytest.param("", "the benchmark name '' is not a plain folder name", id="empty"),
    ],
)
def test_a_bench_that_is_not_there(name: str, message: str, folder: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=message):
        load_bench(name, folder.parent)


def test_without_any_bench_the_error_says_so(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_module, "shipped", lambda kind: tmp_path / "nothing")
    with pytest.raises(UsageError, match="does not exist; no benchmarks were found"):
        load_bench("tiny", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ({}, [1, 2, 3]),
        ({"question_begin": 1}, [2, 3]),
        ({"question_end": 2}, [1, 2]),
        ({"question_begin": 1, "question_end": 2}, [2]),
        ({"first_n": 2}, [1, 2]),
        ({"question_begin": 1, "first_n": 1}, [2]),
        ({"question_begin": 3}, []),
    ],
)
def test_a_slice_counts_from_zero_and_then_takes_the_first(
    arguments: dict[str, int], ids: list[int], folder: pathlib.Path
) -> None:
    assert [q.question_id for q in tiny(folder).slice(**arguments)] == ids


def test_a_sample_takes_the_first_of_each_category_then_the_second() -> None:
    bench = load_bench("mt_bench", "none")
    places = {question.question_id: at for at, question in enumerate(bench.questions)}
    assert [places[q.question_id] for q in bench.slice(sample_n=8)] == list(range(0, 80, 10))
    assert [places[q.question_id] for q in bench.slice(sample_n=10)] == [0, 1, 10, 11, 20, 30, 40, 50, 60, 70]
    assert [places[q.question_id] for q in bench.slice(question_begin=5, first_n=20, sample_n=4)] == [5, 6, 10, 20]
    assert bench.slice(sample_n=500) == bench.questions


# Questions


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param(['{"question_id": 1,', ROWS[1]], r"question\.jsonl:1: not valid JSON", id="json"),
        pytest.param([ROWS[0], '{"question_id": 1,'], r"question\.jsonl:2: not valid JSON", id="json-last"),
        pytest.param([ROWS[0], {"question_id": 9}], r"question\.jsonl:2: the field 'category' is missing", id="field"),
        pytest.param(
            [ROWS[0], "", {**ROWS[1], "question_id": "1"}],
            r"question\.jsonl:3: question_id 1 is a duplicate of line 1; give each question a different one",
            id="duplicate",
        ),
        pytest.param(
            [ROWS[0], {**ROWS[1], "turns": ["a", ""]}],
            r"question\.jsonl:2: turn 2 of question 2 must be a text that is not empty",
            id="empty-turn",
        ),
        pytest.param([{**ROWS[0], "turns": "a"}], r"question\.jsonl:1: turns must be a list", id="type"),
        pytest.param(["[1, 2]"], r"question\.jsonl:1: a JSON object is needed, this is a list", id="list"),
        pytest.param([], r"question\.jsonl: contains no question; each line must be one", id="empty"),
    ],
)
def test_a_question_file_that_is_wrong(rows: list[Any], message: str, folder: pathlib.Path) -> None:
    write(folder / "question.jsonl", *rows)
    with pytest.raises(DataError, match=message) as raised:
        tiny(folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("category", "meant"), [("maths", "math"), ("Writing", "writing"), ("CODING", "coding"), ("role-play", "roleplay")]
)
def test_a_near_miss_of_a_category_is_a_warning(
    category: str, meant: str, folder: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(folder / "question.jsonl", {**ROWS[0], "category": category}, {**ROWS[1], "category": category})
    load_questions(path)
    [record] = caplog.records
    assert f"category {category!r} is not {meant!r}: it is sampled at 0.7" in record.getMessage()


@pytest.mark.parametrize("category", ["math", "translation", "写作"])
def test_other_categories_are_none(category: str, folder: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    load_questions(write(folder / "question.jsonl", {**ROWS[0], "category": category}))
    assert not caplog.records


# Settings


def test_temperatures_are_mt_benchs_unless_the_bench_says_otherwise(folder: pathlib.Path) -> None:
    (folder / "bench.toml").write_text("[temperatures]\nstem = 0\nnew = 1.5\n")
    bench = tiny(folder)
    known = {name: bench.temperature(name) for name in ("writing", "math", "humanities", "other", "stem", "new")}
    assert known == {"writing": 0.7, "math": 0.0, "humanities": 0.1, "other": 0.7, "stem": 0, "new": 1.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            'title = "T"\nlicense = "x"', r"bench\.toml:2: unknown key 'license'; did you mean 'licence'", id="near"
        ),
        pytest.param("\n\nfoo = 1", r"bench\.toml:3: unknown key 'foo'; known: title, version, licence", id="unknown"),
        pytest.param("[judges]\na = 1", r"bench\.toml:1: unknown key 'judges'", id="unknown-table"),
        pytest.param('title = "T"\n"odd key" = 1', r"bench\.toml:2: unknown key 'odd key'", id="quoted-key"),
        pytest.param(
            'title = "T"\nversion = 1.0', r"bench\.toml:2: version must be a text in quotes, this is 1\.0", id="type"
        ),
        pytest.param("temperatures = 0.5", r"bench\.toml:1: temperatures must be a table", id="number"),
        pytest.param(
            '[temperatures]\nmath = "0"', r"bench\.toml:2: temperatures\.math must be a number from", id="text"
        ),
        pytest.param(
            "temperatures.math = 2.5",
            r"bench\.toml:1: temperatures\.math must be a number from 0 to 2, this is 2\.5",
            id="too-hot",
        ),
        pytest.param(
            "temperatures.math = nan", r"bench\.toml:1: temperatures\.math must be a number that is finite", id="nan"
        ),
        pytest.param(
            "temperatures.math = true", r"bench\.toml:1: temperatures\.math must be a number from 0 to 2", id="bool"
        ),
        pytest.param(
            'answer_template = "Q: {q}"',
            r"bench\.toml:1: answer_template must be a text with \{question\}, .* this is 'Q: {q}'",
            id="template",
        ),
        pytest.param('title = "T"\ntitle', r"bench\.toml:2: not valid TOML: ", id="toml"),
    ],
)
def test_settings_that_are_wrong(text: str, message: str, folder: pathlib.Path) -> None:
    (folder / "bench.toml").write_text(text)
    with pytest.raises(DataError, match=message) as raised:
        tiny(folder)
    assert "\n" not in str(raised.value)


def test_settings_that_are_no_text(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bench.toml"
    path.write_bytes(b'title = "\xff"')
    with pytest.raises(DataError, match=r"bench\.toml: not UTF-8; save the file as UTF-8"):
        load_settings(path)


# Answers


def test_the_name_of_the_file_counts_not_the_models_in_it(folder: pathlib.Path) -> None:
    write(folder / "model_answer" / "x-v1.jsonl", answer(1, "a", model="x-0515"), answer(2, "b", model="y"))
    bench = tiny(folder)
    assert bench.answered_models() == ("x-v1",)
    assert {a.model for a in bench.answers("x-v1").values()} == {"x-v1"}
    assert bench.answers("x-0515") == {}


@pytest.mark.parametrize("model", ["org/model:7b", ".hidden", "100%", "通义千问", "a%20b", "..", "a.b"])
def test_a_models_answers_are_found_by_its_name(model: str, folder: pathlib.Path) -> None:
    path = tiny(folder).answer_file(model)
    assert path.parent == folder / "model_answer"
    write(path, answer(1, "a"))
    assert tiny(folder).answered_models() == (model,)
    assert list(tiny(folder).answers(model)) == [1]


@pytest.mark.parametrize("stem", ["a%20b", "%2Fa%20b", "50%", "a:b", "a:b%2Fc", "%00"])
def test_files_that_others_named_are_found_by_the_name_they_have(stem: str, folder: pathlib.Path) -> None:
    write(folder / "model_answer" / f"{stem}.jsonl", answer(1, "a"))
    assert tiny(folder).answered_models() == (stem,)
    assert list(tiny(folder).answers(stem)) == [1]


def test_a_model_with_two_files_is_one_model(folder: pathlib.Path) -> None:
    for stem in ("a:b", file_stem("a:b")):
        write(folder / "model_answer" / f"{stem}.jsonl", answer(1, stem))
    assert tiny(folder).answered_models() == ("a:b",)
    assert tiny(folder).answers("a:b")[1].choices[0].turns == ("a%3Ab",)


@pytest.mark.parametrize("content", [b"", b"\n \r\n"], ids=["empty", "blank lines"])
def test_a_model_whose_file_holds_no_row_has_no_answers(content: bytes, folder: pathlib.Path) -> None:
    write(folder / "model_answer" / "x.jsonl", answer(1, "a"))
    (folder / "model_answer" / "y.jsonl").write_bytes(content)
    (folder / "model_answer" / "z.jsonl.gz").write_bytes(gzip.compress(content))
    assert tiny(folder).answered_models() == ("x",)
    (folder / "model_answer" / "y.part-1.jsonl").write_text('{"question_id": 1', encoding="utf-8")
    assert tiny(folder).answered_models() == ("x", "y")  # whoever reads it says what is wrong there


def test_files_that_are_no_models_are_left_out(folder: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("._x.jsonl", ".jsonl", "x.jsonl.bak", " .jsonl"):
        write(folder / "model_answer" / name, answer(1, "a"))
    (folder / "model_answer" / "folder.jsonl").mkdir()
    assert tiny(folder).answered_models() == ()
    [record] = caplog.records
    assert "left out: a model's name is empty" in record.getMessage()


def test_answers_may_be_unsorted_missing_and_empty(folder: pathlib.Path) -> None:
    write(folder / "model_answer" / "x.jsonl", answer(3, "c", "d", "e"), answer("1", "", ""))
    answers = tiny(folder).answers("x")
    assert {key: a.choices[0].turns for key, a in answers.items()} == {3: ("c", "d", "e"), 1: ("", "")}


@pytest.mark.parametrize(
    ("turns", "counts", "warnings"),
    [
        pytest.param(["$ERROR$", "good"], "good", 0, id="error-then-good"),
        pytest.param(["good", "$ERROR$"], "good", 0, id="good-then-error"),
        pytest.param(["one", "two"], "two", 1, id="two-good"),
        pytest.param(["$ERROR$", "$ERROR$"], None, 0, id="errors-only"),
    ],
)
def test_of_answers_to_one_question_the_last_good_one_counts(
    turns: list[str], counts: str | None, warnings: int, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "x.jsonl", *(answer(1, turn) for turn in turns))
    answers = read_answers(path, "x")
    assert [a.choices[0].turns for a in answers.values()] == ([(counts,)] if counts else [])
    assert len(caplog.records) == warnings
    if warnings:
        assert "1 rows repeat a question (the first is question 1); the last one counts" in caplog.text


def test_a_broken_answer_file_says_where(folder: pathlib.Path) -> None:
    write(folder / "model_answer" / "x.jsonl", answer(1, "a"), {"question_id": 2}, answer(3, "c"))
    with pytest.raises(DataError, match=r"x\.jsonl:2: the field 'choices' is missing"):
        tiny(folder).answers("x")


# References


def test_the_only_author_is_taken_and_some_questions_have_none(folder: pathlib.Path) -> None:
    write(folder / "reference_answer" / "gpt-4.jsonl", answer(2, "4"))
    bench = tiny(folder)
    assert bench.references() == ("gpt-4",)
    assert bench.reference_answers() == bench.sole_reference == {2: ("4",)}


def test_of_several_authors_one_must_be_chosen(folder: pathlib.Path) -> None:
    for author, text in (("a", "4"), ("b", "four")):
        write(folder / "reference_answer" / f"{author}.jsonl", answer(2, text))
    bench = tiny(folder)
    with pytest.raises(UsageError, match="several references, choose one with --reference: a, b"):
        bench.reference_answers()
    assert bench.reference_answers("b") == {2: ("four",)}
    assert bench.sole_reference == {}


def test_an_answered_model_can_be_the_reference(folder: pathlib.Path) -> None:
    write(folder / "model_answer" / "org%2Fx.jsonl", answer(1, "a", "b"))
    bench = tiny(folder)
    assert bench.reference_answers() == {}
    assert bench.reference_answers("org/x") == {1: ("a", "b")}
    with pytest.raises(MissingError, match="no reference answers by 'y'; there are: org/x"):
        bench.reference_answers("y")


def test_an_empty_folder_of_references_hides_none(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mt_bench" / "reference_answer").mkdir(parents=True)
    assert load_bench("mt_bench", tmp_path).references()


# The published files


@pytest.mark.reference
def test_the_published_questions_and_references_are_read(reference_data: pathlib.Path) -> None:
    bench = load_bench("mt_bench", reference_data)
    assert [q.question_id for q in bench.questions] == list(range(81, 161))
    assert {len(q.turns) for q in bench.questions} == {2}
    references = bench.reference_answers()
    assert len(references) == 30
    assert {bench.question(key).category for key in references} == {"math", "reasoning", "coding"}  # type: ignore[union-attr]


@pytest.mark.reference
def test_the_published_answers_are_read(reference_data: pathlib.Path) -> None:
    bench = load_bench("mt_bench", reference_data)
    answers = {model: bench.answers(model) for model in bench.answered_models()}
    assert len(answers) == 8
    assert {len(rows) for rows in answers.values()} == {80}
    assert {a.model for a in answers["vicuna-13b-v1.3"].values()} == {"vicuna-13b-v1.3"}
    empty = [a.question_id for a in answers["llama-13b"].values() if "" in a.choices[0].turns]
    assert len(empty) == 1
