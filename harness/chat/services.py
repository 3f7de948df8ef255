"""The table of providers: which model names are whose, and where their keys and addresses are found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.chat.endpoint import Provider

BUILTIN = "builtin/"


@dataclass(frozen=True, slots=True)
class Service:
    """One provider of chat models, as the table knows it."""

    provider: Provider
    title: str
    prefixes: tuple[str, ...]
    """How its models' names begin; one without a final `-` or `:` is a whole name or goes on with `-`."""
    examples: tuple[str, ...]
    """Names shown to a user who mistyped one."""
    key_variable: str
    url_variable: str
    address: str
    """Its own address; empty where every customer has one of their own."""
    package: str
    minimum: tuple[int, ...]

    def knows(self, name: str) -> bool:
        """Return whether this name is one of the provider's."""
        return any(
            name.startswith(p) if p[-1] in "-:" else name == p or name.startswith(f"{p}-") for p in self.prefixes
        )


OPENAI = Service(
    provider="openai",
    title="OpenAI",
    prefixes=("gpt-", "chatgpt-", "o1", "o3", "o4", "ft:gpt-"),
    examples=("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-mini", "o3", "o4-mini", "chatgpt-4o-latest"),
    key_variable="OPENAI_API_KEY",
    url_variable="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    package="openai",
    minimum=(3, 0),
)
ANTHROPIC = Service(
    provider="anthropic",
    title="Anthropic",
    prefixes=("claude-",),
    examples=("claude-sonnet-4", "claude-opus-4", "claude-haiku-4"),
    key_variable="ANTHROPIC_API_KEY",
    url_variable="ANTHROPIC_BASE_URL",
    address="https://api.anthropic.com",
    package="anthropic",
    minimum=(2, 0),
)
AZURE = replace(
    OPENAI,
    provider="azure",
    title="Azure OpenAI",
    prefixes=(),
    examples=(),
    key_variable="AZURE_OPENAI_API_KEY",
    url_variable="AZURE_OPENAI_ENDPOINT",
    address="",
)
AZURE_VERSION_VARIABLE = "OPENAI_API_VERSION"
SERVICES: dict[Provider, Service] = {
    "openai": OPENAI,
    "azure": AZURE,
    "anthropic": ANTHROPIC,
    "completions": replace(OPENAI, provider="completions", prefixes=(), examples=()),
}


def service_of(name: str) -> Service | None:
    """Return the provider that a model's name belongs to by its beginning, if any."""
    return next((service for service in SERVICES.values() if service.knows(name)), None)


def own_address(service: Service, environment: Mapping[str, str]) -> str | None:
    """Return the address that the environment gives for a provider, if any."""
    return environment.get(service.url_variable, "").strip() or None
