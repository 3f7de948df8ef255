"""The server that the tests of chat models rely on does what it says."""

import contextlib
import http.client
import json
import re
import subprocess
import sys
from typing import Any

from tests.old.protocol_server import ProtocolServer, Said, dropped, outage, seeded, verdict

CHAT = "/v1/chat/completions"


def post(
    server: ProtocolServer, body: dict[str, Any], path: str = "/v1/chat/completions"
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    try:
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def chat(text: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def said(body: dict[str, Any]) -> str:
    return str(body["choices"][0]["message"]["content"])


def test_equal_requests_have_equal_replies() -> None:
    with ProtocolServer() as server:
        first, again, other = (said(post(server, chat(text))[1]) for text in ("a", "a", "b"))
    assert first == again != other
    assert [asked.tries for asked in server.requests] == [0, 1, 0]
    assert [asked.number for asked in server.requests] == [0, 1, 2]


def test_a_judge_answers_in_the_form_that_is_asked_for() -> None:
    with ProtocolServer(verdict) as server:
        assert re.search(r"\[\[[ABC]\]\]$", said(post(server, chat('"[[A]]", "[[B]]" or "[[C]]"'))[1]))
        assert re.search(r"Rating: \[\[(10|\d)\]\]$", said(post(server, chat('"[[rating]]"'))[1]))


def test_models_are_listed() -> None:
    with ProtocolServer(models=["a", "b"]) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/v1/models")
        assert [model["id"] for model in json.loads(connection.getresponse().read())["data"]] == ["a", "b"]
        connection.close()
        assert post(server, chat("x"))[0] == 404
        assert post(server, {**chat("x"), "model": "a"})[0] == 200
        assert post(server, {**chat("x"), "model": "a"}, "/v2/other")[0] == 404


def test_a_seeded_plan_fails_the_same_bodies_in_any_order() -> None:
    texts = [f"question {number}" for number in range(40)]
    failed = []
    for order in (texts, texts[::-1]):
        with ProtocolServer(faults=seeded(0.25, [outage()], seed=1)) as server:
            failed.append({text for text in order if post(server, chat(text))[0] == 500})
            assert all(post(server, chat(text))[0] == 200 for text in failed[-1])
    assert failed[0] == failed[1]
    assert 3 <= len(failed[0]) <= 20


def test_a_message_without_its_limit_is_refused() -> None:
    with ProtocolServer() as server:
        status, body = post(server, chat("x"), "/v1/messages")
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")


def test_everything_is_counted() -> None:
    with ProtocolServer(lambda asked: Said("x"), faults={1: outage(), 2: dropped()}) as server:
        assert [post(server, chat("x"))[0] for _ in range(2)] == [200, 500]
        with contextlib.suppress(OSError):
            post(server, chat("x"))
    assert server.statuses == {200: 1, 500: 1, 0: 1}
    assert server.most_at_once == 1
    assert server.connections == 3


def test_it_runs_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.old.protocol_server", "--judge"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
        connection = http.client.HTTPConnection(address.removeprefix("http://"))
        connection.request("GET", "/v1/models")
        assert connection.getresponse().status == 200
        connection.close()
        process.terminate()
