"""The command `turnbench init`: a commented turnbench.toml to begin with."""

import pathlib

from harness import options, store
from harness.cli.console import Console
from harness.errors import UsageError

TEMPLATE = pathlib.Path(__file__).with_name("turnbench.toml")


def init() -> pathlib.Path:
    """Write a commented turnbench.toml into the working folder; return its path.

    Raises:
        UsageError: there is one.
    """
    return run(options.Init(), Console())


def run(_: options.Init, console: Console) -> pathlib.Path:
    """Write turnbench.toml into the working folder."""
    path = pathlib.Path("turnbench.toml")
    if path.exists():
        raise UsageError(f"{path} is there already; edit it, or move it away")
    # The first line names the schema beside the template, which is not beside the copy.
    store.write_file(path, TEMPLATE.read_text(encoding="utf-8").partition("\n")[2])
    console.tell(f"wrote {path}; next: gen_answer --model NAME")
    return path
