"""Code in a reply that passes given cases: `code`. It is run only where a sandbox is given.

What a call should return never enters the sandbox: a program prints what it got, and the comparison
is made outside.
"""

import contextlib
import json
import re
import secrets
import shutil
from typing import Any, NamedTuple

import msgspec

from harness.extras.checks.check import Check
from harness.extras.checks.data import different
from harness.extras.checks.passage import PASSED, Outcome, Passage, Span
from harness.extras.checks.sandbox import Ran, Sandbox

_FENCE = re.compile(
    r"^[ \t]*(`{3,}+|~{3,}+)[ \t]*+([^\s`{]*+)[^\n]*+\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)",
    re.M | re.S,
)


class Language(NamedTuple):
    """How a program in a language is run."""

    command: tuple[str, ...]
    aliases: tuple[str, ...]
    """Further names that code fences use."""
    calls: str
    """The program that calls a function of the file `answer`; "": none can."""
    tested: str
    """The program that runs tests behind the answer and then prints the token."""


_PYTHON_BEGIN = """
import contextlib, json, sys, types
token, name, calls = json.load(sys.stdin)
module = sys.modules["answer"] = types.ModuleType("answer")
space = module.__dict__
# A snippet may leave out the usual imports.
exec("import re, math, json, itertools, functools, heapq, bisect, random, string, datetime", space)
exec("from typing import *; from collections import *; import collections", space)
exec("from dataclasses import dataclass, field", space)
with contextlib.redirect_stdout(sys.stderr):
    exec(compile(open("answer").read(), "answer", "exec"), space)
"""
_PYTHON_CALLS = (
    _PYTHON_BEGIN
    + """
for args, named in calls:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            got = {"returns": space[name](*args, **named)}
    except Exception as error:
        got = {"raises": [kind.__name__ for kind in type(error).__mro__]}
    plain = lambda v: sorted(v) if isinstance(v, (set, frozenset)) else repr(v)
    print(token + json.dumps(got, default=plain))
"""
)
_PYTHON_TESTED = (
    _PYTHON_BEGIN
    + """
exec(compile(open("tests").read(), "tests", "exec"), space)
print(token)
"""
)
LANGUAGES = {
    "python": Language(("python3", "-I"), ("py", "python3"), _PYTHON_CALLS, _PYTHON_TESTED),
    "javascript": Language(
        ("node",), ("js", "mjs"), "", "{answer}\n{tests}\nconsole.log('{token}')\n"
    ),
    "bash": Language(
        ("bash",), ("sh", "shell", "console"), "", "{answer}\n{tests}\necho {token}\n"
    ),
}


