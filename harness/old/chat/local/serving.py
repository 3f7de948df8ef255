"""A server of local weights during a run: `vllm serve` on loopback, started, waited for, and stopped.

    with served("vllm", "./my-weights", "my-model", "auto", port):
        ...                     # http://127.0.0.1:PORT/v1 speaks OpenAI's protocol

The server is the child of a keeper, a small process that ends the server and all its children as soon as
our end of a pipe is closed: at the end of the run, or by the system when we are killed.
"""

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import IO

from harness.old.errors import EndpointError, UsageError

LOOK = 0.25
"""Seconds between two checks whether the server is up."""
_KEEPER = """
import os, signal, subprocess, sys, threading

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
reset = lambda: [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=reset)

def tell(number):
    try:
        os.killpg(server.pid, number)
    except ProcessLookupError:
        pass

def stop():
    os.read(0, 1)
    tell(signal.SIGTERM)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        pass
    tell(signal.SIGKILL)

threading.Thread(target=stop, daemon=True).start()
code = server.wait()
tell(signal.SIGKILL)
os._exit(code if code >= 0 else 128 - code)
"""


def free_port() -> int:
    """Return a free port of loopback."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def check_server(words: str) -> None:
    """Raise `UsageError` unless these words name a server that is installed, and perhaps flags of its own."""
    program = (shlex.split(words) or [""])[0]
    if program != "vllm":
        raise UsageError(f"--serve {words}: only vllm can be served, such as 'vllm' or 'vllm --tensor-parallel-size 2'")
    if shutil.which(program) is None:
        raise UsageError("--serve vllm: vLLM is not installed; pip install vllm, or leave out --serve")


@contextlib.contextmanager
def served(words: str, path: str, name: str, dtype: str, port: int) -> Iterator[None]:
    """Serve the weights at `path` under a name while the block runs.

    Raises:
        UsageError: the server is not installed.
        EndpointError: it ended before it was ready.
    """
    check_server(words)
    program, *flags = shlex.split(words)
    told = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", name, "--dtype", dtype]
    argv = [sys.executable, "-c", _KEEPER, program, "serve", path, *told, *flags]
    with tempfile.TemporaryFile() as output:
        keeper = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=output, stderr=output, process_group=0)
        try:
            _wait(keeper, f"http://127.0.0.1:{port}/health", output)
            yield
        finally:
            assert keeper.stdin is not None
            keeper.stdin.close()
            keeper.wait()


def _wait(keeper: "subprocess.Popen[bytes]", url: str, output: IO[bytes]) -> None:
    """Return once the server reports that it is healthy."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while keeper.poll() is None:
        with contextlib.suppress(urllib.error.URLError, OSError), direct.open(url, timeout=10) as answer:
            if answer.status == 200:
                return
        time.sleep(LOOK)
    end = os.fstat(output.fileno()).st_size
    output.seek(max(0, end - 4000))
    lines = output.read().decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
    raise EndpointError(f"vllm serve has ended before it was ready (exit code {keeper.returncode}): {lines[-1][:300]}")
