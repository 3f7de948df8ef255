"""What every test has: no keys, no waiting between tries, and the published data."""

import os
import pathlib
from importlib.util import find_spec

import pytest

from harness.errors import UsageError
from harness.extras.checks.sandbox import check_sandbox
from harness.running import worker

ROOT = pathlib.Path(__file__).resolve().parent.parent


EXTRAS = {"models": ("torch", "transformers", "sentencex"), "ray": ("ray",)}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs an extra or a program that this machine lacks, and say which."""
    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if find_spec(name) is None]
        if item.get_closest_marker(extra) and missing:
            pytest.skip(f"the extra [{extra}] is not installed: {', '.join(missing)}")
    if item.get_closest_marker("sandbox"):
        try:
            check_sandbox()
        except UsageError as error:
            pytest.skip(str(error))


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Let tiny models compute in one thread: threads would only wait for each other."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide keys, addresses and proxies that the person who runs the tests may have set."""
    for name in list(os.environ):
        if name.startswith(
            ("OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "TURNBENCH_")
        ) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(worker, "RETRY", worker.Retry(first=0.001, longest=0.01))


@pytest.fixture
def reference_data() -> pathlib.Path:
    """Return the folder of published judgments, votes and tables, or skip."""
    folder = ROOT.parent / "shared" / "reference_data"
    if not folder.is_dir():
        pytest.skip(f"the published data is not there ({os.path.relpath(folder, ROOT)})")
    return folder
