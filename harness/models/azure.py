"""OpenAI's models at Azure: chat completions, with the deployment's name in the path."""

from typing import Any

from harness.models.openai import OpenAIChat


class AzureChat(OpenAIChat):
    """A chat model behind an Azure deployment; `model` is the deployment's name."""

    def open_client(self, options: dict[str, Any]) -> Any:
        """Return the SDK's client for Azure."""
        from openai import AsyncAzureOpenAI

        address = options.pop("base_url")
        version = self.endpoint.api_version
        return AsyncAzureOpenAI(azure_endpoint=address, api_version=version, **options)
