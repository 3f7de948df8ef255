"""Names of models and benchmarks as file names, reversibly.

A model's name may hold any printable text; in file names `/ \\ % :`, a leading dot and control characters become `%XX`.
Decoding undoes only what encoding writes, so a file `a%20b.jsonl` that somebody else made is the model `a%20b`.

>>> file_stem("org/model:latest")
'org%2Fmodel%3Alatest'
>>> name_of("org%2Fmodel%3Alatest")
'org/model:latest'
"""

import re

from harness.errors import UsageError

_UNSAFE = re.compile(r"[/\\%:\x00-\x1f\x7f]|^\.")
_ESCAPED = re.compile(r"%(2F|5C|25|3A|7F|[01][0-9A-F])|^%2E")
MOST_BYTES = 200


def check_model_name(name: str) -> str:
    """Return the name, or raise `UsageError` if no model can be called that."""
    if not name.strip():
        raise UsageError("a model's name is empty")
    if "\0" in name:
        raise UsageError(f"the model name {name!r} holds a NUL character")
    if len(name.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise UsageError(f"the model name {name[:40]!r}… is over {MOST_BYTES} bytes long")
    return name


def file_stem(name: str) -> str:
    """Return the file name, without its ending, under which a model's rows are kept."""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", check_model_name(name))


def name_of(stem: str) -> str:
    """Return the model's name that a file name stands for; the inverse of `file_stem`."""
    return _ESCAPED.sub(lambda found: chr(int(found[0][1:], 16)), stem)


def check_bench_name(name: str) -> str:
    """Return the name, or raise `UsageError` if it is no plain folder name."""
    if not name or name in {".", ".."} or name.startswith(".") or _UNSAFE.search(name):
        raise UsageError(
            f"the benchmark name {name!r} is not a plain folder name; use --data-dir for the folder that holds it"
        )
    return name
