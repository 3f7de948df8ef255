"""The table of providers: a name, and the file of its protocol. Nothing else in the harness lists them.

A provider's file defines `SERVICE`: which model names are its own, where its key and address are found, and how a chat
model of it is opened. What it opens need only be a `ChatModel`; `RemoteModel` saves work where there is an SDK of the
usual shape.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.old.chat.endpoint import Endpoint
from harness.old.chat.model import ChatModel
from harness.old.errors import MissingError, UsageError

BUILTIN = "builtin/"

PROVIDERS: dict[str, str] = {
    "openai_responses": "harness.old.chat.openai_responses",
    "openai": "harness.old.chat.openai_chat",
    "azure": "harness.old.chat.openai_azure",
    "anthropic": "harness.old.chat.anthropic_messages",
    "gemini": "harness.old.chat.gemini",
    "completions": "harness.old.chat.openai_completions",
    "local": "harness.old.chat.local.model",
}
"""A provider's name in models.toml, and its file. The order is that in which the beginnings of names are tried."""
COMPATIBLE = "openai"
"""The provider whose protocol is assumed for a server with a stated address."""
LOCAL = "local"
"""The provider of weights that are loaded into this process."""
TEMPLATED = "completions"
"""The provider that `--conv-template` is for."""


class Caching(NamedTuple):
    """Which beginning of a prompt a provider has in its cache once it was sent, for minutes."""

    least: int
    """Tokens; a shorter one is not cached."""
    step: int = 1

    def cached(self, beginning: float) -> float:
        """Return how many tokens of a prefix of this length come from the cache the next time."""
        return 0.0 if beginning < self.least else self.least + (beginning - self.least) // self.step * self.step


@dataclass(frozen=True, slots=True)
class Service:
    """One provider of chat models."""

    title: str
    key_variable: str
    url_variable: str
    open: Callable[[Endpoint, str | None, str], ChatModel]
    """Makes the chat model of an endpoint, given the key (None: none is sent) and the address."""
    address: str = ""
    """Its own address; empty where every customer has one of their own."""
    prefixes: tuple[str, ...] = ()
    """How its models' names begin; one without a final `-` or `:` is a whole name or goes on with `-`."""
    examples: tuple[str, ...] = ()
    """Names shown to a user who mistyped one."""
    packages: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """What must be installed, each with its least version."""
    settled: Callable[[Endpoint, Mapping[str, str]], Endpoint] = lambda endpoint, environment: endpoint
    """Returns an endpoint with what only this provider needs, or raises `UsageError` that says what is missing."""
    batches: Callable[[Any], Any] | None = None
    """Makes the object that submits batches for a chat model (`batches.Batches`); None: it has none."""

    caching: Callable[[Endpoint], Caching | None] = lambda endpoint: None
    """The published rules of its cache for the prompts of a model; None: unknown."""
    other_key_variables: tuple[str, ...] = ()
    """Other variables of the key if `key_variable` is empty."""
    sampling: Mapping[str, str] = field(default_factory=dict)
    """Each parameter of `Sampling` that its protocol has, and its name there."""

    def knows(self, name: str) -> bool:
        """Return whether this name is one of the provider's."""
        return any(
            name.startswith(p) if p[-1] in "-:" else name == p or name.startswith(f"{p}-") for p in self.prefixes
        )


def service(provider: str) -> Service:
    """Return the `SERVICE` in the file of a provider."""
    module = PROVIDERS[provider]
    found = getattr(importlib.import_module(module), "SERVICE", None)
    if not isinstance(found, Service):
        raise UsageError(f"{module} is in the table of providers but defines no SERVICE")
    return found


def services() -> dict[str, Service]:
    """Return all providers by name."""
    return {provider: service(provider) for provider in PROVIDERS}


def provider_of(name: str) -> str | None:
    """Return the provider that a model's name belongs to by its beginning, if any."""
    return next((provider for provider, service in services().items() if service.knows(name)), None)


def own_address(service: Service, environment: Mapping[str, str]) -> str | None:
    """Return the address that the environment gives for a provider, if any."""
    return environment.get(service.url_variable, "").strip() or None


def require(package: str, minimum: tuple[int, ...]) -> None:
    """Raise `MissingError` that says what to install unless a package is installed in a new enough version."""
    needed = ".".join(map(str, minimum))
    install = f"install it: pip install '{package}>={needed}'"
    from importlib.metadata import PackageNotFoundError, version  # it imports email: not for built-in models

    try:
        installed = version(package)
    except PackageNotFoundError:
        raise MissingError(f"the package {package} is not installed; {install}") from None
    numbers = tuple(int(part) for part in installed.split(".")[: len(minimum)] if part.isdigit())
    if numbers < minimum:
        raise MissingError(f"the package {package} is version {installed}, too old; {install}")
