"""UniEval's files of questions: an own dimension is a line, and whatever is wrong has its place."""

import pathlib
import tomllib

import pytest

from harness.old.errors import DataError
from harness.old.metrics.questions import SHIPPED, STAND_IN, load_questions


def test_the_shipped_ones_have_every_dimension_of_the_published_tasks() -> None:
    questions = load_questions()
    assert questions.name == STAND_IN
    assert questions.tasks == ("summarization", "dialogue", "data2text", "fact")
    assert len(questions.dimensions) == 12
    assert tomllib.loads(SHIPPED.read_text(encoding="utf-8"))["name"] == "stand-in"


def test_an_own_dimension_is_one_line(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('name = "own"\n[tasks.support]\nkindness = "question: Is this kind? </s> reply: {answer}"\n')
    (one,) = load_questions(path).dimensions
    assert (one.key, one.number, one.sentences) == ("support/kindness", "support_kindness", None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param('[tasks.t]\na = "{answer}"', "the key 'name' is missing; it must be a name", id="no name"),
        pytest.param('name = "n"', "the key 'tasks' is missing; it must be a table", id="no tasks"),
        pytest.param('name = "n"\ntask = 1', "unknown key 'task'; did you mean 'tasks'", id="key"),
        pytest.param('name = "n"\n[tasks.t]\na = 1', r"tasks.t.a must be a table", id="number"),
        pytest.param('name = "n"\n[tasks.t]\na = "{answr}"', r"t/a: {answr} is not a placeholder", id="placeholder"),
        pytest.param('name = "n"\n[tasks.t]\na = "hm?"', "t/a: must hold one of {answer} and {sentence}", id="none"),
        pytest.param('name = "n"\n[tasks.t]\na = "{answer}{sentence}"', "t/a: must hold one of", id="both"),
        pytest.param('name = "n"\n[tasks.t]\na = {ask = "{answer}", sentences = "sum"}', "needs {sentence}", id="sum"),
        pytest.param(
            'name = "n"\n[tasks.t]\na = {ask = "{sentence}", sentences = "max"}',
            'tasks.t.a.sentences must be "mean" or "sum"',
            id="max",
        ),
        pytest.param(
            'name = "n"\n[tasks.t]\na = {aks = "{answer}"}', "unknown key 'tasks.t.a.aks'; did you mean 'ask'", id="aks"
        ),
    ],
)
def test_what_is_wrong_has_its_file_and_dimension(tmp_path: pathlib.Path, text: str, reason: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"own\.toml.*{reason}"):
        load_questions(path)
