"""A chat model of this process: waiting requests are computed in batches of similar length.

Conversations go on as their replies arrive, so second turns fill the batches after the first. A
batch that does not fit into memory is halved, and all later ones too. A seed belongs to a
conversation, not to a batch: the same request gives the same reply in any company, up to rounding.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from harness.errors import ChatError, EndpointError, UsageError
from harness.extras.local.checkpoint import find, first_line
from harness.extras.local.generation import Row, generate
from harness.extras.local.prompts import Prompts
from harness.models import Endpoint, Weights
from harness.reasoning import split_reasoning
from harness.types import Detail, Finish, Reply, Request, Usage

log = logging.getLogger("turnbench")
DEFAULT_MAX_TOKENS = 1024
"""The limit on a reply where none is stated."""
_PADDING = 512
"""The most tokens by which a prompt of a batch may be shorter than its longest."""
_PAUSE = 0.005
"""Seconds without a further request after which a batch begins."""
_SENT = ("temperature", "top_p", "top_k", "min_p", "seed", "stop", "repetition_penalty")
"""The parameters of a request that are used, beside the table `extra_body`."""
_TEMPLATE_FIELD = "chat_template_kwargs"
"""The one field of `extra_body`: variables of the model's own chat template."""


Job: TypeAlias = tuple[Row, asyncio.Future[float]]
"""A request without a reply yet; the future gets the seconds that its batch took."""


class LocalModel:
    """A chat model whose weights are loaded into this process, at its first reply."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Find the weights and their template.

        Raises:
            UsageError: they are not there, cannot be read, or have no template.
        """
        self.name = endpoint.name
        self._weights = endpoint.weights or Weights()
        self._checkpoint = find(endpoint.model)
        tokenizer = self._checkpoint.tokenizer
        self._prompts = Prompts(tokenizer, endpoint.model, endpoint.conv_template)
        self._model: Any = None
        self._waiting: list[Job] = []
        self._work: asyncio.Task[None] | None = None
        self._closing = False
        self._size = self._weights.batch_size
        config = getattr(self._checkpoint.config, "text_config", self._checkpoint.config)
        self._longest = int(getattr(config, "max_position_embeddings", None) or 2**31)
        log.info("%s: %s, chat template: %s", self.name, endpoint.model, self._prompts.name)

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
                f"{self.name}: the prompt has {len(prompt)} tokens, the model reads at most "
                f"{self._longest}",
                kind="context too long",
            )
        limit = min(sampling.max_tokens or DEFAULT_MAX_TOKENS, room)
        stops = (*self._prompts.stops, *(sampling.stop or ()))
        row = Row(prompt, sampling, limit, stops, self._prompts.stop_ids, request.top_logprobs)
        done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, done))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._take_batches())
        seconds = await done
        text, reasoning, finish = self._read(row)
        names = (*_SENT, "extra_body")
        applied = {name: value for name, value in sampling.stated().items() if name in names}
        return Reply(
            text=text,
            logprobs=row.logprobs if request.top_logprobs is not None else None,
            detail=Detail(
                finish_reason=finish,
                usage=Usage(prompt_tokens=len(prompt), completion_tokens=len(row.tokens)),
                seconds=seconds,
                provider_model=self._checkpoint.name,
                sampling_applied={**applied, "max_tokens": limit, "template": self._prompts.name},
                reasoning=reasoning,
            ),
        )

    async def close(self) -> None:
        """End a batch that runs where it is, and give the memory back."""
        self._closing = True
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        self._model = None

    def _read(self, row: Row) -> tuple[str, str | None, Finish]:
        """Return the text of a reply, its reasoning, and how it ended."""
        tokenizer = self._checkpoint.tokenizer
        # Marks of reasoning may be special tokens, which must not be dropped before it is split.
        split = split_reasoning(tokenizer.decode(row.tokens), cut=not row.stopped)
        text = split.text
        for token in tokenizer.all_special_tokens:
            text = text.replace(token, "")
        stopped = row.stopped
        places = [place for stop in row.stops if (place := text.find(stop)) >= 0]
        if places:
            text, stopped = text[: min(places)], True
        text = text.strip()
        return text, split.reasoning, "length" if not stopped else "stop" if text else "empty"

    async def _take_batches(self) -> None:
        """Make the replies of all that waits, batch by batch."""
        while True:
            before = -1
            while before != len(self._waiting):
                before = len(self._waiting)
                await asyncio.sleep(_PAUSE)
            self._waiting = [job for job in self._waiting if not job[1].done()]
            if not self._waiting:
                return
            self._waiting.sort(key=lambda job: -len(job[0].prompt))
            least = len(self._waiting[0][0].prompt) - _PADDING
            batch = [job for job in self._waiting[: self._size] if len(job[0].prompt) >= least]
            del self._waiting[: len(batch)]
            await self._compute(batch)

    async def _compute(self, batch: Sequence[Job]) -> None:
        """Compute one batch in a thread, so that other models can run at the same time."""
        import torch

        started = time.perf_counter()
        fault: Exception | None = None
        rows = [row for row, _ in batch]
        try:
            await asyncio.to_thread(self._generate, rows)
        except torch.OutOfMemoryError:
            if len(batch) > 1:
                self._size = len(batch) // 2
                text = "%s: no memory for %d conversations at once; going on with %d"
                log.warning(text, self.name, len(batch), self._size)
                for row in rows:
                    row.logprobs.clear()
                self._waiting += batch
                return
            reason = f"no memory for {len(rows[0].prompt)} tokens and a reply of {rows[0].limit}"
            fault = ChatError(f"{self.name}: {reason}; lower --max-tokens", kind="out of memory")
        except UsageError as error:
            fault = error
        except Exception as error:
            fault = EndpointError(f"{self.name}: {first_line(error)}", kind="cannot compute")
        seconds = time.perf_counter() - started
        for _, done in batch:
            if fault is not None and not done.done():
                done.set_exception(fault)
            elif not done.done():
                done.set_result(seconds)

    def _generate(self, rows: list[Row]) -> None:
        if self._model is None:
            self._model = self._checkpoint.load(
                "AutoModelForCausalLM", self._weights.device, self._weights.dtype
            )
        generate(self._model, self._checkpoint.tokenizer, rows, lambda: self._closing)


def _variables(extra_body: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the variables for the model's own chat template."""
    variables = (extra_body or {}).get(_TEMPLATE_FIELD, {})
    if not {_TEMPLATE_FIELD}.issuperset(extra_body or {}) or not isinstance(variables, Mapping):
        raise UsageError(f"extra_body: local weights take a table {_TEMPLATE_FIELD}, nothing else")
    return variables
