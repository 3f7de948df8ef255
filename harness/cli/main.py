"""The command `turnbench`, under which all commands are found."""

import difflib
import importlib
import sys
from collections.abc import Sequence

from harness import __version__

COMMANDS = {
    "gen_answer": "let chat models answer the questions of a benchmark",
    "gen_judgment": "let judges grade or compare the answers",
    "show_result": "show what the judgments add up to",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `turnbench NAME ...`; return its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in {"-h", "--help"}:
        print("usage: turnbench COMMAND ...\n\nTells which of several chat models is better, at what, and how sure we are.\n\ncommands:")
        print("\n".join(f"  {name:14} {purpose}" for name, purpose in COMMANDS.items()))
        print("\nturnbench COMMAND --help says more; each command also stands alone under its own name.")
        return 0
    if args[0] == "--version":
        print(f"turnbench {__version__}")
        return 0
    name = args[0].replace("-", "_")
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(COMMANDS)}"
        print(f"turnbench: error: no command {args[0]!r}; {hint}", file=sys.stderr)
        return 2
    code: int = importlib.import_module(f"harness.cli.{name}").main(args[1:])
    return code


if __name__ == "__main__":
    sys.exit(main())
