"""`harness` offers what it lists, and costs nothing until it is used."""

import importlib
import inspect
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

import harness

OFFERED: Any = harness
"""What there is at run time; its stub lists the names alone."""
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_the_list_is_what_can_be_had() -> None:
    assert OFFERED.__all__ == sorted(OFFERED._homes())
    assert set(OFFERED.__all__) <= set(dir(OFFERED))


@pytest.mark.parametrize("name", OFFERED.__all__)
def test_every_name_is_what_its_home_defines(name: str) -> None:
    member = getattr(OFFERED, name)
    assert member is getattr(importlib.import_module(OFFERED._homes()[name]), name)
    assert member.__module__ == OFFERED._homes()[name]
    assert member.__doc__


OLD_FUNCTIONS = [
    name
    for name in OFFERED.__all__
    if inspect.isfunction(getattr(OFFERED, name)) and OFFERED._homes()[name].startswith("harness.old")
]


@pytest.mark.parametrize("name", OLD_FUNCTIONS)
def test_every_function_refuses_an_unknown_keyword_in_its_own_name(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'modle'"):
        getattr(OFFERED, name)(modle="x")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'gen_anwser'"):
        _ = OFFERED.gen_anwser


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
