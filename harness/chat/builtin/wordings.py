"""How questions word their countable instructions, in English and Chinese.

    "Exactly four sentences, at most 60 words, and don't use \"sorry\"."
      -> count(sentences, 4..4), count(words, ..60), forbid("sorry")

Only wordings that clearly address the answer are taken; a long text quoted inside the question is not searched. What
is not recognised is not an instruction: finding too little is meant to be the commoner mistake.
"""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.chat.builtin.instructions import MARKS, Instruction, Unit
from harness.chat.builtin.tokens import HAN, read_number

_NUMBER = (
    r"(?P<{}>\d[\d,]*|(?:twenty|thirty|forty|fifty|sixty|eighty)(?:-\w+)?|one|two|three|four|five|six|seven|eight|nine|"
    r"ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)"
)
_N, _M = _NUMBER.format("n"), _NUMBER.format("m")
_UNIT_WORD = (
    r"(?P<unit>words?|sentences?|lines?|paragraphs?|bullets?(?:[ -]points?)?|list items?|numbered \w+|"
    r"characters|rows)\b"
)
_UNIT = r"(?:[ -]\w+){0,2}?[ -]" + _UNIT_WORD
_NOT_OURS = r"(?!\s+(?:from\b|each\b|per\b|apart\b|long\b|of (?!prose|verse|speech|dialogue|text|code)))"
_BOUNDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), sense)
    for pattern, sense in (
        (rf"\b(?:between|from) {_N} (?:and|to) {_M}{_UNIT}{_NOT_OURS}", "range"),
        (rf"\b{_N}(?: to |\s?[-\u2013]\s?){_M}{_UNIT}{_NOT_OURS}", "range"),
        (rf"\b(?:exactly|precisely) {_N}{_UNIT}{_NOT_OURS}", "exactly"),
        (rf"\b{_N}{_UNIT} (?:exactly|precisely)", "exactly"),
        (rf"\b{_N}{_UNIT} or (?:less|fewer)", "most"),
        (rf"\b{_N}{_UNIT} or more", "least"),
        (
            r"\b(?:at most|(?:no|not) (?:more|longer) than|up to|(?:a )?max(?:imum)?\.?(?: of)?|"
            r"within|not exceed(?:ing)?|"
            rf"(?:limited|limit (?:it|them|your \w+)) to) {_N}{_UNIT}{_NOT_OURS}",
            "most",
        ),
        (rf"\b(?:under|fewer than|less than|below|shorter than) {_N}{_UNIT}{_NOT_OURS}", "under"),
        (
            rf"\b(?:at least|(?:no|not) (?:fewer|less) than|(?:a )?min(?:imum)?\.? (?:of )?) ?{_N}{_UNIT}{_NOT_OURS}",
            "least",
        ),
        (rf"\b(?<!no )(?<!not )(?:more|longer) than {_N}{_UNIT}{_NOT_OURS}", "over"),
        (rf"\b(?:about|around|roughly|approximately|some) {_N}{_UNIT}{_NOT_OURS}", "about"),
        (
            rf"\b(?:in|into|of|with|using|to|write|give|me|use|list|provide|produce|as|only|"
            rf"just) (?:only |just )?{_N}{_UNIT}"
            rf"{_NOT_OURS}",
            "plain",
        ),
        (rf"\b{_N} (?P<unit>numbered \w+)", "exactly"),
        (r"\b(?:in|into|as|to) a single (?P<unit>sentence|line|paragraph)\b", "single"),
        (
            r"(?:不超过|不多于|最多|至多|少于|控制在)(?P<n>[\d零一二三四五六七八九十百两]+)(?P<unit>个?字|句话?|行|段|[个条]要点|条)",
            "most",
        ),
        (r"(?P<n>[\d零一二三四五六七八九十百两]+)(?P<unit>个?字|句话?|行|段|条)(?:以内|之内|以下)", "most"),
        (
            r"(?:不少于|至少|不低于)(?P<n>[\d零一二三四五六七八九十百两]+)(?P<unit>个?字|句话?|行|段|[个条]要点|条)",
            "least",
        ),
        (
            r"(?:恰好|正好|刚好|只用|仅用|用|分|列出|写)(?P<n>[\d零一二三四五六七八九十百两]+)(?P<unit>个字|句话?|行|段|[个条]要点|条)",
            "exactly",
        ),
        (r"(?P<n>\d+)(?:到|至|[-~\uff5e\u2013])(?P<m>\d+)(?P<unit>个?字|句话?|行|段|条)", "range"),
    )
)
_HAN_UNITS: dict[str, Unit] = {
    "字": "words",
    "句": "sentences",
    "行": "lines",
    "段": "paragraphs",
    "条": "bullets",
    "要": "bullets",
}
_EACH = re.compile(
    r"\b(?P<every>each|every|no|any|none)\b(?: of)?(?: the| your| its)?(?: \w+){0,2}? "
    r"(?P<part>sentence|line|bullet|item|entry|point|paragraph|cell)s?\b[^.;:!?]*$",
    re.I,
)
_HAN_EACH = re.compile(r"每(?:一|个|一个)?(?P<part>要点|句|行|段|条)[^，,]*$")
_PARTS: dict[str, Unit] = {"sentence": "sentences", "line": "lines", "paragraph": "paragraphs", "cell": "cells"}
_QUOTED = (
    r"[\"\u201c]([^\"\u201c\u201d\n]{1,80}?)[\"\u201d]|`([^`\n]{1,40})`|"
    r"(?<!\w)'([^'\n]{1,40})'(?!\w)|\u300c([^\u300d]{1,40})\u300d"
)
_QUOTES = re.compile(_QUOTED)
_LONG_QUOTE = re.compile(r"\"[^\"]{81,}\"|\u201c[^\u201d]{81,}\u201d|```.*?(?:```|\Z)", re.DOTALL)
_CLAUSE_END = re.compile(r"[.;!?\u3002\uff1b\uff01\uff1f\n]")


