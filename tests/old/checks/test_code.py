"""Code is run only in a sandbox, which keeps it from everything; what it should return stays outside."""

import functools
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.old.checks import sandbox as sandboxes
from harness.old.checks.code import call_results
from harness.old.checks.sandbox import Ran, Sandbox, open_sandbox
from harness.old.errors import UsageError
from tests.old.checks.asked import outcome

REPLY = "Here:\n\n```python\ndef f(a):\n    return a + 1\n```\n\nas asked."
CASES = [{"args": [1], "returns": 2}]


@functools.cache
def real() -> Sandbox:
    try:
        return open_sandbox()
    except UsageError as error:
        pytest.skip(str(error))


def python(body: str) -> str:
    return f"```python\n{body}\n```"


def test_without_leave_nothing_is_run_and_nothing_decided() -> None:
    found = outcome({"kind": "code", "function": "f", "cases": CASES}, REPLY)
    assert (found.strict, found.loose, found.found) == (None, None, "code is run only with --run-code")


class Pretended(Sandbox):
    """A sandbox that runs nothing."""

    ran: list[Mapping[str, str]]

    def __init__(self, stdout: str = "", late: bool = False) -> None:
        super().__init__("/usr/bin/podman")
        object.__setattr__(self, "said", (stdout, late))
        object.__setattr__(self, "ran", [])

    def run(
        self, files: Mapping[str, str], command: Sequence[str], *, image: str = "", stdin: str = "", seconds: float = 5
    ) -> Ran:
        self.ran.append({**files, "stdin": stdin, "image": image, "command": " ".join(command)})
        stdout, late = self.said  # type: ignore[attr-defined]
        return Ran(0, stdout, "", late)


def test_a_program_is_given_its_input_and_its_output_is_compared() -> None:
    sandbox = Pretended("3  \n\n")
    check = {"kind": "code", "cases": [{"stdin": "1 2\n", "stdout": "3\n"}]}
    assert outcome(check, REPLY, sandbox=sandbox).strict
    (ran,) = sandbox.ran
    assert (ran["main.py"], ran["stdin"]) == ("def f(a):\n    return a + 1\n", "1 2\n")


def test_what_a_call_should_return_stays_outside() -> None:
    sandbox = Pretended()
    check = {"kind": "code", "function": "f", "cases": [{"args": [1], "returns": "the secret"}]}
    assert not outcome(check, REPLY, sandbox=sandbox).strict
    assert "the secret" not in str(sandbox.ran)


def test_a_program_that_takes_too_long_fails() -> None:
    check = {"kind": "code", "cases": [{"stdin": "", "stdout": ""}]}
    assert outcome(check, REPLY, sandbox=Pretended(late=True)).found == "case 1: it takes too long"


@pytest.mark.parametrize(
    ("more", "code"),
    [
        pytest.param({}, "b\n", id="the last block"),
        pytest.param({"block": 1}, "a\n", id="the first"),
        pytest.param({"block": "all"}, "a\n\nb\n", id="all"),
        pytest.param({"in": {"after": "Second"}, "block": 1}, "b\n", id="after a text"),
    ],
)
def test_a_block_is_chosen(more: dict[str, Any], code: str) -> None:
    sandbox = Pretended()
    reply = "First\n```py\na\n```\n```json\n{}\n```\nSecond\n```python\nb\n```\n"
    outcome({"kind": "code", "cases": [{"stdout": ""}], **more}, reply, sandbox=sandbox)
    assert sandbox.ran[0]["main.py"] == code


def test_a_reply_without_a_fence_is_code_and_one_with_others_has_none() -> None:
    sandbox = Pretended()
    check = {"kind": "code", "cases": [{"stdout": ""}]}
    outcome(check, "print(1)", sandbox=sandbox)
    assert sandbox.ran[0]["main.py"] == "print(1)"
    assert outcome(check, "```json\n{}\n```", sandbox=sandbox).found == "there is no python code"


def test_only_lines_with_the_token_are_results() -> None:
    printed = 'tok{"returns": 1}\n{"returns": 2}\ntokno json\ntok[1]\n'
    assert call_results("tok", printed) == [{"returns": 1}, {}]


def test_where_nothing_can_run_code_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match=r"bubblewrap \(bwrap\), podman or docker: none is installed; install one"):
        open_sandbox()


