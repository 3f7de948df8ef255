"""A flag that has no effect is warned of, whichever the command."""

import argparse
import json
import pathlib

import pytest

from harness.old.cli import judge_report, manual
from harness.old.cli.idle import BESIDE, WITHOUT
from harness.cli.main import COMMANDS, main

PARSERS = {name: manual.parser_of(name) for name in COMMANDS}
PARSERS |= {parser.prog: parser for parser in judge_report.parsers().values()}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("gen_answer --model builtin/x --gpus-per-model 2", ["--gpus-per-model without --ray"]),
        ("gen_answer --model builtin/x --user-seed 2", ["--user-seed without --user"]),
        ("gen_answer --model builtin/x --dtype float16", ["--dtype without --model-path"]),
        ("gen_answer --model-path x --serve y --device cpu", ["--device with --serve"]),
        ("gen_answer --model builtin/x --batch --processes 2", ["--processes with --batch"]),
        ("gen_judgment --judge-model x --gpus-per-model 2 --ray", []),
        (
            "run_bench --import colossalai none --judge-model x --top-p 0.5 --device cpu",
            ["--device without --metrics bert_score or --metrics unieval or --config", "--top-p without --model"],
        ),
        ("auto_metrics --bert-layer 3", ["--bert-layer without --metrics bert_score or --config"]),
        ("auto_metrics --metrics bleu bert_score --bert-layer 3", []),
        ("show_judge_set mt_bench --turns 2", ["--turns without --question"]),
        ("fetch_bench --list --from x", ["--from with --list"]),
        ("judge_report attack --judge-model x --strong-model y", ["--strong-model without --mode pairwise-baseline"]),
        ("judge_report attack --judge-model x --strong-model y --mode pairwise-baseline", []),
        ("judge_report reference --threshold 8", []),
        ("judge_report reference --threshold 8 --mode pairwise-all", ["--threshold with --mode pairwise-all"]),
        ("judge_report ranking --variant x --against y", ["--variant without --metric"]),
        (
            "import_data ifeval none --bench-name x --judge-model y",
            ["--judge-model without --back or FORMAT alpaca_eval"],
        ),
        ("import_data alpaca_eval none --bench-name x --judge-model y", []),
        ("import_data --back alpaca_eval --bench-name mt_bench --output x --first-n 3", ["--first-n with --back"]),
    ],
)
def test_it_is_told_before_anything_is_done(
    words: str,
    told: list[str],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    main(words.split())
    name = " ".join(words.split()[: 2 if words.startswith("judge_report") else 1])
    lines = [line for line in capsys.readouterr().err.splitlines() if "has no effect" in line]
    assert lines == [
        f"{name}: warning: {flag} has no effect {why}" for flag, why in (own.split(" ", 1) for own in told)
    ]


def test_annotations_take_neither_models_nor_a_number_of_questions(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {"instruction": "Hi", "generator_1": "a", "generator_2": "b", "output_1": "1", "output_2": "2"}
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps([made | {"annotator": "gpt-4", "preference": 1.0}]), encoding="utf-8")
    where = ["--bench-name", "own", "--data-dir", str(tmp_path)]
    assert main(["import_data", "alpaca_eval", str(file), *where, "--first-n", "1", "--judge-model", "j"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "has no effect" in line]
    assert lines == ["import_data: warning: --first-n has no effect with annotations"]


@pytest.mark.parametrize("table", [WITHOUT, BESIDE], ids=["without", "beside"])
def test_the_table_names_flags_that_there_are(table: dict[str, tuple[tuple[str, tuple[str, ...]], ...]]) -> None:
    for command, rows in table.items():
        for flags, others in rows:
            wanted = [*flags.split(), *(other.split()[0] for other in others)]
            having = [command] if command else [name for name in PARSERS if flags.split()[0] in names(PARSERS[name])]
            assert having
            assert [(own, flag) for own in having for flag in wanted if flag not in names(PARSERS[own])] == []


def names(parser: argparse.ArgumentParser) -> list[str]:
    """Return how a warning calls each of a command's flags."""
    return [str(action.option_strings[0] if action.option_strings else action.metavar) for action in parser._actions]
