"""The command `turnbench init`: a commented turnbench.toml to begin with."""

import pathlib

from harness import store
from harness.cli.command import log
from harness.cli.parser import Parsed
from harness.errors import UsageError

TEMPLATE = pathlib.Path(__file__).with_name("turnbench.toml")


def work(_: Parsed) -> int:
    """Write turnbench.toml into the working folder; return the exit code."""
    path = pathlib.Path("turnbench.toml")
    if path.exists():
        raise UsageError(f"{path} is there already; edit it, or move it away")
    store.write_file(path, TEMPLATE.read_bytes())
    log.info("wrote %s; next: gen_answer --model NAME", path)
    return 0
