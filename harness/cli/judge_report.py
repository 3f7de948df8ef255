"""The command `judge_report`."""

from harness.old.cli.judge_report import main as main

if __name__ == "__main__":
    raise SystemExit(main())
