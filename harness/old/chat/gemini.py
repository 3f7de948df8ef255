"""Google's Gemini, by its own SDK (`google-genai`).

Its models think: summaries of the thoughts arrive as separate parts and are stored separately. A part may also
have a signature, the encrypted thoughts; the service requires it back unchanged, with the part, in the next turn.
(https://ai.google.dev/gemini-api/docs/thought-signatures)

`reasoning_effort` is its thinking level, `thinking_budget` its budget. The limit on tokens holds for the thoughts too.
"""

import json
import logging
import re
import traceback
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from harness.old.chat.batches import Batches, Handed, Prepared, Progress
from harness.old.chat.body import at, list_at, text_at
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.faults import malformed
from harness.old.chat.parameters import Parameters, on_the_wire
from harness.old.chat.remote import RemoteModel, count, parted, reply_of
from harness.old.chat.services import Caching, Service
from harness.old.chat.structured import strict, token_logprobs
from harness.old.chat.thinking import NO_REPLY, sendable
from harness.old.errors import ChatError
from harness.old.records import FinishReason, Message, Reply, Request, Sampling, TokenLogprobs, Usage

_TAKEN = {
    **{name: name for name in ("temperature", "top_p", "top_k", "seed", "extra_body", "extra_headers")},
    **{name: name for name in ("frequency_penalty", "presence_penalty")},
    "max_tokens": "max_output_tokens",
    "stop": "stop_sequences",
    "reasoning_effort": "thinking_level",
    "thinking_budget": "thinking_budget",
}
_THINKING = ("include_thoughts", "thinking_budget", "thinking_level")
"""What is sent together as `thinking_config`."""
_FINISH: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",  # a reply longer than any limit that is requested here
    **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "refused"),
    **dict.fromkeys(("ESCALATION", "MODEL_ARMOR", "PUP_LIMITED_DISABLED", "IMAGE_SAFETY"), "refused"),
}
_FAILED = ("MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")
"""Finish reasons of interrupted replies: not an answer, even with a text."""
_CONNECTIONS = 1000
"""Connections at once; how many calls there are is decided elsewhere."""


