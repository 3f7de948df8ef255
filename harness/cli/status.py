"""The command `status`."""

from harness.old.cli.status import main as main

if __name__ == "__main__":
    raise SystemExit(main())
