"""Show what a judge is worth: one report for each question about it."""

import argparse
import difflib
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.cli import command, flags, messages, output

if TYPE_CHECKING:
    from harness.meta_evaluation.report import Report

NAME = "judge_report"
PURPOSE = (
    "Show what a judge is worth: whether it is consistent, agrees with people, and favours anything but the answer."
)
EXAMPLES = (
    "judge_report position --input-file gpt-4_pair.jsonl",
    "judge_report agreement --votes gpt-4_pair.jsonl human.jsonl --exclude 'author*'",
    "judge_report self --judge-model gpt-4 claude-v1 --format json",
)
_OF_EVERY_COMMAND = {"-q", "--quiet", "-v", "--verbose"}


class Kind(NamedTuple):
    """One report: what it is for, its flags, and the call that makes it."""

    purpose: str
    examples: tuple[str, ...]
    flags: Callable[[Any], None]
    make: Callable[[argparse.Namespace], "Report | None"]
    """None where all there was to say has been printed, as by --dry-run."""
    calls: bool = False
    """Whether making it calls a judge."""


class _Reports(command.Parser):
    """The parser of the command itself: what stands after a report's name belongs to that report."""

    def _check_flags(self, words: Iterable[str]) -> None:
        super()._check_flags(itertools.takewhile(lambda word: word not in KINDS, words))


def parser() -> command.Parser:
    """Return the parser of the command itself, which names the reports."""
    p = _Reports(NAME, PURPOSE, EXAMPLES)
    reports = p.add_argument_group("reports", f"{NAME} REPORT --help says more about each.")
    told = "; ".join(f"{name}: {kind.purpose}" for name, kind in KINDS.items())
    reports.add_argument("report", metavar="REPORT", choices=list(KINDS), help=told)
    reports.add_argument("flags", metavar="...", nargs=argparse.REMAINDER, help="the flags of that report")
    return p


def parsers() -> dict[str, command.Parser]:
    """Return the parser of every report, by the report's name."""
    return {name: _parser_of(name) for name in KINDS}


def _parser_of(name: str) -> command.Parser:
    kind = KINDS[name]
    purpose = f"Show {kind.purpose}."
    p = command.Parser(f"{NAME} {name}", purpose, [f"{NAME} {name} {words}" for words in kind.examples])
    kind.flags(p.add_argument_group("what to show"))
    flags.add_bench(p, default=None)
    if kind.calls:
        flags.add_endpoint(p, "the judge")
        flags.add_running(p)
    form = p.add_argument_group("output")
    flags.add_format(form)
    if name != "corrected":  # its intervals have a formula
        form.add_argument(
            "--seed",
            type=flags.whole,
            default=0,
            metavar="N",
            help="of the resampling behind the intervals; the same seed gives the same digits (default: 0)",
        )
    return p


def _judge(group: Any, *, several: str | None = None) -> None:
    """Add the flags that choose whose judgments; `several` says what naming more than one does."""
    if several:
        flags.add_names(group, "--judge-model", help=several)
    else:
        group.add_argument(
            "--judge-model", metavar="NAME", help="whose judgments (default: the only judge's; of several, name one)"
        )
    group.add_argument(
        "--judge-set", metavar="SET", help="made with which judge set (default: the only one; of several, name one)"
    )
    flags.add_kind(group)


def _one_file(group: Any) -> None:
    group.add_argument(
        "--input-file", metavar="FILE", help="a pair judgment or vote file (default: the one in model_judgment/)"
    )


def _files(group: Any, what: str) -> None:
    flags.add_names(group, "--input-file", metavar="FILE", help=f"{what} (default: those in model_judgment/)")
    _mode(group)


def _mode(group: Any) -> None:
    group.add_argument(
        "--mode",
        choices=flags.MODES,
        help="grades or pairs (default: what the files hold; of model_judgment/, single)",
    )


