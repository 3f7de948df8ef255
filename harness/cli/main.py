"""The command `turnbench`."""

from harness.old.cli.main import main as main

if __name__ == "__main__":
    raise SystemExit(main())
