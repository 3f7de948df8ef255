"""Verdicts from log-probabilities: the formulas by hand, where the token is looked for, and what is refused."""

import json
import math
import pathlib
from collections.abc import Mapping

import pytest

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Score, Winner
from harness.old.records import Reply, TokenLogprobs

PREFERENCE = VerdictForm("preference", "compare", score_method="logprobs", sides=("m", "M"))
GRADE = VerdictForm("grade", "grade", score_method="logprobs", scale=(1, 5))
TEN = VerdictForm("grade", "grade", score_method="logprobs", scale=(1, 10))


def token(text: str, likely: Mapping[str, float] | None = None) -> TokenLogprobs:
    """Return a token with the probabilities of what might have stood in its place."""
    chances = {text: 1.0} if likely is None else dict(likely)
    top = tuple((name, math.log(p)) for name, p in sorted(chances.items(), key=lambda pair: -pair[1]))
    return TokenLogprobs(text, math.log(chances.get(text, 0.01)), top)


def reply(*tokens: TokenLogprobs, reasoning: str | None = None, text: str | None = None) -> Reply:
    spelt = "".join(one.token for one in tokens) if text is None else text
    return Reply(spelt, logprobs=tokens, reasoning=reasoning)


@pytest.mark.parametrize(
    ("likely", "share", "side"),
    [
        pytest.param({"m": 0.6, "M": 0.2, "The": 0.1}, 0.25, "A", id="the worked line"),
        pytest.param({"M": 0.9, "m": 0.1}, 0.9, "B", id="the second"),
        pytest.param({"m": 0.9}, 0.0, "A", id="only the first among the likely"),
        pytest.param({"M": 0.9, "x": 0.1}, 1.0, "B", id="only the second among the likely"),
        pytest.param({"m": 0.4, "M": 0.4}, 0.5, "tie", id="as likely as each other"),
        pytest.param({"m": 0.3, " m": 0.3, "M": 0.1, "\u0120M": 0.1}, 0.25, "A", id="variants are added up"),
        pytest.param({"m": 0.3, "\u2581M": 0.3, '"M': 0.3}, 2 / 3, "B", id="more variants"),
    ],
)
def test_preference_is_the_share_of_the_second(likely: dict[str, float], share: float, side: str) -> None:
    parsed = read_verdict(reply(token(max(likely, key=lambda name: likely[name]), likely)), PREFERENCE)
    assert isinstance(parsed.verdict, Winner)
    assert parsed.verdict.side == side
    assert parsed.verdict.preference == pytest.approx(share)


def test_preference_is_that_of_alpaca_evals_formula() -> None:
    first, second = math.log(0.31), math.log(0.62)
    given = TokenLogprobs("M", second, (("M", second), ("m", first)))
    parsed = read_verdict(Reply("M", logprobs=(given,)), PREFERENCE)
    published = 2 - math.exp(first) / (math.exp(first) + math.exp(second))
    assert isinstance(parsed.verdict, Winner)
    assert parsed.verdict.preference == pytest.approx(published - 1, abs=1e-12)


@pytest.mark.parametrize(
    ("likely", "grade"),
    [
        pytest.param({"4": 0.6, "5": 0.3, "Score": 0.05}, 3.9 / 0.9, id="the worked line"),
        pytest.param({"4": 1.0}, 4.0, id="certain"),
        pytest.param({"1": 0.5, "5": 0.5}, 3.0, id="split"),
        pytest.param({"4": 0.3, " 4": 0.3, "2": 0.3}, 3 / 0.9, id="variants are added up"),
        pytest.param({"4": 0.6, "0": 0.2, "7": 0.2}, 4.0, id="digits off the scale are other tokens"),
    ],
)
def test_grade_is_the_normalised_expectation(likely: dict[str, float], grade: float) -> None:
    parsed = read_verdict(reply(token(max(likely, key=lambda name: likely[name]), likely)), GRADE)
    assert isinstance(parsed.verdict, Score)
    assert parsed.verdict.value == pytest.approx(grade)


def test_the_reason_says_where_the_probability_goes() -> None:
    parsed = read_verdict(reply(token("4", {"4": 0.6, "5": 0.3, "Score": 0.05})), GRADE)
    assert parsed.reason == "4: 0.60, 5: 0.30, other tokens: 0.10"


