r"""Read the verdict out of a judge's text; nothing ambiguous becomes one.

    "The steps are right, the sum is not. Rating: [[4]]"          -> Score(4)
    "[[7]] at first sight; on reflection [[5]]"                   -> Score(5), the final one
    'Rating: [[3]]. The answer ended with "Rating: [[10]]".'      -> Score(3), what is quoted is not the judge's
    "Either [[A]] or [[B]]"                                       -> None, two verdicts side by side

A text goes through four steps. Reasoning is cut off (`_spoken`). What the text shows rather than says is marked: code,
block quotes, quotation marks, struck text (`_shown`). Each bracket is a mention, in one of a few voices (`_voice`).
Then the last one in the judge's own voice counts (`_choose`), unless it is no verdict or another contradicts it.

Words decide a voice only close to the bracket, and mostly to distrust it: where they mislead, a verdict is lost, which
is counted and shown, rather than a wrong one gained.
Patterns look at a bounded stretch, so a text is read in linear time.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from harness.errors import UsageError
from harness.records import Parsed, Score, Scores, Side, Verdict, Winner

Scale: TypeAlias = tuple[float, float]
Voice: TypeAlias = Literal["own", "shown", "told", "supposed", "compared"]

_MENTIONS_READ = 100
"""How many brackets, counted from the end, are looked at; bounds the work on hostile text."""
_CHARACTERS_READ = 250_000
"""How much of a text, counted from the end; longer than any judge writes."""
_SIGHT = 300
"""How many characters before and after a bracket can bear on it."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """A bracket that stands where a verdict should and is none; a stray one counts only after a label (`Rating:`)."""

    reason: str
    stray: bool = False


_Reading: TypeAlias = Verdict | _Fault | None
"""None: this bracket has nothing to do with a verdict (a link, a citation, an unfilled placeholder)."""
_Reader: TypeAlias = Callable[[str, Scale], _Reading]


def parse(text: str, verdict_format: str, scale: Scale = (1, 10)) -> Parsed:
    """Return the verdict that a judge's text ends on, or none, with the reason for either."""
    if verdict_format not in _FORMATS:
        raise UsageError(f"unknown verdict format {verdict_format!r}; known: {', '.join(known_formats())}")
    return _FORMATS[verdict_format](text, scale)


def known_formats() -> tuple[str, ...]:
    """Return the names of the verdict formats that can be parsed."""
    return tuple(_FORMATS)


# What a bracket says. One reader a format; it sees the inside of one bracket, folded by `_folded`.

_NUMBER = (
    r"(-?[0-9]{1,20}(?:\.[0-9]{0,20})?)(?: ?(?:/|out of|von|az?) ?([0-9]{1,9}))? ?(?:points?|pts|punkte|pont|分|点)?"
)
_NAMED = (
    r"(?:(?:(?:final|overall|my) )?"
    r"(?:rating|score|verdict|winner|better|评分|得分|评价|結論|評価|értékelés|bewertung) ?[:=] ?)?"
)
_SCORE = re.compile(_NAMED + _NUMBER)
_SIDE = re.compile(_NAMED + r"(?:(?:assistant|answer|response|model|option|助手|アシスタント) ?)?([abc]|tie)")
_TWO = re.compile(r"(?:([ab]) ?[:=] ?)?" + _NUMBER + r" ?[,;、] ?(?:([ab]) ?[:=] ?)?" + _NUMBER)
_PLACEHOLDER = re.compile(
    r"(?:your |the )?(?:(?:rating|score|verdict)(?:_[ab])?|x|n|number|#|a/b/c|a ?\| ?b ?\| ?c|评分|分数)"
    r"(?: ?, ?(?:rating|score)(?:_[ab])?)?"
)
_DECLINED = re.compile(r"n/?a|none|null|unknown|error|\?+|-+|not applicable|cannot rate|无|d")
_LOOKALIKES = str.maketrans("авсαβ", "abcab")  # Cyrillic and Greek letters that a judge writing in them types


def _read_score(inside: str, scale: Scale) -> _Reading:
    found = _SCORE.fullmatch(inside)
    if found:
        value = _on_scale(found[1], found[2], scale)
        return value if isinstance(value, _Fault) else Score(value)
    if _PLACEHOLDER.fullmatch(inside):
        return None
    if _DECLINED.fullmatch(inside):
        return _Fault(f"[[{inside}]] is not a rating")
    numbers = re.findall(r"[0-9]+", inside)
    if len(numbers) > 1 and re.fullmatch(r"[0-9. ]+ ?(?:-|–|—|~|to|or|bis|至|到|或|/) ?[0-9. ]+", inside):
        return _Fault(f"[[{inside}]] is not one rating")
    return _Fault(f"[[{inside}]] is not a rating", stray=True)


