"""Links that lead nowhere, pipes, devices and folders in place of files: one line, and at once."""

import os
import pathlib
import shutil
from collections.abc import Callable

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import write_questions
from tests.old.small_bench import question

Put = Callable[[pathlib.Path], object]
ANSWER = ["gen_answer", "--model", "builtin/eliza", "-q"]
JUDGE = ["gen_judgment", "--judge-model", "builtin/overlap", "-q"]
COMMANDS = (
    ANSWER,
    JUDGE,
    ["status"],
    ["show_result"],
    ["check_bench"],
    ["auto_metrics", "--metrics", "distinct", "-q"],
)


def loop(path: pathlib.Path) -> None:
    path.symlink_to(path.name)


def endless(path: pathlib.Path) -> None:
    path.symlink_to("/dev/zero")


PUTS = [
    pytest.param(loop, id="link to itself"),
    pytest.param(lambda path: path.symlink_to("nowhere/else"), id="link to nothing"),
    pytest.param(os.mkfifo, id="pipe", marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")),
    pytest.param(endless, id="endless", marks=pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no device")),
    pytest.param(pathlib.Path.mkdir, id="folder"),
]
STATE = ".turnbench/model_answer"
FILES = [
    "question.jsonl",
    "model_answer/builtin%2Feliza.jsonl",
    "model_answer/other.jsonl",
    "model_judgment/builtin%2Foverlap_single.jsonl",
    f"{STATE}/pending/builtin%2Feliza.jsonl",
    f"{STATE}/batches/builtin%2Feliza.jsonl",
    f"{STATE}/locks/builtin%2Feliza.jsonl.holder",
    f"{STATE}/torn/builtin%2Feliza.jsonl",
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a data folder with a benchmark that is answered and judged."""
    data = tmp_path_factory.mktemp("judged")
    write_questions(data / "tiny", question(1), question(2))
    for words in (ANSWER, JUDGE):
        assert main([*words, "--data-dir", str(data), "--bench-name", "tiny"]) == 0
    return data


@pytest.mark.parametrize("put", PUTS)
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_ends_no_command_in_a_traceback_or_never(
    name: str, put: Put, judged: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(judged, data)
    path = data / "tiny" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    put(path)
    for words in COMMANDS:
        code = main([*words, "--data-dir", str(data), "--bench-name", "tiny"])
        told = capsys.readouterr()
        assert code in {0, 1, 2}
        assert "Traceback" not in told.err
        if code == 2:
            assert f"{words[0]}: error: " in told.err
        if name == "question.jsonl":
            assert code == 2
            assert "did you mean" not in told.err
            assert f"{path}: is a " in told.err
        if name == FILES[1] and words == ["status"]:
            assert code == 0


def test_a_link_to_itself_hides_no_other_file(
    judged: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(judged, data)
    loop(data / "tiny" / "model_answer" / "other.jsonl")
    assert main(["status", "--data-dir", str(data), "--bench-name", "tiny"]) == 0
    assert "builtin/eliza" in capsys.readouterr().out


def test_nothing_is_asked_where_the_file_of_answers_is_a_link_to_itself(
    judged: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(judged, data)
    path = data / "tiny" / "model_answer" / "builtin%2Feliza.jsonl"
    path.unlink()
    loop(path)
    monkeypatch.setattr("harness.old.running.engine.run", lambda *_, **__: pytest.fail("asked"))
    assert main([*ANSWER, "--data-dir", str(data), "--bench-name", "tiny"]) == 2
    assert "it is a link that leads to itself, move it away" in capsys.readouterr().err
