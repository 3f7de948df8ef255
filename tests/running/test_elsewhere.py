"""What Windows lacks is not needed: signals, binary files, characters in names."""

import asyncio
import os
import pathlib
import signal
from typing import Any

import pytest

import harness
from harness.bench.names import file_stem, name_of
from harness.errors import Interrupted, UsageError
from harness.extras.checks.sandbox import check_sandbox

MODELS = ["builtin/reference", "builtin/eliza"]


@pytest.fixture
def _windows(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise NotImplementedError

    for module, name in ((signal, "SIGHUP"), (os, "geteuid")):
        monkeypatch.delattr(module, name)
    monkeypatch.setattr(asyncio.unix_events.SelectorEventLoop, "add_signal_handler", refuse)
    monkeypatch.setattr(os, "O_BINARY", 0, raising=False)


@pytest.mark.usefixtures("_windows")
def test_a_run_needs_none_of_it(tmp_path: pathlib.Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    report = harness.run_bench(MODELS, "builtin/overlap", first_n=3, data_dir=str(tmp_path))
    assert report.exit_code == 0
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("_windows")
def test_an_interruption_still_ends_a_run_and_keeps_what_is_done(tmp_path: pathlib.Path) -> None:
    def interrupt(progress: Any) -> None:
        if progress.done == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="what was done is kept"):
        harness.gen_answer(MODELS[:1], progress=interrupt, data_dir=str(tmp_path))
    path = tmp_path / "mt_bench" / "model_answer" / "builtin%2Freference.jsonl"
    done = path.read_bytes().count(b"\n")
    assert 2 <= done < 80
    harness.gen_answer(MODELS[:1], data_dir=str(tmp_path))
    assert path.read_bytes().count(b"\n") == 80


@pytest.mark.usefixtures("_windows")
def test_code_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="needs bubblewrap"):
        check_sandbox()


@pytest.mark.parametrize("name", ["who?", 'a"b', "con", "NUL.x", "lpt1", "a<b>|c*", "org/m:1", "é"])
@pytest.mark.parametrize("windows", [False, True])
def test_names_come_back_wherever_they_were_written(name: str, windows: bool) -> None:
    stem = file_stem(name, windows=windows)
    assert name_of(stem) == name
    assert not windows or not set(stem) & set('<>:"/\\|?*')
