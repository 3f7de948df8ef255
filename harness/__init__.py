"""turnbench: which of several chat models is better, at what, and how sure are we.

This is the Python interface; everything that commands do, a program can do with the same names:

    import harness

    harness.gen_answer(["gpt-4o", "builtin/eliza"])
    harness.gen_judgment("gpt-4.1", mode="pairwise-all")
    result = harness.show_result("pairwise-all")

They are imported on first use, so that every command starts quickly. `__init__.pyi` beside this
file lists them, with the modules that define them.
"""

import functools
import importlib
import pathlib
import re
from typing import Any

__version__ = "0.1.0"


@functools.cache
def _homes() -> dict[str, str]:
    """Return the module that defines each name."""
    stub = pathlib.Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {
        name: module
        for module, name in re.findall(r"^from (\S+) import (\w+) as", stub, re.MULTILINE)
    }


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes()})
