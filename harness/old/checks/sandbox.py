"""Running code that a model wrote: without network, home or the user's files, within limits of time, memory, processes.

    sandbox = open_sandbox()                                   # bubblewrap, else a container engine
    sandbox.run({"main.py": "print(1)"}, ["python3", "main.py"], seconds=5)       Ran(0, "1\\n", "", False)

Bubblewrap gives the program new namespaces of everything (no network, no processes but its own), a read-only system and
an empty folder in memory. Its limits of memory are per process, a container's are for all together.
"""

import itertools
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from harness.old.errors import UsageError

MEGABYTE = 1 << 20
MEMORY = 512 * MEGABYTE
"""Of a process in bubblewrap, of all in a container."""
PROCESSES = 32
"""Threads included."""
DISK = 64 * MEGABYTE
OUTPUT = 4 * MEGABYTE
"""The most that is written to one file, and so the most that is read of what a program prints."""
NOBODY = 65534
_PATH = "/usr/local/bin:/usr/bin:/bin"
_START = 5.0
"""Seconds that a container may take to start, beside the program's own."""


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
    """A way to run programs; `engine` is the path of `bwrap`, `docker` or `podman`."""

    engine: str

    @property
    def is_container(self) -> bool:
        """Whether it is a container engine, which brings its own interpreters in images."""
        return pathlib.Path(self.engine).name != "bwrap"

    def run(
        self, files: Mapping[str, str], command: Sequence[str], *, image: str = "", stdin: str = "", seconds: float = 5
    ) -> Ran:
        """Run a command in a folder that holds the files.

        `image` is the container image that holds the command, where the engine needs one.
        """
        with tempfile.TemporaryDirectory(prefix="turnbench-") as name, tempfile.TemporaryFile() as said:
            folder = pathlib.Path(name)
            folder.chmod(0o755)  # the program runs as nobody
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8", errors="replace")
            said.write(stdin.encode("utf-8", "replace"))
            said.seek(0)
            if not self.is_container:
                return _finished(_bubble(self.engine, folder, seconds) + list(command), said, seconds, drop_root=True)
            box = f"turnbench-{secrets.token_hex(8)}"
            ran = _finished([*_container(self.engine, box, folder), image, *command], said, seconds + _START)
            if ran.late:
                subprocess.run([self.engine, "kill", box], capture_output=True, check=False)
            return ran


def open_sandbox() -> Sandbox:
    """Return the first sandbox that works on this machine.

    Raises:
        UsageError: there is none.
    """
    faults = []
    for name in ("bwrap", "podman", "docker"):
        engine = shutil.which(name)
        if engine is None:
            continue
        found = Sandbox(engine)
        if found.is_container:
            tried = subprocess.run([engine, "info"], capture_output=True, text=True, check=False)
            code, fault = tried.returncode, tried.stderr
        else:
            ran = found.run({}, ["true"])
            code, fault = ran.code, ran.stderr
        if code == 0:
            return found
        faults.append(f"{name} does not work here ({(fault.strip().splitlines() or ['no reason given'])[-1][:150]})")
    why = "; ".join(faults) or "none is installed"
    raise UsageError(
        f"running code needs bubblewrap (bwrap), podman or docker: {why}; install one, or leave out --run-code"
    )


def _bubble(engine: str, folder: pathlib.Path, seconds: float) -> list[str]:
    """Return the command that runs the rest of the line in bubblewrap."""
    parts = [(part, os.readlink(part) if os.path.islink(part) else None) for part in ("/bin", "/lib", "/lib64")]
    system = [("--symlink", link, part) if link else ("--ro-bind-try", part, part) for part, link in parts]
    files = [("--ro-bind", str(file), f"/box/{file.name}") for file in sorted(folder.iterdir())]
    # Inside, since the number of processes is counted in the new user namespace alone.
    limits = {"nproc": PROCESSES, "data": MEMORY, "fsize": OUTPUT, "cpu": int(seconds) + 1, "core": 0}
    alone = (
        f"--unshare-all --die-with-parent --new-session --clearenv --cap-drop ALL --uid {NOBODY} --gid {NOBODY} "
        f"--setenv PATH {_PATH} --setenv HOME /box --setenv LANG C.UTF-8 "
        "--ro-bind /usr /usr --ro-bind-try /etc/alternatives /etc/alternatives"
    )
    memory = (
        f"--proc /proc --dev /dev --size {MEGABYTE} --tmpfs /dev/shm --remount-ro /dev "
        f"--size {DISK} --tmpfs /box --size {DISK} --tmpfs /tmp"
    )
    command = [engine, *alone.split(), *itertools.chain(*system), *memory.split(), *itertools.chain(*files)]
    return [*command, "--chdir", "/box", "prlimit", *(f"--{name}={most}" for name, most in limits.items())]


def _container(engine: str, name: str, folder: pathlib.Path) -> list[str]:
    """Return the command that runs an image and the rest of the line in a container."""
    files = [("--volume", f"{file}:/box/{file.name}:ro") for file in sorted(folder.iterdir())]
    alone = (
        f"run --rm --interactive --name {name} --network none --read-only --cap-drop ALL "
        f"--security-opt no-new-privileges --user {NOBODY}:{NOBODY} --memory {MEMORY} --memory-swap {MEMORY} "
        f"--pids-limit {PROCESSES} --cpus 1 --ulimit fsize={OUTPUT} "
        f"--tmpfs /tmp:size={DISK} --tmpfs /box:size={DISK},exec,mode=1777"
    )
    return [engine, *alone.split(), *itertools.chain(*files), "--env", "HOME=/box", "--workdir", "/box"]


def _finished(command: Sequence[str], said: IO[bytes], seconds: float, *, drop_root: bool = False) -> Ran:
    """Run a command to its end or to the limit of time."""
    who: dict[str, Any] = {}
    if drop_root and os.geteuid() == 0:  # limits of processes do not bind root, whatever its name in there
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    # Files, not pipes: what a program prints is bounded by the limit of a file's size.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdin=said, stdout=out, stderr=err, cwd="/", **who)
        late = False
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            late = True
            process.kill()
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        return Ran(code, _read(out), _read(err), late)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(OUTPUT).decode("utf-8", "replace")
