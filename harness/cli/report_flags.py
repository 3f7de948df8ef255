"""The flags of each report of `judge_report`; of a report that is not in `FLAGS`, those of `usual_flags`."""

from collections.abc import Callable
from typing import Any

from harness.cli import flags, values


def _judge(group: Any, *, several: str | None = None) -> None:
    """Add the flags that choose whose judgments; `several` says what naming more than one does."""
    if several:
        flags.add_names(group, "--judge-model", help=several)
    else:
        group.add_argument(
            "--judge-model", metavar="NAME", help="whose judgments (default: the only judge's; of several, name one)"
        )
    flags.add_judge_set(group)
    flags.add_kind(group)


def _files(group: Any, what: str) -> None:
    flags.add_names(group, "--input-file", metavar="FILE", help=f"{what} (default: those in model_judgment/)")
    _mode(group)


def _mode(group: Any) -> None:
    group.add_argument(
        "--mode",
        choices=flags.MODES,
        help="grades or pairs (default: what the files hold; of model_judgment/, single)",
    )


def _votes(group: Any, what: str, *, usual: str = "none") -> None:
    flags.add_names(group, "--votes", metavar="FILE", help=f"{what} (default: {usual})")
    flags.add_exclude(group)


def usual_flags(group: Any) -> None:
    """Add the flags of most reports: whose judgments, and of which files."""
    _files(group, "judgment files")
    _judge(group, several="whose judgments (default: the only one's)")


def _position_flags(group: Any) -> None:
    flags.add_input_file(group, "a pair judgment or vote file")
    _judge(group, several="whose judgments; several are counted together and each for itself (default: the only one's)")


def _agreement_flags(group: Any) -> None:
    _votes(
        group,
        "files of votes or of judgments: of pairs, of grades or of labels; every two are compared, grades beside pairs "
        "as preferences",
        usual="the benchmark's votes, and its judgments of the same kind",
    )
    _judge(group, several="the judges or voters to take (default: all)")


def _disagreement_flags(group: Any) -> None:
    _files(group, "judgment files of several judges, or of one with --votes")
    _judge(group, several="the judges (default: all that there are)")
    _votes(group, "files of people's votes on pairs, to list what is against them")


def _length_flags(group: Any) -> None:
    flags.add_input_file(group, "a pair judgment or vote file")
    _judge(group)
    flags.add_names(
        group,
        "--variants",
        help="versions of one model, such as asked to be concise or verbose: by how much do they move its win rate, raw"
        " and at equal length, against the one named first (default: none)",
    )
    flags.add_exclude(group, "voters to leave out of a vote file")


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
        metavar="FILE.csv",
        help="a ranking with a header: a column of models and one of scores, where more is better, or ranks "
        "(default: none; this or --metric is needed)",
    )
    group.add_argument(
        "--metric",
        nargs="*",
        metavar="NAME",
        help="how far each of these metrics that need no judge orders the answers to a question as the judge or the "
        "votes do, by category: bleu, rouge, ... as auto_metrics wrote them; without a name all (default: none)",
    )
    group.add_argument("--variant", metavar="NAME", help="which variant of the metrics (default: the only one)")
    group.add_argument("--model-column", metavar="NAME", help="its column of models (default: model, name, ...)")
    group.add_argument("--score-column", metavar="NAME", help="its column of scores (default: score, rating, elo, ...)")
    flags.add_input_file(group)
    _mode(group)
    _judge(group)


def _corrected_flags(group: Any) -> None:
    _votes(group, "files of people's votes on some of the pairs", usual="those of the benchmark")
    flags.add_input_file(group, "a pair judgment or vote file")
    _judge(group)
    flags.add_turns(group)
    group.add_argument(
        "--these-questions",
        dest="finite",
        action="store_true",
        help="ask for exactly the judged questions and take each item's vote for the truth, in place of asking for all "
        "questions and raters of their kind (default: off)",
    )


def _checks_flags(group: Any) -> None:
    flags.add_input_file(group)
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
    group.add_argument(
        "--mode",
        choices=flags.MODES,
        default="single",
        help="grades, or pairs: how often the wrong one of a right and a wrong answer wins (default: single)",
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


def _judges_flags(group: Any) -> None:
    _votes(group, "files of people's votes on pairs", usual="those of the benchmark")
    flags.add_names(
        group,
        "--input-file",
        metavar="FILE",
        help="files of pair judgments (default: all in model_judgment/: every judge, judge set and sample)",
    )
    flags.add_names(group, "--judge-model", help="the judges to show (default: all)")
    group.add_argument("--judge-set", metavar="SET", help="made with which judge set (default: all)")
    flags.add_turns(group)
    group.add_argument(
        "--compatible",
        action="store_true",
        help="count as AlpacaEval 0.6.6 does, with its names and units (default: off)",
    )
    group.add_argument(
        "--table",
        metavar="FILE.csv",
        help="add the judges to the table in this file and show all of it; those that it has stay (default: none)",
    )
    group.add_argument(
        "--overwrite", action="store_true", help="with --table: replace judges that it has (default: off)"
    )
    flags.add_models_file(group)


def _examples_flags(group: Any) -> None:
    group.add_argument("--judge-model", required=True, metavar="NAME", help="the judge (needed)")
    group.add_argument(
        "--judge-set", default="mt_bench", metavar="SET", help="the judge set that gets examples (default: mt_bench)"
    )
    _votes(group, "files of people's votes on pairs", usual="those of the benchmark")
    group.add_argument(
        "--shots", type=values.positive, default=3, metavar="N", help="how many examples to show (default: 3)"
    )
    flags.add_number(group, these="the other questions with votes")
    group.add_argument(
        "--output",
        metavar="DIR",
        help="the folder of the judge set to write (default: SET_examples in the benchmark's folder)",
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
    flags.add_number(group, default="--sample-n 10", these="the questions")
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


FLAGS: dict[str, Callable[[Any], None]] = {
    "position": _position_flags,
    "agreement": _agreement_flags,
    "disagreement": _disagreement_flags,
    "length": _length_flags,
    "repeat": _repeat_flags,
    "self": _self_flags,
    "ranking": _ranking_flags,
    "corrected": _corrected_flags,
    "checks": _checks_flags,
    "reference": _reference_flags,
    "judges": _judges_flags,
    "examples": _examples_flags,
    "attack": _attack_flags,
}
"""The flags of reports that take more than those of every report."""
