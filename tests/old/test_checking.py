"""Checking a benchmark folder: every problem with its file and line, and the counts."""

import json
import os
import pathlib
from typing import Any

import pytest

from harness.old.bench import load_bench, shipped
from harness.old.checking import BenchReport, check_bench, find_alike
from harness.old.errors import DataError, UsageError
from harness.old.records import Question

LONG = "A ferry leaves the harbour every forty minutes and takes an hour to the island; how many ferries are needed?"


def row(question_id: Any = 1, category: Any = "math", turns: Any = ("One?", "Two?"), **more: Any) -> dict[str, Any]:
    turns = list(turns) if isinstance(turns, tuple) else turns
    return {"question_id": question_id, "category": category, "turns": turns, **more}


def reference(question_id: Any = 1, turns: Any = ("1", "2")) -> dict[str, Any]:
    return {"question_id": question_id, "choices": [{"index": 0, "turns": list(turns)}]}


def folder_of(tmp_path: pathlib.Path, *rows: Any, references: Any = (), settings: str = "") -> pathlib.Path:
    """Return a benchmark folder; a row that is a text stands as it is."""

    def lines(values: Any) -> str:
        return "".join((value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values)

    folder = tmp_path / "our_set"
    (folder / "reference_answer").mkdir(parents=True)
    (folder / "question.jsonl").write_text(lines(rows), encoding="utf-8")
    if references:
        (folder / "reference_answer" / "us.jsonl").write_text(lines(references), encoding="utf-8")
    if settings:
        (folder / "bench.toml").write_text(settings, encoding="utf-8")
    return folder


def told(report: BenchReport) -> list[str]:
    """Return the problems with the file's name alone."""
    return [str(problem).removeprefix(f"{problem.path.parent}/") for problem in report.problems]


def test_a_sound_set_has_no_problems(tmp_path: pathlib.Path) -> None:
    folder = folder_of(tmp_path, row(1), row(2, "writing"), references=[reference(1)], settings='version = "3"')
    report = check_bench(folder)
    assert report.problems == ()
    assert report.missing == ()
    assert report.settings.version == "3"
    assert report.turns == {2: 2}
    assert report.categories() == [
        {"category": "math", "questions": 1, "turns": 2, "with_reference": 1, "missing_reference": 0},
        {"category": "writing", "questions": 1, "turns": 2, "with_reference": 0, "missing_reference": 0},
    ]


def test_all_problems_come_at_once_with_file_and_line(tmp_path: pathlib.Path) -> None:
    folder = folder_of(
        tmp_path,
        row(1),
        '{"question_id": 2, "category":',
        "[3]",
        {"category": "", "turns": [], "reference": 5},
        "",
        row(1, "writing"),
        row(5, turns=["One?", " "]),
        row(6, reference=["a", "b", "c"]),
        references=[reference(1), reference(1), reference(6, ["1"]), reference(77), {"question_id": 1}, "torn"],
        settings='title = "x"\nlicense = "MIT"\n[temperature]\nmath = 1.0\n',
    )
    expected = [
        "question.jsonl:2: not valid JSON (column 31); each line must be one JSON object",
        "question.jsonl:3: a JSON object is needed, this is a list",
        "question.jsonl:4: the field 'question_id' is missing",
        "question.jsonl:4: category must be a text that is not empty, this is ''",
        "question.jsonl:4: turns must be a list of at least one text, this is [] (question ?)",
        "question.jsonl:4: reference of question ? must be a list of texts, this is 5",
        "question.jsonl:6: question_id 1 is a duplicate of line 1; give each question a different one",
        "question.jsonl:7: turn 2 of question 5 must be a text that is not empty, this is ' '",
        "question.jsonl:8: reference of question 6 has 3 texts for 2 turns",
        "bench.toml:2: unknown key 'license'; did you mean 'licence'?",
        "bench.toml:3: unknown key 'temperature'; did you mean 'temperatures'?",
        "us.jsonl:2: question 1 already has a reference on line 1",
        "us.jsonl:3: question 6 has 2 turns, this reference has 1",
        "us.jsonl:4: a reference to question 77, which is not in question.jsonl",
        "us.jsonl:5: the field 'choices' is missing",
        "us.jsonl:6: not valid JSON (column 1); each line must be one JSON object",
    ]
    found = told(check_bench(folder))
    assert len(found) == len(expected)
    for problem, beginning in zip(found, expected, strict=True):
        assert problem.startswith(beginning)  # the rooms that read the files may add what to do


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param("title = ", "not valid TOML", id="no TOML"),
        pytest.param(
            '\nlanguage = 5\ntitle = "x"', r"bench\.toml:2: language must be a text.*, this is 5", id="wrong type"
        ),
        pytest.param(
            "[temperatures]\nmath = 3",
            r"bench\.toml:2: temperatures\.math must be a number from 0 to 2",
            id="temperature",
        ),
        pytest.param(
            'answer_template = "x"', r"bench\.toml:1: answer_template must be a text with \{question\}", id="template"
        ),
    ],
)
def test_a_wrong_setting_is_a_problem(tmp_path: pathlib.Path, settings: str, message: str) -> None:
    (problem,) = check_bench(folder_of(tmp_path, row(), references=[reference()], settings=settings)).problems
    with pytest.raises(DataError, match=message):
        raise DataError(problem.message, path=problem.path, line=problem.line)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([row("")], id="empty id"),
        pytest.param([row(1), row("1")], id="equal ids"),
        pytest.param([row(category=3)], id="category"),
        pytest.param([row(turns="One?")], id="turns"),
        pytest.param([{"question_id": 1, "turns": ["x"]}], id="no category"),
        pytest.param([], id="no question"),
        pytest.param([row(history=["a", "b"])], id="history"),
        pytest.param([row(note=[1, 2])], id="note"),
        pytest.param([row(checks=[{"kind": "nope"}])], id="checks"),
        pytest.param([row(turns=["Hello."], user={"persona": "p", "goal": "g"})], id="user"),
    ],
)
def test_what_the_loader_refuses_is_a_problem_in_its_words(tmp_path: pathlib.Path, rows: list[Any]) -> None:
    folder = folder_of(tmp_path, *rows)
    with pytest.raises(DataError) as refused:
        load_bench("our_set", tmp_path)
    assert str(refused.value) in [str(problem) for problem in check_bench(folder).problems]


