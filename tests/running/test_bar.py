"""What stands beside a run on a terminal."""

import pytest

from harness.running import Progress
from harness.running.bar import bar, figures


def test_what_ctrl_c_waits_for_comes_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.running.bar._FILE", 0.0)
    state = "Ctrl-C again stops at once; 21 calls under way"
    flagged = {"length": 2, "empty": 10}
    with bar(2000, "answers") as move:
        move(Progress(done=3, in_flight=21, retries=1000, cost=1.5, flagged=flagged, state=state))
    last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
    assert last.startswith(state)  # what is cut is at the end


def test_cut_replies_are_called_so() -> None:
    assert figures(Progress(flagged={"length": 2})) == "2 cut"
