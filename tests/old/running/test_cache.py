"""Completions by content: what is found, what never is, and that several processes may share the file."""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.old.chat.endpoint import Endpoint
from harness.old.errors import ChatError, StorageError
from harness.old.records import FinishReason, Message, Reply, Request, Sampling, TokenLogprobs, Usage
from harness.old.running.cache import Cache, Shelf
from harness.old.running.engine import run
from harness.old.running.jobs import Course, Job, Steps
from harness.old.running.options import RunOptions
from harness.old.running.pending import Pending
from tests.old.processes import Starter
from tests.old.protocol_server import ProtocolServer
from tests.old.small_bench import Scripted, answer, small_bench, write

ENDPOINT = Endpoint("m", "openai", "gpt-4o", "http://localhost:1/v1", "MY_KEY")
ASKED = Request((Message("user", "One?"),), Sampling(temperature=0.7, max_tokens=9))
REPLY = Reply(
    "Four.", "2+2", "stop", Usage(7, 5, 2, 4), 1.25, "m-2026", {"temperature": 0.7}, "a note", (
        TokenLogprobs("Four", -0.5, (("Four", -0.5), ("Five", -1.5))),
    ),
)  # fmt: skip


def shelf(cache: Cache, endpoint: Endpoint = ENDPOINT, *, fresh: bool = False) -> Shelf:
    found = cache.shelf(endpoint, fresh=fresh)
    assert found is not None
    return found


def keep(path: pathlib.Path, reply: Reply = REPLY) -> None:
    with Cache(path) as cache:
        mine = shelf(cache)
        key = mine.key(ASKED)
        assert mine.begin(key, "me")
        mine.end(key, reply)


def found(
    path: pathlib.Path, request: Request = ASKED, endpoint: Endpoint = ENDPOINT, index: int = 0, again: int = 0
) -> Reply | None:
    with Cache(path) as cache:
        mine = shelf(cache, endpoint)
        return mine.find(mine.key(request, index, again))


def test_a_completion_is_found_again_with_all_that_it_holds_and_says_where_it_is_from(tmp_path: pathlib.Path) -> None:
    keep(tmp_path / "c.sqlite")
    assert found(tmp_path / "c.sqlite") == replace(REPLY, from_cache=True)


@pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param(replace(ENDPOINT, name="another name"), id="another name for the same model"),
        pytest.param(replace(ENDPOINT, api_key_env="OTHER"), id="another key"),
        pytest.param(replace(ENDPOINT, timeout=1.0), id="another time limit"),
    ],
)
def test_what_is_not_sent_does_not_count(tmp_path: pathlib.Path, endpoint: Endpoint) -> None:
    keep(tmp_path / "c.sqlite")
    assert found(tmp_path / "c.sqlite", endpoint=endpoint) is not None


@pytest.mark.parametrize(
    ("request_", "endpoint"),
    [
        pytest.param(replace(ASKED, messages=(Message("user", "Two?"),)), ENDPOINT, id="another prompt"),
        pytest.param(replace(ASKED, messages=(Message("system", "One?"),)), ENDPOINT, id="another role"),
        pytest.param(
            replace(ASKED, sampling=Sampling(temperature=0, max_tokens=9)), ENDPOINT, id="another temperature"
        ),
        pytest.param(replace(ASKED, top_logprobs=5), ENDPOINT, id="with log-probabilities"),
        pytest.param(replace(ASKED, schema={"type": "object"}), ENDPOINT, id="with a schema"),
        pytest.param(ASKED, replace(ENDPOINT, model="gpt-4.1"), id="another model"),
        pytest.param(ASKED, replace(ENDPOINT, base_url="http://localhost:2/v1"), id="another address"),
        pytest.param(ASKED, replace(ENDPOINT, provider="completions"), id="another protocol"),
    ],
)
def test_what_is_sent_counts(tmp_path: pathlib.Path, request_: Request, endpoint: Endpoint) -> None:
    keep(tmp_path / "c.sqlite")
    assert found(tmp_path / "c.sqlite", request_, endpoint) is None


