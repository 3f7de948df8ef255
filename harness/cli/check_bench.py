"""The command `check_bench`."""

from harness.old.cli.check_bench import main as main

if __name__ == "__main__":
    raise SystemExit(main())
