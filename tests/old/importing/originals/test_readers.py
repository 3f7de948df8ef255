"""Readers of originals: texts out of Python files without running them, and prompts byte by byte as published."""

import ast
import hashlib
import json
import pathlib
from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.old.bench import load_bench
from harness.old.errors import DataError, StorageError
from harness.old.importing.originals.fetching import fetch
from harness.old.importing.originals.readers import READERS, renamed, template_toml, texts_in
from harness.old.importing.originals.table import Original, OriginalFile, load_originals
from harness.old.judging.prompts import judge_prompts
from harness.old.judging.sets import load_judge_set
from harness.old.judging.sets.placeholders import PLACEHOLDERS
from harness.old.judging.template import Template
from tests.old.small_bench import answer, question, small_bench, write


def test_texts_are_taken_and_nothing_runs(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "prompts.py"
    path.write_text(
        "import os\nos.mkdir(__file__ + '.ran')\nA = 'plain'\nB = '''\n stripped\n'''.strip()\nC = f'{1}'\n"
        "D = 'x'.upper()\nE, F = 'a', 'b'\nG = 1\nraise SystemExit\n"
    )
    assert texts_in(path) == {"A": "plain", "B": "stripped"}
    assert [found.name for found in tmp_path.iterdir()] == ["prompts.py"]


def test_what_is_no_python_is_a_data_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "prompts.py").write_text("<html>")
    with pytest.raises(DataError, match=r"prompts\.py.*is not valid Python"):
        texts_in(tmp_path / "prompts.py")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{instruction}", id="placeholder"),
        pytest.param('{\n    "a": """{instruction}""",\n}', id="dictionary"),
        pytest.param("{other} and {{instruction}} stay", id="other braces"),
        pytest.param('ends with a quote "', id="quote"),
        pytest.param('back\\slash, """three""" quotes\tand é', id="marks"),
        pytest.param("one line", id="one line"),
    ],
)
def test_a_prompt_goes_through_toml_and_template_unchanged(tmp_path: pathlib.Path, text: str) -> None:
    import tomllib

    made = template_toml("grade", "grade", renamed(text, {"instruction": "question"}), "system")
    read = tomllib.loads(made)["user"]
    filled = Template.parse(read, PLACEHOLDERS).fill({"question": "{answer}"})
    assert filled == text.replace("{instruction}", "{answer}")


def csv_of(name: str) -> bytes:
    """Return a file that no other one equals: files are known by their hashes while they come."""
    return f"model,{name}\n".encode()


def pinned(name: str, files: Mapping[str, bytes], source: pathlib.Path) -> Original:
    """Return an original of our table with other bytes in its files, which lie in `source`."""
    original = load_originals()[name]
    kept = []
    for file in original.files:
        content = files.get(pathlib.PurePosixPath(file.into).name, csv_of(file.into))
        (source / file.into).parent.mkdir(parents=True, exist_ok=True)
        (source / file.into).write_bytes(content)
        kept.append(OriginalFile(file.path, file.into, len(content), hashlib.sha256(content).hexdigest()))
    return replace(original, files=tuple(kept))


PROMPT = """<|im_start|>system
Rank.
<|im_end|>
<|im_start|>user
{
  {instruction}
}
{output_1}|{output_2}
<|im_end|>
"""
ANNOTATOR = """weighted_alpaca_eval_gpt4_turbo:
  prompt_template: "alpaca_eval_clf_gpt4_turbo/alpaca_eval_clf.txt"
  completions_kwargs: {model_name: gpt-4-1106-preview, max_tokens: 1, temperature: 1, top_logprobs: 5}
  fn_completion_parser: logprob_parser
  completion_parser_kwargs: {numerator_token: m, denominator_tokens: [m, M]}
  batch_size: 1
"""


def outputs(generator: str, *instructions: str) -> bytes:
    rows = [
        {"instruction": i, "output": f"{generator}: {i}", "generator": generator, "dataset": "d"} for i in instructions
    ]
    return json.dumps(rows).encode()


def alpaca(source: pathlib.Path) -> Original:
    files = {
        "alpaca_eval.txt": PROMPT.encode(),
        "alpaca_eval_clf.txt": PROMPT.replace("Rank", "Choose").encode(),
        "alpaca_eval_clf_cot.txt": PROMPT.replace("Rank", "Explain").encode(),
        "configs.yaml": ANNOTATOR.encode(),
        "gpt4_1106_preview_outputs.json": outputs("gpt4_1106_preview", "Say hi.", "Explain tides."),
        "text_davinci_003_outputs.json": outputs("text_davinci_003", "Explain tides.", "Say hi."),
    }
    return pinned("alpaca_eval", files, source)


