"""What calls cost is one number, written one way: estimate, run report, `--cost`, JSON and csv."""

import csv
import io
import json
import pathlib
import random
import re

import pytest

import harness
from harness.cli import main
from harness.words import dollars
from tests.servers import Call, Rule, Server
from viewer.data import Home
from viewer.judges import judge_rows


def make(folder: pathlib.Path, seed: int) -> list[str]:
    """Write a benchmark of questions of any length; return the flags that name it."""
    home, rng = folder / "data" / "small", random.Random(seed)
    home.mkdir(parents=True)
    rows = [
        {"question_id": key, "category": "c", "turns": ["Why? " * rng.randint(1, 400)] * 2}
        for key in range(1, rng.randint(3, 9))
    ]
    (home / "question.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["--bench-name", "small"]


def reply(call: Call) -> str:
    return f"{'word ' * (len(call.text) % 90 + 400)}[[7]]"


@pytest.mark.parametrize("seed", range(3))
def test_what_calls_cost_is_one_number_in_one_writing(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    seed: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    bench = make(tmp_path, seed)
    price = f"price = {{ prompt = {10**seed}.5, completion = {12 * 10**seed}.0 }}"
    said, estimated = [], []
    with Server(Rule(reply)) as server:
        tables = [f'[models.{name}]\nbase_url = "{server.url}/v1"\n{price}\n' for name in "mj"]
        pathlib.Path("turnbench.toml").write_text("\n".join(tables))
        for command, flags in (
            (main.gen_answer, ["--model", "m"]),
            (main.gen_judgment, ["--judge-model", "j"]),
        ):
            assert command([*flags, *bench, "--dry-run"]) == 0
            estimated += re.findall(r"(\$[\d.,]+) to (\$[\d.,]+)\.", capsys.readouterr().out)
            assert command([*flags, *bench, "-y"]) == 0
            said += re.findall(r"\d+ calls?, (\$\S+)", capsys.readouterr().err)
    result = harness.show_result(cost=True, bench_name="small")
    costs = {row["what"]: row["cost"] for row in result.rows()}
    assert said == [dollars(costs["answers"]), dollars(costs["judgments"])]
    # Replies that nobody has seen yet are estimated as a range.
    for (low, high), cost in zip(estimated, costs.values(), strict=True):
        assert (
            0.8 * float(low[1:].replace(",", "")) <= cost <= 1.2 * float(high[1:].replace(",", ""))
        )
    assert f"cost {dollars(sum(costs.values()))}." in result.page.outcome
    files = harness.status(files=True, bench_name="small")
    assert f"made for {dollars(sum(costs.values()))}." in files.outcome
    assert {row["what"]: row["cost"] for row in files.all_rows} == pytest.approx(costs)
    judges, _ = judge_rows(Home(tmp_path / "data").data("small"))
    calls = next(row for row in result.rows() if row["what"] == "judgments")["calls"]
    assert judges[0]["dollars"] * calls / 1000 == pytest.approx(costs["judgments"])
    printed = {}
    for form in ("text", "json", "csv"):
        assert main.show_result(["--cost", *bench, "--format", form]) == 0
        printed[form] = capsys.readouterr().out
    assert all(dollars(cost) in printed["text"] for cost in costs.values())
    assert json.loads(printed["json"])["total"] == pytest.approx(sum(costs.values()))
    rows = csv.DictReader(io.StringIO(printed["csv"]))
    assert {row["what"]: float(row["cost"]) for row in rows} == pytest.approx(costs)
