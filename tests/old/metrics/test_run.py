"""plan_metrics and run_metrics: rows of model_metric/, what is done, what is left out, and the warnings."""

import gzip
import json
import os
import pathlib
from typing import Any

import pytest

from harness.old.bench import Bench, load_bench
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.metrics import run
from harness.old.metrics.metric import Item, Measured, Metric, each
from harness.old.metrics.run import MetricPlan, plan_metrics, run_metrics
from harness.old.metrics.setup import Setup
from harness.old.metrics.table import load_metric, load_metrics
from harness.old.rows import measurement_from_row, measurement_to_row
from tests.old.small_bench import answer, question, rows, small_bench, write


def measured_bench(data_dir: pathlib.Path, category: str = "stem", toml: str = "") -> Bench:
    """Return a benchmark of two questions, answered by two models, the first question with a reference."""
    bench = small_bench(data_dir, question(1, category), question(2, category), toml=toml)
    for model in ("a", "b"):
        write(bench.answer_file(model), [answer(n, model, f"{model} cat {n}", "the mat") for n in (1, 2)])
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "teacher", "a cat 1", "the mat")])
    return bench


def planned(bench: Bench, *names: str, **more: Any) -> MetricPlan:
    return plan_metrics(load_metrics(names or ("rouge",)), bench, **more)


