"""The command `auto_checks`."""

from harness.cli.measured import carry_out
from harness.cli.parser import Parsed
from harness.metrics import plan_checks


def work(parsed: Parsed) -> int:
    """Check the answers for what a program can check; return the exit code."""
    plan = plan_checks(parsed.options)
    carry_out(plan, "turn")
    print("\n".join(str(work.path) for work in plan.works if work.path.exists()))
    return 0
