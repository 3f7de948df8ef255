"""`--serve vllm`: a server of local weights on loopback, for the length of one run.

    with served("vllm --seed 1", "./my-weights", "my-model") as url:
        ...                                       # URL speaks OpenAI's protocol

The server is the child of a small process that ends it, and all its children, as soon as our end
of a pipe is closed: at the end of the run, or by the system when we are killed.
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

from harness.errors import EndpointError, UsageError

_LOOK_SECONDS = 0.25
_KEEPER = """
import os, signal, subprocess, sys, threading

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
reset = lambda: [signal.signal(n, signal.SIG_DFL) for n in (2, 15, 1)]
server = subprocess.Popen(
    sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=reset
)

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


def check_server(command: str) -> None:
    """Raise `UsageError` unless these words name a server that is installed, and its flags."""
    program = (shlex.split(command) or [""])[0]
    if program != "vllm":
        raise UsageError(f"--serve {command}: only vllm can serve, as in 'vllm' or 'vllm --seed 1'")
    if shutil.which(program) is None:
        raise UsageError("--serve vllm: it is not installed; pip install vllm, or leave it out")


@contextlib.contextmanager
def served(command: str, path: str, name: str, dtype: str = "auto") -> Iterator[str]:
    """Serve the weights at `path` under a name while the block runs; yields the base URL.

    Raises:
        UsageError: the server is not installed.
        EndpointError: it ended before it was ready.
    """
    check_server(command)
    program, *flags = shlex.split(command)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--served-model-name",
        name,
        "--dtype",
        dtype,
    ]
    argv = [sys.executable, "-c", _KEEPER, program, "serve", path, *own, *flags]
    with tempfile.TemporaryFile() as output:
        keeper = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=output, stderr=output, process_group=0
        )
        try:
            _wait(keeper, f"http://127.0.0.1:{port}/health", output)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            if keeper.stdin is not None:
                keeper.stdin.close()
            keeper.wait()


def _wait(keeper: "subprocess.Popen[bytes]", url: str, output: IO[bytes]) -> None:
    """Return once the server says that it is healthy."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while keeper.poll() is None:
        with (
            contextlib.suppress(urllib.error.URLError, OSError),
            direct.open(url, timeout=10) as answer,
        ):
            if answer.status == 200:
                return
        time.sleep(_LOOK_SECONDS)
    output.seek(max(0, os.fstat(output.fileno()).st_size - 4000))
    lines = output.read().decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
    raise EndpointError(
        f"vllm serve ended before it was ready (exit code {keeper.returncode}): {lines[-1][:300]}"
    )
