"""Options of a request other than sampling: a JSON schema of the reply, and the log-probabilities of its tokens.

A schema is optional: if a provider refuses it, the call is repeated without, which is remembered, and the reply has
`structured: false` in what was applied. Log-probabilities are required: a judge set that uses them is not
scored in any other way, so an endpoint that returns none ends the run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from harness.old.chat.body import at, list_at
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.parameters import SCHEMAS, Parameters
from harness.old.chat.thinking import storable
from harness.old.errors import ChatError, EndpointError, TransientError
from harness.old.records import Reply, Request, TokenLogprobs

_LOGPROBS_PARAMETERS = ("logprobs", "top_logprobs", "include", "response_logprobs")


class NoLogprobsError(EndpointError):
    """An endpoint returns no log-probabilities where a verdict is to be read from them."""

    def __init__(self, what: str, needed_by: str = "scoring by them") -> None:
        advice = "use an endpoint that returns them, or a judge set with score_method text"
        super().__init__(f"{what}, which {needed_by} needs; {advice}", kind="no log-probabilities")
        self._what = what

    def about(self, judge_set: str) -> "NoLogprobsError":
        """Return the same error, which says what needs them."""
        return NoLogprobsError(self._what, f"the judge set {judge_set}")


def strict(schema: Any) -> Any:
    """Return the schema as the providers demand it: every object closed, every property of it required."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    return made


def told(reply: Reply, request: Request, sent: Parameters, endpoint: Endpoint) -> Reply:
    """Return the reply with what was applied: the sampling that was sent, and whether it follows the requested schema.

    Raises:
        EndpointError: log-probabilities were requested, but a reply with a text has none.
    """
    if request.top_logprobs is not None and reply.logprobs is None and reply.text.strip():
        raise no_logprobs(endpoint)
    applied: dict[str, Any] = {
        name: value for name, value in sent.items() if name not in (*SCHEMAS, *_LOGPROBS_PARAMETERS)
    }
    if request.top_logprobs is not None:
        applied["top_logprobs"] = request.top_logprobs
    note = reply.note
    if request.schema is not None:
        applied["structured"] = any(name in sent for name in SCHEMAS)
        if not applied["structured"]:
            note = note or f"{endpoint.name} takes no JSON schema; asked for JSON in the prompt only"
    return replace(reply, applied=applied, note=note)


def refused_logprobs(error: ChatError, request: Request, endpoint: Endpoint) -> EndpointError | None:
    """Return the error that ends the run, if this one is a server's refusal of log-probabilities; else None."""
    if request.top_logprobs is None or isinstance(error, TransientError) or "logprobs" not in str(error).lower():
        return None
    return no_logprobs(endpoint, str(error))


def no_logprobs(endpoint: Endpoint, said: str = "") -> NoLogprobsError:
    """Return the error about an endpoint that returns no log-probabilities; `said` is its answer."""
    where = f" at {endpoint.base_url}" if endpoint.base_url else ""
    return NoLogprobsError(f"{endpoint.name}{where} returns no log-probabilities" + (f" ({said})" if said else ""))


def token_logprobs(content: Any) -> tuple[TokenLogprobs, ...] | None:
    """Return the log-probabilities in a list of tokens; None if there are none or they are no such thing."""
    if not isinstance(content, list) or not content:
        return None
    read = [_token(place) for place in content]
    return tuple(token for token in read if token is not None) if None not in read else None


def completion_logprobs(choice: Any) -> tuple[TokenLogprobs, ...] | None:
    """Return the log-probabilities of an older completion's tokens, which come as three parallel lists."""
    tokens, chances, tops = (list_at(choice, "logprobs", name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if len(tokens) != len(chances):
        return None
    tops = tops if len(tops) == len(tokens) else [None] * len(tokens)
    places = [
        {"token": token, "logprob": chance, "top_logprobs": _pairs(top)}
        for token, chance, top in zip(tokens, chances, tops, strict=True)
    ]
    return token_logprobs(places)


def _pairs(top: Any) -> list[dict[str, Any]]:
    """Return the likeliest tokens of one place, which come as an object with a field for each."""
    listed = top.items() if isinstance(top, dict) else ()
    return [{"token": token, "logprob": chance} for token, chance in listed]


def _token(place: Any) -> TokenLogprobs | None:
    token, chance = at(place, "token"), at(place, "logprob")
    if not isinstance(token, str) or not _is_number(chance):
        return None
    pairs = ((at(one, "token"), at(one, "logprob")) for one in list_at(place, "top_logprobs"))
    return TokenLogprobs(storable(token), float(chance), _ranked(pairs))


def _ranked(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[str, float], ...]:
    """Return the tokens with their log-probabilities, the likeliest first; what is neither is left out."""
    good = [(storable(t), float(chance)) for t, chance in pairs if isinstance(t, str) and _is_number(chance)]
    return tuple(sorted(good, key=lambda pair: -pair[1]))


def _is_number(value: Any) -> TypeGuard[float]:
    """Return whether it is a log-probability: a number, and not NaN."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
