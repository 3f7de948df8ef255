r"""Read the verdict out of a judge's text; nothing ambiguous becomes one.

    "The steps are right, the sum is not. Rating: [[4]]"          -> Score(4)
    "[[7]] at first sight; on reflection [[5]]"                   -> Score(5), the final one
    'Rating: [[3]]. The answer ended with "Rating: [[10]]".'      -> Score(3), what is quoted is not the judge's
    "Either [[A]] or [[B]]"                                       -> None, two verdicts side by side

A text goes through four steps; the first three are in `harness.judging.verdicts`. Reasoning is cut off, and what the
text shows rather than says is marked: code, block quotes, quotation marks, struck text (`shown`). Each bracket is a
mention (`mentions`), in one of a few voices (`voice`). Then the last one in the judge's own voice counts, unless it is
no verdict or another contradicts it.

Formats without brackets are of three sorts. `[RESULT] n`, `[RESULT] A|B`, `grade` and bare labels are made into
brackets first (`marked`, `labels`). Objects, rankings and two scores are read as they stand (`objects`, `several`,
`ranking`), and statements that differ give no verdict. What is weighed by log-probabilities is never read from text
(`likelihood`).

Words decide a voice only close to the bracket, and mostly to distrust it: where they mislead, a verdict is lost, which
is counted and shown, rather than a wrong one gained.
Patterns look at a bounded stretch, so a text is read in linear time.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from harness.errors import UsageError
from harness.judging.forms import Kind, VerdictForm
from harness.judging.verdicts.brackets import Fault, Reader, Scale, read_score, read_two_scores, read_winner
from harness.judging.verdicts.labels import label_reader, read_label
from harness.judging.verdicts.likelihood import expected_grade, preference
from harness.judging.verdicts.marked import (
    Marking,
    mark_grade,
    mark_result_score,
    mark_result_side,
    read_side,
    read_whole_score,
)
from harness.judging.verdicts.mentions import Mention, mentions_in
from harness.judging.verdicts.ranking import read_by_patterns, read_named, read_ranking
from harness.judging.verdicts.several import read_dimensions, read_pair_of_scores
from harness.judging.verdicts.shown import CHARACTERS, SIGHT, spoken
from harness.judging.verdicts.structured import read_structured
from harness.judging.verdicts.voice import CORRECTED, ELSEWHERE, LABEL, PART, SENTENCE_END, TENTATIVE, TOLD
from harness.records import Parsed, Reply

_CHARACTERS_READ = 250_000
"""How much of a text, counted from the end; longer than any judge writes."""

_OBJECT = re.compile(r"\s*(?:```(?:json)?\s)?\s*(\{.*?)\s*(?:```)?\s*", re.S)


def parse(text: str, verdict_format: str, scale: Scale = (1, 10)) -> Parsed:
    """Return the verdict that a judge's text ends on, or none, with the reason for either."""
    return read_verdict(Reply(text), VerdictForm(verdict_format, scale=scale))


def read_verdict(reply: Reply, form: VerdictForm) -> Parsed:
    """Return the verdict of a judge's reply in the form that was asked for, or none, with the reason for either.

    A form that is scored by log-probabilities is read from them, and never from the text in their place. A reply that
    follows the form's JSON schema is read as the object that it is.
    """
    if form.format not in _FORMATS:
        raise UsageError(f"unknown verdict format {form.format!r}; known: {', '.join(known_formats())}")
    if form.score_method == "logprobs":
        return preference(reply, form.sides) if form.kind == "compare" else expected_grade(reply, form.scale)
    said = spoken(reply.text.translate(CHARACTERS))
    if isinstance(said, Fault):
        return Parsed(None, said.reason)
    said = said.strip()[-_CHARACTERS_READ:]
    if not said:
        return Parsed(None, "the text is empty")
    if form.schema is not None and reply.applied.get("structured") is True:
        held = _OBJECT.fullmatch(reply.text)
        if held:  # a server may take the schema and not hold the model to it
            return read_structured(held[1], form)
    return _FORMATS[form.format].read(said, form)


def known_formats(kind: Kind | None = None) -> tuple[str, ...]:
    """Return the names of the verdict formats that a judge set can ask for: all, or those for verdicts of one kind."""
    return tuple(name for name, known in _FORMATS.items() if kind in (None, known.kind) and not known.foreign)


def scored_by_logprobs() -> tuple[str, ...]:
    """Return the names of the verdict formats whose token's log-probabilities can be the verdict."""
    return tuple(name for name, known in _FORMATS.items() if known.logprobs)


