"""The command `auto_checks`."""

from collections.abc import Sequence

from harness import options
from harness.cli.command import run
from harness.cli.measured import carry_out
from harness.cli.parser import Parsed


def main(argv: Sequence[str] | None = None) -> int:
    """Check the answers for what a program can check; return the exit code."""
    return run("auto_checks", options.AutoChecks, _work, argv)


def _work(parsed: Parsed) -> int:
    from harness.metrics import plan_checks

    return carry_out(plan_checks(parsed.options), "turn", parsed.quiet)


if __name__ == "__main__":
    raise SystemExit(main())
