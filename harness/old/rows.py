"""How questions, answers and measurements are stored in a file: FastChat's field names, and our additional ones.

Judgments are in `harness/judgments/`.

Dictionaries stop here. Reading is lenient about fields that other tools omit or use differently (None or "unstated")
and strict about fields that a number depends on: a wrong type there is a `DataError` with file and line. Nothing that
tools of FastChat read is renamed or dropped on writing.
"""

import pathlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.old.errors import DataError
from harness.old.records import (
    Answer,
    Choice,
    MeasuredFrom,
    Measurement,
    Question,
    QuestionId,
    Reply,
    Sampling,
    Usage,
    User,
)

if TYPE_CHECKING:
    from harness.old.checks import Check

FAILED_TEXT = "$ERROR$"
"""What FastChat stores as the answer where a call failed; a missing answer here, unless `is_error` knows better."""
MOST_SCORE = 2**53
"""No score or other number is further from nought: to here whole numbers are exact, and no sum of them overflows."""
MOST_TURNS = 50
"""No conversation with a played user is longer."""
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_MEASUREMENT_FIELDS = frozenset(Measurement.__slots__)
_FINISHES = ("stop", "length", "refused", "empty", "unstated")


class _Fields:
    """A row with its place, for typed look-ups that complain with file and line."""

    def __init__(self, row: Mapping[str, Any], path: pathlib.Path, line: int) -> None:
        self.row, self.path, self.line = row, path, line

    def wrong(self, message: str) -> DataError:
        return DataError(message, path=self.path, line=self.line)

    def see(self, fits: bool, wanted: str, value: object) -> None:
        """Raise `DataError` with what is wanted and what this is, unless it fits."""
        if not fits:
            raise self.wrong(f"{wanted}, this is {shown(value)}")

    def need(self, name: str) -> Any:
        if name not in self.row:
            raise self.wrong(f"the field {name!r} is missing; add it, or remove the line")
        return self.row[name]

    def text(self, name: str) -> str:
        value = self.need(name)
        self.see(_is_text(value), f"{name} must be a text that is not empty", value)
        return str(value)

    def turn(self) -> int:
        value = self.need("turn")
        self.see(_is_whole(value) and value >= 1, "turn must be a whole number from 1", value)
        return int(value)

    def question_id(self) -> QuestionId:
        value = self.need("question_id")
        self.see(_is_whole(value) or _is_text(value), "question_id must be a whole number or a text", value)
        return question_id(value)

    def checks(self, name: str, value: Any, turns: int) -> "tuple[tuple[Check, ...], ...]":
        """Return the checks of each turn; the vocabulary is loaded only where there are some."""
        if value is None:
            return ()
        from harness.old.checks import read_checks

        try:
            return read_checks(value, turns)
        except ValueError as error:
            raise self.wrong(f"{name}: {error}") from None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def question_id(value: int | str) -> QuestionId:
    """Return the id in the form used for comparison: a text that is a plain whole number becomes the number."""
    return int(value) if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) else value


def question_from_row(row: Mapping[str, Any], path: pathlib.Path, line: int) -> Question:
    """Return the question on a line of `question.jsonl`, or raise `DataError`."""
    get = _Fields(row, path, line)
    key = get.question_id()
    # A file cannot hold one, so no answer would ever be found again by it.
    get.see(_is_whole(key) or _is_encodable(str(key)), "question_id must be a text without half characters", key)
    user = _user(get, key)
    category, turns = get.text("category"), get.need("turns") if user is None else user_turns(user)
    if not isinstance(turns, list) or not turns:
        raise get.wrong(f"turns must be a list of at least one text, this is {shown(turns)} (question {key})")
    for number, turn in enumerate(turns, 1):
        get.see(_is_text(turn), f"turn {number} of question {key} must be a text that is not empty", turn)
    reference = row.get("reference") or ()
    if isinstance(reference, str):
        reference = (reference,)
    sound = isinstance(reference, list | tuple) and all(isinstance(text, str) for text in reference)
    get.see(sound, f"reference of question {key} must be a list of texts", reference)
    checks = get.checks(f"question {key}", row.get("checks"), len(turns))
    note, history = _note(get, key, len(turns)), _history(get, key, len(turns))
    if user is not None and (checks or history):
        raise get.wrong(f"question {key} has a user: put checks into its needs, and leave out history")
    read = {"question_id", "category", "turns", "reference", "checks", "history", "user", *(["note"] if note else [])}
    extra = {k: v for k, v in row.items() if k not in read}
    return Question(key, category, tuple(turns), tuple(reference), extra, checks, note, history, user)


