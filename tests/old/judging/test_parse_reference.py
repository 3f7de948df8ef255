"""Every published judgment text is parsed again and gives the verdict stored with it, or a listed difference."""

import json
import pathlib
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import pytest

from harness.old.judgments.judgment import Score, Winner
from tests.old.judging.judge_texts import parse

pytestmark = pytest.mark.reference

ROWS = {
    "jxiw_gpt-4_single.jsonl": 960,
    "ku-nlp_japanese-vicuna_gpt-4_pair.jsonl": 400,
    "medusa_gpt-4_single.jsonl": 480,
    "stefanstud_gpt-4_pair.jsonl": 75,
    "stefanstud_gpt-4_single.jsonl": 160,
}

Result: TypeAlias = float | str


class Game(NamedTuple):
    """One judgment: of a pair row each of the two games, of a single row the only one (0)."""

    file: str
    question_id: int
    models: tuple[str, ...]
    turn: int
    game: int


class Difference(NamedTuple):
    """What was stored, what is read now, and why the two differ."""

    stored: Result
    parsed: Result
    cause: str


DIFFERENCES: dict[Game, Difference] = {}
"""Empty: all 2,550 texts give what was stored. The four stored errors have no verdict in their text, and get none."""


def judgments(folder: pathlib.Path, file: str) -> Iterator[tuple[Game, str, Result]]:
    """Yield each judgment of a file with its text and the result that is stored."""
    for line in (folder / "mt_bench" / "other_runs" / file).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if file.endswith("_single.jsonl"):
            yield Game(file, row["question_id"], (row["model"],), row["turn"], 0), row["judgment"], row["score"]
            continue
        models = (row["model_1"], row["model_2"])
        for number in (1, 2):
            game = Game(file, row["question_id"], models, row["turn"], number)
            yield game, row[f"g{number}_judgment"], row[f"g{number}_winner"]


def read(game: Game, text: str) -> Result:
    """Return what our parser makes of a text, as these files would store it."""
    verdict = parse(text, "[[A]]" if game.game else "[[rating]]").verdict
    match verdict:
        case Score(value):
            return value
        case Winner("tie"):
            return "tie"
        case Winner(side):
            return "model_1" if (side == "A") == (game.game == 1) else "model_2"
    return "error" if game.game else -1


@pytest.mark.parametrize("file", ROWS)
def test_published_texts_give_the_stored_verdict_or_a_listed_difference(
    reference_data: pathlib.Path, file: str
) -> None:
    found = {}
    count = 0
    for game, text, stored in judgments(reference_data, file):
        count += 1
        parsed = read(game, text)
        if parsed != stored:
            found[game] = (stored, parsed)
    assert found == {game: entry[:2] for game, entry in DIFFERENCES.items() if game.file == file}
    assert count == ROWS[file] * (2 if file.endswith("_pair.jsonl") else 1)


def test_listed_differences_are_no_regressions() -> None:
    for game, entry in DIFFERENCES.items():
        assert game.file in ROWS
        assert entry.stored != entry.parsed
        assert entry.cause.endswith(".")


def test_stored_errors_are_texts_without_a_verdict(reference_data: pathlib.Path) -> None:
    failed = [
        parse(text, "[[A]]" if game.game else "[[rating]]")
        for file in ROWS
        for game, text, stored in judgments(reference_data, file)
        if stored in ("error", -1)
    ]
    assert [parsed.reason for parsed in failed] == ["no verdict in the form asked for"] * 4


def test_every_published_file_is_read(reference_data: pathlib.Path) -> None:
    assert {path.name for path in (reference_data / "mt_bench" / "other_runs").iterdir()} == set(ROWS)
    assert sum(ROWS.values()) == 1600 + 475
