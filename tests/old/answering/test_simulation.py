"""A chat model plays the user: the same for every model, kept, resumed, judged as a whole, and watched."""

import json
import pathlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.answering.simulation import EARLY, LEAK, NOTHING, ROLE, Broken, broken_rules, read_prompt
from harness.old.bench import Bench, load_bench
from harness.old.cli import check_bench, gen_answer, gen_judgment, run_bench
from harness.cli.show_result import main as show_result
from harness.old.errors import DataError, UsageError
from harness.old.records import Choice, Question, Reply
from harness.old.results.cost import show_cost
from harness.old.running.options import RunOptions
from tests.old.protocol_server import Asked, Fault, ProtocolServer, bad_request, verdict
from tests.old.small_bench import question, rows, small_bench, write

USER = {
    "persona": "A baker who bakes before sunrise every single day of the week.",
    "goal": "To learn how many loaves of bread fit into the large oven at once.",
    "done": "the assistant has named a number",
    "knows": ["The oven has 4 shelves.", "Six loaves fit on a shelf."],
    "needs": [{"kind": "contains", "text": "24"}],
    "most_turns": 4,
}


def played(number: int = 1, **changes: Any) -> dict[str, Any]:
    user = {**USER, **changes.pop("user", {})}
    return {**question(number, category="advice", turns=["How many loaves?"]), "user": user, **changes}


def is_user(asked: Asked) -> bool:
    return "You play a person" in asked.texts[0]


def talk(asked: Asked) -> str:
    """Reply as the user would, as the model would, or as the judge would."""
    if "[[number]]" in asked.texts[-1]:
        return str(verdict(asked))
    if is_user(asked):
        turns = sum(message["role"] == "assistant" for message in asked.body["messages"])
        return ("Hello?", "Four shelves.", "Six on each.", "Thanks! [[done]]")[min(turns, 3)]
    users = sum(message["role"] == "user" for message in asked.body["messages"])
    return "24 loaves." if users == 3 else f"How big is it? ({users})"


def held(bench: Bench, server: ProtocolServer, *models: str, **options: Any) -> None:
    asked = AnswerOptions(base_url=server.openai_url, user="u", user_base_url=server.openai_url, **options)
    run_answers(plan_answers(models or ["m"], bench, asked))


def test_user_and_model_speak_in_turn_and_both_stand_in_the_row(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played())
    with ProtocolServer(talk) as server:
        held(bench, server)
        asked = [one for one in server.requests if is_user(one)]
    (row,) = rows(bench.answer_file("m"))
    (choice,) = row["choices"]
    assert choice["user"] == ["How many loaves?", "Four shelves.", "Six on each.", "Thanks! [[done]]"]
    assert choice["turns"] == ["How big is it? (1)", "How big is it? (2)", "24 loaves."]
    assert row["user"]["model"] == "u"
    assert [message["role"] for message in asked[-1].body["messages"]] == ["system", *["user", "assistant"] * 3, "user"]
    assert asked[0].body["messages"][-1]["content"] == "How big is it? (1)"
    answer = bench.answers("m")[1]
    assert [reply.given for reply in answer.choices[0].user] == ["question", None, None, None]
    assert answer.user == row["user"]


def test_the_model_never_sees_what_the_user_is_told(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played())
    with ProtocolServer(talk) as server:
        held(bench, server)
        seen = [json.dumps(one.body) for one in server.requests if not is_user(one)]
    assert seen
    assert not any(text in one for one in seen for text in ("baker", "sunrise", "[[done]]"))


def test_a_user_without_a_first_message_finds_one(tmp_path: pathlib.Path) -> None:
    row = played()
    del row["turns"]
    bench = small_bench(tmp_path, row)
    with ProtocolServer(talk) as server:
        held(bench, server)
    (answered,) = rows(bench.answer_file("m"))
    assert answered["choices"][0]["user"][0] == "Hello?"
    assert bench.questions[0].turns == (USER["goal"],)