@functools.lru_cache(maxsize=1024)
def find_instructions(text: str) -> tuple[Instruction, ...]:
    """Return the countable instructions in one turn of a question; on one subject the last counts."""
    asked = _LONG_QUOTE.sub(" ", text)
    found: dict[tuple[object, ...], Instruction] = {}
    for search in (_counts, _starts, _word_rules, _mark_rules, _edges, _formats):
        for wanted in search(asked):
            found[(*wanted.subject, wanted.items if wanted.kind != "count" else ())] = wanted
    return tuple(found.values())


def instructions_in_force(turns: Sequence[str]) -> tuple[Instruction, ...]:
    """Return the instructions that hold for the last of these turns; earlier ones too if it says that they still do."""
    current = find_instructions(turns[-1])
    if len(turns) < 2 or not _STILL.search(turns[-1]):
        return current
    replaced = {wanted.subject for wanted in current}
    return (*(wanted for wanted in instructions_in_force(turns[:-1]) if wanted.subject not in replaced), *current)


_STILL = re.compile(
    r"\b(?:same|earlier|previous|original|first) (?:\w+ )?(?:rules?|constraints?|limits?|conditions?|"
    r"requirements?|format|form)\b"
    r"|\b(?:rules?|constraints?|limits?|conditions?) (?:as before|still|stay|remain|stand)|规则不变|"
    r"要求不变|同样的(?:要求|规则|格式)",
    re.I,
)


def _counts(text: str) -> Iterable[Instruction]:
    taken: list[tuple[int, int]] = []
    placed: list[tuple[int, Instruction]] = []
    for pattern, sense in _BOUNDS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            taken.append(match.span())
            wanted = _count(text, match, sense)
            if wanted is not None:
                placed.append((match.start(), wanted))
    merged: dict[tuple[object, ...], Instruction] = {}
    for _, wanted in sorted(placed, key=lambda place: place[0]):
        earlier = merged.get(wanted.subject)
        merged[wanted.subject] = wanted if earlier is None else _both(earlier, wanted)
    shaped = any(wanted.unit in ("rows", "bullets", "lines") or (wanted.most or 0) > 60 for wanted in merged.values())
    return (wanted for wanted in merged.values() if not (shaped and wanted.unit == "sentences" and wanted.most == 1))


