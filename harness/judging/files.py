"""Judgment files: which matches are done, and where new judgments go.

Two games become one row here and nowhere else: the first game of a pair waits (its reply is kept in `.turnbench/`) until the
second one is there.
"""

import pathlib
import time
from collections.abc import Mapping
from typing import Any, TypeAlias

from harness.bench import Bench
from harness.jsonl import Journal, read_rows
from harness.judging.materials import Materials
from harness.names import file_stem
from harness.records import Judgment, Match, Mode
from harness.rows import FAILED_TEXT, made_from_row, pair_to_row, question_id, single_to_row
from harness.running.pending import Pending

Key: TypeAlias = tuple[Any, ...]


def judgment_file(bench: Bench, judge: str, judge_set: str, mode: Mode, sample: int = 0) -> pathlib.Path:
    """Return the file for a judge's judgments: FastChat's name for the set `mt_bench`, else with the set's name in it."""
    which = "" if judge_set == "mt_bench" and not sample else f"@{file_stem(judge_set)}{f'#{sample}' if sample else ''}"
    return bench.folder / "model_judgment" / f"{file_stem(judge)}{which}_{'single' if mode == 'single' else 'pair'}.jsonl"


def match_key(match: Match) -> Key:
    """Return what identifies the row of a match; both games of a pair, in either order, have the same."""
    return (match.question.question_id, match.turn, tuple(sorted(match.models)), match.criterion, match.sample, match.choice)


def row_key(row: Mapping[str, Any]) -> Key:
    """Return what identifies a judgment row; equal to `match_key` of its match."""
    models = [row["model"]] if "model" in row else [row["model_1"], row["model_2"]]
    return (
        question_id(row["question_id"]),
        row.get("turn", 1),
        tuple(sorted(models)),
        row.get("criterion"),
        row.get("sample", 0),
        row.get("choice", 0),
    )


def is_good_judgment(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds a judge's words, not FastChat's error text."""
    return not any(row.get(name) == FAILED_TEXT for name in ("judgment", "g1_judgment", "g2_judgment"))


class Done:
    """What a judgment file already holds."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._rows: dict[Key, Mapping[str, Any]] = {}
        if path.exists():
            for _, row in read_rows(path):
                key = row_key(row)
                if is_good_judgment(row) or key not in self._rows:
                    self._rows[key] = _remembered(row)

    def current(self, match: Match, materials: Materials) -> bool | None:
        """Return True if the match is judged and nothing that made the judgment has changed, False if something has.

        None: not judged. Rows of other tools carry no hashes; they are current if their stored prompt equals today's.
        """
        row = self._rows.get(match_key(match))
        if row is None:
            return None
        made = made_from_row(row)
        if made is not None:
            return made == materials.made_from(match)
        prompt = materials.request(match).messages[-1].content
        if len(match.models) == 1:
            return row.get("user_prompt") == content_of(prompt)
        first_shown = "g1_user_prompt" if row["model_1"] == match.models[0] else "g2_user_prompt"
        return row.get(first_shown) == content_of(prompt)


def content_of(prompt: str) -> int:
    """Return what is remembered of a prompt."""
    return hash(prompt)


def _remembered(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a row that is needed to tell whether it is done; the texts would fill the memory."""
    if not is_good_judgment(row):
        return {"made_from": {}, "model_1": row.get("model_1")}
    if "made_from" in row:
        return {"made_from": row["made_from"]}
    prompts = {name: content_of(row[name]) for name in ("user_prompt", "g1_user_prompt", "g2_user_prompt") if name in row}
    return {"model_1": row.get("model_1"), **prompts}


class JudgmentSink:
    """Writes single judgments at once, and pairs when both games are there."""

    def __init__(self, journal: Journal, pending: Pending) -> None:
        self.journal, self.pending = journal, pending
        self.written = 0
        self.unparsed = 0
        self._waiting: dict[Key, Judgment] = {}

    def put(self, record: Judgment) -> bool:
        """Write the row, or hold the first game of a pair back; return whether it was written."""
        if len(record.match.models) == 1:
            self.journal.append(single_to_row(record, time.time()))
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
