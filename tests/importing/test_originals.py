"""Published files: pinned, verified, brought from a folder or a server, turned into our formats."""

import hashlib
import pathlib
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec import structs

from harness import bench, fetch_bench, originals
from harness.cli.main import fetch_bench as main
from harness.errors import DataError, MissingError, StorageError, UsageError
from harness.judging import sets
from tests.importing.files import rows

MT_BENCH = ("question.jsonl", "reference_answer/gpt-4.jsonl", "judge_prompts.jsonl")


@pytest.fixture
def source(reference_data: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a folder that holds the upstream files of three originals."""
    folder = tmp_path / "source"
    for name in MT_BENCH:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(reference_data / "mt_bench" / name, folder / name)
    published = reference_data / "originals"
    shutil.copy(published / "prometheus_prompts.py", folder / "prompts.py")
    shutil.copy(published / "unieval_utils.py", folder / "utils.py")
    return folder


class _Server(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(source: pathlib.Path) -> Iterator[str]:
    """Yield the address of a server that has MT-Bench's files under their upstream paths."""
    for file in originals()["mt_bench_lmsys"].files:
        path = source / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / file.into, path)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Server, directory=source)) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.mark.reference
def test_mt_bench_is_set_up_as_fastchat_ran_it(
    source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    fetched = fetch_bench("mt_bench_lmsys", tmp_path, from_=str(source))
    loaded = bench.load("mt_bench_lmsys", tmp_path)
    assert len(loaded.questions) == 80
    assert (loaded.settings.max_tokens, loaded.settings.retry_cut) == (1024, 1)
    assert [loaded.temperature(name) for name in ("writing", "math", "stem")] == [0.7, 0.0, 0.1]
    assert loaded.settings.judge_set == "mt_bench_lmsys"
    judge_set = sets.load(loaded.settings.judge_set, loaded.folder)
    assert (judge_set.name, len(judge_set.templates)) == ("mt_bench_lmsys", 8)
    assert len(fetched.written) == 4
    (fetched.folder / "bench.toml").write_text("max_tokens = 2048\n")
    assert fetch_bench("mt_bench_lmsys", tmp_path, from_=str(source)).written == ()
    assert bench.load("mt_bench_lmsys", tmp_path).settings.max_tokens == 2048


@pytest.mark.reference
def test_prometheus_prompts_become_a_judge_set(
    source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    fetch_bench("prometheus_original", tmp_path, from_=str(source))
    judge_set = sets.load(str(tmp_path / "prometheus_original"))
    assert (len(judge_set.templates), len(judge_set.criteria)) == (4, 5)
    assert "rubric" in judge_set.templates["absolute"].names
    assert "criterion" in judge_set.templates["relative"].names
    assert judge_set.templates["absolute_reference"].reference
    words = judge_set.words("honesty", "any")
    assert words.rubric.count("\nScore ") == 5
    assert words.rubric.startswith(words.definition)


@pytest.mark.reference
def test_unieval_questions_are_taken_out_of_the_function(
    source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    fetch_bench("unieval_questions", tmp_path, from_=str(source))
    import tomllib

    text = (tmp_path / "unieval_questions" / "unieval.toml").read_text()
    tasks = tomllib.loads(text)["tasks"]
    assert set(tasks) == {"summarization", "dialogue", "data2text", "fact"}
    assert tasks["summarization"]["relevance"].endswith(
        "summary: {answer} </s> reference: {reference}"
    )
    assert "{sentence}" in tasks["summarization"]["fluency"]
    assert tasks["dialogue"]["engagingness"]["sentences"] == "sum"


@pytest.mark.reference
def test_a_mirror_serves_the_same_files(server: str, tmp_path: pathlib.Path) -> None:
    fetched = fetch_bench("mt_bench_lmsys", tmp_path, from_=server)
    assert len(rows(fetched.folder / "question.jsonl")) == 80
    with pytest.raises(MissingError, match="the server answered 404"):
        fetch_bench("alpaca_eval", tmp_path, from_=server)
    assert not (tmp_path / "alpaca_eval").exists()


@pytest.mark.reference
def test_a_changed_file_is_refused_and_nothing_is_written(
    source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = source / "judge_prompts.jsonl"
    path.write_bytes(path.read_bytes().replace(b"pair-v2", b"pair-v3"))
    with pytest.raises(DataError, match="is not the pinned file: its SHA-256 begins"):
        fetch_bench("mt_bench_lmsys", tmp_path, from_=str(source))
    assert not (tmp_path / "mt_bench_lmsys").exists()


@pytest.mark.reference
def test_another_file_in_the_way_is_kept(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "mt_bench_lmsys"
    folder.mkdir()
    (folder / "question.jsonl").write_text("mine")
    with pytest.raises(StorageError, match="another file is there and is kept"):
        fetch_bench("mt_bench_lmsys", tmp_path, from_=str(source))
    assert [path.name for path in folder.iterdir()] == ["question.jsonl"]


def test_husimpleqas_prompt_is_filled_with_the_gold_and_the_reply(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "import os\nJUDGE_PROMPT = {'system_prompt': 'Judge {\"a\": 1}.\\n',\n"
        "'user_prompt': '{question} {answer} {prediction}'}\nos.remove('x')\n"
    )
    name = "husimpleqa_original"
    original = originals()[name]
    digest = hashlib.sha256(text.encode()).hexdigest()
    file = structs.replace(original.files[0], bytes=len(text), sha256=digest)
    monkeypatch.setitem(originals(), name, structs.replace(original, files=(file,)))
    source = tmp_path / "source"
    source.mkdir()
    (source / "HuSimpleQA.py").write_text(text)
    fetch_bench(name, tmp_path, from_=str(source))
    judge_set = sets.load(str(tmp_path / name))
    (template,) = judge_set.templates.values()
    filled = template.user.fill({"question": "Q", "reference": "gold", "answer": "reply"})
    assert filled == 'Judge {"a": 1}.\nQ gold reply'
    assert judge_set.labels == {"CORRECT": 1, "INCORRECT": 0, "NOT_ATTEMPTED": 0}


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        pytest.param("nope", None, "nothing called 'nope' can be fetched", id="name"),
        pytest.param("mt_bench_lmsys", "no/folder", "give a folder, or an address", id="folder"),
        pytest.param("mt_bench_lmsys", "https://a:b@c", "a plain address", id="secret"),
        pytest.param("mt_bench_lmsys", "ftp://a", "begins with https://", id="scheme"),
    ],
)
def test_what_cannot_be_a_source_is_wrong_use(
    tmp_path: pathlib.Path, name: str, source: str | None, fault: str
) -> None:
    with pytest.raises(UsageError, match=fault):
        fetch_bench(name, tmp_path, from_=source)


def test_an_unreachable_mirror_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(MissingError, match=r"http://127.0.0.1:9/.* cannot be fetched: .*--from"):
        fetch_bench("mt_bench_lmsys", tmp_path, from_="http://127.0.0.1:9")


# The command


@pytest.mark.reference
def test_the_command_prints_files_and_what_comes_next(
    source: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["mt_bench_lmsys", "--from", str(source), "--data-dir", str(tmp_path)]
    assert main(words) == 0
    output = capsys.readouterr()
    assert output.out.splitlines()[-1] == f"{tmp_path}/mt_bench_lmsys/bench.toml"
    assert "next: gen_answer --bench-name mt_bench_lmsys" in output.err
