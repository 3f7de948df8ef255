"""The command `run_bench`."""

from harness.old.cli.run_bench import main as main

if __name__ == "__main__":
    raise SystemExit(main())
