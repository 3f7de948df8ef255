"""turnbench from Python: `import turnbench` offers what `harness` offers, under its own name."""

import sys

import harness

sys.modules[__name__] = harness
