"""Judgment files: which matches are done, and where new judgments go.

Two games become one row here and nowhere else: the first game of a pair waits (its reply is kept in `.turnbench/`)
until the second one is there.
"""

import pathlib
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from harness.jsonl import Journal, read_rows
from harness.judging.materials import Materials
from harness.records import Judgment, Match
from harness.rows import (
    comparison_from_row,
    game_to_row,
    is_error,
    made_from_row,
    pair_to_row,
    question_id,
    rating_from_row,
    single_to_row,
)
from harness.running.pending import Pending

Key: TypeAlias = tuple[Any, ...]
_PROMPTS = ("user_prompt", "g1_user_prompt", "g2_user_prompt")


def match_key(match: Match) -> Key:
    """Return what identifies the row of a match; both games of a pair, in either order, have the same."""
    models = tuple(sorted(match.models))
    return (match.question.question_id, match.turn, models, match.criterion, match.sample, match.choice)


def row_key(row: Mapping[str, Any]) -> Key:
    """Return what identifies a judgment row; equal to `match_key` of its match."""
    models = [row["model"]] if "model" in row else [row["model_1"], row["model_2"]]
    return (
        question_id(row["question_id"]),
        row.get("turn", 1),
        tuple(sorted(models)),
        row.get("criterion"),
        row.get("sample") or 0,
        row.get("choice") or 0,
    )


def is_good_judgment(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds a judge's words, not FastChat's error text."""
    return not any(is_error(row.get(name), row) for name in ("judgment", "g1_judgment", "g2_judgment"))


class Done:
    """What a judgment file already holds.

    Raises:
        DataError: a row lacks what every judgment has, or holds it in another type.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.untidy = False
        """Whether rows stand in the file that later ones replace: a run was stopped before it could move them."""
        self._rows: dict[Key, Mapping[str, Any]] = {}
        self._seen: set[Key] = set()
        for line, row in read_rows(path) if path.exists() else ():
            _check(row, path, line)
            key = row_key(row)
            self.untidy |= key in self._seen
            self._seen.add(key)
            if is_good_judgment(row):
                self._rows[key] = _remembered(row)

    def holds(self, match: Match) -> bool:
        """Return whether the match has a row of any kind: current, out of date, or an error text."""
        return match_key(match) in self._seen

    def current(self, match: Match, materials: Materials) -> bool | None:
        """Return True if the match is judged and nothing that made the judgment has changed, False if something has.

        None: not judged. Both games of a pair have the same answer, since they are one row. Rows of other tools carry
        no hashes; they are current if their stored prompts equal today's.
        """
        row = self._rows.get(match_key(match))
        if row is None:
            return None
        made = made_from_row(row)
        if made is not None:
            return made == materials.made_from(match) and row.get("first", match.models[0]) == match.models[0]
        if len(match.models) == 1:
            return bool(row.get("user_prompt") == _prompt(match, materials))
        return all(
            row.get(name) == _prompt(replace(match, models=shown), materials)
            for name, shown in (("g1_user_prompt", row["models"]), ("g2_user_prompt", row["models"][::-1]))
        )


def _check(row: Mapping[str, Any], path: pathlib.Path, line: int) -> None:
    if "model" in row:
        rating_from_row(row, path, line)
    else:
        comparison_from_row({name: value for name, value in row.items() if name != "model_a"}, path, line)


def _prompt(match: Match, materials: Materials) -> int:
    return hash(materials.request(match).messages[-1].content)


def _remembered(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a row that is needed to tell whether it is done; the texts would fill the memory."""
    if isinstance(row.get("made_from"), dict):
        first = row.get(row["shown_first"]) if isinstance(row.get("shown_first"), str) else None
        return {"made_from": row["made_from"]} | ({} if first is None else {"first": first})
    prompts = {name: hash(row.get(name)) for name in _PROMPTS if isinstance(row.get(name), str)}
    return {"models": (row.get("model_1"), row.get("model_2")), **prompts}


class JudgmentSink:
    """Writes single judgments at once, and pairs when both games are there, if there are to be both."""

    def __init__(self, journal: Journal, pending: Pending, *, one_order: bool = False) -> None:
        self.journal, self.pending, self.one_order = journal, pending, one_order
        self.written = 0
        self.unparsed = 0
        self._waiting: dict[Key, Judgment] = {}

    def put(self, record: Judgment) -> bool:
        """Write the row, or hold the first game of a pair back; return whether it was written."""
        if len(record.match.models) == 1:
            self.journal.append(single_to_row(record, time.time()))
            self.unparsed += record.parsed.verdict is None
        elif self.one_order:
            self.journal.append(game_to_row(record, time.time()))
            self.unparsed += record.parsed.verdict is None
        else:
            key = match_key(record.match)
            other = self._waiting.pop(key, None)
            if other is None:
                self._waiting[key] = record
                return False
            games = sorted((record, other), key=lambda judgment: judgment.match.game)
            self.journal.append(pair_to_row(games[0], games[1], time.time()))
            self.unparsed += any(game.parsed.verdict is None for game in games)
        self.written += 1
        return True

    def sync(self) -> None:
        """Bring what was written to the disk."""
        self.journal.sync()
        self.pending.sync()
