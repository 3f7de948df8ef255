"""The command `viewer`: it starts behind a proxy and without network, asks for a password, and shows nothing else.

Whose requests it answers is tested in tests/viewer/test_hosts.py too, and --share in tests/viewer/test_tunnel.py.
"""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import pytest

from tests.old.cli.conftest import ROOT, Run
from tests.old.small_bench import question, write

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
        words = [sys.executable, "-m", "harness.old.cli.viewer", "--data-dir", str(data), "--port", str(self.port), *flags]
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

    def get(self, path: str, body: str | None = None, **headers: str) -> Reply:
        """Return the reply to a request that is sent as it stands, with a body by POST."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            method = "GET" if body is None else "POST"
            connection.putrequest(method, path, skip_accept_encoding=True, skip_host="Host" in headers)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body.encode() if body is not None else None)
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


def test_it_starts_behind_a_proxy_has_its_port_alone_and_ends_with_ctrl_c(
    serve: Serve, run: Run, tmp_path: pathlib.Path
) -> None:
    server = serve("--host", "0.0.0.0")
    assert "viewer: warning: 0.0.0.0 can be reached from other machines, without a password" in server.said
    page = server.get("/")
    assert page.status == 200
    assert "turnbench" in page.body
    found = run("viewer", "--data-dir", str(tmp_path / "data"), "--port", str(server.port))
    assert found.returncode == 2
    assert f"cannot listen on 127.0.0.1:{server.port}" in found.stderr
    assert "Traceback" not in found.stderr
    assert server.end() == 0


@pytest.mark.slow
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


@pytest.mark.slow
def test_another_host_and_pages_elsewhere_are_refused(serve: Serve) -> None:
    server = serve("--allow-host", "viewer.example.org", "box.example")
    own = f"localhost:{server.port}"
    for host in (own, f"127.0.0.1:{server.port}", "viewer.example.org", "box.example:80"):
        assert server.get("/", Host=host).status == 200, host
    refused = server.get("/config", Host="evil.example")
    assert refused.status == 403
    assert refused.body == (
        "this viewer does not serve evil.example; "
        "if that is its own host name, start it with --allow-host evil.example\n"
    )
    call = json.dumps({"data": ["?tab=vote"], "fn_index": 0, "session_hash": "x"})
    for kind in ("text/plain", "application/json"):
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "same-site"}):
            told = server.get("/gradio_api/run/predict", call, Host=own, Content_Type=kind, **headers)
            assert (told.status, "may not send requests to this viewer" in told.body) == (403, True)
    answered = server.get(
        "/gradio_api/run/predict", call, Host=own, Content_Type="application/json", Origin=f"http://{own}"
    )
    assert answered.status == 200
    assert "tb-" in answered.body


def test_it_starts_and_shares_not_without_any_network(tmp_path: pathlib.Path) -> None:
    """In a network of its own, with nothing but this process; behind a dead proxy where none can be made."""
    alone = [str(shutil.which("unshare")), "--user", "--map-root-user", "--net"]
    up = f"{shutil.which('ip')} link set lo up"
    try:
        subprocess.run([*alone, *up.split()], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        alone, up = [], "true"
    write(tmp_path / "data" / "small" / "question.jsonl", [question(1)])
    asking = (
        "import subprocess, sys, urllib.request as r\n"
        "p = subprocess.Popen([sys.executable, '-m', 'harness.old.cli.viewer', '--share'], "
        "stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)\n"
        "address = p.stdout.readline().strip()\n"
        "print(r.build_opener(r.ProxyHandler({})).open(address).status)\n"
        "print(''.join(iter(p.stderr.readline, 'open this address in a browser; Ctrl-C stops the viewer\\n')))\n"
        "p.terminate(); p.communicate()\n"
    )
    program = f'{up} && exec {sys.executable} -c "$1"'
    outside = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hf")}
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    ran = subprocess.run(
        [*alone, "sh", "-c", program, "sh", asking],
        cwd=tmp_path,
        env={**kept, **outside, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    lines = [line for line in ran.stdout.splitlines() if line]
    assert ran.stderr == ""
    assert lines[0] == "200"
    assert lines[1].startswith("viewer: warning: --share makes everything here reachable from anywhere, without a pass")
    assert lines[3].startswith("viewer: warning: not shared, still served at http://127.0.0.1:")
    assert "https://api.gradio.app/v3/tunnel-request cannot be reached" in lines[3]
    assert len(lines) == 4
    assert not (tmp_path / "hf").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the program of the tunnel is a shell script here")
def test_a_shared_viewer_answers_for_the_name_of_its_tunnel(
    serve: Serve, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradio.tunneling import BINARY_FILENAME

    program = tmp_path / "hf" / "gradio" / "frpc" / str(BINARY_FILENAME)
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\necho 'start proxy success: http://abc.share.example'; exec sleep 60\n", encoding="utf-8"
    )
    program.chmod(0o700)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("GRADIO_SHARE_SERVER_ADDRESS", "127.0.0.1:9")
    server = serve("--share")
    assert server.get("/", Host="def.share.example").status == 403
    assert server.process.stdout is not None
    while "abc.share.example" not in server.said:
        server.said += server.process.stdout.readline()
    page = server.get("/", Host="abc.share.example")
    assert page.status == 200
    assert "amazonaws" not in page.body
    assert server.end() == 0


def test_with_an_auth_file_nothing_is_shown_before_the_password(serve: Serve, tmp_path: pathlib.Path) -> None:
    people = tmp_path / "people.txt"
    people.write_text("ann:hunter22\n", encoding="utf-8")
    server = serve("--auth-file", str(people), "--host", "127.0.0.1")
    assert server.get("/config").status == 401
    assert server.get("/gradio_api/queue/data?session_hash=x").status == 404
    assert "hunter22" not in server.get("/").body + server.said


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["--bench-name", "nowhere"], "no benchmark", id="unknown benchmark"),
        pytest.param(["--bench-name", "../x"], "not a plain folder name", id="a path"),
        pytest.param(["--auth-file", "gone.txt"], "gone.txt: cannot be read", id="no such file"),
        pytest.param(["--auth-file", "."], ".: cannot be read (Is a directory)", id="a folder"),
        pytest.param(["--host", ""], "--host is empty", id="no address"),
        pytest.param(["--host", "192.0.2.1"], "cannot listen on 192.0.2.1", id="the address of somebody else"),
        pytest.param(["--allow-host", "http://x.example"], "is not a host name", id="no name to allow"),
        pytest.param(["--port", "70000"], "at most 65535", id="no port"),
        pytest.param(["--password", "x"], "no flag --password", id="a password on the command line"),
    ],
)
def test_wrong_use_is_one_line(flags: list[str], message: str, run: Run) -> None:
    found = run("viewer", *flags)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr
