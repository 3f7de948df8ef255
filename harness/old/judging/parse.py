r"""Read the verdict out of a judge's text; nothing ambiguous becomes one.

    "The steps are right, the sum is not. Rating: [[4]]"          -> Score(4)
    "Rating: [[7]]? No. Rating: [[5]]"                            -> Score(5), what is asked is not said
    'Rating: [[3]]. The answer ended with "Rating: [[10]]".'      -> Score(3), what is quoted is not the judge's
    "Either [[A]] or [[B]]"                                       -> None, two verdicts side by side

Reasoning is cut off, and what the text shows rather than says is taken out: code, block quotes, quotation marks, struck
text (`verdicts.shown`). Of what is left, each format finds its verdicts, and one rule chooses by form and place
(`verdicts.mentions`): the form that was asked for comes first, and where more than one remains, there is no verdict. No
words are read to decide whose a verdict is: a verdict that is lost is counted and shown, one that is wrong is not.

What is weighed by log-probabilities is never read from text (`likelihood`). Patterns look at a bounded stretch, so a
text is read in linear time.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.old.errors import UsageError
from harness.old.judging.forms import Kind, VerdictForm, on_step
from harness.old.judging.verdicts.brackets import Fault, Reader, read_score, read_two_scores, read_winner
from harness.old.judging.verdicts.labels import read_label
from harness.old.judging.verdicts.likelihood import bare_preference, expected_grade, preference
from harness.old.judging.verdicts.marked import read_grade, read_marked
from harness.old.judging.verdicts.mentions import DOUBTED, LONE, MOST_MENTIONS, OVER, SHORT, WITHIN, brackets_in, decide
from harness.old.judging.verdicts.objects import objects_in
from harness.old.judging.verdicts.ranking import read_by_patterns, read_named, read_ranking
from harness.old.judging.verdicts.several import read_dimensions, read_pair_of_scores
from harness.old.judging.verdicts.shown import DECORATED, PLANTED, QUOTED, REASONS, SHOWN, folded_text, said, spoken
from harness.old.judging.verdicts.structured import read_structured
from harness.old.judgments.judgment import Parsed, Score, Scores, Verdict
from harness.old.patterns import late_re
from harness.old.records import Reply

_CHARACTERS_READ = 250_000
"""How much of a text, counted from the end; longer than any judge writes."""

_PASSAGE = 30
"""How many characters beside a verdict make a passage of an answer; a label (`Final rating:`) is shorter."""
_BRACKET = late_re(r"\[\[[^\[\]\n]{1,30}\]\]|\[\w{5,7}\][ :]{0,3}\w{1,5}")
_LINE = late_re(r"\{[^{}]{1,300}\}|(?:^|(?<=[.!?] )|(?<=。))(?:[^\n.!?。]|\.\d){1,60}[.!?。]?$", re.M)
"""What an answer may hold of a verdict: a bracket, or in other formats an object or the closing clause of a line."""
_MARKS = late_re(r"^[ \t]*(?:```|~~~)[^`\n]*$|^[ \t]*>+[ \t]?|^[ \t]+|[`\"“”„«»「」]", re.M)
_QUOTED_FORM = late_re(r": \"(?:\w{1,20}: ?)?(\[\[[^\[\]\n]{1,20}\]\])\.?\"(?=\.?\s*\Z)")
"""Prompts in use show the form in quotation marks, and judges close with a copy of it."""
_MEMBER = "the only verdict, in a member of an object"
_OBJECT = late_re(r"\s*(?:```(?:json)?\s)?\s*(\{.*?)\s*(?:```)?\s*", re.S)


def read_verdict(reply: Reply, form: VerdictForm, answers: Sequence[str] = ()) -> Parsed:
    """Return the verdict of a judge's reply in the requested form, or none, with the reason for either.

    `answers` are the texts that were judged, where they are known. What repeats one together with its surroundings is
    a quotation; any other verdict that one holds yields to one that none holds. If none holds any, marks quote nobody.

    A form that is scored by log-probabilities is read from them, and never from the text in their place. A reply that
    follows the form's JSON schema is read as the object that it is.
    """
    if form.format not in _FORMATS:
        raise UsageError(f"unknown verdict format {form.format!r}; known: {', '.join(known_formats())}")
    if form.score_method == "logprobs":
        if form.kind == "compare":
            return (bare_preference if form.compatible else preference)(reply, form.sides)
        return expected_grade(reply, form.scale)
    parsed = _read_text(reply, form, answers)
    off = _off_step(parsed.verdict, form)
    return parsed if off is None else Parsed(None, off)


def _off_step(verdict: Verdict | None, form: VerdictForm) -> str | None:
    """Return why a grade is none of the scale's steps; None if it is one."""
    least, most = form.scale
    off = [value for value in _grades(verdict) if form.step is not None and not on_step(value, least, form.step)]
    return f"{off[0]:g} is not on the scale {least:g}-{most:g} in steps of {form.step:g}" if off else None


