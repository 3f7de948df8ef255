"""The share of judges' prompts that comes from a provider's cache, and the savings, by the providers' published rules.

    python -m benchmarks.caching                       all providers and workloads, 16 calls at once
    python -m benchmarks.caching --answers 300 1000 --latency 0.2

Two models' answers of a stated length are judged through the real SDKs on the loopback server, which keeps a cache as
each provider says that it does: which beginning it holds (a marked one, or any of so many tokens in steps of so many),
from when (a reply to it is there) and for how long. It counts a token for four characters. What comes of it is read
from the rows, as `show_result --cost` does. `together` is the same with no job waiting for the one that leads it.
"""

import argparse
import asyncio
import hashlib
import json
import os
import pathlib
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest import mock

import harness
from harness.old.chat.prices import list_price
from harness.old.running.options import RunOptions
from harness.old.running.queue import Queue
from tests.old.protocol_server import Asked, ProtocolServer, Said, verdict

SHIPPED = pathlib.Path(__file__).resolve().parent.parent / "data"
CHARACTERS = 4
"""Characters that make a token here."""
SENTENCES = (
    "The parcel left the depot on Monday and should be with you within three working days.",
    "If it rains for longer than an hour, the path along the river is closed until the evening.",
    "A second opinion costs little here, and it may save a whole week of repairs.",
    "Count the chairs first; the tables can be moved when everybody has found a seat.",
    "What was promised in spring was delivered in autumn, though not in the colour that was ordered.",
    "Most of the heat leaves through the roof, so that is where the money should go.",
)


class Provider(NamedTuple):
    """A judge, and what its provider says of its cache."""

    model: str
    least: int
    """Tokens of the shortest beginning that is cached."""
    step: int
    seconds: float
    """How long one is kept after it was last used."""
    marked: bool = False
    """Whether only what the request marks is cached."""


PROVIDERS = (
    Provider("claude-sonnet-5-5", 512, 1, 300, marked=True),
    Provider("claude-sonnet-4-6", 1024, 1, 300, marked=True),
    Provider("gpt-5.4", 1024, 128, 300),
    Provider("gemini-2.5-flash", 2048, 1, 300),
)
WORKLOADS = (
    ("metrics_en", "chat_en", "single"),
    ("mt_bench", "mt_bench", "single"),
    ("mt_bench", "mt_bench", "pairs"),
)