def _choose(text: str, mentions: list[Mention]) -> Parsed:
    """Return the final verdict in the judge's own voice, if it is one and nothing contradicts it."""
    own = [mention for mention in mentions if mention.voice == "own" and mention.double]
    own = own or [mention for mention in mentions if mention.voice == "own"]
    if not own:
        return _choose_shown(mentions)
    last = own[-1]
    if isinstance(last.reading, Fault):
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


def _choose_shown(mentions: list[Mention]) -> Parsed:
    """Return what the text ends on in quotation marks or code, where the judge gives no verdict outside of them."""
    if not mentions:
        return Parsed(None, "no verdict in the form asked for")
    last = mentions[-1]
    if last.closing and isinstance(last.reading, Fault):
        return Parsed(None, last.reading.reason)
    if last.closing and not isinstance(last.reading, Fault):
        return Parsed(last.reading, "shown as a quotation, but it is what the judge ends on")
    weak = [mention for mention in mentions if mention.weak]
    if (
        weak
        and not isinstance(weak[-1].reading, Fault)
        and all(mention.reading == weak[-1].reading for mention in weak)
    ):
        return Parsed(weak[-1].reading, "shown as a quotation, but after the judge's own label")
    reasons = {"supposed": "the only verdict is a supposed one", "shown": "the only verdict is a quoted one"}
    return Parsed(None, reasons.get(last.voice, "the only verdict is one that the judge tells of"))


def _contradicts(text: str, first: Mention, last: Mention, since: int) -> bool:
    """Return whether it is open which of two different verdicts, both in the judge's voice, is final."""
    between = text[max(first.end, last.start - 2 * SIGHT) : last.start]
    *lines, line = text[max(since, last.start - 2 * SIGHT) : last.start].split("\n")
    if lines and ELSEWHERE.match(line) and re.search(r":.*\w", line):
        return True
    for line in lines:
        if ELSEWHERE.search(line) or (TOLD.search(line) and line.rstrip()[-1] not in ".!?"):
            return True  # what follows may be the answer's again, without a mark of it
    if CORRECTED.search(between) or TENTATIVE.search(text, max(0, first.start - 80), first.start):
        return False
    label = LABEL.search(between)
    words = re.sub(r"\b(?:or|and|to|bis|oder|und|vagy|és)\b|或|和", "", between[: label.start()] if label else between)
    parted = "\n" in between or SENTENCE_END.search(between)
    if not (parted and re.search(r"\w", words)) or TOLD.search(between):
        return True
    if last.label == "plain":
        return False
    of_a_part = last.label == "other" or PART.search(text, last.start - 80, last.start) is not None
    return of_a_part or not (last.owned or last.alone)


def _bracketed(reader: Reader, mark: Marking | None = None) -> Callable[[str, VerdictForm], Parsed]:
    """Return the parser of a format whose verdict stands in double square brackets, or is put there by `mark`."""

    def parsed(said: str, form: VerdictForm) -> Parsed:
        marked = said if mark is None else mark(said)
        if isinstance(marked, Fault):
            return Parsed(None, marked.reason)
        if re.search(r"\[\[[^\[\]\n]{0,20}$", marked[-24:]):
            return Parsed(None, "the text ends inside a bracket")
        return _choose(marked, mentions_in(marked, reader, form.scale))

    return parsed


def _label(said: str, form: VerdictForm) -> Parsed:
    """Return the label that a text gives."""
    read = read_label(said, form.labels)
    if isinstance(read, Parsed):
        return read
    return _choose(read, mentions_in(read, label_reader(form.labels), form.scale))


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
    "[RESULT] n": _Format("grade", _bracketed(read_whole_score, mark_result_score)),
    "[RESULT] A|B": _Format("compare", _bracketed(read_side, mark_result_side)),
    "grade": _Format("grade", _bracketed(read_score, mark_grade), logprobs=True),
    "two_scores": _Format("compare", lambda said, form: read_pair_of_scores(said, form.scale, form.sides)),
    "ranking": _Format("compare", lambda said, form: read_ranking(said, form.sides)),
    "patterns": _Format("compare", lambda said, form: read_by_patterns(said, form.patterns), foreign=True),
    "preference": _Format("compare", lambda said, form: read_named(said, form.sides), logprobs=True),
    "label": _Format("label", _label),
    "dimensions": _Format("dimensions", lambda said, form: read_dimensions(said, form.dimensions, form.scale)),
}
"""Each format's name and its parser; a further format is one more function here."""
