"""A name, the flags, turnbench.toml and the environment make an endpoint."""

import msgspec
import pytest

from harness.errors import MissingError, UsageError
from harness.models import ModelConfig, PoolMember, RateLimits, resolve
from harness.types import Sampling


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(name, "key")


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("gpt-4o", "openai"),
        ("o3", "openai"),
        ("o3-pro", "openai_responses"),
        ("ft:gpt-4o:acme", "openai"),
        ("claude-sonnet-4-6", "anthropic"),
        ("gemini-2.5-flash", "gemini"),
        ("builtin/eliza", "builtin"),
        ("builtin/overlap", "builtin_judge"),
    ],
)
def test_a_known_beginning_is_its_providers(name: str, provider: str) -> None:
    assert resolve(name).provider == provider


def test_an_address_makes_any_name_compatible_and_sends_no_key() -> None:
    endpoint = resolve("gpt-4o", ModelConfig(base_url="http://localhost:8000/v1/"))
    assert (endpoint.provider, endpoint.base_url) == ("openai", "http://localhost:8000/v1")
    assert endpoint.api_key_env is None
    assert endpoint.key() is None


def test_a_key_is_sent_to_an_address_if_its_variable_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    options = ModelConfig(base_url="http://localhost:8000/v1", api_key_env="MY_KEY")
    assert resolve("m", options).key() == "k"


def test_an_unknown_name_is_compatible_where_the_environment_has_an_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    endpoint = resolve("my-model")
    assert (endpoint.provider, endpoint.base_url) == ("openai", "http://localhost:8000/v1")
    assert (endpoint.api_key_env, endpoint.stated) == ("OPENAI_API_KEY", False)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("gtp-4o", "did you mean gpt-4o"),
        ("openai/gpt-4.1", "did you mean gpt-4.1"),
        ("builtin/elisa", "did you mean builtin/eliza"),
        ("my-judg", "did you mean my-judge"),
        ("zzz", "--base-url"),
    ],
)
def test_an_unknown_name_is_wrong_use_with_near_names(name: str, advice: str) -> None:
    with pytest.raises(UsageError, match=advice):
        resolve(name, models={"my-judge": ModelConfig(provider="anthropic")})


@pytest.mark.parametrize("name", ["", " ", "a\0b", "n" * 201])
def test_a_name_that_no_file_could_have_is_wrong_use(name: str) -> None:
    with pytest.raises(UsageError, match="model name"):
        resolve(name)


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MissingError, match="export OPENAI_API_KEY"):
        resolve("gpt-4o")
    assert resolve("gpt-4o", key_needed=False).price is not None


@pytest.mark.parametrize("typed", ["sk-proj-abc123", "abc123def"])
def test_a_key_in_place_of_a_variable_is_not_repeated(typed: str) -> None:
    with pytest.raises(UsageError, match="never a key") as error:
        resolve("m", ModelConfig(base_url="http://localhost:1/v1", api_key_env=typed))
    assert typed not in str(error.value)


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host", "http://", "http://a b/v1", "http://h:0/v1"]
)
def test_what_is_no_address_is_wrong_use(url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        resolve("m", ModelConfig(base_url=url))


@pytest.mark.parametrize("url", ["http://u:secret@host/v1", "http://host/v1?key=secret"])
def test_an_address_with_a_secret_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UsageError, match="--api-key-env") as error:
        resolve("m", ModelConfig(base_url=url))
    assert "secret" not in str(error.value)


TOML = """
[judge]
provider = "anthropic"
model = "claude-sonnet-4-6"
timeout = 120
price = {prompt = 1.0, completion = 2.0}
limits = {parallel = 16, rpm = 1000}
sampling = {max_tokens = 2048}

[pooled]
model = "m"
[[pooled.endpoints]]
base_url = "http://node1:8000/v1"
limits = {parallel = 64}
[[pooled.endpoints]]
base_url = "http://node2:8000/v1"
"""


