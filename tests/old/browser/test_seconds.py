"""No view of a hostile benchmark takes over two seconds of a processor, whatever a model wrote.

What is counted is the processor time of the viewer and of the processes that it starts, since a clock would also count
what else runs on the machine. A view is counted until nothing in it is awaited any more; the numbers of Runs, which
need every prompt that is to be judged, are worked out while the page is there already.
"""

import os
import pathlib
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.old.browser.conftest import settled, start_viewer
from tests.old.browser.hostile import BENCH, LONG, LONG_BENCH, MODELS, by_question, write_hostile
from tests.old.browser.test_hostile import address

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not pathlib.Path("/proc/self/stat").exists(), reason="there is no /proc here"),
]
MOST_SECONDS = 2.0
QUIET_LOOP = 0.06
"""Seconds that `reference_loop` takes where nothing else runs; on a slower machine all else takes longer too."""
PAIR = (("model", MODELS[1]), ("model", MODELS[2]))
VIEWS = [
    *(address(tab, *more) for tab in ("leaderboard", "judge", "find") for more in ((), (("mode", "pairwise-all"),))),
    *(address(tab, bench=bench) for tab in ("runs", "vote") for bench in (BENCH, LONG_BENCH)),
    address("find", ("mode", "pairwise-all"), ("f.text", "<script>")),
    *(address("answers", ("question", key), PAIR[0]) for key in by_question()),
    *(address("compare", ("question", key), *PAIR) for key in by_question()),
    *(address("answers", ("question", n + 1), PAIR[0], bench=LONG_BENCH) for n in range(len(LONG))),
    *(address("compare", ("question", n + 1), *PAIR, bench=LONG_BENCH) for n in range(len(LONG))),
]


@pytest.fixture(scope="module")
def viewed(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, int]]:
    """Return a page of a viewer on a hostile benchmark, and the viewer's process."""
    process, where = start_viewer(write_hostile(tmp_path_factory.mktemp("seconds") / "data"))
    page = chromium.new_page()
    page.set_default_timeout(120_000)
    page.goto(where)
    settled(page)
    yield page, process.pid
    page.close()
    process.terminate()
    process.wait(10)


def seconds_of(pid: int) -> float:
    """Return the processor time of a process, those it started, and those of them that have ended."""
    parents: dict[int, int] = {}
    spent: dict[int, int] = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            said = file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(file.parent.name)] = int(said[1])
        spent[int(file.parent.name)] = sum(map(int, said[11:15]))
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(spent.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK")


def reference_loop() -> float:
    """Return the processor time that counting to two million takes."""
    begun = time.process_time()
    for _ in range(2_000_000):
        pass
    return time.process_time() - begun


@pytest.mark.parametrize("query", VIEWS)
def test_a_view_takes_at_most_two_seconds(query: str, viewed: tuple[Any, int]) -> None:
    page, pid = viewed
    loop = reference_loop()
    before, begun = settled(page), seconds_of(pid)
    page.evaluate("(query) => turnbench.go(query)", query)
    settled(page, before)
    taken = seconds_of(pid) - begun
    slower = max(1.0, loop / QUIET_LOOP, reference_loop() / QUIET_LOOP)
    assert taken / slower < MOST_SECONDS, f"{taken:.1f} s of a machine {slower:.1f} times slower than a quiet one"
