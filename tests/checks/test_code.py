"""A model's code is run in bubblewrap or not at all."""

from typing import Any

import pytest

from harness.errors import UsageError
from harness.extras.checks import check
from harness.extras.checks.sandbox import check_sandbox, run

CALLS = {
    "kind": "code",
    "function": "half",
    "cases": [{"args": [3], "returns": 1.5}, {"args": [4], "returns": 2}],
}


@pytest.mark.parametrize(
    ("spec", "right", "wrong"),
    [
        pytest.param(
            CALLS,
            "Here:\n```python\ndef half(x):\n    return x / 2\n```\nDone.",
            "```python\ndef half(x):\n    return x // 2\n```",
            id="function",
        ),
        pytest.param(
            {"kind": "code", "tests": "assert PATTERN.match('KA 7') and not PATTERN.match('ka 7')"},
            "PATTERN = re.compile(r'[A-Z]+ \\d')",
            "PATTERN = re.compile(r'[a-z]+ \\d', re.I)",
            id="one line without imports",
        ),
        pytest.param(
            {"kind": "code", "tests": "assert Point(1).x == 1"},
            "```python\nfrom __future__ import annotations\n"
            "@dataclass\nclass Point:\n    x: int\n```",
            "```python\nclass Point:\n    pass\n```",
            id="future import",
        ),
    ],
)
@pytest.mark.sandbox
def test_code_that_is_right_passes(spec: dict[str, Any], right: str, wrong: str) -> None:
    assert check(right, spec, run_code=True).passed is True, check(right, spec, run_code=True)
    assert check(wrong, spec, run_code=True).passed is False


def test_code_is_not_run_without_a_sandbox() -> None:
    outcome = check("def half(x): return x / 2", CALLS)
    assert outcome.passed is None
    assert "--run-code" in outcome.reason


@pytest.mark.parametrize(
    "code",
    [
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:1', timeout=1)",
        "open('/etc/passwd').read()",
        "open('/usr/x', 'w')",
        "import os; [os.fork() for _ in range(9)]",
        "x = ' ' * (1 << 30)",
    ],
)
@pytest.mark.sandbox
def test_code_reaches_neither_network_nor_files_nor_much_memory(code: str) -> None:
    assert "Error" in run({"main": code}, ["python3", "-I", "main"]).stderr


@pytest.mark.sandbox
def test_code_that_does_not_end_is_stopped() -> None:
    assert run({"main": "while True: pass"}, ["python3", "-I", "main"], seconds=0.5).code is None


def test_without_bubblewrap_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UsageError, match=r"needs bubblewrap .*install it, or leave out --run-code"):
        check_sandbox()
