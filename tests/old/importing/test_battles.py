import json
import pathlib
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.importing.battles import item
from harness.old.importing.items import BadRecordError
from harness.old.importing.records import ImportReport
from harness.old.importing.run import import_data
from harness.old.meta_evaluation.choosing import judge_judges
from tests.old.small_bench import rows


def battle(**more: Any) -> dict[str, Any]:
    said = {"question": "Why?", "answer_a": "Because.", "answer_b": "So.", "model_a": "x", "model_b": "y"}
    return {**said, "winner": "model_a", **more}


def imported(tmp_path: pathlib.Path, *records: dict[str, Any]) -> ImportReport:
    file = tmp_path / "battles.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return import_data("battles", [file], "arena", data_dir=tmp_path)


def votes(tmp_path: pathlib.Path) -> list[tuple[Any, ...]]:
    names = ("question_id", "turn", "model_a", "model_b", "winner", "judge")
    return [tuple(row[n] for n in names) for row in rows(tmp_path / "arena" / "human_judgment" / "battles.jsonl")]


@pytest.mark.parametrize(
    ("told", "winner"),
    [
        ({"winner": "model_b"}, "model_b"),
        ({"winner": "y"}, "model_b"),
        ({"winner": "A"}, "model_a"),
        ({"winner": "tie (bothbad)"}, "tie (bothbad)"),
        ({"winner": "bothbad"}, "tie (bothbad)"),
        ({"winner": None, "winner_model_a": 0, "winner_model_b": 1, "winner_tie": 0}, "model_b"),
        ({"winner": None, "winner_tie": "1"}, "tie"),
        ({"winner": None, "preference": 2}, "model_b"),
        ({"winner": None, "preference": "1.5"}, "tie"),
        ({"winner": None, "preference": 0}, "tie"),
    ],
)
def test_who_won_is_read_in_each_way_of_saying_it(told: dict[str, Any], winner: str) -> None:
    assert item(battle(**told)).votes[0]["winner"] == winner


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (battle(winner="z"), "winner must be model_a, model_b or tie, this is 'z'"),
        (battle(winner=None, preference=None), "winner must be model_a, model_b or tie"),
        (battle(model_b="x"), "both answers are of x"),
        ({"winner": "A", "question": "Why?", "answer_a": "a"}, "the field 'answer_b' is missing"),
        ({"winner": "A", "conversation_a": [], "conversation_b": []}, "conversation_a must be messages of user and"),
        (battle(question=["Why?", "And?"]), "there are 2 turns of the user, and an answer has another number"),
    ],
)
def test_what_is_no_battle_is_told(record: dict[str, Any], why: str) -> None:
    with pytest.raises(BadRecordError, match=why):
        item(record)


def test_conversations_become_turns_and_the_vote_is_on_the_last(tmp_path: pathlib.Path) -> None:
    def said(*texts: str) -> list[dict[str, str]]:
        return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]

    record = {"conversation_a": said("Hi.", "Hello.", "Why?", "So."), "conversation_b": said("Hi.", "Yo.", "Why?", "")}
    imported(tmp_path, {**record, "model_a": "x", "model_b": "y", "winner": "tie", "judge": "arena_user_7"})
    bench = load_bench("arena", tmp_path)
    assert bench.questions[0].turns == ("Hi.", "Why?")
    assert bench.answers("y")[1].choices[0].turns == ("Yo.", "")
    assert votes(tmp_path) == [(1, 2, "x", "y", "tie", "arena_user_7")]


def test_battles_on_one_question_are_put_together_while_answers_agree(tmp_path: pathlib.Path) -> None:
    report = imported(
        tmp_path,
        battle(),
        battle(winner="model_b"),  # another person on the same pair
        battle(model_b="z", answer_b="Hm.", judge="ann"),
        battle(answer_a="Another answer of x."),
    )
    assert (report.questions, report.answers, report.votes) == (2, {"x": 2, "y": 2, "z": 1}, 4)
    assert votes(tmp_path) == [
        (1, 1, "x", "y", "model_a", "voter 1"),
        (1, 1, "x", "y", "model_b", "voter 2"),
        (1, 1, "x", "z", "model_a", "ann"),
        (4, 1, "x", "y", "model_a", "voter 1"),
    ]


def test_judges_are_measured_on_what_was_imported(tmp_path: pathlib.Path) -> None:
    records = [
        {"instruction": f"Say {n}.", "output_1": "a" * 50, "output_2": "b", "preference": 1 + (n == 3)}
        for n in range(4)
    ]
    imported(tmp_path, *records)
    report = judge_judges(bench_name="arena", data_dir=tmp_path)
    found = {row["judge"]: row["human_agreement"] for row in report.rows}
    assert (found["builtin/longest"], found["builtin/first"]) == (0.75, 0.75)
