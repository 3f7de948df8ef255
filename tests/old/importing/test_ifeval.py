"""IFEval and Multi-IF become benchmarks with checks; what is no instruction is listed."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.checks import outcomes
from harness.old.importing.ifeval import INSTRUCTIONS, instruction_checks
from harness.old.importing.items import BadRecordError
from harness.old.importing.run import import_data
from tests.old.small_bench import write

ARGUMENTS: dict[str, dict[str, Any]] = {
    "keywords:existence": {"keywords": ["kiln", "glass"]},
    "keywords:frequency": {"keyword": "kiln", "relation": "at least", "frequency": 2},
    "keywords:forbidden_words": {"forbidden_words": ["sand"]},
    "keywords:letter_frequency": {"letter": "k", "let_relation": "less than", "let_frequency": 1},
    "language:response_language": {"language": "hu"},
    "length_constraints:number_sentences": {"relation": "less than", "num_sentences": 2},
    "length_constraints:number_words": {"relation": "at least", "num_words": 3},
    "length_constraints:number_paragraphs": {"num_paragraphs": 2},
    "length_constraints:nth_paragraph_first_word": {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"},
    "detectable_content:number_placeholders": {"num_placeholders": 1},
    "detectable_content:postscript": {"postscript_marker": "P.P.S"},
    "detectable_format:number_bullet_lists": {"num_bullets": 2},
    "detectable_format:number_highlighted_sections": {"num_highlights": 1},
    "detectable_format:multiple_sections": {"section_spliter": "PART", "num_sections": 2},
    "combination:repeat_prompt": {"prompt_to_repeat": "Say it (twice)."},
    "startend:end_checker": {"end_phrase": "That is all."},
    "change_case:capital_word_frequency": {"capital_relation": "at least", "capital_frequency": 2},
}
GOOD = {
    "keywords:existence": "The kiln for glass.",
    "keywords:frequency": "Kiln by kiln.",
    "keywords:forbidden_words": "Sandy shores.",
    "keywords:letter_frequency": "No such letter.",
    "language:response_language": "Ez egy magyar mondat, és nem is olyan rövid.",
    "length_constraints:number_sentences": "Just this.",
    "length_constraints:number_words": "One two three",
    "length_constraints:number_paragraphs": "One\n***\ntwo",
    "length_constraints:nth_paragraph_first_word": "First.\n\nThen.",
    "detectable_content:number_placeholders": "Dear [name]",
    "detectable_content:postscript": "Bye.\nP. P.S. One more.",
    "detectable_format:number_bullet_lists": "* one\n- two",
    "detectable_format:constrained_response": "My answer is maybe.",
    "detectable_format:number_highlighted_sections": "*one* two",
    "detectable_format:multiple_sections": "PART 1\na\nPART 2\nb",
    "detectable_format:json_format": '```json\n{"a": 1}\n```',
    "detectable_format:title": "<<a title>>\ntext",
    "combination:two_responses": "one\n******\ntwo",
    "combination:repeat_prompt": "Say it (twice). It.",
    "startend:end_checker": 'He said: "That is all."',
    "startend:quotation": '"All of it."',
    "change_case:capital_word_frequency": "NASA and the EU",
    "change_case:english_capital": "THIS IS WRITTEN IN ENGLISH CAPITALS.",
    "change_case:english_lowercase": "this is written in small english letters.",
    "punctuation:no_comma": "No such mark.",
}
BAD = dict.fromkeys(GOOD, "Sand, sand kiln") | {
    "keywords:frequency": "A kiln.",
    "length_constraints:number_words": "Two words",
    "length_constraints:number_sentences": "One. Two.",
    "combination:two_responses": "same\n******\nsame",
    "length_constraints:nth_paragraph_first_word": "First.\n\nAnd then.",
    "detectable_format:number_bullet_lists": "* one",
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_every_instruction_can_be_said(name: str) -> None:
    from harness.old.checks import read_check

    (row,) = instruction_checks([name], [ARGUMENTS.get(name, {})])
    check = read_check(row)
    assert check.label == name
    assert [found.strict for reply in (GOOD[name], BAD[name]) for found in outcomes([check], reply)] == [True, False]


@pytest.mark.parametrize(
    ("ids", "arguments", "fault"),
    [
        (["punctuation:no_colon"], [{}], "no instruction 'punctuation:no_colon' in IFEval"),
        (["punctuation:no_comma"], [], "lists of equal length"),
        (["keywords:existence"], [{}], "the arguments of keywords:existence are not valid: 'keywords'"),
        (["keywords:frequency"], [{"keyword": "a", "relation": "about", "frequency": 1}], "relation 'about'"),
        (["language:response_language"], [{"language": "xx"}], "no language 'xx'"),
        (["punctuation:no_comma"], ["{"], "which is not an object"),
    ],
)
def test_what_is_no_instruction_is_said(ids: Any, arguments: Any, fault: str) -> None:
    with pytest.raises(BadRecordError, match=fault):
        instruction_checks(ids, arguments)


def test_prompts_and_responses_become_a_benchmark(tmp_path: pathlib.Path) -> None:
    row = {"key": 7, "prompt": "Say it.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    prompts = write(tmp_path / "prompts.jsonl", [row, {**row, "key": 8, "prompt": "No.", "instruction_id_list": ["x"]}])
    responses = write(tmp_path / "responses.jsonl", [{"prompt": "Say it.", "response": "So, it is."}])
    report = import_data("ifeval", [prompts, responses], "ifeval", data_dir=tmp_path, model_id=["m"])
    bench = load_bench("ifeval", tmp_path)
    (asked,) = bench.questions
    assert (asked.question_id, asked.category, asked.checks_of(1)[0].label) == (
        7,
        "punctuation",
        "punctuation:no_comma",
    )
    assert bench.answers("m")[7].choices[0].turns == ("So, it is.",)
    assert [bad.reason for bad in report.bad] == ["no instruction 'x' in IFEval"]


def test_multi_if_has_checks_at_every_turn(tmp_path: pathlib.Path) -> None:
    def message(text: str) -> str:
        return json.dumps({"role": "user", "content": text})

    ids = ["punctuation:no_comma", "length_constraints:number_words"]
    kwargs = ["{}", json.dumps({"relation": "less than", "num_words": 9})]
    row = {
        "key": "7:1:en",
        "language": "English",
        "turn_1_prompt": message("Say it."),
        "turn_1_instruction_id_list": json.dumps(ids[:1]),
        "turn_1_kwargs": json.dumps(kwargs[:1]),
        "turn_2_prompt": message("Shorter."),
        "turn_2_instruction_id_list": json.dumps(ids),
        "turn_2_kwargs": json.dumps(kwargs),
        "turn_3_prompt": "",
    }
    import_data("multi_if", [write(tmp_path / "multi.jsonl", [row])], "multi", data_dir=tmp_path)
    (asked,) = load_bench("multi", tmp_path).questions
    assert (asked.question_id, asked.turns, asked.extra["language"]) == ("7:1:en", ("Say it.", "Shorter."), "English")
    assert [[check.label for check in checks] for checks in asked.checks] == [ids[:1], ids]