@pytest.mark.parametrize(
    ("given", "form", "reason"),
    [
        pytest.param(reply(token("The", {"The": 0.9, "m": 0.05, "M": 0.02})), PREFERENCE, "too little", id="said else"),
        pytest.param(reply(token("x", {"x": 0.9})), PREFERENCE, "too little", id="neither among the likely"),
        pytest.param(reply(token("4", {"4": 0.3, "Good": 0.6})), GRADE, "too little", id="grade unlikely"),
        pytest.param(Reply("m"), PREFERENCE, "without log-probabilities", id="none given"),
        pytest.param(Reply("Score: 4"), GRADE, "without log-probabilities", id="none given, though the text says one"),
        pytest.param(Reply(""), GRADE, "empty", id="no text"),
        pytest.param(reply(token("\n")), GRADE, "empty", id="blank"),
        pytest.param(reply(token("A"), token(" good"), token(" answer")), GRADE, "no token", id="prose"),
        pytest.param(reply(token("1"), token("."), token(" Read")), GRADE, "no token", id="a numbered list"),
        pytest.param(
            reply(token("4"), token("\n"), token("so"), token("\n"), token("2")), GRADE, "begins with", id="two"
        ),
        pytest.param(reply(token("1", {"1": 0.9, "7": 0.1}), token("0")), TEN, "no token", id="10 in two tokens"),
        pytest.param(reply(token("1", {"1": 0.5, "9": 0.5})), TEN, "longer grade", id="1 may be 10"),
        pytest.param(reply(token("4"), reasoning="hm", text="5"), GRADE, "do not spell", id="other tokens"),
    ],
)
def test_no_verdict_where_the_token_is_not_clear(given: Reply, form: VerdictForm, reason: str) -> None:
    parsed = read_verdict(given, form)
    assert parsed.verdict is None
    assert reason in parsed.reason


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(reply(token("4", {"4": 0.5, "2": 0.5}), token("<|im_end|>")), id="an end token"),
        pytest.param(reply(token("\n"), token(" 4", {" 4": 0.5, " 2": 0.5})), id="blank before"),
        pytest.param(reply(token("4", {"4": 0.5, "2": 0.5}), token("/"), token("5")), id="denominator"),
        pytest.param(reply(token("4", {"4": 0.5, "2": 0.5}), token("\n"), token("Fine")), id="explained after"),
        pytest.param(reply(token("Fine"), token(". "), token("4", {"4": 0.5, "2": 0.5}), token(".")), id="at the end"),
        pytest.param(reply(token("Score"), token(":"), token(" 4", {" 4": 0.5, " 2": 0.5})), id="label before"),
        pytest.param(
            reply(token("5"), token("</think>"), token("4", {"4": 0.5, "2": 0.5}), reasoning="5", text="4"),
            id="after reasoning",
        ),
    ],
)
def test_the_token_is_found(given: Reply) -> None:
    assert read_verdict(given, GRADE).verdict == Score(3.0)


def test_ten_as_one_token_is_a_grade() -> None:
    parsed = read_verdict(reply(token("10", {"10": 0.5, "8": 0.4, "1": 0.01})), TEN)
    assert isinstance(parsed.verdict, Score)
    assert parsed.verdict.value == pytest.approx((5 + 3.2 + 0.01) / 0.91)


def test_a_judge_sets_verdicts_are_weighed_over_the_wire() -> None:
    """From the request to the expectation: the real SDK, a server, and the form."""
    import asyncio

    from harness.old.chat import open_chat_model, resolve
    from harness.old.records import Message, Request
    from tests.old.protocol_server import ProtocolServer, Said

    async def scene(server: ProtocolServer) -> Reply:
        model = open_chat_model(resolve("j", base_url=server.openai_url, environ={}), environ={})
        try:
            return await model.reply(Request((Message("user", "Score:"),), top_logprobs=20))
        finally:
            await model.close()

    with ProtocolServer(lambda asked: Said("4", logprobs=[("4", {"4": 0.6, "5": 0.3})])) as server:
        parsed = read_verdict(asyncio.run(scene(server)), GRADE)
    assert isinstance(parsed.verdict, Score)
    assert parsed.verdict.value == pytest.approx(3.9 / 0.9)


COMPATIBLE = VerdictForm("preference", "compare", score_method="logprobs", sides=("m", "M"), compatible=True)


def test_the_compatible_preference_counts_bare_tokens_alone_and_whatever_little_goes_to_them() -> None:
    likely = {"The": 0.9, "m": 0.02, " m": 0.04, "M": 0.01}
    parsed = read_verdict(reply(token("The", likely), token(" first")), COMPATIBLE)
    assert isinstance(parsed.verdict, Winner)
    assert parsed.verdict.preference == pytest.approx(1 / 3)
    assert "bare tokens" in parsed.reason
    neither = read_verdict(reply(token("The", {"The": 0.9, " m": 0.1})), COMPATIBLE)
    assert neither.verdict is None
    assert "neither m nor M" in neither.reason


def test_the_usual_preference_says_which_spellings_it_added() -> None:
    parsed = read_verdict(reply(token("m", {"m": 0.3, " m": 0.3, "M": 0.1})), PREFERENCE)
    assert "added up with ' m'" in parsed.reason
    assert "added" not in read_verdict(reply(token("m", {"m": 0.6, "M": 0.1})), PREFERENCE).reason


@pytest.mark.reference
def test_published_preferences_come_of_their_log_probabilities(reference_data: pathlib.Path) -> None:
    lines = (reference_data / "alpaca_eval" / "logprob_preferences.jsonl").read_text().splitlines()
    assert len(lines) == 120
    for row in map(json.loads, lines):
        likely = sorted(row["top_logprobs"].items(), key=lambda pair: -pair[1])
        first = TokenLogprobs(likely[0][0], likely[0][1], tuple(likely))
        parsed = read_verdict(Reply(first.token, logprobs=(first,)), COMPATIBLE)
        assert isinstance(parsed.verdict, Winner)
        assert parsed.verdict.preference is not None
        found = 1 + parsed.verdict.preference
        assert (3 - found if row["switched"] else found) == pytest.approx(row["preference"], abs=1e-9)
