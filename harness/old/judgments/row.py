"""One row of a judgment or vote file with its texts, for whoever shows, resumes, counts or exports it.

What its numbers mean is in `line`, as for a whole file.
"""

import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from harness.old.errors import DataError
from harness.old.jsonl import read_rows
from harness.old.judgments import line as lines
from harness.old.judgments.case import SCORE, WIN, Case, Numbers
from harness.old.judgments.judgment import MadeFrom
from harness.old.judgments.line import CASE, FAILED_SCORE, GOOD_WINNERS, WINNERS, WrongError
from harness.old.records import Games, QuestionId, Source
from harness.old.rows import is_error

_PREFIXES = ("", "g1_", "g2_")
_OTHERS = {"model_2", "model_a", "label", "scores"}
"""Fields beside which a score is not all of the verdict."""
_Cases: TypeAlias = dict[tuple[Any, bytes], Case]
"""What rows share, by the fields that say it."""


class Words(NamedTuple):
    """What a judge was sent and said, in one game or about one answer."""

    prefix: str
    """Of its fields: empty, `g1_` or `g2_`."""
    prompt: str | None
    judgment: str | None
    details: Mapping[str, Any]
    """Tokens, seconds, why it was read so, earlier attempts; empty in rows of other tools."""


class JudgedRow(NamedTuple):
    """A judgment or a vote."""

    line: int
    question_id: QuestionId
    turn: int
    models: tuple[str, ...]
    criterion: str | None
    source: Source
    template: str | None
    content: str | None
    """Hash of the question that was judged; None in rows of other tools."""
    numbers: Numbers
    """By metric, of a judgment of one answer; empty if it gives no verdict."""
    games: Games
    """Of a pair, the value of each game for the row's first model."""
    shown_first: str | None
    """Of a pair in one order, the model that was shown first."""
    made_from: MadeFrom | None
    words: tuple[Words, ...]
    """Of a judgment of one answer one, of a pair one for each game; none of a vote."""
    system_prompt: str | None
    sampling: Mapping[str, Any]
    """The requested sampling, by parameter; empty if the row does not state it."""
    winner: str | None
    """Of a vote, as it is written: `tie (bothbad)`."""
    good: bool
    """Whether the row holds a judge's words, not FastChat's error text."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the row; both games of a pair, in either order, have the same."""
        choice = int(self.source.choice) if self.source.choice.isdigit() else self.source.choice
        models = tuple(sorted(self.models))
        return (self.question_id, self.turn, models, self.criterion, self.source.sample, choice)

    @property
    def unparsed(self) -> bool:
        """Whether the judgment gave no verdict."""
        if len(self.models) == 1:
            return not any(value is not None for value in self.numbers.values())
        return not self.games or None in self.games

    @property
    def without_verdict(self) -> tuple[Words, ...]:
        """What the judge was sent and said where it gave no verdict: of a pair, in which game."""
        if len(self.models) == 1:
            return self.words if self.unparsed else ()
        return tuple(words for words, game in zip(self.words, self.games, strict=False) if game is None)


def judged_rows(path: pathlib.Path) -> Iterator[JudgedRow]:
    """Yield the rows of a file.

    Raises:
        DataError: the file cannot be read, or a line is not what it must be.
    """
    cases: _Cases = {}
    for number, row in read_rows(path):
        yield judged_row(row, path, number, cases)


def rows_without_verdict(path: pathlib.Path) -> Iterator[JudgedRow]:
    """Yield those rows of a file that give no verdict; the others, nearly all, are hardly looked at."""
    cases: _Cases = {}
    for number, row in read_rows(path):
        if not _is_good(row) and (judged := judged_row(row, path, number, cases)).unparsed:
            yield judged


def _is_good(row: Mapping[str, Any]) -> bool:
    """Return whether it is seen at a glance that a row gives a verdict: who won both games, or a grade."""
    if "model_1" in row and "model_a" not in row:
        return {row.get("g1_winner"), row.get("g2_winner")} <= GOOD_WINNERS
    score = row.get("score")
    return isinstance(score, int | float) and score != FAILED_SCORE and row.keys().isdisjoint(_OTHERS)


def judged_row(row: Mapping[str, Any], path: pathlib.Path, number: int, cases: _Cases | None = None) -> JudgedRow:
    """Return what a line's JSON object means, or raise `DataError`; rows of one file share its `cases`."""
    try:
        return _judged(row, number, {} if cases is None else cases)
    except (WrongError, msgspec.MsgspecError, UnicodeError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(str(lines.wrong_of(row, error)), path=path, line=number) from None


def row_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what identifies a row that was read before; see `JudgedRow.key`."""
    return _judged(row, 0, {}).key


def is_good_judgment(row: Mapping[str, Any]) -> bool:
    """Return whether a row that was read before holds a judge's words; see `JudgedRow.good`."""
    return _judged(row, 0, {}).good


def _judged(row: Mapping[str, Any], number: int, cases: _Cases) -> JudgedRow:
    line = lines.line_of(row)
    fields = lines.fields_of(line)
    about = CASE(fields), bytes(line.sampling)
    case = cases.get(about) or cases.setdefault(about, lines.case_of(*about))
    asked = lines.asked_of(line.judge, line.question_id, lines.questions_of([line.made_from])[0])
    games: Games = ()
    numbers: Numbers = {}
    source = case.source
    if source.form == "pair":
        games = (lines.vote_of if source.voter else lines.games_of)(*WINNERS(fields))
    else:
        form = lines.form_of(line.label, line.scores)
        source = source if source.form == form else source._replace(form=form)
        if source.form == "grade":
            score = lines.score_of(line.score)
            numbers = {} if score != score else {case.metric: score}
        else:
            numbers = lines.numbers_of(source.form, line)
    return JudgedRow(
        number,
        asked.question_id,
        case.turn,
        case.models,
        None if case.metric in {SCORE, WIN} else case.metric,
        source,
        asked.template,
        asked.content,
        numbers,
        games,
        row.get(row["shown_first"]) if isinstance(row.get("shown_first"), str) else None,
        _made_from(row.get("made_from")),
        () if source.voter else tuple(_words(row, len(case.models) > 1)),
        _text(row.get("system_prompt")),
        row["sampling"] if isinstance(row.get("sampling"), dict) else {},
        _text(row.get("winner")) if source.voter else None,
        not any(is_error(row.get(f"{prefix}judgment"), row) for prefix in _PREFIXES),
    )


def _words(row: Mapping[str, Any], paired: bool) -> Iterator[Words]:
    given = row.get("details")
    details = given if isinstance(given, list) and all(isinstance(own, dict) for own in given) else []
    prefixes: tuple[str, ...] = _PREFIXES[1:] if paired else _PREFIXES[:1]
    if paired and "shown_first" in row:
        prefixes = tuple(prefix for prefix in prefixes if f"{prefix}winner" in row) or prefixes
    for at, prefix in enumerate(prefixes):
        texts = _text(row.get(f"{prefix}user_prompt")), _text(row.get(f"{prefix}judgment"))
        yield Words(prefix, *texts, details[at] if at < len(details) else {})


def _made_from(made: Any) -> MadeFrom | None:
    if not isinstance(made, dict):
        return None
    hashes: dict[str, Any] = {name: made.get(name) for name in MadeFrom.__slots__}
    return MadeFrom(**hashes)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