def _read_text(reply: Reply, form: VerdictForm, answers: Sequence[str]) -> Parsed:
    """Return the verdict of a reply's text, whatever the step of its scale."""
    whole = folded_text(reply.text)
    text = spoken(whole)
    if isinstance(text, Fault):
        return Parsed(None, text.reason)
    before = whole[: len(whole) - len(text)]
    text = text.strip()[-_CHARACTERS_READ:]
    if not text:
        return Parsed(None, "the text is empty")
    if form.schema is not None and reply.applied.get("structured") is True:
        given = _OBJECT.fullmatch(reply.text)
        if given:  # a server may take the schema and not hold the model to it
            return read_structured(given[1], form)
    known = [folded_text(answer) for answer in answers]
    held = _held(form, known)
    parsed = _apart(text, form, known, held)
    if before and (held or not known) and not REASONS.search(before):
        earlier = _apart(before[-_CHARACTERS_READ:], form, known, held)
        if earlier.verdict not in (None, parsed.verdict) and earlier.reason != WITHIN:
            return Parsed(None, "two verdicts, and nothing begins the reasoning that ends between them")
    return parsed


def _held(form: VerdictForm, answers: Sequence[str]) -> set[str]:
    """Return what the answers hold that may be a verdict of this form, so that a judge could quote it."""
    signs = [*form.labels, *form.dimensions] or (["{", "["] if form.format == "ranking" else [""])
    written_as = _BRACKET if form.format.startswith("[") else _LINE
    written = [found[0] for answer in answers for found in written_as.finditer(answer)]
    return {one for one in written if any(sign.casefold() in one.casefold() for sign in signs)}


def _apart(text: str, form: VerdictForm, answers: Sequence[str], held: set[str]) -> Parsed:
    """Return the verdict of a text apart from what the answers hold: from their passages always, else if it differs."""
    if not held:
        return _heard(text, form, quotes=not answers)
    joined = "\n".join(" ".join(answer.split()) for answer in answers)

    def repeated(found: re.Match[str]) -> bool:
        start, end = found.span()
        around = text[max(0, start - _PASSAGE) : end], text[start : end + _PASSAGE]
        return any(len(part) == end - start + _PASSAGE and " ".join(part.split()) in joined for part in around)

    written = _BRACKET if form.format.startswith("[") else _LINE
    if sum(found[0] in held for found in written.finditer(text)) <= MOST_MENTIONS:  # each is looked for in all answers
        text = written.sub(lambda found: QUOTED + SHOWN if found[0] in held and repeated(found) else found[0], text)
    own = written.sub(lambda found: PLANTED if found[0] in held else found[0], text)
    parsed = _heard(text, form, quotes=True)
    other = _heard(own, form, quotes=True) if own != text else parsed
    if None not in (parsed.verdict, other.verdict) and parsed.verdict != other.verdict:
        return Parsed(None, "two verdicts, and one of them stands in an answer that was judged")
    if other.verdict is None and own != text and parsed.reason in (WITHIN, OVER, _MEMBER):
        return Parsed(None, f"{parsed.reason}, and in an answer that was judged")
    return parsed if other.verdict is None else other


def _heard(text: str, form: VerdictForm, quotes: bool) -> Parsed:
    """Return the verdict of a text, which may quote an answer or not."""
    parsed = _FORMATS[form.format].read(text, form)
    if parsed.verdict is None and not quotes:  # neither marks nor a line that ends with a colon lead to a quotation
        plain = re.sub(r":[ \t]*\n", ".\n", _MARKS.sub("", text))
        parsed = _FORMATS[form.format].read(plain, form)
        quotes = parsed.reason.endswith(LONE)
    if parsed.verdict is None or not parsed.reason.endswith((DOUBTED, LONE, SHORT)):
        return parsed
    if quotes and (parsed.reason != SHORT or _is_best(parsed.verdict, form)):
        return Parsed(None, parsed.reason)
    return Parsed(parsed.verdict, WITHIN)