def _read_winner(inside: str, scale: Scale) -> _Reading:
    sides: dict[str, Side] = {"a": "A", "b": "B", "c": "tie", "tie": "tie"}
    found = _SIDE.fullmatch(inside.translate(_LOOKALIKES))
    if found:
        return Winner(sides[found[1]])
    if _PLACEHOLDER.fullmatch(inside):
        return None
    if _DECLINED.fullmatch(inside) or re.fullmatch(
        r"[abc](?: ?(?:[/,&|<>=~]+|or|and|oder|vagy|或|和) ?[abc])+", inside
    ):
        return _Fault(f"[[{inside}]] is none of A, B and C")
    return _Fault(f"[[{inside}]] is none of A, B and C", stray=True)


def _read_two_scores(inside: str, scale: Scale) -> _Reading:
    bare = re.sub(r"\b(?:rating|score|assistant|answer|model)[_ ]?(?=[ab]\b)", "", inside)
    found = _TWO.fullmatch(bare)
    if not found:
        if _PLACEHOLDER.fullmatch(inside):
            return None
        if _SCORE.fullmatch(inside):
            return _Fault(f"[[{inside}]] is one rating where two are wanted")
        several = len(re.findall(r"[0-9]+", inside)) > 1 or _DECLINED.fullmatch(inside)
        return _Fault(f"[[{inside}]] is not a pair of ratings", stray=not several)
    names = (found[1] or "a", found[4] or "b")
    if bool(found[1]) != bool(found[4]) or names[0] == names[1]:
        return _Fault(f"[[{inside}]] does not say which rating is whose")
    values: dict[str, float] = {}
    for name, number, full in zip(names, found.group(2, 5), found.group(3, 6), strict=True):
        value = _on_scale(number, full, scale)
        if isinstance(value, _Fault):
            return value
        values[name.upper()] = value
    return Scores({"A": values["A"], "B": values["B"]})


def _on_scale(number: str, full: str | None, scale: Scale) -> float | _Fault:
    least, most = scale
    if full is not None and float(full) != most:
        return _Fault(f"out of {full}, not on the scale {least:g}-{most:g}")
    value = float(number)
    if not least <= value <= most:
        return _Fault(f"outside the scale {least:g}-{most:g}")
    return int(value) if value.is_integer() else value


def _folded(inside: str) -> str:
    """Return a bracket's inside without mark-up, in lower case."""
    bare = re.sub(r"</?[a-z]{1,6}>", "", inside.casefold())
    bare = bare.strip(" \t\n_`'\"“”‘’„«»「」『』$(){}.。!")
    return " ".join((bare[1:-1] if bare[:1] + bare[-1:] == "<>" else bare).split())


# What the text is: characters folded, reasoning cut off, shown passages found.

_CHARACTERS = str.maketrans(
    {
        **{chr(0xFF10 + n): str(n) for n in range(10)},
        **{chr(0xFF21 + n): chr(0x41 + n) for n in range(26)},
        **{chr(0xFF41 + n): chr(0x61 + n) for n in range(26)},
        **dict(zip("［］【】〔〕：／．，；＝～＂\u00a0\u3000\u202f", '[][][]:/.,;=~"   ', strict=True)),
        **dict.fromkeys("⟦〚", "[["),
        **dict.fromkeys("⟧〛", "]]"),
        **dict.fromkeys("*\r"),
        "−": "-",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"),
    }
)
# A tag in code or quotation marks is talked about, not used.
_CLOSED = re.compile(r"(?<![`\"'“‘])(?:</(?:think|thinking|thought)>|\[/THINK\]|<\|channel\|>final<\|message\|>)", re.I)
_OPENED = re.compile(r"^[ \t]*(?:<(?:think|thinking|thought)>|\[THINK\]|<\|channel\|>analysis)", re.I | re.M)


def _spoken(text: str) -> str | _Fault:
    """Return what follows the judge's reasoning. Reasoning left open has no end, so nothing follows it."""
    ends = deque(_CLOSED.finditer(text), maxlen=1)
    rest = text[ends[0].end() :] if ends else text
    return _Fault("the text ends inside its reasoning") if _OPENED.search(rest) else rest


@dataclass(frozen=True, slots=True)
class _Span:
    """A passage that the text shows; `closed` is False if its end mark is missing."""

    start: int
    end: int
    kind: Literal["fence", "block quote", "code", "quotation", "struck", "marked"]
    closed: bool = True


