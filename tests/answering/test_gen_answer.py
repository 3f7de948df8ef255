import json
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from harness import bench, gen_answer, status, store
from harness.answering.plan import AnswerPlan, plan_answers
from harness.cli.main import gen_answer as main
from harness.errors import MissingError, UsageError
from harness.options import GenAnswer, build
from harness.types import Answer
from tests.servers import Call, Rule, Server, unused_url

QUESTIONS: list[dict[str, Any]] = [
    {"question_id": 1, "category": "writing", "turns": ["Write.", "Shorter."]},
    {"question_id": 2, "category": "math", "turns": ["2+2?", "And 3 more?"]},
    {"question_id": 3, "category": "odd", "turns": ["Hello."]},
]


def make(
    folder: pathlib.Path, questions: Sequence[dict[str, Any]] = QUESTIONS, settings: str = ""
) -> pathlib.Path:
    """Write a benchmark `small` into a data folder."""
    home = folder / "small"
    home.mkdir(parents=True)
    text = "".join(json.dumps(question) + "\n" for question in questions)
    (home / "question.jsonl").write_text(text)
    if settings:
        (home / "bench.toml").write_text(settings)
    return home


def run(folder: pathlib.Path, server: Server, **words: Any) -> dict[Any, Answer]:
    """Answer with the model `m` at a server; return its rows by question id."""
    report = gen_answer("m", "small", data_dir=str(folder), base_url=f"{server.url}/v1", **words)
    assert report.complete, report.outcome.causes()
    return {key: row for (key,), row in store.latest(report.paths[0], Answer).items()}


def echo(call: Call) -> str:
    return " / ".join(text for _, text in call.messages)


