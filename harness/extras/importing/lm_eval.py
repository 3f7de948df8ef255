"""Samples of lm-evaluation-harness, what its `--log_samples` writes beside the results.

    {"doc_id": 0, "target": "hi", "filter": "first", "resps": [["hello", "hi"]],
     "filtered_resps": ["hello"], "arguments": {"gen_args_0": {
        "arg_0": ["[{\\"role\\": \\"user\\", \\"content\\": \\"Say hi.\\"}]"],
        "arg_1": {"until": ["\\n\\n"]}}}}

arg_0 → turns: a prompt, or messages as JSON text in a list of one; earlier replies are given ones
resps → answers: all of `repeats`, not only the one that a filter took, and as the model wrote them
target → reference      samples_TASK_TIME.jsonl in the model's folder → category, id, model

Tasks that compare likelihoods have no texts. What a task does not state lm_eval sends all the same:
temperature 0, seed 1234, 256 tokens (`max_gen_toks`); rows say so. Source: lm_eval 0.4.13.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from harness.extras.importing.items import BadRecord, Item, Source, text_of
from harness.extras.importing.messages import conversation

_UNASKED = {"temperature": 0, "seed": 1234, "max_tokens": 256}
_NAMES = {"max_gen_toks": "max_tokens", "until": "stop"}
_SAMPLING = ("temperature", "top_p", "top_k", "seed", "max_tokens", "stop")


def lm_eval(record: Mapping[str, Any], source: Source) -> Item:
    """Return the question and the answers of a sample."""
    asked = record["arguments"]["gen_args_0"]
    system, turns, given = _asked(asked["arg_0"])
    replies = record["resps"][0]
    replies = replies if isinstance(replies, list) else [replies]
    if not all(isinstance(reply, str) for reply in replies):
        raise BadRecord("it compares likelihoods: there is no text that a model wrote")
    task = re.sub(r"^samples_|_\d{4}-\d\d-\d\dT[\d.:-]+$", "", source.stem)
    stated = {_NAMES.get(name, name): value for name, value in (asked.get("arg_1") or {}).items()}
    sampling = {name: stated[name] for name in _SAMPLING if stated.get(name) is not None}
    unasked = {name: value for name, value in _UNASKED.items() if name not in sampling}
    said = ", ".join(f"{name} {value}" for name, value in unasked.items())
    model = source.model or source.home.replace("__", "/")
    target = record.get("target")
    return Item(
        question_id=f"{task}-{record['doc_id']}",
        category=task,
        turns=turns,
        system=system,
        answers={model: [*given, replies[0]]},
        others=[[*given, reply] for reply in replies[1:]],
        sampling=sampling | unasked,
        note=f"lm_eval sends unasked: {said}" if said else "",
        reference=[text_of({"target": target}, "target", default="")] if not given else [],
        extra={"history": [*given, None]} if given else {},
    )


def _asked(prompt: Any) -> tuple[str, list[str], list[str]]:
    """Return the system prompt, the user's turns and the replies given before the last."""
    text = prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt
    if isinstance(text, str) and text.lstrip().startswith('[{"role"'):
        text = json.loads(text)
    if isinstance(text, str):
        return "", [text], []
    system, turns, given, _ = conversation(text)
    if len(given) == len(turns):
        raise BadRecord("the messages end with a reply, which the model was to continue")
    return system, turns, given
