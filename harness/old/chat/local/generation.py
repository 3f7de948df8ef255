"""One batch of replies: every row has its own temperature, seed, limit, stops and log-probabilities.

The library knows one temperature and one random source for a whole batch. Here each row draws one number u for a token
from its own generator, and takes the first token whose cumulated probability is above u; the scores of all others are
put at minus infinity, so the library's greedy search picks that one. The same seed picks the same in any batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.old.records import Sampling, TokenLogprobs


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
    text: str = ""
    ended: str = "length"
    """`stop` or `length`."""
    logprobs: list[TokenLogprobs] = field(default_factory=list)


def generate(model: Any, tokenizer: Any, rows: Sequence[Row], broken_off: Callable[[], bool]) -> None:
    """Fill in the replies of a batch; if `broken_off` is set, all end where they are.

    Raises:
        torch.OutOfMemoryError: the batch is too large.
    """
    import torch
    from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

    longest = max(len(row.prompt) for row in rows)
    ends = _end_ids(model, tokenizer)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends, default=0)
    ids = torch.tensor([[pad] * (longest - len(row.prompt)) + row.prompt for row in rows], device=model.device)
    mask = torch.tensor(
        [[0] * (longest - len(row.prompt)) + [1] * len(row.prompt) for row in rows], device=model.device
    )
    settings = GenerationConfig(
        do_sample=False,
        max_new_tokens=max(row.limit for row in rows),
        pad_token_id=pad,
        eos_token_id=sorted(ends) or None,
    )
    with torch.inference_mode():
        made = model.generate(
            ids,
            attention_mask=mask,
            generation_config=settings,
            logits_processor=LogitsProcessorList([_Choosing(rows, longest, tokenizer)]),
            stopping_criteria=StoppingCriteriaList([_Ending(rows, longest, tokenizer, broken_off)]),
        )
    for row, tokens in zip(rows, made[:, longest:].tolist(), strict=True):
        _finish(row, tokens, ends, tokenizer)


def _end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end a reply."""
    stated = getattr(model.generation_config, "eos_token_id", None)
    several = stated if isinstance(stated, list) else [stated]
    return frozenset(each for each in (*several, tokenizer.eos_token_id) if each is not None)


def _finish(row: Row, tokens: list[int], ends: frozenset[int], tokenizer: Any) -> None:
    """Cut the reply at its end, and say how it ended."""
    row.tokens = tokens[: row.limit]
    at = next((place for place, token in enumerate(row.tokens) if token in ends | row.stop_ids), None)
    if at is not None:
        row.tokens, row.ended = row.tokens[:at], "stop"
    row.text = tokenizer.decode(row.tokens, skip_special_tokens=True)
    places = [place for stop in row.stops if (place := row.text.find(stop)) >= 0]
    if places:
        row.text, row.ended = row.text[: min(places)], "stop"
    del row.logprobs[len(row.tokens) :]


class _Ending:
    """Says after each token which rows have ended: by their limit, by a text, or because all is broken off."""

    def __init__(self, rows: Sequence[Row], start: int, tokenizer: Any, broken_off: Callable[[], bool]) -> None:
        self._rows, self._start, self._tokenizer, self._broken_off = rows, start, tokenizer, broken_off
        self._tail = max((len(stop) for row in rows for stop in row.stops), default=0) + 8
        """Tokens at the end in which a text that ends a reply must be: no token stands for less than a byte."""

    def __call__(self, ids: Any, scores: Any, **more: Any) -> Any:
        import torch

        if self._broken_off():
            return torch.ones(len(self._rows), dtype=torch.bool, device=ids.device)
        number = ids.shape[1] - self._start
        last = ids[:, self._start :][:, -self._tail :].tolist()  # from the device once, not row by row
        ended = [self._ended(row, own, number) for row, own in zip(self._rows, last, strict=True)]
        return torch.tensor(ended, device=ids.device)

    def _ended(self, row: Row, last: list[int], number: int) -> bool:
        if number >= row.limit or last[-1] in row.stop_ids:
            return True
        if not row.stops:
            return False
        said = self._tokenizer.decode(last, skip_special_tokens=True)
        return any(stop in said for stop in row.stops)


class _Choosing:
    """Turns the scores of each row's next token so that the greatest is the row's choice."""

    def __init__(self, rows: Sequence[Row], start: int, tokenizer: Any) -> None:
        self._rows, self._start, self._tokenizer = rows, start, tokenizer
        self._random: list[Any] = [None] * len(rows)

    def __call__(self, ids: Any, scores: Any) -> Any:
        scores = scores.float()
        chosen = [self._chosen(at, row, ids[at], scores[at]) for at, row in enumerate(self._rows)]
        import torch

        result = torch.stack(chosen)
        for at, row in enumerate(self._rows):
            if row.top_logprobs is not None:
                row.logprobs.append(self._likely(scores[at], int(result[at].argmax()), row.top_logprobs))
        return result

    def _chosen(self, at: int, row: Row, ids: Any, scores: Any) -> Any:
        """Return the scores of one row, of which the greatest is its next token."""
        import torch

        sampling = row.sampling
        if sampling.repetition_penalty:
            known = ids[self._start - len(row.prompt) :].unique()
            before = scores[known]
            less = torch.where(before > 0, before / sampling.repetition_penalty, before * sampling.repetition_penalty)
            scores = scores.scatter(0, known, less)
        if not sampling.temperature:
            return scores
        scores = _kept(scores / sampling.temperature, sampling)
        if self._random[at] is None:
            self._random[at] = torch.Generator(device="cpu").manual_seed(sampling.seed or 0)
        # Drawn on the CPU, so that a seed means the same on every device, and one number for all of the vocabulary:
        # a number for each of its 100,000 tokens takes longer than the model's own step on a GPU.
        precise = torch.float32 if scores.device.type == "mps" else torch.float64
        drawn = torch.rand(1, generator=self._random[at], dtype=torch.float64).to(scores.device, precise)
        reached = scores.softmax(dim=-1, dtype=precise).cumsum(dim=-1)
        token = torch.searchsorted(reached, drawn * reached[-1], right=True).clamp_(max=scores.shape[0] - 1)
        return torch.full_like(scores, -torch.inf).index_fill_(0, token, 0.0)

    def _likely(self, scores: Any, token: int, most: int) -> TokenLogprobs:
        """Return the log-probability of the token taken, and those of the likeliest."""
        import torch

        logprobs = torch.log_softmax(scores, dim=-1)
        best = torch.topk(logprobs, min(most, logprobs.shape[0]))
        top = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        named = tuple((self._tokenizer.decode([each]), value) for each, value in top)
        return TokenLogprobs(self._tokenizer.decode([token]), float(logprobs[token]), named)


def _kept(scores: Any, sampling: Sampling) -> Any:
    """Return the scores of a row with those at minus infinity that top-k, top-p or min-p leave out."""
    import torch

    if sampling.top_k and sampling.top_k < scores.shape[0]:
        least = torch.topk(scores, sampling.top_k).values[-1]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if sampling.top_p is not None and sampling.top_p < 1:
        ordered, places = scores.sort(descending=True)
        shares = ordered.softmax(dim=-1)
        out = shares.cumsum(dim=-1) - shares >= sampling.top_p  # what stands before already makes up the share
        scores = scores.masked_fill(torch.zeros_like(out).scatter(0, places, out), -torch.inf)
    if sampling.min_p:
        shares = scores.softmax(dim=-1)
        scores = scores.masked_fill(shares < sampling.min_p * shares.max(), -torch.inf)
    return scores
