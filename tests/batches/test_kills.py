"""Kills at random moments: rows are whole, and nothing is paid for twice."""

import os
import pathlib
import random
import subprocess
import sys
import time

import pytest

from tests.batches.provider import Fault, Provider, environment, serving
from tests.batches.test_batches import answers, bench, whole

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
from harness.extras.batches import queue
queue.GATHER, queue.FIRST_POLL, queue.LONGEST_POLL, queue.SETTLE = 0.05, 0.05, 0.2, 0.3
from harness.cli.main import gen_answer
sys.exit(gen_answer())
"""
KILLS = 30


def start(data: pathlib.Path, model: str, url: str) -> "subprocess.Popen[bytes]":
    words = ["--model", model, "--bench-name", "small", "--data-dir", str(data), "--batch"]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        env=os.environ | environment(url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
def test_kills_at_random_moments(tmp_path: pathlib.Path, model: str) -> None:
    chance = random.Random(model)
    kills = rounds = 0
    while kills < KILLS:
        rounds += 1
        folder = tmp_path / str(rounds)
        folder.mkdir()
        data = bench(folder, 12)
        with serving(Provider(polls=2)) as provider:
            provider.faults = [Fault("results", "cut"), Fault("poll", "refuse", 2)]
            while True:
                before = len(provider.asked)
                process = start(data, model, provider.url)
                killed = kills < KILLS and chance.random() < 0.85
                if killed:
                    while len(provider.asked) == before and process.poll() is None:
                        time.sleep(0.01)  # until it has started
                    time.sleep(chance.uniform(0.0, 0.7))
                    killed = process.poll() is None
                    process.kill()
                    kills += killed
                if process.wait(60) == 0:
                    break
            assert answers(data, model) == whole(12)
            lines = (data / "small" / "model_answer" / f"{model}.jsonl").read_text().splitlines()
            assert len(lines) == 12
            assert provider.paid_twice == 0, provider.counts
