"""Sound files of every kind that is read, and who reads them: what the fuzz test mutates."""

import contextlib
import json
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from harness.bench import load_questions, load_settings, read_answers
from harness.chat.catalog import load_catalog
from harness.chat.keys import address
from harness.checking import check_bench
from harness.errors import TurnbenchError
from harness.importing.originals.sources import source_of
from harness.importing.originals.table import find_original, load_originals
from harness.importing.run import import_data
from harness.judging.sets import load_judge_set
from harness.judgments.reading import read_judgments
from harness.meta_evaluation.attack import load_attacks
from harness.meta_evaluation.ranking import read_ranking
from harness.names import check_bench_name, check_model_name, csv_cell, file_stem, json_text
from harness.results.show import show_result
from harness.running.batches.ledger import rows_awaited
from harness.running.pending import left_in, reply_from_kept
from viewer.hosts import Hosts
from viewer.votes import read_cast


class Sample(NamedTuple):
    """One kind of file: where it stands, a sound content, and what reads it, given the folder."""

    kind: str
    file: str
    content: str
    read: Callable[[pathlib.Path], Any]
    beside: tuple[tuple[str, str], ...] = ()
    """Further files that it needs."""
    share: int = 1
    """How often it is taken, as against the others: what is slow to read is taken less often."""


def _lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


