"""The agreement of builtin/overlap with the published votes, as the README states it."""

import json
import pathlib

import pytest

from benchmarks.judge_agreement import between, measure, only, read_votes, within

STATED = {
    ("builtin/overlap", 1, "S1"): (571, 885),
    ("builtin/overlap", 1, "S2"): (517, 642),
    ("builtin/overlap", 2, "S1"): (545, 876),
    ("builtin/overlap", 2, "S2"): (518, 634),
    ("gpt-4 (pair)", 1, "S1"): (618, 885),
    ("gpt-4 (pair)", 1, "S2"): (521, 603),
    ("gpt-4 (pair)", 2, "S1"): (589, 876),
    ("gpt-4 (pair)", 2, "S2"): (517, 605),
    ("experts", 1, "S1"): (304, 468),
    ("experts", 1, "S2"): (266, 320),
    ("experts", 2, "S1"): (319, 460),
    ("experts", 2, "S2"): (278, 325),
    ("longer wins", 1, "S1"): (515, 885),
    ("longer wins", 1, "S2"): (497, 698),
    ("longer wins", 2, "S1"): (529, 876),
    ("longer wins", 2, "S2"): (523, 704),
    ("coin", 1, "S1"): (351.5, 885),
    ("coin", 1, "S2"): (351.5, 703),
    ("coin", 2, "S1"): (353, 876),
    ("coin", 2, "S2"): (353, 706),
}


@pytest.mark.slow
@pytest.mark.reference
def test_the_stated_agreement_is_what_is_measured(reference_data: pathlib.Path) -> None:
    rows = measure(reference_data / "mt_bench")
    measured = {(row.judge, row.turn, row.setup): tuple(row.agreement) for row in rows if row.questions == "all"}
    assert measured == STATED


@pytest.mark.slow
@pytest.mark.reference
def test_the_halves_of_the_questions_add_up(reference_data: pathlib.Path) -> None:
    rows = measure(reference_data / "mt_bench")
    for row in rows:
        halves = [r.agreement for r in rows if r[:3] == row[:3] and r.questions != "all"]
        if row.questions == "all":
            assert tuple(row.agreement) == tuple(map(sum, zip(*halves, strict=True)))


@pytest.mark.reference
def test_the_counting_reproduces_the_published_table(reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    votes = only(read_votes(folder / "human_judgment" / "human.jsonl"), lambda voter: voter.startswith("expert"))
    experts = {key: by for key, by in votes.items() if key.turn == 1}
    gpt4 = read_votes(folder / "human_judgment" / "gpt4_pair.jsonl")
    for expected in json.loads((folder / "expected.json").read_text("utf-8"))["agreement_turn1"]:
        setup = expected["setup"]
        found = between(gpt4, experts, setup) if expected["judge1"] == "gpt4-pair" else within(experts, setup)
        assert tuple(found) == (expected["agree"], expected["total"])
