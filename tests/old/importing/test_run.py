"""Benchmarks made of other projects' data: what a record becomes, what is left out, what is never touched."""

import csv
import json
import pathlib
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.errors import DataError, UsageError
from harness.old.importing.run import import_data
from harness.old.judgments.row import judged_row


def _graded(number: int, **changes: Any) -> dict[str, Any]:
    descriptions = {f"orig_score{grade}_description": f"earns {grade}" for grade in range(1, 6)}
    return {
        "instruction": "all that the judge is sent",
        "orig_instruction": f"Explain thing {number}.",
        "orig_response": f"It is {number}.",
        "orig_reference_answer": "It is so.",
        "orig_criteria": "Is it clear?",
        **descriptions,
        "orig_score": "4",
        "orig_feedback": "Clear enough.",
    } | changes


def _array(path: pathlib.Path, records: list[Any]) -> pathlib.Path:
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def _rows(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_graded_record_becomes_question_answer_reference_rubric_and_vote(tmp_path: pathlib.Path) -> None:
    path = _array(tmp_path / "fc.json", [_graded(1)])
    report = import_data("feedback_collection", [path], "fc", data_dir=tmp_path)
    bench = load_bench("fc", tmp_path)
    question = bench.questions[0]
    assert question.turns == ("Explain thing 1.",)
    assert question.extra["rubric"].startswith("[Is it clear?]\nScore 1: earns 1\n")
    assert question.extra["rubric"].endswith("Score 5: earns 5")
    assert bench.answers("response")[1].choices[0].turns == ("It is 1.",)
    assert bench.reference_answers() == {1: ("It is so.",)}
    vote = _rows(bench.folder / "human_judgment" / "feedback_collection.jsonl")[0]
    assert (vote["score"], vote["judgment"], vote["model"], vote["turn"]) == (4, "Clear enough.", "response", 1)
    assert (report.questions, report.answers, report.votes, report.bad) == (1, {"response": 1}, 1, [])


def test_the_judges_input_is_kept_only_when_asked_for(tmp_path: pathlib.Path) -> None:
    path = _array(tmp_path / "fc.json", [_graded(1)])
    import_data("feedback_collection", [path], "plain", data_dir=tmp_path)
    import_data("feedback_collection", [path], "kept", data_dir=tmp_path, keep_input=True)
    assert "context" not in load_bench("plain", tmp_path).questions[0].extra
    assert load_bench("kept", tmp_path).questions[0].extra["context"] == "all that the judge is sent"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"orig_score": "6"}, "orig_score must be a whole number from 1 to 5", id="score-outside"),
        pytest.param({"orig_score": True}, "orig_score must be", id="score-a-boolean"),
        pytest.param({"orig_instruction": " "}, "orig_instruction is empty", id="no-question"),
        pytest.param({"orig_score3_description": None}, "orig_score3_description must be a text", id="no-description"),
    ],
)
def test_a_bad_record_is_listed_with_its_position_and_the_others_kept(
    tmp_path: pathlib.Path, changes: dict[str, Any], reason: str
) -> None:
    path = _array(tmp_path / "fc.json", [_graded(1), _graded(2, **changes), _graded(3)])
    report = import_data("feedback_collection", [path], "fc", data_dir=tmp_path)
    assert [q.question_id for q in load_bench("fc", tmp_path).questions] == [1, 3]
    assert [(row.position, reason in row.reason) for row in report.bad] == [(2, True)]


def test_first_n_counts_good_records(tmp_path: pathlib.Path) -> None:
    path = _array(tmp_path / "fc.json", [{}, *(_graded(n) for n in range(10))])
    assert import_data("feedback_collection", [path], "fc", data_dir=tmp_path, first_n=3).questions == 3


def test_a_preference_becomes_a_vote_that_is_read_as_one(tmp_path: pathlib.Path) -> None:
    record = {
        "orig_instruction": "Say hello.",
        "orig_response_A": "Hello.",
        "orig_response_B": "",
        "orig_criteria": "Is it friendly?",
        "orig_preference": "A",
    }
    import_data("preference_collection", [_array(tmp_path / "pc.json", [record])], "pc", data_dir=tmp_path)
    folder = tmp_path / "pc"
    assert load_bench("pc", tmp_path).answered_models() == ("response_a", "response_b")
    votes = folder / "human_judgment" / "preference_collection.jsonl"
    vote = judged_row(_rows(votes)[0], votes, 1)
    assert (vote.models, vote.games) == (("response_a", "response_b"), (1.0,))


