"""models.toml: what it says counts after flags and before the table of providers, and mistakes in it are named."""

import pathlib
import re
from typing import Any

import pytest

from harness.old.chat import resolve
from harness.old.chat.catalog import Catalog, load_catalog
from harness.old.chat.endpoint import Limits
from harness.old.chat.price import Price
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.records import Sampling

KEYS = {"OPENAI_API_KEY": "sk-o", "KEY_A": "a", "KEY_B": "b"}
FULL = """
[models."our judge"]
provider = "openai"
model = "gpt-4.1"
base_url = "https://gateway.example/v1/"
api_key_env = "KEY_A"
timeout = 60
price = {prompt = 1, cached = 0.1, completion = 4, batch = 0.5}
limits = {parallel = 4, rpm = 100, tpm = 50_000}
sampling = {temperature = 0.3, top_p = 0.9, max_tokens = 500, seed = 7}
"""
POOL = """
[models.m]
api_key_env = "KEY_A"
price = {prompt = 1, completion = 4}
limits = {rpm = 100}
[[models.m.endpoints]]
base_url = "http://one:8000/v1"
[[models.m.endpoints]]
base_url = "http://two:8000/v1"
api_key_env = "KEY_B"
model = "m-large"
limits = {parallel = 2}
"""


@pytest.fixture
def written(tmp_path: pathlib.Path) -> Any:
    """Return a function that writes a models.toml and returns its path."""

    def write(text: str) -> pathlib.Path:
        path = tmp_path / "models.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_an_entry_says_everything_about_an_endpoint(written: Any) -> None:
    endpoint = resolve("our judge", models=written(FULL), environ=KEYS)
    assert (endpoint.name, endpoint.provider, endpoint.model) == ("our judge", "openai", "gpt-4.1")
    assert (endpoint.base_url, endpoint.api_key_env, endpoint.timeout) == ("https://gateway.example/v1", "KEY_A", 60.0)
    assert endpoint.price == Price(1.0, 4.0, cached=0.1, batch=0.5)
    assert endpoint.limits == Limits(parallel=4, rpm=100.0, tpm=50_000.0)
    assert endpoint.sampling == Sampling(temperature=0.3, top_p=0.9, max_tokens=500, seed=7)


def test_flags_count_before_it(written: Any) -> None:
    path = written(FULL)
    flagged = resolve("our judge", models=path, base_url="http://here/v1", timeout=5, environ=KEYS)
    assert (flagged.base_url, flagged.api_key_env, flagged.timeout) == ("http://here/v1", None, 5.0)
    assert flagged.model == "gpt-4.1"
    assert resolve("our judge", models=path, api_key_env="KEY_B", environ=KEYS).api_key_env == "KEY_B"


def test_it_counts_before_the_table_of_providers(written: Any) -> None:
    path = written('[models.gpt-4o]\nbase_url = "http://mine/v1"\nmodel = "other"')
    endpoint = resolve("gpt-4o", models=path, environ=KEYS)
    assert (endpoint.base_url, endpoint.model, endpoint.api_key_env) == ("http://mine/v1", "other", None)
    assert resolve("gpt-4o-mini", models=path, environ=KEYS).base_url is None


def test_the_members_of_a_pool_take_from_the_model_what_they_do_not_say(written: Any) -> None:
    first = resolve("m", models=written(POOL), environ=KEYS)
    (second,) = first.pool
    assert (first.base_url, first.api_key_env, first.model) == ("http://one:8000/v1", "KEY_A", "m")
    assert (second.base_url, second.api_key_env, second.model) == ("http://two:8000/v1", "KEY_B", "m-large")
    assert (first.limits, second.limits) == (Limits(rpm=100.0), Limits(parallel=2))
    assert first.price == second.price == Price(1.0, 4.0)
    assert {first.name, second.name} == {"m"}


def test_an_address_by_flag_leaves_the_pool_aside(written: Any) -> None:
    endpoint = resolve("m", models=written(POOL), base_url="http://here/v1", environ=KEYS)
    assert (endpoint.base_url, endpoint.pool) == ("http://here/v1", ())


def test_several_keys_for_one_service_are_a_pool(written: Any) -> None:
    text = "".join(f'[[models.gpt-4o.endpoints]]\napi_key_env = "{key}"\n' for key in ("KEY_A", "KEY_B"))
    endpoint = resolve("gpt-4o", models=written(text), environ=KEYS)
    assert [(e.base_url, e.api_key_env) for e in (endpoint, *endpoint.pool)] == [(None, "KEY_A"), (None, "KEY_B")]