def test_numbers_in_a_compressed_file_are_measured_and_named(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    plain = bench.metric_file("distinct")
    run_metrics(planned(bench, "distinct"))
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    report = run_metrics(planned(bench, "distinct"))
    assert (report.written, report.paths) == (0, (plain,))


def test_a_row_says_all_that_made_its_numbers(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    report = run_metrics(planned(bench, "bleu", "distinct"))
    assert report.paths == (bench.metric_file("bleu"), bench.metric_file("distinct"))
    first = rows(bench.metric_file("bleu"))[0]
    assert first.pop("tstamp") > 1e9
    assert set(first.pop("made_from")) == {"question", "conversation", "reference", "metric"}
    assert first.pop("library").startswith("sacrebleu ")
    assert first == {
        "question_id": 1,
        "turn": 1,
        "model": "a",
        "choice": 0,
        "metric": "bleu",
        "value": 1.0,
        "values": {"bleu_1": 1.0, "bleu_2": 1.0, "bleu_3": 1.0, "bleu_4": 1.0},
        "variant": "default",
        "tokenizer": "13a",
        "reference": "teacher",
    }
    alone = rows(bench.metric_file("distinct"))
    assert len(alone) == 8
    assert (alone[0]["reference"], alone[0]["made_from"]["reference"]) == (None, None)


def test_a_metric_with_more_to_measure_than_those_before_it_measures_all(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_AT_ONCE", 2)
    bench = measured_bench(tmp_path)  # question 2 has no reference, and stands between those that have one
    report = run_metrics(planned(bench, "rouge", "distinct"))
    assert report.written == 4 + 8
    assert len({(row["question_id"], row["turn"], row["model"]) for row in rows(bench.metric_file("distinct"))}) == 8


def test_every_turn_of_every_model_is_measured_against_its_own_turn(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    run_metrics(planned(bench, "exact_match"))
    found = {
        (row["model"], row["question_id"], row["turn"]): row["value"] for row in rows(bench.metric_file("exact_match"))
    }
    assert found == {("a", 1, 1): 1.0, ("a", 1, 2): 1.0, ("b", 1, 1): 0.0, ("b", 1, 2): 1.0}


def test_a_second_run_has_nothing_to_do(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    run_metrics(planned(bench, "rouge", "distinct"))
    before = bench.metric_file("rouge").read_bytes()
    plan = planned(bench, "rouge", "distinct")
    assert [(work.already, work.todo) for work in plan.works] == [(4, []), (8, [])]
    assert run_metrics(plan).written == 0
    assert bench.metric_file("rouge").read_bytes() == before


def test_what_changed_is_measured_anew_and_the_old_row_kept_aside(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    run_metrics(planned(bench, "rouge"))
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "teacher", "a cat 1", "a hat")])
    plan = planned(bench, "rouge")
    assert (plan.works[0].already, plan.works[0].superseded) == (2, 2)
    assert run_metrics(plan).superseded == 2
    assert len(rows(bench.metric_file("rouge"))) == 4
    assert len(rows(bench.metric_state / "superseded" / "rouge.jsonl")) == 2
    assert planned(bench, "rouge").rows == 0


def test_a_changed_reference_leaves_numbers_without_one_alone(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    run_metrics(planned(bench, "distinct", "rouge"))
    (bench.folder / "reference_answer" / "teacher.jsonl").write_text(json.dumps(answer(1, "t", "x", "y")) + "\n")
    assert [len(work.todo) for work in planned(bench, "distinct", "rouge").works] == [0, 4]


def test_redo_measures_again(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    run_metrics(planned(bench))
    assert run_metrics(planned(bench, redo=True)).superseded == 4
    assert len(rows(bench.metric_file("rouge"))) == 4


def test_two_variants_stand_side_by_side(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    run_metrics(planned(bench))
    run_metrics(plan_metrics([load_metric("rouge", Setup(variant="colossalai"))], bench))
    assert [row["variant"] for row in rows(bench.metric_file("rouge"))] == ["default"] * 4 + ["colossalai"] * 4
    assert planned(bench).rows == 0


def test_a_killed_run_loses_no_row_and_doubles_none(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_AT_ONCE", 3)
    bench = measured_bench(tmp_path)

    def dies(item: Item) -> Measured:
        if item.turn == 2 and item.answer and len(rows(bench.metric_file("m"))) == 3:
            raise KeyboardInterrupt
        return Measured(1.0)

    with pytest.raises(KeyboardInterrupt):
        run_metrics(plan_metrics([Metric("m", each(dies))], bench))
    assert len(rows(bench.metric_file("m"))) == 3
    with bench.metric_file("m").open("ab") as file:
        file.write(b'{"question_id": 2, "turn')
    plan = plan_metrics([Metric("m", each(lambda item: Measured(1.0)))], bench)
    assert (plan.works[0].already, len(plan.works[0].todo)) == (3, 5)
    run_metrics(plan)
    found = rows(bench.metric_file("m"))
    assert len({(row["model"], row["question_id"], row["turn"]) for row in found}) == len(found) == 8


def test_all_metrics_measure_some_items_before_the_next_ones(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_AT_ONCE", 4)
    order: list[str] = []

    def noted(name: str) -> Metric:
        def measured(item: Item) -> Measured:
            order.append(name)
            return Measured(0.0)

        return Metric(name, each(measured))

    run_metrics(plan_metrics([noted("x"), noted("y")], measured_bench(tmp_path)))
    assert "".join(order) == "xxxxyyyyxxxxyyyy"


def test_a_metric_is_asked_only_where_it_applies(tmp_path: pathlib.Path) -> None:
    metric = Metric("first", each(lambda item: Measured(1.0)), applies=lambda question, turn: turn == 1)
    assert plan_metrics([metric], measured_bench(tmp_path)).rows == 4


def test_turns_without_a_reference_are_left_out_with_a_notice(tmp_path: pathlib.Path) -> None:
    plan = planned(measured_bench(tmp_path), "rouge", "chrf", "distinct")
    assert [len(work.todo) for work in plan.works] == [4, 4, 8]
    assert plan.notices == ["4 turns without a reference are left out (rouge, chrf)"]


def test_missing_and_outdated_answers_are_left_out_with_a_notice(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    old = {"made_from": {"question": "0" * 16}}
    write(bench.answer_file("b"), [answer(2, "b", "x", "y") | old])
    plan = planned(bench, "distinct", models=["b", "a"])
    assert plan.rows == 4
    assert plan.notices == [
        "left out: b has no answer to question 1",
        "left out: b answered another wording of question 2",
    ]


def test_without_any_reference_the_user_hears_what_to_do(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    os.remove(bench.folder / "reference_answer" / "teacher.jsonl")
    with pytest.raises(MissingError, match=r"no answer has a reference .* or name an answered model with --reference"):
        planned(bench, "rouge")


def test_with_several_references_one_must_be_chosen(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    write(bench.folder / "reference_answer" / "other.jsonl", [answer(1, "other", "b cat 1", "x")])
    with pytest.raises(UsageError, match="several references, choose one with --reference: other, teacher"):
        planned(bench)
    run_metrics(planned(bench, "exact_match", reference="other"))
    assert {row["reference"] for row in rows(bench.metric_file("exact_match"))} == {"other"}


def test_nothing_answered_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(MissingError, match="run gen_answer first"):
        planned(small_bench(tmp_path))
    with pytest.raises(UsageError, match=r"no answers by 'c' .*; known: a, b"):
        planned(measured_bench(tmp_path), models=["c"])


def test_no_metric_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="name one with --metrics"):
        plan_metrics([], measured_bench(tmp_path))


def test_only_the_answer_inside_an_object_is_measured(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path, toml='answer_field = "answer"')
    write(bench.answer_file("a"), [answer(1, "a", '{"answer": "a cat 1"}', "x")])
    run_metrics(planned(bench, "exact_match", models=["a"]))
    assert rows(bench.metric_file("exact_match"))[0]["value"] == 1.0


def test_overlap_on_open_categories_is_warned_of(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path, "roleplay")
    warning = "roleplay: many different answers are good there, so overlap with one reference (rouge, chrf)"
    assert planned(bench, "rouge", "chrf", "exact_match").notices[0].startswith(warning)
    assert planned(bench, "distinct").notices == []


def test_a_reference_by_a_model_is_warned_of(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    told = "the references are a model's own answers (b): rouge measure likeness to that model"
    assert told in planned(bench, reference="b").notices
    os.rename(*(bench.folder / "reference_answer" / f"{name}.jsonl" for name in ("teacher", "gpt-4")))
    assert "the references are a model's own answers (gpt-4)" in planned(bench).notices[0]


def test_single_references_by_a_model_are_counted(tmp_path: pathlib.Path) -> None:
    from harness.old.importing.colossalai import MADE_BY_MODEL

    bench = measured_bench(tmp_path)
    made = [answer(1, "t", "x", "y"), answer(2, "t", "x", "y", note=MADE_BY_MODEL)]
    write(bench.folder / "reference_answer" / "teacher.jsonl", made)
    assert planned(bench).notices[0].startswith("4 of 8 references are a model's own answers (teacher)")


def test_chinese_references_in_an_english_benchmark_are_warned_of(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    write(bench.folder / "reference_answer" / "teacher.jsonl", [answer(1, "t", "今天天气很好。", "是")])
    assert "say --language zh" in planned(bench).notices[0]
    (bench.folder / "bench.toml").write_text('language = "zh"')
    assert "say --language" not in planned(load_bench("small", tmp_path)).notices[0]


def test_a_measurement_goes_to_a_row_and_back(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    metric = Metric("m", each(lambda item: Measured(None, {"x": 0.5, "y": None}, "too short", {"checks": [1]})))
    run_metrics(plan_metrics([metric], bench))
    row = rows(bench.metric_file("m"))[0]
    there = measurement_from_row(row, bench.metric_file("m"), 1)
    assert (there.value, there.values, there.note, there.extra) == (
        None,
        {"x": 0.5, "y": None},
        "too short",
        {"checks": [1]},
    )
    assert measurement_to_row(there) == row


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        pytest.param({"value": "high"}, "value must be a number or null, this is 'high'", id="value"),
        pytest.param({"value": 1, "values": {"x": []}}, r"x must be a number or null, this is \[\]", id="values"),
        pytest.param({}, "the field 'value' is missing", id="no value"),
        pytest.param({"value": 1, "turn": 0}, "turn must be a whole number from 1", id="turn"),
    ],
)
def test_a_bad_row_is_named_with_its_line(tmp_path: pathlib.Path, row: dict[str, Any], reason: str) -> None:
    bench = measured_bench(tmp_path)
    write(bench.metric_file("rouge"), [{"question_id": 1, "turn": 1, "model": "a", "metric": "rouge", **row}])
    with pytest.raises(DataError, match=rf"rouge\.jsonl:1: {reason}"):
        planned(bench)


def test_what_other_tools_wrote_is_made_anew(tmp_path: pathlib.Path) -> None:
    bench = measured_bench(tmp_path)
    write(bench.metric_file("rouge"), [{"question_id": 1, "turn": 1, "model": "a", "metric": "rouge", "value": 1}])
    plan = planned(bench)
    assert (plan.works[0].already, plan.works[0].superseded) == (0, 1)


@pytest.mark.reference
def test_published_answers_and_references_are_measured_as_they_are(
    tmp_path: pathlib.Path, reference_data: pathlib.Path
) -> None:
    import shutil

    for name in ("question.jsonl", "reference_answer/gpt-4.jsonl", "model_answer/gpt-3.5-turbo.jsonl"):
        target = tmp_path / "mt" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(reference_data / "mt_bench" / name, target)
    bench = load_bench("mt", tmp_path)
    report = run_metrics(planned(bench, "text"))
    assert len(report.paths) == 7
    assert len(rows(bench.metric_file("rouge"))) == 60
    assert len(rows(bench.metric_file("distinct"))) == 160
