"""The languages whose programs can be run, and how a function in them is called with given arguments.

What a call should return never enters the sandbox: a program prints what it got, and the comparison is made outside.
"""

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Language:
    """How a program in a language is run."""

    file: str
    command: tuple[str, ...]
    image: str
    """A container image that holds the command."""
    aliases: tuple[str, ...] = ()
    """Further names that fences use."""
    calls: str = ""
    """The program that calls a function of `answer` as its input, [token, name, calls], says; empty: none can."""
    checked: str = ""
    """What prints the token once tests have passed."""
    needs: str = ""
    """The program that must be installed, where it is not the command's first word."""


_PYTHON_CALLS = """
import contextlib, json, sys
token, name, calls = json.load(sys.stdin)
space = {"__name__": "answer"}
with contextlib.redirect_stdout(sys.stderr):
    exec(compile(open("answer").read(), "answer", "exec"), space)
for args, named in calls:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            got = {"returns": space[name](*args, **named)}
    except Exception as error:
        got = {"raises": [kind.__name__ for kind in type(error).__mro__]}
    print(token + json.dumps(got, default=lambda v: sorted(v) if isinstance(v, (set, frozenset)) else repr(v)))
"""
_JAVASCRIPT_CALLS = """
const fs = require("fs"), vm = require("vm");
const [token, name, calls] = JSON.parse(fs.readFileSync(0, "utf8"));
const code = fs.readFileSync("answer", "utf8")
  .replace(/^export\\s+(default\\s+)?(?=async|function|const|let|var|class)/gm, "");
const write = process.stdout.write.bind(process.stdout);
console.log = console.info = console.error;
const found = new Function("require", "module", "exports", code + "\\n;return typeof " + name +
  " !== 'undefined' ? " + name + " : module.exports." + name)(require, module, module.exports);
(async () => {
  for (const [args] of calls) {
    let got;
    try { got = {returns: await found(...args)}; if (got.returns === undefined) got.returns = null; }
    catch (error) { got = {raises: [error && error.name, "Error", "Exception"]}; }
    write(token + JSON.stringify(got) + "\\n");
  }
})();
"""

LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        "main.py", ("python3", "-I", "main.py"), "python:3-slim", ("py", "python3"), _PYTHON_CALLS, "print({0!r})"
    ),
    "javascript": Language(
        "main.js", ("node", "main.js"), "node:lts-slim", ("js", "node", "mjs"), _JAVASCRIPT_CALLS, "console.log({0!r})"
    ),
    "bash": Language("main.sh", ("bash", "main.sh"), "bash:5", ("sh", "shell", "console"), checked="echo {0}"),
    "perl": Language("main.pl", ("perl", "main.pl"), "perl:slim", ("pl",), checked="print {0!r};"),
    "ruby": Language("main.rb", ("ruby", "main.rb"), "ruby:slim", ("rb",), checked="puts {0!r}"),
    "c": Language("main.c", ("sh", "-c", "gcc -O1 -o program main.c -lm && ./program"), "gcc:14", needs="gcc"),
    "c++": Language(
        "main.cpp", ("sh", "-c", "g++ -O1 -o program main.cpp && ./program"), "gcc:14", ("cpp", "cxx"), needs="g++"
    ),
}


def call_results(token: str, printed: str) -> list[dict[str, Any]]:
    """Return the results of the calls, as far as they ran: {"returns": value} or {"raises": [names of its classes]}."""
    found = []
    for line in printed.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            if line.startswith(token):
                value = json.loads(line.removeprefix(token))
                found.append(value if isinstance(value, dict) else {})
    return found


def is_name(text: str) -> bool:
    """Return whether a text can be a function's name."""
    return re.fullmatch(r"[A-Za-z_$][\w$.]*", text) is not None
