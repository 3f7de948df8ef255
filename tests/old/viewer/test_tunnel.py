"""`--share`: whatever Gradio's program for tunnels does, for which a script stands, ends in an address or one line."""

import os
import pathlib
import select
import threading
from collections.abc import Callable

import pytest

from viewer.old.tunnel import Tunnel


@pytest.fixture
def program(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Return the place of Gradio's program for tunnels, which does not exist; the share server is on a dead port."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GRADIO_SHARE_SERVER_ADDRESS", "127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    from gradio.tunneling import BINARY_FILENAME

    return tmp_path / "cache" / "gradio" / "frpc" / str(BINARY_FILENAME)


class Script:
    """A program in the place of Gradio's, with a pipe that tells when it has ended."""

    def __init__(self, program: pathlib.Path, does: str) -> None:
        program.parent.mkdir(parents=True)
        self.words = program.parent / "words"
        pipe = program.parent / "pipe"
        os.mkfifo(pipe)
        self.pipe = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.begun = program.parent / "begun"
        program.write_text(f'#!/bin/sh\nexec 7>{pipe}\necho "$@" > {self.words}\n{does}\n', encoding="utf-8")
        program.chmod(0o700)

    def ended(self) -> bool:
        """Return whether it has ended, or ends within a few seconds."""
        readable, _, _ = select.select([self.pipe], [], [], 5)
        return bool(readable) and os.read(self.pipe, 1) == b""


def test_the_address_is_the_one_that_the_server_gave(program: pathlib.Path) -> None:
    script = Script(program, "echo 'start proxy success: http://abc.share.example:8080'; exec sleep 600")
    tunnel = Tunnel("127.0.0.1", 4321)
    assert (tunnel.address, tunnel.fault) == ("http://abc.share.example:8080", "")
    assert "-l 4321 -i 127.0.0.1" in script.words.read_text(encoding="utf-8")
    with pytest.raises(BlockingIOError):  # it is still there
        os.read(script.pipe, 1)
    tunnel.close()
    assert script.ended()


def test_a_server_that_is_not_reached_is_one_line(program: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = Script(program, "echo 'login to server failed: no route to it'; exec sleep 600")
    tunnel = Tunnel("127.0.0.1", 4321)
    assert tunnel.address is None
    assert tunnel.fault == (
        "Gradio's program for tunnels did not reach its server (login to server failed: no route to it)"
    )
    assert script.ended()
    assert capfd.readouterr() == ("", "")


def test_a_program_that_says_nothing_is_not_waited_for_without_end(
    program: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script(program, f"echo > {program.parent / 'begun'}; exec sleep 600")
    os.mkfifo(script.begun)

    class OnceBegun(threading.Thread):
        """A timer whose time has come when the program runs."""

        def __init__(self, seconds: float, late: Callable[[], None]) -> None:
            super().__init__(daemon=True)
            self.late = late

        def run(self) -> None:
            script.begun.read_text(encoding="utf-8")
            self.late()

        def cancel(self) -> None: ...

    monkeypatch.setattr(threading, "Timer", OnceBegun)
    tunnel = Tunnel("127.0.0.1", 4321, seconds=7)
    assert (tunnel.address, tunnel.fault) == (None, "the tunnel did not open within 7 seconds")
    assert script.ended()


def test_without_network_the_program_that_is_not_there_is_named_and_nothing_else_is_run(
    program: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gradio.py", "json.py", "viewer.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    fault = Tunnel("127.0.0.1", 4321).fault
    assert fault.startswith(f"Gradio's program for tunnels is not at {program}, and cannot be downloaded from https://")
    assert "ConnectError" in fault
    assert not program.exists()


def test_without_network_gradios_servers_are_named(program: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADIO_SHARE_SERVER_ADDRESS")
    tunnel = Tunnel("127.0.0.1", 4321)
    assert tunnel.fault.startswith("https://api.gradio.app/v3/tunnel-request cannot be reached (ConnectError")