def _votes(group: Any, what: str) -> None:
    flags.add_names(group, "--votes", metavar="FILE", required=True, help=f"{what} (needed)")
    flags.add_names(group, "--exclude", metavar="GLOB", help="voters to leave out, such as 'author*' (default: none)")


def _position_flags(group: Any) -> None:
    _one_file(group)
    _judge(group, several="whose judgments; several are counted together and each for itself (default: the only one's)")


def _agreement_flags(group: Any) -> None:
    _votes(
        group,
        "files of votes or of judgments: of pairs, of grades or of labels; every two are compared, grades beside pairs "
        "as preferences",
    )
    _judge(group, several="the judges or voters to take (default: all)")


def _length_flags(group: Any) -> None:
    _one_file(group)
    _judge(group)
    flags.add_names(
        group, "--exclude", metavar="GLOB", help="voters to leave out of a vote file, such as 'author*' (default: none)"
    )


def _repeat_flags(group: Any) -> None:
    _files(group, "judgment files; several of one judge are its repeats")
    _judge(group, several="whose judgments; several become a source of variance of their own (default: the only one's)")


def _self_flags(group: Any) -> None:
    _files(group, "judgment files of two judges or more")
    _judge(group, several="the judges (default: all that there are)")
    flags.add_names(
        group,
        "--family",
        metavar="NAME=FAMILY",
        help="of which family a model or judge is (default: the part of its name before the first - or /)",
    )


def _ranking_flags(group: Any) -> None:
    group.add_argument(
        "--against",
        required=True,
        metavar="FILE.csv",
        help="a ranking with a header: a column of models and one of scores, where more is better, or ranks (needed)",
    )
    group.add_argument("--model-column", metavar="NAME", help="its column of models (default: model, name, ...)")
    group.add_argument("--score-column", metavar="NAME", help="its column of scores (default: score, rating, elo, ...)")
    group.add_argument(
        "--input-file", metavar="FILE", help="a judgment or vote file (default: the one in model_judgment/)"
    )
    _mode(group)
    _judge(group)


def _corrected_flags(group: Any) -> None:
    _votes(group, "files of people's votes on some of the pairs")
    _one_file(group)
    _judge(group)
    flags.add_names(group, "--turns", help="the turns to count (default: all)", metavar="N", type=flags.positive)
    group.add_argument(
        "--all-questions",
        action="store_true",
        help="make the intervals about all questions of this kind, not these alone (default: off)",
    )


def _checks_flags(group: Any) -> None:
    group.add_argument(
        "--input-file", metavar="FILE", help="a judgment or vote file (default: the one in model_judgment/)"
    )
    _mode(group)
    _judge(group)
    group.add_argument(
        "--loose",
        action="store_true",
        help="count as broken only what breaks a check however leniently it is read (default: off)",
    )
    group.add_argument(
        "--top",
        type=float,
        metavar="GRADE",
        help="the least grade that is a top grade (default: where the upper ninth of the scale begins, 9 of 1 to 10)",
    )


def _reference_flags(group: Any) -> None:
    flags.add_names(
        group,
        "--input-file",
        metavar="FILE",
        help="two judgment files: with the reference, and without it (default: those in model_judgment/)",
    )
    _judge(group)
    group.add_argument(
        "--without",
        metavar="SET",
        help="the judge set that shows no reference; --judge-set is the one that does (default: mt_bench_unaided)",
    )
    group.add_argument(
        "--threshold",
        type=float,
        metavar="GRADE",
        help="the least grade that takes an answer for right (default: where the upper third of the scale begins, 7 of "
        "1 to 10)",
    )


