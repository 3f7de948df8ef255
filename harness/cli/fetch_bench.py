"""The command `fetch_bench`."""

from harness.old.cli.fetch_bench import main as main

if __name__ == "__main__":
    raise SystemExit(main())
