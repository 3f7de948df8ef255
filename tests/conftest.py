"""What every test has: no keys, no waiting between tries, and the published data where they are at hand."""

import os
import pathlib
from collections.abc import Iterator

import pytest

from harness.running import engine
from harness.running.batches import courier
from harness.running.batches.courier import Pauses
from harness.running.retry import RetryPolicy
from tests.processes import Starter

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide keys, addresses and proxies that the person who runs the tests may have set."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "TURNBENCH_")) or name.lower().endswith(
            "_proxy"
        ):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(courier, "PAUSES", Pauses(first=0.0, settling=0.0))
    monkeypatch.setattr(engine, "RETRY", RetryPolicy(first=0.0, longest=0.0, patience=0.0))


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    """Yield what starts commands as processes of their own, without their imports."""
    with Starter() as starter:
        yield starter


@pytest.fixture
def reference_data() -> pathlib.Path:
    """Return the folder of published judgments, votes and tables, or skip."""
    folder = ROOT.parent / "shared" / "reference_data"
    if not folder.is_dir():
        pytest.skip(f"the published data is not there ({os.path.relpath(folder, ROOT)})")
    return folder