def test_colossalai_answers_are_joined_by_category_and_id(tmp_path: pathlib.Path) -> None:
    targets = [
        {"category": "chat", "instruction": "Go on.", "input": "A: hi", "output": "model", "target": "gold", "id": 2},
        {"category": "open_qa", "instruction": "Why?", "input": "", "output": "model", "target": "", "id": 1},
    ]
    answers = [{"category": "open_qa", "output": "why", "id": 1}, {"category": "chat", "output": "hey", "id": 2}]
    wrong = [*answers, {"category": "chat", "output": "lost", "id": 1}]
    files = [_array(tmp_path / "t.json", targets), _array(tmp_path / "a.json", wrong)]
    report = import_data("colossalai", files, "c", data_dir=tmp_path, model_id=["vendor/m"])
    bench = load_bench("c", tmp_path)
    assert bench.questions[0].turns == ("Go on.\nA: hi",)
    assert bench.answers("vendor/m")[2].choices[0].turns == ("hey",)
    assert bench.reference_answers() == {2: ("gold",), 1: ("model",)}
    notes = {row["question_id"]: row.get("note") for row in _rows(bench.folder / "reference_answer/reference.jsonl")}
    assert notes[2] is None
    assert "made by a model" in str(notes[1])
    assert [row.position for row in report.bad] == [3]


def test_two_questions_with_one_id_are_not_both_taken(tmp_path: pathlib.Path) -> None:
    targets = [{"category": c, "instruction": "x", "id": 1} for c in ("chat", "open_qa")]
    report = import_data("colossalai", [_array(tmp_path / "t.json", targets)], "c", data_dir=tmp_path)
    assert report.questions == 1
    assert "id 1 is already used" in report.bad[0].reason


def test_alpaca_eval_outputs_are_joined_by_instruction_and_named_by_generator(tmp_path: pathlib.Path) -> None:
    def outputs(generator: str, texts: dict[str, str]) -> list[dict[str, str]]:
        return [
            {"instruction": k, "output": v, "generator": generator, "dataset": "selfinstruct"} for k, v in texts.items()
        ]

    first = outputs("base", {"Sing.": "la", "Add.": "3"})
    files = [
        _array(tmp_path / "base.json", [*first, first[0]]),
        _array(tmp_path / "new.json", outputs("new", {"Add.": "4", "Sing.": "lo"})),
    ]
    report = import_data("alpaca_eval", files, "ae", data_dir=tmp_path)
    bench = load_bench("ae", tmp_path)
    assert report.repeated == 1
    assert [q.category for q in bench.questions] == ["selfinstruct", "selfinstruct"]
    assert {key: a.choices[0].turns for key, a in bench.answers("new").items()} == {1: ("lo",), 2: ("4",)}


def test_further_answers_can_be_added_to_what_was_imported(tmp_path: pathlib.Path) -> None:
    base = _array(tmp_path / "base.json", [{"instruction": "Sing.", "output": "la", "generator": "base"}])
    new = _array(tmp_path / "new.json", [{"instruction": "Sing.", "output": "lo", "generator": "new"}])
    import_data("alpaca_eval", [base], "ae", data_dir=tmp_path)
    before = (tmp_path / "ae" / "model_answer" / "base.jsonl").read_bytes()
    report = import_data("alpaca_eval", [base, new], "ae", data_dir=tmp_path)
    assert [path.name for path in report.added] == ["new.jsonl"]
    assert (tmp_path / "ae" / "model_answer" / "base.jsonl").read_bytes() == before


def test_other_questions_of_that_name_are_never_touched(tmp_path: pathlib.Path) -> None:
    import_data(
        "short_facts", [_array(tmp_path / "a.json", [{"question": "1+1?", "answer": 2}])], "b", data_dir=tmp_path
    )
    other = _array(tmp_path / "b.json", [{"question": "2+2?", "answer": 4}])
    with pytest.raises(UsageError, match="contains other questions"):
        import_data("short_facts", [other], "b", data_dir=tmp_path)
    assert load_bench("b", tmp_path).questions[0].turns == ("1+1?",)
    assert not list(tmp_path.glob(".*importing*"))


def test_files_with_a_part_of_the_questions_are_not_said_to_hold_others(tmp_path: pathlib.Path) -> None:
    records = [{"instruction": text, "output": "la", "generator": "base"} for text in ("Sing.", "Hum.", "Whistle.")]
    whole = _array(tmp_path / "base.json", records)
    import_data("alpaca_eval", [whole], "ae", data_dir=tmp_path)
    cut = tmp_path / "cut.json"
    cut.write_text(whole.read_text(encoding="utf-8").replace("base", "new")[:-30], encoding="utf-8")
    with pytest.raises(UsageError, match="holds 3 questions, of which these files have 2: is one of them cut"):
        import_data("alpaca_eval", [cut], "ae", data_dir=tmp_path)
    assert len(load_bench("ae", tmp_path).questions) == 3