class Case(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One case: a call and what it returns or raises, or what is read and printed."""

    args: list[Any] = []
    named: dict[str, Any] = {}
    """Arguments by name (Python only)."""
    returns: Any = msgspec.UNSET
    raises: str | None = None
    """The class of the error, or one that it derives from."""
    stdin: str = ""
    stdout: str | None = None
    """What is printed; spaces at the ends of lines do not count."""


class Code(Check, frozen=True, kw_only=True, tag="code"):
    """The code passes: {"kind": "code", "function": "f", "cases": [{"args": [1], "returns": 2}]}.

    The last block of code in the language is run; of several blocks without which it fails, all.
    """

    language: str = "python"
    function: str | None = None
    cases: list[Case] = msgspec.field(default_factory=list)
    tests: str | None = None
    """A program that is put behind the code and must end without an error."""
    seconds: float = 5
    """How long a program may run."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a language that cannot be run, or cases that are not complete."""
        super().__post_init__()
        if self.language not in LANGUAGES:
            raise ValueError(f"no language {self.language!r}; known: {', '.join(LANGUAGES)}")
        if self.each is not None:
            raise ValueError("code takes no each")
        if bool(self.cases) == (self.tests is not None):
            raise ValueError("needs either cases or tests")
        if self.function is not None and not LANGUAGES[self.language].calls:
            raise ValueError(f"no function can be called in {self.language}")
        for case in self.cases:
            stated = (case.returns is not msgspec.UNSET) + (case.raises is not None)
            if stated != (self.function is not None) or (case.stdout is None) != bool(stated):
                needs = "one of returns, raises" if self.function else "stdout (or name a function)"
                raise ValueError(f"each case needs {needs}")
        if not 0 < self.seconds <= 60:
            raise ValueError(f"seconds must be above 0 and at most 60, this is {self.seconds}")

    def runs_code(self) -> bool:
        """Return True: there is no other way."""
        return True

    def requirement(self) -> str:
        """Return the requirement in words."""
        what = f"{len(self.cases)} cases" if self.cases else "its tests"
        return f"{self.language} code that passes {what}"

    def test(self, passage: Passage) -> Outcome:
        """Run the code, if it may be."""
        if passage.sandbox is None:
            return Outcome(None, "code is run only with --run-code")
        program = LANGUAGES[self.language].command[0]
        if shutil.which(program) is None:
            return Outcome(None, f"{program} is not installed")
        blocks = self._blocks(passage)
        if not blocks:
            return Outcome(False, f"there is no {self.language} code")
        fault = self._fault(passage.sandbox, passage.at(blocks[-1]))
        if (
            fault
            and len(blocks) > 1
            and not self._fault(passage.sandbox, "\n".join(map(passage.at, blocks)))
        ):
            return PASSED
        return Outcome(False, fault, (blocks[-1],)) if fault else PASSED

    def _blocks(self, passage: Passage) -> list[Span]:
        """Return the code: fences in that language, else those that name none, else the reply."""
        every = list(_FENCE.finditer(passage.reply, *passage.span))
        names = {self.language, *LANGUAGES[self.language].aliases}
        named = [m for m in every if m[2].lower() in names] or [m for m in every if not m[2]]
        if not every and passage.text.strip():
            return [passage.span]
        return [Span(*m.span(3)) for m in named]

    def _fault(self, sandbox: Sandbox, code: str) -> str:
        """Return what is wrong with the first case that fails; "" if all pass."""
        language, token = LANGUAGES[self.language], secrets.token_hex(16)
        command = [*language.command, "main"]
        stdin = json.dumps([token, self.function, [(case.args, case.named) for case in self.cases]])
        if self.function is not None:
            files = {"answer": code, "main": language.calls}
            return self._called(sandbox.run(files, command, stdin, self.seconds), token)
        if self.tests is not None:
            files = {"answer": code, "tests": self.tests}
            slots = {**files, "token": token}
            files["main"] = re.sub(
                r"\{(answer|tests|token)\}", lambda match: slots[match[1]], language.tested
            )
            ran = sandbox.run(files, command, stdin, self.seconds)
            return "" if token in ran.stdout else f"tests: {_end(ran)}"
        for number, case in enumerate(self.cases, 1):
            ran = sandbox.run({"main": code}, command, case.stdin, self.seconds)
            if ran.late or ran.code:
                return f"case {number}: {_end(ran)}"
            if _printed(ran.stdout) != _printed(case.stdout or ""):
                return f"case {number}: it prints {ran.stdout[:60]!r}"
        return ""

    def _called(self, ran: Ran, token: str) -> str:
        results = _results(token, ran.stdout)
        for number, case in enumerate(self.cases, 1):
            if number > len(results):
                return f"case {number}: {_end(ran)}"
            got = results[number - 1]
            if case.raises is not None:
                right = case.raises in (got.get("raises") or [])
            else:
                right = "returns" in got and not different(case.returns, got["returns"])
            if not right:
                raised = got.get("raises")
                came = f"it raises {raised[0]}" if raised else f"it returns {got.get('returns')!r}"
                return f"case {number}: {came[:100]}"
        return ""


def _printed(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _end(ran: Ran) -> str:
    """Return how a program ended, in a few words."""
    if ran.late:
        return "it takes too long"
    lines = ran.stderr.strip().splitlines()
    return (lines[-1][:100] if lines else f"it ends with code {ran.code}").strip()


def _results(token: str, printed: str) -> list[dict[str, Any]]:
    """Return the results of the calls: {"returns": value} or {"raises": [classes]}."""
    found = []
    for line in printed.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            if line.startswith(token):
                found.append(json.loads(line.removeprefix(token)))
    return found
