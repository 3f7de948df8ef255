import pathlib
import tomllib
from collections.abc import Generator

import pytest

from harness.models import Price
from harness.running import Job, estimate, tokens
from harness.types import Answer, Choice, Message, Reply, Request
from tests.running.fakes import Model, endpoint, job

TEXTS = tomllib.loads(
    pathlib.Path(__file__).with_name("token_texts.toml").read_text(encoding="utf-8")
)["text"]
MODELS = {
    "o200k": "gpt-4o",
    "cl100k": "gpt-4-turbo",
    "claude2": "claude-sonnet-4-5",
    "deepseek": "deepseek-chat",
    "qwen": "qwen3-8b",
    "tekken": "mistral-small",
}


@pytest.mark.parametrize("text", TEXTS, ids=[text["id"] for text in TEXTS])
def test_tokens_are_within_a_fifth(text: dict[str, object]) -> None:
    counts = text["counts"]
    assert isinstance(counts, dict)
    for vocabulary, count in counts.items():
        about = tokens.text_tokens(str(text["text"]), MODELS[vocabulary])
        assert about == pytest.approx(count, rel=0.2), vocabulary


def test_a_second_turn_s_prompt_holds_the_first_reply(tmp_path: pathlib.Path) -> None:
    def steps() -> Generator[Request, Reply, Answer]:
        first = yield Request(messages=[Message("user", "one two three")])
        messages = [Message("user", "one two three"), Message("assistant", first.text)]
        second = yield Request(messages=messages)
        return Answer(question_id=1, choices=[Choice(turns=[first.text, second.text])])

    to = endpoint(Model(), "gpt-4o", price=Price(1.0, 10.0))
    (found,) = estimate.estimate([Job("1", "1", to, tmp_path, Answer, steps)], usual=300)
    assert found.calls == 2
    assert found.prompt_tokens == pytest.approx(2 * 7 + 604, rel=0.05)
    assert (found.reply_tokens_low, found.reply_tokens_high) == (600, 8192)
    assert found.cost_low == pytest.approx((found.prompt_tokens + 6000) / 1e6)


def test_a_sample_of_many_jobs_stands_for_all(tmp_path: pathlib.Path) -> None:
    model = Model()
    jobs = [job(endpoint(model), tmp_path, n, turns=2) for n in range(1000)]
    (found,) = estimate.estimate(jobs, usual=2000, earlier={"fake": [100.0] * 8})
    assert found.calls == 2000
    assert (found.reply_tokens_low, found.reply_tokens_high) == (200_000, 200_000)
    assert model.requests == []


def test_nothing_is_asked_about_a_model_on_this_machine(tmp_path: pathlib.Path) -> None:
    to = endpoint(Model(), base_url="http://localhost:8000/v1", price=Price(0, 0))
    assert estimate.question(estimate.estimate([job(to, tmp_path, 1)], usual=100), 80) == ""


def test_an_unknown_price_is_said(tmp_path: pathlib.Path) -> None:
    found = estimate.estimate([job(endpoint(Model()), tmp_path, 1)], usual=100)
    asked = estimate.question(found, 1)
    assert asked == "1 call to fake, the price of fake is unknown"
