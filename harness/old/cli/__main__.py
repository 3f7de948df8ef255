"""`python -m harness.old.cli` is `turnbench`."""

import sys

from harness.cli.main import main

sys.exit(main())
