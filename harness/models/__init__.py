"""Chat models: from a name to `async reply(request) -> Reply`.

    endpoint = resolve("gpt-4o", options, project.models)     # names, flags, turnbench.toml, keys
    model = endpoint.open()                                   # a `ChatModel`; nothing is sent yet
    reply = await model.reply(Request(messages=[...]))        # one attempt, repaired where refused

One file a provider, found through the registry's kind `provider`. No other room asks which provider
it has.
"""

from harness.models.endpoint import (
    ChatModel,
    Endpoint,
    EndpointOptions,
    Limits,
    ModelConfig,
    PoolMember,
    Weights,
)
from harness.models.prices import FREE, Price, list_price, most_tokens, price_list
from harness.models.reasoning import split_reasoning
from harness.models.resolving import BUILTIN_JUDGES, BUILTIN_MODELS, resolve

__all__ = [
    "BUILTIN_JUDGES",
    "BUILTIN_MODELS",
    "FREE",
    "ChatModel",
    "Endpoint",
    "EndpointOptions",
    "Limits",
    "ModelConfig",
    "PoolMember",
    "Price",
    "Weights",
    "list_price",
    "most_tokens",
    "price_list",
    "resolve",
    "split_reasoning",
]