def test_no_conversation_is_longer_than_its_most_turns(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played(), played(2, user={"most_turns": 2}))

    def on_and_on(asked: Asked) -> str:
        return "And then?" if is_user(asked) else "Then this."

    with ProtocolServer(on_and_on) as server:
        held(bench, server)
    found = {row["question_id"]: len(row["choices"][0]["turns"]) for row in rows(bench.answer_file("m"))}
    assert found == {1: 4, 2: 2}


def test_every_model_meets_the_same_seeds(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played())
    with ProtocolServer(talk) as server:
        held(bench, server, "m", "n", user_samples=3, user_seed=7)
        seeds = Counter(one.body["seed"] for one in server.requests if is_user(one))
    assert set(seeds) == {7, 8, 9}
    assert len(set(seeds.values())) == 1
    for model in ("m", "n"):
        (row,) = rows(bench.answer_file(model))
        assert [choice["index"] for choice in row["choices"]] == [0, 1, 2]


def test_more_samples_keep_those_that_are_there_and_another_user_keeps_none(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played())
    with ProtocolServer(talk) as server:
        held(bench, server)
        before = len(server.requests)
        held(bench, server)
        assert len(server.requests) == before, "it is done"
        held(bench, server, user_samples=2)
        assert len(server.requests) == 2 * before
        held(bench, server, user_seed=5)
        assert len(server.requests) == 3 * before


def test_what_was_said_before_a_failure_is_not_asked_again(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played())

    def broken(asked: Asked) -> Fault | None:
        late = is_user(asked) and len(asked.body["messages"]) == 6
        return bad_request("The prompt is odd.") if late and asked.tries == 0 else None

    with ProtocolServer(talk, faults=broken) as server:
        held(bench, server)
        assert rows(bench.answer_file("m")) == []
        failed = len(server.requests)
        held(bench, server)
        texts = Counter(json.dumps(one.body["messages"]) for one in server.requests)
    assert failed == 4
    (row,) = rows(bench.answer_file("m"))
    assert len(row["choices"][0]["turns"]) == 3
    assert sorted(texts.values())[-2:] == [1, 2], "only the message that failed was asked for twice"


def test_without_a_user_or_without_questions_that_have_one_it_says_what_to_do(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played())
    with pytest.raises(UsageError, match=r"question 1 has a simulated user, and no model to play it; name a chat"):
        plan_answers(["builtin/eliza"], bench)
    plain = small_bench(tmp_path, name="plain")
    with pytest.raises(UsageError, match="no question has a simulated user; leave it out"):
        plan_answers(["builtin/eliza"], plain, AnswerOptions(user="builtin/user"))
    with pytest.raises(UsageError, match="builtin/user plays the user and does not answer questions; name it with"):
        plan_answers(["builtin/user"], bench, AnswerOptions(user="builtin/user"))
    plan = plan_answers(["builtin/eliza"], bench, AnswerOptions(user="builtin/user"))
    with pytest.raises(UsageError, match="--batch"):
        run_answers(plan, RunOptions(batch=True))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"user": {"goal": " "}}, "goal must be a text that is not empty", id="no-goal"),
        pytest.param({"user": {"mood": "grim"}}, "must be an object of persona, goal", id="unknown-key"),
        pytest.param({"user": {"needs": [{"kind": "contain"}]}}, "did you mean 'contains'", id="no-check"),
        pytest.param({"user": {"most_turns": 0}}, "most_turns must be a whole number from 1", id="no-turns"),
        pytest.param({"turns": ["a", "b"]}, "can only be the user's first message", id="two-turns"),
        pytest.param({"checks": [[{"kind": "json"}]]}, "put checks into its needs", id="checks"),
    ],
)
def test_a_user_that_cannot_be_is_named_with_its_line(tmp_path: pathlib.Path, change: Any, words: str) -> None:
    with pytest.raises(DataError, match=rf"question\.jsonl:1: .*{words}"):
        small_bench(tmp_path, played(**change))