QUESTIONS = _lines(
    {"question_id": 1, "category": "math", "turns": ["1+1?", "2+2?"], "reference": ["2", "4"], "level": 3},
    {
        "question_id": 3,
        "category": "advice",
        "turns": ["Hello?"],
        "user": {
            "persona": "A baker.",
            "goal": "To count.",
            "done": "it is counted",
            "knows": ["Four."],
            "needs": [{"kind": "contains", "text": "4"}],
            "most_turns": 3,
        },
    },
    {"question_id": "b", "category": "写作", "turns": ["Why?"], "rubric": "Be kind.", "tags": [1, None]},
)
SETTINGS = """title = "T"
version = "1"
language = "en"
system_prompt = "Be short."
answer_template = "Q: {question}"
answer_field = "answer"
confidence_field = "sure"
[temperatures]
math = 0.5
"""
MODELS = """[models."m/1"]
provider = "openai"
model = "gpt-4.1"
base_url = "http://localhost:8000/v1"
api_key_env = "KEY_A"
timeout = 60.0
price = {prompt = 1, completion = 2.5, cached = 0.1, batch = 0.5}
limits = {parallel = 2, rpm = 100, tpm = 5e4}
sampling = {temperature = 0.2, max_tokens = 10, top_p = 0.9, seed = 1}
[[models."m/1".endpoints]]
base_url = "http://127.0.0.1:8001/v1"
limits = {rpm = 10}
"""
JUDGE_SET = """name = "own"
version = "2"
extends = "mt_bench"
scale = [1, 5]
attempts = 2
order = "random"
order_seed = 7
turns = "every"
rubric = "R"
questions = {category = ["math"], level = 3}
[labels]
YES = 1
NO = 0.0
[sampling]
temperature = 0.0
[references]
required = ["math"]
[criteria.wit]
definition = "Wit"
steps = "1. Read."
scale = [1, 3]
categories = ["math"]
[criteria.wit.by_category.math]
definition = "More"
[categories]
default = ["wit"]
"""
TEMPLATE = """kind = "label"
verdict = "label"
turns = "first"
criterion = "wit"
user = "Grade {answer} to {question}: {criterion} {steps}"
system = "You {{judge}}."
labels = {CORRECT = 1, INCORRECT = 0}
top_logprobs = 5
schema = {type = "object", properties = {a = {type = "string"}}}
"""
FASTCHAT = _lines(
    {
        "name": "single-v1",
        "type": "single",
        "system_prompt": "Judge.",
        "prompt_template": "{question}\n{answer}",
        "output_format": "[[rating]]",
    }
)
BATTLE = json.dumps(
    [{"id": 1, "system_prompt": "S", "prompt_template": "{question} {answer_1} {answer_2} {prompt}", "prompt": "P"}]
)
GRADING = json.dumps(
    {
        "general": {
            "id": 1,
            "category": "general",
            "metrics": {"fidelity": "F (1-5)"},
            "CoT": {"fidelity": "1. Think."},
            "prompt": "{question} {answer} {metric} {steps}",
        }
    }
)
ALPACA = """own_annotator:
  prompt_template: "prompt.txt"
  completions_kwargs: {model_name: "m", max_tokens: 1, temperature: 1.0, logprobs: true, top_logprobs: 5}
  fn_completion_parser: "logprob_parser"
  completion_parser_kwargs: {numerator_token: "m", denominator_tokens: ["m", "M"], is_binarize: false}
  batch_size: 1
  is_randomize_output_order: true
"""
ALPACA_PROMPT = "<|im_start|>user\n{instruction} {output_1} {output_2}\n<|im_end|>"
ANSWERS = _lines(
    {
        "question_id": 1,
        "answer_id": "a",
        "model_id": "m",
        "choices": [
            {
                "index": 0,
                "turns": ["2", "4"],
                "details": [{"finish_reason": "stop", "usage": {"prompt_tokens": 3}, "seconds": 0.5}, {}],
            }
        ],
        "tstamp": 1.5,
        "sampling": {"temperature": 0.5},
        "made_from": {"question": "x", "parameters": "y"},
    }
)
GRADES = _lines(
    *(
        {
            "question_id": number,
            "model": model,
            "judge": ["gpt-4", "single-v1"],
            "user_prompt": "?",
            "judgment": "[[7]]",
            "score": 7 + number / 2,
            "turn": 1 + number % 2,
            "tstamp": 1.0,
            "judge_set": "mt_bench",
            "sampling": {"temperature": 0},
            "scale": [1, 10],
            "made_from": {"question": "q"},
        }
        for number in (1, 2)
        for model in "ab"
    )
)
PAIRS = _lines(
    *(
        {
            "question_id": number,
            "model_1": "a",
            "model_2": "b",
            "g1_winner": "model_1",
            "g2_winner": "tie",
            "judge": ["gpt-4", "pair-v2"],
            "g1_judgment": "[[A]]",
            "g2_judgment": "[[C]]",
            "turn": 1,
            "tstamp": 1.0,
        }
        for number in (1, 2, 3)
    )
)
VOTES = _lines(
    {
        "question_id": 1,
        "model_a": "a",
        "model_b": "b",
        "winner": "tie (bothbad)",
        "judge": "me",
        "turn": 1,
        "tstamp": 1.0,
    }
)
PENDING = _lines(
    {
        "row": "r",
        "key": "k",
        "place": 0,
        "request": "q",
        "text": "t",
        "details": {"usage": {"prompt_tokens": 2}, "seconds": 1.0, "sampling_applied": {}},
        "logprobs": [["4", -0.1, [["4", -0.1]]]],
    },
    {"row": "s", "failed": "k", "kind": "outage", "message": "no answer", "tstamp": 1.0},
    {"complete": "t"},
    {"redo": True},
)
LEDGER = _lines(
    {"plan": "t", "origin": ["http://x", "m"], "at": 1.0, "asks": [["j", 0, "c", ["temperature"], "r"]]},
    {"made": "t", "batch": "b"},
    {"settled": "t", "asks": [0]},
    {"dropped": "t"},
    {"unsupported": "seed"},
)
RECORDS = json.dumps(
    [
        {"question": "1+1?", "answer": "2", "metadata": "{'topic': 'math'}", "instruction": "I", "output": "O"},
        {"question": "2+2?", "answer": "4", "category": "math", "level": 1.5},
    ]
)
TABLE = 'question,answer,topic\n1+1?,2,math\n"2+2, what?",4,"ma""th"\n'
RANKING = "model,elo\na,1200.5\nb,1100\nc,900\n"
ATTACKS = "[[attack]]\nname = 'a'\nkind = 'null'\ntext = '{answer} {question} {top}'\n"
ORIGINALS = f"""[x]
title = "t"
repository = "o/r"
revision = "1"
licence = "MIT"
afterwards = ["gen_answer"]
[[x.files]]
path = "a"
into = "b/c"
bytes = 1
sha256 = "{"0" * 64}"
"""
NAMES = "http://user:pw@[::1]:8000/v1?k=1#f org/model:latest 127.0.0.1 -h0st_.example. ../x"


def _shown(mode: Any, name: str) -> Callable[[pathlib.Path], Any]:
    def read(folder: pathlib.Path) -> Any:
        result = show_result(mode, input_file=folder / name, intervals=False, data_dir=folder)
        return json.dumps(result.rows(), allow_nan=False)

    return read


def _pending(folder: pathlib.Path) -> Any:
    path = folder / "m.jsonl"
    left = left_in(path)
    replies = [reply_from_kept(line) for lines in left.replies.values() for line in lines]
    return replies, left.failed, left.redo, rows_awaited(path)


def _imported(form: str, file: str) -> Callable[[pathlib.Path], Any]:
    return lambda folder: import_data(form, [folder / file], "made", data_dir=folder / "data")


