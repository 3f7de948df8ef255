"""`harness` offers what it lists, and costs nothing until it is used."""

import ast
import importlib
import os
import pathlib
import subprocess
import sys

import pytest

import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent


def test_the_list_and_the_table_agree() -> None:
    assert harness.__all__ == sorted(harness.__all__)
    assert set(harness.__all__) == set(harness._HOME)
    assert set(harness.__all__) <= set(dir(harness))


@pytest.mark.parametrize("name", harness.__all__)
def test_every_name_is_what_its_home_defines(name: str) -> None:
    member = getattr(harness, name)
    assert member is getattr(importlib.import_module(harness._HOME[name]), name)
    assert member.__module__ == harness._HOME[name]
    assert member.__doc__


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((ROOT / "harness" / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == harness._HOME


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'gen_anwser'"):
        _ = harness.gen_anwser


def test_importing_it_is_light() -> None:
    script = "import sys, harness; print(sorted(m for m in sys.modules if m.startswith('harness')))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['harness']\n"
