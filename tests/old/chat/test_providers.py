"""A model's name, the flags and the environment say where it is; what cannot work is said before any call."""

import asyncio
from typing import Any

import pytest

from harness.old.chat import ChatModel, Endpoint, open_chat_model, resolve
from harness.old.chat import services as table
from harness.old.chat.prices import FREE
from harness.old.errors import MissingError, UsageError

OPENAI_KEY, ANTHROPIC_KEY = {"OPENAI_API_KEY": "sk-o"}, {"ANTHROPIC_API_KEY": "sk-a"}
LOCAL = "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("name", "flags", "environ", "expected"),
    [
        pytest.param("gpt-4o", {}, OPENAI_KEY, ("openai", None, "OPENAI_API_KEY"), id="gpt"),
        pytest.param("o3", {}, OPENAI_KEY, ("openai", None, "OPENAI_API_KEY"), id="o3"),
        pytest.param("o4-mini", {}, OPENAI_KEY, ("openai", None, "OPENAI_API_KEY"), id="o4-mini"),
        pytest.param("ft:gpt-4o:acme", {}, OPENAI_KEY, ("openai", None, "OPENAI_API_KEY"), id="fine-tuned"),
        pytest.param("claude-x", {}, ANTHROPIC_KEY, ("anthropic", None, "ANTHROPIC_API_KEY"), id="claude"),
        pytest.param("gpt-4o", {"base_url": LOCAL}, OPENAI_KEY, ("openai", LOCAL, None), id="no key for it"),
        pytest.param("claude-x", {"base_url": LOCAL}, ANTHROPIC_KEY, ("openai", LOCAL, None), id="address first"),
        pytest.param(
            "m", {"base_url": f"{LOCAL}/", "api_key_env": "K"}, {"K": "x"}, ("openai", LOCAL, "K"), id="named key"
        ),
        pytest.param(
            "gpt-4o", {"api_key_env": "K"}, {"K": "x"}, ("openai", None, "K"), id="another key for the provider"
        ),
        pytest.param("m", {}, {"OPENAI_BASE_URL": LOCAL}, ("openai", LOCAL, None), id="unknown name, address set"),
        pytest.param(
            "m",
            {},
            {"OPENAI_BASE_URL": LOCAL, **OPENAI_KEY},
            ("openai", LOCAL, "OPENAI_API_KEY"),
            id="unknown name, address and key set",
        ),
        pytest.param(
            "claude-x", {}, {"ANTHROPIC_BASE_URL": "https://g"}, ("anthropic", "https://g", None), id="gateway, no key"
        ),
        pytest.param(
            "gpt-4o",
            {},
            {"OPENAI_BASE_URL": " ", **OPENAI_KEY},
            ("openai", None, "OPENAI_API_KEY"),
            id="blank address is none",
        ),
        pytest.param(
            "v",
            {"conv_template": "vicuna_v1.1", "base_url": LOCAL},
            {},
            ("completions", LOCAL, None),
            id="template with an address",
        ),
        pytest.param(
            "v",
            {"conv_template": "vicuna_v1.1"},
            {"OPENAI_BASE_URL": LOCAL},
            ("completions", LOCAL, None),
            id="template, address set",
        ),
    ],
)
def test_a_name_has_one_endpoint(
    name: str, flags: dict[str, Any], environ: dict[str, str], expected: tuple[str, str | None, str | None]
) -> None:
    endpoint = resolve(name, **flags, environ=environ)
    assert (endpoint.provider, endpoint.base_url, endpoint.api_key_env) == expected
    assert endpoint.name == endpoint.model == name