def test_alpaca_eval_becomes_a_benchmark_and_three_judge_sets(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("yaml")
    original, data = alpaca(tmp_path / "from"), tmp_path / "data"
    done = fetch(original, data, source=str(tmp_path / "from"))
    assert {path.name for path in done.written} >= {"question.jsonl", "gpt4_1106_preview.jsonl", "judge_set.toml"}
    bench = load_bench("alpaca_eval", data)
    assert [q.turns for q in bench.questions] == [("Say hi.",), ("Explain tides.",)]
    assert bench.answers("text_davinci_003")[bench.questions[0].question_id].choices[0].turns == (
        "text_davinci_003: Say hi.",
    )
    for name, verdict in (
        ("weighted_alpaca_eval_gpt4_turbo", "preference"),
        ("alpaca_eval_gpt4", "ranking"),
        ("alpaca_eval_clf_cot", "preference"),
    ):
        judge_set = load_judge_set(name, bench.folder)
        (prompt,) = judge_prompts(
            judge_set, bench, bench.questions[0].question_id, models=list(bench.answered_models())
        )
        shown = sorted(f"{model}: Say hi." for model in prompt.match.models)
        assert prompt.form.format == verdict
        assert sorted(prompt.request.messages[-1].content.split("}\n")[1].split("|")) == shown
        assert prompt.request.messages[-1].content.startswith("{\n  Say hi.\n}")
    usual = {
        "weighted_alpaca_eval_gpt4_turbo": ("gpt4_1106_preview", "length_controlled_winrate", "gpt-4-1106-preview"),
        "alpaca_eval_gpt4": ("text_davinci_003", "win_rate", "gpt-4"),
    }
    for name, says in usual.items():
        found = load_judge_set(name, bench.folder)
        assert found.mode == "pairwise-baseline"
        assert (found.baseline, found.board, found.judge) == says
    (weighed,) = load_judge_set("weighted_alpaca_eval_gpt4_turbo", bench.folder).templates.values()
    assert weighed.form.compatible
    again = fetch(original, data, source=str(tmp_path / "from"))
    assert again.written == ()


def test_the_licence_of_the_data_is_told_before_fetching() -> None:
    original = load_originals()["alpaca_eval"]
    assert original.notice is not None
    assert "CC BY-NC 4.0" in original.notice
    assert all(other.reader in {None, *READERS} for other in load_originals().values())


def test_something_else_in_the_way_of_what_is_made_stays(tmp_path: pathlib.Path) -> None:
    data = tmp_path / "data"
    (data / "alpaca_eval" / "alpaca_eval_gpt4").mkdir(parents=True)
    (data / "alpaca_eval" / "alpaca_eval_gpt4" / "prompt.toml").write_text("mine")
    with pytest.raises(StorageError, match=r"prompt\.toml: another file is already there and is kept"):
        fetch(alpaca(tmp_path / "from"), data, source=str(tmp_path / "from"))
    assert (data / "alpaca_eval" / "alpaca_eval_gpt4" / "prompt.toml").read_text() == "mine"


@pytest.mark.reference
def test_prometheus_prompts_are_as_published(tmp_path: pathlib.Path, reference_data: pathlib.Path) -> None:
    source = tmp_path / "from"
    source.mkdir()
    published = (reference_data / "originals" / "prometheus_prompts.py").read_bytes()
    (source / "prompts.py").write_bytes(published)
    done = fetch(load_originals()["prometheus_original"], tmp_path, source=str(source))
    constants = texts_in(done.folder / "upstream" / "prompts.py")
    assert {node.targets[0].id for node in ast.parse(published).body if isinstance(node, ast.Assign)} == set(constants)  # type: ignore[attr-defined]
    rubric = "[Is it so?]\n" + "\n".join(f"Score {n}: level {n}" for n in range(1, 6))
    bench = small_bench(tmp_path, question(1, "chat", ["Say {x}."], rubric=rubric))
    for model in ("a", "b"):
        write(bench.folder / "model_answer" / f"{model}.jsonl", [answer(1, model, f"I am {{{model}}}.")])
    write(bench.folder / "reference_answer" / "r.jsonl", [answer(1, "r", "Best.")])
    judge_set = load_judge_set("prometheus_original", bench.folder)
    (single,) = judge_prompts(judge_set, bench, 1, models=["a"])
    values = {"instruction": "Say {x}.", "reference_answer": "Best."}
    assert [message.content for message in single.request.messages] == [
        constants["ABS_SYSTEM_PROMPT"],
        constants["ABSOLUTE_PROMPT"].format(**values, response="I am {a}.", rubric=rubric),
    ]
    (_, second) = judge_prompts(judge_set, bench, 1, models=["a", "b"], criteria=["honesty"])
    assert second.request.messages[-1].content == constants["RELATIVE_PROMPT"].format(
        **values, response_A="I am {b}.", response_B="I am {a}.", rubric=constants["HONESTY_RUBRIC"].split("\n")[0]
    )
    assert (judge_set.attempts, judge_set.sampling.top_p, judge_set.fence) == (10, 0.9, False)


@pytest.mark.reference
@pytest.mark.parametrize("name", ["alpaca_eval.txt", "alpaca_eval_clf_cot.txt"])
def test_alpaca_eval_prompts_are_as_published(tmp_path: pathlib.Path, reference_data: pathlib.Path, name: str) -> None:
    published = (reference_data / "originals" / name).read_text(encoding="utf-8")
    user = published.split("<|im_start|>user\n")[1].split("\n<|im_end|>")[0]
    names = {"instruction": "question", "output_1": "answer_a", "output_2": "answer_b"}
    values = {"question": "Q {a}", "answer_a": "one }}", "answer_b": "{{ two"}
    filled = Template.parse(renamed(user, names), PLACEHOLDERS).fill(values)
    wanted = user
    for theirs, ours in names.items():
        wanted = wanted.replace(f"{{{theirs}}}", values[ours])
    assert filled == wanted
