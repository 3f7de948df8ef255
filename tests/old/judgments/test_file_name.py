"""Names of judgment files: there and back, FastChat's, samples, and what is none."""

import pathlib

import pytest

from harness.old.judgments.file_name import FileName, Kind, judgment_files, kinds_of, parse

NAMES = [
    pytest.param(FileName("gpt-4", "mt_bench", "single"), "gpt-4_single.jsonl", id="as FastChat names it"),
    pytest.param(FileName("gpt-4", "mt_bench", "pair"), "gpt-4_pair.jsonl", id="pairs as FastChat names them"),
    pytest.param(FileName("gpt-4", "mt_bench", "pair1"), "gpt-4_pair1.jsonl", id="pairs in one order"),
    pytest.param(FileName("gpt-4", "tone", "single"), "gpt-4@tone_single.jsonl", id="another set"),
    pytest.param(FileName("gpt-4", "mt_bench", "single", 2), "gpt-4@mt_bench#2_single.jsonl", id="another sample"),
    pytest.param(FileName("gpt-4", "tone", "pair1", 12), "gpt-4@tone#12_pair1.jsonl", id="sample of another set"),
    pytest.param(FileName("org/j:1", "a/b", "single"), "org%2Fj%3A1@a%2Fb_single.jsonl", id="names are escaped"),
    pytest.param(FileName("builtin/overlap", "mt_bench", "pair"), "builtin%2Foverlap_pair.jsonl", id="built-in"),
    pytest.param(FileName("j_single", "mt_bench", "pair"), "j_single_pair.jsonl", id="a judge named like a kind"),
    pytest.param(FileName("j", "with_pair", "single"), "j@with_pair_single.jsonl", id="a set named like a kind"),
    pytest.param(FileName("j@20240620", "mt_bench", "single"), "j@20240620@mt_bench_single.jsonl", id="a judge with @"),
    pytest.param(FileName("模型", "评分", "single"), "模型@评分_single.jsonl", id="other scripts"),
]


@pytest.mark.parametrize(("name", "text"), NAMES)
def test_a_name_is_written_and_read_back(name: FileName, text: str) -> None:
    assert name.text == text
    assert parse(text) == name


@pytest.mark.parametrize("judge", ["a@b", "a#1", "a@b#2", "@", "a@", "%40", ".x", "a_pair1", "a_single.jsonl", "a\nb"])
@pytest.mark.parametrize(
    ("judge_set", "sample"),
    [("mt_bench", 0), ("mt_bench", 3), ("s", 0), ("s", 3), ("a/b", 1), (".s", 0), ("x_single", 0)],
)
@pytest.mark.parametrize("kind", ["single", "pair", "pair1"])
def test_odd_names_of_judges_and_sets_come_back(judge: str, judge_set: str, sample: int, kind: Kind) -> None:
    """Names of sets hold no # and no @."""
    name = FileName(judge, judge_set, kind, sample)
    assert parse(name.text) == name
    assert pathlib.PurePath(name.text).name == name.text


@pytest.mark.parametrize(
    "text",
    ["gpt-4.jsonl", "_single.jsonl", "gpt-4_single.json", "gpt-4_pair2.jsonl", ".x_single.jsonl", "gpt-4@_single", ""],
)
def test_other_files_have_no_such_name(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("kinds", "sample", "found"),
    [
        pytest.param(kinds_of("single"), None, ["j#", "j"], id="grades"),
        pytest.param(kinds_of("single"), 0, ["j"], id="grades of the first sample"),
        pytest.param(kinds_of("single"), 1, ["j#"], id="grades of the second"),
        pytest.param(kinds_of("pairwise-all"), None, ["j pair", "j pair1"], id="pairs in both orders or one"),
        pytest.param(kinds_of("pairwise-baseline"), 1, [], id="none"),
    ],
)
def test_the_files_of_a_kind_and_sample(
    kinds: tuple[Kind, ...], sample: int | None, found: list[str], tmp_path: pathlib.Path
) -> None:
    files = {
        "j_single.jsonl": "j",
        "j@mt_bench#1_single.jsonl": "j#",
        "j_pair.jsonl": "j pair",
        "j_pair1.jsonl": "j pair1",
        "notes.jsonl": "notes",
        ".j_single.jsonl": "hidden",
    }
    for name in files:
        (tmp_path / name).touch()
    assert [files[path.name] for path in judgment_files(tmp_path, kinds, sample)] == found


def test_a_folder_that_is_not_there_has_none(tmp_path: pathlib.Path) -> None:
    assert judgment_files(tmp_path / "none", ("single",)) == []
