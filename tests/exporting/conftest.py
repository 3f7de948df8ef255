"""Results to export: two models, graded and compared."""

import pathlib

import pytest

from harness.cli.main import main


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a data folder in which two models are graded and compared."""
    folder = tmp_path_factory.mktemp("exporting") / "data"
    words = ["--data-dir", str(folder), "--sample-n", "6", "-q"]
    assert main(["gen_answer", "--model", "builtin/reference", "builtin/eliza", *words]) == 0
    for mode in ("single", "pairwise-all"):
        judge = ["gen_judgment", "--judge-model", "builtin/overlap", "--mode", mode]
        assert main([*judge, *words]) == 0
    return folder
