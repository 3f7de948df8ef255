r"""Verdicts after a marker, as Prometheus gives them, and single grades: made into brackets, then read as brackets are.

    "The sum is wrong. [RESULT] 3"        -> "... [[3]]"             (`[RESULT] n`)
    "**[RESULT] (4 / 5)**"                -> "[[4 / 5]]"
    "B names its source. [RESULT] B."     -> "... [[B]]"             (`[RESULT] A|B`)
    "Relevance: 4"                        -> "Relevance: [[4]]"      (`grade`)

So a marker that is quoted, supposed or told of is understood as a bracket would be, and two that contradict each other
give no verdict.
"""

import re
from collections.abc import Callable

from harness.judging.verdicts.brackets import Fault, Reading, Scale, read_score, read_winner
from harness.judging.verdicts.objects import folded_name, named, objects_in
from harness.judging.verdicts.shown import SIGHT
from harness.judging.verdicts.voice import SENTENCE_END, voice_of
from harness.records import Score, Winner

_MOST_MARKERS = 100

_MARKER = re.compile(
    r"(?:\[ ?(?:RESULT|SCORE|RATING|VERDICT) ?\]|\[ ?(?:RESULT|SCORE|VERDICT) ?:? ?(?=[^\[\]\n]{1,30}\]))"
    r"[\s:=>–-]{0,6}(?:(?:final|overall) )?(?:(?:score|rating|result|grade|verdict|winner)(?: (?:is|of))?[\s:=]{1,3})?",
    re.I,
)
_REST_OF_LINE = re.compile(r"[^\n]{0,120}")
_OPEN, _CLOSE = r"[(\[{<\"'`“]{0,3} ?", r" ?[)\]}>\"'`”]{0,3}"
_NUMBER = re.compile(
    rf"{_OPEN}(?P<value>[0-9]{{1,6}}(?:[.,][0-9]{{1,4}})?(?: ?(?:/|out of|von) ?[0-9]{{1,4}})?"
    r"(?: ?(?:points?|pont|分))?)"
    rf"{_CLOSE}(?![\w%/]|[.,][0-9]|\s?(?:[-–—~/&|]|to\b|or\b|and\b|bis\b|vagy\b|oder\b|或|至|到)\s?[0-9]|[,;] ?[0-9])",
    re.I,
)
_SIDE = re.compile(
    rf"{_OPEN}(?:(?:the )?(?:response|answer|assistant|output|model)s? )?(?P<value>[AB]){_CLOSE}"
    r"(?=\s*$|[.!。](?:\s|$)|\s*[:;(–—]| - |, (?:because|since|as|which|for|it)\b|\s+(?:because|since|as it|due to)\b"
    r"|\s+(?:is|was) (?:(?:the|much|clearly|slightly|far|overall) ){0,2}"
    r"(?:better|best|stronger|winner|superior|preferred)\b"
    r"|\s+(?:wins|won)\b)",
    re.I | re.M,
)
_FORM_ITSELF = re.compile(
    r"\W{0,4}(?:an? )?(?:integer|number|score|digit|your|n\b|x\b|letter|['\"]?A['\"]? or ['\"]?B['\"]?\W*$|A ?\| ?B)",
    re.I,
)
_LABELLED = re.compile(
    r"\b(?P<label>score|result|rating|grade|verdict|értékelés|pontszám|bewertung|punktzahl)s?\b"
    r"(?:\s?(?:is|of|:|=|ist)){0,2}\s{0,2}(?P<value>[0-9]{1,4}(?: ?(?:/|out of) ?[0-9]{1,4})?)(?=[\s.!。)\]\"'`]*$)"
    r"|(?P<cjk>(?:得分|评分|分数|评价|打分|総合評価|評価)(?:为|是|は)?\s?[:=]?\s?)"
    r"(?P<cjk_value>[0-9]{1,4}(?: ?/ ?[0-9]{1,4})?)(?=\s?分?[\s.!。)\]]*$)",
    re.I | re.M,
)
_NAMED_LINE = re.compile(
    r"^(?P<lead>[ \t#>|-]*(?:\([0-9 –-]{1,7}\) ?)?[^\W\d][^\n:=|]{0,50}(?:\([0-9 –-]{1,7}\) ?)?[:=|][ \t|]*)"
    r"(?P<value>[0-9]{1,4}(?:\.[0-9]{1,3})?(?: ?(?:/|out of) ?[0-9]{1,4})?)"
    r"(?P<rest>(?: ?(?:points?|pont|分))?[ \t.|。]*)$",
    re.M,
)
_BARE_LINE = re.compile(
    r"^(?P<lead>[ \t#>`\"'({\[|-]*)(?P<value>[0-9]{1,4}(?:\.[0-9]{1,3})?(?: ?(?:/|out of) ?[0-9]{1,4})?)"
    r"(?P<rest>(?: ?(?:points?|pont|分))?[ \t.!。`\"')}\]|]*)$",
    re.M,
)
_OUT_OF = re.compile(
    r"(?<![\w.,/\[-])(?P<value>[0-9]{1,4}(?:\.[0-9]{1,3})?(?: out of | ?/ ?)(?P<full>[0-9]{1,3}))(?![\w/\]]|[.,][0-9])"
)
_SCORE_NAMES = ("score", "rating", "grade", "result", "final_score", "overall_score", "评分", "得分", "分数")


def mark_result_score(text: str) -> str | Fault:
    """Return the text with every score after a `[RESULT]` in double brackets."""
    return _marked(text, _NUMBER, _labelled)


