"""The bodies of all providers, as their services send them."""

import base64
import json
import math
from collections.abc import Mapping
from typing import Any

from tests.old.protocol.faults import Fault
from tests.old.protocol.messages import Asked, Said

_OPENAI_TYPES = {
    401: "invalid_request_error",
    403: "invalid_request_error",
    404: "invalid_request_error",
    429: "requests",
    400: "invalid_request_error",
}
_GOOGLE_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "request_timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "service_unavailable_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def reply_body(asked: Asked, said: Said) -> dict[str, Any]:
    """Return the body of a good reply in the form of the protocol that was spoken."""
    if asked.protocol == "messages":
        return _message(asked, said)
    if asked.protocol == "completions":
        return _completion(asked, said)
    if asked.protocol == "responses":
        return _response(asked, said)
    if asked.protocol == "gemini":
        return _candidate(asked, said)
    return _chat_completion(asked, said)


def models_body(names: list[str]) -> dict[str, Any]:
    """Return the list of models."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in names],
    }


def error_body(asked: Asked, fault: Fault, request_id: str) -> bytes:
    """Return the body of an error in the form of the protocol that was spoken."""
    if fault.body is not None:
        return fault.body
    if asked.protocol == "messages":
        kind = fault.type or _ANTHROPIC_TYPES.get(fault.status, "api_error")
        error: dict[str, Any] = {"type": kind, "message": fault.message}
        return _dump({"type": "error", "error": error, "request_id": request_id})
    if asked.of_google:
        return _dump({"error": google_error(fault)})
    kind = fault.type or _OPENAI_TYPES.get(fault.status, "server_error")
    error = {"message": fault.message, "type": kind, "param": fault.param, "code": fault.code}
    return _dump({"error": error})


def google_error(fault: Fault) -> dict[str, Any]:
    """Return what stands under `error` where Google's service refuses; a `code` is the reason that it names."""
    about: list[dict[str, Any]] = []
    if fault.code is not None:
        about.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": fault.code})
    if (wait := fault.headers.get("retry-after")) is not None:
        about.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait}s"})
    kind = fault.type or _GOOGLE_STATUSES.get(fault.status, "INTERNAL")
    return {"code": fault.status, "message": fault.message, "status": kind, **({"details": about} if about else {})}


def unsupported(asked: Asked, name: str) -> Fault:
    """Return how a provider refuses a parameter that the model does not take."""
    if asked.of_google and name == "includeThoughts":
        return Fault(400, f"Thinking is not enabled for models/{asked.model}")
    if asked.of_google:
        return Fault(400, f"Invalid JSON payload received. Unknown name \"{name}\" at 'generation_config'")
    if asked.protocol == "messages":
        return Fault(400, f"`{name}` is not supported by this model.")
    if name == "max_tokens":
        words = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return Fault(400, words, param=name, code="unsupported_parameter")
    if name == "temperature":
        words = (
            f"'temperature' does not support {asked.body.get(name)} with this model. Only the default (1) is supported."
        )
        return Fault(400, f"Unsupported value: {words}", param=name, code="unsupported_value")
    return Fault(400, f"Unrecognized request argument supplied: {name}")


def wrong_key(asked: Asked) -> Fault:
    """Return the 401 for a missing or wrong key; like the services, it repeats part of what it was sent."""
    if asked.protocol == "messages":
        return Fault(401, "invalid x-api-key")
    if asked.of_google:
        return Fault(400, "API key not valid. Please pass a valid API key.", code="API_KEY_INVALID")
    if not asked.key:
        return Fault(401, "You didn't provide an API key.")
    return Fault(401, f"Incorrect API key provided: {asked.key}.", code="invalid_api_key")


