"""Judgments of what has changed since count nowhere, and their cause is said once."""

import os
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from harness import bench, status
from harness.cli.main import gen_judgment
from harness.errors import MissingError
from harness.options import ShowResult, build
from harness.reporting.show_result import results_of
from harness.results import Scores, read
from tests.judging.conftest import QUESTIONS, Folder, counts


def loaded(folder: Folder) -> bench.Bench:
    return bench.load(folder.folder.name, folder.folder.parent)


def scores(folder: Folder) -> Scores:
    return read(loaded(folder))


def replace_answer(folder: Folder) -> None:
    folder.answer("alpha", {1: ["another", "answer"], 2: ["4", "one 8"]})


def replace_question(folder: Folder) -> None:
    first = {**QUESTIONS[0], "turns": ["Write two lines.", "Make them rhyme."]}
    folder.write("question.jsonl", [first, QUESTIONS[1]])


def refer(folder: Folder, *turns: str) -> None:
    reference = {"choices": [{"index": 0, "turns": turns}]}
    folder.write("reference_answer/human.jsonl", [{"question_id": 2, **reference}])


def replace_reference(folder: Folder) -> None:
    refer(folder, "four", "eight")


@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
@pytest.mark.parametrize(
    ("change", "cause", "number"),
    [
        pytest.param(replace_answer, "answers", {"single": 2, "pairwise-all": 2}, id="answers"),
        pytest.param(replace_question, "question", {"single": 4, "pairwise-all": 2}, id="question"),
        pytest.param(replace_reference, "reference", {"single": 4, "pairwise-all": 2}, id="refs"),
    ],
)
def test_plan_and_table_leave_out_the_same_rows(
    folder: Folder,
    change: Callable[[Folder], None],
    cause: str,
    number: dict[str, int],
    mode: str,
) -> None:
    refer(folder, "It is 4.", "Then 8.")
    folder.judge(folder.plan(mode=mode), "Rating: [[7]]" if mode == "single" else "[[A]]")
    whole = len(scores(folder))
    assert not scores(folder).left_out
    change(folder)
    stale = number[mode]
    assert scores(folder).left_out == {cause: stale}
    assert len(scores(folder)) == whole - stale
    assert counts(folder.plan(mode=mode)) == (stale, whole - stale, stale)
    folder.judge(folder.plan(mode=mode), "Rating: [[8]]" if mode == "single" else "[[B]]")
    assert not scores(folder).left_out


def test_a_template_of_an_older_version_counts_as_todays(folder: Folder) -> None:
    folder.judge(folder.plan(judge_set="battle_en", mode="pairwise-all"), "8 7")
    name = "builtin%2Foverlap@battle_en_pair.jsonl"
    rows = folder.written(name)
    for version, left_out in (("1", 0), ("2", 4), ("9", 4), ("b0b8", 0)):
        for row in rows:
            row["judge_set_version"] = version
            row["made_from"]["template"] = "0" * 16
        folder.write(f"model_judgment/{name}", rows)
        if left_out == len(rows):
            with pytest.raises(MissingError, match="other prompts than the judge set has now"):
                scores(folder)
        else:
            assert not scores(folder).left_out, version


def test_answers_that_are_not_at_hand_are_not_checked(folder: Folder) -> None:
    folder.judge(folder.plan(), "Rating: [[7]]")
    (folder.folder / "model_answer" / "alpha.jsonl").unlink()
    rows = folder.written("builtin%2Foverlap_single.jsonl")
    assert len(scores(folder)) == len(rows)
    assert not scores(folder).left_out
    assert scores(folder).unchecked == 4
    words = {"bench_name": folder.folder.name, "data_dir": str(folder.folder.parent)}
    (note,) = [note.text for note in status(**words).notes if "unchecked" in note.text]
    assert note.startswith("4 judgments are of answers that are not here")
    page = results_of(build(ShowResult, words | {"details": True})).page
    assert f"{note}." in [note.text for note in page.notes]
    real = [row | {"judge": ["gpt-4.1", "t"]} for row in rows]  # no caveat comes before it
    folder.write("model_judgment/builtin%2Foverlap_single.jsonl", real)
    assert results_of(build(ShowResult, words)).page.notes[0].text == f"{note}."


def test_judgments_made_without_references_on_purpose_stay(folder: Folder) -> None:
    folder.judge(folder.plan(reference="none"), "Rating: [[7]]")
    assert not scores(folder).left_out
    rows = folder.written("builtin%2Foverlap_single.jsonl")
    for row in rows:  # as they were written before
        row["made_from"].pop("reference", None)
    folder.write("model_judgment/builtin%2Foverlap_single.jsonl", rows)
    assert not scores(folder).left_out
    assert counts(folder.plan(reference="none")) == (0, 8, 0)


def test_kept_hashes_are_of_the_file_that_is_there(folder: Folder) -> None:
    folder.judge(folder.plan(), "Rating: [[7]]")
    path = folder.folder / "model_answer" / "alpha.jsonl"
    os.utime(path, ns=(10**18, 10**18))
    assert not scores(folder).left_out
    kept = folder.folder / ".turnbench" / "hashes" / "alpha.answers"
    assert kept.exists()
    text = path.read_text(encoding="utf-8")
    path.write_text("not read again" + text[14:], encoding="utf-8")
    os.utime(path, ns=(10**18, 10**18))
    assert not scores(folder).left_out
    path.write_text(text.replace("one", "two"), encoding="utf-8")
    assert scores(folder).left_out == {"answers": 3}


def test_the_gate_does_not_pass_on_judgments_of_other_answers(folder: Folder) -> None:
    rows: list[Any] = []
    for key in range(1, 13):
        rows.append({"question_id": key, "category": "writing", "turns": ["Write a line."]})
    folder.write("question.jsonl", rows)
    for model in ("alpha", "beta"):
        folder.answer(model, {key: [f"{model} {key}"] for key in range(1, 13)})
    folder.judge(folder.plan(), "Rating: [[7]]")
    file = folder.folder / "model_judgment" / "builtin%2Foverlap_single.jsonl"
    earlier = folder.folder.parent / "earlier.jsonl"
    earlier.write_bytes(file.read_bytes())
    words = {"bench_name": folder.folder.name, "data_dir": str(folder.folder.parent)}
    gate = {**words, "against": str(earlier), "fail_if_worse": True}
    assert results_of(build(ShowResult, gate)).exit_code == 0
    folder.answer("alpha", {key: [f"replaced {key}"] for key in range(1, 13)})
    page = results_of(build(ShowResult, words)).page
    (cause,) = page.causes
    assert cause.text == (
        "12 judgments are of answers that were replaced since; gen_judgment makes them again"
    )
    result = results_of(build(ShowResult, gate))
    assert (result.exit_code, list(result.page.causes)) == (1, [cause])
    assert gen_judgment(shlex.split(cause.flag)[1:]) == 0
    assert not results_of(build(ShowResult, words)).page.causes
