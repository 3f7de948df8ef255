"""Pairs judged in both orders -> the judge's position bias.

    consistent, biased_first, biased_second, one_sided_tie     shares of the pairs with a verdict in both games
    first                                                      games won by the answer shown first / decided games

The counting, with a worked line, is that of `harness.old.results.pairs.position`, which `show_result` needs too.
"""

from typing import Unpack

from harness.old.meta_evaluation.report import Report, asked, lost_of, need_verdicts
from harness.old.names import counted
from harness.old.results.pairs.position import in_one_order, played_twice, position_rows
from harness.old.results.query import Query, Words
from harness.old.written import takes_only


@takes_only(Words.__annotations__)
def judge_position(**words: Unpack[Words]) -> Report:
    """Return the judge's position bias: all pairs first, then by judge, category, turn and gap.

    Several judges are counted together and separately; see `Words` for the keywords.

    Raises:
        UsageError: the file mixes judgments that are not comparable, or contains no pairs.
        MissingError: there are no judgments, or none has a verdict.
    """
    given = asked(Query.of("pairwise-all", **words))
    need_verdicts(given.judged, given.sources[0].path)
    once = in_one_order(given.judged)
    found = position_rows(given.judged, categories=given.subject.categories or None, seed=given.query.seed)
    notes = []
    if found[0]["errors"]:
        lost = lost_of(played_twice(given.judged))
        where = f": {lost.where}" if lost.where else ""
        notes.append(f"{counted(found[0]['errors'], 'pair')} without a verdict in one game or both left out{where}")
    if found[0]["n"] and not found[0]["decided_games"]:
        notes.append("every game is a tie: nothing shows whether the judge would favour a place")
    if once:
        nothing = ", which are all of them: position bias cannot be estimated" if once == len(given.judged) else ""
        notes.append(f"{counted(once, 'pair')} judged in one order only skipped{nothing}")
    return given.report("position", found, notes, lost=False)
