"""OpenAI's models at Azure: the protocol of chat completions, with the deployment's name in the path.

The SDK posts to `BASE_URL/openai/deployments/DEPLOYMENT/chat/completions?api-version=…` with the key in the header
`api-key`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from harness.old.chat import openai_chat
from harness.old.chat.endpoint import Endpoint
from harness.old.chat.openai_chat import OpenAIChat
from harness.old.chat.parameters import Parameters, on_the_wire
from harness.old.errors import UsageError
from harness.old.records import Sampling

VERSION_VARIABLE = "OPENAI_API_VERSION"


class AzureChat(OpenAIChat):
    """A chat model behind an Azure deployment."""

    def __init__(self, endpoint: Endpoint, key: str | None, address: str) -> None:
        """Prepare to talk to the resource at `address` with this key."""
        super().__init__(endpoint, key, address)
        self.path = f"/deployments/{quote(endpoint.model, safe='')}{OpenAIChat.path}"

    def open_client(self, **options: Any) -> Any:
        """Return the SDK's client for Azure."""
        resource = options.pop("base_url")
        return self._sdk.AsyncAzureOpenAI(azure_endpoint=resource, api_version=self.endpoint.api_version, **options)

    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters that are stated; what a deployment does not take is found out and repaired."""
        return on_the_wire(sampling, openai_chat.TAKEN)

    def elsewhere(self) -> str | None:
        """Return None: the paths are Azure's own."""
        return None

    def credentials(self, key: str) -> Mapping[str, str]:
        """Return the header with the key."""
        return {"api-key": key}


def _settled(endpoint: Endpoint, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint with the version of the interface, or raise `UsageError` if anything is missing."""
    version = endpoint.api_version or environment.get(VERSION_VARIABLE, "").strip()
    lacking = {
        f"base_url (or {SERVICE.url_variable}), the address of your resource": endpoint.base_url,
        "api_key_env, the variable that holds the key": endpoint.api_key_env,
        f"api_version (or {VERSION_VARIABLE})": version,
    }
    for what, value in lacking.items():
        if not value:
            raise UsageError(f"{endpoint.name}: provider azure needs {what}; state it in models.toml")
    return replace(endpoint, api_version=version)


SERVICE = replace(
    openai_chat.SERVICE,
    title="Azure OpenAI",
    prefixes=(),
    examples=(),
    key_variable="AZURE_OPENAI_API_KEY",
    url_variable="AZURE_OPENAI_ENDPOINT",
    address="",
    open=AzureChat,
    settled=_settled,
    batches=None,
)
