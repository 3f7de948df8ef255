"""Tiny models, made once for all tests, and no way to a hub."""

import pathlib

import pytest

from tests.old.metrics.tiny_models import save_bert, save_t5


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of a tiny T5."""
    return save_t5(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of a tiny BERT."""
    return save_bert(tmp_path_factory.mktemp("bert"))
