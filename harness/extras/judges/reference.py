"""Does the judge see that an answer is wrong, with a reference and without one?

    accepted     answers graded in the upper third of the scale (or --threshold) / answers
    wins         of pairs of a right and a wrong answer: those that the one won in both orders
    difference   the share with the reference − the share without it, on the same answers

Ten wrong answers, 7 accepted without the reference and 2 with it: 0.7, 0.2, −0.5. Which answers are
right is known from checks (`truth.py`). Judge twice:

    gen_judgment --judge-model JUDGE
    gen_judgment --judge-model JUDGE --judge-set mt_bench_unaided

Source: Zheng et al. 2023 (arXiv:2306.05685), table 4.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from harness.errors import MissingError, UsageError
from harness.extras.judges.data import Data, RaterVerdict, load
from harness.extras.judges.estimates import page, share
from harness.extras.judges.truth import accepts, right_answers
from harness.options import JudgeReport
from harness.reporting import Column, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import words
from harness.results import Estimate
from harness.results.agreement import RatedItem
from harness.results.spent import Cost

Case: TypeAlias = tuple[RatedItem, str, bool, bool]
"""An item, what may happen to it, and whether it did without and with the reference."""


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return how often wrong and right answers are accepted, with and without the reference."""
    data = load(options)
    aided, unaided = (
        {(v.judge, v.sample, v.item): v for v in verdicts} for verdicts in _both(data)
    )
    right = right_answers(data)
    cases: list[Case] = []
    for key in [key for key in aided if key in unaided]:
        both = (_happened(v[key], right, options.threshold) for v in (unaided, aided))
        for (what, without), (_, beside) in zip(*both, strict=True):
            cases.append((key[-1], what, without, beside))
    if not cases:
        advice = "run turnbench auto_checks"
        raise MissingError(f"no answer judged both ways is known to be right or wrong; {advice}")
    subject, whats = "answers", ("wrong", "right")
    if len(cases[0][0].models) > 1:
        subject, whats = "pairs", ("wrong wins", "right wins")
    rows: list[dict[str, Any]] = []
    for category in (None, *dict.fromkeys(data.category(item) for item, *_ in cases)):
        part = [case for case in cases if category in (None, data.category(case[0]))]
        for what in whats:
            such = [case for case in part if case[1] == what]
            about = {"category": category, subject: what, "n": len(such)}
            rows.append(row_of(about, **_shares(such)))
    columns = [
        Column("category"),
        Column(subject, always=True),
        Column("n"),
        Column("without_reference", "without %", format="%"),
        Column("with_reference", "with %", format="%"),
        *interval_columns("difference", "difference", "%"),
    ]
    wrong = _shares([case for case in cases if case[1] == whats[0]])
    judges = ", ".join(dict.fromkeys(judge for judge, *_ in aided))
    who = f"{judges} accepts wrong answers" if subject == "answers" else "The wrong answer wins"
    outcome = (
        f"{who} in {words(wrong['without_reference'])} of {rows[0]['n']} cases without a "
        f"reference, in {words(wrong['with_reference'])} with one."
    )
    return Result(page("reference", outcome, columns, rows))


REPORT = PageKind(_show)


def _both(data: Data) -> tuple[list[RaterVerdict], ...]:
    """Return the verdicts with the reference and without it."""
    select = data.options.select
    if not select.input_file:
        judge_sets = (select.judge_set or data.bench.settings.usual_judge_set, data.options.without)
        return tuple(data.verdicts(judge_set=judge_set) for judge_set in judge_sets)
    if len(select.input_file) != 2:
        raise UsageError("--input-file takes two files: with the reference, then without it")
    return tuple(data.verdicts(files=[file]) for file in select.input_file)


def _happened(
    v: RaterVerdict, right: Mapping[RatedItem, bool], threshold: float | None
) -> Iterator[tuple[str, bool]]:
    """Yield what may happen where it is known what is right, and whether it did."""
    first, *second = (right.get(v.item.answer_of(model)) for model in v.item.models)
    if not v.paired and first is not None:
        yield "right" if first else "wrong", accepts(v, threshold)
    elif v.paired and {first, *second} == {True, False}:
        yield "right wins", v.value == (1.0 if first else 0.0)
        yield "wrong wins", v.value == (0.0 if first else 1.0)


def _shares(cases: Sequence[Case]) -> dict[str, Estimate]:
    without = share((item.question, happened) for item, _, happened, _ in cases)
    aided = share((item.question, happened) for item, _, _, happened in cases)
    return {"without_reference": without, "with_reference": aided, "difference": aided - without}
