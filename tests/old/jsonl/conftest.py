"""What the tests of the journal share."""

import pathlib

import pytest

from harness.old.jsonl import Journal


@pytest.fixture
def journal(tmp_path: pathlib.Path) -> Journal:
    return Journal(tmp_path / "model_answer" / "a.jsonl", tmp_path / ".turnbench")
