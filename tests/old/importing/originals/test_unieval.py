"""The reader of UniEval's questions: out of nested ifs, without running anything, each as the original would put it."""

import ast
import hashlib
import json
import pathlib

import pytest

from harness.old.errors import DataError
from harness.old.importing.originals.fetching import fetch
from harness.old.importing.originals.readers import questions_toml
from harness.old.importing.originals.table import load_originals
from harness.old.metrics.questions import load_questions

WHAT_THE_ORIGINAL_ASKS = "9e9da1dacb220ae0"
"""SHA-256 of what its function returned for every task and dimension, with A, Q, R and C as texts."""
SOURCE = """
import os
os.abort()
def add_question(dimension, output, src=None, ref=None, context=None, task=None):
    texts = []
    for i in range(len(output)):
        # a comment
        if task == 'summarization':
            if dimension == 'fluency':
                text = 'a {b}? </s> x: ' + output[i]
            elif dimension == 'relevance':
                text = 'c "d"? </s> x: ' + output[i] \\
                       + ' </s> y: ' + ref[i]
            else:
                raise NotImplementedError('nothing')
        elif task == 'dialogue':
            if dimension == 'engagingness':
                text = 'e? ' + output[i] + src[i] + context[i]
            else:
                raise NotImplementedError('nothing')
        texts.append(text)
    return texts
"""


def test_questions_are_found_inside_nested_ifs(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "unieval.toml"
    path.write_text(questions_toml(ast.parse(SOURCE), path), encoding="utf-8")
    values = {"answer": "A", "sentence": "S", "source": "Q", "reference": "R", "context": "C"}
    found = {one.key: (one.template.fill(values), one.sentences) for one in load_questions(path).dimensions}
    assert found == {
        "summarization/fluency": ("a {b}? </s> x: S", "mean"),
        "summarization/relevance": ('c "d"? </s> x: A </s> y: R', None),
        "dialogue/engagingness": ("e? SQC", "sum"),
    }


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("x = 1", "holds no function add_question with questions", id="no function"),
        pytest.param(SOURCE.replace("ref[i]", "f(ref)"), r"utils\.py:13: a question is built .*: f\(ref\)", id="call"),
    ],
)
def test_another_source_is_a_data_error(source: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        questions_toml(ast.parse(source), pathlib.Path("utils.py"))


@pytest.mark.reference
def test_every_published_question_is_asked_as_the_original_asks_it(
    tmp_path: pathlib.Path, reference_data: pathlib.Path
) -> None:
    original = load_originals()["unieval_questions"]
    source = tmp_path / "source"
    source.mkdir()
    (source / "utils.py").write_bytes((reference_data / "originals" / "unieval_utils.py").read_bytes())
    fetched = fetch(original, tmp_path / "data", source=str(source))
    made = fetched.folder / "unieval.toml"
    assert made in fetched.written
    questions = load_questions(made)
    assert questions.name == "unieval"
    values = {"answer": "A", "sentence": "A", "source": "Q", "reference": "R", "context": "C"}
    asked = {(one.task, one.name): one.template.fill(values) for one in questions.dimensions}
    texts = json.dumps(sorted([*key, text] for key, text in asked.items()))
    assert hashlib.sha256(texts.encode()).hexdigest().startswith(WHAT_THE_ORIGINAL_ASKS)
    assert len(asked) == 12
    by_sentence = {one.key: one.sentences for one in questions.dimensions if one.sentences}
    assert by_sentence == {
        "summarization/fluency": "mean",
        "summarization/consistency": "mean",
        "dialogue/engagingness": "sum",
        "fact/consistency": "mean",
    }
    assert fetch(original, tmp_path / "data", source=str(source)).written == ()