@dataclass
class PrefixCache:
    """Answers as a judge, and counts the tokens of each prompt as its provider would."""

    provider: Provider
    latency: float
    kept: dict[str, float] = field(default_factory=dict)
    """When the beginning with this hash was last used."""

    async def __call__(self, asked: Asked) -> Said:
        """Return a judgment with its usage."""
        text = "\0".join(asked.texts)
        beginnings = list(self._beginnings(asked, text))
        now = time.monotonic()
        alive = [
            name
            for name, _ in beginnings
            if now - self.kept.get(name, -1e9) < self.provider.seconds
        ]
        cached = max((size for name, size in beginnings if name in alive), default=0)
        await asyncio.sleep(self.latency)
        self.kept |= {name: time.monotonic() for name, _ in beginnings}
        written = (
            max((size for _, size in beginnings), default=0) - cached if self.provider.marked else 0
        )
        said = verdict(asked)
        said = "Score: 4" if "Score: n" in text else said
        return Said(
            said,
            usage=self._usage(
                asked, len(text) // CHARACTERS, cached, written, len(said) // CHARACTERS
            ),
        )

    def _beginnings(self, asked: Asked, text: str) -> Iterator[tuple[str, int]]:
        """Yield the hash and the tokens of each beginning of a prompt that the provider would cache."""
        least, step = self.provider.least, max(self.provider.step, 16)
        if self.provider.marked:
            blocks = asked.body["messages"][-1]["content"]
            head = text[: len(text) - len(blocks[-1]["text"])] if isinstance(blocks, list) else ""
            sizes = [len(head) // CHARACTERS] if len(head) // CHARACTERS >= least else []
            ends = [len(head)] * len(sizes)
        else:
            sizes = list(range(least, len(text) // CHARACTERS + 1, step))
            ends = [size * CHARACTERS for size in sizes]
        for size, end in zip(sizes, ends, strict=True):
            yield hashlib.sha256(text[:end].encode()).hexdigest(), size

    def _usage(
        self, asked: Asked, prompt: int, cached: int, written: int, said: int
    ) -> dict[str, Any]:
        """Return the tokens in the words of the provider."""
        if asked.protocol == "messages":
            apart = {"cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
            return {"input_tokens": prompt - cached - written, "output_tokens": said, **apart}
        if asked.protocol == "gemini":
            return {
                "promptTokenCount": prompt,
                "cachedContentTokenCount": cached,
                "candidatesTokenCount": said,
            }
        details = {"prompt_tokens_details": {"cached_tokens": cached}}
        return {"prompt_tokens": prompt, "completion_tokens": said, **details}


def prepared(folder: pathlib.Path, bench: str, tokens: int) -> None:
    """Copy a benchmark's questions and references, and write answers of about so many tokens by two models."""
    target = folder / bench
    shutil.copytree(
        SHIPPED / bench, target, ignore=shutil.ignore_patterns("model_*", ".turnbench", "human_*")
    )
    (target / "model_answer").mkdir()
    questions = [
        json.loads(line)
        for line in (target / "question.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for model in ("a", "b"):
        draw = random.Random(model)
        rows = []
        for question in questions:
            turns = [_answer(draw, tokens) for _ in question["turns"]]
            choice = {"index": 0, "turns": turns}
            about = {
                "question_id": question["question_id"],
                "answer_id": "x",
                "model_id": model,
                "tstamp": 0.0,
            }
            rows.append(json.dumps({**about, "choices": [choice]}))
        (target / "model_answer" / f"{model}.jsonl").write_text(
            "\n".join(rows) + "\n", encoding="utf-8"
        )


def _answer(draw: random.Random, tokens: int) -> str:
    wanted, said = tokens * CHARACTERS * draw.lognormvariate(0, 0.3), ""
    while len(said) < wanted:
        said += draw.choice(SENTENCES) + " "
    return said


def judged(
    provider: Provider,
    judge_set: str,
    bench: str,
    mode: str,
    tokens: int,
    options: argparse.Namespace,
) -> Any:
    """Return what `show_result --cost` counts after one run."""
    with tempfile.TemporaryDirectory() as name:
        prepared(pathlib.Path(name), bench, tokens)
        with ProtocolServer(PrefixCache(provider, options.latency)) as server:
            os.environ |= {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}
            os.environ |= {"OPENAI_BASE_URL": server.openai_url, "ANTHROPIC_BASE_URL": server.url}
            os.environ["GOOGLE_GEMINI_BASE_URL"] = server.url
            harness.gen_judgment(
                provider.model,
                bench,
                mode="single" if mode == "single" else "pairwise-all",
                judge_set=judge_set,
                data_dir=name,
                running=RunOptions(parallel=options.parallel),
            )
        return next(
            row
            for row in harness.show_cost(bench_name=bench, data_dir=name)
            if row.what == "judgments"
        )


def shown(
    provider: Provider,
    judge_set: str,
    bench: str,
    mode: str,
    tokens: int,
    options: argparse.Namespace,
) -> str:
    """Return one line of the table."""
    row = judged(provider, judge_set, bench, mode, tokens, options)
    with mock.patch.object(Queue, "_put_behind", return_value=False):
        together = judged(provider, judge_set, bench, mode, tokens, options)
    price = list_price(provider.model)
    assert price is not None
    without = (row.prompt_tokens * price.prompt + row.reply_tokens * price.completion) / 1e6
    cells = (
        f"{judge_set}, {mode}",
        str(tokens),
        provider.model,
        str(row.calls),
        f"{row.prompt_tokens / row.calls:,.0f}",
        f"{row.cached_tokens / row.prompt_tokens:.0%}",
        f"{together.cached_tokens / together.prompt_tokens:.0%}",
        f"${without:.3f}",
        f"${row.cost:.3f}",
        f"{1 - row.cost / without:+.0%}".replace("+", "").replace("-0%", "0%"),
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.caching", description=__doc__)
    parser.add_argument(
        "--answers",
        type=int,
        nargs="+",
        default=[300, 600, 1000],
        help="tokens of a typical answer",
    )
    parser.add_argument(
        "--latency", type=float, default=0.1, help="seconds before each reply (default: 0.1)"
    )
    parser.add_argument("--parallel", type=int, default=16, help="calls at once (default: 16)")
    options = parser.parse_args()
    heads = (
        "judge set",
        "answer",
        "judge",
        "calls",
        "prompt",
        "from the cache",
        "together",
        "without",
        "cost",
        "saved",
    )
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for judge_set, bench, mode in WORKLOADS:
        for tokens in options.answers if judge_set == "metrics_en" else options.answers[:2][-1:]:
            for provider in PROVIDERS:
                print(shown(provider, judge_set, bench, mode, tokens, options), flush=True)


if __name__ == "__main__":
    main()