def _attack_flags(group: Any) -> None:
    group.add_argument("--judge-model", required=True, metavar="NAME", help="the judge to attack (needed)")
    group.add_argument(
        "--judge-set", default="mt_bench", metavar="SET", help="with which judge set it judges (default: mt_bench)"
    )
    flags.add_names(group, "--criterion", help="the judge set's criteria to judge by (default: its usual ones)")
    group.add_argument(
        "--mode",
        default="single",
        choices=["single", "pairwise-baseline"],
        help="grade the weak answers, or compare them with strong ones (default: single)",
    )
    group.add_argument(
        "--first-n",
        type=flags.positive,
        default=10,
        metavar="N",
        help="questions to attack on, evenly spread over the benchmark (default: 10)",
    )
    group.add_argument(
        "--weak-model",
        default="builtin/eliza",
        metavar="NAME",
        help="whose answers are attacked: built in, or a model that has answered (default: builtin/eliza)",
    )
    group.add_argument(
        "--strong-model",
        default="builtin/reference",
        metavar="NAME",
        help="whose answers they are compared with in mode pairwise-baseline (default: builtin/reference)",
    )
    group.add_argument(
        "--attack-file",
        metavar="FILE",
        help="TOML with [[attack]] tables of name, kind and text (default: the 32 attacks that are shipped)",
    )


