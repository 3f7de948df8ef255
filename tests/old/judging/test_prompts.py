"""What a judge set would send is what it sends."""

import pathlib
import re

import pytest

from harness.old.bench import shipped
from harness.old.errors import MissingError, UsageError
from harness.old.judging.prompts import judge_prompts
from tests.old.judging.sets.written import COMPARE, GRADE, answered, judged, written
from tests.old.protocol_server import ProtocolServer, verdict
from tests.old.small_bench import question, rows

README = shipped("judge_prompts") / "README.md"


def test_what_is_shown_is_what_is_sent(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1), question(2, turns=["Why?"]))
    mt_bench = shipped("judge_prompts") / "mt_bench"
    with ProtocolServer(verdict) as server:
        judged(server, bench, mt_bench, "pairwise-all")
        judged(server, bench, mt_bench)
        sent = {tuple(asked.texts) for asked in server.requests}
    shown = [
        prompt
        for number in (1, 2)
        for models in (["a"], ["b"], ["a", "b"])
        for prompt in judge_prompts("mt_bench", bench, number, models=models)
    ]
    assert {tuple(message.content for message in prompt.request.messages) for prompt in shown} == sent
    assert len(shown) == 12


def test_texts_stand_in_for_answers_where_no_model_is_named(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1), models="")
    shown = judge_prompts("mt_bench", bench, "1")
    assert [(prompt.match.turn, len(prompt.match.models), prompt.match.game) for prompt in shown] == [
        (1, 1, 1),
        (2, 1, 1),
        (1, 2, 1),
        (1, 2, 2),
        (2, 2, 1),
        (2, 2, 2),
    ]
    assert "(The other answer to turn 2 stands here.)" in shown[-1].request.messages[-1].content


def test_turns_mode_and_criteria_narrow_what_is_shown(tmp_path: pathlib.Path) -> None:
    bench = answered(tmp_path, question(1))
    judge_set = str(written(tmp_path / "s", "[criteria.a]\n[criteria.b]", grade=GRADE, pair=COMPARE))
    shown = judge_prompts(judge_set, bench, 1, turns=[2], mode="single", criteria=["b"])
    assert [(p.match.turn, p.match.criterion, p.template.name) for p in shown] == [(2, "b", "grade")]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param({"question_id": 9}, "small has no question 9", id="question"),
        pytest.param({"models": ["a", "b", "c"]}, "shown one or two answers, not those of a, b, c", id="three"),
        pytest.param({"models": ["a"], "mode": "pairwise-all"}, "mode pairwise-all shows 2", id="one for a pair"),
        pytest.param({"turns": [7]}, "judges nothing requested of question 1", id="turn"),
    ],
)
def test_what_cannot_be_shown_is_told(tmp_path: pathlib.Path, more: dict[str, object], words: str) -> None:
    bench = answered(tmp_path, question(1))
    with pytest.raises(UsageError, match=words):
        judge_prompts("mt_bench", bench, **{"question_id": 1, **more})  # type: ignore[arg-type]
    with pytest.raises(MissingError, match="z has no answer to question 1"):
        judge_prompts("mt_bench", bench, 1, models=["z"])


# The example of the documentation.


def documented() -> list[str]:
    """Return the pieces of TOML in the documentation, in order."""
    return re.findall(r"```toml\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


def test_the_example_of_the_documentation_loads_and_judges(tmp_path: pathlib.Path) -> None:
    settings, template, extension = documented()
    help_desk, wit = tmp_path / "help_desk", tmp_path / "wit"
    written(help_desk, settings, one_answer=template)
    written(wit, extension.replace('"help_desk"', f'"{help_desk.as_posix()}"'))
    bench = answered(tmp_path, question(1, "math"), question(2, "writing"), models="a")
    with ProtocolServer(lambda asked: "It is. Rating: [[4]]") as server:
        first, second = (judged(server, bench, folder).paths[0] for folder in (help_desk, wit))
    assert first.name == "j@help_desk_single.jsonl"
    found = {(row["question_id"], row["turn"], row["criterion"], row["score"]) for row in rows(first)}
    both = {(2, turn, name, 4) for turn in (1, 2) for name in ("kindness", "style")}
    assert found == both | {(1, turn, "kindness", 4) for turn in (1, 2)}
    assert {row["criterion"] for row in rows(second) if row["question_id"] == 2} == {"kindness", "style", "wit"}
    assert all("User: Question" in row["user_prompt"] for row in rows(first))
