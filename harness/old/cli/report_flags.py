"""The flags of each report of `judge_report`; a report that is not in `FLAGS` has those of `usual_flags`."""

from collections.abc import Callable

from harness.old.cli import flags
from harness.old.cli.command import Flags


def _judge(group: Flags, *, several: str | None = None) -> None:
    """Add the flags that choose whose judgments; `several` is the help of a flag that takes more than one."""
    if several:
        group.add("--judge-model NAME ...", several)
    else:
        group.add("--judge-model NAME", "whose judgments (default: the only judge's; if there are several, name one)")
    flags.add_judge_set(group)
    flags.add_kind(group)


def _files(group: Flags, what: str) -> None:
    group.add("--input-file FILE ...", f"{what} (default: those in model_judgment/)")
    _mode(group)


def _mode(group: Flags) -> None:
    group.add(f"--mode {flags.MODES}", "grades or pairs (default: what the files hold; for model_judgment/, single)")


def _votes(group: Flags, what: str, *, usual: str = "none") -> None:
    group.add("--votes FILE ...", f"{what} (default: {usual})")
    flags.add_exclude(group)


def usual_flags(group: Flags) -> None:
    """Add the flags of most reports: whose judgments, and of which files."""
    _files(group, "judgment files")
    _judge(group, several="whose judgments (default: the only one's)")


def _position_flags(group: Flags) -> None:
    flags.add_input_file(group, "a pair judgment or vote file")
    _judge(group, several="whose judgments; several are counted together and separately (default: the only one's)")


def _agreement_flags(group: Flags) -> None:
    _votes(
        group,
        "files of votes or judgments (pairs, grades or labels); every two are compared; grades and pairs are compared "
        "as preferences",
        usual="the benchmark's votes, and its judgments of the same kind",
    )
    _judge(group, several="the judges or voters to take (default: all)")


def _disagreement_flags(group: Flags) -> None:
    _files(group, "judgment files of several judges, or of one with --votes")
    _judge(group, several="the judges (default: all that there are)")
    _votes(group, "files of people's votes on pairs, to list judgments that contradict them")


def _length_flags(group: Flags) -> None:
    flags.add_input_file(group, "a pair judgment or vote file")
    _judge(group)
    group.add(
        "--variants NAME ...",
        "variants of one model, such as prompted to be concise or verbose: how far their win rates, raw and at equal "
        "length, differ from that of the first",
    )
    flags.add_exclude(group, "voters to leave out of a vote file")


def _repeat_flags(group: Flags) -> None:
    _files(group, "judgment files; several of one judge are its repeats")
    _judge(group, several="whose judgments; several add the judge as a source of variance (default: the only one's)")


def _self_flags(group: Flags) -> None:
    _files(group, "judgment files of two judges or more")
    _judge(group, several="the judges (default: all that there are)")
    group.add(
        "--family NAME=FAMILY ...",
        "the family of a model or judge (default: the part of its name before the first - or /)",
    )


def _ranking_flags(group: Flags) -> None:
    group.add(
        "--against FILE.csv",
        "a ranking with a header: a column of models and one of scores, where more is better, or ranks (default: "
        "none; this or --metric is required)",
    )
    group.add(
        "--metric NAME",
        "how well the order of the answers to a question by each of these metrics agrees with the judge's or the "
        "votes', by category: bleu, rouge, ... as computed by auto_metrics; without a name all",
        nargs="*",
    )
    group.add("--variant NAME", "which variant of the metrics (default: the only one)")
    group.add("--model-column NAME", "its column of models (default: model, name, ...)")
    group.add("--score-column NAME", "its column of scores (default: score, rating, elo, ...)")
    flags.add_input_file(group)
    _mode(group)
    _judge(group)


def _corrected_flags(group: Flags) -> None:
    _votes(group, "files of people's votes on some of the pairs", usual="those of the benchmark")
    flags.add_input_file(group, "a pair judgment or vote file")
    _judge(group)
    flags.add_turns(group)
    group.add(
        "--these-questions",
        "estimate for exactly the judged questions, taking each item's votes as the truth, instead of for all "
        "questions and raters of their kind",
        dest="finite",
    )


def _checks_flags(group: Flags) -> None:
    flags.add_input_file(group)
    _mode(group)
    _judge(group)
    group.add("--loose", "count a check as broken only if it fails by the loose reading too")
    group.add(
        "--top GRADE",
        "the lowest grade that is a top grade (default: the start of the upper ninth of the scale, 9 of 1 to 10)",
    )


def _reference_flags(group: Flags) -> None:
    group.add(
        "--input-file FILE ...",
        "two judgment files: with the reference, and without it (default: those in model_judgment/)",
    )
    group.add(
        f"--mode {flags.MODES}",
        "grades, or pairs: how often the wrong one of a right and a wrong answer wins",
        default="single",
    )
    _judge(group)
    group.add(
        "--without SET",
        "the judge set without references; --judge-set is the one with them (default: mt_bench_unaided)",
    )
    group.add(
        "--threshold GRADE",
        "the lowest grade that counts as calling an answer right (default: the start of the upper third of the scale, "
        "7 of 1 to 10)",
    )


def _judges_flags(group: Flags) -> None:
    _votes(group, "files of people's votes on pairs", usual="those of the benchmark")
    group.add(
        "--input-file FILE ...",
        "files of pair judgments (default: all in model_judgment/: every judge, judge set and sample)",
    )
    group.add("--judge-model NAME ...", "the judges to show (default: all)")
    group.add("--judge-set SET", "judge set of the judgments (default: all)")
    flags.add_turns(group)
    group.add("--compatible", "count as AlpacaEval 0.6.6 does, with its names and units")
    group.add("--table FILE.csv", "add the judges to the table in this file and show all of it; its own are kept")
    group.add("--overwrite", "with --table: replace judges that it has")
    flags.add_models_file(group)


def _examples_flags(group: Flags) -> None:
    group.add("--judge-model NAME", "the judge", required=True)
    group.add("--judge-set SET", "the judge set to add examples to", default="mt_bench")
    _votes(group, "files of people's votes on pairs", usual="those of the benchmark")
    group.add("--shots N", "how many examples to show", default=3)
    flags.add_number(group, these="the other questions with votes")
    group.add("--output DIR", "the folder of the judge set to write (default: SET_examples in the benchmark's folder)")


def _attack_flags(group: Flags) -> None:
    group.add("--judge-model NAME", "the judge to attack", required=True)
    group.add("--judge-set SET", "the judge set to judge with", default="mt_bench")
    group.add("--criterion NAME ...", "the judge set's criteria to judge by (default: its default ones)")
    group.add(
        "--mode single|pairwise-baseline", "grade the weak answers, or compare them with strong ones", default="single"
    )
    flags.add_number(group, default="--sample-n 10", these="the questions")
    group.add(
        "--weak-model NAME",
        "whose answers are attacked: a built-in model, or one that has answered",
        default="builtin/eliza",
    )
    group.add(
        "--strong-model NAME",
        "whose answers they are compared with in mode pairwise-baseline",
        default="builtin/reference",
    )
    group.add(
        "--attack-file FILE",
        "TOML with [[attack]] tables of name, kind and text (default: the 32 attacks that are shipped)",
    )


FLAGS: dict[str, Callable[[Flags], None]] = {
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
"""The flags of reports that have flags of their own."""
