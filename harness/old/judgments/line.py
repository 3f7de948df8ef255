"""What a line of a judgment or vote file means: the only place that knows its fields.

    {"question_id": 81, "model": "x", "judge": ["gpt-4", "single-v1"], "score": 8, "turn": 1}
    -> x, turn 1, score, by gpt-4        asked 81        8.0

A line is decoded with types, in which the fields that numbers depend on are strict, and those that others may use
otherwise are anything. The texts, nearly all of a file, are stepped over and never made into objects. Of what lines
share (`CASE`, `ASKED`) the meaning is worked out once for each distinct value, not for each line.
"""

import math
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from harness.old.judgments.case import CONFIDENCE, SCORE, SHARE, TOTAL, WIN, Asked, Case, Numbers
from harness.old.records import HASH_DIGITS, UNSTATED, Form, Games, Scale, Source
from harness.old.rows import MOST_SCORE, question_id, shown

FAILED_SCORE = -1
FAILED_WINNER = "error"
"""What FastChat stores where a judgment gave no score, or no winner."""
_NO_HASH = "0" * HASH_DIGITS


class _Object(msgspec.Struct, frozen=True):
    """A JSON object in a field of which nothing inside counts."""


class _MadeFrom(msgspec.Struct, gc=False):
    question: Any = None
    conversation: Any = None


_Plain: TypeAlias = str | int | float | bool | None
_Loose: TypeAlias = tuple[Any, ...] | _Object | _Plain
"""Anything; an array becomes a tuple, which can be a key."""
_EXACT = msgspec.Meta(ge=-MOST_SCORE, le=MOST_SCORE)
_Score: TypeAlias = Annotated[int, _EXACT] | Annotated[float, _EXACT]
_FIELDS: Mapping[str, Any] = {
    "model": str,
    "model_1": str,
    "model_2": str,
    "model_a": str,
    "model_b": str,
    "turn": int,
    "judge_set": _Loose,
    "judge_set_version": _Loose,
    "criterion": _Loose,
    "sample": _Loose,
    "choice": _Loose,
    "score_method": _Loose,
    "scale": _Loose,
    "judge": tuple[str, ...] | str,
    "question_id": int | str,
    "made_from": _MadeFrom | tuple[Any, ...] | _Plain,
    "g1_winner": str,
    "g2_winner": str,
    "winner": str,
    "shown_first": _Loose,
    "g1_preference": _Loose,
    "g2_preference": _Loose,
    "score": _Score | None,
    "label": str | None,
    "scores": Any,
    "share": Any,
    "confidence": Any,
    "sampling": msgspec.Raw,
}
"""In the order in which `CASE`, `ASKED` and `WINNERS` cut them."""
NONE = msgspec.Raw()
"""The sampling of a row that does not state it."""
Line = msgspec.defstruct(
    "Line",
    [(name, of, NONE) if of is msgspec.Raw else (name, of | UnsetType if of is not Any else of, UNSET)
     for name, of in _FIELDS.items()],
    kw_only=True,
    gc=False,
)  # fmt: skip
"""The fields of a judgment or vote in a line, without the texts; `UNSET` for missing ones."""
decode_lines: Callable[[bytes | memoryview], list[Any]] = msgspec.json.Decoder(Line).decode_lines

_PLACE = {name: at for at, name in enumerate(_FIELDS)}
CASE = itemgetter(slice(_PLACE["model"], _PLACE["judge"] + 1))
"""Of a line's fields (`fields_of`), those that a `Case` is made of; and likewise."""
ASKED = itemgetter(slice(_PLACE["judge"], _PLACE["question_id"] + 1))
WINNERS = itemgetter(slice(_PLACE["g1_winner"], _PLACE["g2_preference"] + 1))
SCORE_OF, LABEL, SCORES = (itemgetter(_PLACE[name]) for name in ("score", "label", "scores"))
SAMPLING, MADE_FROM = itemgetter(_PLACE["sampling"]), itemgetter(_PLACE["made_from"])
fields_of: Callable[[Any], tuple[Any, ...]] = msgspec.structs.astuple
"""Return all fields of a line; to cut a tuple takes half the time of getting attributes by name."""

_WINNERS: Mapping[Any, float | None] = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5, FAILED_WINNER: None}
GOOD_WINNERS = _WINNERS.keys() - {FAILED_WINNER}
_VOTES: Mapping[Any, float | None] = {"model_a": 1.0, "model_b": 0.0, FAILED_WINNER: None}
_NEEDED = {
    "question_id": "must be a whole number or a text",
    "turn": "must be a whole number from 1",
    "judge": 'must be ["model", "template"] or a text',
    "score": "must be a number, -1 if there is none",
    "label": "must be a text or null",
    "scores": "must be numbers by dimension",
    "winner": f"must be model_a, model_b, {FAILED_WINNER} or begin with tie",
    **dict.fromkeys(("model", "model_1", "model_2", "model_a", "model_b"), "must be a text that is not empty"),
    **dict.fromkeys(("g1_winner", "g2_winner"), f"must be one of {', '.join(_WINNERS)}"),
}


