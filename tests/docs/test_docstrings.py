"""The examples in docstrings return what they say."""

import doctest
import importlib
import pathlib

import pytest

from tests.docs.pages import ROOT

MODULES = [
    path.relative_to(ROOT)
    for room in ("harness", "turnbench_questions", "viewer")
    for path in sorted((ROOT / room).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_examples_in_docstrings(path: pathlib.Path) -> None:
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