def unknown_model(asked: Asked) -> Fault:
    """Return the 404 for a model that is not there."""
    if asked.protocol == "messages":
        return Fault(404, f"model: {asked.model}")
    if asked.of_google:
        return Fault(404, f"models/{asked.model} is not found for API version v1")
    words = f"The model `{asked.model}` does not exist or you do not have access to it."
    return Fault(404, words, code="model_not_found")


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return a body as bytes; lone surrogates stay as JSON escapes."""
    return _dump(body)


def _dump(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body).encode("ascii")


def _tokens(text: str | None) -> int:
    return len(text or "") // 4 + 1


def _chat_completion(asked: Asked, said: Said) -> dict[str, Any]:
    content: Any = said.text if said.content is None else said.content
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": said.refusal, **said.message}
    if said.reasoning is not None:
        message["reasoning_content"] = said.reasoning
    return {
        "id": f"chatcmpl-{asked.digest}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": said.model or f"{asked.model}-2026-01-01",
        "choices": [
            {"index": 0, "message": message, "logprobs": _chances(asked, said), "finish_reason": said.finish or "stop"}
        ],
        "usage": said.usage or _openai_usage(asked, said),
        "system_fingerprint": "fp_test",
    }


def _completion(asked: Asked, said: Said) -> dict[str, Any]:
    return {
        "id": f"cmpl-{asked.digest}",
        "object": "text_completion",
        "created": 1_790_000_000,
        "model": said.model or asked.model,
        "choices": [
            {
                "index": 0,
                "text": said.text,
                "logprobs": _completion_chances(asked, said),
                "finish_reason": said.finish or "stop",
            }
        ],
        "usage": said.usage or _openai_usage(asked, said),
    }


def _chances(asked: Asked, said: Said) -> dict[str, Any] | None:
    """Return the log-probabilities of a chat completion, if they are asked for and known."""
    if said.logprobs is None or asked.body.get("logprobs") is not True:
        return None
    most = asked.body.get("top_logprobs", 0)
    content = []
    for token, likely in said.logprobs:
        top = [{"token": name, "logprob": chance, "bytes": None} for name, chance in _ranked(likely)[:most]]
        content.append({"token": token, "logprob": math.log(likely[token]), "bytes": None, "top_logprobs": top})
    return {"content": content, "refusal": None}


def _completion_chances(asked: Asked, said: Said) -> dict[str, Any] | None:
    """Return the log-probabilities of an older completion, if they are asked for and known."""
    most = asked.body.get("logprobs")
    if said.logprobs is None or not isinstance(most, int):
        return None
    return {
        "tokens": [token for token, _ in said.logprobs],
        "token_logprobs": [math.log(likely[token]) for token, likely in said.logprobs],
        "top_logprobs": [dict(_ranked(likely)[:most]) for _, likely in said.logprobs],
        "text_offset": [0] * len(said.logprobs),
    }


def _ranked(likely: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(((name, math.log(p)) for name, p in likely.items()), key=lambda pair: -pair[1])


def _message(asked: Asked, said: Said) -> dict[str, Any]:
    blocks: list[Mapping[str, Any]] = []
    if said.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": said.reasoning, "signature": "c2lnbmVk"})
    if said.text:
        blocks.append({"type": "text", "text": said.text})
    return {
        "id": f"msg_{asked.digest}",
        "type": "message",
        "role": "assistant",
        "model": said.model or asked.model,
        "content": blocks if said.content is None else said.content,
        "stop_reason": said.finish or "end_turn",
        "stop_sequence": None,
        "usage": said.usage
        or {
            "input_tokens": sum(map(_tokens, asked.texts)),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": _tokens(said.text),
        },
    }


def _openai_usage(asked: Asked, said: Said) -> dict[str, Any]:
    prompt, reply = sum(map(_tokens, asked.texts)), _tokens(said.text)
    thought = _tokens(said.reasoning) if said.reasoning else 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": reply + thought,
        "total_tokens": prompt + reply + thought,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": thought, "audio_tokens": 0},
    }


def _response(asked: Asked, said: Said) -> dict[str, Any]:
    """Return the body of a response; `finish` is `completed` or the reason why it is incomplete."""
    part: dict[str, Any] = {"type": "output_text", "text": said.text, "annotations": []}
    if said.refusal is not None:
        part = {"type": "refusal", "refusal": said.refusal}
    thoughts = [] if said.reasoning is None else [{"type": "summary_text", "text": said.reasoning}]
    whole = said.finish in (None, "completed")
    usage = {"input_tokens": sum(map(_tokens, asked.texts)), "output_tokens": _tokens(said.text)}
    return {
        "id": f"resp_{asked.digest}",
        "object": "response",
        "status": "completed" if whole else "incomplete",
        "incomplete_details": None if whole else {"reason": said.finish},
        "error": None,
        "model": said.model or f"{asked.model}-2026-01-01",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": thoughts},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]},
        ],
        "usage": said.usage or usage,
    }


def _candidate(asked: Asked, said: Said) -> dict[str, Any]:
    """Return the body of Gemini's reply; what it thought comes as a part, and sealed with the text."""
    prompt, reply = sum(map(_tokens, asked.texts)), _tokens(said.text)
    thought = _tokens(said.reasoning) if said.reasoning else 0
    usage = {"promptTokenCount": prompt, "totalTokenCount": prompt + reply + thought}
    head = {"modelVersion": said.model or asked.model, "responseId": asked.digest}
    if said.refusal is not None:
        return {**head, "promptFeedback": {"blockReason": said.refusal}, "usageMetadata": usage}
    parts: list[Mapping[str, Any]] = [{"text": said.text}] if said.text else []
    if said.reasoning is not None:
        sealed = base64.b64encode(f"sealed {asked.digest}".encode()).decode()
        shown = [{"text": said.reasoning, "thought": True}] if asked.fields.get("includeThoughts") else []
        parts = [*shown, *({**part, "thoughtSignature": sealed} for part in parts)]
        usage["thoughtsTokenCount"] = thought
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": parts if said.content is None else said.content},
        "finishReason": said.finish or "STOP",
        "index": 0,
    }
    if said.logprobs is not None and asked.fields.get("responseLogprobs"):
        ranked = [_ranked(likely)[: asked.fields["logprobs"]] for _, likely in said.logprobs]
        told = [[{"token": t, "logProbability": p} for t, p in each] for each in ranked]
        chosen = [{"token": t, "logProbability": math.log(likely[t])} for t, likely in said.logprobs]
        candidate["logprobsResult"] = {"topCandidates": [{"candidates": e} for e in told], "chosenCandidates": chosen}
    return {**head, "candidates": [candidate], "usageMetadata": said.usage or {**usage, "candidatesTokenCount": reply}}