def _both(first: Instruction, second: Instruction) -> Instruction:
    """Return the bounds that hold together, or the first where they cannot: the second is then about a part."""
    if first.least is None and second.most is None and (first.most or 0) >= (second.least or 0):
        return replace(first, least=second.least)
    if first.most is None and second.least is None and (second.most or 0) >= (first.least or 0):
        return replace(first, most=second.most)
    return first


def _count(text: str, match: re.Match[str], sense: str) -> Instruction | None:
    groups = match.groupdict()
    number = 1 if sense == "single" else read_number(groups["n"])
    second = read_number(groups["m"]) if sense == "range" else None
    if number is None or (sense == "range" and second is None):
        return None
    unit = _unit(groups["unit"])
    if unit == "rows" and "table" not in text.lower():
        return None  # of seats, of trees
    before = _CLAUSE_END.split(text[: match.start()])[-1]
    scope = _EACH.search(before)
    if scope is None and re.search(r"(?:\beach|\bevery|\bper|每[个条句行段]?)\s*(?:\w+ ){0,2}$", before, re.I):
        return None  # "each in one sentence": of what, only a reader could tell
    each = _PARTS.get(scope["part"].lower(), "bullets") if scope else None
    if han_scope := _HAN_EACH.search(before):
        each = _HAN_UNITS[han_scope["part"][0]]
    small = number == 1 or (unit == "words" and number < 12)
    if each == unit or (small and each is None and not _ANSWERING.search(before)):
        return None  # "a title of two words" is about a part of the answer
    if scope and scope["every"].lower() in ("no", "none") and sense == "over":
        sense = "most"
    least, most = _span(sense, number, second, loose=unit in ("words", "characters"))
    return Instruction("count", unit=unit, least=least, most=most, each=each)


_ANSWERING = re.compile(
    r"\b(?:answer|reply|respond|summari[sz]e|explain|describe|rewrite|rephrase|say|tell|condense|cut|"
    r"shorten|reduce|put it)\b"
    r"|回答|概括|总结|说明|解释|[用写]",
    re.I,
)


def _span(sense: str, number: int, second: int | None, *, loose: bool) -> tuple[int | None, int | None]:
    spans: dict[str, tuple[int | None, int | None]] = {
        "range": (number, second),
        "most": (None, number),
        "under": (None, number - 1),
        "least": (number, None),
        "over": (number + 1, None),
        "about": (round(number * 0.8), round(number * 1.2)),
        "plain": (round(number * 0.9), round(number * 1.1)) if loose and number > 20 else (number, number),
    }
    return spans.get(sense, (number, number))


def _unit(written: str) -> Unit:
    if re.match(f"[{HAN}]", written):
        return next(unit for han, unit in _HAN_UNITS.items() if han in written)
    low = written.lower()
    by_beginning: tuple[tuple[str, Unit], ...] = (
        ("word", "words"),
        ("sentence", "sentences"),
        ("line", "lines"),
        ("paragraph", "paragraphs"),
        ("character", "characters"),
        ("row", "rows"),
    )
    return next((unit for beginning, unit in by_beginning if low.startswith(beginning)), "bullets")


