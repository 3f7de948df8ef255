"""Calls made by the workers of a real Ray cluster: several nodes on this machine, one of which is killed."""

import asyncio
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest

from harness.old.bench import Bench
from harness.old.chat.endpoint import Weights
from harness.old.chat.model import Origin
from harness.old.chat.providers import resolve
from harness.old.checkpoints import SPREAD
from harness.old.errors import UsageError
from harness.old.running import ray_cluster
from harness.old.running.engines import placed
from harness.old.running.options import RunOptions
from harness.old.running.ray_cluster import _Cluster, _for_worker
from tests.old.chat.local.tiny_llama import save_llama
from tests.old.processes import ROOT, Starter
from tests.old.protocol_server import Asked, ProtocolServer, parrot
from tests.old.small_bench import question, rows, small_bench

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # all on 127.0.0.1
    "OMP_NUM_THREADS": "1",
    "NODE_KEY": "of-the-node",
}
needs_ray = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra [ray] is not installed"),
]


class Nodes:
    """A head without room for workers, and nodes with room for one each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._common = {"node_ip_address": "127.0.0.1", "object_store_memory": 80 * 2**20, "include_dashboard": False}
        with contextlib.redirect_stderr(None):
            self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **self._common})
        self.nodes = [self.add() for _ in range(2)]
        self.address = str(self._cluster.address)

    def add(self) -> Any:
        return self._cluster.add_node(num_cpus=1, wait=True, **self._common)

    def kill(self, node: Any) -> None:
        self._cluster.remove_node(node, allow_graceful=False)

    def end(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    before = dict(os.environ)
    os.environ.update(SETTINGS)
    nodes = Nodes()
    yield nodes
    nodes.end()
    os.environ.clear()
    os.environ.update(before)


def words(bench: Bench, *more: str) -> list[str]:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent), "-q"]
    return [sys.executable, "-m", "harness.old.cli.gen_answer", *where, *more]


def run(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command whose own key is another than its workers'."""
    environment = {**os.environ, **SETTINGS, "NODE_KEY": "of-the-driver"}
    return subprocess.run(words, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)


def calling(server: ProtocolServer, cluster: Nodes) -> list[str]:
    address = ["--base-url", server.openai_url, "--api-key-env", "NODE_KEY"]
    return ["--model", "m", "--parallel", "4", "--ray", cluster.address, *address]


class TestOnACluster:
    pytestmark = needs_ray

    def test_a_node_that_is_killed_costs_its_calls_in_flight_alone(
        self, tmp_path: pathlib.Path, cluster: Nodes
    ) -> None:
        bench = small_bench(tmp_path, *(question(n) for n in range(1, 41)))
        killed: list[threading.Thread] = []

        def killing(asked: Asked) -> str:
            if asked.number == 20:
                killed.append(threading.Thread(target=cluster.kill, args=[cluster.nodes.pop()]))
                killed[0].start()
            return parrot(asked)

        with ProtocolServer(killing) as server:
            ended = run(words(bench, *calling(server, cluster)))
            killed[0].join()
            assert ended.returncode == 0, ended.stderr
        answered = rows(bench.answer_file("m"))
        assert sorted(row["question_id"] for row in answered) == list(range(1, 41))
        assert all(len(row["choices"][0]["turns"]) == 2 for row in answered)
        assert {asked.key for asked in server.requests} == {"of-the-node"}
        assert len(server.requests) - 80 <= 4
        cluster.nodes.append(cluster.add())

    def test_a_driver_that_is_killed_goes_on_where_it_was(self, tmp_path: pathlib.Path, cluster: Nodes) -> None:
        bench = small_bench(tmp_path, *(question(n) for n in range(1, 21)))
        commands: list[subprocess.Popen[bytes]] = []

        def killing(asked: Asked) -> str:
            if asked.number == 15:
                os.kill(commands[0].pid, signal.SIGKILL)
            return parrot(asked)

        with ProtocolServer(killing) as server:
            command = words(bench, *calling(server, cluster))
            commands.append(subprocess.Popen(command, cwd=ROOT))
            assert commands[0].wait() == -signal.SIGKILL
            ended = run(command)
        assert ended.returncode == 0, ended.stderr
        assert sorted(row["question_id"] for row in rows(bench.answer_file("m"))) == list(range(1, 21))
        assert len(server.requests) - 40 <= 4

    @pytest.mark.models
    @pytest.mark.skipif(find_spec("torch") is None, reason="the extra [models] is not installed")
    def test_local_weights_answer_on_workers_as_they_do_here(self, tmp_path: pathlib.Path, cluster: Nodes) -> None:
        asked = [question(n, category="math") for n in range(1, 9)]  # at temperature 0
        here, there = (small_bench(tmp_path / name, *asked) for name in ("here", "there"))
        weights = ["--model-path", str(save_llama(tmp_path / "weights")), "--model-id", "m", "--max-tokens", "8"]
        for bench, more in ((here, []), (there, ["--ray", cluster.address])):
            ended = run(words(bench, *weights, *more))
            assert ended.returncode == 0, ended.stderr
        texts = [
            {row["question_id"]: row["choices"][0]["turns"] for row in rows(b.answer_file("m"))} for b in (here, there)
        ]
        assert texts[0] == texts[1] != {}

    def test_a_key_that_the_nodes_lack_is_named(self, tmp_path: pathlib.Path, cluster: Nodes) -> None:
        bench = small_bench(tmp_path)
        os.environ["DRIVER_KEY"] = "x"
        with ProtocolServer() as server:
            address = ["--base-url", server.openai_url, "--api-key-env", "DRIVER_KEY"]
            ended = run(words(bench, "--model", "m", "--ray", cluster.address, *address))
        del os.environ["DRIVER_KEY"]
        assert ended.returncode == 2
        # Where Ray starts slowly (right after it was installed: it compiles itself) that is said first, and once.
        said = ended.stderr.removeprefix(f"gen_answer: warning: {ray_cluster.WAITING}\n")
        assert re.fullmatch(r"gen_answer: .*DRIVER_KEY.*on a node of the Ray cluster.*\n", said), ended.stderr


def test_without_ray_one_line_says_how_to_install_it(tmp_path: pathlib.Path, starter: Starter) -> None:
    bench = small_bench(tmp_path)
    told = words(bench, "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--ray")[3:]
    ended = starter.run("harness.old.cli.gen_answer", told, first="import sys; sys.modules['ray'] = None")
    assert ended.returncode == 2
    assert ended.stderr == "gen_answer: error: --ray needs the extra [ray]; install it: pip install 'turnbench[ray]'\n"


@pytest.mark.skipif(find_spec("ray") is None, reason="the extra [ray] is not installed")
def test_a_cluster_that_is_not_there_is_wrong_use(tmp_path: pathlib.Path, starter: Starter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    for given, why in ((address, "nothing listens there"), ("somewhere", "looks like 10.0.0.1:6379")):
        told = words(small_bench(tmp_path), "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--ray", given)[3:]
        ended = starter.run("harness.old.cli.gen_answer", told)
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
        assert why in ended.stderr


@pytest.mark.parametrize(
    ("gpus", "options", "models", "copies"),
    [
        pytest.param([4, 4], RunOptions(), 1, 8, id="one for each GPU"),
        pytest.param([4, 4], RunOptions(gpus_per_model=0.5), 1, 16, id="two on one GPU"),
        pytest.param([3, 3], RunOptions(gpus_per_model=2), 1, 2, id="a model stays on its node"),
        pytest.param([4, 4], RunOptions(), 3, 2, id="models share alike"),
        pytest.param([4, 4], RunOptions(processes=2), 3, 2, id="as many as asked for"),
        pytest.param([0, 0, 0], RunOptions(), 1, 3, id="one on each node without GPUs"),
        pytest.param([1], RunOptions(), 2, "run the models one after another", id="more models than GPUs"),
        pytest.param([0], RunOptions(gpus_per_model=1), 1, "has no GPU", id="no GPU at all"),
    ],
)
def test_local_weights_get_as_many_workers_as_there_are_gpus_for(
    gpus: Sequence[int], options: RunOptions, models: int, copies: int | str
) -> None:
    nodes: list[dict[str, Any]] = [{"Alive": True, "Resources": {"GPU": n} if n else {}} for n in gpus]
    nodes.append({"Alive": False, "Resources": {"GPU": 8}})
    ray: Any = SimpleNamespace(is_initialized=lambda: True, nodes=lambda: nodes)
    if isinstance(copies, int):
        assert _Cluster(ray, options).copies(models) == copies
    else:
        with pytest.raises(UsageError, match=copies):
            _Cluster(ray, options).copies(models)


def test_a_cluster_that_lets_all_workers_wait_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ray_cluster, "SLOW", 0.0)

    async def ready() -> None:
        await asyncio.sleep(0.05)

    actor = SimpleNamespace(ready=SimpleNamespace(remote=ready))
    actors = SimpleNamespace(remote=lambda *_: actor)
    ray: Any = SimpleNamespace(
        is_initialized=lambda: True,
        nodes=list,
        remote=lambda **_: lambda _: actors,
        kill=lambda _: None,
        exceptions=SimpleNamespace(RayError=OSError),
    )
    team = _Cluster(ray, RunOptions()).team(3, 0.0)

    async def scene() -> None:
        await asyncio.gather(*(team.opener(()) for _ in range(3)))

    asyncio.run(scene())
    assert caplog.messages == [ray_cluster.WAITING]


def test_weights_are_spread_over_the_gpus_of_their_worker_unless_a_device_is_stated() -> None:
    def device(stated: str | None, gpus: float) -> str | None:
        weights = resolve("m", weights=(".", Weights(device=stated)))
        found = _for_worker(Origin(weights), gpus).endpoint.weights
        assert found is not None
        return found.device

    assert [device(None, gpus) for gpus in (0, 0.5, 1, 2)] == [None, None, None, SPREAD]
    assert device("cuda:1", 2) == "cuda:1"
    remote = Origin(resolve("gpt-4.1", key_needed=False))
    assert _for_worker(remote, 2) is remote


def test_batches_need_no_cluster() -> None:
    with pytest.raises(UsageError, match="leave out --ray or --batch"):
        placed({}, RunOptions(batch=True, ray=""))


def test_what_goes_to_a_node_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret-key")
    assert "a-secret-key" not in repr(Origin(resolve("gpt-4.1")))