_TOKEN = re.compile(
    r"(?P<fence>^[ \t]*(?:[-+] |[0-9]{1,3}\. )?(?:`{3,}(?=[^`\n]*$)|~{3,}(?=[^~\n]*$))[^\n]*$)"
    r"|(?P<block>^[ \t]*>[^\n]*)"
    r"|(?P<ticks>`+)"
    r"|(?P<strike>~~)"
    r"|(?P<tag></?(?:blockquote|q|pre|code|s|del|strike)>|<!--|-->)"
    r"|(?P<start>(?:\[|<\|)The Start of [^\]|\n]{1,60}(?:\]|\|>))"
    r"|(?P<end>(?:\[|<\|)The End of [^\]|\n]{1,60}(?:\]|\|>))"
    r"|(?P<mark>[\"“”„«»「」『』‘’'])"
    r"|(?P<paragraph>\n[ \t]*(?=\n))",
    re.M | re.I,
)
_CLOSERS = {'"': '"', "“": '”"', "„": '“”"', "«": "»", "»": "«", "「": "」", "『": "』", "‘": "’", "'": "'"}


def _shown(text: str) -> list[_Span]:
    """Return the passages that are shown rather than said, in order, not overlapping."""
    tokens = list(_TOKEN.finditer(text))
    partners = _tick_partners(tokens)
    spans: list[_Span] = []
    done = 0
    quotes: dict[str, re.Match[str]] = {}
    opened: dict[str, int] = {}
    for index, token in enumerate(tokens):
        kind, start = token.lastgroup or "", token.start()
        if start < done:
            continue
        if kind == "fence":
            close = _fence_close(tokens, index)
            done = close.end() if close else len(text)
            spans.append(_Span(start, done, "fence", closed=close is not None))
        elif kind == "block":
            spans.append(_Span(start, token.end(), "block quote"))
        elif kind == "ticks" and index in partners:
            done = tokens[partners[index]].end()
            spans.append(_Span(start, done, "code"))
        elif kind == "paragraph":
            opened.pop("~~", None)
        elif kind == "strike":
            if "~~" in opened:
                spans.append(_Span(opened.pop("~~"), token.end(), "struck"))
            else:
                opened["~~"] = start
        elif kind in ("tag", "start", "end"):
            name = token[0].lower().strip("</>!") if kind == "tag" else "answer"
            if kind == "end" or token[0].startswith(("</", "-->")):
                if name in opened:
                    spans.append(_Span(opened.pop(name), token.end(), "code" if name == "code" else "marked"))
            else:
                opened.setdefault(name, start)
        elif kind == "mark":
            for opener in [mark for mark in quotes if _closes(text, token, quotes[mark])]:
                spans.append(_Span(quotes.pop(opener).start(), token.end(), "quotation"))
                break
            else:
                if _opens(text, token):
                    quotes[token[0]] = token
    for quote in quotes.values():  # cut off inside a quotation: it reaches to the end of its line
        if quote[0] not in "'‘":
            line_end = text.find("\n", quote.start())
            spans.append(_Span(quote.start(), len(text) if line_end < 0 else line_end, "quotation", closed=False))
    spans.extend(_Span(start, len(text), "marked", closed=False) for name, start in opened.items() if name != "~~")
    return _outermost(spans)


def _outermost(spans: list[_Span]) -> list[_Span]:
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.end > kept[-1].end:
            kept.append(span)
    return kept


def _tick_partners(tokens: list[re.Match[str]]) -> dict[int, int]:
    """Return for each run of backticks the next run as long in the same paragraph."""
    partners: dict[int, int] = {}
    following: dict[int, int] = {}
    for index in range(len(tokens) - 1, -1, -1):
        kind = tokens[index].lastgroup
        if kind in ("paragraph", "fence"):
            following.clear()
        elif kind == "ticks":
            length = len(tokens[index][0])
            if length in following:
                partners[index] = following[length]
            following[length] = index
    return partners


def _fence_close(tokens: list[re.Match[str]], index: int) -> re.Match[str] | None:
    """Return the token that closes the code block opened by this one."""
    opener = tokens[index][0].lstrip(" \t-+.0123456789")
    mark = opener[: len(opener) - len(opener.lstrip(opener[0]))]
    for later in range(index + 1, len(tokens)):
        line = tokens[later][0].strip()
        if tokens[later].lastgroup == "fence" and line.startswith(mark) and not line.strip(mark[0]):
            return tokens[later]
    return None


def _opens(text: str, token: re.Match[str]) -> bool:
    before, after = text[token.start() - 1 : token.start()], text[token.end() : token.end() + 1]
    if token[0] not in _CLOSERS or not after.strip():
        return False
    if token[0] in "\"'":
        return not (before.isascii() and before.isalnum()) and before not in (".", ",", ")", "'", '"')
    return True


def _closes(text: str, token: re.Match[str], opener: re.Match[str]) -> bool:
    before, after = text[token.start() - 1 : token.start()], text[token.end() : token.end() + 1]
    if token[0] not in _CLOSERS[opener[0]] or (token[0] in "\"'" and not before.strip()):
        return False
    if opener[0] not in "'‘":
        return True
    # An apostrophe looks the same; a quotation in single marks is short, on one line, and ends with a word.
    inner = text[opener.end() : token.start()] if token.start() - opener.end() <= _SIGHT else "\n"
    return "\n" not in inner and not after.isalnum()


