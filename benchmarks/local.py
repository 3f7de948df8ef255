"""Tokens per second of local weights: our batches, compared with one conversation at a time as in FastChat's loop.

    python -m benchmarks.local [--model-path PATH] [--device NAME] [--conversations N] [--tokens N]

Both load the same weights in the same precision and answer the same prompts greedily, each after a first batch that
warms the device up and with the device's queue empty before the clock is read; the one's weights are gone before the
other's are loaded. Without a path a Llama of random weights is made on the spot, a small one for a CPU, where it shows
the overhead of a step, and one of 1.1 billion for a GPU.
"""

import argparse
import asyncio
import gc
import pathlib
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from harness.old.chat import open_chat_model, resolve
from harness.old.chat.endpoint import Weights
from harness.old.records import Message, Reply, Request, Sampling


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model-path", help="the weights (default: random ones, made on the spot)")
    parser.add_argument(
        "--device", default=None, help="where they run (default: a GPU if there is one)"
    )
    parser.add_argument("--dtype", default="auto", help="their precision (default: as stored)")
    parser.add_argument("--conversations", type=int, default=32, help="how many (default: 32)")
    parser.add_argument(
        "--tokens", type=int, default=64, help="tokens of each reply at most (default: 64)"
    )
    parser.add_argument(
        "--batch-size", type=int, default=16, help="conversations at once (default: 16)"
    )
    asked = parser.parse_args(argv)
    asked.device = asked.device or _device()
    print(
        f"{_about(asked.device)}, {asked.conversations} conversations, at most {asked.tokens} tokens each"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = asked.model_path or str(
            _random(pathlib.Path(folder), large=asked.device.startswith("cuda"))
        )
        requests = _requests(asked.conversations, asked.tokens)
        one = _rate(path, asked, requests, size=1)
        several = _rate(path, asked, requests, size=asked.batch_size)
        print(f"one at a time   {one:8.1f} tokens/s")
        print(f"in batches      {several:8.1f} tokens/s   {several / one:.1f} times")
        alone = _plain(path, asked, requests)
        print(f"generate() loop {alone:8.1f} tokens/s   in batches {several / alone:.1f} times")


def _device() -> str:
    """Return where the weights run where nothing is said."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _about(device: str) -> str:
    import torch

    name = (
        torch.cuda.get_device_name(device)
        if device.startswith("cuda")
        else f"cpu, {torch.get_num_threads()} threads"
    )
    return f"{name}, torch {torch.__version__}"


def _settled(device: str) -> float:
    """Return the time when all that was asked of the device is done: a GPU is handed work and does it later."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    return time.perf_counter()


def _let_go(device: str) -> None:
    """Give the memory of weights that nobody holds any more back to the device."""
    import torch

    gc.collect()
    if device.startswith("cuda"):
        torch.cuda.empty_cache()


def _random(folder: pathlib.Path, *, large: bool) -> pathlib.Path:
    from tests.old.chat.local.tiny_llama import save_llama

    if large:
        wide: dict[str, Any] = {
            "hidden_size": 2048,
            "intermediate_size": 5632,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
        }
        return save_llama(folder, longest=4096, num_hidden_layers=22, **wide)
    return save_llama(
        folder, longest=4096, hidden_size=256, intermediate_size=688, num_hidden_layers=8
    )


def _requests(number: int, tokens: int) -> list[Request]:
    sampling = Sampling(temperature=0.0, max_tokens=tokens)
    return [
        Request((Message("user", f"{n}. " + "The cat sat. " * (n % 7 + 1)),), sampling)
        for n in range(number)
    ]


def _rate(path: str, asked: argparse.Namespace, requests: list[Request], *, size: int) -> float:
    """Return the tokens a second of our model with batches of this size, without the loading."""

    async def scene() -> float:
        weights = (path, Weights(asked.dtype, asked.device, size))
        model = open_chat_model(resolve("measured", weights=weights))
        try:
            await asyncio.gather(*map(model.reply, requests[:size]))
            started = _settled(asked.device)
            replies: list[Reply] = await asyncio.gather(*map(model.reply, requests))
            return sum(r.usage.completion_tokens or 0 for r in replies) / (
                _settled(asked.device) - started
            )
        finally:
            await model.close()

    try:
        return asyncio.run(scene())
    finally:
        _let_go(asked.device)


def _plain(path: str, asked: argparse.Namespace, requests: list[Request]) -> float:
    """Return the tokens a second of the library's own `generate`, a prompt after the other, as FastChat's loop does."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    dtype: Any = asked.dtype if asked.dtype == "auto" else getattr(torch, asked.dtype)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=dtype).to(asked.device).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    made, started = 0, 0.0
    for number, request in enumerate([requests[0], *requests]):
        if number == 1:
            made, started = 0, _settled(asked.device)
        said = [{"role": message.role, "content": message.content} for message in request.messages]
        ids = tokenizer.apply_chat_template(
            said, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        ids = ids["input_ids"].to(asked.device)
        with torch.inference_mode():
            out = model.generate(ids, do_sample=False, max_new_tokens=request.sampling.max_tokens)
        made += out.shape[1] - ids.shape[1]
    return made / (_settled(asked.device) - started)


if __name__ == "__main__":
    main()
