"""Each format: what a small file becomes in the benchmark's folder."""

import csv
import datetime
import pathlib
from typing import Any

import pytest

from harness import bench, import_data
from harness.errors import DataError
from harness.results import read
from harness.results.weighted import weighted_rates
from tests.importing import files
from tests.importing.files import answers, json_array, json_lines, messages, rows


def test_feedback_becomes_questions_with_rubric_answer_reference_and_vote(
    tmp_path: pathlib.Path,
) -> None:
    path = json_array(tmp_path / "f.json", [files.FEEDBACK, files.FEEDBACK | {"orig_score": 2}])
    report = import_data("feedback_collection", [path], "f", data_dir=tmp_path, keep_input=True)
    assert (report.questions, report.answers, report.votes) == (2, {"response": 2}, 2)
    loaded = bench.load("f", tmp_path)
    assert loaded.settings.judge_set == "prometheus"
    extra = loaded.questions[0].extra
    assert extra["rubric"].splitlines()[:2] == ["[Is it clear?]", "Score 1: clear to degree 1"]
    assert extra["context"] == files.FEEDBACK["instruction"]
    assert answers(report.folder / "reference_answer" / "reference.jsonl")[1] == [
        files.FEEDBACK["orig_reference_answer"]
    ]
    votes = rows(report.folder / "human_judgment" / "feedback_collection.jsonl")
    assert [(vote["model"], vote["score"], vote["turn"]) for vote in votes] == [
        ("response", 4, 1),
        ("response", 2, 1),
    ]


def test_colossalai_joins_the_input_and_falls_back_on_the_output(tmp_path: pathlib.Path) -> None:
    target = json_array(tmp_path / "target.json", files.TARGETS)
    answered = [dict(t, output=f"answer {t['id']}") for t in files.TARGETS]
    path = json_array(tmp_path / "my.model.json", answered)
    report = import_data("colossalai", [target, path], "c", data_dir=tmp_path, language="zh")
    loaded = bench.load("c", tmp_path)
    assert [question.turns for question in loaded.questions] == [
        ["Which sea?\nA text."],
        ["Hello"],
    ]
    assert loaded.settings.judge_set == "metrics_zh"
    references = rows(report.folder / "reference_answer" / "reference.jsonl")
    assert [row["choices"][0]["turns"] for row in references] == [["The Baltic."], ["Hi"]]
    assert "made by a model" in references[1]["choices"][0]["details"][0]["note"]
    assert loaded.answers("my.model")[2].choices[0].turns == ["answer 2"]


@pytest.mark.parametrize(
    ("record", "winner"),
    [
        pytest.param({"winner": "tie (bothbad)"}, "tie (bothbad)", id="tie"),
        pytest.param({"winner": "x"}, "model_a", id="name"),
        pytest.param({"winner_model_a": 0, "winner_tie": 1}, "tie", id="flags"),
    ],
)
def test_the_winner_of_a_battle_is_found(
    tmp_path: pathlib.Path, record: dict[str, Any], winner: str
) -> None:
    battle = {"question": "Q", "model_a": "x", "answer_a": "1", "model_b": "y", "answer_b": "2"}
    path = json_lines(tmp_path / "b.jsonl", [battle | record])
    report = import_data("battles", [path], "b", data_dir=tmp_path)
    (vote,) = rows(report.folder / "human_judgment" / "battles.jsonl")
    assert (vote["winner"], vote["judge"], vote["turn"]) == (winner, "voter 1", 1)


def test_battles_are_one_question_as_long_as_each_model_has_one_answer(
    tmp_path: pathlib.Path,
) -> None:
    def battle(opponent: str, text: str, **more: Any) -> dict[str, Any]:
        record = {"question": "Q", "model_a": "x", "answer_a": "1", "winner": "model_a"}
        return record | {"model_b": opponent, "answer_b": text} | more

    battles = [battle("y", "2"), battle("z", "3"), battle("y", "2"), battle("y", "other")]
    report = import_data(
        "battles", [json_lines(tmp_path / "b.jsonl", battles)], "b", data_dir=tmp_path
    )
    assert (report.questions, report.votes) == (2, 4)
    votes = rows(report.folder / "human_judgment" / "battles.jsonl")
    assert [vote["judge"] for vote in votes] == ["voter 1", "voter 1", "voter 2", "voter 1"]