def _names(folder: pathlib.Path) -> Any:
    text = (folder / "names.txt").read_bytes().decode("utf-8", "surrogateescape")[:2000]
    original = find_original("mt_bench_lmsys")
    checks: tuple[Callable[[str], Any], ...] = (
        check_model_name,
        check_bench_name,
        file_stem,
        lambda name: address(name, "--base-url"),
        lambda name: source_of(original, name),
        lambda name: Hosts("127.0.0.1", [name]),
        load_judge_set,
    )
    for check in checks:
        for name in (text, *text.split(" ")[:6]):
            with contextlib.suppress(TurnbenchError):
                check(name)
    return csv_cell(text), json_text(text)


_SET = (("grade.toml", 'kind = "grade"\nuser = "Grade {answer}."\n'),)
SAMPLES = (
    Sample("settings", "bench.toml", SETTINGS, lambda folder: load_settings(folder / "bench.toml"), share=3),
    Sample("questions", "question.jsonl", QUESTIONS, lambda folder: load_questions(folder / "question.jsonl"), share=3),
    Sample("bench", "question.jsonl", QUESTIONS, check_bench, (("bench.toml", SETTINGS),)),
    Sample(
        "references",
        "reference_answer/us.jsonl",
        ANSWERS,
        check_bench,
        (("question.jsonl", QUESTIONS), ("bench.toml", SETTINGS)),
    ),
    Sample("models", "models.toml", MODELS, lambda folder: load_catalog(folder / "models.toml"), share=3),
    Sample("judge set", "judge_set.toml", JUDGE_SET, lambda folder: load_judge_set(str(folder)), _SET),
    Sample(
        "template",
        "own.toml",
        TEMPLATE,
        lambda folder: load_judge_set(str(folder)),
        (("judge_set.toml", "[criteria.wit]\n"),),
        share=3,
    ),
    Sample("FastChat", "p.jsonl", FASTCHAT, lambda folder: load_judge_set(str(folder / "p.jsonl")), share=2),
    Sample("battle", "p.json", BATTLE, lambda folder: load_judge_set(str(folder / "p.json")), share=2),
    Sample("grading", "p.json", GRADING, lambda folder: load_judge_set(str(folder / "p.json")), share=2),
    Sample(
        "annotator",
        "configs.yaml",
        ALPACA,
        lambda folder: load_judge_set(str(folder / "configs.yaml")),
        (("prompt.txt", ALPACA_PROMPT),),
        share=2,
    ),
    Sample(
        "annotator's prompt",
        "prompt.txt",
        ALPACA_PROMPT,
        lambda folder: load_judge_set(str(folder / "configs.yaml")),
        (("configs.yaml", ALPACA),),
    ),
    Sample("answers", "m.jsonl", ANSWERS, lambda folder: read_answers(folder / "m.jsonl", "m"), share=3),
    Sample("grades", "g_single.jsonl", GRADES, lambda folder: read_judgments(folder / "g_single.jsonl"), share=3),
    Sample("pairs", "p_pair.jsonl", PAIRS, lambda folder: read_judgments(folder / "p_pair.jsonl"), share=3),
    Sample("votes", "me.jsonl", VOTES, lambda folder: read_judgments(folder / "me.jsonl"), share=2),
    Sample("cast votes", "me.jsonl", VOTES, lambda folder: read_cast(folder / "me.jsonl", "me")),
    Sample("results of grades", "g_single.jsonl", GRADES, _shown("single", "g_single.jsonl")),
    Sample("results of pairs", "p_pair.jsonl", PAIRS, _shown("pairwise-all", "p_pair.jsonl")),
    Sample("pending", "m.jsonl", PENDING, _pending, share=3),
    Sample("batches", "m.jsonl", LEDGER, _pending, share=3),
    Sample("records", "r.json", RECORDS, _imported("short_facts", "r.json")),
    Sample("outputs", "r.json", RECORDS, _imported("alpaca_eval", "r.json")),
    Sample("record lines", "r.jsonl", ANSWERS, _imported("feedback_collection", "r.jsonl")),
    Sample("table", "r.csv", TABLE, _imported("short_facts", "r.csv")),
    Sample("ranking", "arena.csv", RANKING, lambda folder: read_ranking(folder / "arena.csv"), share=2),
    Sample("attacks", "attacks.toml", ATTACKS, lambda folder: load_attacks(folder / "attacks.toml")),
    Sample("originals", "originals.toml", ORIGINALS, lambda folder: load_originals(folder / "originals.toml")),
    Sample("names", "names.txt", NAMES, _names),
)
