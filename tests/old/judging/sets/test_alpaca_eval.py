"""AlpacaEval's annotator files, as they stand."""

import json
import pathlib
import shutil
from typing import Any

import pytest

from harness.old.errors import DataError
from harness.old.judging.sets import load_judge_set
from tests.old.judging.sets.written import answered, judged
from tests.old.protocol_server import ProtocolServer, Said
from tests.old.small_bench import rows

PROMPT = (
    "<|im_start|>system\nRank them.\n<|im_end|>\n"
    "<|im_start|>user\n{a} {instruction}: {output_1} / {output_2}\n<|im_end|>\n"
)
RANKING: dict[str, Any] = {
    "fn_completion_parser": "ranking_parser",
    "completions_kwargs": {"max_tokens": 100, "temperature": 0},
}
WEIGHED: dict[str, Any] = {
    "fn_completion_parser": "logprob_parser",
    "completion_parser_kwargs": {"numerator_token": "m", "denominator_tokens": ["m", "M"], "is_binarize": False},
    "completions_kwargs": {"max_tokens": 1, "temperature": 1, "logprobs": True, "top_logprobs": 5},
}
MATCHED: dict[str, Any] = {
    "fn_completion_parser": "regex_parser",
    "completion_parser_kwargs": {"outputs_to_match": {"1": r"(?:^|\n) ?Output \(a\)", "2": r"(?:^|\n) ?Output \(b\)"}},
}
PIPELINE: dict[str, Any] = {
    "fn_completion_parser": "pipeline_meta_parser",
    "completion_parser_kwargs": {
        "parsers_to_kwargs": {"json_parser": {"annotation_key": "o"}, "ranking_parser": {"model_1_name": "m"}}
    },
}


def annotator(folder: pathlib.Path, prompt: str = PROMPT, **config: Any) -> pathlib.Path:
    """Write an annotator as AlpacaEval keeps it (JSON is YAML too), and return its file."""
    folder.mkdir()
    (folder / "rank.txt").write_text(prompt, encoding="utf-8")
    path = folder / "configs.yaml"
    named = {"prompt_template": f"{folder.name}/rank.txt", "fn_completions": "x", **config}
    path.write_text(json.dumps({"my_annotator": named}), encoding="utf-8")
    return path


def test_a_ranking_is_judged_in_one_order(tmp_path: pathlib.Path) -> None:
    path = annotator(tmp_path / "a", **RANKING)
    bench = answered(tmp_path)
    said = "[{'model': 'model_1', 'rank': 2}, {'model': 'model_2', 'rank': 1}]"
    with ProtocolServer(lambda _: said) as server:
        report = judged(server, bench, path, "pairwise-all")
        (asked,) = server.requests
    (row,) = rows(report.paths[0])
    first, second = ("a", "b") if row["shown_first"] == "model_1" else ("b", "a")
    assert asked.texts == ["Rank them.", f"{{a}} Why?: {first}1.1 / {second}1.1"]
    assert (asked.body["max_tokens"], asked.body["temperature"]) == (100, 0)
    game = "g1" if first == "a" else "g2"
    assert row[f"{game}_winner"] == ("model_2" if first == "a" else "model_1")


def test_a_weighed_preference_asks_for_as_many_tokens_as_there(tmp_path: pathlib.Path) -> None:
    path = annotator(tmp_path / "a", **WEIGHED)
    bench = answered(tmp_path)
    with ProtocolServer(lambda _: Said("M", logprobs=[("M", {"m": 0.2, "M": 0.6})])) as server:
        report = judged(server, bench, path, "pairwise-all")
        assert server.requests[0].body["top_logprobs"] == 5
    (row,) = rows(report.paths[0])
    game = "g1" if row["shown_first"] == "model_1" else "g2"
    first_share = 0.25
    assert row[f"{game}_preference"] == pytest.approx(first_share if game == "g1" else 1 - first_share)


def test_patterns_tell_the_better_output(tmp_path: pathlib.Path) -> None:
    path = annotator(tmp_path / "a", **MATCHED)
    with ProtocolServer(lambda _: "Output (b)") as server:
        report = judged(server, answered(tmp_path), path, "pairwise-all")
    (row,) = rows(report.paths[0])
    second = "model_2" if row["shown_first"] == "model_1" else "model_1"
    assert row.get("g1_winner", row.get("g2_winner")) == second


def test_a_folder_that_holds_one_is_a_set(tmp_path: pathlib.Path) -> None:
    made = load_judge_set(str(annotator(tmp_path / "a", **RANKING, is_randomize_output_order=False).parent))
    assert (made.name, made.order, made.fence) == ("my_annotator", "as_given", False)


def test_a_list_inside_json_is_a_ranking_by_its_own_names(tmp_path: pathlib.Path) -> None:
    (template,) = load_judge_set(str(annotator(tmp_path / "a", **PIPELINE))).templates.values()
    assert (template.verdict, template.form.sides) == ("ranking", ("m", "M"))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        pytest.param(
            {**MATCHED, "completion_parser_kwargs": {}}, "regex_parser needs outputs_to_match", id="no pattern"
        ),
        pytest.param(
            {**MATCHED, "completion_parser_kwargs": {"outputs_to_match": {"1": "(", "2": "b"}}},
            "outputs_to_match: '\\(' is not a regular expression",
            id="pattern",
        ),
        pytest.param({"fn_completion_parser": "regex"}, "fn_completion_parser 'regex' is not known", id="parser"),
        pytest.param(
            {**RANKING, "prompt_template": "b/no.txt"}, "prompt_template 'b/no.txt' does not exist", id="prompt"
        ),
        pytest.param({**RANKING, "batch_size": 5}, "batch_size must be 1, this is 5", id="batch"),
        pytest.param({**WEIGHED, "completion_parser_kwargs": {}}, "logprob_parser needs", id="no tokens"),
        pytest.param({**RANKING, "prompt": "{output_1}"}, "must contain {answer_a} and {answer_b}", id="half a prompt"),
        pytest.param({**RANKING, "prompt": PROMPT.replace("system", "tool")}, "must hold a user message", id="roles"),
    ],
)
def test_what_is_not_known_is_told_with_the_file(tmp_path: pathlib.Path, config: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=rf"(configs\.yaml|rank\.txt): .*{words}"):
        load_judge_set(str(annotator(tmp_path / "a", **config)))


@pytest.mark.parametrize("text", ["a: [", "- 1", "{a: 1, b: 2}", "a: 1"])
def test_what_is_no_annotator_is_told(tmp_path: pathlib.Path, text: str) -> None:
    (tmp_path / "configs.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"configs\.yaml: "):
        load_judge_set(str(tmp_path))


@pytest.mark.reference
def test_a_published_annotator_loads_as_it_stands(reference_data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    originals = reference_data / "originals"
    (tmp_path / "alpaca_eval_clf_gpt4_turbo").mkdir()
    shutil.copy(originals / "alpaca_eval_clf.txt", tmp_path / "alpaca_eval_clf_gpt4_turbo")
    (tmp_path / "weighted").mkdir()
    path = shutil.copy(originals / "weighted_alpaca_eval_gpt4_turbo.yaml", tmp_path / "weighted" / "configs.yaml")
    made = load_judge_set(str(path))
    (template,) = made.templates.values()
    assert (made.name, made.order, made.order_seed) == ("weighted_alpaca_eval_gpt4_turbo", "random", 0)
    assert (template.verdict, template.form.sides, template.top_logprobs) == ("preference", ("m", "M"), 5)
    assert made.sampling.stated() == {"temperature": 1.0, "max_tokens": 1}
    assert template.system is not None