def test_a_battle_of_conversations_is_voted_on_at_its_turn(tmp_path: pathlib.Path) -> None:
    record = {
        "conversation_a": messages("u1", "a1", "u2", "a2"),
        "conversation_b": messages("u1", "b1", "u2", "b2"),
        "model_a": "x",
        "model_b": "y",
        "winner": "model_b",
        "judge": "ann",
        "turn": 1,
    }
    path = json_lines(tmp_path / "b.jsonl", [record, record | {"turn": 2}])
    report = import_data("battles", [path], "b", data_dir=tmp_path)
    assert answers(report.folder / "model_answer" / "y.jsonl") == {1: ["b1", "b2"]}
    votes = rows(report.folder / "human_judgment" / "battles.jsonl")
    assert [vote["turn"] for vote in votes] == [1, 2]


def test_short_facts_keep_fields_and_the_topic_of_metadata(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "simple.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["metadata", "problem", "answer"])
        table.writerow(["{'topic': 'Art', 'urls': ['x']}", "Who,\nthen?", "Ann"])
    import_data("short_facts", [path], "s", data_dir=tmp_path, language="hu")
    loaded = bench.load("s", tmp_path)
    (question,) = loaded.questions
    assert (question.category, question.turns) == ("Art", ["Who,\nthen?"])
    assert question.extra == {"topic": "Art"}
    assert loaded.settings.judge_set == "short_fact_hu"
    import_data("short_facts", [path], "de", data_dir=tmp_path, language="de")
    assert bench.load("de", tmp_path).settings.judge_set == "short_fact_en"


def test_ifeval_instructions_are_checks_as_ifeval_counts(tmp_path: pathlib.Path) -> None:
    prompt = {
        "key": 1000,
        "prompt": "Write.",
        "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
        "kwargs": [{"relation": "at least", "num_words": 3, "num_bullets": None}, {}],
    }
    responses = [{"prompt": "Write.", "response": "One two three"}]
    paths = [
        json_lines(tmp_path / "p.jsonl", [prompt]),
        json_lines(tmp_path / "m.jsonl", responses),
    ]
    import_data("ifeval", paths, "i", data_dir=tmp_path, model_id=["mine"])
    loaded = bench.load("i", tmp_path)
    (question,) = loaded.questions
    assert (question.question_id, question.category) == (1000, "length_constraints")
    assert question.checks[0][0] == {
        "kind": "ifeval",
        "name": "length_constraints:number_words",
        "instruction": "length_constraints:number_words",
        "arguments": {"relation": "at least", "num_words": 3},
    }
    assert loaded.answers("mine")[1000].choices[0].turns == ["One two three"]


def test_an_instruction_that_ifeval_lacks_is_named(tmp_path: pathlib.Path) -> None:
    record = {"prompt": "P", "instruction_id_list": ["punctuation:no_stop"], "kwargs": [{}]}
    path = json_lines(tmp_path / "p.jsonl", [record])
    with pytest.raises(DataError, match=r"p.jsonl:1: .*no_stop.*no such instruction"):
        import_data("ifeval", [path], "i", data_dir=tmp_path)


def test_every_turn_of_mt_bench_101_is_written_by_the_model(tmp_path: pathlib.Path) -> None:
    dialogue = [{"user": "u1", "bot": "b1"}, {"user": "u2", "bot": "b2"}]
    path = json_lines(tmp_path / "d.jsonl", [{"task": "CM", "id": 1, "history": dialogue}])
    report = import_data("mt_bench_101", [path], "d", data_dir=tmp_path)
    (question,) = bench.load("d", tmp_path).questions
    assert (question.category, question.turns, question.history) == (
        "context_memory",
        ["u1", "u2"],
        [],
    )
    assert answers(report.folder / "reference_answer" / "reference.jsonl") == {1: ["b1", "b2"]}


# Messages and tables of one's own


def test_messages_without_a_model_are_questions_with_references(tmp_path: pathlib.Path) -> None:
    system = [{"role": "system", "content": "Be brief."}]
    records = [
        {"messages": system + messages("u1", "r1", "u2", "r2"), "id": "7", "category": "math"},
        {"messages": system + messages("u1", "r1", "u2")},
    ]
    path = json_lines(tmp_path / "m.jsonl", records)
    report = import_data("messages", [path], "m", data_dir=tmp_path)
    loaded = bench.load("m", tmp_path)
    assert loaded.settings.system_prompt == "Be brief."
    first, second = loaded.questions
    assert (first.question_id, first.category, first.history) == (7, "math", [])
    assert answers(report.folder / "reference_answer" / "reference.jsonl") == {7: ["r1", "r2"]}
    assert second.history == ["r1", None]


def test_messages_of_a_model_are_its_answers(tmp_path: pathlib.Path) -> None:
    path = json_lines(tmp_path / "m.jsonl", [{"messages": messages("u", "r"), "model": "x"}])
    assert import_data("messages", [path], "m", data_dir=tmp_path).answers == {"x": 1}
    again = import_data("messages", [path], "m", data_dir=tmp_path, model_id=["y"])
    assert (again.questions, again.answers) == (0, {"y": 1})


def test_reasoning_in_messages_is_kept_apart_and_other_parts_are_refused(
    tmp_path: pathlib.Path,
) -> None:
    def chat(*parts: dict[str, str]) -> dict[str, object]:
        user = {"role": "user", "content": [{"type": "text", "text": "u"}]}
        return {"messages": [user, {"role": "assistant", "content": parts}], "model": "x"}

    thought = chat({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "r"})
    image = chat({"type": "image_url", "image_url": "u"})
    path = json_lines(tmp_path / "m.jsonl", [thought, image])
    report = import_data("messages", [path], "m", data_dir=tmp_path)
    assert report.bad == [
        f"{path}:2: a message holds a part of type 'image_url'; only texts are read"
    ]
    (answer,) = bench.load("m", tmp_path).answers("x").values()
    assert (answer.choices[0].turns, answer.choices[0].details[0].reasoning) == (["r"], "Hm.")


def test_two_system_prompts_are_refused(tmp_path: pathlib.Path) -> None:
    records = [
        {"messages": [{"role": "system", "content": text}, *messages(text)]} for text in ("a", "b")
    ]
    path = json_lines(tmp_path / "m.jsonl", records)
    with pytest.raises(DataError, match="a benchmark has one"):
        import_data("messages", [path], "m", data_dir=tmp_path)
    assert not (tmp_path / "m").exists()


def test_a_table_of_questions_and_answers_is_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("question,answer,reference,level\nWhy?,Because.,So.,2\n", encoding="utf-8")
    report = import_data("messages", [path], "t", data_dir=tmp_path, model_id=["mine"])
    (question,) = bench.load("t", tmp_path).questions
    assert (question.turns, question.extra) == (["Why?"], {"level": "2"})
    assert answers(report.folder / "model_answer" / "mine.jsonl") == {1: ["Because."]}
    assert answers(report.folder / "reference_answer" / "reference.jsonl") == {1: ["So."]}


def test_parquet_is_read(tmp_path: pathlib.Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([{"messages": messages("u", "r")}]), path)
    assert import_data("messages", [path], "t", data_dir=tmp_path).questions == 1


@pytest.mark.parametrize("of_day", [datetime.date, datetime.datetime])
def test_a_reference_that_parquet_holds_as_a_date_is_a_text(
    tmp_path: pathlib.Path, of_day: type[datetime.date]
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    record = {"question": "When?", "reference": of_day(1969, 7, 20)}
    parquet.write_table(pyarrow.Table.from_pylist([record]), tmp_path / "t.parquet")
    report = import_data("messages", [tmp_path / "t.parquet"], "t", data_dir=tmp_path)
    assert answers(report.folder / "reference_answer" / "reference.jsonl") == {1: ["1969-07-20"]}


def test_votes_are_added_to_a_benchmark_that_is_there(tmp_path: pathlib.Path) -> None:
    first = json_lines(tmp_path / "m.jsonl", [{"messages": messages("u", "r"), "model": "x"}])
    import_data("messages", [first], "m", data_dir=tmp_path)
    vote = {"question_id": 1, "model_a": "x", "model_b": "y", "winner": "tie"}
    path = json_array(tmp_path / "ballot.json", [vote, vote | {"judge": "ann", "question_id": 9}])
    report = import_data("votes", [path], "m", data_dir=tmp_path)
    assert report.bad == [f"{path}, record 2: it is about no question of m"]
    (row,) = rows(report.folder / "human_judgment" / "ballot.jsonl")
    assert (row["winner"], row["judge"], row["turn"]) == ("tie", "ballot", 1)
    again = import_data("votes", [path], "m", data_dir=tmp_path)
    assert (again.votes, again.known) == (0, 1)


REWARD_BENCH = {
    "id": "7",
    "prompt": "Name a prime.",
    "chosen": ["7"],
    "rejected": ["8", "9", "1"],
    "subset": "Math",
}
JUDGE_BENCH = {
    "pair_id": "e3-02",
    "question": "Name a prime.",
    "response_A": "9",
    "response_B": "7",
    "label": "B>A",
    "source": "mmlu-pro-math",
}
LLM_BAR = {"input": "Name a prime.", "output_1": "7", "output_2": "9", "label": 1}


@pytest.mark.parametrize(
    ("record", "category", "better", "votes"),
    [
        pytest.param(REWARD_BENCH, "Math", "chosen-1", 3, id="RewardBench 2"),
        pytest.param(JUDGE_BENCH, "mmlu-pro-math", "response-B", 1, id="JudgeBench"),
        pytest.param(LLM_BAR, "natural", "response-A", 1, id="LLMBar"),
    ],
)
def test_pairs_for_judges_become_votes_for_the_better_answer(
    tmp_path: pathlib.Path, record: dict[str, Any], category: str, better: str, votes: int
) -> None:
    path = json_lines(tmp_path / "natural.jsonl", [record])
    report = import_data("judge_pairs", [path], "p", data_dir=tmp_path)
    assert (report.questions, report.votes) == (1, votes)
    loaded = bench.load("p", tmp_path)
    assert loaded.questions[0].category == category
    for vote in rows(report.folder / "human_judgment" / "judge_pairs.jsonl"):
        assert (vote["model_a"], vote["winner"], vote["judge"]) == (better, "model_a", "gold")
    (text,) = answers(report.folder / "model_answer" / f"{better}.jsonl").values()
    assert text == ["7"]


def test_a_pair_without_a_better_answer_is_left_out(tmp_path: pathlib.Path) -> None:
    path = json_lines(tmp_path / "p.jsonl", [JUDGE_BENCH, {**JUDGE_BENCH, "label": "A=B"}])
    report = import_data("judge_pairs", [path], "p", data_dir=tmp_path)
    (fault,) = report.bad
    assert "p.jsonl:2: label 'A=B' must be A>B or B>A" in fault


# Arena-Hard


def test_arena_hard_is_read_in_both_shapes_and_weighed_as_it_weighs(tmp_path: pathlib.Path) -> None:
    user = {"role": "user", "content": "Say hi."}
    records: list[dict[str, object]] = [
        {"uid": "q1", "category": "hard_prompt", "subcategory": "coding", "prompt": "Say hi."},
        {"question_id": "q2", "category": "v0.1", "cluster": "c", "turns": [{"content": "Go."}]},
        {"uid": "q1", "model": "m", "messages": [user, {"content": {"answer": "Hi."}}]},
        {
            "question_id": "q2",
            "model_id": "m",
            "choices": [{"index": 0, "turns": [{"content": "Gone.", "token_len": 2}]}],
        },
    ]
    about = {"category": "hard_prompt", "judge": "j", "model": "m", "baseline": "b"}
    # The baseline is shown first in their first game: much worse there is a clear win of m.
    for key, first, second in (("q1", "B>>A", "A=B"), ("q2", "A>B", "B<A")):
        games = [{"score": score, "judgment": {"answer": "x"}} for score in (first, second)]
        records.append({"uid": key, **about, "games": games})
    records.append({"uid": "q1", **about, "games": [None, {"score": "A>B"}]})
    path = json_lines(tmp_path / "a.jsonl", records)
    report = import_data("arena_hard", [path], "ah", data_dir=tmp_path)
    assert (report.questions, report.answers, report.judgments) == (2, {"m": 2}, 2)
    loaded = bench.load("ah", tmp_path)
    assert [question.turns for question in loaded.questions] == [["Say hi."], ["Go."]]
    rates = weighted_rates(read(loaded))
    # (3 · 1 + 0.5 + 0 + 1) of the weights 3 + 1 + 1 + 1
    assert rates["m"].value == pytest.approx(4.5 / 6)
    assert rates["b"].value == pytest.approx(1.5 / 6)
