"""turnbench from Python: `import turnbench` offers what `harness` offers, under its own name.

`python -m turnbench` is the command.
"""

import sys

import harness

if __name__ == "__main__":
    from harness.cli.main import main

    sys.exit(main())
sys.modules[__name__] = harness
