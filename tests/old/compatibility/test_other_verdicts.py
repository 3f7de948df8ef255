"""What FastChat's show_result makes of verdicts that it does not know: no number that would be wrong."""

import json
import pathlib

import pytest

from tests.old.compatibility.test_fastchat import theirs
from tests.old.judging.sets.test_kinds import DIMENSIONS, LABEL, LABELS
from tests.old.judging.sets.written import answered, judged, written
from tests.old.protocol_server import Asked, ProtocolServer
from tests.old.small_bench import question

QUESTIONS = [question(n, turns=[f"Question {n}?", "And then?"]) for n in (1, 2, 3, 4)]


def test_labels_are_averaged_by_nobody(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, *QUESTIONS)

    def said(asked: Asked) -> str:
        return "INCORRECT" if asked.number % 3 else "I can't tell."

    with ProtocolServer(said) as server:
        (path,) = judged(server, bench, written(tmp_path / "facts", LABELS, fact=LABEL)).paths
    assert theirs(path) == {}


def test_of_dimensions_the_total_is_averaged(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, *QUESTIONS)

    def said(asked: Asked) -> str:
        grades = {"clarity": 1, "depth": 1, "overall": 4 if "a1." in asked.texts[-1] else 8}
        return json.dumps(grades) if "2." not in asked.texts[-1] else "I can't tell."

    with ProtocolServer(said) as server:
        (path,) = judged(server, bench, written(tmp_path / "d", "fence = false", d=DIMENSIONS)).paths
    found = theirs(path)
    assert found["a"]["turn_1"] == pytest.approx((4 + 8 + 8) / 3)
    assert found["b"]["turn_1"] == 8
