"""What becomes of a call without a reply: a refusal, the end of the run, another try, an error."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from harness.errors import ChatError, EndpointError, TransientError
from harness.models import resolve
from harness.types import Sampling
from tests.models.asking import KEY, ask, error_bodies, request
from tests.servers import Rule, Server, unused_url

FORBIDDEN = "<html><head><title>403 Forbidden</title></head><body>Blocked.</body></html>"


def about_river(status: int, body: Any) -> Rule:
    return Rule(when=lambda call: "river" in call.text, status=status, body=body)


@pytest.mark.parametrize(("status", "body"), error_bodies("refused prompt"))
def test_a_refused_prompt_is_a_refused_reply_even_the_first(status: int, body: Any) -> None:
    with Server(about_river(status, body)) as server:
        refused, answered = ask(server, request("A river?"), request("A hill?"))
    assert (refused.text, refused.detail.finish_reason) == ("", "refused")
    assert refused.detail.note
    assert answered.text == "Fine."


@pytest.mark.parametrize(
    "body",
    [pytest.param(FORBIDDEN, id="html"), pytest.param({"message": "Forbidden"}, id="gateway")],
)
def test_a_firewall_on_one_prompt_is_a_refusal_once_others_were_answered(body: Any) -> None:
    with Server(about_river(403, body)) as server:
        answered, refused = ask(server, request("A hill?"), request("A river?"))
    assert (answered.text, refused.detail.finish_reason) == ("Fine.", "refused")


def test_a_403_before_any_reply_ends_the_run() -> None:
    with (
        Server(Rule(status=403, body=FORBIDDEN)) as server,
        pytest.raises(EndpointError, match=r"web page \(403 Forbidden\).*key in TEST_KEY"),
    ):
        ask(server, request("Hi."))


def test_a_key_that_is_withdrawn_is_no_refused_prompt() -> None:
    body = {"error": {"message": "Your API key has no permission for this model."}}
    with Server(about_river(403, body)) as server:
        _, error = ask(server, request("A hill?"), request("A river?"))
    assert isinstance(error, TransientError)  # it was good before
    assert error.kind == "key refused"


@pytest.mark.parametrize(("status", "body"), error_bodies("no credit"))
def test_an_account_without_credit_ends_the_run_in_whatever_status(status: int, body: Any) -> None:
    with (
        Server(Rule(status=status, body=body)) as server,
        pytest.raises(EndpointError, match="no credit left") as error,
    ):
        ask(server, request("Hi."))
    assert error.value.kind == "no credit"
    assert len(server.calls) == 1


def test_a_rate_limit_that_speaks_of_the_quota_is_tried_again() -> None:
    body = {
        "error": {
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan and billing.",
            "details": [{"retryDelay": "34s"}],
        }
    }
    with Server(Rule(status=429, body=body)) as server, pytest.raises(TransientError) as error:
        ask(server, request("Hi."))
    assert (error.value.kind, error.value.retry_after) == ("rate limit", 34.0)


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        pytest.param(Rule(status=500), "server error", id="500"),
        pytest.param(Rule(status=502, body=FORBIDDEN), "outage", id="502-page"),
        pytest.param(Rule(status=529), "overload", id="529"),
        pytest.param(Rule(body={"error": {"code": 429}}), "rate limit", id="429-in-the-body"),
        pytest.param(Rule(finish="error"), "malformed reply", id="broken-off"),
    ],
)
def test_what_a_later_try_may_mend_is_transient(rule: Rule, kind: str) -> None:
    with Server(rule) as server, pytest.raises(TransientError) as error:
        ask(server, request("Hi."))
    assert error.value.kind == kind


PROVIDERS = ["openai", "openai_responses", "anthropic", "gemini"]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (Rule(status=429, headers={"Retry-After": "3"}), "rate limit"),
        (Rule(status=503, headers={"Retry-After": "soon"}, body="<html>"), "overload"),
        (Rule(drop="before"), "closed connection"),
        (Rule(drop="within"), "closed connection"),
        (Rule(body={"x": 1}), "malformed reply"),
        (Rule(body=["x"]), "malformed reply"),
        (Rule(content='{"choices": [{"mess'), "malformed reply"),
        (Rule(content=""), "malformed reply"),
        (Rule(content="null"), "malformed reply"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_all_protocols_fail_alike(provider: str, rule: Rule, kind: str) -> None:
    with Server(rule) as server, pytest.raises(TransientError) as error:
        ask(server, request("Hi."), provider=provider)
    assert error.value.kind == kind
    assert error.value.retry_after == (3.0 if kind == "rate limit" else None)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_all_protocols_know_what_cannot_be_mended(provider: str) -> None:
    for status, kind in ((401, "key refused"), (402, "no credit"), (404, "unknown model")):
        with Server(Rule(status=status)) as server, pytest.raises(EndpointError) as error:
            ask(server, request("Hi."), provider=provider)
        assert error.value.kind == kind
    with pytest.raises(TransientError, match="is the server running") as unreachable:
        ask(unused_url(), request("Hi."), provider=provider)
    assert unreachable.value.kind == "no connection"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_all_protocols_repair_and_refuse_alike(provider: str) -> None:
    flagged = {"error": {"message": "Your input was flagged for violence."}}
    refusal = {"error": {"message": "temperature is not supported with this model"}}
    hot = Rule(when=lambda call: '"temperature"' in call.text, status=400, body=refusal)
    with Server(about_river(400, flagged), hot) as server:
        warm = Sampling(temperature=0.5)
        requests = [request(text, sampling=warm) for text in ("A river?", "A?")]
        refused, answered = ask(server, *requests, provider=provider)
    assert refused.detail.finish_reason == "refused"
    assert answered.text == "Fine."
    assert "temperature left out" in answered.detail.note


def in_a_minute(form: str) -> str:
    """Return the time in a minute, as headers state it."""
    then = datetime.now(UTC) + timedelta(seconds=60)
    milliseconds = str(round(then.timestamp() * 1000))
    forms = {"date": format_datetime(then), "time": then.isoformat(), "ms": milliseconds}
    return forms.get(form, form)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2679"}, 2679),
        ({"Retry-After": "date"}, 60),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"llm_provider-retry-after": "7"}, 7),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360),
        (
            {
                "x-ratelimit-reset-requests": "24h0m0s",
                "x-ratelimit-remaining-requests": "9",
                "x-ratelimit-reset-tokens": "7.66s",
                "x-ratelimit-remaining-tokens": "0",
            },
            7.66,
        ),
        ({"X-RateLimit-Reset": "ms"}, 60),
        ({"anthropic-ratelimit-requests-reset": "time"}, 60),
        ({"Retry-After": "soon"}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    headers = {name: in_a_minute(value) for name, value in headers.items()}
    with (
        Server(Rule(status=429, headers=headers)) as server,
        pytest.raises(TransientError) as error,
    ):
        ask(server, request("Hi."))
    wait = error.value.retry_after
    assert wait is None if seconds is None else wait == pytest.approx(seconds, abs=20)


def test_a_call_is_bounded_as_a_whole() -> None:
    with (
        Server(Rule(delay=1.0)) as server,
        pytest.raises(TransientError, match=r"within 0.2 s.*--timeout") as error,
    ):
        ask(server, request("Hi."), timeout=0.2)
    assert error.value.kind == "timeout"


PAGE = "<!DOCTYPE html><html><title>Open WebUI</title></html>"


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(Rule(body=PAGE), id="200-page"),
        pytest.param(Rule(status=404, body=PAGE), id="404-page"),
        pytest.param(Rule(status=404, body={"detail": "Not Found"}), id="404"),
        pytest.param(Rule(body={"error": "Unexpected endpoint or method."}), id="lm-studio"),
        pytest.param(Rule(status=405, body={"detail": "Method Not Allowed"}), id="405"),
    ],
)
def test_an_address_without_v1_ends_the_run_at_once_with_advice(rule: Rule) -> None:
    with (
        Server(rule) as server,
        pytest.raises(EndpointError, match=f"usually ends in /v1: {server.url}/v1$"),
    ):
        ask(server, request("Hi."), base_url=server.url)


def test_an_unknown_model_ends_the_run() -> None:
    body = {"error": {"message": "The model `m` does not exist.", "code": "model_not_found"}}
    with Server(Rule(when=lambda call: "river" in call.text, status=404, body=body)) as server:
        error, _, later = ask(server, *map(request, ("A river?", "A hill?", "A river?")))
    assert isinstance(error, EndpointError)
    assert "check the model's name (m)" in str(error)
    assert isinstance(later, TransientError)


@pytest.mark.parametrize(("status", "body"), error_bodies("unknown model"))
def test_an_unknown_model_is_told_by_its_words(status: int, body: Any) -> None:
    with Server(Rule(status=status, body=body)) as server, pytest.raises(EndpointError) as error:
        ask(server, request("Hi.", sampling=Sampling(temperature=0.5, max_tokens=99)))
    assert error.value.kind == "unknown model"
    assert len(server.calls) == 1


@pytest.mark.parametrize(("status", "body"), error_bodies("key refused"))
def test_a_key_is_refused_in_whatever_status(status: int, body: Any) -> None:
    with (
        Server(Rule(status=status, body=body)) as server,
        pytest.raises(EndpointError, match="check the key in TEST_KEY"),
    ):
        ask(server, request("Hi."))


@pytest.mark.parametrize("kind", ["malformed reply", "overload"])
def test_what_the_next_try_may_mend_is_told_by_its_words(kind: str) -> None:
    for parameters in error_bodies(kind):
        status, body = parameters.values
        rule = Rule(status=status, body=body)
        with Server(rule) as server, pytest.raises(TransientError) as error:
            ask(server, request("Hi."))
        assert (parameters.id, error.value.kind) == (parameters.id, kind)


FILTERS = {"hate": {"filtered": True, "severity": "high"}, "violence": {"filtered": False}}


@pytest.mark.parametrize(
    "rule",
    [
        Rule(body={"choices": [], "prompt_filter_results": [{"content_filter_results": FILTERS}]}),
        Rule(body={"choices": [{"finish_reason": "content_filter", "message": None}]}),
        Rule(say="", finish="content_filter: PROHIBITED_CONTENT"),
        Rule(
            body={
                "choices": None,
                "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"},
            }
        ),
    ],
    ids=["azure", "message-is-null", "gemini-compatible", "minimax"],
)
def test_a_200_that_says_filtered_is_a_refusal(rule: Rule) -> None:
    with Server(rule) as server:
        reply = ask(server, request("Hi."))
    assert (reply.text, reply.detail.finish_reason) == ("", "refused")
    assert reply.detail.note


def test_a_page_in_place_of_a_reply_after_others_is_an_outage() -> None:
    with Server(Rule(times=1), Rule(status=404, body=PAGE)) as server:
        _, error = ask(server, request("Hi."), request("Hi."))
    assert isinstance(error, TransientError)


def test_no_redirect_is_followed() -> None:
    with Server() as target:
        moved = Rule(status=307, body={}, headers={"Location": f"{target.url}/v1/chat/completions"})
        with (
            Server(moved) as server,
            pytest.raises(EndpointError, match=r"a redirect to .*which is not followed"),
        ):
            ask(server, request("Hi."))
        assert not target.calls


def test_the_key_is_in_no_message() -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}, or sk-abc***def."}}
    with (
        Server(Rule(status=401, body=body)) as server,
        pytest.raises(EndpointError, match="check the key in TEST_KEY") as error,
    ):
        ask(server, request("Hi."))
    assert KEY not in str(error.value)
    assert "sk-abc" not in str(error.value)


def test_a_reply_of_any_size_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.models.remote.MOST_BYTES", 10_000)
    with (
        Server(Rule(say="word " * 10_000)) as server,
        pytest.raises(TransientError, match="too large"),
    ):
        ask(server, request("Hi."))


def test_other_bad_requests_are_errors_of_the_call() -> None:
    with (
        Server(Rule(status=400, body={"error": {"message": "bad image"}})) as server,
        pytest.raises(ChatError, match="answered 400: bad image") as error,
    ):
        ask(server, request("Hi.", sampling=Sampling(temperature=0.0)))
    assert (type(error.value), error.value.kind) == (ChatError, "bad request")


def test_a_cancelled_call_leaves_the_model_usable() -> None:
    async def run(url: str) -> str:
        from harness.models import ModelConfig

        model = resolve("m", ModelConfig(base_url=f"{url}/v1")).open()
        call = asyncio.create_task(model.reply(request("slow")))
        await asyncio.sleep(0.05)
        call.cancel()
        try:
            return (await model.reply(request("fast"))).text
        finally:
            await model.close()

    with Server(Rule(when=lambda call: "slow" in call.text, delay=0.3)) as server:
        assert asyncio.run(run(server.url)) == "Fine."


@pytest.mark.parametrize(("status", "body"), error_bodies("any shape"))
def test_error_bodies_of_any_shape_are_read(status: int, body: Any) -> None:
    with Server(Rule(status=status, body=body)) as server, pytest.raises(ChatError) as error:
        ask(server, request("Hi."))
    assert error.value.status == 400
