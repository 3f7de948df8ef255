"""Every shipped set is whole: its rows, its settings and its README say the same of it."""

import hashlib
import re

import pytest

from data.proofs.shipped import DATA, rows
from harness import check_bench
from harness.bench import load

FILES = ("question.jsonl", "reference_answer/turnbench.jsonl")
SETS = sorted(path.parent.name for path in DATA.glob("*/question.jsonl"))
BY_SET = pytest.mark.parametrize("bench", SETS)
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


@BY_SET
def test_check_bench_finds_no_problem(bench: str) -> None:
    assert check_bench(bench, DATA).problems == []


def test_no_two_questions_have_one_id() -> None:
    ids = [row["question_id"] for bench in SETS for row in rows(bench)]
    assert len(ids) == len(set(ids))


@BY_SET
def test_the_readme_has_the_version_and_the_hashes(bench: str) -> None:
    readme = (DATA / bench / "README.md").read_text(encoding="utf-8")
    settings = load(bench, DATA).settings
    assert readme.splitlines()[0] == f"# The question set {bench}, version {settings.version}"
    assert settings.licence == "Apache-2.0"
    actual = {
        name: hashlib.sha256((DATA / bench / name).read_bytes()).hexdigest()
        for name in FILES
        if (DATA / bench / name).exists()
    }
    stated = re.findall(r"^\| `(.*?)` \|.*\| `([0-9a-f]{64})` \|$", readme, re.MULTILINE)
    assert dict(stated) == actual, "raise the version, then put the new hashes into README.md"


@BY_SET
def test_the_canary_is_one_string_everywhere(bench: str) -> None:
    canary = load(bench, DATA).settings.canary
    assert canary is not None
    assert re.fullmatch(rf"turnbench {bench} canary {UUID}", canary)
    for name in FILES:
        if (DATA / bench / name).exists():
            assert {row["canary"] for row in rows(bench, name)} == {canary}
    readme = (DATA / bench / "README.md").read_text(encoding="utf-8")
    stated = set(re.findall(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", readme))
    if bench.startswith("short_fact"):  # found by their rows alone
        assert not stated
    else:
        assert canary in readme
        assert stated == {canary.split()[-1]}


@BY_SET
def test_no_text_has_broken_characters(bench: str) -> None:
    for name in (*FILES, "README.md", "bench.toml"):
        path = DATA / bench / name
        text = path.read_text(encoding="utf-8") if path.exists() else "\n"
        assert not re.search(
            r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd\ufeff\u200b]|\u00c3\u00a9", text
        ), name
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
