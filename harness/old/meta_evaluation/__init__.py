"""How good a judge is, and what its verdicts can be trusted for; one file for each question.

Each report's file opens with its formula and ends with the function that makes it. What they share:

report.py        how a report begins and ends, its rows, and ratios with intervals over questions
contingency.py   contingency tables of two sides' verdicts, and every measure of agreement on them;
                 verdict_agreement.py: of pairs and labels
votes.py         verdicts by item and judge or voter, from observations
annotations.py   the same with samples, orders and prices, for judges.py
planning.py      what a run of judgments would detect, before it is made (gen_judgment --dry-run)

A new report is a file with such a function, which takes the keywords of a query (`Words`), and a line in `REPORTS`.
"""

import pkgutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.old.meta_evaluation.report import Report


class Entry(NamedTuple):
    """A report: where its function is, what it shows, and examples of its flags."""

    function: str
    """Module and name; it is imported when it is called."""
    purpose: str
    examples: tuple[str, ...] = ("--judge-model gpt-4",)

    def load(self) -> "Callable[..., Report]":
        """Return the function that makes the report."""
        made: Callable[..., Report] = pkgutil.resolve_name(f"{__name__}.{self.function}")
        return made


REPORTS: Mapping[str, Entry] = {
    "position": Entry(
        "position:judge_position",
        "position bias: whether the order of two answers changes the verdict",
        ("--judge-model gpt-4", "--input-file gpt-4_pair.jsonl --format json"),
    ),
    "agreement": Entry(
        "agreement:judge_agreement",
        "how often judges and people agree, and how each of them ranks the models",
        ("--votes gpt-4_pair.jsonl human.jsonl --exclude 'author*'", "--votes a_single.jsonl b_single.jsonl"),
    ),
    "disagreement": Entry(
        "disagreement:judge_disagreement",
        "on which items judges disagree with each other, or with votes",
        ("--judge-model gpt-4 claude-v1", "--judge-model gpt-4 --mode pairwise-all --votes human.jsonl"),
    ),
    "length": Entry(
        "length:judge_length",
        "how often the longer answer wins, and win rates at equal length",
        ("--judge-model gpt-4", "--input-file human.jsonl --bench-name mt_bench"),
    ),
    "repeat": Entry(
        "repeat:judge_repeat",
        "how much verdicts vary by question, model, order, judge, and between repeats",
        ("--judge-model gpt-4", "--input-file run_1.jsonl run_2.jsonl"),
    ),
    "self": Entry(
        "self_preference:judge_self",
        "whether a judge favours the models of its own family, compared with other judges",
        ("--judge-model gpt-4 claude-v1", "--family openai/o3=gpt --mode pairwise-all"),
    ),
    "ranking": Entry(
        "ranking:judge_ranking",
        "how well the judge's ranking of the models agrees with another ranking, or with metrics that need no judge",
        (
            "--against arena.csv --judge-model gpt-4",
            "--against arena.csv --score-column elo --mode pairwise-all",
            "--metric bleu rouge chrf --judge-model gpt-4",
            "--metric --input-file human.jsonl",
        ),
    ),
    "corrected": Entry(
        "corrected:judge_corrected",
        "people's win rates, estimated from votes on some pairs and a judge's verdicts on all",
        ("--votes human.jsonl --judge-model gpt-4", "--votes human.jsonl --input-file gpt-4_pair.jsonl --turns 1"),
    ),
    "checks": Entry(
        "checks:judge_checks",
        "whether the judge notices what a program can check: grades and wins of answers that break checks",
        ("--judge-model gpt-4", "--judge-model gpt-4 --mode pairwise-all --loose"),
    ),
    "reference": Entry(
        "reference:judge_reference",
        "how often the judge accepts wrong answers, with and without the reference",
        ("--judge-model gpt-4", "--judge-model gpt-4 --without mt_bench_unaided --threshold 8"),
    ),
    "judges": Entry(
        "choosing:judge_judges",
        "which judge to choose: agreement with people, bias, variance, preferences, price and time, one row per judge",
        ("--votes human.jsonl", "--compatible --table judges.csv"),
    ),
    "examples": Entry(
        "examples:judge_examples",
        "whether examples of people's votes in the prompt make the judge agree with them more; writes such a judge set",
        ("--judge-model gpt-4.1 --votes human.jsonl", "--judge-model gpt-4.1 --judge-set alpaca_eval --shots 4"),
    ),
    "attack": Entry(
        "attack:judge_attack",
        "whether answers can manipulate the judge: attacks planted in weak answers, and what they gain",
        ("--judge-model gpt-4.1", "--judge-model gpt-4.1 --mode pairwise-baseline --sample-n 20"),
    ),
}
"""The reports of `judge_report`, by name; what each of them is about is `--help`'s text."""
