"""Which models a server has, as it lists them at `/models`."""

import httpx2

from harness.errors import UsageError
from harness.models.decoding import at, list_at, text_at
from harness.models.endpoint import ModelConfig
from harness.models.errors import redacted
from harness.models.resolving import resolve

_SECONDS = 20.0
_MOST_LISTED = 20


def only_model(address: ModelConfig) -> str:
    """Return the name of the one model that a server has.

    Raises:
        UsageError: it has several, which are listed, or does not say.
        MissingError: the key's variable is not set.
    """
    endpoint = resolve("its model", address)
    key = endpoint.key()
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    advice = "name the model with --model"
    try:
        with httpx2.Client(timeout=_SECONDS, trust_env=not endpoint.is_loopback) as client:
            answer = client.get(f"{endpoint.base_url}/models", headers=headers)
            body = answer.json() if answer.status_code == 200 else None
    except (httpx2.HTTPError, ValueError) as error:
        reason = redacted(str(error), key) or type(error).__name__
        raise UsageError(f"{endpoint.base_url} lists no models ({reason}); {advice}") from None
    names = [name for model in list_at(body, "data") if (name := text_at(model, "id"))]
    if not names:
        status = f" (status {answer.status_code})" if at(body, "data") is None else ""
        raise UsageError(f"{endpoint.base_url} lists no models{status}; {advice}")
    if len(names) > 1:
        shown = ", ".join(names[:_MOST_LISTED]) + ", …" * (len(names) > _MOST_LISTED)
        raise UsageError(f"{endpoint.base_url} has {len(names)} models; {advice}: {shown}")
    return names[0]
