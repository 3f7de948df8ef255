"""run_bench --batch: answers by batches, and their judgments by further ones."""

import pathlib

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import write_questions
from tests.old.protocol_server import Asked, ProtocolServer, parrot, verdict
from tests.old.small_bench import question, rows


def reply(asked: Asked) -> str:
    return verdict(asked) if asked.model == "j" else parrot(asked)


def test_the_rows_are_those_of_a_direct_run(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {}
    for how in ("--batch", "--parallel=4"):
        data = tmp_path / how
        write_questions(data / "tiny", question(1), question(2))
        where = ["--data-dir", str(data), "--bench-name", "tiny", "-q"]
        with ProtocolServer(reply) as server:
            urls = ["--base-url", server.openai_url, "--judge-base-url", server.openai_url]
            assert main(["run_bench", "--model", "m", "--judge-model", "j", *urls, *where, how]) == 0
            batches = [len(made.requests) for made in server.batches.made]
        assert batches == ([2, 2, 4] if how == "--batch" else [])
        answers = {row["question_id"]: row["choices"][0]["turns"] for row in rows(data / "tiny/model_answer/m.jsonl")}
        judged = rows(data / "tiny/model_judgment/j_single.jsonl")
        texts[how] = answers, sorted((row["question_id"], row["turn"], row["judgment"]) for row in judged)
    assert texts["--batch"] == texts["--parallel=4"]
    assert "j_single" not in capsys.readouterr().err
