"""Commands run in this process, by the words that a user types."""

import contextlib
import importlib
import io
import os
import pathlib
import shlex
import warnings
from collections.abc import Iterator
from typing import NamedTuple
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT.parent / "shared" / "reference_data"
HIDDEN = ("OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "AZURE_", "TURNBENCH_")


class Done(NamedTuple):
    """How a command ended and what it wrote."""

    exit: int
    out: str
    err: str


@contextlib.contextmanager
def _environment(folder: pathlib.Path) -> Iterator[None]:
    """Work in a folder, in a terminal of 80 columns, without keys, addresses and proxies."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(HIDDEN) and not name.lower().endswith("_proxy")
    }
    kept |= {"COLUMNS": "80", "NO_COLOR": "1", "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    kept["XDG_CACHE_HOME"] = str(folder / ".cache")
    with mock.patch.dict(os.environ, kept, clear=True), contextlib.chdir(folder):
        yield


def run(line: str, folder: pathlib.Path) -> Done:
    """Run a command line such as `show_result --format json` in a folder."""
    name, *words = shlex.split(line.removeprefix("turnbench "))
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)
    )
    with (
        _environment(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
        mock.patch("sys.stdin", io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            code = importlib.import_module("harness.cli.main").main([name, *words])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    texts = [file.buffer.getvalue().decode() for file in (out, err)]
    return Done(code, *texts)
