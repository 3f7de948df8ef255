"""The bar says what happens, on stderr, and never stops the work."""

import re
import sys
import time

import pytest

from harness.old.cli.messages import bar
from harness.old.records import Failure
from harness.old.running import bar as bar_module
from harness.old.running.bar import told, tqdm_watch
from harness.old.running.watch import Tally, nobody


@pytest.mark.parametrize(
    ("tally", "text"),
    [
        pytest.param(Tally(), "", id="nothing"),
        pytest.param(Tally(in_flight=8, retries=2), "in flight 8, retries 2", id="waiting"),
        pytest.param(Tally(in_flight=8, limit=64, cost=0.0123), "in flight 8 of 64, $0.0123", id="limit and cost"),
        pytest.param(Tally(resumes_at=time.monotonic() + 1e7), "waiting, seconds 10.0M", id="left alone"),
        pytest.param(Tally(limit=64, cost=1234.5), "$1,234.50", id="much"),
        pytest.param(
            Tally(failures=[Failure("k", "outage", "m")], flagged={"length": 3}), "failed 1, length 3", id="bad"
        ),
        pytest.param(Tally(prompt_tokens=9999, completion_tokens=12_345), "tokens in 9999, out 12k", id="tokens"),
        pytest.param(Tally(prompt_tokens=2_340_000), "tokens in 2.3M", id="many"),
    ],
)
def test_figures_that_are_nought_are_left_out(tally: Tally, text: str) -> None:
    assert told(tally) == text


def test_it_shows_progress_rate_failures_and_tokens(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bar_module, "IN_FILE", 0.0)
    tally = Tally(done=3, failures=[Failure("k", "outage", "m")], prompt_tokens=5)
    with bar(10, "call", quiet=False) as watch:
        watch(tally)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "4/10" in shown.err
    assert " calls/s" in shown.err
    assert "failed 1, tokens in 5" in shown.err


@pytest.mark.parametrize(("total", "quiet"), [(10, True), (0, False)], ids=["quiet", "nothing-to-do"])
def test_there_is_none_where_none_is_wanted(total: int, quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with bar(total, "call", quiet=quiet) as watch:
        assert watch is nobody
    assert capsys.readouterr().err == ""


def test_a_stderr_that_broke_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        encoding = "utf-8"
        broken = False

        def write(self, text: str) -> int:
            if self.broken:
                raise BrokenPipeError
            return len(text)

        def flush(self) -> None:
            self.write("")

        def isatty(self) -> bool:
            return True

    stderr = Broken()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(bar_module, "ON_TERMINAL", 0.0)
    with bar(10, "call", quiet=False) as watch:
        stderr.broken = True
        watch(Tally(done=1))


def test_a_program_s_bar_takes_its_total_from_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    with tqdm_watch(unit="answer") as watch:
        watch(Tally(planned=4, done=3, failures=[Failure("k", "outage", "m")]))
    assert "4/4" in capsys.readouterr().err


FULL = Tally(done=12, in_flight=9, limit=64, retries=239, prompt_tokens=9536, completion_tokens=1605, cost=12.34)


@pytest.mark.parametrize("width", range(30, 160))
def test_on_a_narrow_terminal_whole_figures_are_left_out_and_none_is_cut(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tqdm.std._screen_shape_wrapper", lambda: lambda stream: (width, 24))
    monkeypatch.setattr(bar_module, "IN_FILE", 0.0)
    with bar(1000, "judgment", quiet=False) as watch:
        watch(FULL)
    last = capsys.readouterr().err.split("\r")[-1].rstrip()
    assert len(last) <= width
    assert width < 80 or last.endswith("]")
    figures = re.findall(r"s/s, (.*)\]$", last)
    if figures:
        whole = ["in flight 9 of 64", "retries 239", "tokens in 9536", "out 1605", "$12.34"]
        assert set(figures[0].split(", ")) <= set(whole)
        assert "$12.34" in figures[0]
    assert (width < 150) or figures == ["in flight 9 of 64, retries 239, tokens in 9536, out 1605, $12.34"]
