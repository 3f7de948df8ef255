"""The command `prove`: whether a question template keeps what it promises at every level."""

import pathlib
from typing import Any

from msgspec import Struct

from harness import options, registry
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.reporting import Page
from harness.words import counted, first_lines

_MOST_FAULTS = 20


class Proof(Struct):
    """What `prove` found."""

    faults: list[str]

    @property
    def exit_code(self) -> int:
        """1 if something is at fault."""
        return int(bool(self.faults))

    def _repr_html_(self) -> str:
        lines = first_lines(self.faults, _MOST_FAULTS) or ["Every reference and check is proved."]
        return Page("\n".join(lines))._repr_html_()

    def __repr__(self) -> str:
        return f"<Proof: {counted(len(self.faults), 'fault')}>"


def prove(which: str | pathlib.Path, **words: Any) -> Proof:
    """Prove a question template at its levels; `words` are the options of the command.

    Raises:
        UsageError: there is no such template.
    """
    return run(record_from(options.Prove, which=which, **words), Console())


def run(record: options.Prove, console: Console) -> Proof:
    """Prove a template."""
    template = registry.find("questions", "find")(record.which)
    find_faults = registry.find("questions", "prove")
    faults = [str(fault) for fault in find_faults(template, record.levels, range(record.seeds))]
    drawn = counted(len(record.levels) * record.seeds, "question")
    levels = ", ".join(map(str, record.levels))
    for line in first_lines(faults, _MOST_FAULTS):
        console.fail(line)
    if faults:
        number = counted(len(faults), "fault")
        console.fail(f"{record.which}: {number} in {drawn} of levels {levels}")
    else:
        proved = f"{drawn} of levels {levels}, every reference and check proved"
        console.write(f"{template.name}: {proved}")
    return Proof(faults)
