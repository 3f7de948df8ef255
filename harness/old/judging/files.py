"""Judgment files: which matches are done, and where new judgments go.

Two games become one row only here: the first game of a pair waits (its reply is kept in `.turnbench/`)
until the second one is judged.
"""

import pathlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Self, TypeAlias

from harness.old.jsonl import Journal, is_there
from harness.old.judging.asking import prompt_about
from harness.old.judging.made_from import made_from
from harness.old.judging.materials import Materials
from harness.old.judging.sets import JudgeTemplate
from harness.old.judging.template import FENCE
from harness.old.judgments.judgment import Judgment, MadeFrom, Match
from harness.old.judgments.row import JudgedRow, judged_rows
from harness.old.judgments.writing import pair_to_row, single_to_row
from harness.old.running.pending import Pending

Key: TypeAlias = tuple[Any, ...]


def match_key(match: Match) -> Key:
    """Return what identifies the row of a match; equal to `JudgedRow.key` of it."""
    models = tuple(sorted(match.models))
    return (match.question.question_id, match.turn, models, match.criterion, match.sample, match.choice)


class Done:
    """The judgments that a file already has.

    Raises:
        DataError: a required field of a row is missing, or has another type.
    """

    def __init__(self, path: pathlib.Path, *, each: Callable[[JudgedRow], None] = lambda row: None) -> None:
        """`each` is called with every row, so that who wants more of them need not read the file again."""
        self.path = path
        self.untidy = False
        """Whether the file has rows that later ones replace: a run was stopped before it could move them."""
        self._rows: dict[Key, _Kept] = {}
        seen: set[Key] = set()
        for row in judged_rows(path) if is_there(path) else ():
            each(row)
            key = row.key
            self.untidy |= key in seen
            seen.add(key)
            if row.good:
                self._rows[key] = _Kept.of(row)

    def unparsed(self, match: Match) -> bool:
        """Return whether the match was judged without a verdict."""
        row = self._rows.get(match_key(match))
        return row is not None and row.unparsed

    def current(self, match: Match, materials: Materials) -> bool | None:
        """Return True if the match is judged and nothing that made the judgment has changed, False if something has.

        None: not judged. Both games of a pair have the same answer, since they are one row. Rows of other tools carry
        no hashes; they are current if their stored prompts equal today's.
        """
        key = match_key(match)
        row = self._rows.get(key)
        if row is None:
            return None
        if row.same is None:  # both games ask, and every pass over the matches
            row = self._rows[key] = row._replace(same=_is_same(row, match, materials))
        return bool(row.same) and row.first in {None, match.models[0]}


class _Kept(NamedTuple):
    """The part of a row that is needed to tell whether it is done; the texts would fill the memory."""

    models: tuple[str, ...]
    made_from: MadeFrom | None
    first: str | None
    prompts: tuple[int | None, ...]
    """Hashes of the prompts, if the row has no `made_from`."""
    fenced: bool
    """Whether each of these contains the fence around an answer."""
    unparsed: bool
    same: bool | None = None
    """Whether the judgment is current: made from what it would be made from today; None: not determined yet."""

    @classmethod
    def of(cls, row: JudgedRow) -> Self:
        texts = [words.prompt for words in row.words] if row.made_from is None else []
        fenced = all(text is not None and FENCE in text for text in texts)
        prompts = tuple(None if text is None else hash(text) for text in texts)
        return cls(row.models, row.made_from, row.shown_first, prompts, fenced, row.unparsed)


def _is_same(row: _Kept, match: Match, materials: Materials) -> bool:
    """Return whether a row was made from what a match has today."""
    if row.made_from is not None:
        return row.made_from == made_from(materials, match)
    if not row.fenced and materials.judge_set.fence and _shows_answers(materials.template(match)):
        return False  # without rendering the prompt, which takes minutes of a million rows
    if len(match.models) == 1:
        return row.prompts == (_prompt(match, materials),)
    shown = (replace(match, models=models) for models in (row.models, row.models[::-1]))
    return row.prompts == tuple(_prompt(game, materials) for game in shown)


def _shows_answers(template: JudgeTemplate) -> bool:
    """Return whether each prompt made from the template contains an answer."""
    names = template.user.names
    if template.turn is not None and "conversation" in names:
        names |= template.turn.names
    return any(name.startswith("answer") for name in names)


def _prompt(match: Match, materials: Materials) -> int:
    return hash(prompt_about(materials, match))


class JudgmentSink:
    """Writes single judgments at once, and pairs when both games are there, if there are to be both."""

    def __init__(self, journal: Journal, pending: Pending, *, one_order: bool = False) -> None:
        self.journal, self.pending, self.one_order = journal, pending, one_order
        self.written = 0
        self.reasons = Counter[str]()
        """Why there was no verdict."""
        self._waiting: dict[Key, Judgment] = {}

    def put(self, record: Judgment) -> bool:
        """Write the row, or keep the first game of a pair until the second; return whether it was written."""
        single = len(record.match.models) == 1
        games = [record]
        if not (single or self.one_order):
            key = match_key(record.match)
            other = self._waiting.pop(key, None)
            if other is None:
                self._waiting[key] = record
                return False
            games = sorted((record, other), key=lambda judgment: judgment.match.game)
        now = time.time()
        self.journal.append(single_to_row(record, now) if single else pair_to_row(*games, tstamp=now))
        # A row without a verdict counts under its first reason.
        self.reasons.update([game.parsed.reason for game in games if game.parsed.verdict is None][:1])
        self.written += 1
        return True

    def sync(self) -> None:
        """Bring what was written to the disk."""
        self.journal.sync()
        self.pending.sync()
