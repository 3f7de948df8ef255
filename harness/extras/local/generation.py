"""One batch of replies: every row has its own temperature, seed, limit, stops, log-probabilities.

transformers knows one temperature and one random source for a whole batch. Here each row draws one
number u for a token from its own generator, and takes the first token whose cumulated probability
is above u; the scores of all others are set to minus infinity, so that greedy search picks that
one. The same seed picks the same in any batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.types import Sampling, TokenLogprobs


@dataclass(slots=True)
class Row:
    """One conversation of a batch."""

    prompt: list[int]
    sampling: Sampling
    limit: int
    """The most tokens of the reply."""
    stops: tuple[str, ...] = ()
    stop_ids: frozenset[int] = frozenset()
    top_logprobs: int | None = None
    tokens: list[int] = field(default_factory=list)
    """The reply, once it is made; without what ended it."""
    stopped: bool = False
    """Whether the model ended the reply, not the limit."""
    logprobs: list[TokenLogprobs] = field(default_factory=list)


def generate(
    model: Any, tokenizer: Any, rows: Sequence[Row], cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Fill in the replies of a batch; once `cancelled`, all end where they are.

    Raises:
        torch.OutOfMemoryError: the batch is too large.
    """
    import torch
    from transformers import GenerationConfig

    eos = getattr(model.generation_config, "eos_token_id", None)
    ends = {tokenizer.eos_token_id, *(eos if isinstance(eos, list) else [eos])} - {None}
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends, default=0)
    longest = max(len(row.prompt) for row in rows)
    padding = [longest - len(row.prompt) for row in rows]
    ids = [[pad] * size + row.prompt for size, row in zip(padding, rows, strict=True)]
    mask = [[0] * size + [1] * len(row.prompt) for size, row in zip(padding, rows, strict=True)]
    settings = GenerationConfig(
        do_sample=False,
        max_new_tokens=max(row.limit for row in rows),
        pad_token_id=pad,
        eos_token_id=sorted(ends) or None,
    )
    choosing = [_chooser(row, size, tokenizer) for row, size in zip(rows, padding, strict=True)]

    def choose(ids: Any, scores: Any) -> Any:
        parts = zip(choosing, ids.split(1), scores.float().split(1), strict=True)
        return torch.cat([choice(*part) for choice, *part in parts])

    def ended(ids: Any, scores: Any, **_: Any) -> Any:
        replies = zip(rows, ids[:, longest:].tolist(), strict=True)
        done = [cancelled() or _ends(row, reply, tokenizer) for row, reply in replies]
        return torch.tensor(done, device=ids.device)

    with torch.inference_mode():
        output = model.generate(
            torch.tensor(ids, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            generation_config=settings,
            logits_processor=[choose],
            stopping_criteria=[ended],
        )
    for row, tokens in zip(rows, output[:, longest:].tolist(), strict=True):
        row.tokens = tokens[: row.limit]
        final = ends | row.stop_ids
        end = next((n for n, token in enumerate(row.tokens) if token in final), None)
        if end is not None:
            row.tokens, row.stopped = row.tokens[:end], True
        del row.logprobs[len(row.tokens) :]


def _ends(row: Row, reply: list[int], tokenizer: Any) -> bool:
    """Return whether a reply has reached its limit, or a text or token that ends it."""
    if len(reply) >= row.limit or reply[-1] in row.stop_ids:
        return True
    if not row.stops:
        return False
    tail = max(map(len, row.stops)) + 8  # no token stands for less than a byte
    text = tokenizer.decode(reply[-tail:], skip_special_tokens=True)
    return any(stop in text for stop in row.stops)


def _chooser(row: Row, padding: int, tokenizer: Any) -> Callable[[Any, Any], Any]:
    """Return what turns the scores of a row's next token so that the greatest is its choice."""
    import torch
    from transformers.generation import logits_process as library

    sampling = row.sampling
    random = torch.Generator(device="cpu").manual_seed(sampling.seed or 0)
    values = {library.RepetitionPenaltyLogitsProcessor: sampling.repetition_penalty}
    if sampling.temperature:
        values |= {
            library.TemperatureLogitsWarper: sampling.temperature,
            library.TopKLogitsWarper: sampling.top_k or None,
            library.TopPLogitsWarper: sampling.top_p,
            library.MinPLogitsWarper: sampling.min_p,
        }
    steps = [step(value) for step, value in values.items() if value is not None]

    def choose(ids: Any, scores: Any) -> Any:
        chosen = scores
        for step in steps:
            chosen = step(ids[:, padding:], chosen)
        if sampling.temperature:
            # Drawn on the CPU, so that a seed means the same on every device.
            drawn = torch.rand(1, 1, generator=random, dtype=torch.float64)
            reached = chosen.softmax(dim=-1, dtype=torch.float64).cumsum(dim=-1)
            place = torch.searchsorted(reached, drawn.to(reached) * reached[:, -1:], right=True)
            place = place.clamp_(max=chosen.shape[-1] - 1)
            chosen = torch.full_like(chosen, -torch.inf).scatter(1, place, 0.0)
        if row.top_logprobs is not None:
            token, logprobs = int(chosen.argmax()), torch.log_softmax(scores[0], dim=-1)
            likeliest = torch.topk(logprobs, min(row.top_logprobs, logprobs.shape[0]))
            pairs = zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True)
            top = [(tokenizer.decode([best]), value) for best, value in pairs]
            row.logprobs.append(
                TokenLogprobs(tokenizer.decode([token]), float(logprobs[token]), top)
            )
        return chosen

    return choose
