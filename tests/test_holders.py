"""Who writes a file: by process and host, and since when."""

import os
import pathlib
import re

import pytest

from harness.errors import StorageError
from harness.jsonl import Journal, holder_of
from harness.running.cost import shown


def test_the_holder_is_named_with_its_host_and_since_when(tmp_path: pathlib.Path) -> None:
    path, state = tmp_path / "a.jsonl", tmp_path / "state"
    with Journal(path, state):
        who = holder_of(path, state)
        assert who is not None
        assert re.fullmatch(rf"process {os.getpid()} \(.*\) on .+ since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d", who)
        with pytest.raises(StorageError, match=re.escape(f"is being written by {who}; wait for it")):
            Journal(path, state).__enter__()
    assert holder_of(path, state) is None


@pytest.mark.parametrize(
    ("who", "held"),
    [
        pytest.param("process 4194999 (gen_answer) on another.example since 2026-01-01 00:00:00", True, id="elsewhere"),
        pytest.param("process 4194999 (gen_answer)", False, id="here, ended"),
    ],
)
def test_whether_a_process_lives_is_only_known_of_this_host(who: str, held: bool, tmp_path: pathlib.Path) -> None:
    note = tmp_path / "state" / "locks" / "a.jsonl.holder"
    note.parent.mkdir(parents=True)
    note.write_text(who, encoding="utf-8")
    assert holder_of(tmp_path / "a.jsonl", tmp_path / "state") == (who if held else None)


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0.0, "$0.00"), (0.0001, "$0.0001"), (0.05, "$0.05"), (0.037, "$0.0370"), (1234.5, "$1,234.50")],
)
def test_small_amounts_keep_their_places(dollars: float, text: str) -> None:
    assert shown(dollars) == text
