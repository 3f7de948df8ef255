"""Commands as processes of their own that start at once: forked from an interpreter that has imported what they need.

    with Starter() as starter:
        os.kill(command.pid, signal.SIGKILL)
        command.wait().returncode          # -9, with stdout and stderr, as of `subprocess.run`

A process that is killed, interrupted or full cannot tell how it was started, and half a second of imports each is what
fifty of them would mostly do. That the commands work from a bare start as well, `tests/cli` and `tests/test_resume.py`
show.
"""

import gc
import importlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IMPORTS = (
    "harness.old.chat.anthropic_messages",
    "harness.old.chat.openai_chat",
    "harness.old.running.bar",
    "harness.old.showing.show_result",
    "harness.old.results.show",
    "harness.old.running.batches.courier",
    "anthropic.resources.messages",
    "openai.resources.batches",
    "openai.resources.chat",
    "openai.resources.files",
    "filelock",
    "h11",
    "shortuuid",
)
HEARD = (signal.SIGTERM, signal.SIGHUP)
"""Signals that a command may be sent: it hears them also where the tests were started to ignore them, as by nohup."""


class Command:
    """One command at work."""

    def __init__(self, starter: "Starter", pid: int, folder: pathlib.Path) -> None:
        self.pid = pid
        self.ended = threading.Event()
        """Set when the process is gone."""
        self._starter, self._folder = starter, folder

    def wait(self) -> "subprocess.CompletedProcess[str]":
        """Return how the command ended and what it wrote."""
        code = self._starter.hear()["ended"]
        self.ended.set()
        out, err = ((self._folder / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess([], code, out, err)


class Starter:
    """A context manager that starts commands, one after another."""

    def __enter__(self) -> Self:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        words = [sys.executable, "-m", "tests.old.processes"]
        self._folder = tempfile.TemporaryDirectory(prefix="commands-")
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=ROOT)
        self._count = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._folder.cleanup()

    def start(
        self,
        module: str,
        words: Sequence[str],
        environment: Mapping[str, str] = os.environ,
        *,
        cwd: pathlib.Path = ROOT,
        first: str = "",
        largest_file: int | None = None,
    ) -> Command:
        """Start the `main` of a module; `first` is Python that its process runs before, `largest_file` a full disk."""
        self._count += 1
        folder = pathlib.Path(self._folder.name) / str(self._count)
        folder.mkdir()
        told = {
            "module": module,
            "words": list(words),
            "environment": dict(environment),
            "cwd": str(cwd),
            "first": first,
            "largest_file": largest_file,
            "folder": str(folder),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        return Command(self, self.hear()["pid"], folder)

    def run(self, module: str, words: Sequence[str], **more: Any) -> "subprocess.CompletedProcess[str]":
        """Run the `main` of a module to its end."""
        return self.start(module, words, **more).wait()

    def hear(self) -> dict[str, int]:
        """Return what the starting process says next."""
        assert self._process.stdout is not None
        said: dict[str, int] = json.loads(self._process.stdout.readline())
        return said


def _serve() -> None:
    """Fork for every line that comes in, and say how that process ended."""
    import anthropic
    import openai

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in IMPORTS:
        importlib.import_module(name)
    openai.AsyncOpenAI(api_key="none"), anthropic.AsyncAnthropic(api_key="none")  # imports their transports
    gc.freeze()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _work(json.loads(line))
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"ended": os.waitstatus_to_exitcode(status)}), flush=True)


def _work(told: Mapping[str, Any]) -> None:
    """Be the command: never return."""
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(pathlib.Path(told["folder"], name), os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in HEARD:
        signal.signal(number, signal.SIG_DFL)
    os.chdir(told["cwd"])
    os.environ.clear()
    os.environ.update(told["environment"])
    code = 1
    try:
        if told["largest_file"] is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (told["largest_file"], told["largest_file"]))
        module = importlib.import_module(told["module"])
        sys.argv = [str(module.__file__), *told["words"]]
        exec(told["first"], {})
        code = module.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
