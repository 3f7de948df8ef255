"""auto_metrics and auto_checks: rows, resume, and what they print."""

import json
import pathlib
from typing import Any

import pytest

import harness.metrics
from harness.cli.main import auto_checks, auto_metrics
from harness.errors import UsageError


def write(path: pathlib.Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def answers(model: str, *turns: list[str]) -> list[dict[str, Any]]:
    return [
        {"question_id": n, "model_id": model, "choices": [{"index": 0, "turns": texts}]}
        for n, texts in enumerate(turns, 1)
    ]


@pytest.fixture
def tiny(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return the folder of a benchmark of two questions, answered by two models."""
    limit = {"kind": "count", "of": "words", "at_most": 2}
    code = {"kind": "code", "tests": "assert f() == 1"}
    folder = tmp_path / "tiny"
    questions = [
        {"question_id": 1, "category": "stem", "turns": ["A?", "B?"], "checks": [[limit], [code]]},
        {"question_id": 2, "category": "writing", "turns": ["C?", "D?"]},
    ]
    write(folder / "question.jsonl", questions)
    for model, first in (("good", "Rhine."), ("bad", "It is the Danube.")):
        write(folder / "model_answer" / f"{model}.jsonl", answers(model, [first, "x"], ["y", ""]))
    write(folder / "reference_answer" / "me.jsonl", answers("me", ["Rhine", "x"]))
    return folder


def flags(folder: pathlib.Path, *more: str) -> list[str]:
    return ["--data-dir", str(folder.parent), "--bench-name", "tiny", *more]


def test_every_turn_with_a_reference_is_measured_once(
    tiny: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert auto_metrics(flags(tiny, "--metrics", "exact_match")) == 0
    file = tiny / "model_metric" / "exact_match.jsonl"
    measured = {(row["model"], row["turn"]): row["value"] for row in rows(file)}
    assert measured == {("bad", 1): 0, ("bad", 2): 1, ("good", 1): 1, ("good", 2): 1}
    out, err = capsys.readouterr()
    assert out == f"{file}\n"
    assert "warning: 4 turns without a reference are left out (exact_match)" in err
    assert "tiny: 2 models, reference: me\nexact_match: 4 turns to measure" in err
    before = file.read_bytes()
    assert auto_metrics(flags(tiny, "--metrics", "exact_match")) == 0
    assert file.read_bytes() == before
    done = (
        "exact_match: 4 measured before (the newest just now; --redo measures again), nothing left"
    )
    assert done in capsys.readouterr().err


def test_a_changed_answer_is_measured_again(tiny: pathlib.Path) -> None:
    auto_metrics(flags(tiny, "--metrics", "exact_match"))
    write(tiny / "model_answer" / "bad.jsonl", answers("bad", ["Rhine", "x"], ["y", ""]))
    auto_metrics(flags(tiny, "--metrics", "exact_match"))
    measured = rows(tiny / "model_metric" / "exact_match.jsonl")
    assert len(measured) == 4
    assert all(row["value"] == 1 for row in measured)
    moved = tiny / ".turnbench" / "model_metric" / "superseded" / "exact_match.jsonl"
    assert len(rows(moved)) == 2  # both turns: the second one's conversation has changed


def test_two_variants_stand_in_one_file(tiny: pathlib.Path) -> None:
    for variant in ("default", "colossalai"):
        auto_metrics(flags(tiny, "--metrics", "bleu", "--variant", variant, "-q"))
    measured = rows(tiny / "model_metric" / "bleu.jsonl")
    assert [row.get("variant", "default") for row in measured] == ["default"] * 4 + [
        "colossalai"
    ] * 4


def test_rows_without_a_number_say_why(
    tiny: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert auto_metrics(flags(tiny, "--metrics", "distinct", "--model-list", "good")) == 0
    assert "of 4 rows have no number; each states why" in capsys.readouterr().err
    notes = [row["note"] for row in rows(tiny / "model_metric" / "distinct.jsonl") if "note" in row]
    assert notes[-1] == "the answer is empty"


def test_checks_are_rows_with_what_was_found(
    tiny: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert auto_checks(flags(tiny)) == 0
    assert "1 checks run a model's code and are left undecided" in capsys.readouterr().err
    by_key = {(r["model"], r["turn"]): r for r in rows(tiny / "model_metric" / "checks.jsonl")}
    assert set(by_key) == {("good", 1), ("good", 2), ("bad", 1), ("bad", 2)}
    (check,) = by_key["bad", 1]["checks"]
    assert (check["text"], check["found"]) == ("at most 2 words", "4 words")
    assert by_key["good", 1]["values"] == {"strict": 1, "loose": 1, "strict_all": 1, "loose_all": 1}
    assert by_key["good", 2]["value"] is None
    assert "not decided" in by_key["good", 2]["note"]


def test_python_has_the_same_words(tiny: pathlib.Path) -> None:
    report = harness.auto_metrics(
        bench_name="tiny", data_dir=str(tiny.parent), metrics=["rouge"], model_list=["good"]
    )
    assert (report.written, report.undefined) == (2, 0)
    assert harness.auto_checks(bench_name="tiny", data_dir=str(tiny.parent)).written == 4
    with pytest.raises(UsageError, match=r"no option 'metric'; did you mean metrics"):
        harness.auto_metrics(metric="bleu")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        pytest.param(("--metrics", "bluu"), "did you mean bleu", id="metric"),
        pytest.param(
            ("--metrics", "bleu", "--reference", "you"),
            "no reference answers by 'you'",
            id="reference",
        ),
        pytest.param(
            ("--model-list", "nobody"), "no answers by 'nobody'; there are bad, good", id="model"
        ),
    ],
)
def test_wrong_use_is_one_line(
    tiny: pathlib.Path, more: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert auto_metrics(flags(tiny, *more)) == 2
    err = capsys.readouterr().err
    assert reason in err
    assert err.count("\n") == 1
