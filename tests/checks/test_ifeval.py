"""The kind `ifeval` gives the verdicts of IFEval's published checker."""

import importlib.util
import json
import pathlib
from typing import Any

import pytest

from harness.errors import MissingError
from harness.extras.checks import check, check_turn, read_check


@pytest.mark.reference
def test_verdicts_equal_those_of_the_published_checker(reference_data: pathlib.Path) -> None:
    folder = reference_data / "ifeval"
    rows = {
        name: [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        for name in ("input_data", "responses_gpt4")
    }
    responses = {row["prompt"]: row["response"] for row in rows["responses_gpt4"]}
    expected = {row["key"]: row for row in json.loads((folder / "expected.json").read_text())}
    compared, differing = 0, []
    for row in rows["input_data"]:
        pairs = zip(row["instruction_id_list"], row["kwargs"], strict=True)
        specs = [{"kind": "ifeval", "instruction": name, "arguments": args} for name, args in pairs]
        published = expected[row["key"]]
        verdicts = check_turn(responses[row["prompt"]], specs)
        for verdict, strict, loose in zip(
            verdicts, published["strict"], published["loose"], strict=True
        ):
            if strict is not None:
                compared += 1
                if (verdict.outcome.passed, verdict.loose) != (strict, loose):
                    differing.append((row["key"], verdict.check.statement))
    assert compared == 395
    assert differing == []


@pytest.mark.parametrize(
    ("instruction", "arguments", "right", "wrong"),
    [
        (
            "length_constraints:nth_paragraph_first_word",
            {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "so"},
            'One.\n\n"So," he said.',
            "One.\n\nSo\n\n# Three",
        ),
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n-5", "* a\n+ b"),
        ("startend:quotation", {}, '"a"', "“a”"),
        ("punctuation:no_comma", {}, "你好，世界", "a, b"),
        ("keywords:forbidden_words", {"forbidden_words": ["ill"]}, "will", "Ill"),
        ("combination:two_responses", {}, "a\n******\nb", "a\n******\na"),
        ("detectable_format:title", {}, "<<Title>> text", "<< >> text"),
        (
            "length_constraints:number_words",
            {"relation": "at least", "num_words": 4},
            "Don't be well-off",
            "Be well off",
        ),
    ],
)
def test_its_own_definitions_are_kept(
    instruction: str, arguments: dict[str, Any], right: str, wrong: str
) -> None:
    spec = {"kind": "ifeval", "instruction": instruction, "arguments": arguments}
    assert check(right, spec).passed is True
    assert check(wrong, spec).passed is False


def test_without_langdetect_the_extra_is_named_before_anything_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    spec = {"kind": "ifeval", "instruction": "language:response_language"}
    with pytest.raises(MissingError, match=r"pip install 'turnbench\[ifeval\]'"):
        read_check(spec | {"arguments": {"language": "de"}})
