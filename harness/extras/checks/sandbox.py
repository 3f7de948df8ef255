"""Code that a model wrote, run in bubblewrap: no network, none of the user's files, within limits.

    open_sandbox().run({"main.py": "print(1)"}, ["python3", "main.py"])     Ran(0, "1\\n", "")

Bubblewrap gives the program new namespaces of everything, a read-only system and an empty folder in
memory. The limits of memory and of processes are the kernel's (`prlimit`).
"""

import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from harness.errors import UsageError

MEGABYTE = 1 << 20
LIMITS = {"nproc": 32, "data": 512 * MEGABYTE, "fsize": 4 * MEGABYTE, "core": 0}
"""Threads included; bytes of memory of a process; bytes of one file, and so of what is printed."""
DISK = 64 * MEGABYTE
NOBODY = 65534


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended."""

    code: int
    """Exit code; negative or above 128: a signal."""
    stdout: str
    stderr: str
    late: bool = False
    """Whether it was stopped at the limit of time."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to run programs; `bwrap` is bubblewrap's path."""

    bwrap: str

    def run(
        self, files: Mapping[str, str], command: Sequence[str], stdin: str = "", seconds: float = 5
    ) -> Ran:
        """Run a command in a folder that holds the files."""
        with (
            tempfile.TemporaryDirectory(prefix="turnbench-") as name,
            tempfile.TemporaryFile() as source,
            # Files, not pipes: what a program prints is bounded by the limit of a file's size.
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            folder = pathlib.Path(name)
            folder.chmod(0o755)  # the program runs as nobody
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8", errors="replace")
            source.write(stdin.encode("utf-8", "replace"))
            source.seek(0)
            # Limits of processes do not bind root, whatever its name inside.
            who: dict[str, Any] = {}
            if os.geteuid() == 0:
                who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            argv = [*self._bubble(folder, seconds), *command]
            process = subprocess.Popen(argv, stdin=source, stdout=out, stderr=err, cwd="/", **who)
            late = False
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                late = True
            finally:
                process.kill()
                process.wait()
            return Ran(process.returncode, _read(out), _read(err), late)

    def _bubble(self, folder: pathlib.Path, seconds: float) -> list[str]:
        """Return the command that runs the rest of the line in bubblewrap."""
        options = (
            f"--unshare-all --die-with-parent --new-session --clearenv --cap-drop ALL "
            f"--uid {NOBODY} --gid {NOBODY} --setenv PATH /usr/local/bin:/usr/bin:/bin "
            "--setenv HOME /box --setenv LANG C.UTF-8 --ro-bind /usr /usr --ro-bind-try /bin /bin "
            "--ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 "
            "--ro-bind-try /etc/alternatives /etc/alternatives "
            f"--proc /proc --dev /dev --size {MEGABYTE} --tmpfs /dev/shm --remount-ro /dev "
            f"--size {DISK} --tmpfs /box --size {DISK} --tmpfs /tmp --chdir /box"
        )
        files = [("--ro-bind", str(file), f"/box/{file.name}") for file in folder.iterdir()]
        # prlimit inside, since processes are counted in the new user namespace alone.
        limits = {**LIMITS, "cpu": int(seconds) + 1}
        return [
            *(self.bwrap, *options.split(), *itertools.chain(*files), "prlimit"),
            *(f"--{name}={most}" for name, most in limits.items()),
        ]


def open_sandbox() -> Sandbox:
    """Return bubblewrap, if it works on this machine.

    Raises:
        UsageError: it is not installed, or does not work.
    """
    path = shutil.which("bwrap")
    if path is None:
        raise UsageError(
            "running code needs bubblewrap (Linux; package bubblewrap), which is not installed; "
            "install it, or leave out --run-code"
        )
    ran = Sandbox(path).run({}, ["true"])
    if ran.code:
        reason = (ran.stderr.strip().splitlines() or ["no reason given"])[-1][:150]
        raise UsageError(f"bubblewrap does not work here ({reason}); leave out --run-code")
    return Sandbox(path)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(LIMITS["fsize"]).decode("utf-8", "replace")