def _shared(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the arguments of every report, and those of these names; flags that were not given are left out."""
    kind = ("judge_set", "sample", "criterion", "score_method")
    wanted = ("judge_model", *kind, "bench_name", "data_dir", "seed", *names)
    if getattr(args, "judge_set", None) is not None:
        from harness.judging.sets import judge_set_name

        args.judge_set = judge_set_name(args.judge_set)
    return {name: getattr(args, name) for name in wanted if getattr(args, name, None) is not None}


def _position(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.report import judge_position

    return judge_position(**_shared(args, "input_file"))


def _agreement(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.votes_report import judge_agreement

    return judge_agreement(**_shared(args, "votes", "exclude"))


def _length(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.report import judge_length

    return judge_length(**_shared(args, "input_file", "exclude"))


def _repeat(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.report import judge_repeat

    return judge_repeat(args.mode, **_shared(args, "input_file"))


def _self(args: argparse.Namespace) -> "Report":
    from harness.errors import UsageError
    from harness.meta_evaluation.models_report import judge_self

    families = {}
    for text in args.family or ():
        name, _, family = text.rpartition("=")
        if not (name and family):
            raise UsageError(f"--family must be NAME=FAMILY, this is {text!r}")
        families[name] = family
    return judge_self(args.mode, families=families, **_shared(args, "input_file"))


def _ranking(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.models_report import judge_ranking

    return judge_ranking(args.against, args.mode, **_shared(args, "input_file", "model_column", "score_column"))


def _corrected(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.votes_report import judge_corrected

    return judge_corrected(finite=not args.all_questions, **_shared(args, "votes", "exclude", "input_file", "turns"))


def _checks(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.checks import judge_checks

    return judge_checks(args.mode, loose=args.loose, **_shared(args, "input_file", "top"))


def _reference(args: argparse.Namespace) -> "Report":
    from harness.meta_evaluation.reference import judge_reference

    return judge_reference(**_shared(args, "input_file", "without", "threshold"))


def _attack(args: argparse.Namespace) -> "Report | None":
    from harness.cli.bar import bar
    from harness.judging.run import JudgeOptions
    from harness.meta_evaluation.attacking import plan_attack, run_attack

    options = JudgeOptions(
        judge_set=args.judge_set,
        base_url=args.base_url,
        api_key_env=args.api_key_env,
        timeout=args.timeout,
        models_file=args.models,
        key_needed=not args.dry_run,
        criteria=tuple(args.criterion or ()),
    )
    plan = plan_attack(
        args.judge_model,
        args.bench_name or "mt_bench",
        mode=args.mode,
        options=options,
        data_dir=args.data_dir,
        first_n=args.first_n,
        weak_model=args.weak_model,
        strong_model=args.strong_model,
        attack_file=args.attack_file,
    )
    told = f"{len(plan.attacks)} attacks on {messages.counted(len(plan.judgments.questions), 'question')}"
    messages.say(args, f"{args.judge_model}: {told}, {messages.counted(plan.judgments.calls, 'call')}")
    if args.dry_run:
        from harness.cli.output import show_estimates
        from harness.estimating import estimate_plan

        show_estimates(args, estimate_plan(plan.judgments, batch=args.batch))
        return None
    with bar(plan.judgments.calls, "call", quiet=args.quiet) as watch:
        return run_attack(plan, flags.running(args), watch=watch, seed=args.seed)


KINDS: dict[str, Kind] = {
    "position": Kind(
        "whether the judge goes by the place in which it sees an answer",
        ("--judge-model gpt-4", "--input-file gpt-4_pair.jsonl --format json"),
        _position_flags,
        _position,
    ),
    "agreement": Kind(
        "how often judges and people agree, and how models fare with each of them",
        ("--votes gpt-4_pair.jsonl human.jsonl --exclude 'author*'", "--votes a_single.jsonl b_single.jsonl"),
        _agreement_flags,
        _agreement,
    ),
    "length": Kind(
        "how often the longer answer wins, and who wins at equal length",
        ("--judge-model gpt-4", "--input-file human.jsonl --bench-name mt_bench"),
        _length_flags,
        _length,
    ),
    "repeat": Kind(
        "how much verdicts vary by question, model, order, judge, and from one time to the next",
        ("--judge-model gpt-4", "--input-file run_1.jsonl run_2.jsonl"),
        _repeat_flags,
        _repeat,
    ),
    "self": Kind(
        "whether a judge favours the models of its own family, against other judges",
        ("--judge-model gpt-4 claude-v1", "--family openai/o3=gpt --mode pairwise-all"),
        _self_flags,
        _self,
    ),
    "ranking": Kind(
        "how well the judge's ranking of the models agrees with any other one",
        ("--against arena.csv --judge-model gpt-4", "--against arena.csv --score-column elo --mode pairwise-all"),
        _ranking_flags,
        _ranking,
    ),
    "corrected": Kind(
        "win rates as people would give them, from votes on some pairs and a judge's verdicts on all",
        ("--votes human.jsonl --judge-model gpt-4", "--votes human.jsonl --input-file gpt-4_pair.jsonl --turns 1"),
        _corrected_flags,
        _corrected,
    ),
    "checks": Kind(
        "whether the judge sees what a program counts: grades and wins of answers that break checks",
        ("--judge-model gpt-4", "--judge-model gpt-4 --mode pairwise-all --loose"),
        _checks_flags,
        _checks,
    ),
    "reference": Kind(
        "how often the judge takes wrong answers for right, with and without the reference",
        ("--judge-model gpt-4", "--judge-model gpt-4 --without mt_bench_unaided --threshold 8"),
        _reference_flags,
        _reference,
    ),
    "attack": Kind(
        "whether the judge can be talked round: attacks planted into weak answers, and what they gain",
        ("--judge-model gpt-4.1", "--judge-model gpt-4.1 --mode pairwise-baseline --first-n 20"),
        _attack_flags,
        _attack,
        calls=True,
    ),
}


def work(args: argparse.Namespace) -> int:
    """Make the report, print it."""
    from harness.showing.judge_report import judge_page

    report = KINDS[args.report].make(args)
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
    if name in KINDS:
        parser_of_report = _parser_of(str(name))
        parser_of_report.set_defaults(report=name)
        return command.run_command(parser_of_report, work, words[:at] + words[at + 1 :])
    if name is None or not name.startswith("-"):
        near = difflib.get_close_matches(name or "", KINDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(KINDS)}"
        messages.warn(
            NAME, f"error: {f'no report {name!r}' if name else 'no report named'}; {hint} (see {NAME} --help)"
        )
        return 2
    return command.run_command(parser(), work, words)


if __name__ == "__main__":
    sys.exit(main())
