"""`--serve vllm`: a server of local weights on loopback, for the length of one run.

    with served("vllm --seed 1", "./my-weights", "my-model") as url:
        ...                                       # URL speaks OpenAI's protocol

The server and its children are stopped at the end of the run; if we are killed, the system tells
the server to stop (`setpriv --pdeathsig`, on Linux).
"""

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import IO

import httpx2

from harness.errors import EndpointError, UsageError

_LOOK_SECONDS = 0.25


@contextlib.contextmanager
def served(command: str, path: str, name: str, dtype: str = "auto") -> Iterator[str]:
    """Serve the weights at `path` under a name while the block runs; yields the base URL.

    Raises:
        UsageError: it is not vllm, or not installed.
        EndpointError: it ended before it was ready.
    """
    program, *flags = shlex.split(command) or [""]
    if program != "vllm":
        raise UsageError(f"--serve {command}: only vllm can serve, as in 'vllm' or 'vllm --seed 1'")
    if shutil.which(program) is None:
        raise UsageError("--serve vllm: it is not installed; pip install vllm, or leave it out")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    keeper = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
    options = ["--host=127.0.0.1", f"--port={port}", f"--dtype={dtype}", *flags]
    argv = [*keeper, program, "serve", path, f"--served-model-name={name}", *options]
    with tempfile.TemporaryFile() as output:
        server = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is for us, who end it after what is under way
        )
        try:
            _wait(server, f"http://127.0.0.1:{port}/health", output)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            _stop(server)


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """End the server and all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def _wait(server: "subprocess.Popen[bytes]", url: str, output: IO[bytes]) -> None:
    """Return once the server says that it is healthy."""
    while server.poll() is None:
        with contextlib.suppress(httpx2.HTTPError):
            if httpx2.get(url, timeout=10, trust_env=False).status_code == 200:
                return
        time.sleep(_LOOK_SECONDS)
    output.seek(max(0, os.fstat(output.fileno()).st_size - 4000))
    lines = output.read().decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
    raise EndpointError(
        f"vllm serve ended before it was ready (exit code {server.returncode}): {lines[-1][:300]}"
    )
