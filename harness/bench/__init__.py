"""One benchmark folder: found, loaded, checked."""

from harness.bench.bench import (
    Bench,
    alternate,
    find_source,
    load,
    load_named,
    load_questions,
    shipped,
    size_in_words,
    spread,
    usual_temperatures,
)
from harness.bench.names import (
    check_bench_name,
    check_model_name,
    file_stem,
    judgment_file_name,
    name_of,
    parse_judgment_name,
)

load_bench = load
"""The name of `load` where the room is not named: `harness.load_bench`."""

__all__ = [
    "Bench",
    "alternate",
    "check_bench_name",
    "check_model_name",
    "file_stem",
    "find_source",
    "judgment_file_name",
    "load",
    "load_bench",
    "load_named",
    "load_questions",
    "name_of",
    "parse_judgment_name",
    "shipped",
    "size_in_words",
    "spread",
    "usual_temperatures",
]