def test_missing_references_are_counted_where_the_judge_set_wants_them(tmp_path: pathlib.Path) -> None:
    rows = [row(1, "math"), row(2, "math"), row(3, "extraction"), row(4, "stem")]
    report = check_bench(folder_of(tmp_path, *rows, references=[reference(1)]))
    assert [missing.question_id for missing in report.missing] == [2]
    assert report.problems == ()


def test_a_category_wants_references_once_it_has_one(tmp_path: pathlib.Path) -> None:
    rows = [row(3, "extraction"), row(4, "extraction"), row(5, "stem")]
    report = check_bench(folder_of(tmp_path, *rows, references=[reference(3)]))
    assert [(missing.question_id, missing.author) for missing in report.missing] == [(4, "us")]


def test_without_any_references_those_needed_are_missing(tmp_path: pathlib.Path) -> None:
    report = check_bench(folder_of(tmp_path, row(1, "coding"), row(2, "extraction")))
    assert [(missing.question_id, missing.author) for missing in report.missing] == [(1, None)]


def test_a_failed_reference_is_missing_and_noted(tmp_path: pathlib.Path) -> None:
    report = check_bench(folder_of(tmp_path, row(1), references=[reference(1, ["$ERROR$", "x"])]))
    assert [missing.question_id for missing in report.missing] == [1]
    assert "FastChat's error text" in report.notes[0]


def test_several_authors_are_noted(tmp_path: pathlib.Path) -> None:
    folder = folder_of(tmp_path, row(1), references=[reference(1)])
    (folder / "reference_answer" / "them.jsonl").write_text(json.dumps(reference(1)) + "\n")
    assert "several authors of references" in check_bench(folder).notes[0]


def test_a_category_that_is_nearly_a_known_one_is_noted(tmp_path: pathlib.Path) -> None:
    assert "category 'maths' is not 'math'" in check_bench(folder_of(tmp_path, row(1, "maths"))).notes[0]


def test_a_category_of_colossalai_is_no_misspelling(tmp_path: pathlib.Path) -> None:
    assert check_bench(folder_of(tmp_path, row(1, "rewriting"))).notes == ()


def test_further_fields_with_few_values_are_counted(tmp_path: pathlib.Path) -> None:
    rows = [row(n, "stem", difficulty="hard" if n < 3 else "plain", note=f"note {n}", tags=["x"]) for n in range(20)]
    assert check_bench(folder_of(tmp_path, *rows)).values() == [
        {"field": "difficulty", "value": "plain", "questions": 17},
        {"field": "difficulty", "value": "hard", "questions": 3},
    ]


def question(question_id: int, *turns: str) -> Question:
    return Question(question_id, "writing", turns)


