"""The command `turnbench`, which runs all the others."""

import importlib
import sys
from collections.abc import Sequence

from harness import __version__
from harness.old.cli.command import CODES, end_like_ctrl_c, leave, unknown
from harness.old.cli.messages import mend_streams, results, warn
from harness.old.errors import TurnbenchError

COMMANDS = {
    "gen_answer": "let chat models answer the questions of a benchmark",
    "gen_judgment": "let judges grade or compare the answers",
    "run_bench": "answer, judge and show in one go",
    "show_result": "show scores or win rates from the judgments",
    "auto_checks": "check the answers for what a program can check; no judge, no key",
    "auto_metrics": "compute metrics that need no judge: BLEU, ROUGE, chrF, UniEval and others",
    "status": "show what is answered, judged and missing, and what the missing part would cost",
    "judge_report": "show how good a judge is",
    "viewer": "show answers, verdicts and results in a browser",
    "show_judge_set": "show the judge sets, and the messages that one would send",
    "fetch_bench": "download a published benchmark from its upstream and verify it",
    "import_data": "make a benchmark from other projects' data, or training data from judgments",
    "check_bench": "check a benchmark's files before any model is called",
}
PURPOSE = "Measures which of several chat models is better, at what, and how sure we are."
EXAMPLES = (
    "turnbench gen_answer --model builtin/reference builtin/eliza",
    "turnbench gen_judgment --judge-model builtin/overlap",
    "turnbench show_result",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `turnbench NAME ...`; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) > 1 and words[0] == "help":
        words = [words[1], "--help"]
    first = words[0] if words else "--help"
    name = first.replace("-", "_")
    if name in COMMANDS:
        if argv is None:
            end_like_ctrl_c()
        code: int = importlib.import_module(f"harness.cli.{name}").main(words[1:])
        if argv is None:
            leave(code)
        return code
    mend_streams()
    told = (
        overview() if first in {"-h", "--help", "help"} else f"turnbench {__version__}" if first == "--version" else ""
    )
    if told:
        try:
            results(told)
        except TurnbenchError as error:
            warn("turnbench", f"error: {error}")
            return error.exit_code
        return 0
    return unknown("turnbench", f"no command {first!r}", name, COMMANDS)


def overview() -> str:
    """Return the help of `turnbench` itself."""
    commands = "\n".join(f"  {name:14} {purpose}" for name, purpose in COMMANDS.items())
    examples = "\n".join(f"  {example}" for example in EXAMPLES)
    return (
        f"usage: turnbench COMMAND ...\n\n{PURPOSE}\n\ncommands:\n{commands}\n\n"
        "turnbench COMMAND --help says more; each command can also be run by its own name.\n\n"
        f"examples, which need no key:\n{examples}\n\n{CODES}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
