"""Where a chat model is and how to speak to it, as resolved from its name, the flags and the environment."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Provider: TypeAlias = Literal["openai", "anthropic", "completions", "builtin"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One chat model's address. Never holds a key, only the name of the variable that does."""

    name: str
    """The name that the user gave."""
    provider: Provider
    """Which protocol is spoken; `completions` is OpenAI's older `/v1/completions` with a conversation template."""
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
