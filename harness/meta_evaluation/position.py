"""Pairs judged in both orders -> the judge's position bias.

    consistent, biased_first, biased_second, one_sided_tie     shares of the pairs with a verdict in both games
    first                                                      games won by the answer shown first / decided games

The counting, with a worked line, is that of `harness.results.pairs.position`, which `show_result` needs too.
"""

from typing import Unpack

from harness.meta_evaluation.report import Report, asked
from harness.names import counted
from harness.results.pairs.position import in_one_order, position_rows
from harness.results.query import Query, Words
from harness.written import takes_only


@takes_only(Words.__annotations__)
def judge_position(**words: Unpack[Words]) -> Report:
    """Return the judge's position bias: all pairs first, then by judge, category, turn and gap.

    Several judges are counted together and separately; see `Words` for the keywords.

    Raises:
        UsageError: the file mixes judgments that are not comparable, or contains no pairs.
        MissingError: there are no judgments.
    """
    given = asked(Query.of("pairwise-all", **words))
    once = in_one_order(given.judged)
    found = position_rows(given.judged, categories=given.subject.categories or None, seed=given.query.seed)
    notes = []
    if found[0]["errors"]:
        notes.append(f"{counted(found[0]['errors'], 'pair')} without a verdict in both games left out (errors)")
    if once:
        nothing = ", which are all of them: position bias cannot be estimated" if once == len(given.judged) else ""
        notes.append(f"{counted(once, 'pair')} judged in one order only skipped{nothing}")
    return given.report("position", found, notes)