_TELLING = {"model", "score", "model_1", "model_2", "g1_winner", "g2_winner", "model_a", "model_b", "winner"}


def line_of(row: Mapping[str, Any]) -> Any:
    """Return the line of a row that is an object already; texts with half a character are read this way alone."""
    known = {name: value for name, value in row.items() if name in _FIELDS and name != "sampling"}
    line: Any = msgspec.convert(known, Line)
    if isinstance(row.get("sampling"), dict):
        line.sampling = msgspec.Raw(msgspec.json.encode(row["sampling"]))
    return line


class WrongError(ValueError):
    """A line is invalid; the message names the field, and what it must be."""


def wrong(name: str, value: object) -> WrongError:
    """Return the error of a field that is missing or has an invalid value."""
    if value is UNSET:
        return WrongError(f"the field {name!r} is missing; add it, or remove the line")
    needed = _NEEDED[name]
    whole = isinstance(value, int) and not isinstance(value, bool)
    if name == "score" and (whole or (isinstance(value, float) and math.isfinite(value))):
        needed = f"must be a number from -{MOST_SCORE} to {MOST_SCORE}, -1 where there is none"
    return WrongError(f"{name} {needed}, this is {shown(value)}")


def wrong_of(row: Mapping[str, Any], error: Exception) -> WrongError:
    """Return the error of a row that cannot be read, given its JSON."""
    if row.keys().isdisjoint(_TELLING):
        what = "a grade (model, score), a pair (model_1, model_2, g1_winner, g2_winner)"
        return WrongError(f"neither {what} nor a vote (model_a, model_b, winner)")
    if "winner" in row and "model_1" in row and "g1_winner" not in row:
        return WrongError("a row with winner is a vote, whose models are model_a and model_b, not model_1 and model_2")
    if isinstance(error, WrongError):
        return error
    for name in _NEEDED.keys() & row.keys():
        try:
            msgspec.convert(row[name], _FIELDS[name])
        except (msgspec.ValidationError, OverflowError, UnicodeError):
            return wrong(name, row[name])
    if isinstance(error, UnicodeError):
        return WrongError("a name or id contains an unpaired surrogate; write the line again as UTF-8")
    return WrongError(f"cannot be read ({error})")


def case_of(fields: tuple[Any, ...], sampling: bytes) -> Case:
    """Return what `CASE` and `SAMPLING` of a line mean; its metric is empty where the verdict names it.

    Raises:
        WrongError: a field is missing, or not what it must be.
    """
    model, model_1, model_2, model_a, model_b, turn, judge_set, version = fields[:8]
    criterion, sample, choice, method, scale, judge = fields[8:]
    if turn is UNSET or turn < 1:
        raise wrong("turn", turn)
    judge = _judge(judge)[0]
    if model_a is not UNSET:
        models = _names(model_a=model_a, model_b=model_b)
        return Case(models, turn, WIN, Source(judge, voter=True, form="pair"))
    paired = not (model_1 is UNSET and model_2 is UNSET)
    models = _names(model_1=model_1, model_2=model_2) if paired else _names(model=model)
    source = Source(
        judge,
        judge_set=str(judge_set) if judge_set and judge_set is not UNSET else UNSTATED,
        version=str(version) if judge_set and judge_set is not UNSET and version not in {UNSET, None} else "",
        sampling=_sampling(sampling),
        sample=sample if isinstance(sample, int) else 0,
        choice=str(choice or 0) if choice is not UNSET else "0",
        method=method if isinstance(method, str) and method else "text",
        form="pair" if paired else "grade",
        scale=None if paired else scale_of(scale),
    )
    named = isinstance(criterion, str) and criterion
    return Case(models, turn, sys.intern(str(criterion)) if named else WIN if paired else SCORE, source)


def asked_of(judge: Any, key: Any, content: str | None = None) -> Asked:
    """Return what `ASKED` of a line means, with the hash of its question; or raise `WrongError`."""
    if key is UNSET or (isinstance(key, str) and not key.strip()):
        raise wrong("question_id", key)
    return Asked(question_id(key), _judge(judge)[1], content)


def questions_of(made_from: Sequence[Any]) -> list[str | None]:
    """Return for each line the hash of its question; other tools may use the field `made_from` for something else."""
    said = [own.question if type(own) is _MadeFrom else None for own in made_from]
    return [own if isinstance(own, str) else None for own in said]


def conversations_of(made_from: Sequence[Any]) -> "array[int]":
    """Return for each line the hash of the conversation that was judged, as a number below 2**64; 0 for none."""
    return _numbers([own.conversation if type(own) is _MadeFrom else None for own in made_from])


