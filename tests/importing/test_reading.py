"""What is wrong in a file is named with its line; nothing that stands is replaced."""

import gzip
import json
import pathlib

import pytest

from harness import bench, import_data
from harness.cli.main import import_data as main
from harness.errors import DataError, UsageError
from tests.importing import files
from tests.importing.files import answers, json_array, json_lines, messages

FACT = {"question": "When?", "answer": "1900"}


def test_bad_records_are_listed_with_their_line_and_the_rest_is_imported(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text(f'{json.dumps(FACT)}\n\n{{"question": \n[1]\n{{"answer": "x"}}\n')
    report = import_data("short_facts", [path], "f", data_dir=tmp_path)
    assert report.questions == 1
    places = [line.removeprefix(f"{path}:").partition(": ") for line in report.bad]
    assert [(line, why) for line, _, why in places] == [
        ("3", "not valid JSON: Expecting value"),
        ("4", "it is not shaped like short_facts: 'list' object has no attribute 'get'"),
        ("5", "there is no text in question or problem"),
    ]


def test_a_record_of_an_array_is_named_by_its_number(tmp_path: pathlib.Path) -> None:
    path = json_array(tmp_path / "facts.json", [FACT, {"question": "", "answer": "x"}])
    report = import_data("short_facts", [path], "f", data_dir=tmp_path)
    assert report.bad == [f"{path}, record 2: there is no text in question or problem"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        pytest.param("a.json", b'[{"question": "q"},\n {"x": tr}]', "a.json:2: .*JSON", id="array"),
        pytest.param("a.json", b'[{"question": "q", "answer": "a"}', "a.json:1: .*JSON", id="cut"),
        pytest.param("a.json", b'[{"q": "\xff"}]', "cannot be read: .*utf-8", id="bytes"),
        pytest.param("a.txt", b"question", "contains no JSON, and is not named .csv", id="text"),
        pytest.param("a.csv", b'q,a\n"x,', "cannot be read: unexpected end", id="table"),
        pytest.param("a.jsonl", b'{"answer": "x"}', "no record can be used", id="unusable"),
        pytest.param("a.parquet", b"PAR", "Parquet", id="parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(
    tmp_path: pathlib.Path, name: str, content: bytes, fault: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=fault):
        import_data("short_facts", [tmp_path / name], "f", data_dir=tmp_path)
    assert not (tmp_path / "f").exists()


def test_packed_files_byte_order_marks_and_nan_are_read(tmp_path: pathlib.Path) -> None:
    packed, marked = tmp_path / "a.jsonl.gz", tmp_path / "b.json"
    packed.write_bytes(gzip.compress(json.dumps(FACT).encode()))
    marked.write_bytes(b'\xef\xbb\xbf[{"question": "q", "answer": "a", "level": NaN}]')
    report = import_data("short_facts", [packed, marked], "f", data_dir=tmp_path)
    assert (report.questions, report.bad) == (2, [])
    assert [q.turns for q in bench.load("f", tmp_path).questions] == [["When?"], ["q"]]


def test_first_n_takes_the_first_records_of_each_file(tmp_path: pathlib.Path) -> None:
    target = json_array(tmp_path / "target.json", files.TARGETS)
    answered = json_array(tmp_path / "m.json", files.TARGETS)
    report = import_data("colossalai", [target, answered], "c", data_dir=tmp_path, first_n=1)
    assert (report.questions, report.answers, report.bad) == (1, {"m": 1}, [])


def test_the_same_import_again_adds_nothing(tmp_path: pathlib.Path) -> None:
    path = json_array(tmp_path / "a.json", files.OUTPUTS)
    import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    before = {file: file.read_bytes() for file in (tmp_path / "a").rglob("*") if file.is_file()}
    again = import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    assert (again.questions, again.answers, again.written) == (0, {"base": 0}, [])
    assert {file: file.read_bytes() for file in before} == before


def test_another_benchmarks_questions_are_refused_before_anything_is_written(
    tmp_path: pathlib.Path,
) -> None:
    import_data("short_facts", [json_lines(tmp_path / "f.jsonl", [FACT])], "b", data_dir=tmp_path)
    target = json_array(tmp_path / "target.json", files.TARGETS)
    answered = json_array(tmp_path / "m.json", files.TARGETS)
    with pytest.raises(DataError, match="question 1 is another one here; give another --bench"):
        import_data("colossalai", [target, answered], "b", data_dir=tmp_path)
    assert not (tmp_path / "b" / "model_answer").exists()


def test_a_different_answer_is_kept_out(tmp_path: pathlib.Path) -> None:
    path = json_array(tmp_path / "a.json", files.OUTPUTS)
    import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    json_array(path, [dict(record, output="other") for record in files.OUTPUTS])
    with pytest.raises(DataError, match=r"base.jsonl: has another answer to question 1"):
        import_data("alpaca_eval", [path], "a", data_dir=tmp_path)
    report = import_data("alpaca_eval", [path], "a", data_dir=tmp_path, model_id=["base-2"])
    assert report.answers == {"base-2": 2}


def test_the_number_of_models_must_fit_the_files(tmp_path: pathlib.Path) -> None:
    path = json_array(tmp_path / "a.json", files.OUTPUTS)
    with pytest.raises(UsageError, match="--model-id names 3 models for 1 files"):
        import_data("alpaca_eval", [path], "a", data_dir=tmp_path, model_id=["x", "y", "z"])


# The command


def test_the_command_says_what_was_imported_and_what_comes_next(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = json_lines(tmp_path / "f.jsonl", [FACT, {"question": "q"}])
    where = ["--bench-name", "f", "--data-dir", str(tmp_path)]
    assert main(["short_facts", str(path), *where]) == 1
    output = capsys.readouterr()
    assert f"{tmp_path}/f/question.jsonl" in output.out.splitlines()
    assert f"{tmp_path}/f: 1 question\n" in output.err
    assert f"{path}:2: there is no text in answer" in output.err
    assert "next: gen_answer --bench-name f" in output.err


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        pytest.param([], "give a format and a file", id="nothing"),
        pytest.param(["battles", "x.json"], "name the benchmark with --bench-name", id="bench"),
        pytest.param(["batles", "x", "--bench-name", "b"], "did you mean battles", id="format"),
        pytest.param(["x.json", "--back", "fastchat"], "--back takes no files", id="back"),
    ],
)
def test_wrong_use_is_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], fault: str
) -> None:
    assert main(words) == 2
    output = capsys.readouterr().err
    assert fault in output
    assert output.count("\n") == 1


def test_a_killed_import_is_completed_by_the_same_command(tmp_path: pathlib.Path) -> None:
    path = json_lines(tmp_path / "m.jsonl", [{"messages": messages("u", "r"), "model": "x"}] * 2)
    import_data("messages", [path], "m", data_dir=tmp_path)
    (tmp_path / "m" / "model_answer" / "x.jsonl").write_text('{"question_id": 1, "cho')
    (tmp_path / "m" / "question.jsonl").unlink()
    assert import_data("messages", [path], "m", data_dir=tmp_path).answers == {"x": 1}
    assert answers(tmp_path / "m" / "model_answer" / "x.jsonl") == {1: ["r"]}
    assert len(bench.load("m", tmp_path).questions) == 1