def mark_result_side(text: str) -> str | Fault:
    """Return the text with every side after a `[RESULT]` in double brackets."""
    return _marked(text, _SIDE, _side_line)


def mark_grade(text: str) -> str | Fault:
    """Return the text with every grade that is given on a line of its own, or as `n out of m`, in double brackets."""
    if "[[" in text:
        return text
    given = _object_grade(text)
    if given is not None:
        return given
    made = _LABELLED.sub(_bracketed_grade, text)
    for pattern in (_BARE_LINE, _NAMED_LINE):
        made = pattern.sub(_bracketed_line, made)
    return made if "[[" in made else _OUT_OF.sub(r"[[\g<value>]]", made)


def read_side(inside: str, scale: Scale) -> Reading:
    """Return what a bracket says where A or B is wanted and a tie is none."""
    reading = read_winner(inside, scale)
    if isinstance(reading, Winner) and reading.side == "tie":
        return Fault(f"[[{inside}]] is neither A nor B")
    return reading


def read_whole_score(inside: str, scale: Scale) -> Reading:
    """Return what a bracket says where a whole number is wanted."""
    reading = read_score(inside, scale)
    if isinstance(reading, Score) and not float(reading.value).is_integer():
        return Fault(f"[[{inside}]] is not a whole number")
    return reading


def _marked(text: str, value: re.Pattern[str], unmarked: Callable[[str], str]) -> str | Fault:
    """Return the text with the value after each marker in double brackets; `unmarked` sees to what has no marker."""
    markers = list(_MARKER.finditer(text))[-_MOST_MARKERS:]
    if not markers:
        return unmarked(text)
    if not text[markers[-1].end() :].strip():
        return Fault("the text ends before the result")
    pieces, place = [], 0
    for marker, following in zip(markers, [*markers[1:], None], strict=True):
        limit = following.start() if following else len(text)
        found = value.match(text, marker.end(), limit)
        line = _REST_OF_LINE.match(text, marker.end(), limit)
        rest = line[0].strip() if line else ""
        if found is None and (not rest or _FORM_ITSELF.match(rest)):
            continue  # the form that was asked for, repeated
        pieces.append(text[place : marker.start()])
        if _ends_a_sentence(text, marker.start()):
            pieces.append(". ")
        if found is None:
            either = re.match(r"[AB]\b", rest) is not None and value is _SIDE
            pieces.append("[[A or B]]" if either else f"Final verdict: [[{re.sub(r'[][]', '', rest)[:50]}]]")
            place = line.end() if line else marker.end()
            continue
        opened, closed = text[found.start() : found.start("value")], text[found.end("value") : found.end()]
        quote = next((mark for mark in closed if mark in "\"'`”" and mark not in opened), "")
        pieces.append(f"[[{found['value'].replace(',', '.')}]]{quote}")
        place = found.end()
    rest = text[place:]
    return "".join(pieces) + (_labelled(rest) if unmarked is _labelled else rest)


def _ends_a_sentence(text: str, place: int) -> bool:
    """Return whether a marker here follows the judge's own words, which need no full stop before it."""
    before = SENTENCE_END.split(text[max(0, place - SIGHT) : place].rsplit("\n", 1)[-1])[-1]
    if len(before.split()) < 4 or before.rstrip()[-1] in "\"'`“:,(":
        return False
    return voice_of("", before, "", "", False) == "own"


def _labelled(text: str) -> str:
    """Return the text with the scores after words such as `Score:` in double brackets."""
    return _LABELLED.sub(_bracketed_label, text)


def _side_line(text: str) -> str:
    """Return a text without marker, with the side that a last line such as `Result: A` names in double brackets."""
    line = re.compile(
        r"^(?P<lead>[ \t#>]*"
        r"(?:(?:final |overall )?(?:result|verdict|winner|decision|judgment|answer)[ :=]{1,3}(?:is )?)?)"
        r"[(\[\"']?(?:(?:response|answer|assistant) )?(?P<value>[AB])[)\]\"']?(?P<rest>[ \t.!]*)$",
        re.M | re.I,
    )
    return line.sub(_bracketed_line, text)


def _bracketed_label(found: re.Match[str]) -> str:
    if found["cjk"]:
        return f"{found['cjk']}[[{found['cjk_value']}]]"
    start = found.start("value") - found.start()
    return f"{found[0][:start]}[[{found['value']}]]"


def _bracketed_grade(found: re.Match[str]) -> str:
    """Return the label with its grade in brackets; "My own result is 12" solves the task that is graded."""
    solves = (found["label"] or "").lower() == "result" and not re.search(
        r"(?:^|\n|\b(?:final|overall) )[ \t#>-]*$", found.string[max(0, found.start() - 20) : found.start()], re.I
    )
    return found[0] if solves else _bracketed_label(found)


def _bracketed_line(found: re.Match[str]) -> str:
    return f"{found['lead']}[[{found['value']}]]{found['rest']}"


def _object_grade(text: str) -> str | None:
    """Return the grade of a JSON object as a bracket; None if no object holds one."""
    grades: list[object] = []
    for found in objects_in(text):
        members = named(found.value)
        given = [members[name] for name in _SCORE_NAMES if name in members]
        if not given and len(members) == 1:
            given = list(members.values())
        if given and found.own:
            grades += given[:1]
    if not grades:
        return None
    written = {folded_name(str(grade)) for grade in grades}
    return f"[[{grades[-1]}]]" if len(written) == 1 else f"[[{grades[0]} or {grades[-1]}]]"


Marking = Callable[[str], "str | Fault"]
