"""The command `import_data`."""

from harness.old.cli.import_data import main as main

if __name__ == "__main__":
    raise SystemExit(main())
