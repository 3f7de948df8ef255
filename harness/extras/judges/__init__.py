"""How good a judge is: one report a file, each opening with its formula.

position    does the order change the verdict          agreement   with people, with other judges
length      does the longer answer win                 repeat      the same judge asked again
reference   wrong answers without a reference          checks      what a program finds
attack      answers that say what to say               wording     paraphrases of the prompt
corrected   people's win rates, from both              judges      which judge to choose
worth       independent judges in a panel

data.py reads verdicts and votes, estimates.py has means with errors, truth.py which answers are
right.
"""

from typing import Any

from harness import registry
from harness.options import JudgeReport, build, check_flags
from harness.reporting import Page


def judge_report(report: str, **options: Any) -> Page:
    """Return a report on judges as a page, such as `judge_report("position", list=True)`.

    `options` are those of the command; `.rows` of the page and `harness.reporting` write it.

    Raises:
        UsageError: there is no such report or option.
        MissingError: there are no such judgments.
    """
    make = registry.find("report", report)
    record = build(JudgeReport, {"report": report, **options})
    check_flags(record, report)
    page: Page = make(record)
    return page
