"""Code that a model wrote, run in bubblewrap: no network, none of the user's files, within limits.

    run({"main.py": "print(1)"}, ["python3", "main.py"])     Ran(0, "1\\n", "")

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
LIMITS = {"nproc": 32, "data": 512 * MEGABYTE, "fsize": 4 * MEGABYTE, "core": 0, "cpu": 10}
"""Threads too; bytes of memory a process; bytes of a file, so of what is printed; seconds."""
DISK = 64 * MEGABYTE
NOBODY = 65534
_OPTIONS = (
    "--unshare-all --die-with-parent --new-session --clearenv --cap-drop ALL "
    f"--uid {NOBODY} --gid {NOBODY} --setenv PATH /usr/local/bin:/usr/bin:/bin "
    "--setenv HOME /box --setenv LANG C.UTF-8 --ro-bind /usr /usr --ro-bind-try /bin /bin "
    "--ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 "
    "--ro-bind-try /etc/alternatives /etc/alternatives "
    f"--proc /proc --dev /dev --size {MEGABYTE} --tmpfs /dev/shm --remount-ro /dev "
    f"--size {DISK} --tmpfs /box --size {DISK} --tmpfs /tmp --chdir /box"
)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended."""

    code: int | None
    """Exit code; None: it was stopped at the limit of time."""
    stdout: str
    stderr: str


def run(
    files: Mapping[str, str], command: Sequence[str], stdin: str = "", seconds: float = 5
) -> Ran:
    """Run a command in a folder that holds the files."""
    with (
        tempfile.TemporaryDirectory(prefix="turnbench-") as name,
        # Files, not pipes: what a program prints is bounded by the limit of a file's size.
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # the program runs as nobody
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8", errors="replace")
        binds = [("--ro-bind", str(folder / file), f"/box/{file}") for file in files]
        # prlimit inside, since processes are counted in the new user namespace alone.
        limits = [f"--{limit}={most}" for limit, most in LIMITS.items()]
        argv = ["bwrap", *_OPTIONS.split(), *itertools.chain(*binds), "prlimit", *limits, *command]
        # Limits of processes do not bind root, whatever its name inside.
        nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            code = subprocess.run(
                argv,
                input=stdin.encode("utf-8", "replace"),
                stdout=out,
                stderr=err,
                timeout=seconds,
                cwd="/",
                **(nobody if os.geteuid() == 0 else {}),
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        return Ran(code, _read(out), _read(err))


def check_sandbox() -> None:
    """Raise `UsageError` if bubblewrap is not installed, or cannot run Python on this machine."""
    if shutil.which("bwrap") is None or not hasattr(os, "geteuid"):
        raise UsageError(
            "running code needs bubblewrap (Linux; package bubblewrap), which is not installed; "
            "install it, or leave out --run-code"
        )
    ran = run({}, ["python3", "-c", ""])
    if ran.code != 0:
        reason = (ran.stderr.strip().splitlines() or ["no reason given"])[-1][:150]
        raise UsageError(f"bubblewrap does not work here ({reason}); leave out --run-code")


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(LIMITS["fsize"]).decode("utf-8", "replace")
