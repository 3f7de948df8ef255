"""What is known of each provider before the first call: its names, keys, address and parameters.

How a provider is called is in its own file, which the registry's kind `provider` names.
"""

from collections.abc import Mapping
from typing import NamedTuple

from harness.errors import MissingError
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
_OPENAI = (("openai", (3, 0)),)


class Provider(NamedTuple):
    """One provider of chat models; the defaults are those of a package that adds one."""

    title: str = ""
    prefixes: tuple[str, ...] = ()
    """How its models' names begin; without a final `-` or `:` a whole name, or followed by `-`."""
    examples: tuple[str, ...] = ()
    """Names that a user may have meant."""
    key_variables: tuple[str, ...] = ()
    """Environment variables of the key, the first that is set counts."""
    url_variable: str = ""
    address: str = ""
    """Its own address; empty where every customer has one of their own."""
    packages: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """What must be installed, with the least version."""
    parameters: Mapping[str, str] = {}
    """Each parameter of `Sampling` that the protocol has, and its name there; empty: unknown."""
    batch_service: str | None = None

    def knows(self, name: str) -> bool:
        """Return whether a model's name is one of the provider's."""
        return any(
            name.startswith(prefix)
            if prefix[-1] in "-:"
            else name == prefix or name.startswith(f"{prefix}-")
            for prefix in self.prefixes
        )

    def require_packages(self) -> None:
        """Raise `MissingError` that says what to install, unless all is there."""
        from importlib.metadata import PackageNotFoundError, version  # not for built-in models

        for package, least in self.packages:
            wanted = ".".join(map(str, least))
            advice = f"install it: pip install '{package}>={wanted}'"
            try:
                installed = version(package)
            except PackageNotFoundError:
                message = f"the package {package} is not installed; {advice}"
                raise MissingError(message) from None
            numbers = [int(part) for part in installed.split(".")[: len(least)] if part.isdigit()]
            if tuple(numbers) < least:
                raise MissingError(f"the package {package} {installed} is too old; {advice}")


_OPENAI_PROVIDER = Provider(
    title="OpenAI",
    prefixes=("gpt-", "chatgpt-", "o1", "o3", "o4", "ft:gpt-"),
    examples=("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o3", "o4-mini"),
    key_variables=("OPENAI_API_KEY",),
    url_variable="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    packages=_OPENAI,
    parameters=OPENAI_PARAMETERS,
    batch_service="openai",
)

PROVIDERS: dict[str, Provider] = {
    "openai_responses": _OPENAI_PROVIDER._replace(
        title="OpenAI's responses",
        prefixes=(
            "o1-pro",
            "o3-pro",
            "gpt-5-pro",
            "gpt-5-codex",
            "o3-deep-research",
            "o4-mini-deep-research",
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
        batch_service=None,
    ),
    "anthropic": Provider(
        title="Anthropic",
        prefixes=("claude-",),
        examples=("claude-sonnet-4-6", "claude-opus-4-8", "claude-haiku-4-5"),
        key_variables=("ANTHROPIC_API_KEY",),
        url_variable="ANTHROPIC_BASE_URL",
        address="https://api.anthropic.com",
        packages=(("anthropic", (2, 0)),),
        parameters=ANTHROPIC_PARAMETERS,
        batch_service="anthropic",
    ),
    "gemini": Provider(
        title="Google Gemini",
        prefixes=("gemini-",),
        examples=("gemini-2.5-flash", "gemini-2.5-pro", "gemini-3.8-flash"),
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        url_variable="GOOGLE_GEMINI_BASE_URL",
        address="https://generativelanguage.googleapis.com",
        packages=(("google-genai", (3,)),),
        parameters=GEMINI_PARAMETERS,
        batch_service="gemini",
    ),
    "completions": _OPENAI_PROVIDER._replace(
        title="Completions",
        prefixes=(),
        examples=(),
        address="",
        packages=(*_OPENAI, ("fschat", (0, 2, 36))),
        parameters=COMPLETIONS_PARAMETERS,
        batch_service=None,
    ),
    "local": Provider(title="local weights"),
    "builtin": Provider(title="built in"),
    "builtin_judge": Provider(title="built in"),
}
"""In the order in which the beginnings of names are tried."""


def provider_of(name: str) -> str | None:
    """Return the provider that a model's name belongs to by its beginning, if any."""
    return next((each for each, provider in PROVIDERS.items() if provider.knows(name)), None)