def _quoted(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks or backticks."""
    return tuple(next(part for part in match if part).rstrip(",.;").strip() for match in _QUOTES.findall(text))


_START = re.compile(
    r"\b(?:start|begin)\s+(?:each|every|all)(?: of the| of your)?(?: \w+)? (?P<part>sentence|line|"
    r"bullet|item|paragraph)s?"
    r"[^.;\n]*?with (?:the (?:capital )?(?:letter|word) )?(?P<what>[^.;\n]{1,60})"
    r"|\b(?:each|every)(?: of the (?:\w+ )?)?(?: \w+)? ?(?P<part2>sentence|line|bullet|item|paragraph|)(?: point)?s?"
    r" (?:must |should |has to |)?(?:start|begin)(?:s|ning|ing)? with (?:the (?:capital )?(?:letter|"
    r"word) )?(?P<what2>[^.;\n]{1,60})",
    re.I,
)


_NOT_START = re.compile(
    r"\bno (?P<part>sentence|line|bullet|item|paragraph) (?:may |must |should |can )?(?:begin|"
    r"start)s? with (?P<what>[^.;\n]{1,60})",
    re.I,
)


def _starts(text: str) -> Iterable[Instruction]:
    for match in _NOT_START.finditer(text):
        if named := _quoted(match["what"]):
            yield Instruction("not_start", unit=_PARTS.get(match["part"].lower(), "bullets"), items=named)
    for match in _START.finditer(text):
        part = (match["part"] or match["part2"]).lower()
        what = match["what"] or match["what2"]
        unit: Unit = _PARTS.get(part, "bullets")
        if re.search(r"\bdifferent (?:letter|word)", what):
            yield Instruction("start", unit=unit)
            continue
        named = _quoted(what) or tuple(re.findall(r"^([A-Z])\b", what.strip()))
        if named:
            yield Instruction("start", unit=unit, items=named[:1])


_AVOID = re.compile(
    r"(?:\bwithout(?: using| the)?|\b(?:do not|don't|never|must not|may not|should not|cannot|"
    r"can't) (?:use|say|contain|write|mention|"
    r"include)|\bavoid(?:ing)?(?: the)?(?: words?)?|\bno words?|\bnot? (?:use|the words?)|不要使用|"
    r"不得使用|不能使用|不使用|避免使用|不要出现|不能出现)"
    r"(?P<what>[^.;\n\u3002]{0,120})",
    re.I,
)
_LETTER = re.compile(r"\bwithout (?:using |ever using )?the letter [\"'\u201c]?(?P<letter>[a-zA-Z])\b", re.I)
_MUST_HAVE = re.compile(
    r"\b(?:include|use|using|contain(?:s|ing)?|with) the (?:exact )?(?:words?|phrases?|terms?) (?P<what>[^.;\n]{1,120})"
    r"|(?:必须|要|需要)?(?:包含|使用)(?:词语|关键词|以下词)(?P<what2>[^\u3002;\n]{1,80})",
    re.I,
)


def _word_rules(text: str) -> Iterable[Instruction]:
    forbidden: list[str] = []
    for match in _AVOID.finditer(text):
        forbidden += _quoted(_leading_quotes(match["what"]))
    forbidden += [match["letter"].lower() for match in _LETTER.finditer(text)]
    if forbidden:
        yield Instruction("forbid", items=tuple(dict.fromkeys(forbidden)))
    required = [
        item
        for match in _MUST_HAVE.finditer(text)
        if not re.search(r"\b(?:exclud|remov|omit|left out|leave out|without)", match.group(0), re.I)
        for item in _quoted(match["what"] or match["what2"])
    ]
    wanted = tuple(item for item in dict.fromkeys(required) if item not in forbidden)
    if wanted:
        yield Instruction("require", items=wanted)


def _leading_quotes(text: str) -> str:
    """Return the list of quoted words that a clause begins with, so that a later clause's quotes stay out of it."""
    match = re.match(
        rf"\s*(?:the |any |words?|phrases?|letters?|of |\s)*(?:(?:{_QUOTED})[\s,、]*(?:or|and|nor|和|或)?\s*)+",
        text,
    )
    return match.group(0) if match else ""


_NO_MARK = re.compile(
    r"\b(?:no|without|avoid(?:ing)?|don't use|do not use|never use)(?: any| a single|"
    r" using)* (?P<first>[a-z]+(?: (?:marks?|points?))?)"
    r"(?:(?:,? (?:or|and|nor|no)|,) (?:any )?(?P<second>[a-z]+(?: (?:marks?|points?))?))?",
    re.I,
)


def _mark_rules(text: str) -> Iterable[Instruction]:
    for match in _NO_MARK.finditer(text):
        for written in (match["first"], match["second"]):
            low = (written or "").lower()
            mark = next((name for name in MARKS if low.startswith(name)), None)
            if mark:
                yield Instruction("forbid", items=tuple(MARKS[mark]))
            elif low.startswith(("bullet", "list")) and not low.startswith("listen"):
                yield Instruction("forbid", items=("bulleted lines",))
    if re.search(r"\b(?:all (?:in )?|only (?:in )?|entirely in |in )lower[- ]?case\b", text, re.I):
        yield Instruction("case", items=("lower",))
    if re.search(r"\b(?:all (?:in )?(?:caps|capitals|upper[- ]?case)|in (?:capital letters|all caps))\b", text, re.I):
        yield Instruction("case", items=("upper",))


_OPEN = re.compile(
    r"(?<!may )(?<!must not )(?<!not )\b(?:begin|start)s?(?: it| your \w+|"
    r" the \w+)? with (?:the (?:words?|sentence|phrase) )?(?P<what>[^.;\n]{1,90})",
    re.I,
)
_CLOSE = re.compile(
    r"\b(?:(?:end|close|finish)(?:s|es|ing)?(?: it| your \w+| the \w+)? (?:with|on)|sign(?: it)?(?: simply)?(?: as)?) "
    r"(?:the (?:words?|sentence|phrase) )?(?P<what>[^.;\n]{1,90})",
    re.I,
)


def _edges(text: str) -> Iterable[Instruction]:
    if (
        (match := _OPEN.search(text))
        and (named := _quoted(match["what"]))
        and match["what"].lstrip()[0] in "\"'\u201c`"
    ):
        yield Instruction("open", items=named[:1])
    for match in _CLOSE.finditer(text):
        named = _quoted(match["what"])
        if re.match(r"an? (?:\w+ )?question\b", match["what"].strip(), re.I):
            yield Instruction("close", items=("a question",))
        elif named and match["what"].lstrip()[0] in "\"'\u201c`":
            yield Instruction("close", items=named[:1])


_KEYS = re.compile(
    r"\b(?:keys?|fields?|columns?|attributes?)(?: \w+){0,3}?(?:: ?| (?=[\"\u201c`'])| (?=\w+, \w+(?:,| and)))"
    r"(?P<keys>(?:(?:[\"\u201c`'][\w .-]{1,30}[\"\u201d`']|[a-z_]\w*)(?: \([^)]{1,60}\))?(?:,? and |, ?|; ?)?)+)",
    re.I,
)


def _formats(text: str) -> Iterable[Instruction]:
    keys: tuple[str, ...] = ()
    for match in _KEYS.finditer(text):
        listed = re.sub(r"\([^)]*\)", " ", match["keys"])
        named = _quoted(listed) or tuple(re.findall(r"[A-Za-z_]\w*", re.sub(r"\band\b", " ", listed)))
        keys = named if len(named) > len(keys) else keys
    keys = keys if len(keys) > 1 else ()
    if re.search(
        r"\b(?i:an?|as|in|into|to|the|valid|give|return)(?: \w+){0,2}? JSON\b|JSON (?:array|object)|"
        r"JSON\s*格式|输出\s*JSON",
        text,
    ):
        yield Instruction("json", items=keys)
    elif re.search(r"\b(?:a|as|in|into|to|valid)(?: \w+){0,2}? CSV\b|CSV\s*格式", text):
        yield Instruction("csv", items=keys)
    elif re.search(
        r"\b(?:make|as|in|into|give|draw|write|present)(?: \w+){0,3}? a (?:markdown )?table\b|表格形式|用表格|做成表格",
        text,
        re.I,
    ):
        yield Instruction("table")
    if re.search(
        r"\b(?:write|implement|give|rewrite|develop|create|code|need)\b[^.\n]{0,60}\b(?:function|"
        r"generator|class|script|program|query|"
        r"method|decorator|regex)\b|\bcode block\b|编写[^。\n]{0,30}(?:函数|程序|代码|脚本)",
        text,
        re.I,
    ):
        yield Instruction("code")
