"""Chat models: from a name to `async reply(request) -> Reply`.

    endpoint = resolve("gpt-4o", flags, project.models)     # names, flags, turnbench.toml, keys
    model = endpoint.open()                                   # a `ChatModel`; nothing is sent yet
    reply = await model.reply(Request(messages=[...]))        # one attempt, repaired where refused

One file a provider, found through the registry's kind `provider`. No other room asks which provider
it has.
"""

from harness.models.endpoint import (
    ChatModel,
    Endpoint,
    ModelConfig,
    PoolMember,
    RateLimits,
    Weights,
)
from harness.models.prices import FREE, Price, list_price
from harness.models.resolving import address_of, resolve

__all__ = [
    "FREE",
    "ChatModel",
    "Endpoint",
    "ModelConfig",
    "PoolMember",
    "Price",
    "RateLimits",
    "Weights",
    "address_of",
    "list_price",
    "resolve",
]
