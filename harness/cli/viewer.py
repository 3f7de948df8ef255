"""The command `viewer`."""

from harness.old.cli.viewer import main as main

if __name__ == "__main__":
    raise SystemExit(main())