def _numbers(hashes: Sequence[Any]) -> "array[int]":
    """Return the hashes as numbers, all of them by one conversion: there are a million."""
    digits = [own if isinstance(own, str) and len(own) == HASH_DIGITS else _NO_HASH for own in hashes]
    try:
        numbers = array("Q", bytes.fromhex("".join(digits)))
        if len(numbers) == len(digits):  # blanks between digits are passed over
            if sys.byteorder == "little":
                numbers.byteswap()
            return numbers
    except ValueError:
        pass
    if len(hashes) < 2:
        return array("Q", [0] * len(hashes))
    half = len(hashes) // 2
    return _numbers(hashes[:half]) + _numbers(hashes[half:])


def form_of(label: Any, scores: Any) -> Form:
    """Return the form of a judgment of one answer, by its fields `label` and `scores`."""
    if label is not UNSET:
        return "label"
    return "dimensions" if scores is None or isinstance(scores, dict) else "grade"


def score_of(score: Any) -> float:
    """Return a grade, NaN for none."""
    if score is UNSET:
        raise wrong("score", score)
    if score is None or score == FAILED_SCORE:
        return math.nan
    if not -MOST_SCORE <= score <= MOST_SCORE:
        raise wrong("score", score)
    return float(score)


def numbers_of(form: Form, line: Any) -> Numbers:
    """Return the numbers of a label or of several dimensions by metric; empty if there is no verdict."""
    if form == "label":
        if line.label is UNSET or line.label is None:
            return {}
        if not line.label.strip():
            raise wrong("label", line.label)
        more = {SHARE: share_of(line.share), CONFIDENCE: share_of(line.confidence)}
        return {line.label: 1.0, **{name: value for name, value in more.items() if value is not None}}
    if line.scores is UNSET or line.scores is None:
        return {}
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in line.scores.values()):
        raise wrong("scores", line.scores)
    total = {} if line.score is UNSET or line.score is None else {TOTAL: score_of(line.score)}
    return {name: score_of(value) for name, value in line.scores.items()} | total


def share_of(value: object) -> float | None:
    """Return a number from 0 to 1; None for anything else."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if good and isinstance(value, int | float) else None


def games_of(first: Any, second: Any, _vote: Any, shown_first: Any, preference_1: Any, preference_2: Any) -> Games:
    """Return the value of each game for the row's first model, from `WINNERS` of a line.

    A pair that was judged in one order has one game, and states which model was shown first. A preference counts if
    it agrees with the winner that the row names.
    """
    games = {"g1_winner": (first, preference_1), "g2_winner": (second, preference_2)}
    if shown_first is not UNSET and not first is second is UNSET:
        games = {name: game for name, game in games.items() if game[0] is not UNSET}
    for name, (won, _) in games.items():
        if won not in _WINNERS:
            raise wrong(name, won)
    return tuple(_weighed(_WINNERS[won], share_of(preference)) for won, preference in games.values())


def vote_of(_first: Any, _second: Any, vote: Any, *_rest: Any) -> Games:
    """Return the value of a vote for the row's first model; every winner that begins with `tie` is a tie."""
    if vote is UNSET or not (vote.startswith("tie") or vote in _VOTES):
        raise wrong("winner", vote)
    return (_VOTES.get(vote, 0.5),)


def _weighed(won: float | None, preference: float | None) -> float | None:
    """Return the preference if it agrees with the winner."""
    fits = won is not None and preference is not None and (preference > 0.5) - (preference < 0.5) == 2 * won - 1
    return preference if fits else won


def scale_of(value: Any) -> Scale | None:
    """Return the scale that a row states; None where it states none, or others use the name for something else."""
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(map(_is_number, value)):
        return None
    least, greatest = map(float, value)
    return (least, greatest) if math.isfinite(least) and least < greatest and math.isfinite(greatest) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _names(**names: Any) -> tuple[str, ...]:
    for name, value in names.items():
        if value is UNSET or not value.strip():
            raise wrong(name, value)
    return tuple(map(sys.intern, names.values()))


def _judge(value: Any) -> tuple[str, str | None]:
    """Return the judge and the template."""
    name, template = (value, None) if isinstance(value, str) else (*value, None)[:2] if value else (None, None)
    if not name:
        raise wrong("judge", value)
    return str(name), template


def sampling_text(sampling: Mapping[str, Any] | None) -> str:
    """Return the requested sampling in the form of `Source`; 1 and 1.0 are the same."""
    if sampling is None:
        return "unstated"
    plain = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in sampling.items()}
    return " ".join(f"{name}={value}" for name, value in sorted(plain.items())) or "default"


@cache
def _sampling(raw: bytes) -> str:
    stated = msgspec.json.decode(raw) if raw else None
    return sampling_text(stated if isinstance(stated, dict) else None)
