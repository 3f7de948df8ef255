import json
import pathlib
from typing import Any

import pytest

from harness.cli.main import main
from harness.old.errors import MissingError, StorageError, UsageError
from harness.old.judging.asking import request_about
from harness.old.judging.sets import load_judge_set
from harness.old.meta_evaluation.examples import judge_examples, plan_examples
from tests.old.small_bench import answer, question, small_bench, write

CATEGORIES = ("writing", "humanities", "stem", "roleplay")


def voted(tmp_path: pathlib.Path, count: int = 12, **shares: list[str]) -> pathlib.Path:
    """Write a benchmark in which the longer answer of x or y won every vote; every fourth is a tie."""
    asked = [question(q, CATEGORIES[q % 4], [f"Question {q}?"]) for q in range(1, count + 1)]
    bench = small_bench(tmp_path, *asked)
    lengths = {q: (9, 3) if q % 2 else (3, 9) for q in range(1, count + 1)}
    for at, model in enumerate("xy"):
        write(bench.answer_file(model), [answer(q, model, model * lengths[q][at]) for q in lengths])
    won = {q: "tie" if not q % 4 else "model_a" if q % 2 else "model_b" for q in lengths}
    write(
        bench.folder / "human_judgment" / "people.jsonl",
        [
            {"question_id": q, "turn": 1, "model_a": "x", "model_b": "y", "winner": won[q], "judge": voter}
            for q in lengths
            for voter in ("ann", "bob", "cy")
        ],
    )
    return bench.folder


def planned(tmp_path: pathlib.Path, **how: Any) -> Any:
    return plan_examples("builtin/longest", bench_name="small", data_dir=tmp_path, **how)


def test_no_question_is_both_shown_and_measured(tmp_path: pathlib.Path) -> None:
    voted(tmp_path)
    for seed in range(5):
        plan = planned(tmp_path, seed=seed)
        used = {one.item.question_id for one in plan.shown}
        for own in plan.plans:
            assert used.isdisjoint(match.question.question_id for match in own.every_match())
            assert own.rows == 9
    assert planned(tmp_path, seed=3).shown == planned(tmp_path, seed=3).shown


def test_examples_say_what_people_said_by_turns_and_from_different_categories(tmp_path: pathlib.Path) -> None:
    voted(tmp_path)
    shown = planned(tmp_path).shown
    assert [one.example.verdict for one in shown] == ["B", "A", "tie"]
    assert len(shown[0].example.answer_b[0]) > len(shown[0].example.answer_a[0])
    assert len(shown[1].example.answer_a[0]) > len(shown[1].example.answer_b[0])
    assert len({one.example.category for one in shown}) == 3


def test_a_question_of_the_same_words_is_not_measured_either(tmp_path: pathlib.Path) -> None:
    folder = voted(tmp_path)
    asked = [question(q, CATEGORIES[q % 4], ["The same?"]) for q in range(1, 13)]
    write(folder / "question.jsonl", asked)
    with pytest.raises(UsageError, match="every question with votes gives an example"):
        planned(tmp_path)


def test_the_judge_sees_them_and_the_set_is_one_like_any(tmp_path: pathlib.Path) -> None:
    folder = voted(tmp_path)
    without, with_examples = planned(tmp_path, shots=2).plans
    match = next(with_examples.every_match())
    said = [message.role for message in request_about(with_examples.materials, match).messages]
    assert said == ["system", "user", "assistant", "user", "assistant", "user"]
    assert len(request_about(without.materials, match).messages) == 2
    assert load_judge_set("mt_bench_examples", folder).bases == ("mt_bench",)


def test_sets_without_a_tie_get_decided_pairs_only(tmp_path: pathlib.Path) -> None:
    voted(tmp_path)
    shown = plan_examples(
        "builtin/longest", bench_name="small", data_dir=tmp_path, options=_options("alpaca_eval"), shots=4
    ).shown
    assert [one.example.verdict for one in shown] == ["B", "A", "B", "A"]


def _options(judge_set: str) -> Any:
    from harness.old.judging.run import JudgeOptions

    return JudgeOptions(judge_set=judge_set)


def test_the_report_compares_the_same_pairs(tmp_path: pathlib.Path) -> None:
    voted(tmp_path)
    report = judge_examples("builtin/longest", bench_name="small", data_dir=tmp_path)
    without, with_examples, gained = report.rows
    assert [row["examples"] for row in report.rows] == [0, 3, None]
    # The tied ones are of unequal length, so length is wrong by half on those that are measured.
    assert without["human_agreement"] == with_examples["human_agreement"] == pytest.approx((7 + 2 * 0.5) / 9)
    assert (gained["human_agreement"], without["consistent"], without["parsed"]) == (0.0, 1.0, 9)
    assert report.notes[1].startswith("measured on 9 pairs of 9 other questions")


def test_too_few_votes_another_file_and_no_votes_are_said(tmp_path: pathlib.Path) -> None:
    folder = voted(tmp_path, count=2)
    with pytest.raises(UsageError, match="2 of 3 examples can be made from the votes"):
        planned(tmp_path)
    (folder / "mine").mkdir()
    (folder / "mine" / "judge_set.toml").write_text('extends = "mt_bench"\n', encoding="utf-8")
    with pytest.raises(StorageError, match="is not a judge set with examples that turnbench wrote"):
        planned(tmp_path, shots=1, output=folder / "mine")
    (folder / "human_judgment" / "people.jsonl").unlink()
    with pytest.raises(MissingError, match="there are no votes"):
        planned(tmp_path)


def test_the_command_writes_the_set_and_tells(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = voted(tmp_path)
    words = ["judge_report", "examples", "--judge-model", "builtin/longest", "--data-dir", str(tmp_path)]
    words += ["--bench-name", "small", "--first-n", "4"]
    assert main([*words, "--dry-run"]) == 0
    assert (folder / "mt_bench_examples" / "judge_set.toml").exists()
    capsys.readouterr()
    assert main([*words, "--format", "json"]) == 0
    assert [row["examples"] for row in json.loads(capsys.readouterr().out)["rows"]] == [0, 3, None]
