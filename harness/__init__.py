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
def _homes() -> dict[str, tuple[str, str]]:
    """Return the module of each public name, and its name there."""
    stub = pathlib.Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    found = re.findall(r"^from (\S+) import (\w+) as (\w+)", stub, re.MULTILINE)
    return {public: (module, name) for module, name, public in found}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _homes()[name]
    return getattr(importlib.import_module(module), own)


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes()})
