"""The command `gen_judgment`."""

from harness.old.cli.gen_judgment import main as main

if __name__ == "__main__":
    raise SystemExit(main())