def test_the_project_file_names_models() -> None:
    models = msgspec.toml.decode(TOML, type=dict[str, ModelConfig])
    judge = resolve("judge", models=models)
    assert (judge.provider, judge.model) == ("anthropic", "claude-sonnet-4-6")
    assert (judge.timeout, judge.limits.rpm) == (120, 1000)
    assert judge.sampling == Sampling(max_tokens=2048)
    assert judge.price is not None
    assert judge.price.completion == 2.0
    assert resolve("judge", ModelConfig(timeout=5), models).timeout == 5


def test_a_pool_is_an_endpoint_and_further_ones() -> None:
    models = msgspec.toml.decode(TOML, type=dict[str, ModelConfig])
    endpoint = resolve("pooled", models=models)
    addresses = [member.base_url for member in (endpoint, *endpoint.pool)]
    assert addresses == ["http://node1:8000/v1", "http://node2:8000/v1"]
    assert (endpoint.limits, endpoint.pool[0].limits) == (RateLimits(parallel=64), RateLimits())
    single = resolve("pooled", ModelConfig(base_url="http://localhost:1/v1"), models)
    assert (single.base_url, single.pool) == ("http://localhost:1/v1", ())


def test_an_unknown_provider_is_wrong_use_with_the_near_one() -> None:
    with pytest.raises(UsageError, match="no provider 'antropic'; did you mean anthropic"):
        resolve("m", models={"m": ModelConfig(provider="antropic")})


@pytest.mark.parametrize(
    ("config", "lacks"),
    [
        ({"provider": "azure", "api_key_env": "AZURE_OPENAI_API_KEY"}, "azure needs base_url"),
        ({"provider": "azure", "base_url": "https://a.example"}, "azure needs api_key_env"),
        ({"conv_template": "vicuna_v1.1"}, "needs a server: --base-url"),
        ({"provider": "completions", "base_url": "http://localhost:1/v1"}, "--conv-template"),
        ({"provider": "local"}, "needs path"),
        ({"price": {"prompt": 1, "completion": 1}}, "needs a provider or a base_url"),
    ],
)
def test_what_a_provider_needs_besides_is_named(config: dict[str, object], lacks: str) -> None:
    with pytest.raises(UsageError, match=lacks):
        resolve("m", models={"m": msgspec.convert(config, ModelConfig)})


def test_local_weights_have_a_path_and_cost_nothing() -> None:
    endpoint = resolve("mine", ModelConfig(path="./weights", device="cpu"))
    assert (endpoint.provider, endpoint.model, endpoint.is_loopback) == ("local", "./weights", True)
    assert endpoint.weights is not None
    assert endpoint.weights.device == "cpu"
    assert endpoint.price is not None
    assert endpoint.price.prompt == 0


def test_loopback_costs_nothing_unless_a_price_is_stated() -> None:
    free = resolve("gpt-4o", ModelConfig(base_url="http://127.0.0.1:8000/v1"))
    assert (free.is_loopback, free.price and free.price.prompt) == (True, 0)
    paid = resolve("gpt-4o", ModelConfig(base_url="https://gateway.example/v1"))
    assert (paid.is_loopback, paid.price and paid.price.prompt) == (False, 2.5)


@pytest.mark.parametrize(
    ("sampling", "complaint"),
    [
        (Sampling(min_p=0.1), "anthropic takes no min_p"),
        (Sampling(extra_body={"messages": []}), "extra_body.messages would replace"),
        (Sampling(extra_headers={"X-Api-Key": "s"}), "may hold a key"),
        (Sampling(thinking_budget=4096, max_tokens=4096), "leaves none of the 4096 tokens"),
    ],
)
def test_parameters_that_cannot_be_sent_are_wrong_use(sampling: Sampling, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        resolve("claude-opus-4-8").check(sampling)


def test_a_seed_that_a_protocol_lacks_is_no_error() -> None:
    resolve("claude-opus-4-8").check(Sampling(seed=1, temperature=0.5))


def test_a_key_that_is_typed_into_the_project_file_is_refused_without_repeating_it() -> None:
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.convert({"api_key_env": "sk-abc"}, PoolMember)
    assert "sk-abc" not in str(error.value)
