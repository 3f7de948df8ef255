"""The command auto_metrics: what it says, and its exit codes."""

import csv
import io
import json
import pathlib

import pytest

import harness
from harness.old.cli.auto_metrics import main
from harness.old.metrics.setup import by_task
from tests.old.small_bench import answer, rows, write


@pytest.fixture
def words(data: pathlib.Path) -> list[str]:
    """Return the flags for a benchmark with references."""
    write(data / "tiny" / "reference_answer" / "me.jsonl", [answer(n, "me", "Rhine.", "Lake Balaton.") for n in (1, 2)])
    return ["--data-dir", str(data), "--bench-name", "tiny"]


def test_it_computes_all_text_metrics(words: list[str], data: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    out, err = capsys.readouterr()
    files = sorted((data / "tiny" / "model_metric").iterdir())
    assert sorted(out.split()) == list(map(str, files))
    assert [file.stem for file in files] == [
        "bleu",
        "chrf",
        "distinct",
        "exact_match",
        "label_match",
        "rouge",
        "token_f1",
    ]
    assert "tiny: 2 models, reference: me\n" in err
    assert "rouge (tokens: words): 8 turns to measure\n" in err
    assert "auto_metrics: warning: writing: many different answers are good there" in err


def test_a_second_call_finds_nothing_to_do(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([*words, "--metrics", "rouge", "-q"])
    capsys.readouterr()
    assert main([*words, "--metrics", "rouge"]) == 0
    assert "rouge (tokens: words): 8 measured before, nothing left to measure" in capsys.readouterr().err


def test_a_variant_and_a_language_are_chosen_by_flags(words: list[str], data: pathlib.Path) -> None:
    assert main([*words, "--metrics", "token_f1", "--variant", "colossalai", "--language", "zh", "-q"]) == 0
    row = rows(data / "tiny" / "model_metric" / "token_f1.jsonl")[0]
    assert (row["variant"], row["tokenizer"]) == ("colossalai", "jieba")
    assert row["library"].startswith("jieba ")


def test_rows_without_a_number_are_counted(
    words: list[str], data: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(data / "tiny" / "model_answer" / "short.jsonl", [answer(1, "short", "Rhine", "")])
    assert main([*words, "--metrics", "distinct", "--model-list", "short"]) == 0
    assert "auto_metrics: 2 of 2 rows have no number; each states why" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        pytest.param(["--metrics", "bluu"], "no metric 'bluu'; did you mean 'bleu'?", id="metric"),
        pytest.param(["--metrics", "rouge", "--reference", "you"], "no reference answers by 'you'", id="reference"),
        pytest.param(["--language", "hu", "--variant", "colossalai"], "is for English and Chinese", id="language"),
    ],
)
def test_wrong_use_is_one_line(
    words: list[str], more: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *more]) == 2
    err = capsys.readouterr().err
    assert reason in err
    assert err.count("\n") == 1


def test_the_function_does_the_same(words: list[str], data: pathlib.Path) -> None:
    report = harness.auto_metrics(["rouge", "bleu"], "tiny", data_dir=data, model_list=["builtin/eliza"])
    assert [path.stem for path in report.paths] == ["rouge", "bleu"]
    assert report.written == 8
    assert {json.loads(line)["model"] for line in report.paths[0].read_text().splitlines()} == {"builtin/eliza"}


def test_checkpoints_are_named_by_task_or_for_all() -> None:
    assert by_task(["dialogue=a/b@v1", "./c"]) == {"dialogue": "a/b@v1", "*": "./c"}


def test_metrics_have_a_report_and_charts(
    words: list[str], data: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from harness.old.cli import show_result

    main([*words, "--metrics", "rouge", "distinct", "-q"])
    capsys.readouterr()
    page, charts = data / "page.html", data / "charts"
    asked = [*words, "--metric", "rouge", "distinct", "--report", str(page), "--charts", str(charts)]
    assert show_result.main([*asked, "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert f"wrote 8 charts into {charts}" in err
    assert {row["category"] for row in csv.DictReader(io.StringIO(out))} == {"", "writing", "stem"}
    text = (charts / "stem_each_metric.svg").read_text(encoding="utf-8")
    assert "rouge_l" in text
    assert "var(" not in text
    assert page.read_text(encoding="utf-8").count("<svg") == 8
    assert show_result.main(asked) == 0  # its own charts are written again
    (charts / "stem_each_metric.svg").write_text("mine", encoding="utf-8")
    assert show_result.main(asked) == 2
    assert "is not a chart that turnbench wrote" in capsys.readouterr().err


def test_the_grades_of_several_criteria_stand_beside_metrics(words: list[str], data: pathlib.Path) -> None:
    main([*words, "--metrics", "rouge", "-q"])
    harness.gen_judgment("builtin/overlap", "tiny", data_dir=data, options=harness.JudgeOptions(judge_set="metrics_en"))
    shown = harness.show_result(metric=["rouge", "score"], bench_name="tiny", data_dir=data, judge_set="metrics_en")
    assert {"rouge_l", "relevance"} <= shown.rows()[0].keys()


def test_two_runs_are_compared_by_a_metric_like_by_grades(
    words: list[str], data: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from harness.old.cli import show_result

    main([*words, "--metrics", "rouge", "distinct", "-q"])
    other = data / "earlier.jsonl"
    write(other, [{**row, "value": 1.0} for row in rows(data / "tiny" / "model_metric" / "rouge.jsonl")])
    capsys.readouterr()
    asked = [*words, "--against", str(other), "--fail-if-worse", "--metric", "rouge"]
    assert show_result.main([*asked, "--margin", "0.05"]) == 1
    out, err = capsys.readouterr()
    assert "This run (model 1) against the other (model 2)" in out
    assert "builtin/eliza is not shown to be as good as in the other run, within 0.05" in err
    assert show_result.main([*asked, "distinct"]) == 2
    assert "two runs can be compared by one metric; name one with --metric" in capsys.readouterr().err