def user_turns(user: User) -> list[str]:
    """Return the text that replaces the turns of a conversation with a simulated user."""
    return [user.goal if user.opening is None else user.opening]


def _user(get: _Fields, key: QuestionId) -> User | None:
    """Return the user that a chat model simulates, or raise `DataError`; the first of `turns`, if any, is the
    opening."""
    value = get.row.get("user")
    if value is None:
        return None
    name = f"user of question {key}"
    known = ("persona", "goal", "done", "knows", "needs", "most_turns")
    sound = isinstance(value, dict) and not set(value) - set(known)
    get.see(sound, f"{name} must be an object of {', '.join(known)}", value)
    for field in known[:3]:
        get.see(_is_text(value.get(field)), f"{name}: {field} must be a text that is not empty", value.get(field))
    knows, most, turns = value.get("knows", []), value.get("most_turns", 8), get.row.get("turns") or []
    get.see(_are_texts(knows), f"{name}: knows must be a list of texts", knows)
    few = _is_whole(most) and 1 <= most <= MOST_TURNS
    get.see(few, f"{name}: most_turns must be a whole number from 1 to {MOST_TURNS}", most)
    sound = _are_texts(turns) and len(turns) <= 1
    get.see(sound, f"turns of question {key} can only be the user's first message", turns)
    needs = [value["needs"]] if value.get("needs") is not None else None
    checks = get.checks(f"{name}, needs", needs, 1)
    opening = turns[0] if turns else None
    told = value["persona"], value["goal"], value["done"]
    return User(*told, tuple(knows), opening, checks[0] if checks else (), most)


def _note(get: _Fields, key: QuestionId, turns: int) -> tuple[str | None, ...]:
    """Return a question's notes for judges; a `note` of another shape is another tool's, and means something else."""
    value = get.row.get("note")
    if not isinstance(value, list):
        return ()
    sound = len(value) == turns and all(note is None or _is_text(note) for note in value)
    get.see(sound, f"note of question {key} must be a list of {turns} texts or nulls", value)
    return tuple(value)


def _history(get: _Fields, key: QuestionId, turns: int) -> tuple[str | None, ...]:
    """Return the replies that a question supplies; strict, since they would otherwise be requested from a model."""
    value = get.row.get("history")
    if value is None:
        return ()
    name = f"history of question {key}"
    sound = isinstance(value, list) and len(value) == turns
    get.see(sound, f"{name} must be a list of {turns} replies or nulls, one for each turn", value)
    for number, reply in enumerate(value, 1):
        sound = reply is None or _is_text(reply)
        get.see(sound, f"{name}, turn {number} must be a text that is not empty, or null", reply)
    if None not in value:
        raise get.wrong(f"{name} gives every turn; put null where the model should reply")
    return tuple(value) if any(value) else ()


def answer_from_row(row: Mapping[str, Any], path: pathlib.Path, line: int, *, model: str) -> Answer | None:
    """Return the answer on a line of an answer file; None where the row holds FastChat's error text instead of one."""
    get = _Fields(row, path, line)
    key, choices = get.question_id(), answer_choices(row, path, line)
    read = tuple(_choice(number, choice) for number, choice in enumerate(choices))
    if not is_good_answer(row):
        return None
    made = _table(row.get("made_from"))
    return Answer(
        question_id=key,
        model=model,
        choices=read,
        asked=sampling_from_row(row.get("sampling")),
        system=_text(row.get("system_prompt")),
        question_content=_text(made.get("question")),
        parameters_content=_text(made.get("parameters")),
        history_content=_text(made.get("history")),
        user=_table(row.get("user")),
        answer_id=_text(row.get("answer_id")),
        tstamp=_number(row.get("tstamp")),
    )