def test_short_facts_keep_every_other_field(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "qa.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["problem", "answer", "era", "question_id"], ["Who?", "Me", "old", "x"]])
    import_data("short_facts", [path], "qa", data_dir=tmp_path)
    bench = load_bench("qa", tmp_path)
    assert bench.questions[0].extra == {"era": "old"}
    assert bench.reference_answers() == {1: ("Me",)}


def test_a_file_without_one_good_record_leaves_nothing_behind(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"no record is valid as short_facts; the first is .*record 1"):
        import_data("short_facts", [_array(tmp_path / "a.json", [{"x": 1}])], "qa", data_dir=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_answers_of_two_files_are_never_mixed_as_one_models(tmp_path: pathlib.Path) -> None:
    def outputs(name: str, generator: str, texts: dict[str, str]) -> pathlib.Path:
        rows = [{"instruction": k, "output": v, "generator": generator} for k, v in texts.items()]
        return _array(tmp_path / f"{name}.json", rows)

    base = outputs("base", "base", {"Sing.": "la", "Add.": "3"})
    files = [base, outputs("a", "new", {"Sing.": "lo", "Add.": "4"}), outputs("b", "new", {"Sing.": "li"})]
    report = import_data("alpaca_eval", files, "named", data_dir=tmp_path, model_id=["a", "b"])
    assert report.answers == {"base": 2, "a": 2, "b": 1}
    again = import_data("alpaca_eval", [*files, base], "said", data_dir=tmp_path)
    assert again.answers == {"base": 2, "new": 2}
    assert [str(bad.reason) for bad in again.bad] == [
        "it is a second answer by new to a question (Sing.)",
        "it is a second answer by base to a question (Sing.)",
        "it is a second answer by base to a question (Add.)",
    ]


@pytest.mark.parametrize(
    ("format_name", "files", "models", "reason"),
    [
        pytest.param("csv", ["a.json"], [], "no format 'csv'; there are: feedback_collection", id="format"),
        pytest.param("alpaca_eval", [], [], "no file given", id="no-file"),
        pytest.param("colossalai", ["a.json"], ["m"], "names 1 models, but there are 0 further files", id="names"),
    ],
)
def test_wrong_use_is_refused(
    tmp_path: pathlib.Path, format_name: str, files: list[str], models: list[str], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        import_data(format_name, files, "b", data_dir=tmp_path, model_id=models)


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"topic": "Art", "urls": ["a", "b"], "answer": "no"}, id="object"),
        pytest.param('{"topic": "Art", "urls": ["a", "b"], "answer": "no"}', id="json"),
        pytest.param("{'topic': 'Art', 'urls': ['a', 'b'], 'answer': 'no'}", id="python"),
    ],
)
def test_what_simple_qa_keeps_in_one_field_can_be_grouped_by(tmp_path: pathlib.Path, metadata: Any) -> None:
    path = _array(tmp_path / "qa.json", [{"problem": "Who?", "answer": "She.", "metadata": metadata}])
    import_data("short_facts", [path], "qa", data_dir=tmp_path)
    (row,) = _rows(tmp_path / "qa" / "question.jsonl")
    assert (row["category"], row["topic"], row["metadata"]) == ("Art", "Art", metadata)
    assert "urls" not in row
    assert _rows(tmp_path / "qa" / "reference_answer" / "reference.jsonl")[0]["choices"][0]["turns"] == ["She."]


def test_metadata_that_is_no_object_is_kept_as_it_is(tmp_path: pathlib.Path) -> None:
    path = _array(tmp_path / "qa.json", [{"problem": "Who?", "answer": "She.", "metadata": "{" * 5_000}])
    import_data("short_facts", [path], "qa", data_dir=tmp_path)
    (row,) = _rows(tmp_path / "qa" / "question.jsonl")
    assert (row["category"], row["metadata"]) == ("short_fact", "{" * 5_000)


def test_the_input_of_an_alpaca_eval_record_is_joined_to_its_instruction(tmp_path: pathlib.Path) -> None:
    records = [
        {"instruction": "Sum it up.", "input": text, "output": f"about {text}", "generator": "m", "dataset": "d"}
        for text in ("first text", "second text", "")
    ]
    path = tmp_path / "out.json"
    path.write_text(json.dumps(records))
    report = import_data("alpaca_eval", [path], "ae", data_dir=tmp_path)
    assert (report.questions, report.repeated, report.bad) == (3, 0, [])
    bench = load_bench("ae", tmp_path)
    asked = [question.turns[0] for question in bench.questions]
    assert asked == ["Sum it up.\n\nfirst text", "Sum it up.\n\nsecond text", "Sum it up."]
    assert next(answer.choices[0].turns[0] for answer in bench.answers("m").values()) == "about first text"
