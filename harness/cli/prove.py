"""The command `prove`: whether a question template keeps what it promises at every level."""

from harness import options, registry
from harness.cli.command import first_lines, log
from harness.cli.parser import Parsed
from harness.reporting.page import counted

_MOST_FAULTS = 20


def work(parsed: Parsed) -> int:
    """Prove a template; return 1 if something is at fault."""
    record: options.Prove = parsed.options
    template = registry.find("questions", "find")(record.which)
    prove = registry.find("questions", "prove")
    faults = [str(fault) for fault in prove(template, record.levels, range(record.seeds))]
    drawn = counted(len(record.levels) * record.seeds, "question")
    levels = ", ".join(map(str, record.levels))
    if faults:
        for line in first_lines(faults, _MOST_FAULTS):
            log.error("%s", line)
        log.error(
            "%s: %s in %s of levels %s", record.which, counted(len(faults), "fault"), drawn, levels
        )
        return 1
    print(f"{template.name}: {drawn} of levels {levels}, every reference and check proved")
    return 0
