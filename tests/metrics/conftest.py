"""Tiny models, made once for all tests, and no way to a hub."""

import os
import pathlib
from importlib.util import find_spec

import pytest

from tests.metrics.tiny_models import save_bert, save_t5


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the extra [models] where it is not installed."""
    if item.get_closest_marker("models"):
        missing = [name for name in ("torch", "transformers", "sentencex") if find_spec(name) is None]
        if missing:
            pytest.skip(f"the extra [models] is not installed: {', '.join(missing)}")


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Let tiny models compute in one thread: many threads wait for each other longer than they compute."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of a tiny T5."""
    return save_t5(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of a tiny BERT."""
    return save_bert(tmp_path_factory.mktemp("bert"))