def answer_choices(row: Mapping[str, Any], path: pathlib.Path, line: int) -> list[Any]:
    """Return the choices of an answer's row, as they stand.

    Raises:
        DataError: there is none, or one has no texts.
    """
    get = _Fields(row, path, line)
    key, choices = get.question_id(), get.need("choices")
    filled = isinstance(choices, list) and bool(choices)
    get.see(filled, f"choices of question {key} must be a list that is not empty", choices)
    for number, choice in enumerate(choices):
        turns = choice.get("turns") if isinstance(choice, dict) else None
        get.see(
            bool(turns) and _all_str(turns),
            f"choices[{number}].turns must be a list of texts, one for each turn",
            turns,
        )
    return list(choices)


def is_good_answer(row: Mapping[str, Any]) -> bool:
    """Return whether an answer row holds an answer, not FastChat's error text."""
    return not any(is_error(text, choice) for choice in row["choices"] for text in choice["turns"])


def is_error(text: Any, beside: Mapping[str, Any]) -> bool:
    """Return whether a text is FastChat's error text, and not a model's reply.

    We store only replies, each with its finish reason in `details`; FastChat has no such field.
    """
    if text != FAILED_TEXT:
        return False
    details = beside.get("details")
    return not (isinstance(details, list) and any("finish_reason" in _table(reply) for reply in details))


def _choice(number: int, choice: dict[str, Any]) -> Choice:
    turns: Any = choice["turns"]
    details: Any = choice.get("details") or []
    details = details if isinstance(details, list) and len(details) == len(turns) else [{}] * len(turns)
    index = choice.get("index", number)
    history: Any = choice.get("history")
    # Another tool's `user` has no details.
    said: Any = choice.get("user")
    about: Any = choice.get("user_details")
    played = _all_str(said) and isinstance(about, list) and len(said) == len(about)
    return Choice(
        index if isinstance(index, int) else number,
        _replies(turns, details),
        tuple(history) if _all_str(history) else (),
        _replies(said, about) if played else (),
    )


