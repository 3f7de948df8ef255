"""Where a chat model is and how it is reached: `resolve` makes an `Endpoint`, `open()` opens it."""

import os
import re
from typing import Annotated, Protocol
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from harness import registry
from harness.errors import MissingError, UsageError, require
from harness.models.prices import Price
from harness.models.providers import PROVIDERS, Provider
from harness.types import Reply, Request, Sampling

TIMEOUT = 600.0
"""Seconds that one call may take, where nothing else is said."""

Name = Annotated[str, Meta(min_length=1)]
Variable = Annotated[str, Meta(pattern=r"^[A-Z_][A-Z0-9_]*$")]
"""An environment variable; the pattern refuses most keys that are typed in its place."""
Seconds = Annotated[float, Meta(gt=0)]


class ChatModel(Protocol):
    """Anything that turns messages into a reply; one instance serves many calls of one event loop.

    `reply` makes one attempt, repaired where the endpoint refuses a parameter or the like, and
    never waits and tries again: that is decided in `harness.running`.
    """

    name: str
    """The name that the user gave; answers and judgments are filed under it."""

    async def reply(self, request: Request) -> Reply:
        """Return the model's reply; a prompt that the provider refuses is a reply "refused".

        Raises:
            TransientError: a later try may succeed.
            EndpointError: no call to this endpoint can succeed.
            ChatError: this request would fail again.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class RateLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """What an endpoint allows; None: unknown."""

    parallel: Annotated[int, Meta(ge=1)] | None = None
    """Calls in flight at once."""
    rpm: Annotated[float, Meta(gt=0)] | None = None
    """Calls in a minute."""
    tpm: Annotated[float, Meta(gt=0)] | None = None
    """Tokens in a minute, prompt and reply."""


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """How local weights are loaded and used."""

    dtype: str = "auto"
    """The precision; `auto`: that in which they are stored."""
    device: str | None = None
    """Such as `cuda:1`; `auto`: all GPUs together; None: a GPU if there is one."""
    batch_size: Annotated[int, Meta(ge=1)] = 16
    """Conversations that are computed at once, unless the memory is too small for them."""


class PoolMember(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One address of a pool; what it does not state is as in the model's own table."""

    model: Name | None = None
    """The name that is sent; at Azure, the deployment."""
    base_url: Name | None = None
    api_key_env: Variable | None = None
    """The variable that holds the key, never the key itself."""
    api_version: Name | None = None
    """Azure's or Gemini's version of the interface."""
    limits: RateLimits | None = None


class ModelConfig(PoolMember, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table `[models.NAME]` of turnbench.toml, or what flags say in its place.

    [models."judge"]
    provider = "azure"
    model = "gpt-4.1"
    base_url = "https://acme.openai.azure.com"
    api_version = "2024-10-21"
    price = {prompt = 2.0, completion = 8.0}
    """

    provider: Name | None = None
    conv_template: Name | None = None
    """For `completions`: the exact name of an fschat template."""
    path: Name | None = None
    """Local weights: a folder, or a repository of the Hugging Face hub."""
    dtype: Name | None = None
    device: Name | None = None
    batch_size: Annotated[int, Meta(ge=1)] | None = None
    timeout: Seconds | None = None
    """Seconds that one call may take."""
    price: Price | None = None
    sampling: Sampling = Sampling()
    """Where neither a flag nor the benchmark sets a parameter."""
    endpoints: list[PoolMember] = []
    """Several addresses or keys of one model, `[[models.NAME.endpoints]]`."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """One chat model's address. Never holds a key, only the name of the variable that does."""

    name: str
    """The name that the user gave."""
    provider: str
    """Which protocol is spoken: a name of the registry's kind `provider`."""
    model: str
    """The model string that is sent; of local weights the folder or repository."""
    base_url: str = ""
    stated: bool = False
    """Whether a flag or turnbench.toml gives the address: then nothing that the environment holds
    for the provider is sent there but the key in `api_key_env`."""
    api_key_env: str | None = None
    """None: no key is sent."""
    conv_template: str | None = None
    api_version: str | None = None
    timeout: float = TIMEOUT
    limits: RateLimits = RateLimits()
    price: Price | None = None
    """None: unknown."""
    weights: Weights | None = None
    sampling: Sampling = Sampling()
    """Where neither a flag nor the benchmark sets a parameter."""
    typed: frozenset[str] = frozenset()
    """Sampling parameters that the user gave as flags: these are never left out."""
    pool: "tuple[Endpoint, ...]" = ()
    """Further addresses or keys of the same model, each with its own limits; opened one by one."""

    @property
    def is_loopback(self) -> bool:
        """Whether the model runs on this machine: nothing is asked before calls to it."""
        if self.provider in ("builtin", "builtin_judge", "local"):
            return True
        host = urlsplit(self.base_url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    def key(self) -> str | None:
        """Return the key from the environment; None if none is sent.

        Raises:
            MissingError: the variable holds none, or a text with spaces.
        """
        if self.api_key_env is None:
            return None
        value = os.environ.get(self.api_key_env, "").strip()
        if not re.fullmatch("[!-~]+", value):
            variable = self.api_key_env
            what = "is not set" if not value else "holds spaces or other characters than a key has"
            text = f"{self.name}: the environment variable {variable} {what}"
            raise MissingError(f"{text}; set it: export {variable}=...")
        return value

    def open(self) -> ChatModel:
        """Return the chat model at this address, not those of its pool.

        Connections are made by its first call.

        Raises:
            MissingError: the key, or the provider's package, is not there.
        """
        self._check_package()
        model: ChatModel = registry.find("provider", self.provider)(self)
        return model

    def _check_package(self) -> None:
        about = PROVIDERS.get(self.provider, Provider())
        try:
            require(about.extra, *about.modules)
        except MissingError as error:
            raise MissingError(f"{self.name}: {self.provider} {error}") from None

    def check(self, sampling: Sampling) -> None:
        """Refuse, before the first call, what cannot work at this endpoint.

        A seed, a temperature or a top_p that the protocol does not have is left out.

        Raises:
            UsageError: one of these parameters cannot be sent.
            MissingError: the provider's package is not there.
        """
        self._check_package()
        for member in self.pool:
            member._check_package()
        parameters = PROVIDERS.get(self.provider, Provider()).parameters
        for name in sampling.stated():
            if parameters and name not in parameters and name not in _ALWAYS:
                raise UsageError(
                    f"{self.name}: {self.provider} takes no {name}; it takes"
                    f" {', '.join(sorted(parameters))}, and other fields as extra_body.NAME"
                )
        for name in sampling.extra_body or {}:
            if name in _RESERVED:
                raise UsageError(f"{self.name}: extra_body.{name} would replace what is sent")
        for name in sampling.extra_headers or {}:
            if any(word in name.lower() for word in ("auth", "key", "token", "cookie", "secret")):
                raise UsageError(
                    f"{self.name}: extra_headers.{name} may hold a key;"
                    " keys come only from the environment"
                )
        budget, limit = sampling.thinking_budget, sampling.max_tokens
        if budget and limit and budget >= limit:
            raise UsageError(
                f"{self.name}: thinking_budget {budget} leaves none of the {limit} tokens that a"
                " reply may have; raise --max-tokens above it"
            )


_ALWAYS = ("seed", "temperature", "top_p", "extra_body", "extra_headers")
_RESERVED = ("model", "messages", "prompt", "input", "contents", "max_tokens", "stream", "n")
"""Fields of a body that turnbench fills, or that would change what kind of reply comes."""