def test_the_file_in_this_folder_is_taken_without_being_named(
    written: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_catalog() == Catalog()
    written(FULL)
    assert resolve("our judge", environ=KEYS).model == "gpt-4.1"


def test_prices_come_from_the_list_where_it_states_none(written: Any) -> None:
    priced = resolve("mine", models=written('[models.mine]\nprovider = "openai"\nmodel = "gpt-4o"'), environ=KEYS)
    assert priced.price is not None
    assert priced.price.prompt == 2.5
    assert resolve("my-own", base_url="http://here/v1", environ=KEYS).price is None


AZURE = """
[models.az]
provider = "azure"
model = "my-deployment"
base_url = "https://acme.openai.azure.com"
api_version = "2024-10-21"
api_key_env = "KEY_A"
"""


def test_azure_needs_an_address_a_key_and_a_version(written: Any) -> None:
    endpoint = resolve("az", models=written(AZURE), environ=KEYS)
    assert (endpoint.provider, endpoint.model, endpoint.api_version) == ("azure", "my-deployment", "2024-10-21")
    for line, lacking in (("base_url", "base_url"), ("api_version", "api_version"), ("api_key_env", "api_key_env")):
        text = "\n".join(each for each in AZURE.splitlines() if not each.startswith(line))
        with pytest.raises((UsageError, MissingError), match=rf"az: .*({lacking}|AZURE_OPENAI_API_KEY)"):
            resolve("az", models=written(text), environ=KEYS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[model.x]", r"models\.toml:1: unknown key 'model'; did you mean 'models'\?", id="top"),
        pytest.param(
            "[models.x]\nbase_ulr = 'h'",
            r"models\.toml:2: unknown key 'models\.x\.base_ulr'; did you mean 'base_url'\?",
            id="key",
        ),
        pytest.param(
            "[models.x]\nprice = {input = 1}", "unknown key 'models.x.price.input'; known: prompt", id="price"
        ),
        pytest.param(
            "[models.x]\nprice = {prompt = 1}",
            "the key 'models.x.price.completion' is missing; it must be dollars for a million",
            id="half a price",
        ),
        pytest.param("[models.x]\nprice = {prompt = -1, completion = 1}", "prompt must be dollars", id="negative"),
        pytest.param("[models.x]\nlimits = {rpm = 0}", "rpm must be a number of calls", id="no calls"),
        pytest.param(
            "[models.x]\nlimits = {rpm = 1e-300}",
            r"models\.toml:2: models\.x\.limits\.rpm must be .* at least 0\.0006 \(one in a day\), this is 1e-300",
            id="a call in ages",
        ),
        pytest.param(
            "[[models.x.endpoints]]\nlimits = {tpm = 5e-324}",
            r"models\.toml:2: models\.x\.endpoints\.1\.limits\.tpm must be .* at least 1, this is 5e-324",
            id="a token in ages",
        ),
        pytest.param(
            "[models.x]\nlimits = {parallel = 9_000_000_000_000_000_000}",
            r"models\.toml:2: models\.x\.limits\.parallel must be a whole number from 1 to 100,000, this is 90+$",
            id="more calls than there are",
        ),
        pytest.param(
            "[models.x]\nlimits = {parallel = 1.5}", "parallel must be a whole number from 1", id="half a call"
        ),
        pytest.param("[models.x]\nsampling = {temperature = 3}", "temperature must be a number from 0 to 2", id="hot"),
        pytest.param("[models.x]\ntimeout = true", "timeout must be a number of seconds above 0", id="boolean"),
        pytest.param("[models.x]\nprovider = 'antropic'", "did you mean 'anthropic'", id="provider"),
        pytest.param("[models.x]\nmodel = ''", "model must be a text that is not empty", id="blank"),
        pytest.param("[models.x]\nbase_url = 'localhost:1'", "base_url 'localhost:1' is not an address", id="address"),
        pytest.param("[models]\nx = 1", "models.x must be a table", id="no table"),
        pytest.param("[models.x]\nendpoints = 3", "endpoints must be tables", id="endpoints"),
        pytest.param(
            "[[models.x.endpoints]]\nprice = {}", "unknown key 'models.x.endpoints.1.price'", id="key of a member"
        ),
        pytest.param("[models.'']", "a model's name is empty", id="name"),
        pytest.param("models = [", "not valid TOML", id="syntax"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_place(written: Any, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        load_catalog(written(text))
    assert re.search(r"models\.toml(:\d)?: ", str(caught.value))


@pytest.mark.parametrize(
    "line", ["api_key_env = 'sk-secret-1'", "api_key = 'sk-secret-1'", "base_url = 'http://u:sk-secret-1@h'"]
)
def test_a_key_in_the_file_is_refused_and_never_repeated(written: Any, line: str) -> None:
    with pytest.raises(DataError) as caught:
        load_catalog(written(f"[models.x]\n{line}"))
    assert "secret" not in str(caught.value)


def test_a_file_that_is_named_must_be_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"no file .*absent\.toml"):
        load_catalog(tmp_path / "absent.toml")


def test_names_in_the_file_are_hinted_at(written: Any) -> None:
    with pytest.raises(UsageError, match=r"did you mean our judge\?.* or are in .*models\.toml"):
        resolve("our-judge", models=written(FULL), environ={})


def test_an_entry_that_says_not_where_it_is_asks_for_it(written: Any) -> None:
    with pytest.raises(UsageError, match=r'models\."x"\]: state its provider, or the base_url'):
        resolve("x", models=written("[models.x]\ntimeout = 5"), environ={})