def test_samples_and_repeated_attempts_stay_different_completions(tmp_path: pathlib.Path) -> None:
    keep(tmp_path / "c.sqlite")
    assert found(tmp_path / "c.sqlite", index=1) is None
    assert found(tmp_path / "c.sqlite", again=1) is None


@pytest.mark.parametrize("reason", ["length", "refused", "empty", "unstated"])
def test_only_whole_replies_are_kept(tmp_path: pathlib.Path, reason: FinishReason) -> None:
    keep(tmp_path / "c.sqlite", replace(REPLY, finish_reason=reason))
    assert found(tmp_path / "c.sqlite") is None


def test_a_fresh_start_finds_only_its_own_and_replaces_the_old(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "c.sqlite"
    keep(path)
    with Cache(path) as cache:
        mine = shelf(cache, fresh=True)
        key = mine.key(ASKED)
        assert mine.find(key) is None
        mine.end(key, replace(REPLY, text="Five."))
        again = mine.find(key)
        assert again is not None
        assert again.text == "Five."
    last = found(path)
    assert last is not None
    assert last.text == "Five."


def test_built_in_models_and_no_file_have_no_shelf(tmp_path: pathlib.Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache, Cache(None) as none:
        assert cache.shelf(Endpoint("builtin/eliza", "builtin", "builtin/eliza")) is None
        assert cache.shelf(None) is None
        assert none.shelf(ENDPOINT) is None


def test_the_file_holds_neither_prompt_nor_key(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    keep(tmp_path / "c.sqlite")
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Four." in data
    assert b"One?" not in data
    assert b"sk-very-secret" not in data
    assert b"MY_KEY" not in data


def damaged(path: pathlib.Path) -> None:
    path.write_bytes(b"this is no database, whatever it is called" * 100)


def of_another_version(path: pathlib.Path) -> None:
    base = sqlite3.connect(path)
    base.execute("pragma user_version = 99")
    base.commit()
    base.close()


def in_the_way(path: pathlib.Path) -> None:
    path.mkdir()


def of_another_program(path: pathlib.Path) -> None:
    base = sqlite3.connect(path)
    base.execute("create table notes (x)")
    base.execute("pragma user_version = 1")
    base.commit()
    base.close()


def of_other_columns(path: pathlib.Path) -> None:
    base = sqlite3.connect(path)
    base.execute("create table completion (key text primary key, answer text) without rowid")
    base.commit()
    base.close()


def cut(path: pathlib.Path) -> None:
    """Leave the half of a cache, as a copy that was broken off."""
    with Cache(path) as cache:
        mine = shelf(cache)
        for number in range(50):
            mine.end(mine.key(ASKED, number), replace(REPLY, text="Four. " * 500))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def a_pipe(path: pathlib.Path) -> None:
    os.mkfifo(path)


def in_a_file(path: pathlib.Path) -> None:
    path.parent.rmdir()
    path.parent.write_bytes(b"")


def test_another_programs_database_stays_as_it_is(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "c.sqlite"
    of_another_program(path)
    before = path.read_bytes()
    with pytest.raises(StorageError), Cache(path):
        pass
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["c.sqlite"]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(damaged, "file is not a database", id="no database"),
        pytest.param(cut, "malformed|damaged", id="cut"),
        pytest.param(of_another_version, "it has version 99, of another turnbench", id="another version"),
        pytest.param(of_another_program, "it is another program's database", id="another program's"),
        pytest.param(of_other_columns, "no such column", id="a table of other columns"),
        pytest.param(in_the_way, "it is no file", id="a folder"),
        pytest.param(a_pipe, "it is no file", id="a pipe"),
        pytest.param(in_a_file, "File exists|Not a directory", id="within a file"),
    ],
)
def test_a_cache_that_cannot_be_used_is_an_error_before_the_first_call(
    tmp_path: pathlib.Path, spoil: Callable[[pathlib.Path], None], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "caches" / "c.sqlite"
    path.parent.mkdir()
    spoil(path)
    told = rf"c\.sqlite: the cache cannot be used \(.*({why}).*\); name another file with --cache, or leave it out"
    with pytest.raises(StorageError, match=told) as caught:
        jobs(tmp_path, path, ["a", "b"])
    assert (caught.value.exit_code, caplog.records) == (2, [])


@pytest.mark.parametrize("command", ["gen_answer", "gen_judgment", "run_bench"])
def test_no_command_calls_where_its_cache_cannot_be_used(
    command: str, tmp_path: pathlib.Path, starter: Starter
) -> None:
    (tmp_path / "c.sqlite").mkdir()
    bench = small_bench(tmp_path)
    write(bench.answer_file("a"), [answer(n, "a", "One.", "Two.") for n in (1, 2, 3)])
    where = ["--bench-name", bench.name, "--data-dir", str(tmp_path), "--cache", str(tmp_path / "c.sqlite"), "-q"]
    with ProtocolServer() as server:
        who = {"gen_answer": ["--model", "m"], "gen_judgment": ["--judge-model", "m"]}
        asked = who.get(command, ["--model", "m", "--judge-model", "m", "--judge-base-url", server.openai_url])
        ended = starter.run(f"harness.cli.{command}", [*asked, *where, "--base-url", server.openai_url])
    assert (ended.returncode, server.requests) == (2, []), ended.stderr
    assert ended.stderr.startswith(f"{command}: error: {tmp_path / 'c.sqlite'}: the cache cannot be used (it is no")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("no json", id="no JSON"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"text": 5, "details": {"model": "m"}}', id="no text"),
    ],
)
def test_damage_met_while_the_run_goes_on_is_one_warning(
    reply: str, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep(tmp_path / "c.sqlite")
    with Cache(tmp_path / "c.sqlite") as cache:
        mine = shelf(cache)
        base = sqlite3.connect(tmp_path / "c.sqlite")
        base.execute("update completion set reply = ?", (reply,))
        base.commit()
        base.close()
        assert mine.find(mine.key(ASKED)) is None
        assert mine.find(mine.key(ASKED)) is None
        mine.end(mine.key(ASKED), REPLY)
    assert len(caplog.records) == 1


WRITER = """
import sys, pathlib
from harness.old.chat.endpoint import Endpoint
from harness.old.records import Message, Reply, Request
from harness.old.running.cache import Cache
path, name = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
with Cache(path) as cache:
    shelf = cache.shelf(Endpoint("m", "openai", "m"))
    for number in range(200):
        for who in ("both", name):
            key = shelf.key(Request((Message("user", f"{who} {number}"),)))
            if shelf.find(key) is None:
                shelf.end(key, Reply(f"{who} {number}", finish_reason="stop"))
"""


def test_several_processes_write_one_file_from_its_beginning(tmp_path: pathlib.Path) -> None:
    root = str(pathlib.Path(__file__).resolve().parents[3])
    command = [sys.executable, "-c", WRITER, str(tmp_path / "c.sqlite")]
    pipe = subprocess.PIPE
    writers = [
        subprocess.Popen([*command, name], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={"PYTHONPATH": root})
        for name in ("a", "b", "c")
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        out, err = writer.communicate()
        assert (writer.returncode, out, err) == (0, "", "")
    with Cache(tmp_path / "c.sqlite") as cache:
        mine = shelf(cache, Endpoint("m", "openai", "m"))
        for who in ("both", "a", "b", "c"):
            for number in range(200):
                reply = mine.find(mine.key(Request((Message("user", f"{who} {number}"),))))
                assert reply is not None
                assert reply.text == f"{who} {number}"


# in a run


class Shelves:
    """A sink that takes everything."""

    def __init__(self) -> None:
        self.records: list[str] = []

    def put(self, record: str) -> bool:
        self.records.append(record)
        return True


def talk(*turns: str) -> Steps[str]:
    said: list[str] = []
    for turn in turns:
        reply = yield Request((Message("user", turn),))
        said.append(f"{reply.text}{'*' * reply.from_cache}")
    return " ".join(said)


def jobs(
    folder: pathlib.Path,
    path: pathlib.Path | None,
    talks: list[str],
    *,
    finish: FinishReason = "stop",
    parallel: int = 4,
) -> tuple[int, list[str], Scripted]:
    """Run a job for each text, whose words are its turns; return how many ended, the records, and the model."""
    model = Scripted(lambda request: Reply(request.messages[0].content.upper(), finish_reason=finish))
    sink = Shelves()
    with Cache(path) as cache, Pending(folder / "m.jsonl", folder / "state") as pending:
        courses = (
            Course(Job(f"{n} {words}", "m", lambda w=words: talk(*w.split())), sink.put, pending, cache.shelf(ENDPOINT))  # type: ignore[misc]
            for n, words in enumerate(talks)
        )
        tally = run(courses, {"m": model}, RunOptions(parallel))
    return tally.done, sorted(sink.records), model


def test_a_second_run_calls_only_what_is_new(tmp_path: pathlib.Path) -> None:
    jobs(tmp_path, tmp_path / "c.sqlite", ["a b"])
    done, records, model = jobs(tmp_path, tmp_path / "c.sqlite", ["a b", "b c"])
    assert (done, records) == (2, ["A* B*", "B* C"])
    assert [request.messages[0].content for request in model.requests] == ["c"]


def test_of_equal_requests_in_flight_the_second_waits_for_the_first(tmp_path: pathlib.Path) -> None:
    done, records, model = jobs(tmp_path, tmp_path / "c.sqlite", ["a", "a", "a", "b"])
    assert (done, records) == (4, ["A", "A*", "A*", "B"])
    assert len(model.requests) == 2


def test_without_a_cache_equal_requests_are_calls_of_their_own(tmp_path: pathlib.Path) -> None:
    done, records, model = jobs(tmp_path, None, ["a", "a"])
    assert (done, records, len(model.requests)) == (2, ["A", "A"], 2)


def test_who_waited_for_a_reply_that_is_not_kept_asks_by_itself(tmp_path: pathlib.Path) -> None:
    done, records, model = jobs(tmp_path, tmp_path / "c.sqlite", ["a", "a", "a"], finish="length")
    assert (done, records, len(model.requests)) == (3, ["A", "A", "A"], 3)


def test_who_waited_for_a_call_that_failed_asks_by_itself(tmp_path: pathlib.Path) -> None:
    def refuse_once(request: Request) -> Reply:
        if len(model.requests) == 1:
            raise ChatError("m: no", kind="content filter")
        return Reply("A", finish_reason="stop")

    model, sink = Scripted(refuse_once), Shelves()
    with Cache(tmp_path / "c.sqlite") as cache, Pending(tmp_path / "m.jsonl", tmp_path / "state") as pending:
        shelf_ = cache.shelf(ENDPOINT)
        courses = [Course(Job(str(n), "m", lambda: talk("a")), sink.put, pending, shelf_) for n in range(3)]
        tally = run(courses, {"m": model}, RunOptions(3))
    assert (tally.done, len(tally.failures), len(model.requests)) == (2, 1, 2)
    assert sorted(sink.records) == ["A", "A*"]


def test_the_same_request_twice_in_one_job_is_two_completions_and_both_are_found(tmp_path: pathlib.Path) -> None:
    _, records, model = jobs(tmp_path, tmp_path / "c.sqlite", ["a a"])
    assert (records, len(model.requests)) == (["A A"], 2)
    _, records, model = jobs(tmp_path, tmp_path / "c.sqlite", ["a a"])
    assert (records, len(model.requests)) == (["A* A*"], 0)


def test_a_reply_from_the_cache_says_so_in_what_is_kept_for_the_next_start(tmp_path: pathlib.Path) -> None:
    jobs(tmp_path, tmp_path / "c.sqlite", ["a"])
    model = Scripted(lambda request: Reply("x"))
    with Cache(tmp_path / "c.sqlite") as cache, Pending(tmp_path / "n.jsonl", tmp_path / "state") as pending:
        course = Course(Job("j", "m", lambda: talk("a", "z")), Shelves().put, pending, cache.shelf(ENDPOINT))
        course.start()
        assert course.request is not None
        assert course.request.messages[0].content == "z"
    (line,) = (tmp_path / "state/pending/n.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["details"]["from_cache"] is True
    assert not model.requests
