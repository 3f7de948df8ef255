"""The command `auto_metrics`."""

from harness.old.cli.auto_metrics import main as main

if __name__ == "__main__":
    raise SystemExit(main())
