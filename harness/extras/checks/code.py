"""Code in a reply that passes given cases or tests: `code`. It is run only in a sandbox.

What a call should return never enters the sandbox: a program prints what it got, and the comparison
is made outside.
"""

import contextlib
import json
import secrets
from typing import Any, ClassVar, Literal

import msgspec

from harness.extras.checks import sandbox
from harness.extras.checks.check import Check
from harness.extras.checks.data import FENCE, different
from harness.extras.checks.passage import PASSED, Outcome, Passage

_MAIN = """
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
plain = lambda v: sorted(v) if isinstance(v, (set, frozenset)) else repr(v)
for args in calls:
    with contextlib.redirect_stdout(sys.stderr):
        value = space[name](*args)
    print(token + json.dumps(value, default=plain))
exec(compile(open("tests").read(), "tests", "exec"), space)
print(token + "null")
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
        if not passage.run_code:
            return Outcome(None, "code is run only by turnbench auto_checks --run-code")
        blocks = _blocks(passage.text)
        if not blocks:
            return Outcome(False, "there is no python code")
        fault = self._fault(blocks[-1])
        if fault and len(blocks) > 1 and not self._fault("\n".join(blocks)):
            return PASSED
        return Outcome(not fault, fault)

    def _fault(self, code: str) -> str:
        """Return what is wrong with the code, such as the first case that fails; "" if nothing."""
        token = secrets.token_hex(16)
        stdin = json.dumps([token, self.function, [case.args for case in self.cases]])
        files = {"main": _MAIN, "answer": code, "tests": self.tests or ""}
        ran = sandbox.run(files, ["python3", "-I", "main"], stdin)
        results = _results(token, ran.stdout)
        for number, case in enumerate(self.cases, 1):
            if number > len(results):
                return f"case {number}: {_end(ran)}"
            if different(case.returns, results[number - 1]):
                return f"case {number}: it returns {results[number - 1]!r}"[:100]
        return "" if len(results) > len(self.cases) else f"tests: {_end(ran)}"


def _blocks(text: str) -> list[str]:
    """Return the code: blocks of Python, else those that name no language, else the reply."""
    fences = list(FENCE.finditer(text))
    python = [m[3] for m in fences if m[2].lower() in ("python", "py", "python3")]
    return python or [m[3] for m in fences if not m[2]] if fences else [text]


def _end(ran: sandbox.Ran) -> str:
    """Return how a program ended, in a few words."""
    if ran.code is None:
        return "it takes too long"
    lines = ran.stderr.strip().splitlines()
    return (lines[-1][:100] if lines else f"it ends with code {ran.code}").strip()


def _results(token: str, printed: str) -> list[Any]:
    """Return the values in the lines that begin with the token."""
    results = []
    for line in printed.splitlines():
        if line.startswith(token):
            with contextlib.suppress(ValueError, RecursionError):
                results.append(json.loads(line.removeprefix(token)))
    return results
