"""The hub's own client reads the card and the entries that are written for it."""

import pathlib
from typing import Any

import pytest
import yaml
from huggingface_hub import DatasetCard
from huggingface_hub._eval_results import parse_eval_result_entries

import harness
from harness import export


def test_the_hubs_client_reads_card_and_entries(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    export("card", data_dir=data, output=tmp_path)
    card = DatasetCard.load(tmp_path / "README.md")
    assert (card.data.language, card.data.size_categories) == (["en"], ["n<1K"])
    assert "| builtin/reference |" in card.text
    assert "were compared" in card.text or "are compared on 6 questions" in card.text
    text = (tmp_path / ".eval_results" / "builtin%2Feliza.yaml").read_text(encoding="utf-8")
    entries = {entry.task_id: entry for entry in parse_eval_result_entries(yaml.safe_load(text))}
    shown = harness.show_result("single", data_dir=str(data)).page.tables[0].rows
    score = next(row["average"].value for row in shown if row["model"] == "builtin/eliza")
    assert entries["mt_bench_grades"].value == pytest.approx(score, abs=1e-6)
    assert entries["mt_bench_grades"].dataset_id == "OWNER/mt_bench"
    assert "6 questions" in str(entries["mt_bench_pairs"].notes)


def test_the_card_of_short_questions_says_one_turn(tmp_path: pathlib.Path) -> None:
    words: dict[str, Any] = {"data_dir": tmp_path, "bench_name": "short_fact_en", "first_n": 2}
    harness.gen_answer("builtin/reference", **words)
    harness.gen_judgment("builtin/overlap", judge_set="mt_bench", **words)
    export("card", data_dir=tmp_path, bench_name="short_fact_en", output=tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert " of 1 turn: " in card
