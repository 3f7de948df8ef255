"""The command `auto_metrics`."""

from collections.abc import Sequence

from harness import options
from harness.cli.command import run
from harness.cli.measured import carry_out
from harness.cli.parser import Parsed


def main(argv: Sequence[str] | None = None) -> int:
    """Compute metrics that need no judge; return the exit code."""
    return run("auto_metrics", options.AutoMetrics, _work, argv)


def _work(parsed: Parsed) -> int:
    from harness.metrics import plan_metrics

    return carry_out(plan_metrics(parsed.options), "number", parsed.quiet)


if __name__ == "__main__":
    raise SystemExit(main())