def _is_best(verdict: Verdict, form: VerdictForm) -> bool:
    """Return whether a verdict is one that an answer would ask for: the best grade that there is."""
    grades = _grades(verdict)  # a label or a rank has none: any may be the best
    return form.scale[1] in grades if grades else not form.format.startswith("[")


def _grades(verdict: Verdict | None) -> list[float]:
    """Return the numbers of a verdict."""
    if isinstance(verdict, Scores):
        return list(verdict.values.values())
    return [verdict.value] if isinstance(verdict, Score) else []


def known_formats(kind: Kind | None = None) -> tuple[str, ...]:
    """Return the names of the verdict formats that a judge set can ask for: all, or those for verdicts of one kind."""
    return tuple(name for name, known in _FORMATS.items() if kind in (None, known.kind) and not known.foreign)


def scored_by_logprobs() -> tuple[str, ...]:
    """Return the names of the verdict formats whose token's log-probabilities can be the verdict."""
    return tuple(name for name, known in _FORMATS.items() if known.logprobs)


def _lines_of_object(text: str) -> str:
    """Return the members of an object, a line each, where a text is nothing else."""
    held = _OBJECT.fullmatch(text)
    places = objects_in(text) if held else []
    if held and [place[:2] for place in places] == [held.span(1)]:
        return "\n".join(f"{name}: {member}" for name, member in places[0][2].items())
    return text


def _bracketed(reader: Reader) -> Callable[[str, VerdictForm], Parsed]:
    """Return the parser of a format whose verdict is in double square brackets."""

    def parsed(text: str, form: VerdictForm) -> Parsed:
        lines = _lines_of_object(text)
        plain = said(lines, lambda inside: re.fullmatch(r"\[\[[^\[\]\n]{1,30}\]\]", inside) is not None)
        if re.search(r"\[\[[^\[\]\n]{0,20}$", plain[-24:]):
            return Parsed(None, "the text ends inside a bracket")
        decided = decide(plain, brackets_in(plain, reader, form.scale), best=form.scale[1])
        if decided.reason == SHORT and decided.verdict is not None:
            bare = re.sub(rf"{DECORATED}[^{DECORATED}]*{DECORATED}", "", plain)
            once, often = ([one[2] for one in brackets_in(each, reader, form.scale)] for each in (bare, lines))
            if once.count(decided.verdict) < often.count(decided.verdict):
                return Parsed(None, "the only verdict stands within a sentence, and in a quotation")
        if decided.verdict is not None or "[[" not in text:
            member = lines != text and decided.verdict is not None and decided.reason != SHORT
            return Parsed(decided.verdict, _MEMBER) if member else decided
        closing = _QUOTED_FORM.sub(r": \1", text) if text.count("[[") == 1 else text
        if closing != text and (closed := parsed(closing, form)).reason == WITHIN:
            return Parsed(closed.verdict, SHORT)
        shown = re.search(rf"(?<!{DECORATED})\[\[", plain) is None
        return Parsed(None, "the only verdict is a quoted one") if shown else decided

    return parsed


class _Format(NamedTuple):
    """One verdict format."""

    kind: Kind
    read: Callable[[str, VerdictForm], Parsed]
    logprobs: bool = False
    """Whether the token of the verdict can be weighed instead of read."""
    foreign: bool = False
    """Whether only what another project wrote may ask for it."""


_FORMATS: dict[str, _Format] = {
    "[[rating]]": _Format("grade", _bracketed(read_score)),
    "[[A]]": _Format("compare", _bracketed(read_winner)),
    "[[rating_a,rating_b]]": _Format("compare", _bracketed(read_two_scores)),
    "[RESULT] n": _Format("grade", read_marked),
    "[RESULT] A|B": _Format("compare", read_marked),
    "grade": _Format("grade", read_grade, logprobs=True),
    "two_scores": _Format("compare", read_pair_of_scores),
    "ranking": _Format("compare", read_ranking),
    "patterns": _Format("compare", read_by_patterns, foreign=True),
    "preference": _Format("compare", read_named, logprobs=True),
    "label": _Format("label", read_label),
    "dimensions": _Format("dimensions", read_dimensions),
}
"""Each format's name and its parser; a further format is one more function here."""
