"""OpenAI's chat completions, and every compatible server (vLLM, SGLang, llama.cpp, Ollama, …)."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from harness.old.chat.batches import QUEUE_FULL, Batches, Handed, Prepared, Progress
from harness.old.chat.body import at, list_at
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.parameters import Parameters, on_the_wire
from harness.old.chat.remote import RemoteModel, reply_of, usage_of, word
from harness.old.chat.services import Caching, Service, service
from harness.old.chat.structured import strict, token_logprobs
from harness.old.chat.thinking import sendable
from harness.old.errors import ChatError, TransientError
from harness.old.records import FinishReason, Reply, Request, Sampling

log = logging.getLogger("turnbench")
FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refused",
    "refusal": "refused",
}
"""Finish reasons of this protocol, as ours."""
COUNTED = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "reasoning_tokens": "completion_tokens_details.reasoning_tokens",
    "cached_tokens": "prompt_tokens_details.cached_tokens",
    "written_tokens": "prompt_tokens_details.cache_write_tokens",
}
"""Where they count which tokens."""
_RESPONSES = "v1/responses"
"""What a refusal names if the model supports only the other protocol."""

SAMPLED = {name: name for name in Sampling.__slots__ if name not in ("reasoning_effort", "thinking_budget")}
TAKEN = {**SAMPLED, "reasoning_effort": "reasoning_effort"}
"""The sampling parameters of the older completions and of chat completions. What OpenAI itself does not take (`top_k`,
`min_p`, `repetition_penalty`) other servers do, under the same names."""


class OpenAIModel(RemoteModel):
    """What chat completions and the older completions share: the SDK, the names of parameters, the usage."""

    sdk = "openai"
    repairable = frozenset({"temperature", "top_p", "seed", "max_tokens", "max_completion_tokens", "response_format"})
    also_refused = (("response_format", "response_format"), ("json_schema", "response_format"))

    def open_client(self, **options: Any) -> Any:
        """Return the SDK's client."""
        return self._sdk.AsyncOpenAI(**options)

    def credentials(self, key: str) -> Mapping[str, str]:
        """Return the header with the key."""
        return {"authorization": f"Bearer {key}"}

    def elsewhere(self) -> str | None:
        """Return the address with the `/v1` that most servers of the protocol have and that is easily forgotten."""
        return None if urlsplit(self.address).path.rstrip("/") else f"{self.address}/v1"

    def first_choice(self, answer: Any) -> Any:
        """Return the one choice of an answer."""
        choice = next(iter(list_at(answer, "choices")), None)
        if choice is None:
            raise self.no_reply(answer, "a body without a choice")
        # A gateway that passes replies on may say only in the provider's own words how one ended.
        ended = at(choice, "finish_reason") or at(choice, "native_finish_reason")
        self.need_sound(answer, choice, at(choice, "message"), ended=ended)
        return choice


class OpenAIChat(OpenAIModel):
    """A chat model behind `/v1/chat/completions`, or behind `/v1/responses` once the server has required it."""

    path = "/chat/completions"
    _other: RemoteModel | None = None

    async def reply(self, request: Request) -> Reply:
        """Return the model's reply; through responses if the server says that the model supports only those."""
        if self._other is None:
            try:
                return await super().reply(request)
            except TransientError:
                raise
            except ChatError as error:
                if _RESPONSES not in str(error):
                    raise
        return await self._by_responses().reply(request)

    def _by_responses(self) -> RemoteModel:
        """Return the same model by the other protocol, which is remembered."""
        if self._other is None:
            log.warning(
                "%s supports only the Responses API, which is used from now on; state this in models.toml: "
                'provider = "openai_responses" (it takes no seed and no stop)',
                self.name,
            )
            other = service("openai_responses").open(self.endpoint, self._key, self.address)
            assert isinstance(other, RemoteModel)
            other.standing = self.standing
            self._other = other
        return self._other

    async def close(self) -> None:
        """Release connections."""
        await super().close()
        if self._other is not None:
            await self._other.close()

    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters that are stated, by their names on the wire."""
        return on_the_wire(sampling, {**TAKEN, "max_tokens": limit_name(self.address)})

    def shape(self, request: Request) -> Parameters:
        """Return the schema and the log-probabilities that a request wants, by their names on the wire."""
        wanted: Parameters = {}
        if request.top_logprobs is not None:
            wanted |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.schema is not None:
            form = {"name": "verdict", "strict": True, "schema": strict(request.schema)}
            wanted["response_format"] = {"type": "json_schema", "json_schema": form}
        return wanted

    def body(self, request: Request, sent: Parameters) -> dict[str, Any]:
        """Return all that is sent for a request, by its names on the wire."""
        messages = [{"role": message.role, "content": sendable(message.content)} for message in request.messages]
        return {"model": self.endpoint.model, "messages": messages, **sent}

    def read(self, answer: Any) -> Reply:
        """Return the reply in a chat completion."""
        choice = self.first_choice(answer)
        message, content = at(choice, "message"), at(choice, "message", "content")
        if not isinstance(message, dict):
            raise self.no_reply(answer, "a choice without a message")
        if not isinstance(content, str | list | None):
            raise self.no_reply(answer, "a message whose content is no text")
        return reply_of(
            content,
            FINISH.get(str(at(choice, "finish_reason")), "unstated"),
            usage_of(at(answer, "usage"), **COUNTED),
            at(answer, "model"),
            apart=(message.get("reasoning_content") or message.get("reasoning"),),
            refusal=word(message.get("refusal")),
            logprobs=token_logprobs(at(choice, "logprobs", "content")),
        )


def limit_name(address: str) -> str:
    """Return the name of the limit on tokens: OpenAI's own is new, other servers know only `max_tokens`."""
    host = urlsplit(address).hostname or ""
    own = host == "api.openai.com" or host.endswith(".api.openai.com")
    return "max_completion_tokens" if own else "max_tokens"