def _all_str(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _replies(texts: list[str], details: list[Any]) -> tuple[Reply, ...]:
    return tuple(reply_from_row(text, _table(more)) for text, more in zip(texts, details, strict=True))


def reply_from_row(text: str, details: Mapping[str, Any]) -> Reply:
    """Return a reply from its text and the details stored beside it."""
    if not details:  # as other tools write it
        return Reply(text)
    finish = details.get("finish_reason")
    usage = _table(details.get("usage"))
    return Reply(
        text=text,
        reasoning=_text(details.get("reasoning")),
        finish_reason=finish if finish in _FINISHES else "unstated",
        usage=Usage(**{name: _count(usage.get(name)) for name in Usage.__slots__}),
        seconds=_number(details.get("seconds")),
        model=_text(details.get("provider_model")),
        applied=_table(details.get("sampling_applied")),
        note=_text(details.get("note")),
        from_cache=details.get("from_cache") is True,
        batch=details.get("batch") is True,
        given=_text(details.get("given")),
    )


def details_in(row: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield what is stored of each reply of an answer's row, and its text; whatever is of another form is left out."""
    for choice in map(_table, _list(row.get("choices"))):
        turns, details = _list(choice.get("turns")), _list(choice.get("details"))
        for about, text in zip(details if len(details) == len(turns) else [{}] * len(turns), turns, strict=True):
            if isinstance(text, str):
                yield _table(about), text


def reply_details(reply: Reply) -> dict[str, Any]:
    """Return what is stored of a reply in addition to its text; the inverse of `reply_from_row`."""
    usage = {name: getattr(reply.usage, name) for name in Usage.__slots__}
    row: dict[str, Any] = {
        "finish_reason": reply.finish_reason,
        "usage": {name: count for name, count in usage.items() if count is not None},
        "seconds": None if reply.seconds is None else round(reply.seconds, 3),
        "provider_model": reply.model,
        "sampling_applied": dict(reply.applied),
    }
    # An empty text is stated, what is None or False is not.
    rare = {name: getattr(reply, name) for name in ("reasoning", "note", "from_cache", "batch", "given")}
    return row | {name: value for name, value in rare.items() if value not in (None, False)}


def sampling_from_row(value: Any) -> Sampling:
    """Return the requested sampling in a row."""
    stated = _table(value)
    if not stated:
        return Sampling()
    sampling = Sampling(**{name: stated.get(name) for name in Sampling.__slots__})
    return replace(sampling, stop=tuple(sampling.stop)) if isinstance(sampling.stop, list) else sampling


def _table(value: Any) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty one: others may use the name of a field of ours."""
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    return (
        value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST_SCORE else None
    )


def _count(value: Any) -> int | None:
    return value if _is_whole(value) and 0 <= value < 2**63 else None


def answer_to_row(answer: Answer) -> dict[str, Any]:
    """Return the row of an answer: FastChat's fields, then ours."""
    history = {} if answer.history_content is None else {"history": answer.history_content}
    return {
        "question_id": answer.question_id,
        "answer_id": answer.answer_id,
        "model_id": answer.model,
        "choices": [_choice_row(choice) for choice in answer.choices],
        "tstamp": answer.tstamp,
        "system_prompt": answer.system,
        "sampling": answer.asked.stated(),
        "made_from": {"question": answer.question_content, "parameters": answer.parameters_content, **history},
        **({"user": dict(answer.user)} if answer.user else {}),
    }


def _choice_row(choice: Choice) -> dict[str, Any]:
    details = [reply_details(reply) for reply in choice.replies]
    row = {"index": choice.index, "turns": list(choice.turns), "details": details}
    row |= {"history": list(choice.history)} if choice.history else {}
    if choice.user:
        row["user"] = [reply.text for reply in choice.user]
        row["user_details"] = [reply_details(reply) for reply in choice.user]
    return row


def measurement_to_row(measured: Measurement) -> dict[str, Any]:
    """Return the row of a measurement of an answer's turn."""
    made = measured.made_from
    return {
        "question_id": measured.question_id,
        "turn": measured.turn,
        "model": measured.model,
        "choice": measured.choice,
        "metric": measured.metric,
        "value": measured.value,
        **({"values": dict(measured.values)} if measured.values else {}),
        "variant": measured.variant,
        "tokenizer": measured.tokenizer,
        "library": measured.library,
        "reference": measured.reference,
        **({} if measured.note is None else {"note": measured.note}),
        **({} if made is None else {"made_from": {name: getattr(made, name) for name in MeasuredFrom.__slots__}}),
        **measured.extra,
        "tstamp": measured.tstamp,
    }


def measurement_from_row(row: Mapping[str, Any], path: pathlib.Path, line: int) -> Measurement:
    """Return the measurement on a line of a file of `model_metric/`, or raise `DataError`."""
    get = _Fields(row, path, line)
    value, values, choice = get.need("value"), _table(row.get("values")), row.get("choice")
    for name, number in {"value": value, **values}.items():
        get.see(number is None or _number(number) is not None, f"{name} must be a number or null", number)
    made = _table(row.get("made_from"))
    hashes = {name: _text(made.get(name)) for name in MeasuredFrom.__slots__}
    return Measurement(
        question_id=get.question_id(),
        turn=get.turn(),
        model=get.text("model"),
        metric=get.text("metric"),
        value=value,
        values=values,
        variant=_text(row.get("variant")) or "default",
        tokenizer=_text(row.get("tokenizer")),
        library=_text(row.get("library")),
        reference=_text(row.get("reference")),
        choice=choice if isinstance(choice, int) else 0,
        note=_text(row.get("note")),
        made_from=MeasuredFrom(**hashes) if made else None,  # type: ignore[arg-type]  # one that lacks a hash equals none
        extra={name: more for name, more in row.items() if name not in _MEASUREMENT_FIELDS},
        tstamp=_number(row.get("tstamp")),
    )


def shown(value: object) -> str:
    """Return a value as an error message shows it: short, and with its type where that is the fault."""
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."
