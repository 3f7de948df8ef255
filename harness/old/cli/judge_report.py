"""Show how good a judge is: one report for each question about it."""

import argparse
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from harness.old.cli import command, flags, messages, output, values
from harness.old.cli.report_flags import FLAGS, usual_flags
from harness.old.errors import UsageError
from harness.old.meta_evaluation import REPORTS

if TYPE_CHECKING:
    from harness.old.judging.run import JudgeOptions
    from harness.old.meta_evaluation.report import Report

NAME = "judge_report"
PURPOSE = "Show how good a judge is: whether it is consistent, agrees with people, and is biased."
EXAMPLES = (
    "judge_report position --input-file gpt-4_pair.jsonl",
    "judge_report agreement --votes gpt-4_pair.jsonl human.jsonl --exclude 'author*'",
    "judge_report self --judge-model gpt-4 claude-v1 --format json",
)
_OF_EVERY_COMMAND = {"-q", "--quiet", "-v", "--verbose"}


class _Reports(command.Parser):
    """The parser of the command itself: what follows a report's name is parsed by that report."""

    def _check_flags(self, words: Iterable[str]) -> None:
        super()._check_flags(itertools.takewhile(lambda word: word not in REPORTS, words))


def parser() -> command.Parser:
    """Return the parser of the command itself, which names the reports."""
    p = _Reports(NAME, PURPOSE, EXAMPLES)
    reports = p.group("reports", f"{NAME} REPORT --help says more about each.")
    told = "; ".join(f"{name}: {entry.purpose}" for name, entry in REPORTS.items())
    reports.add_argument("report", metavar="REPORT", choices=list(REPORTS), help=told)
    reports.add_argument("flags", metavar="...", nargs=argparse.REMAINDER, help="the flags of that report")
    return p


def parsers() -> dict[str, command.Parser]:
    """Return the parser of every report, by the report's name."""
    return {name: _parser_of(name) for name in REPORTS}


def _parser_of(name: str) -> command.Parser:
    entry = REPORTS[name]
    examples = [f"{NAME} {name} {words}" for words in entry.examples]
    p = command.Parser(f"{NAME} {name}", f"Show {entry.purpose}.", examples)
    FLAGS.get(name, usual_flags)(p.group("what to show"))
    flags.add_bench(p, default=None)
    if name in ("attack", "examples"):  # those that call a judge
        flags.add_endpoint(p, "the judge")
        flags.add_running(p)
    form = p.group("output")
    flags.add_format(form)
    if name != "corrected":  # its intervals have a closed form
        form.add(
            "--seed N",
            "seed of the bootstrap behind the intervals; the same seed gives the same digits",
            values.whole,
            default=0,
        )
    return p


def _made(args: argparse.Namespace) -> "Report":
    """Return the report: its function gets every given flag that it has a parameter for."""
    if getattr(args, "judge_set", None) is not None:
        from harness.old.judging.sets import judge_set_name

        args.judge_set = judge_set_name(args.judge_set)
    function = REPORTS[args.report].load()
    return function(**flags.words(args, function))


def _self(args: argparse.Namespace) -> "Report":
    args.families = {}
    for text in args.family or ():
        name, _, family = text.rpartition("=")
        if not (name and family):
            raise UsageError(f"--family must be NAME=FAMILY, this is {text!r}")
        args.families[name] = family
    return _made(args)


def _options(args: argparse.Namespace) -> "JudgeOptions":
    """Return the options of judging for a report that calls a judge."""
    from harness.old.judging.run import JudgeOptions

    criteria = tuple(getattr(args, "criterion", None) or ())
    return JudgeOptions(**flags.words(args, JudgeOptions, key_needed=not args.dry_run, criteria=criteria, votes=()))


def _attack(args: argparse.Namespace) -> "Report | None":
    from harness.old.meta_evaluation.attack import plan_attack, run_attack

    plan = plan_attack(**flags.words(args, plan_attack, options=_options(args)))
    told = f"{len(plan.attacks)} attacks on {messages.counted(len(plan.judgments.questions), 'question')}"
    messages.say(args, f"{args.judge_model}: {told}, {messages.counted(plan.judgments.calls, 'call')}")
    if not output.go_on(args, plan.judgments):
        return None
    with messages.bar(plan.judgments.calls, "call", quiet=args.quiet) as watch:
        return run_attack(plan, flags.running(args), watch=watch, seed=args.seed)


def _examples(args: argparse.Namespace) -> "Report | None":
    from harness.old.meta_evaluation.examples import plan_examples, run_examples

    plan = plan_examples(**flags.words(args, plan_examples, options=_options(args)))
    messages.say(args, f"{plan.judge_set}: {args.judge_set} with {messages.counted(len(plan.shown), 'example')}")
    messages.say(args, f"{args.judge_model}: {messages.counted(plan.calls, 'call')}, without and with them")
    if not output.go_on(args, *plan.plans):
        return None
    with messages.bar(plan.calls, "call", quiet=args.quiet) as watch:
        return run_examples(plan, flags.running(args), watch=watch, seed=args.seed)


_CALLS: dict[str, Callable[[argparse.Namespace], "Report | None"]] = {
    "self": _self,
    "examples": _examples,
    "attack": _attack,
}
"""What makes reports whose flags are not just keywords of their functions; None if everything has been printed."""


def work(args: argparse.Namespace) -> int:
    """Make the report, print it."""
    command.one_thread()
    from harness.old.showing.judge_report import judge_page

    report = _CALLS.get(args.report, _made)(args)
    if report is None:
        return 0
    for path in report.paths:
        messages.detail(args, f"judgments: {path}")
    output.show(args, judge_page(report), f"{NAME} {report.name}")
    messages.report_failures(f"{NAME} {report.name}", report.failures)
    return 1 if report.failures else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    at = next((at for at, word in enumerate(words) if word not in _OF_EVERY_COMMAND), len(words))
    name = words[at] if at < len(words) else None
    if name in REPORTS:
        parser_of_report = _parser_of(str(name))
        parser_of_report.set_defaults(report=name)
        return command.run_command(parser_of_report, work, words[:at] + words[at + 1 :])
    if name is None or not name.startswith("-"):
        said = f"no report {name!r}" if name else "no report named"
        return command.unknown(NAME, said, name or "", REPORTS)
    return command.run_command(parser(), work, words)


if __name__ == "__main__":
    raise SystemExit(main())
