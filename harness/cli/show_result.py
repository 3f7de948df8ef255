"""The command `show_result`."""

from harness.old.cli.show_result import main as main

if __name__ == "__main__":
    raise SystemExit(main())