class Gemini(RemoteModel):
    """A chat model behind `models/NAME:generateContent`."""

    sdk = "google.genai.errors"
    repairable = frozenset({"temperature", "top_p", "seed", "response_json_schema", "include_thoughts"})
    also_refused = (
        ("JSON mode", "response_json_schema"),
        ("response_schema", "response_json_schema"),
        ("responseJsonSchema", "response_json_schema"),
        ("response_mime_type", "response_json_schema"),
        ("hinking is not", "include_thoughts"),
        ("include_thoughts", "include_thoughts"),
        ("includeThoughts", "include_thoughts"),
        ("topP", "top_p"),
    )

    def transport(self) -> Callable[..., Any]:
        """Return the HTTP client's class: the SDK accepts only its usual kind."""
        import functools

        import httpx2

        limits = httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=100)
        return functools.partial(httpx2.AsyncClient, limits=limits)

    def open_client(self, **options: Any) -> Any:
        """Return the SDK's client."""
        import httpx2
        from google.genai import Client, types

        from harness.old.chat.wire import trusted

        http = types.HttpOptions(
            base_url=options["base_url"],
            api_version=self.endpoint.api_version,
            httpx_async_client=options["http_client"],
            httpx_client=httpx2.Client(
                trust_env=False, verify=trusted(None, None)
            ),  # never used; its own would read the proxies' variables
        )
        log = logging.getLogger("google_genai")
        level = log.level
        log.setLevel(logging.ERROR)  # with both keys' variables set it says that it takes the other one, and does not
        try:
            return Client(vertexai=False, api_key=options["api_key"], http_options=http)
        finally:
            log.setLevel(level)

    def credentials(self, key: str) -> Mapping[str, str]:
        """Return the header with the key."""
        return {"x-goog-api-key": key}

    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters that are stated, by the SDK's names; thoughts are requested if there may be
        any."""
        asked = on_the_wire(replace(sampling, extra_body=None), _TAKEN)
        if sampling.thinking_budget != 0:
            asked["include_thoughts"] = True
        if sampling.extra_body:
            asked["extra_body"] = dict(sampling.extra_body)
        return asked

    def shape(self, request: Request) -> Parameters:
        """Return the schema and the log-probabilities that a request wants, by the SDK's names."""
        wanted: Parameters = {}
        if request.top_logprobs is not None:
            wanted |= {"response_logprobs": True, "logprobs": request.top_logprobs}
        if request.schema is not None:
            wanted["response_json_schema"] = strict(request.schema)
        return wanted

    def body(self, request: Request, sent: Parameters) -> dict[str, Any]:
        """Return all that is sent for a request, by the SDK's names, as JSON."""
        system, messages = parted(request.messages)
        config: dict[str, Any] = {name: value for name, value in sent.items() if name not in (*_THINKING, "extra_body")}
        if thinking := {name: sent[name] for name in _THINKING if name in sent}:
            config["thinking_config"] = thinking
        if "response_json_schema" in config:
            config["response_mime_type"] = "application/json"
        if system:
            config["system_instruction"] = system
        return {"model": self.endpoint.model, "contents": [_content(each) for each in messages], "config": config}

    async def _post(self, client: Any, request: Request, sent: Parameters) -> Any:
        """Return the JSON of the service's answer to one call.

        The SDK is asked for the raw answer: its own types refuse fields of a newer service.
        """
        from google.genai import types

        body = self.body(request, sent)
        http = types.HttpOptions(headers=self.every_header(request, sent), extra_body=sent.get("extra_body"))
        config = types.GenerateContentConfig(
            **body["config"],
            http_options=http,
            should_return_http_response=True,
            automatic_continuation=False,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        # Signatures are bytes, which the SDK's types take in base64 from JSON alone.
        contents = [types.Content.model_validate_json(json.dumps(content)) for content in body["contents"]]
        answer = await client.aio.models.generate_content(model=body["model"], contents=contents, config=config)
        return json.loads(answer.sdk_http_response.body or "null")

    async def told(self, path: str) -> Any:
        """Return the JSON that stands at a path.

        The SDK's own call for it has a type for everything, and fails as a whole where one of a thousand results tells
        of its error more than that type has room for.
        """
        answer = await self.client._api_client.async_request("get", path, {}, None)
        return json.loads(answer.body or "null")

    def fault(self, error: Exception, sent: Parameters | None = None, silence: float | None = None) -> ChatError | None:
        """Return our error for what the SDK raised; None if it is not the service's doing."""
        if isinstance(error, self._sdk.APIError):
            headers = getattr(error.response, "headers", None)
            return self.fault_of_result(error.code, error.details, sent, headers=headers)
        if isinstance(error, (AttributeError, TypeError, KeyError)) and _raised_in_sdk(error):
            return malformed(self.endpoint, "a body of another shape")
        return super().fault(error, sent, silence)

    def read(self, answer: Any) -> Reply:
        """Return the reply in an answer."""
        candidates = list_at(answer, "candidates")
        blocked = text_at(answer, "promptFeedback", "blockReason")
        if not candidates and blocked:
            return Reply("", finish_reason="refused", usage=_usage(answer), note=f"the prompt was blocked: {blocked}")
        candidate = next(iter(candidates), None)
        if not isinstance(candidate, dict):
            raise self.no_reply(answer, "a body without a candidate")
        ended = text_at(candidate, "finishReason")
        self.need_sound(answer, candidate, ended=ended)
        if ended in _FAILED:
            raise malformed(self.endpoint, f"a reply that ended with {ended}")
        reason = _FINISH.get(ended, "unstated")
        parts = list_at(candidate, "content", "parts")
        return reply_of(
            "".join(text_at(part, "text") for part in parts if at(part, "thought") is not True),
            reason,
            _usage(answer),
            at(answer, "modelVersion"),
            apart=tuple(text_at(part, "text") for part in parts if at(part, "thought") is True),
            carried=_carried(parts),
            note=f"stopped by the service: {ended}" if reason == "refused" else None,
            logprobs=_logprobs(at(candidate, "logprobsResult")),
        )


def _usage(answer: Any) -> Usage:
    """Return the tokens of an answer; the service counts thoughts separately, we within the reply's."""
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")
    prompt, said, thought, cached = (count(at(answer, "usageMetadata", name)) for name in names)
    nothing = prompt is said is thought is None  # else what is not counted is none: there is no count for no reply
    return Usage(prompt, None if nothing else (said or 0) + (thought or 0), thought, cached)


def _content(message: Message) -> dict[str, Any]:
    """Return a message in the service's form: its own parts that it requires back, else the text, which may not be
    empty."""
    role = "model" if message.role == "assistant" else "user"
    if role == "model" and message.carried is not None:
        return {"role": role, "parts": json.loads(message.carried)}
    return {"role": role, "parts": [{"text": sendable(message.content) if message.content.strip() else NO_REPLY}]}


def _carried(parts: list[Any]) -> str | None:
    """Return the parts that the next turn has to hold, as JSON; None if no part is signed, and the text will do."""
    kept = []
    for part in parts:
        signature, thought = text_at(part, "thoughtSignature"), at(part, "thought") is True
        if thought and not signature:
            continue  # a summary, which is for people
        kept.append({"text": sendable(text_at(part, "text"))} | ({"thought": True} if thought else {}))
        if signature:
            kept[-1]["thoughtSignature"] = signature
    return json.dumps(kept) if any("thoughtSignature" in part for part in kept) else None


def _logprobs(result: Any) -> tuple[TokenLogprobs, ...] | None:
    """Return the log-probabilities of a reply's tokens, which come as two parallel lists."""
    chosen, tops = list_at(result, "chosenCandidates"), list_at(result, "topCandidates")
    if len(chosen) != len(tops):
        return None

    def place(one: Any) -> dict[str, Any]:
        return {"token": at(one, "token"), "logprob": at(one, "logProbability")}

    each = [[place(one) for one in list_at(top, "candidates")] for top in tops]
    return token_logprobs([place(one) | {"top_logprobs": top} for one, top in zip(chosen, each, strict=True)])


def _raised_in_sdk(error: BaseException) -> bool:
    """Return whether an error arose in the SDK, which takes the shape of a body for granted."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and "genai" in frames[-1].f_globals.get("__name__", "")


_REQUEST_KEY = "key"
"""Under what a request carries its name."""
_BATCH_ENDED = ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
_BATCH_CANCELLED = 499
_STATUSES_OF_CODES = {1: _BATCH_CANCELLED, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 14: 503, 16: 401}
"""The status that a direct call would have had, by the code of the service's own protocol (google.rpc.Code); anything
else is an outage."""


class GeminiBatches(Batches[Gemini]):
    """Batches behind `models/NAME:batchGenerateContent`: the requests are submitted within the batch, and their
    replies arrive with its final state. A batch has our token in its name.
    """

    most_requests = 1000
    """Few, since all replies come at once, and no answer is read beyond a limit."""
    most_bytes = 19_000_000
    desk_path = "aio.batches"
    id_field, made_field = "name", "create_time"
    called_by, page_field = "name", "page"
    unsendable = ("extra_headers", "extra_body")
    """Of the body the SDK takes here only what it knows."""

    def paging(self, most: int) -> dict[str, Any]:
        """Return a function that asks for pages of this many batches."""
        return {"config": {"page_size": most}}

    def line(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return one of the requests."""
        return {**body, "metadata": {_REQUEST_KEY: custom_id}}

    async def submit(self, token: str, prepared: Sequence[Prepared]) -> str:
        """Hand the requests in."""
        from google.genai import types

        requests: Any = [types.InlinedRequest.model_validate_json(request.line) for request in prepared]
        async with self.calling(size=sum(len(request.line) for request in prepared)):
            config = types.CreateBatchJobConfig(display_name=f"turnbench-{token}")
            return self.named(await self.desk.create(model=self.model.endpoint.model, src=requests, config=config))

    async def is_ours(self, batch: Any, token: str, count: int) -> bool:
        """Return whether a batch has our token in its name."""
        return bool(batch.display_name == f"turnbench-{token}")

    def how_far(self, batch: str, told: Any) -> Progress:
        """Return how far a batch is by what the provider says of it."""
        state, stats = self.state(told), at(told, "metadata", "batchStats")
        done = (at(stats, name) for name in ("successfulRequestCount", "failedRequestCount"))
        fault = self._refused(batch, at(told, "error")) if state == "FAILED" else None
        return Progress(state in _BATCH_ENDED, sum(map(_number, done)), state == "CANCELLED", fault)

    async def items(self, batch: str) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the replies in a batch that has ended."""
        told = await self.retrieved(batch)
        output = at(told, "metadata", "output") or at(told, "response")
        for one in list_at(output, "inlinedResponses", "inlinedResponses"):
            yield at(one, "metadata", _REQUEST_KEY), one

    async def told(self, batch: str) -> Any:
        """Return the service's object of a batch, unchanged."""
        return await self.model.told(f"batches/{quote(batch.removeprefix('batches/'), safe='')}")

    def state(self, batch: Any) -> str:
        """Return the state of a batch, such as RUNNING; empty if it is none."""
        return re.sub("^(?:JOB|BATCH)_STATE_", "", text_at(batch, "metadata", "state"))

    def result(self, one: Any, handed: Handed) -> Reply | ChatError:
        """Return the reply or error in one result."""
        response, error = at(one, "response"), at(one, "error")
        if response is not None and not error:
            return self.outcome(response, handed)
        status, body = _batch_error(error)
        return self.cancelled() if status == _BATCH_CANCELLED else self.refusal(status, body, handed)

    def _refused(self, batch: str, error: Any) -> ChatError:
        """Return the error for a batch that failed as a whole."""
        if error is None:
            return ChatError(f"{self.name}: batch {batch} was refused without a reason", kind="bad request")
        return self.model.fault_of_result(*_batch_error(error))


def _batch_error(error: Any) -> tuple[int, Any]:
    """Return the status that a direct call would have had, and the body of its error."""
    code = at(error, "code")
    code = code if isinstance(code, int) else 0
    status = code if code >= 400 else _STATUSES_OF_CODES.get(code, 500)
    return status, {"error": {"message": text_at(error, "message") or "no reason is given"}}


def _number(count: Any) -> int:
    """Return a number, which the protocol writes as text."""
    return int(count) if str(count).isdecimal() else 0


def _caching(endpoint: Endpoint) -> Caching | None:
    """Return the service's rule (https://ai.google.dev/gemini-api/docs/caching)."""
    return Caching(2048 if endpoint.model.startswith("gemini-2.5") else 4096)


SERVICE = Service(
    title="Google Gemini",
    prefixes=("gemini-",),
    examples=("gemini-2.5-flash", "gemini-2.5-pro", "gemini-3.8-flash"),
    key_variable="GEMINI_API_KEY",
    other_key_variables=("GOOGLE_API_KEY",),
    url_variable="GOOGLE_GEMINI_BASE_URL",
    address="https://generativelanguage.googleapis.com",
    packages=(("google-genai", (3,)),),
    open=Gemini,
    batches=GeminiBatches,
    sampling=_TAKEN,
    caching=_caching,
)
