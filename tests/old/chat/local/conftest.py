"""Tiny models, made once."""

import pathlib

import pytest

from tests.old.chat.local.tiny_llama import save_llama


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of a tiny model with a chat template of its own."""
    return save_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of one without a template."""
    return save_llama(tmp_path_factory.mktemp("near") / "vicuna-tiny", template=None, longest=2048)
