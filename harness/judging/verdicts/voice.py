"""Whose voice a bracket stands in, by the words around it: the judge's own, told of another's, supposed, or compared.

    "My final rating: [[7]]" -> own      "the answer asks for [[10]]" -> told      "if it were right, [[9]]" -> supposed

`before` is the sentence up to a bracket, `lead` the same without a label such as `Final rating:`.
"""

import re
from typing import Literal, TypeAlias

Voice: TypeAlias = Literal["own", "shown", "told", "supposed", "compared"]

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
LABEL = re.compile(
    rf"(?:{_MODIFIER}){{0,5}}(?<![a-z'])(?:{_WORD})(?P<scope> (?:for|of|on) (?!\W*$)[^:.\n]{{1,60}}(?=[:=]| is))?"
    r"(?:\s*(?:would be|is|are|of|as|at|ist|lautet|为|是|は)\b)*[^\w]{0,8}$",
    re.I,
)
COLON = re.compile(r"\w[^:|\n]{0,60}[:=|]\W{0,8}$")
SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!z\. B)(?<!\bvs)[.!?][\"”’')\]]*\s|[。！？][\"”」』]*")
_CLAUSE_END = re.compile(
    r"[;,、—–(]| - |\b(?:so|but|hence|thus|therefore|however|yet|while|because|which"
    r"|and (?=deserves|merits|earns|gets|receives|is|I|my|so|thus))\b",
    re.I,
)
TOLD = re.compile(
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
CORRECTED = re.compile(
    r"\b(?:reflection|actually|wait|correct(?:ion|ed|ing)?|revis\w+|instead|rather|reconsider\w*|adjust\w*"
    r"|chang(?:e|ed|ing)|lower(?:ed|ing)?"
    r"|rais(?:e|ed|ing)|final(?:ly)?|overall|updat\w+|after all|sorry|mistake|second thoughts?|on balance"
    r"|in total|settle\w*|no\b[,;:.]"
    r"|initial(?:ly)?|at first|first sight|first thought|doch|korri\w+|endgültig\w*|insgesamt|végül|végső"
    r"|javít\w*|mégis|összes\w+)\b"
    r"|[→⇒]|[-=]>|更正|修正|最终|综合|总体|应为|改为|重新|最終|総合|訂正",
    re.I,
)
GIVING = re.compile(
    r"\b(?:gets?|got|gives?|gave|giving|rate[ds]?|scor(?:es|ed)|receives?|award|assign|kap|adok|gebe|bekommt"
    r"|erhält)\b|给|得",
    re.I,
)
TENTATIVE = re.compile(
    r"\b(?:initial(?:ly)?|at first|first (?:sight|thought|impression)|zunächst|először)\b|最初|起初", re.I
)
ELSEWHERE = re.compile(
    r"^\W*(?:user|human|system|assistant(?: [ab12])?|model|answer|response)\b[^\n:.]{0,20}:"
    r"|^(?!.*\b(?:final|my)\b).*\b(?:answer|response|reply|text|output|prompt|message|conversation)\b.*:\s*$",
    re.I,
)
PART = re.compile(r"\b(?:turn|part|first|second|(?:assistant|answer|response|question) [ab12])\b[^.\n]*$", re.I)
OWN = re.compile(
    r"\b(?:I|I'd|my|we|our|verdict|rating|judge?ment|decision|as follows|therefore|thus|hence|deserves?|merits?"
    r"|earns?|final|overall"
    r"|ich|mein\w*|daher|ezért|értékelés\w*)\b|我|私|因此|所以|したがって|結論|判断|評価|评分|结论",
    re.I,
)


def voice_of(intro: str, lead: str, after: str, label: str, owned: bool) -> Voice:
    """Return whose voice the words around a bracket make it."""
    if _SUPPOSED_AFTER.match(after):
        return "supposed"
    if label == "plain" and not intro:
        return "own"
    said = f"{intro} {lead}" if intro else lead
    clauses = [clause for clause in _CLAUSE_END.split(said) if clause.strip()]
    clause = clauses[-1] if clauses else ""
    if TOLD.search(clause) or _FORM.search(said) or _AGAINST.search(clause) or _ECHO.match(after):
        return "told"
    if _ASKED.match(after):
        return "supposed"
    modal = _MODAL.search(clause) and (not owned or _IF.search(said + after))
    if (modal or _IF.match(said) or _IF_CJK.search(said)) and not _CONCEDED.match(said):
        return "supposed"
    return "compared" if _COMPARED.search(clause) else "own"
