"""A command and its Python twin do the same with the same options; the twin says nothing."""

import json
import pathlib
import shutil
from typing import Any

import pytest

import harness
from harness import options
from harness.cli.main import main
from harness.errors import TurnbenchError
from harness.results import panels, rank, read

BOTH = ["builtin/eliza", "builtin/outline"]
ANSWERED = ["gen_answer", "--model", *BOTH, "--bench-name", "small"]
JUDGED = ["gen_judgment", "--mode", "pairwise-all", "--bench-name", "small"]
MADE_AT = {"tstamp", "answer_id", "seconds", "first_token_seconds"}
"""What differs between two runs."""
PROJECT = 'judge_model = "builtin/overlap"\n'


def bench(folder: pathlib.Path) -> None:
    """Write a benchmark `small` into ./data, files to import, and turnbench.toml."""
    home = folder / "data" / "small"
    home.mkdir(parents=True)
    rows = [
        {"question_id": n, "category": "writing", "turns": [f"Say {n}.", "Shorter."]}
        for n in range(1, 4)
    ]
    checks = [[{"kind": "count", "of": "words", "at_most": 5}], []]
    (home / "question.jsonl").write_text(
        "".join(json.dumps(r | {"checks": checks}) + "\n" for r in rows)
    )
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    (folder / "talk.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    (folder / "turnbench.toml").write_text(PROJECT)


def flags(name: str, words: dict[str, Any]) -> list[str]:
    """Return options as a command line."""
    line, positional = [], []
    for field in options.fields(options.record_of(name)):
        value = words.get(field.name)
        values = [str(v) for v in value] if isinstance(value, list) else [str(value)]
        if value is None:
            continue
        if field.flag.positional:
            positional += values
        else:
            line += [options.option(field.name), *([] if value is True else values)]
    return [name, *positional, *line]


def files(folder: pathlib.Path) -> dict[str, Any]:
    """Return what is in a folder by path, without what differs between two runs."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".turnbench/" not in f"{path}/":
            text = path.read_text(encoding="utf-8")
            found[str(path.relative_to(folder))] = (
                [timeless(json.loads(line)) for line in text.splitlines()]
                if path.suffix == ".jsonl"
                else text
            )
    return found


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in MADE_AT}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def outcome(name: str, words: dict[str, Any]) -> tuple[Any, int]:
    """Call a twin; return its report, or its error, and the exit code that goes with it."""
    try:
        report = getattr(harness, name)(**words)
    except TurnbenchError as error:
        return error, error.exit_code
    return report, getattr(report, "exit_code", 0)


SMALL = {"bench_name": "small"}
NEVER = {"model": ["m"], "base_url": "http://127.0.0.1:9/v1", "dry_run": True}


REFUSED = {
    *("answer turns", "answer serve", "run metric that cannot be", "import where", "fetch"),
    "init",  # there is a turnbench.toml
}


@pytest.mark.parametrize(
    ("name", "words", "before"),
    [
        pytest.param("gen_answer", SMALL | {"model": BOTH, "first_n": 2}, [], id="answer"),
        pytest.param("gen_answer", SMALL | NEVER, [], id="answer dry"),
        pytest.param("gen_answer", SMALL | {"model": BOTH, "turns": [1]}, [], id="answer turns"),
        pytest.param("gen_answer", SMALL | {"model": BOTH, "serve": "vllm"}, [], id="answer serve"),
        pytest.param("gen_judgment", SMALL | {"mode": "single"}, [ANSWERED], id="judge"),
        pytest.param("gen_judgment", SMALL | {"dry_run": True}, [ANSWERED], id="judge dry"),
        pytest.param("run_bench", SMALL | {"model": BOTH}, [], id="run"),
        pytest.param("run_bench", SMALL | NEVER, [], id="run dry"),
        pytest.param(
            "run_bench",
            SMALL | {"model": BOTH, "baseline_model": BOTH[0], "board": "board.csv"},
            [],
            id="run board",
        ),
        pytest.param(
            "run_bench",
            {"import_": ["messages", "talk.jsonl"], "model": BOTH},
            [],
            id="run import",
        ),
        pytest.param(
            "run_bench",
            SMALL | {"model": BOTH, "metrics": ["distinct", "bert_score"]},
            [],
            id="run metric that cannot be",
        ),
        pytest.param("auto_metrics", SMALL | {"metrics": ["distinct"]}, [ANSWERED], id="metrics"),
        pytest.param("auto_checks", SMALL, [ANSWERED], id="checks"),
        pytest.param("show_result", SMALL | {"report": "r.html"}, [ANSWERED, JUDGED], id="result"),
        pytest.param(
            "judge_report", SMALL | {"report": "position"}, [ANSWERED, JUDGED], id="report"
        ),
        pytest.param(
            "judge_report", SMALL | {"report": "attack", "dry_run": True}, [], id="attack dry"
        ),
        pytest.param("judge_report", SMALL | {"report": "attack"}, [], id="attack"),
        pytest.param("status", SMALL, [ANSWERED], id="status"),
        pytest.param(
            "import_data",
            {"imports": ["messages", "talk.jsonl"], "bench_name": "talk"},
            [],
            id="import",
        ),
        pytest.param("import_data", {"imports": ["messages", "talk.jsonl"]}, [], id="import where"),
        pytest.param("export", SMALL | {"format": "fastchat"}, [ANSWERED, JUDGED], id="export"),
        pytest.param("check_bench", {"bench_name": "small"}, [], id="check"),
        pytest.param("fetch_bench", {"name": "nothing"}, [], id="fetch"),
        pytest.param("new_questions", {"seed": 3, "out": "data/new"}, [], id="new questions"),
        pytest.param("init", {}, [], id="init"),
    ],
)
def test_a_command_and_its_twin_do_the_same(
    name: str,
    words: dict[str, Any],
    before: list[list[str]],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    bench(one)
    monkeypatch.chdir(one)
    for line in before:
        assert main([*line, "-q"]) == 0
    shutil.copytree(one, other)
    code = main(flags(name, words))
    error = capsys.readouterr().err
    assert code == (2 if request.node.callspec.id in REFUSED else 0), error
    monkeypatch.chdir(other)
    if name == "import_data":
        words = dict(words)
        words["format"], *words["files"] = words.pop("imports")
    report, ended = outcome(name, words)
    assert ended == code
    if isinstance(report, TurnbenchError):
        assert str(report) in error
    else:
        assert len(repr(report)) <= 200
        if not isinstance(report, pathlib.Path):  # a notebook shows it
            assert "<p>" in report._repr_html_()
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
    assert files(other) == files(one)


def test_plans_and_benches_have_short_names(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench(tmp_path)
    monkeypatch.chdir(tmp_path)
    report = harness.run_bench(BOTH, bench_name="small")
    loaded = harness.load_bench("small")
    results = harness.show_result(bench_name="small")
    scores = read(loaded)
    panel = panels(scores)[0]
    ranking = rank(panel.combined)
    found = scores, panel, ranking, ranking.comparisons, ranking.models[0].mean
    assert len(repr(harness.plan(BOTH, "builtin/overlap", bench_name="mt_bench"))) <= 200
    judge_set = harness.load_judge_set("mt_bench")
    for value in (report, report.plan, loaded, results, results.page, report.page, *found):
        assert len(repr(value)) <= 200
    assert len(repr(judge_set)) <= 200
