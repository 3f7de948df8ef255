"""OpenAI's models at Azure: chat completions, with the deployment's name in the path."""

from typing import Any

import httpx2

from harness.models.endpoint import ChatModel, Endpoint
from harness.models.openai import OpenAIChat


class AzureChat(OpenAIChat):
    """A chat model behind an Azure deployment; `model` is the deployment's name."""

    def open_client(self, key: str, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client for Azure."""
        from openai import AsyncAzureOpenAI

        return AsyncAzureOpenAI(
            azure_endpoint=self.endpoint.base_url,
            api_key=key,
            api_version=self.endpoint.api_version,
            max_retries=0,
            http_client=http,
            timeout=http.timeout,
        )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header with the key."""
        return {"api-key": key}


def open(endpoint: Endpoint) -> ChatModel:  # noqa: A001  (the registry's word)
    """Return the chat model at an endpoint."""
    return AzureChat(endpoint)