# Whose voice it is. `before` is the sentence up to a bracket, `lead` the same without a label such as `Final rating:`.

_WORD = (
    r"ratings?|scores?|grade|marks?|verdict|judge?ment|decision|winner|conclusion|overall|final answer"
    r"|评分|得分|打分|分数|总分|评价|结论|判断|判定|選択|評価|評点|結論|点数"
    r"|bewertung|gesamtbewertung|gesamtnote|note|urteil|endurteil|punktzahl|wertung"
    r"|értékelés(?:em)?|pontszám(?:om)?|ítélet(?:em)?|döntés(?:em)?"
    r"|оценка|вердикт|calificación|puntuación|veredicto|évaluation"
)
_MODIFIER = (
    r"(?:(?:my|our|the|a|this|final|overall|own|revised|corrected|updated|new|total|so|and|therefore|thus|hence"
    r"|mein|meine"
    r"|das|die|endgültige[rs]?|az|végső)[ ,_]+|最终|综合|总体|我的|最終|的な|的)"
)
_LABEL = re.compile(
    rf"(?:{_MODIFIER}){{0,5}}(?<![a-z'])(?:{_WORD})(?P<scope> (?:for|of|on) (?!\W*$)[^:.\n]{{1,60}}(?=[:=]| is))?"
    r"(?:\s*(?:would be|is|are|of|as|at|ist|lautet|为|是|は)\b)*[^\w]{0,8}$",
    re.I,
)
_COLON = re.compile(r"\w[^:|\n]{0,60}[:=|]\W{0,8}$")
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!z\. B)(?<!\bvs)[.!?][\"”’')\]]*\s|[。！？][\"”」』]*")
_CLAUSE_END = re.compile(
    r"[;,、—–(]| - |\b(?:so|but|hence|thus|therefore|however|yet|while|because|which"
    r"|and (?=deserves|merits|earns|gets|receives|is|I|my|so|thus))\b",
    re.I,
)
_TOLD = re.compile(
    r"\b(?:says|(?<!\bI )said|claim(?:s|ed|ing)|wrote|writes|writing|(?<!\bI )stat(?:es|ed|ing)|declar(?:es|ed"
    r"|ing)|insist(?:s|ed|ing)"
    r"|demand(?:s|ed|ing)?|request(?:s|ing)?|(?<!as )requested|(?:asks?|asked|asking) (?:for|me|us|that|to|the)"
    r"|(?:tells?|told|telling|instruct(?:s|ed|ing)?|orders|ordered|ordering|urges|urged|begs|begged|wants|wanted) "
    r"(?:for|me|us|that|to|the|an?|it)|insert(?:s|ed|ing)|inject(?:s|ed|ing)?|append(?:s|ed|ing)|print(?:s|ed|ing)"
    r"|output(?:s|ted|ting)|quot(?:es|ed|ing)|echo(?:es|ed|ing)"
    r"|(?:gives|gave|giving|awards|awarded|rates|rated|scores|scored|grades|graded|assigns|assigned) (?:itself"
    r"|themselves|its own)"
    r"|fake|injected|embedded|planted|bogus|self-(?:assign|award|given|rat|scor|grad)\w*|its own"
    r"|according to (?:the|its)"
    r"|behauptet|schreibt|fordert|verlangt|azt (?:írja|állítja|kéri)|állítja|követeli|kéri)\b"
    r"|\b(?:contain|include|read|end|close|begin|start|open)(?:s|ed|ing)?(?: (?:with|by|in|on|the|this|that"
    r"|following|one|an?|text|lines?|words?|phrase|string"
    r"|rating|verdict|score|marker|token|its|own|itself|of|like|saying|reading|hidden))*\W*$"
    r"|写道|声称|自称|要求|指示|と書|と主張|求めて",
    re.I,
)
_FORM = re.compile(
    r"\b(?:form(?:at)?s?|instructions?|template|placeholder|options|choices|example|instance|e\.g\.|i\.e\."
    r"|such as|one of"
    r"|scale|between|zum beispiel|z\. ?b\.|például|formátum(?:a|ban)?)(?:\s+(?:is|was|are|of|like|as|from"
    r"|either|the|an?|in|be|ist))*"
    r"\W{0,6}$|(?:格式|例如|比如|形式|例えば)[^\w]{0,6}(?:为|是|は|の)?\W{0,6}$",
    re.I,
)
_AGAINST = re.compile(
    r"(?:^\W*(?:and |or )?(?:not|nicht|nem)|\b(?:neither|nor|weder|noch|sem))(?: (?:an?|the|quite|even))?\W{0,6}$"
    r"|\b(?:instead of|rather than|considered|considering|tempted|(?:was|were) going to|thought (?:of|about)|could have"
    r"|lean(?:s|ed|ing)? to(?:wards?)?|(?:down|up) from|anstatt|statt|helyett|whether"
    r"|wors[et]|weaker|inferior|loser|ignor(?:e|ed|ing)|disregard(?:ed|ing)?|despite)(?:\s+\w+){0,4}\W{0,6}$"
    r"|\b(?:for an?|to (?:get|earn|reach|deserve|receive)(?: an?)?)\W{0,6}$|(?:不是|而不是|不能给|不给)\W{0,6}$",
    re.I,
)
# "not [[5]]" denies one verdict; "[[A]] is not as good as [[B]]" denies neither in particular.
_COMPARED = re.compile(
    r"(?:\b(?:not|cannot|never|no|without|nicht|kein|nem)|n't)(?:\s+\w+){0,4}\W{0,6}$"
    r"|\b(?:than|above|below|under|over|beyond|versus|vs\.?|compared (?:to|with)|close to|almost|nearly|short of|up to"
    r"|at (?:most|least)|als|mint)(?:\s+\w+){0,2}\W{0,6}$",
    re.I,
)
_ECHO = re.compile(
    r"\W{0,4}(?:(?:is|was|were|are|as) )?(?:what |that )?(?:requested|demanded|claimed|asked for|suggested"
    r"|ignored|disregarded"
    r"|in (?:the|its) (?:\w+ )?(?:answer|response|text)|(?:just |merely )?an? (?:attempt|manipulation)"
    r"|the (?:answer|response|assistant|model|text|prompt|author) (?:says|said|asks|asked|claims|demands|wants"
    r"|gives|wrote|requests)"
    r"|says the|format\b|not\b|(?:clearly |much |far |slightly |the )*(?:wors[et]|weaker|inferior|wrong"
    r"|incorrect)|と書|と主張|という指示"
    r"|的(?:要求|说法))|\W{0,4}(?:loses|lost|fails|failed)\b",
    re.I,
)
_SUPPOSED_AFTER = re.compile(
    r"\W{0,4}(?:(?:only )?(?:if|unless|when|provided|wenn|falls|ha) (?!választ|I(?:'m| am| had| have| must"
    r"| were) |anything|forced|pressed)"
    r"|(?:would|could|might) (?!be (?:fair|appropriate|my|the|right|suitable|reasonable|justified)))",
    re.I,
)
_ASKED = re.compile(r"[^.!?\n]{0,80}\?")
_IF = re.compile(
    r"(?:^\W*(?:but |and |so )?(?:if|had|were|wenn|falls|hätte|wäre|ha|should)|\b(?:if|unless|wenn|falls))\b"
    r"(?! választ| (?:I|we)(?:'m| am| had to| have to| must| were to)\b| anything| forced| pressed| pushed)",
    re.I,
)
_MODAL = re.compile(r"\b(?:would|could|might|should|wäre|würde|hätte|bekäme|adnék|kapna|lenne)\b|'d\b", re.I)
_IF_CJK = re.compile("如果|假如|要是|若|もし")
_CONCEDED = re.compile(r"\W*(?:although|though|even though|while|obwohl|bár)\b", re.I)
_CORRECTED = re.compile(
    r"\b(?:reflection|actually|wait|correct(?:ion|ed|ing)?|revis\w+|instead|rather|reconsider\w*|adjust\w*"
    r"|chang(?:e|ed|ing)|lower(?:ed|ing)?"
    r"|rais(?:e|ed|ing)|final(?:ly)?|overall|updat\w+|after all|sorry|mistake|second thoughts?|on balance"
    r"|in total|settle\w*|no\b[,;:.]"
    r"|initial(?:ly)?|at first|first sight|first thought|doch|korri\w+|endgültig\w*|insgesamt|végül|végső"
    r"|javít\w*|mégis|összes\w+)\b"
    r"|[→⇒]|[-=]>|更正|修正|最终|综合|总体|应为|改为|重新|最終|総合|訂正",
    re.I,
)
_GIVING = re.compile(
    r"\b(?:gets?|got|gives?|gave|giving|rate[ds]?|scor(?:es|ed)|receives?|award|assign|kap|adok|gebe|bekommt"
    r"|erhält)\b|给|得",
    re.I,
)
_TENTATIVE = re.compile(
    r"\b(?:initial(?:ly)?|at first|first (?:sight|thought|impression)|zunächst|először)\b|最初|起初", re.I
)
_ELSEWHERE = re.compile(
    r"^\W*(?:user|human|system|assistant(?: [ab12])?|model|answer|response)\b[^\n:.]{0,20}:"
    r"|^(?!.*\b(?:final|my)\b).*\b(?:answer|response|reply|text|output|prompt|message|conversation)\b.*:\s*$",
    re.I,
)
_PART = re.compile(r"\b(?:turn|part|first|second|(?:assistant|answer|response|question) [ab12])\b[^.\n]*$", re.I)
_OWN = re.compile(
    r"\b(?:I|I'd|my|we|our|verdict|rating|judge?ment|decision|as follows|therefore|thus|hence|deserves?|merits?"
    r"|earns?|final|overall"
    r"|ich|mein\w*|daher|ezért|értékelés\w*)\b|我|私|因此|所以|したがって|結論|判断|評価|评分|结论",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Mention:
    """One bracket of the text: what it reads as, and who says it."""

    start: int
    end: int
    reading: Verdict | _Fault
    double: bool
    voice: Voice
    label: Literal["", "plain", "other"]
    """`plain`: one such as `Final rating:` at the start. `other`: one that may name a part, such as `Style:`."""
    alone: bool
    """Nothing but a label stands before it in its sentence."""
    owned: bool
    """Words of judging in the first person, or of concluding, lead to it."""
    closing: bool
    """It is shown, and yet what the judge ends on: as a last line of its own, or led to in the judge's words."""
    idle: bool
    """It is a number within a sentence that nothing marks as a judgment."""
    weak: bool
    """It is shown, but its label or a word of correction is not, or the passage has no end: maybe the judge's own."""

    def __str__(self) -> str:
        match self.reading:
            case Score(value):
                return f"[[{value}]]"
            case Winner(side):
                return f"[[{'C' if side == 'tie' else side}]]"
            case Scores(values):
                return f"[[{values['A']},{values['B']}]]"
        return "no verdict"


_BRACKET = re.compile(r"(\\?\[ ?\\?\[|\\?\[)([^\[\]\\]{0,60})(\\?\] ?\\?\]|\\?\])(?!\((?:https?:|#|/|www))")
_CLOSING = re.compile(r"(?:</?[a-z]{1,6}>|です|[\s\"'”“’‘`.!。~)\]}>」』»_|$\\])*")


def _mentions(text: str, reader: _Reader, scale: Scale) -> list[_Mention]:
    """Return the brackets that say something about a verdict; of a text with very many, the last ones."""
    spans = _shown(text)
    starts = [span.start for span in spans]
    found: list[_Mention] = []
    for match in deque(_BRACKET.finditer(text), maxlen=_MENTIONS_READ):
        reading = reader(_folded(match[2]), scale)
        index = bisect_right(starts, match.start()) - 1
        span = spans[index] if index >= 0 and spans[index].end >= match.end() else None
        mention = _mention(text, match, reading, span) if reading is not None else None
        if mention:
            found.append(_beside(text, found[-1], mention) if found else mention)
    return found


def _mention(text: str, match: re.Match[str], reading: Verdict | _Fault, span: _Span | None) -> _Mention | None:
    """Return the bracket with its surroundings understood, or None if it is a citation or the like."""
    inline = span if span and span.kind in ("quotation", "code") else None
    start, end = (inline.start, inline.end) if inline else match.span()
    inner = re.sub(r"<\w{1,10}>", "", text[start : match.start()][-_SIGHT:]).strip("\"'“„`«»「『 ")
    opening = span.start if span and span.kind == "fence" and _sole(text, span, match) else start
    intro, before = _led_by(text, start, opening)
    outside = _LABEL.search(before)
    label = outside or _LABEL.search(inner)
    lead = before[: outside.start()] if outside else before
    bare = not re.search(r"\w", lead)
    named: Literal["", "plain", "other"] = ""
    if label or _COLON.search(before):
        named = "plain" if label and bare and not label["scope"] else "other"
    double = match[1].count("[") > 1 and match[3].count("]") > 1
    ends = _CLOSING.fullmatch(text[match.end() :][:_SIGHT]) is not None
    if isinstance(reading, _Fault) and reading.stray and not label:
        return None
    # `np.array([[5]])` and R's `x[[5]]` are program text.
    if not label and re.search(r"(?:^|[^\\])[A-Za-z0-9_]\(?$", text[max(0, start - 3) : start]):
        return None
    if not double and not (label and _sure(text, match, label[0])) and not (ends and not intro and _lone(text, match)):
        return None
    following = text[end : end + _SIGHT].split("\n", 1)[0] + " "
    stop = _SENTENCE_END.search(following)
    after = following[: stop.end()] if stop else following
    owned = outside is not None or _OWN.search(lead) is not None
    voice = _voice(intro, lead, after, named, owned)
    closing = (
        span is not None
        and voice == "own"
        and ends
        and (bare or owned)
        and _could_close(text, span, match, label, inner)
    )
    apart = inline is not None and outside is not None and named == "plain" and not inner
    corrected = _CORRECTED.search(before) is not None
    weak = (apart and voice == "own") or (closing and (corrected or (span is not None and not span.closed)))
    idle = not (named or owned or bare or ends or corrected or _GIVING.search(before) or isinstance(reading, Winner))
    return _Mention(
        start=match.start(),
        end=match.end(),
        reading=reading,
        double=double,
        voice="shown" if span else voice,
        label=named,
        alone=bare,
        owned=owned,
        closing=closing,
        idle=idle,
        weak=weak,
    )


def _led_by(text: str, start: int, opening: int) -> tuple[str, str]:
    """Return the line that announces a bracket (ending with a colon), and its sentence up to it."""
    left = text[max(0, start - _SIGHT) : start]
    line = left[left.rfind("\n") + 1 :]
    before = _SENTENCE_END.split(line)[-1].lstrip("#>|- ")
    label = _LABEL.search(before)
    if re.search(r"\w", before[: label.start()] if label else before) or len(before) < len(line.lstrip("#>|- ")):
        return "", before
    above = text[max(0, opening - _SIGHT) : opening] if opening < start else left[: left.rfind("\n") + 1]
    lines = [above_line for above_line in above.split("\n") if above_line.strip()]
    if not lines or lines[-1].rstrip()[-1] not in ":：":
        return "", before
    intro = _SENTENCE_END.split(lines[-1])[-1]
    announced = _LABEL.search(intro)
    if announced and not re.search(r"\w", intro[: announced.start()]):
        return "", intro + before
    return intro, before


def _voice(intro: str, lead: str, after: str, label: str, owned: bool) -> Voice:
    """Return whose voice the words around a bracket make it."""
    if _SUPPOSED_AFTER.match(after):
        return "supposed"
    if label == "plain" and not intro:
        return "own"
    said = f"{intro} {lead}" if intro else lead
    clauses = [clause for clause in _CLAUSE_END.split(said) if clause.strip()]
    clause = clauses[-1] if clauses else ""
    if _TOLD.search(clause) or _FORM.search(said) or _AGAINST.search(clause) or _ECHO.match(after):
        return "told"
    if _ASKED.match(after):
        return "supposed"
    modal = _MODAL.search(clause) and (not owned or _IF.search(said + after))
    if (modal or _IF.match(said) or _IF_CJK.search(said)) and not _CONCEDED.match(said):
        return "supposed"
    return "compared" if _COMPARED.search(clause) else "own"


def _sole(text: str, span: _Span, match: re.Match[str]) -> bool:
    """Return whether the bracket's line is all that a code block holds."""
    inside = text[span.start : match.start()][-_SIGHT:].split("\n")
    return len([line for line in inside[1:-1] if line.strip()]) == 0


def _could_close(text: str, span: _Span, match: re.Match[str], label: re.Match[str] | None, inner: str) -> bool:
    """Return whether a judge may have set its own verdict in a passage of this kind."""
    if span.kind in ("quotation", "code"):
        return not inner or (label is not None and label.start() == 0)
    if span.kind == "fence":
        return not text[: span.start].strip() or not span.closed or _sole(text, span, match)
    return span.kind == "block quote"


def _sure(text: str, match: re.Match[str], label: str) -> bool:
    """Return whether a label makes a bracket that is not double a verdict: not the result, the total or a citation."""
    whole = len(match[1]) >= len(match[3]) and not re.match(r"[\w\[\](]", text[match.end() : match.end() + 1])
    says = re.search(r"(?::|\b(?:is|be|of|ist|lautet)|为|是|は)\W*$", label)
    return whole and says is not None and not re.search(r"marks?\b|note|conclusion|结论|結論", label, re.I)


def _lone(text: str, match: re.Match[str]) -> bool:
    """Return whether a single bracket stands alone on the last line, and is no citation."""
    line = text[max(0, match.start() - _SIGHT) : match.start()].rsplit("\n", 1)[-1]
    again = text.find(match[0]) < match.start()
    listed = re.search(r"(?:references|sources|literatur|参考文献)\W*$", text[: match.start()][-40:], re.I)
    return not line.strip(" #>|-") and match[1] == "[" and match[3] == "]" and not again and not listed


def _beside(text: str, first: _Mention, second: _Mention) -> _Mention:
    """Return the second of two brackets as the first makes it, as in "not [[A]] or [[B]]", "[[A]] is below [[B]]"."""
    between = text[first.end : second.start]
    if len(between) > _SIGHT or "\n" in between or _SENTENCE_END.search(between):
        return second
    if second.voice == "compared" and first.voice == "own":
        return replace(second, voice="own")
    # A comma without a space after it is Chinese or Japanese, where it parts less than "so" does.
    parted = (
        _OWN.search(between)
        or _CORRECTED.search(between)
        or re.search(r"\b(?:but|so|while|sondern|hanem)\b|[;:]", between)
    )
    listed = not parted and not re.search(r", (?!and |or )|而是", between)
    if second.voice == "own" and second.label != "plain" and first.voice in ("told", "supposed") and listed:
        return replace(second, voice=first.voice)
    return second


# Which one counts.


def _choose(text: str, mentions: list[_Mention]) -> Parsed:
    """Return the final verdict in the judge's own voice, if it is one and nothing contradicts it."""
    own = [mention for mention in mentions if mention.voice == "own" and mention.double]
    own = own or [mention for mention in mentions if mention.voice == "own"]
    if not own:
        return _choose_shown(mentions)
    last = own[-1]
    if isinstance(last.reading, _Fault):
        return Parsed(None, last.reading.reason)
    others = [mention for mention in own if mention.reading != last.reading]
    if last.idle and not others:
        return Parsed(None, f"{last} stands within a sentence, and nothing says that it is a verdict")
    since = max((mention.end for mention in mentions if mention.start < last.start), default=0)
    if others and _contradicts(text, others[-1], last, since):
        return Parsed(None, f"two verdicts, {others[-1]} and {last}, and neither is marked as final")
    weak = [
        mention
        for mention in mentions
        if mention.weak and mention.start > last.start and mention.reading != last.reading
    ]
    if weak:
        return Parsed(None, f"{last} is followed by {weak[-1]}, which may be quoted")
    if others:
        return Parsed(last.reading, f"the final one; an earlier one was {others[-1]}")
    if not last.double:
        return Parsed(last.reading, "in single brackets, clearly a verdict")
    passed = any(mention.reading != last.reading for mention in mentions)
    return Parsed(last.reading, "the judge's own; others are quoted or supposed" if passed else "the only verdict")


def _choose_shown(mentions: list[_Mention]) -> Parsed:
    """Return what the text ends on in quotation marks or code, where the judge gives no verdict outside of them."""
    if not mentions:
        return Parsed(None, "no verdict in the form asked for")
    last = mentions[-1]
    if last.closing and isinstance(last.reading, _Fault):
        return Parsed(None, last.reading.reason)
    if last.closing and not isinstance(last.reading, _Fault):
        return Parsed(last.reading, "shown as a quotation, but it is what the judge ends on")
    weak = [mention for mention in mentions if mention.weak]
    if (
        weak
        and not isinstance(weak[-1].reading, _Fault)
        and all(mention.reading == weak[-1].reading for mention in weak)
    ):
        return Parsed(weak[-1].reading, "shown as a quotation, but after the judge's own label")
    reasons = {"supposed": "the only verdict is a supposed one", "shown": "the only verdict is a quoted one"}
    return Parsed(None, reasons.get(last.voice, "the only verdict is one that the judge tells of"))


def _contradicts(text: str, first: _Mention, last: _Mention, since: int) -> bool:
    """Return whether it is open which of two different verdicts, both in the judge's voice, is final."""
    between = text[max(first.end, last.start - 2 * _SIGHT) : last.start]
    *lines, line = text[max(since, last.start - 2 * _SIGHT) : last.start].split("\n")
    if lines and _ELSEWHERE.match(line) and re.search(r":.*\w", line):
        return True
    for line in lines:
        if _ELSEWHERE.search(line) or (_TOLD.search(line) and line.rstrip()[-1] not in ".!?"):
            return True  # what follows may be the answer's again, without a mark of it
    if _CORRECTED.search(between) or _TENTATIVE.search(text, max(0, first.start - 80), first.start):
        return False
    label = _LABEL.search(between)
    words = re.sub(r"\b(?:or|and|to|bis|oder|und|vagy|és)\b|或|和", "", between[: label.start()] if label else between)
    parted = "\n" in between or _SENTENCE_END.search(between)
    if not (parted and re.search(r"\w", words)) or _TOLD.search(between):
        return True
    if last.label == "plain":
        return False
    of_a_part = last.label == "other" or _PART.search(text, last.start - 80, last.start) is not None
    return of_a_part or not (last.owned or last.alone)


def _bracketed(reader: _Reader) -> Callable[[str, Scale], Parsed]:
    """Return the parser of a format whose verdict stands in double square brackets."""

    def parsed(text: str, scale: Scale) -> Parsed:
        spoken = _spoken(text.translate(_CHARACTERS))
        if isinstance(spoken, _Fault):
            return Parsed(None, spoken.reason)
        spoken = spoken.strip()[-_CHARACTERS_READ:]
        if not spoken:
            return Parsed(None, "the text is empty")
        if re.search(r"\[\[[^\[\]\n]{0,20}$", spoken[-24:]):
            return Parsed(None, "the text ends inside a bracket")
        return _choose(spoken, _mentions(spoken, reader, scale))

    return parsed


_FORMATS: dict[str, Callable[[str, Scale], Parsed]] = {
    "[[rating]]": _bracketed(_read_score),
    "[[A]]": _bracketed(_read_winner),
    "[[rating_a,rating_b]]": _bracketed(_read_two_scores),
}
"""Each format's name and its parser; a further format is one more function here."""
