"""The address and protocol of a chat model, as resolved from its name, the flags and the environment."""

from dataclasses import dataclass, field
from typing import Annotated

from harness.old.bounds import AT_ONCE, CALLS_A_MINUTE, COUNT, TOKENS_A_MINUTE
from harness.old.chat.price import Price
from harness.old.records import Sampling
from harness.old.written import Wanted

SILENCE = 240.0
"""Seconds without a byte after which a call to a server that has not answered yet is given up, where no time limit is
stated: one that never answers is found out in minutes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an endpoint allows; None: unknown."""

    parallel: Annotated[int, AT_ONCE] | None = None
    """Calls in flight at once."""
    rpm: Annotated[float, CALLS_A_MINUTE] | None = None
    """Calls in a minute."""
    tpm: Annotated[float, TOKENS_A_MINUTE] | None = None
    """Tokens in a minute, prompt and reply."""


DTYPES = ("auto", "float32", "float16", "bfloat16")
DTYPE = Wanted(", ".join(DTYPES), lambda name: name in DTYPES)


@dataclass(frozen=True, slots=True)
class Weights:
    """How local weights are loaded and used."""

    dtype: Annotated[str, DTYPE] = "auto"
    """The precision; `auto`: that in which they are stored."""
    device: str | None = None
    """Such as `cuda:1`; `auto`: all GPUs of the process together; None: a GPU if there is one."""
    batch_size: Annotated[int, COUNT] = 16
    """Conversations that are computed at once, unless the memory is too small for them."""


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One chat model's address. Never holds a key, only the name of the variable that does."""

    name: str
    """The name that the user gave."""
    provider: str
    """Which protocol is spoken, by its name in the table of `services.py`; `builtin`: none."""
    model: str
    """The model string that is sent."""
    base_url: str | None = None
    """None: the provider's own address, as its SDK knows it."""
    api_key_env: str | None = None
    """The environment variable that holds the key; None: no key is sent."""
    conv_template: str | None = None
    """For `completions`: the exact name of an fschat conversation template."""
    timeout: float = 600.0
    """Seconds that one whole call may take."""
    silence: float = SILENCE
    """Seconds that may pass without a byte from the server, as long as it has never answered."""
    api_version: str | None = None
    """For `azure`: the version of its interface; `model` is the deployment's name."""
    stated: bool = False
    """Whether a flag or models.toml states the address. What the environment holds for the provider besides (headers,
    an organization) is then not for this server."""
    limits: Limits = Limits()
    price: Price | None = None
    """None: unknown. A built-in model costs nothing."""
    weights: Weights | None = None
    """For `local`: `model` is a folder or repository, and this is how it is loaded."""
    sampling: Sampling = field(default_factory=Sampling)
    """Default sampling if neither a flag nor the benchmark sets it."""
    pool: "tuple[Endpoint, ...]" = ()
    """Further endpoints (or keys) for the same model, each with its own limits."""
