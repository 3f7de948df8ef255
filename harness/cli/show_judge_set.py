"""The command `show_judge_set`."""

from harness.old.cli.show_judge_set import main as main

if __name__ == "__main__":
    raise SystemExit(main())