def test_check_bench_names_the_fault_of_a_user(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = played(user={"goal": ""})
    del row["turns"]
    write(tmp_path / "small" / "question.jsonl", [row, played(2)])
    assert check_bench.main(["small", "--data-dir", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "user of question 1: goal must be a text that is not empty" in shown
    assert "1 problem\n" in shown


def choice(*user: str, replies: tuple[str, ...] = ("24.",)) -> Choice:
    said = tuple(Reply(text, given=None if at else "question") for at, text in enumerate(user))
    return Choice(0, tuple(Reply(text) for text in replies), user=said)


@pytest.mark.parametrize(
    ("said", "replies", "rules"),
    [
        pytest.param(("Hi", "Thanks! [[done]]"), ("24.",), [], id="content"),
        pytest.param(("Hi", "Thanks! [[done]]"), ("Perhaps 12.",), [Broken(EARLY, 2)], id="too early"),
        pytest.param(("Hi", "How can I help you today?"), ("24.",), [Broken(ROLE, 2)], id="speaks as an assistant"),
        pytest.param(("Hi", "Assistant: of course."), ("24.",), [Broken(ROLE, 2)], id="labels itself"),
        pytest.param(
            ("Hi", "I want to learn how many loaves of bread fit into the large oven."),
            ("24.",),
            [Broken(LEAK, 2)],
            id="recites",
        ),
        pytest.param(("Hi", "My role is to play a baker."), ("24.",), [Broken(LEAK, 2)], id="tells of the role"),
        pytest.param(("Hi", "  "), ("24.",), [Broken(NOTHING, 2)], id="says nothing"),
        pytest.param(("Hi", "How many loaves of bread is that?"), ("24.",), [], id="words of its own"),
    ],
)
def test_rules_that_the_user_broke_are_found(
    tmp_path: pathlib.Path, said: tuple[str, ...], replies: tuple[str, ...], rules: list[Broken]
) -> None:
    asked: Question = small_bench(tmp_path, played()).questions[0]
    assert broken_rules(asked, choice(*said, replies=replies), read_prompt()) == rules


def test_an_opening_that_the_question_gives_breaks_no_rule(tmp_path: pathlib.Path) -> None:
    asked = small_bench(tmp_path, played(turns=["As an AI, how can I help you?"])).questions[0]
    assert broken_rules(asked, choice("As an AI, how can I help you?", "Bye [[done]]"), read_prompt()) == []


def test_how_the_user_is_played_is_data(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, played())
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'name = "mine"\nstop = "OVER"\nsystem = "You play a person: {persona} {goal} {braces}"\nstart = "Go."\n'
        'brief = "Talk."\n',
        encoding="utf-8",
    )

    def reply(asked: Asked) -> str:
        return "Bye. OVER" if is_user(asked) else "Hello."

    with ProtocolServer(reply) as server:
        held(bench, server, user_prompt=mine)
        system = next(one.texts[0] for one in server.requests if is_user(one))
    assert system == f"You play a person: {USER['persona']} {USER['goal']} {{braces}}"
    (row,) = rows(bench.answer_file("m"))
    assert (row["user"]["prompt"], row["user"]["stop"]) == ("mine 1", "OVER")
    assert row["choices"][0]["user"] == ["How many loaves?", "Bye. OVER"]


@pytest.fixture
def judged(tmp_path: pathlib.Path) -> Callable[..., tuple[Bench, ProtocolServer]]:
    """Return a function that lets a benchmark of conversations be answered and judged by the command."""

    def make(server: ProtocolServer, *more: str) -> Bench:
        bench = small_bench(tmp_path, *(played(number) for number in range(1, 4)))
        flags = ["--bench-name", "small", "--data-dir", str(tmp_path), "-q"]
        user = ["--user", "u", "--user-base-url", server.openai_url, "--base-url", server.openai_url]
        assert gen_answer.main(["--model", "m", "n", *flags, *user, *more]) == 0
        judge = ["--judge-model", "j", "--base-url", server.openai_url, "--choices", "all", "-y"]
        assert gen_judgment.main([*flags, *judge]) == 0
        return bench

    return make  # type: ignore[return-value]


def test_a_conversation_is_judged_once_as_a_whole(judged: Any) -> None:
    with ProtocolServer(talk) as server:
        bench = judged(server)
        prompts = [one.texts[-1] for one in server.requests if "[[number]]" in one.texts[-1]]
    assert len(prompts) == 2 * 3
    assert all(f"What the user wants: {USER['goal']}" in prompt for prompt in prompts)
    order = ["User, message 2:", "Four shelves.", "Assistant, reply 2:", "How big is it? (2)", "User, message 3:"]
    for prompt in prompts:
        places = [prompt.index(text) for text in order]
        assert places == sorted(places)
        assert prompt.count("<<<text") == 6, "what either of them wrote cannot pass for a message of the other"
    assert {row["turn"] for row in rows(bench.judgment_file("j", "mt_bench", "single"))} == {1}


def test_results_say_what_the_user_did_and_how_much_is_the_users(
    judged: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def moody(asked: Asked) -> str:
        """Be another user with each seed: the second one ends before it has what it needs."""
        if is_user(asked) and asked.body["seed"] == 1:
            return "Never mind. [[done]]"
        if "[[number]]" in asked.texts[-1]:
            return f"Rating: [[{3 if 'Never mind' in asked.texts[-1] or '24' not in asked.texts[-1] else 9}]]"
        return talk(asked)

    with ProtocolServer(moody) as server:
        bench = judged(server, "--user-samples", "2")
    capsys.readouterr()
    flags = ["--bench-name", "small", "--data-dir", str(bench.folder.parent)]
    assert show_result([*flags, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for part in found["users"]:
        assert (part["conversations"], part["ended_by_user"], part["ended_too_early"]) == (6, 6, 3)
        assert (part["with_breaks"], part["average_without"]) == (3, 9)
    variance = found["user_variance"]
    assert variance["user_samples"] == 2
    assert variance["share_least"] == pytest.approx(variance["share_most"])
    assert variance["sd_within"] == pytest.approx(18**0.5)
    assert show_result(flags) == 0
    shown = capsys.readouterr().out
    assert "The user's part" in shown
    assert "ended too early" in shown
    assert "The user's share of the variance" in shown


def test_models_that_met_different_users_are_not_in_one_table(
    judged: Any, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ProtocolServer(talk) as server:
        judged(server)
        flags = ["--bench-name", "small", "--data-dir", str(tmp_path)]
        user = ["--user", "builtin/user", "--base-url", server.openai_url]
        assert gen_answer.main(["--model", "n", *flags, *user, "-q"]) == 0
        judge = ["--judge-model", "j", "--base-url", server.openai_url, "-q", "-y"]
        assert gen_judgment.main([*flags, *judge]) == 0
    capsys.readouterr()
    assert show_result(flags) == 2
    assert "m with u, n with builtin/user" in capsys.readouterr().err


def test_what_the_user_costs_is_counted_and_estimated(judged: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with ProtocolServer(talk) as server:
        bench = judged(server)
    where = {"bench_name": "small", "data_dir": bench.folder.parent}
    calls = {(row.what, row.model): row.calls for row in show_cost(**where)}
    assert calls["users", "u"] == 2 * 3 * 3
    assert calls["answers", "m"] == 3 * 3
    capsys.readouterr()
    flags = ["--bench-name", "small", "--data-dir", str(bench.folder.parent), "--dry-run", "-q"]
    named = ["--model", "gpt-4.1", "--user", "gpt-4.1-mini"]
    assert gen_answer.main([*named, *flags]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:3] == ["users", "gpt-4.1-mini", "9"] for line in lines)
    assert any(line.split()[:3] == ["answers", "gpt-4.1", "12"] for line in lines)


def test_the_built_in_user_needs_no_key(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--bench-name", "user_chat", "--data-dir", str(tmp_path), "--user", "builtin/user", "-q", "-y"]
    named = ["--model", "builtin/eliza", "builtin/outline", "--judge-model", "builtin/overlap"]
    assert run_bench.main([*named, *flags, "--user-samples", "2", "--choices", "all"]) == 0
    assert "Played by builtin/user" in capsys.readouterr().out
    bench = load_bench("user_chat", tmp_path)
    for answer in bench.answers("builtin/outline").values():
        assert answer.choices[0].user[0].text == answer.choices[1].user[0].text
    differing = [
        key
        for key, answer in bench.answers("builtin/eliza").items()
        if [r.text for r in answer.choices[0].user] != [r.text for r in answer.choices[1].user]
    ]
    assert len(differing) > 12
