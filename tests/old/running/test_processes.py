"""Calls made by other processes: real ones, real SDKs, and a server on loopback that kills them."""

import asyncio
import logging
import os
import pathlib
import pickle
import select
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pytest

from harness.old.chat import Endpoint, open_chat_model
from harness.old.chat.endpoint import Limits
from harness.old.chat.model import Origin
from harness.old.chat.openai_chat import OpenAIChat
from harness.old.errors import ChatError
from harness.old.jsonl.locks import lock
from harness.old.records import Facts, Message, Question, Reply, Request, Sampling
from harness.old.running import engine, engines, processes
from harness.old.running.desk import Answered
from harness.old.running.engines import LostWorkerError, Models, Team, calls_out, placed
from harness.old.running.jobs import Course, Job
from harness.old.running.options import RunOptions
from harness.old.running.pending import Pending
from harness.old.running.processes import Process, Spares
from harness.old.running.watch import Tally
from tests.old.protocol_server import Asked, ProtocolServer, parrot
from tests.old.running.test_engine import talk
from tests.old.small_bench import Scripted

Outcome = TypeVar("Outcome")


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be forked although it has run other tests and may be of any size."""
    monkeypatch.setattr(processes, "FORKABLE", 2**40)


BOTH = pytest.mark.parametrize("forked", [pytest.param(0, id="started"), pytest.param(1, id="forked")])
KEY = "key-in-the-environment-alone"
HELLO = Request((Message("user", "hello"),), Sampling(temperature=0.5, max_tokens=20))


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCESS_TEST_KEY", KEY)


def model_at(server: ProtocolServer, name: str = "m") -> OpenAIChat:
    endpoint = Endpoint(name, "openai", name, server.openai_url, "PROCESS_TEST_KEY", stated=True, limits=Limits())
    model = open_chat_model(endpoint)
    assert isinstance(model, OpenAIChat)
    return model


def run(folder: pathlib.Path, models: Models, count: int, parallel: int = 4) -> tuple[Tally, list[str]]:
    records: list[str] = []

    def put(record: str) -> bool:
        records.append(record)
        return True

    with Pending(folder / "m.jsonl", folder / "state") as pending:
        names = [f"job {n}." for n in range(count)]
        courses = (Course(Job(name, "m", lambda n=name: talk(n, 1)), put, pending) for name in names)  # type: ignore[misc]
        return engine.run(courses, models, RunOptions(parallel), planned=count), records


class Crew:
    """Teams whose calls are never made in the test's own process."""

    def __init__(self) -> None:
        self.workers: list[Process] = []
        self.start = 2

    def placed(self, models: Models, options: RunOptions) -> Models:
        every = asyncio.Event()

        async def opened(origins: Sequence[Origin]) -> Process:
            self.workers.append(process := await Spares(0).open(origins))
            if len(self.workers) >= self.start:
                every.set()
            await every.wait()  # or the first would have made all calls before the second is there
            return process

        return Team(opened, start=self.start, most=self.start, here=False).instead_of(models, calls_out)


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    crew = Crew()
    monkeypatch.setattr(engine, "placed", crew.placed)
    yield crew
    for worker in crew.workers:
        assert gone(worker.pid), "a process is left"


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_every_job_gets_its_own_reply_from_another_process(tmp_path: pathlib.Path, crew: Crew) -> None:
    with ProtocolServer() as server:
        tally, records = run(tmp_path, {"m": [model_at(server)]}, 40)
    assert (tally.done, len(set(records)), tally.failures) == (40, 40, [])
    assert len(server.requests) == 40
    assert {asked.key for asked in server.requests} == {KEY}
    assert server.most_at_once <= 4
    assert len(crew.workers) == 2


def test_a_process_that_is_killed_costs_its_calls_in_flight_alone(tmp_path: pathlib.Path, crew: Crew) -> None:
    def killing(asked: Asked) -> str:
        if asked.number == 10:
            os.kill(crew.workers[0].pid, signal.SIGKILL)
        return parrot(asked)

    with ProtocolServer(killing) as server:
        tally, records = run(tmp_path, {"m": [model_at(server)]}, 40)
    assert (tally.done, len(set(records)), tally.failures) == (40, 40, [])
    assert len(server.requests) - 40 <= 4


@pytest.mark.slow
def test_a_call_that_its_processes_die_of_fails_alone(tmp_path: pathlib.Path, crew: Crew) -> None:
    crew.start = 1

    def killing(asked: Asked) -> str:
        if "job 3." in asked.texts[-1]:
            os.kill(crew.workers[-1].pid, signal.SIGKILL)
        return parrot(asked)

    with ProtocolServer(killing) as server:
        tally, records = run(tmp_path, {"m": [model_at(server)]}, 6, parallel=1)
    assert (tally.done, len(records)) == (5, 5)
    assert [(failure.key, failure.kind) for failure in tally.failures] == [("job 3.", "worker lost")]


