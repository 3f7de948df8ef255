"""The command `auto_metrics`."""

from harness.cli.measured import carry_out
from harness.cli.parser import Parsed
from harness.metrics import plan_metrics


def work(parsed: Parsed) -> int:
    """Compute metrics that need no judge; return the exit code."""
    plan = plan_metrics(parsed.options)
    carry_out(plan, "number")
    print("\n".join(str(work.path) for work in plan.works if work.path.exists()))
    return 0
