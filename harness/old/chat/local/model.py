"""A chat model of this process: waiting requests are computed in batches, the longest prompts first.

Conversations continue as their replies arrive, so second turns fill the batches after the first ones. A batch that does
not fit into memory is halved, and all later ones too, until a single conversation does
not fit. A seed belongs to a conversation, not to a batch: the same request gives the same reply, up to the rounding of
the device.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.old.chat.endpoint import Endpoint
from harness.old.chat.local.generation import Row, generate
from harness.old.chat.local.prompts import Prompts
from harness.old.chat.model import Origin
from harness.old.chat.services import Service
from harness.old.chat.thinking import finish, spoken
from harness.old.checkpoints import find, first_line
from harness.old.errors import ChatError, EndpointError, UsageError
from harness.old.records import Reply, Request, Usage

log = logging.getLogger("turnbench")
DEFAULT_MAX_TOKENS = 1024
"""The limit on a reply where none is stated."""
_PAUSE = 0.005
"""Seconds in which nothing new must have come before a batch begins."""
_TAKEN = ("temperature", "top_p", "top_k", "min_p", "max_tokens", "seed", "stop", "repetition_penalty", "extra_body")
_VARIABLES = "chat_template_kwargs"
"""The one further field of a request: variables of the model's own chat template."""


@dataclass(slots=True)
class _Waiting:
    """A request that has no reply yet."""

    row: Row
    done: asyncio.Future[float]
    """Gets the seconds that its batch took."""


class LocalModel:
    """A model whose weights are loaded into this process, at its first reply."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Find the checkpoint and its template.

        Raises:
            UsageError: it is not there, cannot be read, or has no template.
        """
        assert endpoint.weights is not None
        self.name = endpoint.name
        self.origin = Origin(endpoint)
        self._weights = endpoint.weights
        self._checkpoint = find(endpoint.model)
        self._prompts = Prompts(self._checkpoint.tokenizer, endpoint.model, endpoint.conv_template)
        self._model: Any = None
        self._waiting: list[_Waiting] = []
        self._work: asyncio.Task[None] | None = None
        self._closing = False
        self._size = self._weights.batch_size
        self._longest = _longest(self._checkpoint.config)
        log.warning("%s: %s, chat template: %s", self.name, endpoint.model, self._prompts.name)

    @property
    def room(self) -> int:
        """Calls that may be in flight: some batches, so that the next one can be of similar lengths."""
        return 4 * self._weights.batch_size

    async def reply(self, request: Request) -> Reply:
        """Return the model's reply.

        Raises:
            ChatError: the conversation does not fit into the model, or into the memory.
            EndpointError: the model cannot compute.
        """
        sampling = request.sampling
        if sampling.temperature and sampling.seed is None:
            sampling = replace(sampling, seed=secrets.randbits(31))
        prompt = self._prompts.tokens(request.messages, _variables(sampling.extra_body))
        room = self._longest - len(prompt)
        if room < 1:
            raise ChatError(
                f"{self.name}: the prompt has {len(prompt)} tokens, but the model reads at most {self._longest}",
                kind="context too long",
            )
        limit = min(sampling.max_tokens or DEFAULT_MAX_TOKENS, room)
        stops = (*self._prompts.stops, *(sampling.stop or ()))
        row = Row(prompt, sampling, limit, stops, self._prompts.stop_ids, request.top_logprobs)
        waiting = _Waiting(row, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._take_batches())
        seconds = await waiting.done
        text, reasoning = spoken(row.text.strip(), cut=row.ended == "length")
        reason = finish("length" if row.ended == "length" else "stop", text)
        applied = {name: value for name, value in sampling.stated().items() if name in _TAKEN}
        return Reply(
            text=text,
            reasoning=reasoning,
            finish_reason=reason,
            usage=Usage(len(prompt), len(row.tokens)),
            seconds=seconds,
            model=self._checkpoint.name,
            applied={**applied, "max_tokens": limit, "template": self._prompts.name},
            logprobs=tuple(row.logprobs) if request.top_logprobs is not None else None,
        )

    async def close(self) -> None:
        """Let a batch that runs end where it is, and give the memory back."""
        self._closing = True
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        self._model = None

    async def _take_batches(self) -> None:
        """Make the replies of all that waits, batch by batch."""
        while True:
            seen = -1
            while seen != len(self._waiting):
                seen = len(self._waiting)
                await asyncio.sleep(_PAUSE)
            self._waiting = [each for each in self._waiting if not each.done.done()]
            if not self._waiting:
                return
            self._waiting.sort(key=lambda each: -len(each.row.prompt))
            batch, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            await self._compute(batch)

    async def _compute(self, batch: Sequence[_Waiting]) -> None:
        """Compute one batch in a thread, so that other models can run at the same time."""
        started = time.perf_counter()
        try:
            await asyncio.to_thread(self._generate, [each.row for each in batch])
        except Exception as error:
            if not _is_full(error):
                fault: Exception = error
                if not isinstance(error, UsageError):
                    fault = EndpointError(f"{self.name}: {first_line(error)}", kind="cannot compute")
                for each in batch:
                    _end(each, fault)
            elif len(batch) > 1:
                self._halve(batch)
            else:
                words = (
                    f"{self.name}: no memory for {len(batch[0].row.prompt)} tokens and a reply of {batch[0].row.limit}"
                )
                _end(batch[0], ChatError(f"{words}; lower --max-tokens", kind="out of memory"))
                self._size = self._weights.batch_size  # the longest came first: shorter ones may fit together
            return
        for each in batch:
            if not each.done.done():
                each.done.set_result(time.perf_counter() - started)

    def _halve(self, batch: Sequence[_Waiting]) -> None:
        """Put a batch back that was too large, and take half as many from now on."""
        self._size = max(1, len(batch) // 2)
        log.warning("%s: no memory for %d conversations at once; continuing with %d", self.name, len(batch), self._size)
        for each in batch:
            each.row.logprobs.clear()
        self._waiting = [*batch, *self._waiting]

    def _generate(self, rows: list[Row]) -> None:
        if self._model is None:
            self._model = self._checkpoint.load("AutoModelForCausalLM", self._weights.device, self._weights.dtype)
        generate(self._model, self._checkpoint.tokenizer, rows, lambda: self._closing)


def _end(waiting: _Waiting, fault: Exception) -> None:
    if not waiting.done.done():
        waiting.done.set_exception(fault)


def _is_full(error: Exception) -> bool:
    """Return whether there was no memory; of the CPU's allocator only the words tell."""
    import torch

    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "not enough memory" in str(error)


def _longest(config: Any) -> int:
    """Return how many tokens a model reads; a very large number if it does not state it."""
    inner = getattr(config, "text_config", config)
    stated = getattr(inner, "max_position_embeddings", None)
    return stated if isinstance(stated, int) and stated > 0 else 2**31


def _variables(extra_body: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the variables for the model's own chat template."""
    unknown = [name for name in extra_body or {} if name != _VARIABLES]
    if unknown:
        raise UsageError(f"extra_body.{unknown[0]}: local weights take only extra_body.{_VARIABLES}")
    variables = (extra_body or {}).get(_VARIABLES, {})
    if not isinstance(variables, Mapping):
        raise UsageError(f"extra_body.{_VARIABLES} must be a table")
    return variables


SERVICE = Service(
    title="local weights",
    key_variable="",
    url_variable="",
    open=lambda endpoint, key, address: LocalModel(endpoint),
    sampling={name: name for name in _TAKEN},
)
