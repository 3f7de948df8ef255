"""Python code in a reply that passes given cases: `code`. It is run only in a sandbox.

What a call should return never enters the sandbox: a program prints what it got, and the comparison
is made outside.
"""

import contextlib
import json
import secrets
from typing import Any, ClassVar, Literal

import msgspec

from harness.extras.checks.check import Check
from harness.extras.checks.data import FENCE, different
from harness.extras.checks.passage import PASSED, Outcome, Passage
from harness.extras.checks.sandbox import Ran, Sandbox

_BEGIN = """
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
_CALLS = """
plain = lambda v: sorted(v) if isinstance(v, (set, frozenset)) else repr(v)
for args in calls:
    with contextlib.redirect_stdout(sys.stderr):
        value = space[name](*args)
    print(token + json.dumps(value, default=plain))
"""
_TESTS = """
exec(compile(open("tests").read(), "tests", "exec"), space)
print(token)
"""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of the function, and what it returns."""

    args: list[Any]
    returns: Any


class Code(Check, frozen=True, kw_only=True, tag="code"):
    """The code passes: {"kind": "code", "function": "f", "cases": [{"args": [1], "returns": 2}]}.

    The last block of code is run; of several blocks without which it fails, all.
    """

    RUNS_CODE: ClassVar[bool] = True
    language: Literal["python"] = "python"
    function: str | None = None
    cases: tuple[Case, ...] = ()
    """Calls of the function."""
    tests: str | None = None
    """A program that is put behind the code and must end without an error."""

    def __post_init__(self) -> None:
        """Raise `ValueError` unless there is either a function with cases, or tests."""
        super().__post_init__()
        if bool(self.function and self.cases) == (self.tests is not None):
            raise ValueError("needs either function and cases, or tests")

    def requirement(self) -> str:
        """Return the requirement in words."""
        what = f"{len(self.cases)} cases" if self.cases else "its tests"
        return f"python code that passes {what}"

    def test(self, passage: Passage) -> Outcome:
        """Run the code, if it may be."""
        if passage.sandbox is None:
            return Outcome(None, "code is run only with --run-code")
        blocks = _blocks(passage.text)
        if not blocks:
            return Outcome(False, "there is no python code")
        fault = self._fault(passage.sandbox, blocks[-1])
        if fault and len(blocks) > 1 and not self._fault(passage.sandbox, "\n".join(blocks)):
            return PASSED
        return Outcome(False, fault) if fault else PASSED

    def _fault(self, sandbox: Sandbox, code: str) -> str:
        """Return what is wrong with the code, such as the first case that fails; "" if nothing."""
        token = secrets.token_hex(16)
        files = {"answer": code, "main": _BEGIN + (_CALLS if self.tests is None else _TESTS)}
        if self.tests is not None:
            files["tests"] = self.tests
        stdin = json.dumps([token, self.function, [case.args for case in self.cases]])
        ran = sandbox.run(files, ["python3", "-I", "main"], stdin)
        results = _results(token, ran.stdout)
        if self.tests is not None:
            return "" if results else f"tests: {_end(ran)}"
        for number, case in enumerate(self.cases, 1):
            if number > len(results):
                return f"case {number}: {_end(ran)}"
            if different(case.returns, results[number - 1]):
                return f"case {number}: it returns {results[number - 1]!r}"[:100]
        return ""


def _blocks(text: str) -> list[str]:
    """Return the code: blocks of Python, else those that name no language, else the reply."""
    every = list(FENCE.finditer(text))
    python = [m[3] for m in every if m[2].lower() in ("python", "py", "python3")]
    return python or [m[3] for m in every if not m[2]] if every else [text]


def _end(ran: Ran) -> str:
    """Return how a program ended, in a few words."""
    if ran.late:
        return "it takes too long"
    lines = ran.stderr.strip().splitlines()
    return (lines[-1][:100] if lines else f"it ends with code {ran.code}").strip()


def _results(token: str, printed: str) -> list[Any]:
    """Return what the lines with the token hold: values, or None where only the token is there."""
    found = []
    for line in printed.splitlines():
        if line.startswith(token):
            with contextlib.suppress(ValueError, RecursionError):
                found.append(json.loads(line.removeprefix(token) or "null"))
    return found
