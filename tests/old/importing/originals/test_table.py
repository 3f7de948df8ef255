"""The table of what can be fetched: pinned, complete, and wrong entries refused."""

import pathlib

import pytest

from harness.old.errors import DataError, UsageError
from harness.old.importing.originals.fetching import fetch_bench
from harness.old.importing.originals.table import find_original, load_originals


def test_the_table_pins_every_file() -> None:
    for original in load_originals().values():
        assert len(original.revision) == 40
        assert original.upstream == f"https://raw.githubusercontent.com/{original.repository}/{original.revision}"
        for file in original.files:
            assert file.bytes > 0


def test_the_official_set_is_in_the_table() -> None:
    official = find_original("mt_bench_lmsys")
    assert official.licence == "Apache-2.0"
    assert [file.into for file in official.files] == [
        "question.jsonl",
        "reference_answer/gpt-4.jsonl",
        "judge_prompts.jsonl",
    ]


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'mt_bench_lmsys'\?"):
        fetch_bench("mtbench_lmsys")


ENTRY = """
[x]
title = "t"
repository = "o/r"
revision = "1"
licence = "MIT"
{more}
[[x.files]]
path = "a"
into = "{into}"
bytes = 1
sha256 = "{sha}"
"""


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        pytest.param(
            ENTRY.format(more="", into="../up", sha="0" * 64),
            "must be a plain path inside",
            id="climbs out",
        ),
        pytest.param(
            ENTRY.format(more="", into="/etc/x", sha="0" * 64),
            "must be a plain path inside",
            id="absolute",
        ),
        pytest.param(ENTRY.format(more="", into=".turnbench/x", sha="0" * 64), "plain path", id="state folder"),
        pytest.param(ENTRY.format(more="", into="a", sha="0" * 63), "must be 64 hexadecimal digits", id="short hash"),
        pytest.param(
            ENTRY.format(more="license = 'x'", into="a", sha="0" * 64), "did you mean 'licence'", id="unknown key"
        ),
        pytest.param("[x]\ntitle = 't'\n", "the key 'x.repository' is missing; it must be a text", id="incomplete"),
    ],
)
def test_a_wrong_entry_of_the_table_is_refused(tmp_path: pathlib.Path, entry: str, message: str) -> None:
    path = tmp_path / "originals.toml"
    path.write_text(entry)
    with pytest.raises(DataError, match=message):
        load_originals(path)
