"""Does the verdict depend on how the prompt is worded?

    changed    items whose verdict differs between two wordings / items judged under both
    repeats    the same between two samples under one wording (gen_judgment --samples 2)
    excess     changed − repeats: what the wording does beyond the judge's own noise

Judge the same answers with `mt_bench`, `mt_bench_wording_1` and `mt_bench_wording_2`.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, TypeAlias

from harness.errors import MissingError
from harness.extras.judges.data import RaterVerdict, by_judge, load, samples
from harness.extras.judges.estimates import page, share
from harness.options import JudgeReport
from harness.reporting import Column, Note, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import points, words
from harness.results import Estimate
from harness.results.spent import Cost
from harness.types import QuestionId

Pairs: TypeAlias = list[tuple[RaterVerdict, RaterVerdict]]


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return how often verdicts differ between judge sets, beside plain repeats."""
    judged = by_judge(load(options).verdicts())
    rows: list[dict[str, Any]] = []
    outcomes: list[str] = []
    notes = []
    for judge in dict.fromkeys(judge for judge, _ in judged):
        sets = {name: items for (model, name), items in judged.items() if model == judge}
        changed: Pairs = []
        for first, second in combinations(sets, 2):
            common = [item for item in sets[first] if item in sets[second]]
            pairs = [(sets[first][item][0], sets[second][item][0]) for item in common]
            if pairs:
                rows.append(_row(judge, f"{first} and {second}", pairs))
            changed += pairs
        if not changed:
            continue
        share_changed = words(_different(changed))
        outcome = f"{judge} changes its verdict with the wording in {share_changed} of the cases"
        repeats = [pair for items in sets.values() for pair in samples(items.values())]
        rows.append(_row(judge, "repeats of one wording", repeats))
        if repeats:
            questions = [a.item.question for a, _ in [*changed, *repeats]]
            repeated = _different(repeats, questions)
            excess = _different(changed, questions) - repeated
            row = {"judge": judge, "what": "excess", "n": len(changed)}
            rows.append(row_of(row, changed=excess))
            outcome += f"; asked again in the same words, in {words(repeated)}: "
            outcome += f"{points(excess.value, excess.interval)} more by the wording"
        else:
            notes = [Note("How often it changes without any reason", "gen_judgment --samples 2")]
        outcomes.append(f"{outcome}.")
    if not rows:
        advice = "judge again with --judge-set mt_bench_wording_1"
        raise MissingError(f"no judge has judged the same answers under two judge sets; {advice}")
    columns = [Column("judge"), Column("what"), Column("n")]
    columns += interval_columns("changed", "changed %", "%")
    return Result(page("wording", " ".join(outcomes), columns, rows, notes=notes))


REPORT = PageKind(_show)


def _different(pairs: Pairs, questions: Iterable[QuestionId] = ()) -> Estimate:
    return share(((a.item.question, a.value != b.value) for a, b in pairs), questions)


def _row(judge: str, what: str, pairs: Pairs) -> dict[str, Any]:
    return row_of({"judge": judge, "what": what, "n": len(pairs)}, changed=_different(pairs))