_TOKEN = "turnbench"
"""The key of the metadata under which a batch carries our token."""

_BATCH_ENDED = {"completed", "expired", "cancelled", "failed"}


class OpenAIBatches(Batches[OpenAIModel]):
    """Batches of chat completions or responses: a file of requests goes up, one file of replies and one of errors come
    down.
    """

    most_requests = 50_000
    most_bytes = 200_000_000
    desk_path = "batches"
    unsendable = ("extra_headers",)

    @property
    def _path(self) -> str:
        """The one path that all requests of a batch go to."""
        return f"/v1{self.model.path}"

    def line(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the line of the file."""
        return {"custom_id": custom_id, "method": "POST", "url": self._path, "body": body}

    async def submit(self, token: str, prepared: Sequence[Prepared]) -> str:
        """Send the file up and hand it in."""
        data = b"".join(request.line for request in prepared)
        async with self.calling(2, len(data)):
            client = self.model.client
            file = await client.files.create(file=(f"turnbench-{token}.jsonl", data), purpose="batch")
            batch = await client.batches.create(
                input_file_id=self.named(file),
                endpoint=self._path,
                completion_window="24h",
                metadata={_TOKEN: token},
            )
            return self.named(batch)

    async def is_ours(self, batch: Any, token: str, count: int) -> bool:
        """Return whether a batch carries our token."""
        return bool((batch.metadata or {}).get(_TOKEN) == token)

    def how_far(self, batch: str, told: Any) -> Progress:
        """Return how far a batch is by what the provider says of it."""
        counts = told.request_counts
        processed = (getattr(counts, "completed", 0) or 0) + (getattr(counts, "failed", 0) or 0)
        if told.status != "failed":
            return Progress(told.status in _BATCH_ENDED, processed, cancelled=told.status == "cancelled")
        errors = list(getattr(told.errors, "data", None) or [])
        faults = {error.line - 1: self._refused(error) for error in errors if isinstance(error.line, int)}
        others = [self._refused(error) for error in errors if not isinstance(error.line, int)]
        nameless = ChatError(f"{self.name}: batch {batch} was refused without a reason", kind="bad request")
        fault = others[0] if others else None if faults else nameless
        return Progress(ended=True, processed=processed, fault=fault, faults=faults)

    async def items(self, batch: str) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the lines of the file of replies and of the file of errors."""
        told = await self.retrieved(batch)
        for file in filter(None, (told.output_file_id, told.error_file_id)):
            async for item in self.lines(f"/files/{quote(str(file), safe='')}/content", batch):
                yield item

    def result(self, line: Mapping[str, Any], handed: Handed) -> Reply | ChatError:
        """Return the result in one line."""
        response, error = line.get("response"), line.get("error")
        if not isinstance(response, Mapping):
            return self._unanswered(error if isinstance(error, Mapping) else {})
        status, body = response.get("status_code"), response.get("body")
        if status != 200:
            return self.refusal(status if isinstance(status, int) else 500, body, handed)
        if error:
            return self.model.fault_of_result(500, {"error": error})
        return self.outcome(body, handed)

    def _unanswered(self, error: Mapping[str, Any]) -> ChatError:
        """Return our error for a request that the provider did not answer."""
        code = error.get("code")
        if code == "batch_cancelled":
            return self.cancelled()
        return self.expired() if code == "batch_expired" else self.model.fault_of_result(500, {"error": dict(error)})

    def _refused(self, error: Any) -> ChatError:
        """Return our error for what the provider found wrong with a batch as a whole, or with one line of it."""
        code = str(getattr(error, "code", None) or "")
        message = getattr(error, "message", None)
        detail = {"message": message, "code": code, "param": getattr(error, "param", None)}
        if code == "token_limit_exceeded":
            said = self.model.fault_of_result(429, {"error": detail})
            return TransientError(str(said), kind=QUEUE_FULL)
        sent = dict.fromkeys(self.model.repairable)
        return self.model.fault_of_result(404 if code == "model_not_found" else 400, {"error": detail}, sent)


def _caching(endpoint: Endpoint) -> Caching | None:
    """Return OpenAI's rule (https://developers.openai.com/docs/guides/prompt-caching); of others nothing is known."""
    return Caching(1024, 128) if limit_name(endpoint.base_url or SERVICE.address) == "max_completion_tokens" else None


SERVICE = Service(
    title="OpenAI",
    prefixes=("gpt-", "chatgpt-", "o1", "o3", "o4", "ft:gpt-"),
    examples=("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o3", "o4-mini", "chatgpt-4o-latest"),
    key_variable="OPENAI_API_KEY",
    url_variable="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    packages=(("openai", (3, 0)),),
    open=OpenAIChat,
    batches=OpenAIBatches,
    sampling=TAKEN,
    caching=_caching,
)