def test_each_turn_sees_the_conversation_so_far(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    with Server(Rule(echo)) as server:
        rows = run(tmp_path, server)
    assert rows[1].choices[0].turns == ["Write.", "Write. / Write. / Shorter."]
    assert rows[1].model_id == "m"
    assert rows[1].choices[0].details[0].finish_reason == "stop"
    assert rows[1].choices[0].details[0].usage.prompt_tokens == 1


def test_temperatures_are_mt_benchs_by_category(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    with Server(Rule("x")) as server:
        rows = run(tmp_path, server)
        sent = {call.messages[0][1]: call.body["temperature"] for call in server.calls}
    assert sent == {"Write.": 0.7, "2+2?": 0.0, "Hello.": 0.7}
    assert rows[2].sampling == {"temperature": 0.0, "max_tokens": 4096}


def test_settings_of_the_benchmark_come_before_the_usual_ones(tmp_path: pathlib.Path) -> None:
    settings = 'max_tokens = 1024\nsystem_prompt = "Be brief."\n[temperatures]\nmath = 0.5\n'
    make(tmp_path, settings=settings)
    with Server(Rule("x")) as server:
        rows = run(tmp_path, server, first_n=2)
        assert server.calls[0].messages[0] == ("system", "Be brief.")
    assert rows[2].sampling == {"temperature": 0.5, "max_tokens": 1024}
    assert rows[2].system_prompt == "Be brief."


def test_what_is_typed_comes_before_everything(tmp_path: pathlib.Path) -> None:
    make(tmp_path, settings="max_tokens = 1024\n")
    with Server(Rule("x")) as server:
        words = {"temperature": 1, "max_tokens": 7, "param": ["top_k=3", "extra_body.mode=fast"]}
        rows = run(tmp_path, server, system="", first_n=1, **words)
        body = server.calls[0].body
    assert (body["temperature"], body["top_k"], body["mode"]) == (1.0, 3, "fast")
    expected = {"temperature": 1.0, "max_tokens": 7, "top_k": 3, "extra_body": {"mode": "fast"}}
    assert rows[1].sampling == expected


def test_a_second_run_asks_nothing(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    with Server() as server:
        run(tmp_path, server)
        count = len(server.calls)
        run(tmp_path, server)
        assert len(server.calls) == count == 5


def test_answers_to_a_changed_question_are_made_again(tmp_path: pathlib.Path) -> None:
    home = make(tmp_path)
    with Server() as server:
        run(tmp_path, server)
        changed = [{**QUESTIONS[0], "turns": ["Write more."]}, *QUESTIONS[1:]]
        (home / "question.jsonl").write_text("".join(json.dumps(q) + "\n" for q in changed))
        server.calls.clear()
        rows = run(tmp_path, server)
        assert [call.messages[-1][1] for call in server.calls] == ["Write more."]
    assert len(rows) == 3
    assert len((home / "model_answer" / "m.jsonl").read_text().splitlines()) == 3


def test_rows_of_fastchat_are_done_but_those_with_its_error_text(tmp_path: pathlib.Path) -> None:
    home = make(tmp_path)
    (home / "model_answer").mkdir()
    with (home / "model_answer" / "m.jsonl").open("w") as file:
        for key, turns in ((1, ["a", "b"]), (2, ["$ERROR$", "$ERROR$"]), (3, ["c"])):
            row = {"question_id": key, "answer_id": "x", "model_id": "m", "tstamp": 1.0}
            file.write(json.dumps({**row, "choices": [{"index": 0, "turns": turns}]}) + "\n")
    with Server() as server:
        run(tmp_path, server)
        assert len(server.calls) == 2
        rows = run(tmp_path, server, num_choices=2)
        assert len(server.calls) == 4
    assert len(rows[1].choices) == 1
    assert rows[1].choices[0].turns == ["a", "b"]
    assert rows[2].choices[0].turns == ["Fine.", "Fine."]


def test_more_choices_keep_those_that_exist(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    with Server(Rule("one")) as server:
        run(tmp_path, server, question_begin=2, seed=5)
    with Server(Rule("two")) as server:
        rows = run(tmp_path, server, question_begin=2, seed=5, num_choices=3)
        assert sorted(call.body["seed"] for call in server.calls) == [6, 7]
    assert [choice.turns for choice in rows[3].choices] == [["one"], ["two"], ["two"]]


def test_a_cut_reply_is_asked_again_unless_the_limit_was_typed(tmp_path: pathlib.Path) -> None:
    make(tmp_path)

    def short(call: Call) -> bool:
        return int(call.body.get("max_tokens") or call.body["max_completion_tokens"]) < 5000

    with Server(Rule("cu", when=short, finish="length"), Rule("whole")) as server:
        rows = run(tmp_path, server, question_begin=2)
        assert rows[3].choices[0].turns == ["whole"]
        assert rows[3].choices[0].details[0].usage.completion_tokens == 2
        rows = run(tmp_path, server, question_begin=2, max_tokens=50)
    assert rows[3].choices[0].turns == ["cu"]
    assert rows[3].choices[0].details[0].finish_reason == "length"


def test_a_benchmark_may_forbid_the_second_try(tmp_path: pathlib.Path) -> None:
    make(tmp_path, settings="max_tokens = 1024\nretry_cut = 1.0\n")
    with Server(Rule("cu", finish="length")) as server:
        run(tmp_path, server, question_begin=2)
        assert len(server.calls) == 1


def test_replies_that_the_question_gives_are_not_asked_for(tmp_path: pathlib.Path) -> None:
    turns = {"turns": ["A?", "B?", "C?"], "history": ["a", None, None]}
    make(tmp_path, [{"question_id": 1, "category": "chat", **turns}])
    with Server(Rule(echo)) as server:
        (row,) = run(tmp_path, server).values()
        assert len(server.calls) == 2
    assert row.choices[0].turns[:2] == ["a", "A? / a / B?"]
    assert [detail.given for detail in row.choices[0].details] == ["question", None, None]


def test_with_a_history_every_turn_follows_given_replies(tmp_path: pathlib.Path) -> None:
    home = make(tmp_path, QUESTIONS[:2])
    (home / "reference_answer").mkdir()
    with (home / "reference_answer" / "ref.jsonl").open("w") as file:
        for key in (1, 2):
            row = {"question_id": key, "model_id": "ref"}
            file.write(json.dumps({**row, "choices": [{"turns": ["R1", "R2"]}]}) + "\n")
    with Server(Rule(echo)) as server:
        rows = run(tmp_path, server, history="reference")
        assert len(server.calls) == 4
    assert rows[1].model_id == "m+history=reference"
    assert rows[1].choices[0].turns == ["Write.", "Write. / R1 / Shorter."]
    assert rows[1].choices[0].history == ["R1"]
    assert bench.load("small", tmp_path).answered_models() == ["m+history=reference"]


def test_missing_turns_of_a_history_stop_the_run_or_are_left_out(tmp_path: pathlib.Path) -> None:
    home = make(tmp_path, QUESTIONS[:2])
    (home / "reference_answer").mkdir()
    row = {"question_id": 2, "model_id": "ref", "choices": [{"turns": ["R1", "R2"]}]}
    (home / "reference_answer" / "ref.jsonl").write_text(json.dumps(row) + "\n")
    with Server() as server:
        with pytest.raises(MissingError, match=r"reference has no replies to 1 questions \(1\)"):
            run(tmp_path, server, history="reference")
        assert set(run(tmp_path, server, history="reference", skip_missing=True)) == {2}


def test_a_played_user_talks_until_content(tmp_path: pathlib.Path) -> None:
    user = {
        "persona": "A cook.",
        "goal": "To learn the oven's heat.",
        "done": "a temperature was named",
        "knows": ["It is a cake."],
    }
    make(tmp_path, [{"question_id": 1, "category": "chat", "turns": ["Hi."], "user": user}])
    with Server(Rule("What is it?", times=1), Rule("180 degrees.")) as server:
        (row,) = run(tmp_path, server, user="builtin/user").values()
    choice = row.choices[0]
    assert choice.turns == ["What is it?", "180 degrees."]
    assert choice.user[0] == "Hi."
    assert choice.user[1] == "It is a cake."
    assert choice.user[-1].endswith("[[done]]")
    assert row.user is not None
    assert row.user["model"] == "builtin/user"


def test_a_played_user_needs_a_model(tmp_path: pathlib.Path) -> None:
    user = {"persona": "p", "goal": "g", "done": "d"}
    make(tmp_path, [{"question_id": 1, "category": "chat", "user": user}])
    with Server() as server, pytest.raises(UsageError, match="name it with --user"):
        run(tmp_path, server)


def test_a_refused_prompt_is_an_answer(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    error = {"error": {"message": "flagged", "code": "content_filter"}}
    math = Rule(status=400, body=error, when=lambda call: "2+2?" in call.text)
    with Server(math) as server:
        rows = run(tmp_path, server)
    assert rows[2].choices[0].details[0].finish_reason == "refused"


def test_the_command_lists_failures_and_the_next_run_tries_them_again(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path)
    bad = Rule(status=400, body={"error": {"message": "no such thing"}}, times=1)
    flags = f"--bench-name small --data-dir {tmp_path} --model m --parallel 1".split()
    with Server(bad) as server:
        command = [*flags, "--base-url", f"{server.url}/v1"]
        assert main(command) == 1
        output = capsys.readouterr()
        assert "1 row is missing; the same command tries again" in output.err
        assert "m, question 1: " in output.err
        assert "no such thing" in output.err
        assert output.out.splitlines() == [str(tmp_path / "small" / "model_answer" / "m.jsonl")]
        assert main(command) == 0
    assert (
        "2 answered before (the newest just now; --redo answers again)" in capsys.readouterr().err
    )


def test_one_answer_file_holds_one_model(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    path = tmp_path / "mine.jsonl"
    row = {"question_id": 1, "model_id": "other", "choices": [{"turns": ["a"]}]}
    path.write_text(json.dumps(row) + "\n")
    with Server() as server, pytest.raises(UsageError, match="holds answers of 'other'"):
        run(tmp_path, server, answer_file=str(path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param({"first_n": 1, "question_begin": 3}, "the slice leaves none", id="slice"),
        pytest.param({"param": ["top=1"]}, "top", id="parameter"),
        pytest.param({"param": ["top_k"]}, "must be NAME=VALUE", id="no value"),
        pytest.param({"user": "builtin/user"}, "no question has a user", id="user"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: pathlib.Path, words: dict[str, Any], message: str) -> None:
    make(tmp_path)
    with Server() as server, pytest.raises(UsageError, match=message):
        run(tmp_path, server, **words)


def test_hashes_are_those_of_rows_on_disk(tmp_path: pathlib.Path) -> None:
    """The recipe of the hashes: rows with another one would be paid for again."""
    make(tmp_path)
    with Server() as server:
        rows = run(tmp_path, server)
    hashes = rows[1].made_from
    assert hashes is not None
    assert (hashes.question, hashes.parameters) == ("d8d7926de6f25583", "1ed21942643fc8ec")


def test_a_server_that_never_comes_is_given_up_in_one_line(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    report = gen_answer("m", "small", data_dir=tmp_path, base_url=unused_url(), patience=0.2)
    assert not report.complete
    (cause,) = {failure.message for failure in report.outcome.failures}
    assert "cannot connect to http://127.0.0.1:" in cause
    assert cause.endswith("given up after 0.2 s without a reply (--patience)")


def test_the_only_model_of_a_server_needs_no_name(tmp_path: pathlib.Path) -> None:
    make(tmp_path)
    with Server() as server:
        words = ["--base-url", f"{server.url}/v1", "--bench-name", "small", "-q"]
        words += ["--data-dir", str(tmp_path)]
        server.models = ["org/the-one"]
        assert main(words) == 0
        assert {call.body["model"] for call in server.calls} == {"org/the-one"}
        server.models = ["a", "b"]
        with pytest.raises(UsageError, match="has 2 models; name the model with --model: a, b"):
            gen_answer((), "small", data_dir=tmp_path, base_url=f"{server.url}/v1")
        server.models = []
        with pytest.raises(UsageError, match="lists no models; name the model"):
            gen_answer((), "small", data_dir=tmp_path, base_url=f"{server.url}/v1")


def test_faults_of_every_kind_lose_no_row(tmp_path: pathlib.Path) -> None:
    rows = [{"question_id": n, "category": "x", "turns": ["Q", "R"]} for n in range(30)]
    make(tmp_path, rows)
    faults = [
        Rule(status=429, headers={"Retry-After": "0.01"}, times=3),
        Rule(status=500, times=3),
        Rule(drop="before", times=3),
        Rule(drop="within", times=3),
        Rule(body={"error": {"message": "overloaded"}}, times=2),
    ]
    with Server(*faults, Rule(echo)) as server:
        answers = run(tmp_path, server, parallel=4)
        assert len(server.calls) == 60 + 14
    assert {key: row.choices[0].turns for key, row in answers.items()} == {
        n: ["Q", "Q / Q / R"] for n in range(30)
    }


def planned(folder: pathlib.Path, **words: Any) -> AnswerPlan:
    record = build(GenAnswer, {"model": "builtin/eliza", **words})
    return plan_answers(bench.load("small", folder), record)


def test_a_forgotten_parameter_is_kept_and_a_stated_one_names_both_values(
    tmp_path: pathlib.Path,
) -> None:
    make(tmp_path)
    gen_answer("builtin/eliza", "small", data_dir=str(tmp_path), max_tokens=60, first_n=1)
    kept = planned(tmp_path)
    model = kept.models[0]
    assert (model.split.done, model.split.changed) == (1, 0)
    assert {todo.sampling.max_tokens for todo in model.todo} == {60}
    assert any("max_tokens 60, which is kept" in notice for notice in kept.notices)
    stated = planned(tmp_path, max_tokens=100).models[0].split
    assert stated.causes == {"max_tokens was 60 and is 100 now": 1}
    assert planned(tmp_path, redo=True).models[0].todo[0].sampling.max_tokens == 4096


def test_rows_of_one_file_that_differ_in_what_nothing_states_are_an_error(
    tmp_path: pathlib.Path,
) -> None:
    make(tmp_path)
    gen_answer("builtin/eliza", "small", data_dir=str(tmp_path), max_tokens=60)
    gen_answer("builtin/eliza", "small", data_dir=str(tmp_path), max_tokens=70, first_n=1)
    with pytest.raises(UsageError, match="max_tokens is 70 in some rows and 60 in others"):
        planned(tmp_path)
    assert planned(tmp_path, max_tokens=60).models[0].split.changed == 1


def test_status_counts_the_answers_that_gen_answer_would_make_again(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    monkeypatch.chdir(tmp_path)
    words: dict[str, Any] = {"bench_name": "small", "data_dir": str(tmp_path)}
    with Server(Rule("x")) as server:
        run(tmp_path, server)
        table = f'[models.m]\nbase_url = "{server.url}/v1"\n'
    pathlib.Path("turnbench.toml").write_text(table)
    (row,) = status(**words).tables[0].rows
    assert (row["answered"], row["superseded"], row["missing"]) == (3, 0, 0)
    pathlib.Path("turnbench.toml").write_text(table + "sampling = { max_tokens = 7 }\n")
    (row,) = status(**words).tables[0].rows
    plan = gen_answer("m", dry_run=True, **words).plan
    assert row["superseded"] == plan.models[0].split.changed == 3
    assert row["why"] == "; ".join(plan.models[0].split.causes)


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["run", "dry run"])
def test_an_answer_file_that_is_a_folder_is_refused_before_the_first_call(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    make(tmp_path)
    words = ["--model", "m", "--bench-name", "small", "--data-dir", str(tmp_path)]
    with Server(Rule("x")) as server:
        flags = ["--base-url", server.url, "--answer-file", str(tmp_path), *more]
        assert main([*words, *flags]) == 2
        assert not server.calls
    assert "is a folder; name a file: " in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["run", "dry run"])
def test_calls_that_cannot_be_made_are_refused_in_a_dry_run_too(
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
) -> None:
    make(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    words = ["--model", "builtin/eliza", "--bench-name", "small", "--data-dir", str(tmp_path)]
    assert main([*words, "--ray", *more]) == 2
    assert "pip install 'turnbench[ray]'" in capsys.readouterr().err
    assert main([*words, "--ray", "--batch", *more]) == 2
    assert "--batch and --ray exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["run", "dry run"])
def test_a_provider_whose_package_is_missing_is_refused_before_the_first_call(
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
) -> None:
    make(tmp_path)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.setitem(sys.modules, "google.genai", None)
    words = ["--model", "builtin/eliza", "gemini-2.5-pro", "--bench-name", "small"]
    assert main([*words, "--data-dir", str(tmp_path), *more]) == 2
    error = capsys.readouterr().err
    assert "gemini-2.5-pro: gemini needs the extra [gemini]" in error
    assert "pip install 'turnbench[gemini]'" in error
    assert not (tmp_path / "small" / "model_answer").exists()
