"""Pairs whose judge gave each answer a score -> the scores of each side.

    g1_scores [8, 5], g2_scores [6, 5]      ->      model_1 7.0, model_2 5.0           the mean of the two games

Only some judge sets ask for two scores; winners are read without them.
"""

import pathlib
from collections.abc import Mapping
from math import fsum
from typing import Any

from harness.old.jsonl import files_of, open_bytes, read_rows
from harness.old.judgments.case import SCORE, key_of
from harness.old.judgments.line import CASE, case_of, fields_of, line_of
from harness.old.judgments.observations import Observations
from harness.old.records import Observation
from harness.old.rows import question_id

_NAMES = ("g1_scores", "g2_scores")
_FIRST = 1 << 20
"""Bytes of a file in which such scores are looked for; where there are none, the rest is not read again."""


def scores_of_sides(path: pathlib.Path, pairs: Observations) -> Observations:
    """Return a grade of each side of each of these pairs that has scores in all of its games.

    Args:
        path: the file that the pairs are from.
        pairs: those that count; of rows with equal keys the last one with scores does.

    Raises:
        DataError: the file cannot be read.
    """
    if not any(map(_may_hold_scores, files_of(path))):
        return Observations()
    kept: dict[Any, list[Observation]] = {}
    wanted, asked = set(map(key_of, pairs.cases)), set(pairs.questions())
    for _, row in read_rows(path):
        scores = _of_row(row)
        if scores is None:
            continue
        line = line_of(row)
        case, question = case_of(CASE(fields_of(line)), bytes(line.sampling)), question_id(line.question_id)
        if key_of(case) in wanted and question in asked:
            source = case.source._replace(form="grade")
            kept[key_of(case), question] = [
                Observation(question, case.turn, model, None, SCORE, score, (), source)
                for model, score in zip(case.models, scores, strict=True)
            ]
    return Observations.of(one for both in kept.values() for one in both)


def _may_hold_scores(file: pathlib.Path) -> bool:
    with open_bytes(file) as opened:
        begin = opened.read(_FIRST)
    return any(f'"{name}"'.encode() in begin for name in _NAMES)


def _of_row(row: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the mean score of each side over the games of a row; None if one of them has none."""
    games = [row.get(name) for name in _NAMES if "shown_first" not in row or name in row]
    if not games or not all(isinstance(game, list) and len(game) == 2 for game in games):
        return None
    scores = [score for game in games if isinstance(game, list) for score in game]
    if not all(isinstance(score, int | float) for score in scores):
        return None
    sides = scores[0::2], scores[1::2]
    return fsum(sides[0]) / len(sides[0]), fsum(sides[1]) / len(sides[1])
