"""The command `gen_answer`."""

from harness.old.cli.gen_answer import main as main

if __name__ == "__main__":
    raise SystemExit(main())
