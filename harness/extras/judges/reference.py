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
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from harness.errors import MissingError, UsageError
from harness.extras.judges.data import (
    Data,
    Item,
    Kind,
    Verdict,
    interval_columns,
    kind_of,
    load,
    mean,
    named,
    words,
)
from harness.extras.judges.truth import accepted, right_answers
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table


class Outcome(NamedTuple):
    """Whether something happened, without the reference and with it."""

    item: Item
    what: str
    without: bool
    beside: bool


def report(options: JudgeReport) -> Page:
    """Return how often wrong and right answers are accepted, with and without the reference."""
    data, beside, without = _both(load(options))
    right = right_answers(data)
    paired = any(kind_of(v) == "pair" for v in beside)
    first, second = ({v.item: v for v in own if v.value is not None} for own in (beside, without))
    compare = _pairs if paired else _grades
    outcomes = list(compare(first, second, right, options.threshold))
    if not outcomes:
        raise MissingError(
            "no answer judged both ways is known to be right or wrong; run auto_checks"
        )
    categories = dict.fromkeys(data.category(outcome.item.question) for outcome in outcomes)
    names = ("wrong wins", "right wins") if paired else ("wrong", "right")
    rows = []
    for category in (None, *categories):
        for what in names:
            own = [
                o
                for o in outcomes
                if o.what == what and category in (None, data.category(o.item.question))
            ]
            row = {"category": category, "pairs" if paired else "answers": what, "n": len(own)}
            rows.append(row | _shares(own))
    columns = [
        Column("category"),
        Column("pairs" if paired else "answers", always=True),
        Column("n"),
    ]
    columns += [Column("without_reference", "without %", format="%")]
    columns += [Column("with_reference", "with %", format="%")]
    columns += interval_columns("difference", "difference", "%")
    wrong = [o for o in outcomes if o.what == names[0]]
    bare = mean(((o.item.question, float(o.without), 1.0) for o in wrong), share=True)
    helped = mean(((o.item.question, float(o.beside), 1.0) for o in wrong), share=True)
    subject = "The wrong answer wins" if paired else f"{beside[0].judge} accepts wrong answers"
    outcome = (
        f"{subject} in {words(bare)} of {len(wrong)} cases without a reference, "
        f"in {words(helped)} with one."
    )
    return Page(
        outcome, [Table("", columns, rows)], title="reference", facts={"report": "reference"}
    )


def _both(data: Data) -> tuple[Data, list[Verdict], list[Verdict]]:
    """Return the verdicts with the reference and without it."""
    options = data.options
    mode = options.select.mode
    kind: Kind | None = None if mode is None else "single" if mode == "single" else "pair"
    files = options.select.input_file
    if files:
        if len(files) != 2:
            raise UsageError("--input-file takes two files: with the reference, then without it")
        return data, data.verdicts(kind, files[:1]), data.verdicts(kind, files[1:])
    chosen: Kind = kind or "single"

    def of_set(judge_set: str) -> list[Verdict]:
        select = msgspec.structs.replace(options.select, judge_set=judge_set)
        changed = msgspec.structs.replace(options, select=select)
        return replace(data, options=changed).verdicts(chosen)

    return data, of_set(options.select.judge_set or "mt_bench"), of_set(options.without)


def _grades(
    first: Mapping[Item, Verdict],
    second: Mapping[Item, Verdict],
    right: Mapping[Item, bool],
    threshold: float | None,
) -> Iterator[Outcome]:
    for item in first.keys() & second.keys() & right.keys():
        both = [bool(accepted(own[item], threshold)) for own in (second, first)]
        yield Outcome(item, "right" if right[item] else "wrong", both[0], both[1])


def _pairs(
    first: Mapping[Item, Verdict],
    second: Mapping[Item, Verdict],
    right: Mapping[Item, bool],
    _: float | None,
) -> Iterator[Outcome]:
    for item in first.keys() & second.keys():
        truth = [right.get(item._replace(models=(model,))) for model in item.models]
        if None in truth or truth[0] == truth[1]:
            continue
        for what, wanted in (("wrong wins", False), ("right wins", True)):
            winner = 1.0 if truth[0] == wanted else 0.0
            won = [own[item].value == winner for own in (second, first)]
            yield Outcome(item, what, won[0], won[1])


def _shares(own: Sequence[Outcome]) -> dict[str, Any]:
    without = mean(((o.item.question, float(o.without), 1.0) for o in own), share=True)
    beside = mean(((o.item.question, float(o.beside), 1.0) for o in own), share=True)
    row = named("without_reference", without) | named("with_reference", beside)
    return row | named("difference", beside - without)
