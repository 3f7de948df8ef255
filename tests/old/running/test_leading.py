"""Of jobs whose prompts begin alike one leads, and the others wait for its reply as long as there is other work."""

import asyncio
import functools
import pathlib
from collections import Counter

import pytest

from harness.old.errors import ChatError, TransientError
from harness.old.records import Message, Reply, Request
from harness.old.running import queue
from harness.old.running.engine import run
from harness.old.running.jobs import Course, Job, Steps
from harness.old.running.options import RunOptions
from harness.old.running.pending import Pending


class Model:
    """Answers after a turn of the loop; knows which beginnings it has seen to their end when a call came."""

    name = "m"

    def __init__(self, broken: str = "", failures: int = 0) -> None:
        self.seen: set[str] = set()
        self.calls: list[tuple[str, bool]] = []
        self.now = self.most = 0
        self.broken, self.failures = broken, failures

    async def reply(self, request: Request) -> Reply:
        name = request.messages[-1].content
        self.calls.append((name, name[0] in self.seen))
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(4):
            await asyncio.sleep(0)
        self.now -= 1
        if name == self.broken and self.failures:
            self.failures -= 1
            raise TransientError("away", kind="server error")
        if name == self.broken:
            raise ChatError("no", kind="bad request")
        self.seen.add(name[0])
        return Reply("ok", finish_reason="stop")

    async def close(self) -> None:
        """Do nothing."""


def asked(name: str) -> Steps[str]:
    yield Request((Message("user", name),))
    return name


def played(tmp_path: pathlib.Path, model: Model, names: list[str], parallel: int) -> int:
    """Run jobs named a0, a1, b0, …, whose prompts begin with their letter; return how many ended."""
    with Pending(tmp_path / "x.jsonl", tmp_path) as pending:
        courses = [
            Course(Job(name, "m", functools.partial(asked, name), beginning=name[0]), lambda record: True, pending)
            for name in names
        ]
        return run(iter(courses), {"m": model}, RunOptions(parallel=parallel)).done


GROUPS = [f"{letter}{n}" for letter in "abcdefgh" for n in range(4)]


def test_every_beginning_is_sent_once_before_it_is_sent_again(tmp_path: pathlib.Path) -> None:
    model = Model()
    assert played(tmp_path, model, GROUPS, 4) == len(GROUPS)
    assert Counter(known for _, known in model.calls) == {False: 8, True: 24}
    assert model.most == 4


@pytest.mark.parametrize("parallel", [3, 16, 100])
def test_no_call_is_left_unmade_for_it(tmp_path: pathlib.Path, parallel: int) -> None:
    model = Model()
    names = [f"a{n}" for n in range(20)]
    assert played(tmp_path, model, names, parallel) == 20
    assert model.most == min(parallel, 20)


def test_leading_jobs_come_first_and_the_others_fill_the_end(tmp_path: pathlib.Path) -> None:
    model = Model()
    played(tmp_path, model, GROUPS, 4)
    assert max(model.calls.index((f"{letter}0", False)) for letter in "abcdefgh") < 16


def test_who_has_waited_long_goes_before_new_ones(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "FOLLOW_WITHIN", -1.0)
    model = Model()
    played(tmp_path, model, GROUPS, 1)
    assert [name for name, _ in model.calls] == GROUPS


@pytest.mark.parametrize("failures", [0, 2])
def test_where_the_leading_one_fails_the_others_go_on(tmp_path: pathlib.Path, failures: int) -> None:
    model = Model(broken="a0", failures=failures)
    assert played(tmp_path, model, GROUPS, 4) == len(GROUPS) - 1
    assert {name for name, _ in model.calls} == set(GROUPS)


def test_jobs_that_share_nothing_wait_for_nobody(tmp_path: pathlib.Path) -> None:
    model = Model()
    names = [chr(ord("a") + n) for n in range(20)]
    played(tmp_path, model, names, 20)
    assert model.most == 20
