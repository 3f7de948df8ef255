"""The command `viewer`: it starts behind a proxy and without network, asks for a password, and shows nothing else."""

import contextlib
import http.client
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import pytest

from tests.cli.conftest import ROOT, Run
from tests.small_bench import question, write

PROXY = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}


class Reply(NamedTuple):
    """What a server says."""

    status: int
    body: str


class Server:
    """A viewer in a process of its own."""

    def __init__(self, data: pathlib.Path, *flags: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        words = [sys.executable, "-m", "harness.cli.viewer", "--data-dir", str(data), "--port", str(self.port), *flags]
        environment = {**os.environ, **PROXY, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        assert self.process.stdout is not None
        self.said = ""
        while f":{self.port}/" not in self.said:
            line = self.process.stdout.readline()
            assert line, self.said
            self.said += line

    def get(self, path: str) -> Reply:
        """Return the reply to a request that is sent as it stands."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.putrequest("GET", path, skip_accept_encoding=True)
            connection.endheaders()
            reply = connection.getresponse()
            return Reply(reply.status, reply.read().decode("utf-8", "replace"))

    def end(self) -> int:
        """Stop it as Ctrl-C does, and return its exit code."""
        import signal

        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


Serve: TypeAlias = Callable[..., Server]


@pytest.fixture
def serve(tmp_path: pathlib.Path) -> Iterator[Serve]:
    """Return a function that starts a viewer on a small data folder."""
    data = tmp_path / "data"
    write(data / "small" / "question.jsonl", [question(1)])
    started: list[Server] = []

    def start(*flags: str) -> Server:
        started.append(Server(data, *flags))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        assert server.process.stdout is not None
        server.process.stdout.close()


def test_it_starts_behind_a_proxy_and_ends_with_ctrl_c(serve: Serve) -> None:
    server = serve()
    page = server.get("/")
    assert page.status == 200
    assert "turnbench" in page.body
    assert server.end() == 0


def test_no_file_can_be_read_and_nothing_sent(serve: Serve, tmp_path: pathlib.Path) -> None:
    (tmp_path / "secret.txt").write_text("a secret", encoding="utf-8")
    server = serve()
    inside = tmp_path / "data" / "small" / "question.jsonl"
    for path in (tmp_path / "secret.txt", inside, pathlib.Path("/etc/passwd"), ROOT / "pyproject.toml"):
        for way in ("/gradio_api/file=", "/file=", "/gradio_api/file/", "/static/../..", "/assets/..%2f..%2f..", "/"):
            reply = server.get(f"{way}{path}")
            assert reply.status in {400, 403, 404}, way
            assert "secret" not in reply.body
    for address in ("/gradio_api/info", "/gradio_api/upload", "/proxy=http://127.0.0.1:1/", "/docs", "/openapi.json"):
        assert server.get(address).status == 404


def test_with_an_auth_file_nothing_is_shown_before_the_password(serve: Serve, tmp_path: pathlib.Path) -> None:
    people = tmp_path / "people.txt"
    people.write_text("ann:hunter22\n", encoding="utf-8")
    server = serve("--auth-file", str(people), "--host", "127.0.0.1")
    assert server.get("/config").status == 401
    assert server.get("/gradio_api/queue/data?session_hash=x").status == 401
    assert "hunter22" not in server.get("/").body + server.said


def test_another_host_without_password_is_warned_of(serve: Serve) -> None:
    server = serve("--host", "0.0.0.0")
    assert "viewer: warning: 0.0.0.0 can be reached from other machines, without a password" in server.said


def test_a_port_that_is_taken_is_one_line(serve: Serve, run: Run, tmp_path: pathlib.Path) -> None:
    server = serve()
    found = run("viewer", "--data-dir", str(tmp_path / "data"), "--port", str(server.port))
    assert found.returncode == 2
    assert f"cannot listen on 127.0.0.1:{server.port}" in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["--bench-name", "nowhere"], "no benchmark", id="unknown benchmark"),
        pytest.param(["--bench-name", "../x"], "not a plain folder name", id="a path"),
        pytest.param(["--auth-file", "gone.txt"], "gone.txt: cannot be read", id="no such file"),
        pytest.param(["--port", "70000"], "at most 65535", id="no port"),
        pytest.param(["--password", "x"], "no flag --password", id="a password on the command line"),
    ],
)
def test_wrong_use_is_one_line(flags: list[str], message: str, run: Run) -> None:
    found = run("viewer", *flags)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr
