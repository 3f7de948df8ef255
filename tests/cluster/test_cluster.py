"""Calls on the workers of a Ray cluster on this machine."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from harness import gen_answer
from harness.store import latest
from harness.types import Answer
from tests.servers import Call, Rule, Server

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes of one worker each; the second can be taken away."""
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def test_a_node_that_dies_loses_only_its_calls(cluster: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "small").mkdir()
    rows = [{"question_id": n, "category": "x", "turns": [f"Q{n}"]} for n in range(60)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "small" / "question.jsonl").write_text(text)
    node = cluster.worker_nodes.copy().pop()

    def say(call: Call) -> str:
        if len(server.calls) == 15:
            cluster.remove_node(node, allow_graceful=False)
        return f"to {call.messages[-1][1]}"

    with Server(Rule(say, delay=0.05)) as server:
        report = gen_answer(
            "m",
            "small",
            data_dir=str(tmp_path),
            base_url=f"{server.url}/v1",
            ray=cluster.address,
            parallel=4,
        )
    assert report.complete, report.outcome.causes()
    lines = report.paths[0].read_text().splitlines()
    found = {k: row.choices[0].turns for (k,), row in latest(report.paths[0], Answer).items()}
    assert len(lines) == 60
    assert found == {n: [f"to Q{n}"] for n in range(60)}
