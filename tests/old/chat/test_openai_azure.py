"""Azure: the deployment in the path, the version in the query, the key in a header of its own."""

import pytest

from harness.old.chat import Endpoint
from harness.old.errors import EndpointError
from harness.old.records import Message, Reply, Request, Sampling
from tests.old.chat.asking import replies_of
from tests.old.protocol_server import ProtocolServer

KEY = "azure-key-1"
REQUEST = Request((Message("system", "Be brief."), Message("user", "Hello")), Sampling(0.5, 99, seed=3))


def ask(server: ProtocolServer, *, key: str = KEY) -> Reply:
    endpoint = Endpoint("az", "azure", "my-deployment", server.url, "AZ_KEY", api_version="2024-10-21")
    return replies_of(endpoint, [REQUEST], {"AZ_KEY": key})[0]


def test_the_deployment_is_called_at_its_own_path_with_its_own_header() -> None:
    with ProtocolServer(api_key=KEY) as server:
        reply = ask(server)
    (asked,) = server.requests
    assert asked.path == "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    assert asked.headers["api-key"] == KEY
    assert "authorization" not in asked.headers
    assert asked.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert reply.text
    assert reply.usage.prompt_tokens
    assert reply.applied == {"temperature": 0.5, "max_tokens": 99, "seed": 3}


def test_a_limit_that_has_another_name_there_is_repaired() -> None:
    with ProtocolServer(refuses=["max_tokens"]) as server:
        assert ask(server).applied == {"temperature": 0.5, "max_completion_tokens": 99, "seed": 3}


def test_a_refused_key_is_said_without_repeating_it() -> None:
    with ProtocolServer(api_key="another") as server, pytest.raises(EndpointError) as caught:
        ask(server)
    assert KEY not in str(caught.value)
