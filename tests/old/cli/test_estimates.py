"""--dry-run, --max-cost, --models and `show_result --cost`, as a user meets them."""

import csv
import io
import json
import pathlib

import pytest

from harness.cli.main import main
from tests.old.cli.conftest import Run
from tests.old.protocol_server import ProtocolServer
from tests.old.small_bench import answer, question, small_bench, write


def named(folder: pathlib.Path, url: str, more: str = "") -> None:
    text = f'[models.mine]\nbase_url = "{url}"\nmodel = "gpt-4o"\n{more}\n[models.unpriced]\nbase_url = "{url}"\n'
    (folder / "models.toml").write_text(text, encoding="utf-8")


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_dry_run_prints_a_table_and_neither_calls_nor_writes(run: Run, tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path / "data", name="mt_bench")
    with ProtocolServer() as server:
        named(tmp_path, server.openai_url)
        before = files(tmp_path)
        done = run("gen_answer", "--model", "mine", "unpriced", "--dry-run")
        assert (server.requests, files(tmp_path)) == ([], before)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["what", "model", "calls", "prompt", "tokens", "reply", "tokens", "cost"]
    assert lines[1].startswith("answers  mine")
    assert " to $" in lines[1]
    assert lines[2].endswith("unknown price")
    assert lines[3].split()[:2] == ["all", "12"]
    assert "answers by mine: no earlier replies to estimate from" in done.stdout


def test_a_dry_run_of_judging_asks_nothing(run: Run, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path / "data", question(1), name="mt_bench")
    write(bench.answer_file("m"), [answer(1, "m", "one", "two")])
    named(tmp_path, "http://127.0.0.1:9/v1")
    done = run("gen_judgment", "--judge-model", "mine", "--dry-run")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].split()[:4] == ["judgments", "mine", "single", "2"]
    assert not (bench.folder / "model_judgment").exists()


def test_a_dry_run_with_nothing_left_says_so(run: Run, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path / "data", question(1), name="mt_bench")
    write(bench.answer_file("mine"), [answer(1, "mine", "one", "two")])
    named(tmp_path, "http://127.0.0.1:9/v1")
    done = run("gen_answer", "--model", "mine", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "nothing is left to do: no calls would be made\n")


def test_an_unknown_price_with_a_budget_is_exit_2_before_the_first_call(run: Run, tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path / "data", name="mt_bench")
    with ProtocolServer() as server:
        named(tmp_path, server.openai_url)
        done = run("gen_answer", "--model", "unpriced", "--max-cost", "1")
        assert (done.returncode, server.requests) == (2, [])
    assert "--max-cost needs the price of unpriced" in done.stderr


def test_the_file_may_be_named_and_its_mistakes_are_one_line(run: Run, tmp_path: pathlib.Path) -> None:
    small_bench(tmp_path / "data", name="mt_bench")
    (tmp_path / "mine.toml").write_text('[models.x]\napi_key_env = "sk-secret"', encoding="utf-8")
    done = run("gen_answer", "--model", "x", "--models", "mine.toml", "--dry-run")
    assert done.returncode == 2
    assert "mine.toml:2: " in done.stderr
    assert "never the key" in done.stderr
    assert "secret" not in done.stderr


def test_cost_is_shown_in_every_format(run: Run, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path / "data", question(1), name="mt_bench")
    row = answer(1, "gpt-4o", "one", "two")
    row["choices"][0]["details"] = [{"usage": {"prompt_tokens": 1_000_000, "completion_tokens": 50_000}}, {}]
    write(bench.answer_file("gpt-4o"), [row])
    table, markdown, listed, parsed = (
        run("show_result", "--cost", "--format", form).stdout for form in ("table", "markdown", "csv", "json")
    )
    assert "$3.00" in table
    assert "note: without tokens: calls without stored token counts" in table
    assert markdown.splitlines()[2].startswith("| answers | gpt-4o | 2 | 1,000,000 |")
    expected = {"what": "answers", "model": "gpt-4o", "calls": 2, "prompt_tokens": 1_000_000}
    expected |= {"cached_tokens": 0, "written_tokens": 0, "reply_tokens": 50_000, "cost": 3.0, "unstated": 1}
    assert json.loads(parsed)["rows"] == [expected]
    assert json.loads(parsed)["total"] == 3.0
    assert list(csv.DictReader(io.StringIO(listed))) == [{name: str(value) for name, value in expected.items()}]


def test_calls_without_tokens_have_no_cost_in_the_table(run: Run, tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path / "data", question(1), name="mt_bench")
    write(bench.answer_file("gpt-4o"), [answer(1, "gpt-4o", "one", "two")])
    table = run("show_result", "--cost").stdout
    (line,) = (line for line in table.splitlines() if line.startswith("answers"))
    assert line.split() == ["answers", "gpt-4o", "2", "0", "0", "–", "2"]


@pytest.mark.parametrize("model", ["gpt-4o", "unpriced"], ids=["no tokens", "no price"])
def test_what_all_cost_is_unknown_and_not_nothing(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    bench = small_bench(tmp_path / "data", question(1), name="mt_bench")
    row = answer(1, model, "one", "two")
    if model == "unpriced":
        row["choices"][0]["details"] = [{"usage": {"prompt_tokens": 9, "completion_tokens": 9}}] * 2
    write(bench.answer_file(model), [row])
    words = ["show_result", "--cost", "--data-dir", str(tmp_path / "data")]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "note: the cost of all this is unknown" in shown
    assert "$0.00" not in shown
    assert "note: calls that failed, and rows that newer ones replaced, are not counted" in shown
    assert main([*words, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] is None
