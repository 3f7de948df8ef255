"""Records of whole dialogues: who writes which turn, and by which rule they are judged. All of them are made up."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import Bench, load_bench
from harness.old.cli import gen_judgment
from harness.old.importing.dialogues import TASKS
from harness.old.importing.run import import_data
from harness.old.results.show import show_result
from tests.old.protocol_server import Asked, ProtocolServer

TURNS = [{"user": f"Message {n}.", "bot": f"Reply {n}."} for n in (1, 2, 3)]


def task(name: str, number: int, turns: Any = TURNS) -> dict[str, Any]:
    return {"task": name, "id": number, "history": turns}


def said(*contents: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(contents)]


def challenge(**changes: Any) -> dict[str, Any]:
    record = {
        "QUESTION_ID": "0a1b",
        "AXIS": "INFERENCE_MEMORY",
        "CONVERSATION": said("I eat no nuts.", "Noted.", "Name a cake."),
        "TARGET_QUESTION": "Is the cake free of nuts?",
        "PASS_CRITERIA": "YES",
    }
    return record | changes


def imported(tmp_path: pathlib.Path, form: str, *records: dict[str, Any]) -> tuple[Bench, list[str]]:
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    report = import_data(form, [path], "b", data_dir=tmp_path)
    return load_bench("b", tmp_path), [bad.reason for bad in report.bad]


def test_each_of_the_thirteen_tasks_is_a_category(tmp_path: pathlib.Path) -> None:
    bench, bad = imported(tmp_path, "mt_bench_101", *(task(name, n) for n, name in enumerate(TASKS, 1)))
    assert not bad
    assert [question.category for question in bench.questions] == list(TASKS.values())
    assert len(TASKS) == 13
    assert bench.reference_answers()[1] == ("Reply 1.", "Reply 2.", "Reply 3.")


@pytest.mark.parametrize(("name", "written"), [("CM", (2, 3)), ("SC", (2, 3)), ("TS", (1, 2, 3)), ("MR", (1, 2, 3))])
def test_the_first_reply_is_given_where_it_only_prepares_the_second(
    tmp_path: pathlib.Path, name: str, written: tuple[int, ...]
) -> None:
    bench, _ = imported(tmp_path, "mt_bench_101", task(name, 1))
    assert bench.questions[0].written_by("m") == written


def test_a_dialogue_counts_as_its_least_turn(tmp_path: pathlib.Path) -> None:
    """Answered, judged with the judge set of ours and shown: the set's own rule is the minimum over turns."""
    bench, _ = imported(tmp_path, "mt_bench_101", *(task("TS", n) for n in range(1, 7)), task("CM", 7))
    asked: list[str] = []

    def reply(one: Asked) -> str:
        if "Rating: [[number]]" not in one.texts[-1]:
            return "A reply."
        asked.append(one.texts[-1])
        return "Read.\nRating: [[4]]" if "Message 3." in one.texts[-1] else "Read.\nRating: [[8]]"

    with ProtocolServer(reply) as server:
        run_answers(plan_answers(["m"], bench, AnswerOptions(base_url=server.openai_url)))
        flags = ["--judge-model", "j", "--judge-set", "mt_bench_101", "--base-url", server.openai_url, "-q", "-y"]
        assert gen_judgment.main([*flags, "--bench-name", "b", "--data-dir", str(tmp_path)]) == 0
    assert len(asked) == 6 * 3 + 2
    assert "Shift of topic" in asked[0]
    (row,) = show_result(bench_name="b", data_dir=tmp_path).rows()
    assert (row["min_of_turns"], row["n"]) == (4, 7)
    (row,) = show_result(bench_name="b", data_dir=tmp_path, aggregate="pooled").rows()
    assert row["average"] == pytest.approx((6 * 20 + 12) / 20)


def test_a_challenge_gives_the_dialogue_and_asks_one_question_about_the_end(tmp_path: pathlib.Path) -> None:
    bench, _ = imported(tmp_path, "multi_challenge", challenge())
    (question,) = bench.questions
    assert (question.question_id, question.category) == ("0a1b", "inference_memory")
    assert question.turns == ("I eat no nuts.", "Name a cake.")
    assert question.history == ("Noted.", None)
    assert question.extra["rubric"] == "Is the cake free of nuts?\nIt passes if the answer to this is YES."


def test_a_challenge_passes_or_fails_by_its_question(tmp_path: pathlib.Path) -> None:
    bench, _ = imported(tmp_path, "multi_challenge", challenge(), challenge(QUESTION_ID="0a1c"))

    def reply(one: Asked) -> str:
        if "Is the cake free of nuts?" not in one.texts[-1]:
            assert [message["content"] for message in one.body["messages"]][-2:] == ["Noted.", "Name a cake."]
            return "A plum cake."
        assert "Noted." not in one.texts[-1]
        return '{"evaluation": "PASS"}'

    with ProtocolServer(reply) as server:
        run_answers(plan_answers(["m"], bench, AnswerOptions(base_url=server.openai_url)))
        flags = ["--judge-model", "j", "--judge-set", "multi_challenge", "--base-url", server.openai_url, "-q", "-y"]
        assert gen_judgment.main([*flags, "--bench-name", "b", "--data-dir", str(tmp_path)]) == 0
    (row,) = show_result(bench_name="b", data_dir=tmp_path).rows()
    assert row["PASS"] == 1.0


def test_a_chat_is_given_up_to_its_last_reply(tmp_path: pathlib.Path) -> None:
    record = {"conversation_hash": "ff", "language": "English", "toxic": False, "model": "gpt-4", "turn": 2}
    bench, _ = imported(
        tmp_path,
        "wildchat",
        record | {"conversation": said("Hi.", "Hello.", "Who are you?", "A model.")},
        record | {"conversation_hash": "fe", "conversation": said("One turn.", "A reply.")},
    )
    first, second = bench.questions
    assert (first.turns, first.history) == (("Hi.", "Who are you?"), ("Hello.", None))
    assert (second.turns, second.history) == (("One turn.",), ())
    assert dict(first.extra) == {"language": "English", "toxic": False}


@pytest.mark.parametrize(
    ("form", "record", "reason"),
    [
        pytest.param("mt_bench_101", task("XX", 1), "task must be one of CM, AR", id="unknown-task"),
        pytest.param("mt_bench_101", task("CM", 1, []), "'history' must be a list of turns", id="no-turns"),
        pytest.param("mt_bench_101", task("CM", 1, [{"user": "hi"}]), "the field 'bot' is missing", id="no-bot"),
        pytest.param("multi_challenge", challenge(PASS_CRITERIA="MAYBE"), "must be YES or NO", id="no-criterion"),
        pytest.param(
            "multi_challenge", challenge(CONVERSATION=said("a", "b")[1:]), "must begin with the user", id="no-user"
        ),
        pytest.param("wildchat", {"conversation": [*said("a"), *said("b")]}, "alternate", id="two-in-a-row"),
    ],
)
def test_a_bad_record_says_why(tmp_path: pathlib.Path, form: str, record: dict[str, Any], reason: str) -> None:
    good = {
        "mt_bench_101": task("MR", 9),
        "multi_challenge": challenge(),
        "wildchat": {"conversation": said("a", "b"), "conversation_hash": "x"},
    }[form]
    _, bad = imported(tmp_path, form, record, good)
    assert len(bad) == 1
    assert reason in bad[0]