@pytest.mark.parametrize(
    ("name", "flags", "environ", "message"),
    [
        pytest.param("gtp-4o", {}, {}, "did you mean gpt-4o", id="letters swapped"),
        pytest.param("GPT-4o", {}, {}, "did you mean gpt-4o", id="capitals"),
        pytest.param("openai/gpt-5", {}, {}, "did you mean gpt-5", id="with its provider"),
        pytest.param("cluade-sonnet-4", {}, {}, "did you mean claude-sonnet-4", id="claude mistyped"),
        pytest.param("eliza", {}, {}, "did you mean builtin/eliza", id="built-in without its folder"),
        pytest.param(
            "zzzz",
            {},
            {},
            "unknown model 'zzzz'; for your own server .*--base-url .*--judge-base-url",
            id="nothing near",
        ),
        pytest.param("builtin/elisa", {}, {}, "builtin/eliza", id="unknown built-in"),
        pytest.param("", {}, {}, "empty", id="empty"),
        pytest.param("a\0", {}, {}, "NUL", id="NUL"),
        pytest.param("a" * 201, {}, {}, "over 200 bytes", id="too long"),
        pytest.param("m", {"base_url": "localhost:8000"}, {}, "--base-url .* http://localhost", id="no scheme"),
        pytest.param("m", {"base_url": ""}, {}, "--base-url", id="empty address"),
        pytest.param("m", {"base_url": "http://"}, {}, "--base-url", id="no host"),
        pytest.param("m", {"base_url": "http://h:99999"}, {}, "--base-url", id="no such port"),
        pytest.param("m", {"base_url": "http://[::1"}, {}, "--base-url", id="broken brackets"),
        pytest.param("m", {"base_url": "http://999.1.1.1:9"}, {}, "is not an address", id="no such number"),
        pytest.param("m", {"base_url": "http://１２７.０.０.１:9"}, {}, "is not an address", id="wide digits"),
        pytest.param("m", {"base_url": "http://a..b/v1"}, {}, "--base-url", id="an empty part of a host's name"),
        pytest.param("m", {"base_url": f"http://{'a' * 64}/v1"}, {}, "--base-url", id="a part of 64 letters"),
        pytest.param("m", {"base_url": "http://a b/"}, {}, "--base-url", id="space in it"),
        pytest.param("m", {}, {"OPENAI_BASE_URL": "ftp://h"}, "OPENAI_BASE_URL 'ftp://h'", id="variable is no address"),
        pytest.param("v", {"conv_template": "vicuna_v1.1"}, {}, "--base-url", id="template without an address"),
        pytest.param(
            "v", {"conv_template": "vicuna", "base_url": LOCAL}, {}, "near ones: .*vicuna", id="no such template"
        ),
        pytest.param(
            "v", {"conv_template": "gemini", "base_url": LOCAL}, {}, "builds no prompt", id="template of a service"
        ),
    ],
)
def test_what_cannot_work_is_named(name: str, flags: dict[str, Any], environ: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve(name, **flags, environ=environ)


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(UsageError, match="holds a user name or password") as caught:
        resolve("m", base_url="http://me:secret@host/v1", environ={})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "flags", "environ", "variable"),
    [
        pytest.param("gpt-4o", {}, {}, "OPENAI_API_KEY", id="openai"),
        pytest.param("claude-x", {}, OPENAI_KEY, "ANTHROPIC_API_KEY", id="anthropic"),
        pytest.param("gpt-4o", {}, {"OPENAI_API_KEY": "  "}, "OPENAI_API_KEY", id="blank"),
        pytest.param("m", {"base_url": LOCAL, "api_key_env": "MINE"}, OPENAI_KEY, "MINE", id="named"),
    ],
)
def test_a_missing_key_is_named_before_any_call(
    name: str, flags: dict[str, Any], environ: dict[str, str], variable: str
) -> None:
    with pytest.raises(MissingError, match=f"no key in the environment variable {variable}"):
        resolve(name, **flags, environ=environ)


@pytest.mark.parametrize("key", ["two words", "sk-\u00e9t\u00e9", "line\nbreak"])
def test_what_cannot_be_a_key_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(MissingError, match="the value of OPENAI_API_KEY is not a key") as caught:
        resolve("gpt-4o", environ={"OPENAI_API_KEY": key})
    assert key not in str(caught.value)


def test_the_time_limit_is_kept() -> None:
    assert resolve("m", base_url=LOCAL, timeout=3, environ={}).timeout == 3
    assert resolve("m", base_url=LOCAL, environ={}).timeout == 600


def test_flags_for_servers_leave_built_in_models_alone() -> None:
    endpoint = resolve("builtin/eliza", base_url=LOCAL, api_key_env="K", conv_template="x", environ={})
    assert endpoint == Endpoint("builtin/eliza", "builtin", "builtin/eliza", price=FREE)
    assert open_chat_model(endpoint).name == "builtin/eliza"


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-o")
    assert resolve("gpt-4o").api_key_env == "OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("minimum", "package", "message"),
    [
        pytest.param((99, 1), "openai", "the package openai is version .*pip install 'openai>=99.1'", id="too old"),
        pytest.param((1,), "no-such-sdk", "no-such-sdk is not installed; install it: pip install", id="not there"),
    ],
)
def test_a_missing_package_says_what_to_install(minimum: tuple[int, ...], package: str, message: str) -> None:
    with pytest.raises(MissingError, match=message):
        table.require(package, minimum)


def test_an_opened_model_shows_no_key() -> None:
    model: ChatModel = open_chat_model(resolve("gpt-4o", environ=OPENAI_KEY), environ=OPENAI_KEY)
    assert repr(model) == "OpenAIChat('gpt-4o' at https://api.openai.com/v1)"
    asyncio.run(model.close())
