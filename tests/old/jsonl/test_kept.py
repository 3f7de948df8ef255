"""What was read is kept only where a process says so, as long as files stay as they are."""

import pathlib

import pytest

from harness.old.errors import DataError
from harness.old.jsonl import kept
from harness.old.jsonl.kept import Kept, keep_reads
from harness.old.judgments.reading import read_judgments
from tests.old.small_bench import write


def grade(number: int, model: str, score: float, turn: int = 1) -> dict[str, object]:
    """Return the row of a grade as FastChat writes it."""
    row = {"question_id": number, "model": model, "judge": ["j", "single-v1"], "turn": turn}
    return {**row, "user_prompt": "p", "judgment": f"[[{score}]]", "score": score, "tstamp": 1.0}


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is read of two files."""
    monkeypatch.setattr(kept, "_most", 0)
    keep_reads(2)


def test_nothing_is_kept_unless_that_was_said(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "j_single.jsonl", [grade(1, "m", 5)])
    assert read_judgments(path) is not read_judgments(path)


@pytest.mark.usefixtures("keeping")
def test_a_file_is_read_again_when_it_has_changed_and_for_other_words(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "j_single.jsonl", [grade(1, "m", 5)])
    assert read_judgments(path) is read_judgments(path, faults=[])
    assert read_judgments(path) is not read_judgments(path, every=True)
    write(path, [grade(1, "m", 5), grade(2, "m", 6)])
    assert len(read_judgments(path).observations) == 2


@pytest.mark.usefixtures("keeping")
def test_what_is_wrong_with_a_file_is_said_each_time(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path / "j_single.jsonl", [grade(1, "m", 5), {"question_id": 2}])
    for _ in range(2):
        faults: list[DataError] = []
        read_judgments(path, faults=faults)
        assert len(faults) == 1
        with pytest.raises(DataError):
            read_judgments(path)
    path.write_text(path.read_text().splitlines()[0] + '\n{"quest', "utf-8")
    for count in (1, 2):
        read_judgments(path)
        assert len(caplog.records) == count


@pytest.mark.usefixtures("keeping")
def test_only_the_last_files_are_kept(tmp_path: pathlib.Path) -> None:
    reads, memory = list[str](), Kept[str]()
    paths = [write(tmp_path / name, []) for name in "abc"]

    def read(path: pathlib.Path) -> str:
        def read_it() -> tuple[str, bool]:
            reads.append(path.name)
            return path.name, True

        return memory.read(path, [path], read_it)

    for path in (*paths, paths[2], paths[1], paths[0]):
        assert read(path) == path.name
    assert reads == ["a", "b", "c", "a"]
    gone = tmp_path / "gone"
    assert memory.read(gone, [gone], lambda: ("nothing", True)) == "nothing"
