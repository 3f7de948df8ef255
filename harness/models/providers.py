"""What is known of each provider before the first call: its names, keys, address and parameters.

How a provider is called is in its own file, which the registry's kind `provider` names.
"""

from collections.abc import Mapping
from typing import NamedTuple

from harness.types import Sampling

_ALL = Sampling.__struct_fields__
OPENAI_PARAMETERS = {name: name for name in _ALL if name != "thinking_budget"}
"""Sampling's parameters by the protocol's names. What OpenAI itself does not take (`top_k`,
`min_p`, `repetition_penalty`) other servers do, under the same names."""
COMPLETIONS_PARAMETERS = {k: v for k, v in OPENAI_PARAMETERS.items() if k != "reasoning_effort"}
RESPONSES_PARAMETERS = {
    **{name: name for name in ("temperature", "top_p", "extra_body", "extra_headers")},
    "max_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning",
}
ANTHROPIC_PARAMETERS = {
    **{name: name for name in ("temperature", "top_p", "top_k", "max_tokens")},
    **{name: name for name in ("extra_body", "extra_headers")},
    "stop": "stop_sequences",
    "thinking_budget": "thinking",
    "reasoning_effort": "effort",
}
GEMINI_PARAMETERS = {
    **{name: name for name in ("temperature", "top_p", "top_k", "seed", "thinking_budget")},
    **{name: name for name in ("frequency_penalty", "presence_penalty")},
    **{name: name for name in ("extra_body", "extra_headers")},
    "max_tokens": "max_output_tokens",
    "stop": "stop_sequences",
    "reasoning_effort": "thinking_level",
}


class Provider(NamedTuple):
    """One provider of chat models; the defaults are those of a package that adds one."""

    title: str = ""
    prefixes: tuple[str, ...] = ()
    """How its models' names begin."""
    examples: tuple[str, ...] = ()
    """Names that a user may have meant."""
    key_variables: tuple[str, ...] = ()
    """Environment variables of the key, the first that is set counts."""
    url_variable: str = ""
    address: str = ""
    """Its own address; empty where every customer has one of their own."""
    parameters: Mapping[str, str] = {}
    """Each parameter of `Sampling` that the protocol has, and its name there; empty: unknown."""


_OPENAI_PROVIDER = Provider(
    title="OpenAI",
    prefixes=("gpt-", "chatgpt-", "o1", "o3", "o4", "ft:gpt-"),
    examples=("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o3", "o4-mini"),
    key_variables=("OPENAI_API_KEY",),
    url_variable="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    parameters=OPENAI_PARAMETERS,
)

PROVIDERS: dict[str, Provider] = {
    "openai_responses": _OPENAI_PROVIDER._replace(
        title="OpenAI's responses",
        prefixes=(
            "o1-pro",
            "o3-pro",
            "gpt-5-pro",
            "gpt-5-codex",
            "o3-deep",
            "o4-mini-deep",
            "codex-",
        ),
        examples=("o3-pro", "gpt-5-pro"),
        parameters=RESPONSES_PARAMETERS,
    ),
    "openai": _OPENAI_PROVIDER,
    "azure": _OPENAI_PROVIDER._replace(
        title="Azure OpenAI",
        prefixes=(),
        examples=(),
        key_variables=("AZURE_OPENAI_API_KEY",),
        url_variable="AZURE_OPENAI_ENDPOINT",
        address="",
    ),
    "anthropic": Provider(
        title="Anthropic",
        prefixes=("claude-",),
        examples=("claude-sonnet-4-6", "claude-opus-4-8", "claude-haiku-4-5"),
        key_variables=("ANTHROPIC_API_KEY",),
        url_variable="ANTHROPIC_BASE_URL",
        address="https://api.anthropic.com",
        parameters=ANTHROPIC_PARAMETERS,
    ),
    "gemini": Provider(
        title="Google Gemini",
        prefixes=("gemini-",),
        examples=("gemini-2.5-flash", "gemini-2.5-pro", "gemini-3.8-flash"),
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        url_variable="GOOGLE_GEMINI_BASE_URL",
        address="https://generativelanguage.googleapis.com",
        parameters=GEMINI_PARAMETERS,
    ),
    "completions": _OPENAI_PROVIDER._replace(
        title="Completions",
        prefixes=(),
        examples=(),
        address="",
        parameters=COMPLETIONS_PARAMETERS,
    ),
    "local": Provider(title="local weights"),
    "builtin": Provider(title="built in"),
    "builtin_judge": Provider(title="built in"),
}
"""In the order in which the beginnings of names are tried."""


def provider_of(name: str) -> str | None:
    """Return the provider that a model's name belongs to by its beginning, if any."""
    for each, provider in PROVIDERS.items():
        if name.startswith(provider.prefixes):
            return each
    return None
