"""Code in a reply that passes given cases: `code`. It is run only where a sandbox is given.

What a call should return never enters the sandbox: a program prints what it got, and the comparison is made outside.
"""

import contextlib
import json
import pathlib
import re
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from harness.old.checks.check import Check, Finding, Passage, Span
from harness.old.checks.data import same_json
from harness.old.checks.sandbox import Ran
from harness.old.written import decoded, read_toml

_FENCE = re.compile(r"^[ \t]*(`{3,}+|~{3,}+)[ \t]*+([^\s`{]*+)[^\n]*+\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_NAME = re.compile(r"[A-Za-z_$][\w$.]*")
_MOST_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Language:
    """How a program in a language is run."""

    file: str
    command: tuple[str, ...]
    image: str
    """A container image with the command."""
    aliases: tuple[str, ...] = ()
    """Further names that fences use."""
    calls: str = ""
    """The program that calls a function of `answer` as its input, [token, name, calls], says; empty: none can."""
    checked: str = ""
    """What prints the token once tests have passed."""
    needs: str = ""
    """The program that must be installed, where it is not the command's first word."""


_FILE = pathlib.Path(__file__).with_name("languages.toml")
LANGUAGES = decoded(read_toml(_FILE), dict[str, Language], _FILE)


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case: a call and what it returns or raises, or what is read and printed."""

    args: list[Any] | None = None
    named: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments by name (Python only)."""
    returns: Any = msgspec.UNSET
    raises: str | None = None
    """The class of the error, or one that it derives from."""
    stdin: str = ""
    stdout: str | None = None
    """What is printed; spaces at the ends of lines do not count."""

    def is_right(self, got: dict[str, Any], tolerance: float) -> bool:
        """Return whether a call gave the result that it should."""
        if self.raises is not None:
            raised = got.get("raises")
            return isinstance(raised, list) and self.raises in raised
        return "returns" in got and same_json(self.returns, got["returns"], tolerance)


class Code(Check, frozen=True, kw_only=True, tag="code"):
    """The code passes: {"kind": "code", "function": "f", "cases": [{"args": [1], "returns": 2}]}."""

    language: str = "python"
    block: int | str = -1
    """Which block of code in that language, from 1, or -1 for the last; "all": all of them, joined."""
    function: str | None = None
    cases: list[Case] = msgspec.field(default_factory=list)
    tests: str | None = None
    """A program that is put behind the code and must end without an error."""
    tolerance: float = 0
    seconds: float = 5
    """How long a program may run."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a language that cannot be run, or cases that are none."""
        super().__post_init__()
        if self.language not in LANGUAGES:
            raise ValueError(f"no language {self.language!r}; known: {', '.join(LANGUAGES)}")
        if self.each is not None:
            raise ValueError("code takes no each")
        if bool(self.cases) == (self.tests is not None):
            raise ValueError("needs either cases or tests")
        if self.function is not None and not (_NAME.fullmatch(self.function) and LANGUAGES[self.language].calls):
            raise ValueError(f"function {self.function!r} cannot be called in {self.language}")
        if self.tests is not None and not LANGUAGES[self.language].checked:
            raise ValueError(f"tests are not supported for {self.language}; give cases")
        for case in self.cases:
            stated = (case.returns is not msgspec.UNSET) + (case.raises is not None) + (case.stdout is not None)
            if stated != 1 or (self.function is None) == (case.stdout is None):
                wants = "stdout" if self.function is None else "one of returns, raises"
                raise ValueError(f"each case needs {wants}{'' if self.function else ' (or name a function)'}")
        if not 0 < self.seconds <= _MOST_SECONDS:
            raise ValueError(f"seconds must be above 0 and at most {_MOST_SECONDS}, this is {self.seconds}")

    def needs_code(self) -> bool:
        """Return True: there is no other way."""
        return True

    def wanted(self) -> str:
        """Return the requirement as a text."""
        return f"{self.language} code that passes {f'{len(self.cases)} cases' if self.cases else 'its tests'}"

    def measure(self, passage: Passage) -> Finding:
        """Run the code, if it may be."""
        sandbox = passage.sandbox
        if sandbox is None:
            return Finding(None, "code is run only with --run-code")
        language = LANGUAGES[self.language]
        if not sandbox.is_container and shutil.which(language.needs or language.command[0]) is None:
            return Finding(None, f"{language.needs or language.command[0]} is not installed")
        found = self._block(passage)
        if found is None:
            return Finding(False, f"there is no {self.language} code")
        code, span = found
        run = partial(sandbox.run, command=language.command, image=language.image, seconds=self.seconds)
        fault = self._called(run, code) if self.function else self._tested(run, code)
        return Finding(fault is None, fault or "", () if fault is None else (span,))

    def _block(self, passage: Passage) -> tuple[str, Span] | None:
        """Return the code; fences in that language first, then those that name none, else all of the reply."""
        every = list(_FENCE.finditer(passage.text, *passage.span))
        named = [m for m in every if m[2].lower() in {self.language, *LANGUAGES[self.language].aliases}] or [
            m for m in every if not m[2]
        ]
        if not named:
            return None if every or not passage.said.strip() else (passage.said, passage.span)
        if self.block == "all":
            return "\n".join(m[3] for m in named), Span(named[0].start(3), named[-1].end(3))
        number = int(self.block)
        index = number - 1 if number > 0 else len(named) + number
        if not 0 <= index < len(named):
            return None
        return named[index][3], Span(*named[index].span(3))

    def _called(self, run: Callable[..., Ran], code: str) -> str | None:
        """Call the function with all cases; return what is wrong with the first that fails."""
        language, token = LANGUAGES[self.language], secrets.token_hex(16)
        calls = [(case.args or [], case.named) for case in self.cases]
        ran = run({"answer": code, language.file: language.calls}, stdin=json.dumps([token, self.function, calls]))
        results = call_results(token, ran.stdout)
        for number, case in enumerate(self.cases, 1):
            if number > len(results):
                return f"case {number}: {_end(ran)}"
            got = results[number - 1]
            if not case.is_right(got, self.tolerance):
                came = f"it raises {got['raises'][0]}" if got.get("raises") else f"it returns {got.get('returns')!r}"
                return f"case {number}: {came[:100]}"
        return None

    def _tested(self, run: Callable[..., Ran], code: str) -> str | None:
        """Run the program on each input, or once with its tests; return what is wrong with the first that fails."""
        language, token = LANGUAGES[self.language], secrets.token_hex(16)
        if self.tests is not None:
            ran = run({language.file: f"{code}\n{self.tests}\n{language.checked.format(token)}\n"})
            return None if token in ran.stdout else f"tests: {_end(ran)}"
        for number, case in enumerate(self.cases, 1):
            ran = run({language.file: code}, stdin=case.stdin)
            if ran.late or ran.code or _printed(ran.stdout) != _printed(case.stdout or ""):
                return f"case {number}: {_end(ran) if ran.late or ran.code else f'it prints {ran.stdout[:60]!r}'}"
        return None


def _printed(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _end(ran: Ran) -> str:
    """Return how a program ended, in a few words."""
    if ran.late:
        return "it takes too long"
    said = ran.stderr.strip().splitlines()
    return (said[-1][:100] if said else f"it ends with code {ran.code}").strip()


def call_results(token: str, printed: str) -> list[dict[str, Any]]:
    """Return the results of the calls, as far as they ran: {"returns": value} or {"raises": [names of its classes]}."""
    found = []
    for line in printed.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            if line.startswith(token):
                value = json.loads(line.removeprefix(token))
                found.append(value if isinstance(value, dict) else {})
    return found
