"""OpenAI's models at Azure: the protocol of chat completions, where the deployment's name stands in the path.

The SDK posts to `BASE_URL/openai/deployments/DEPLOYMENT/chat/completions?api-version=…` with the key in the header
`api-key`.
"""

from typing import Any

from harness.chat.endpoint import Endpoint
from harness.chat.openai_chat import OpenAIChat
from harness.chat.parameters import Parameters
from harness.records import Sampling


class AzureChat(OpenAIChat):
    """A chat model behind an Azure deployment."""

    def open_client(self, **options: Any) -> Any:
        """Return the SDK's client for Azure."""
        resource = options.pop("base_url")
        return self._sdk.AsyncAzureOpenAI(azure_endpoint=resource, api_version=self.endpoint.api_version, **options)

    def asked(self, sampling: Sampling) -> Parameters:
        """Return the sampling parameters that are stated; what a deployment does not take is found out and repaired."""
        return sampling.stated()


def open_model(endpoint: Endpoint, key: str | None, address: str) -> AzureChat:
    """Return the chat model."""
    return AzureChat(endpoint, key, address)
