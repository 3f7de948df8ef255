"""The command `auto_checks`."""

from harness.old.cli.auto_checks import main as main

if __name__ == "__main__":
    raise SystemExit(main())