@pytest.mark.parametrize(
    ("first", "second", "same", "share"),
    [
        pytest.param(LONG, LONG.upper().replace(";", " -"), True, 1.0, id="case and punctuation"),
        pytest.param(LONG, LONG + " Give the answer as one word.", False, 1.0, id="one holds the other"),
        pytest.param("Why?", "why", True, 1.0, id="short"),
        pytest.param(
            "请把这篇短文改写成一封给邻居的信", "请把这篇短文改写成一封给朋友的信", False, 0.5, id="without spaces"
        ),
    ],
)
def test_like_questions_are_found(first: str, second: str, same: bool, share: float) -> None:
    (pair,) = find_alike([question(1, first), question(2, "What is the moon made of?"), question(3, second)])
    assert (pair.first, pair.second, pair.same) == (1, 3, same)
    assert pair.share >= share


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            ("What is the capital of Peru?", "And why?"), ("What is the capital of Mali?", "And why?"), id="short"
        ),
        pytest.param(
            (LONG,), ("A ferry leaves the harbour every forty minutes, and it is full.",), id="a common start"
        ),
    ],
)
def test_other_questions_are_not(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    assert find_alike([question(1, *first), question(2, *second)]) == []


def test_the_common_wording_of_a_set_does_not_make_its_questions_alike() -> None:
    frame = "Please translate the sentence below into plain French and say nothing else at all: {}"
    words = [
        "harbour",
        "violin",
        "kettle",
        "lantern",
        "orchard",
        "pebble",
        "ribbon",
        "saddle",
        "timber",
        "velvet",
        "willow",
    ]
    assert find_alike([question(n, frame.format(word)) for n, word in enumerate(words * 2) if n < len(words)]) == []


def test_a_name_is_looked_for_in_the_data_folder_then_among_the_shipped(tmp_path: pathlib.Path) -> None:
    folder = folder_of(tmp_path, row())
    assert check_bench("our_set", tmp_path).folder == folder
    assert check_bench("mt_bench", tmp_path).folder == shipped("data") / "mt_bench"


@pytest.mark.parametrize(
    ("which", "message"),
    [
        pytest.param("our_sett", "no benchmark 'our_sett'; did you mean 'our_set'", id="near miss"),
        pytest.param("{}/our_set/question.jsonl", "give the folder that contains question.jsonl", id="file"),
        pytest.param("{}", "contains no question.jsonl", id="other folder"),
        pytest.param("{}/nowhere", "no benchmark", id="no folder"),
    ],
)
def test_no_such_benchmark_is_said(tmp_path: pathlib.Path, which: str, message: str) -> None:
    folder_of(tmp_path, row())
    with pytest.raises(UsageError, match=message):
        check_bench(which.format(tmp_path), tmp_path)


def test_a_folder_that_cannot_be_a_benchmarks_name_is_a_problem(tmp_path: pathlib.Path) -> None:
    folder_of(tmp_path, row(1, "stem")).rename(tmp_path / ".hidden")
    (problem,) = check_bench(tmp_path / ".hidden").problems
    assert "not a plain folder name" in problem.message


def test_a_shipped_set_is_sound() -> None:
    report = check_bench(shipped("data") / "mt_bench")
    assert report.problems == ()
    assert report.missing == ()
    assert report.alike == ()


@pytest.mark.reference
def test_the_official_set_is_sound(reference_data: pathlib.Path) -> None:
    report = check_bench(reference_data / "mt_bench")
    assert report.problems == ()
    assert report.missing == ()
    assert len(report.questions) == 80


def test_a_temperature_of_no_category_is_a_problem(tmp_path: pathlib.Path) -> None:
    settings = "[temperatures]\nmath = 0.1\nsuport = 0.2\nstem = 0.3"
    report = check_bench(folder_of(tmp_path, row(1), row(2, "support"), settings=settings))
    assert told(report) == [
        "bench.toml:3: temperatures.suport applies to no question: none has that category; did you mean 'support'?"
    ]
    assert any("temperatures.stem applies to no question" in note for note in report.notes)


def test_a_reference_in_the_question_is_noted(tmp_path: pathlib.Path) -> None:
    report = check_bench(folder_of(tmp_path, row(1, reference=["4", "8"]), row(2)))
    (note,) = (note for note in report.notes if "reference" in note)
    assert "the field 'reference' of a question is never shown to a judge (question 1); write references into" in note


def test_a_reference_in_the_question_is_not_noted_beside_a_reference_answer() -> None:
    report = check_bench("mt_bench")
    assert any(question.reference for question in report.questions)
    assert not any("'reference'" in note for note in report.notes)


@pytest.mark.parametrize("name", ["bench.toml", "reference_answer/us.jsonl"])
def test_a_pipe_is_a_problem_and_not_waited_for(name: str, tmp_path: pathlib.Path) -> None:
    folder = folder_of(tmp_path, row(1))
    os.mkfifo(folder / name)
    assert any("is a folder or a pipe" in line for line in told(check_bench(folder)))
