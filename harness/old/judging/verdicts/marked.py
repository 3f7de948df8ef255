r"""Verdicts after a marker, as Prometheus gives them, and single grades on a line: where they stand, and what they say.

"The sum is wrong. [RESULT] 3"        -> 3      (`[RESULT] n`)
"**[RESULT] (4 / 5)**"                -> 4
"B names its source. [RESULT] B."     -> B      (`[RESULT] A|B`)
"Relevance: 4"                        -> 4      (`grade`)
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from harness.old.judging.forms import VerdictForm
from harness.old.judging.verdicts.brackets import Fault, Reader, Reading, Scale, folded, read_score, read_winner
from harness.old.judging.verdicts.mentions import Found, brackets_in, decide
from harness.old.judging.verdicts.objects import decide_by_objects, named
from harness.old.judging.verdicts.shown import DECORATED, said
from harness.old.judgments.judgment import Parsed, Score, Winner
from harness.old.patterns import late_re

_MARKER = late_re(
    r"(?:\[ ?(?:RESULT|SCORE|RATING|VERDICT) ?\]|\[ ?(?:RESULT|SCORE|VERDICT) ?:? ?(?=[^\[\]\n]{1,30}\]))"
    r"(?:[\s:=>–]|-(?!\d)){0,6}(?:[^\W\d_]{1,10} ?[:=] ?)?",
    re.I,
)
_VALUE = late_re(
    rf"[(\[{{<\"'`{DECORATED}]{{0,2}} ?(?:(?:response|answer|assistant) )?(?P<value>[AB](?![^\W_])"
    r"|[0-9]{1,6}(?:[.,][0-9]{1,4})?(?: ?(?:/|out of|von) ?[0-9]{1,4})?(?: ?(?:points?|pont|分))?)"
    rf" ?[)\]}}>\"'`{DECORATED}]{{0,2}}(?! ?[-–—~/&|] ?\w|,? ?[0-9])",
    re.I,
)
_LINE_END = late_re(
    r"(?<![\w.,/\[=-])(?<!= )(?P<value>[0-9]{1,4}(?:[.,][0-9]{1,3})?(?: ?(?:/|out of) ?[0-9]{1,4})?)"
    r"(?: ?(?:points?|punkte|pont|分))?(?=[\s.!。`\"')}\]|]{0,9}$)",
    re.M | re.I,
)
_CLAUSE_END = late_re(
    r"(?:(?<=:)|(?<=: )|^[^\w\n]{0,9}(?=[0-9.,]{1,9} ?(?:/|out of)))"
    r"(?P<value>[0-9]{1,4}(?:[.,][0-9]{1,3})?(?: ?(?:/|out of) ?[0-9]{1,4})?)(?=[.;] | ?[(–—]| - )",
    re.M,
)
"""A value behind a colon or with its scale, before the end of a clause."""
_SIDE_END = late_re(r"(?<!\w)(?:(?:response|answer|assistant) )?(?P<value>[AB])(?=[\s.!`\"')}\]|]{0,9}$)", re.M | re.I)
_SCORE_NAMES = ("score", "rating", "grade", "result", "final_score", "overall_score", "评分", "得分", "分数")


def read_marked(text: str, form: VerdictForm) -> Parsed:
    """Return the whole number or the side after a `[RESULT]`."""
    reader, unmarked = (_whole_score, _LINE_END) if form.kind == "grade" else (_side, _SIDE_END)
    plain = said(text, lambda inside: re.fullmatch(r"[0-9]{1,3}|[AB]", inside) is not None)
    markers = list(_MARKER.finditer(plain))
    if not markers:
        return decide(plain, _values(plain, reader, form.scale, unmarked), in_form=True)
    if not plain[markers[-1].end() :].strip():
        return Parsed(None, "the text ends before the result")
    return decide(plain, _after(plain, markers, reader, form.scale), best=form.scale[1])


def read_grade(text: str, form: VerdictForm) -> Parsed:
    """Return the grade of a reply: in brackets, of an object, or on a line of its own."""

    def words(plain: str) -> Iterable[Found]:
        brackets = list(brackets_in(plain, read_score, form.scale)) if "[" in plain else []
        if brackets or "[[" in plain:
            return brackets
        ends = [list(_values(plain, read_score, form.scale, ending)) for ending in (_LINE_END, _CLAUSE_END)]
        return ends[0] or ends[1]

    return decide_by_objects(text, lambda value: _of_object(value, form.scale), words, in_form=True)


def _after(text: str, markers: list[re.Match[str]], reader: Reader, scale: Scale) -> Iterator[Found]:
    """Yield what stands after each marker; a form that is only repeated says nothing."""
    for marker in markers:
        value = _VALUE.match(text, marker.end())
        if value is not None:
            reading = reader(folded(value["value"]), scale)
            if reading is not None:
                yield marker.start(), value.end(), reading
        elif not re.match(r"\W*\n|[(\"]", text[marker.end() : marker.end() + 20]):
            yield marker.start(), marker.end(), Fault("what follows the marker is no verdict")


def _values(text: str, reader: Reader, scale: Scale, ending: re.Pattern[str]) -> Iterator[Found]:
    """Yield the values that end a line or a clause."""
    for found in ending.finditer(text):
        reading = reader(folded(found["value"]), scale)
        if reading is not None:
            yield found.start(), found.end(), reading


def _side(inside: str, scale: Scale) -> Reading:
    reading = read_winner(inside, scale)
    return Fault(f"{inside} is neither A nor B") if isinstance(reading, Winner) and reading.side == "tie" else reading


def _whole_score(inside: str, scale: Scale) -> Reading:
    reading = read_score(inside, scale)
    if isinstance(reading, Score) and not float(reading.value).is_integer():
        return Fault(f"{inside} is not a whole number")
    return reading


def _of_object(value: Any, scale: Scale) -> Reading:
    """Return the grade of an object: under a name for it, or of its only member."""
    members = named(value)
    given = [members[name] for name in _SCORE_NAMES if name in members] or list(members.values())
    if not members or (len(given) > 1 and not any(name in members for name in _SCORE_NAMES)):
        return None
    return read_score(folded(str(given[0])), scale)
