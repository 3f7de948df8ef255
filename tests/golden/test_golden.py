"""Every golden command says what its expectation holds, but for what CHANGED.md lists."""

import json
import shlex
from collections.abc import Iterator

import pytest

from tests.golden.compare import (
    EXPECTED,
    HERE,
    Change,
    Command,
    Difference,
    Folders,
    changes,
    commands,
    differences,
    sorted_out,
    stored,
)
from tests.golden.running import REFERENCE

COMMANDS = commands()


@pytest.fixture(scope="module")
def folders() -> Iterator[Folders]:
    with Folders() as made:
        yield made


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            one,
            id=name,
            marks=[pytest.mark.reference] * one.published + [pytest.mark.sandbox] * one.runs_code,
        )
        for name, one in COMMANDS.items()
    ],
)
def test_the_command_says_what_it_said(command: Command, folders: Folders) -> None:
    if command.published and not REFERENCE.is_dir():
        pytest.skip("the published data is not there")
    found = differences(command.name, stored(command.name), folders.table(command))
    unknown, skipped = sorted_out(found, changes())
    for change, count in skipped.items():
        print(f"skipped {count}: `{change.command}` / `{change.pattern}`: {change.reason}")
    assert not unknown, "\n".join(map(str, ["", *unknown[:40], f"{len(unknown)} differences"]))


def test_every_flag_is_used_or_its_absence_has_a_reason() -> None:
    used = set()
    for command in COMMANDS.values():
        for line in (command.run, *command.before):
            name, *words = shlex.split(line)
            name = f"{name} {words[0]}" if name == "judge_report" else name
            used |= {(at, word) for word in words if word.startswith("-") for at in (name, "*")}
    flags = [line.rpartition(" ") for line in (HERE / "flags.txt").read_text().splitlines()]
    reasons = [
        change
        for change in changes()
        if change.pattern.startswith("-") or "examples" in change.command
    ]
    lacking = [
        f"{name} {flag}"
        for name, _, flag in flags
        if (name, flag) not in used
        and not any(
            change.covers(Difference(name, "flag", flag, True, False)) for change in reasons
        )
    ]
    assert not lacking


def test_expectations_and_commands_belong_together() -> None:
    assert {path.stem for path in EXPECTED.iterdir()} == set(COMMANDS)


def test_expectations_of_published_data_hold_no_long_text() -> None:
    for name, command in COMMANDS.items():
        if command.published:
            for key, columns in stored(name).items():
                texts = [text for pair in columns.items() for text in pair if isinstance(text, str)]
                assert all(len(text) < 400 for text in (key, *texts)), (name, key)


def test_expectations_are_small() -> None:
    assert sum(path.stat().st_size for path in HERE.rglob("*") if path.is_file()) < 2_500_000


def test_a_change_of_a_number_a_text_or_a_column_is_found() -> None:
    old = json.loads('{"rows: model=a": {"score": 8.1, "text": "x", "gone": null}}')
    new = json.loads('{"rows: model=a": {"score": 8.10000001, "text": "y", "more": 1}}')
    assert [one.column for one in differences("c", old, new)] == ["score", "text", "gone", "more"]
    assert (
        differences("c", old, json.loads(json.dumps(old).replace("8.1", "8.10000000000001"))) == []
    )


@pytest.mark.parametrize(
    ("change", "covered"),
    [
        pytest.param(Change("show_*", "*_low", "r"), True, id="column in every row"),
        pytest.param(
            Change("show_result", "rows: model=a | score_low", "r"), True, id="one number"
        ),
        pytest.param(Change("show_result", "rows: model=b | *", "r"), False, id="another row"),
        pytest.param(Change("status", "*", "r"), False, id="another command"),
        pytest.param(Change("show_result", "score", "r"), False, id="another column"),
    ],
)
def test_a_line_of_changed_covers_what_it_names(change: Change, covered: bool) -> None:
    one = Difference("show_result", "rows: model=a", "score_low", 1.0, 2.0)
    unknown, skipped = sorted_out([one], [change])
    assert (unknown == [], skipped[change]) == (covered, int(covered))