def test_a_container_has_no_network_and_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[Sequence[str]] = []

    def finished(command: Sequence[str], *_: Any, **__: Any) -> Ran:
        commands.append(command)
        return Ran(0, "", "")

    monkeypatch.setattr(sandboxes, "_finished", finished)
    Sandbox("/usr/bin/podman").run({"main.py": ""}, ["python3", "main.py"], image="python:3-slim")
    line = " ".join(commands[0])
    assert line.endswith("--env HOME=/box --workdir /box python:3-slim python3 main.py")
    for limit in (
        "--network none",
        "--read-only",
        "--memory ",
        "--pids-limit ",
        "--cap-drop ALL",
        "--user 65534:65534",
    ):
        assert limit in line


# What follows runs real programs, where the machine has a sandbox.


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("check", "reply", "found"),
    [
        pytest.param({"function": "f", "cases": CASES}, REPLY, "", id="right"),
        pytest.param(
            {"function": "f", "cases": [{"args": [1], "returns": 3}]}, REPLY, "case 1: it returns 2", id="wrong"
        ),
        pytest.param({"function": "g", "cases": CASES}, REPLY, "case 1: it raises KeyError", id="no such function"),
        pytest.param({"function": "f", "cases": [{"args": ["x"], "raises": "TypeError"}]}, REPLY, "", id="raises"),
        pytest.param(
            {"function": "f", "cases": [{"args": [], "named": {"a": 4}, "returns": 5}]}, REPLY, "", id="named"
        ),
        pytest.param({"tests": "assert f(1) == 2"}, REPLY, "", id="tests"),
        pytest.param({"tests": "assert f(1) == 3"}, REPLY, "tests: AssertionError", id="failed tests"),
        pytest.param(
            {"tests": "pass"}, python("import sys\nsys.exit(0)"), "tests: it ends with code 0", id="left early"
        ),
        pytest.param({"cases": [{"stdin": "2", "stdout": "4"}]}, python("print(int(input()) * 2)"), "", id="stdin"),
        pytest.param(
            {"function": "f", "cases": CASES},
            python("def f(a):\n    print('returns', 9)\n    return 2"),
            "",
            id="noise",
        ),
    ],
)
def test_a_case_passes_or_fails(check: dict[str, Any], reply: str, found: str) -> None:
    assert outcome({"kind": "code", **check}, reply, sandbox=real()).found == found


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("body", "returns"),
    [
        pytest.param("os.getuid()", 65534, id="it is nobody"),
        pytest.param(
            "os.path.exists('/etc/passwd') or os.path.exists('/home') or os.path.exists('/root')", False, id="no home"
        ),
        pytest.param("sorted(set(os.environ) - {'HOME', 'LANG', 'LC_CTYPE', 'PATH', 'PWD'})", [], id="no variables"),
        pytest.param("len([n for n in os.listdir('/proc') if n.isdigit()]) < 5", True, id="no other processes"),
        pytest.param("[n for n in socket.if_nameindex()]", [[1, "lo"]], id="no network"),
    ],
)
def test_a_program_sees_nothing_of_the_machine(body: str, returns: Any) -> None:
    reply = python(f"import os, socket\ndef f():\n    return {body}")
    check = {"kind": "code", "function": "f", "cases": [{"args": [], "returns": returns}]}
    assert outcome(check, reply, sandbox=real()).found == ""


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param("while True:\n        pass", "it takes too long", id="time"),
        pytest.param("return len(bytearray(1 << 30))", "it raises MemoryError", id="memory"),
        pytest.param("[os.fork() or time.sleep(9) for n in range(99)]", "it raises BlockingIOError", id="processes"),
        pytest.param("open('/box/x', 'wb').write(bytes(1 << 24))", "it raises OSError", id="disk"),
        pytest.param("open('/usr/x', 'w')", "it raises OSError", id="the system's files"),
    ],
)
def test_a_program_is_held_within_limits(body: str, found: str) -> None:
    reply = python(f"import os, time\ndef f():\n    {body}")
    check = {"kind": "code", "function": "f", "cases": [{"args": [], "returns": 0}], "seconds": 2}
    assert outcome(check, reply, sandbox=real()).found == f"case 1: {found}"