def test_errors_come_back_as_they_are_and_failed_calls_are_tried_again(tmp_path: pathlib.Path, crew: Crew) -> None:
    from tests.old.protocol_server import bad_request, outage, rate_limited

    with ProtocolServer(faults={0: rate_limited(0), 1: outage(), 2: bad_request("no")}) as server:
        tally, _ = run(tmp_path, {"m": [model_at(server)]}, 10, parallel=1)
    assert (tally.done, tally.retries, [failure.kind for failure in tally.failures]) == (9, 2, ["bad request"])
    assert len(server.requests) == 12


def asked_elsewhere(
    models: Sequence[OpenAIChat], what: Callable[[Process], object] = lambda process: None, forked: int = 0
) -> Answered:
    """Return what another process answers, one that begins or one that is forked."""

    async def ask() -> Answered:
        spares = Spares(forked)
        process = await spares.open([model.origin for model in models])
        try:
            what(process)
            return await process.ask(len(models) - 1, HELLO)
        finally:
            await process.close()
            spares.close()
            assert gone(process.pid)

    return asyncio.run(ask())


def alone(work: Callable[[], Outcome]) -> Outcome:
    """Return what the work returns in a process where nothing else runs, as in a command's."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(theirs, pickle.dumps(work()))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as said:
        content = said.read()
    os.waitpid(pid, 0)
    assert content, "the work has failed"
    outcome: Outcome = pickle.loads(content)
    return outcome


def test_a_process_knows_what_was_learnt_before_it_began(tmp_path: pathlib.Path) -> None:
    with ProtocolServer(refuses={"temperature"}) as server:
        model = model_at(server)

        async def learn() -> None:
            await model.reply(HELLO)
            await model.close()

        asyncio.run(learn())
        assert server.statuses == {400: 1, 200: 1}
        answered = asked_elsewhere([model])
    assert isinstance(answered.outcome, Reply)
    assert "temperature" not in answered.outcome.applied
    assert server.statuses == {400: 1, 200: 2}


def test_no_key_and_no_facts_are_sent_to_a_process() -> None:
    with ProtocolServer() as server:
        model = model_at(server)
    assert KEY.encode() not in pickle.dumps(model.origin)
    question = Question(1, "writing", ("hello",))
    sent: list[Request] = []

    class Spy:
        in_flight, used, room = 0, 0.0, 1.0

        async def ask(self, place: int, request: Request) -> Answered:
            sent.append(request)
            return Answered(Reply("ok"), {"requests": (7.0, 60.0)}, ("careful",), 0.0)

        async def close(self) -> None:
            pass

    async def ask() -> None:
        async def opened(origins: Sequence[Origin]) -> Spy:
            return Spy()

        team = Team(opened, start=1, most=1, here=False)
        (distant,) = team.instead_of({"m": [model]}, calls_out)["m"]
        await distant.reply(Request(HELLO.messages, facts=Facts(question, 1)))
        await distant.close()

    asyncio.run(ask())
    assert [request.facts for request in sent] == [None]
    assert model.standing.allowances["requests"].remaining == 7  # what the endpoint said there, its lane knows here


@BOTH
def test_processes_of_a_parent_that_is_killed_end_at_once(forked: int) -> None:
    """The parent is forked from this process, starts one of its own, and is killed while a call is in flight."""
    hears, tells = os.pipe()
    arrived: list[int] = []

    def held(asked: Asked) -> object:
        arrived.append(asked.number)
        os.kill(parent, signal.SIGKILL)
        return asyncio.Event().wait()

    with ProtocolServer(held) as server:  # type: ignore[arg-type]
        parent = os.fork()
        if parent == 0:
            try:
                asked_elsewhere([model_at(server)], lambda process: os.write(tells, process.pid.to_bytes(4)), forked)
            finally:
                os._exit(1)
        os.close(tells)
        child = int.from_bytes(os.read(hears, 4))
        os.close(hears)
        watched = os.pidfd_open(child)
        assert os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1]) == -signal.SIGKILL
        assert select.select([watched], [], [], 30)[0], "the process has outlived its parent"
        os.close(watched)
    assert arrived == [0]


@BOTH
def test_ctrl_c_and_its_like_leave_a_process_at_work(forked: int) -> None:
    def signalled(process: Process) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(process.pid, number)

    with ProtocolServer() as server:
        answered = alone(lambda: asked_elsewhere([model_at(server)], signalled, forked))
    assert isinstance(answered.outcome, Reply)


def test_a_process_is_forked_before_the_run_if_nothing_else_runs_and_it_is_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def begun(models: Sequence[OpenAIChat]) -> bool:
        """Return whether the process is another one with this very program, or an interpreter that was started."""
        programs = []

        def look(process: Process) -> None:
            programs.append(pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes())

        asked_elsewhere(models, look, forked=1)
        return programs == [pathlib.Path("/proc/self/cmdline").read_bytes()]

    with ProtocolServer() as server:
        models = [model_at(server)]
        assert alone(lambda: begun(models))
        assert not begun(models)  # the server's thread is there
        monkeypatch.setattr(processes, "FORKABLE", 2**20)
        assert not alone(lambda: begun(models))


def test_a_forked_process_holds_nothing_of_its_parent_s_and_is_over_when_the_run_is(tmp_path: pathlib.Path) -> None:
    log = tmp_path / "log"

    def held(server: ProtocolServer) -> set[str]:
        """Return what another process holds of what is open here, or has written to it."""
        handler = logging.FileHandler(log)
        logging.getLogger("turnbench").addHandler(handler)
        held = lock(tmp_path / "m.jsonl", tmp_path / "state")
        open_files: set[str] = set()

        def look(process: Process) -> None:
            open_files.update(os.readlink(link) for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir())

        wrong = Endpoint("m", "openai", "m", server.openai_url.removesuffix("/v1"), stated=True)
        model = open_chat_model(wrong)
        assert isinstance(model, OpenAIChat)
        answered = asked_elsewhere([model], look, forked=2)
        assert "nothing answers at" in answered.said[0]
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        held.close()
        return {name for name in open_files if name.startswith(str(tmp_path))} | ({"log"} if log.read_text() else set())

    with ProtocolServer() as server:
        assert alone(lambda: held(server)) == set()


def test_a_process_that_cannot_open_a_model_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProtocolServer() as server:
        model = model_at(server)
        monkeypatch.delenv("PROCESS_TEST_KEY")
        with pytest.raises(Exception, match="PROCESS_TEST_KEY"):
            asked_elsewhere([model])


class Clock:
    """Time and processor time as a test wants them."""

    def __init__(self) -> None:
        self.now = self.used = 0.0

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.used


class Idle:
    """A worker that is always there, and uses so much of its processor."""

    room = 1.0

    def __init__(self, clock: Clock, share: float) -> None:
        self.in_flight, self.used = 0, 0.0
        self.clock, self.share = clock, share

    async def ask(self, place: int, request: Request) -> Answered:
        self.in_flight += 1  # it never falls, so that they take turns
        return Answered(Reply("there"), None, (), self.clock.now * self.share)

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("own", "own_later", "theirs", "workers"),
    [
        pytest.param(0.5, 0.5, 0.5, 0, id="no process where the endpoint is what the calls wait for"),
        pytest.param(0.95, 0.4, 0.5, 1, id="one where this one is"),
        pytest.param(0.95, 0.4, 0.95, 4, id="more as long as they are busy"),
        pytest.param(0.95, 0.95, 0.95, 1, id="no more when this one cannot feed them"),
    ],
)
def test_processes_begin_when_a_processor_is_what_the_calls_wait_for(
    own: float, own_later: float, theirs: float, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, opened = Clock(), list[Idle]()
    monkeypatch.setattr(engines, "time", clock)

    async def opener(origins: Sequence[Origin]) -> Idle:
        opened.append(Idle(clock, theirs))
        return opened[-1]

    async def ask() -> None:
        team = Team(opener, start=0, most=4)
        with ProtocolServer() as server:
            model = model_at(server)
        monkeypatch.setattr(model, "reply", Scripted(lambda request: Reply("here")).reply)
        (distant,) = team.instead_of({"m": [model]}, calls_out)["m"]
        for _ in range(200):
            await distant.reply(HELLO)
            clock.now += 0.1
            clock.used += 0.1 * (own_later if opened else own)
            await asyncio.sleep(0)
        await distant.close()

    asyncio.run(ask())
    assert len(opened) == workers


def test_one_process_is_the_run_s_own_and_built_in_models_stay_in_it() -> None:
    with ProtocolServer() as server:
        models: Models = {"m": [model_at(server)], "b": [Scripted(lambda request: Reply("ok"))]}
    assert placed(models, RunOptions(processes=1)) is models
    assert placed(models, RunOptions(batch=True)) is models
    replaced = placed(models, RunOptions(processes=2))
    assert replaced["b"][0] is models["b"][0]
    assert (replaced["m"][0] is models["m"][0], replaced["m"][0].name) == (False, "m")
    asyncio.run(replaced["m"][0].close())


def test_without_any_worker_left_calls_are_made_here(tmp_path: pathlib.Path) -> None:
    async def never(origins: Sequence[Origin]) -> Process:
        raise LostWorkerError("it has ended")

    async def ask(here: bool) -> str:
        with ProtocolServer() as server:
            team = Team(never, start=1, most=1, here=here)
            (distant,) = team.instead_of({"m": [model_at(server)]}, calls_out)["m"]
            try:
                replies = [await distant.reply(HELLO) for _ in range(3)]
            finally:
                await distant.close()
        return replies[-1].text

    assert asyncio.run(ask(here=True))
    with pytest.raises(ChatError, match="it has ended"):
        asyncio.run(ask(here=False))
