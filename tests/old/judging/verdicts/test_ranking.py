"""Which of two answers a ranking, or a name alone, puts first."""

import pytest

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Parsed, Winner
from harness.old.records import Reply

RANKING = VerdictForm("ranking", "compare", sides=("model_1", "model_2"))
NAMED = VerdictForm("preference", "compare", sides=("m", "M"))


def read(text: str, form: VerdictForm = RANKING) -> Parsed:
    return read_verdict(Reply(text), form)


@pytest.mark.parametrize(
    ("text", "side"),
    [
        pytest.param("[{'model': 'model_1', 'rank': 1}, {'model': 'model_2', 'rank': 2}]", "A", id="Python"),
        pytest.param('[{"model": "model_1", "rank": 1}, {"model": "model_2", "rank": 2}]', "A", id="JSON"),
        pytest.param("[{'model': 'model_2', 'rank': 1}, {'model': 'model_1', 'rank': 2}]", "B", id="second first"),
        pytest.param("[{'model': 'model_1', 'rank': 2}, {'model': 'model_2', 'rank': 1}]", "B", id="in input order"),
        pytest.param("[{'model': 'model_1', 'rank': '1'}, {'model': 'model_2', 'rank': '2'}]", "A", id="texts"),
        pytest.param("[{'rank': 1, 'model': 'model_2'}, {'rank': 2, 'model': 'model_1'}]", "B", id="rank first"),
        pytest.param("[{'model': 'model_1', 'rank': 1}, {'model': 'model_2', 'rank': 2},]", "A", id="comma too many"),
        pytest.param("[{model: model_1, rank: 1}, {model: model_2, rank: 2}]", "A", id="bare words"),
        pytest.param(
            "{'ordered_models': [{'model': 'model_2', 'rank': 1}, {'model': 'model_1', 'rank': 2}]}",
            "B",
            id="in an object",
        ),
        pytest.param(
            '{"concise_explanation": "longer [1, 2]", '
            '"ordered_models": [{"model": "model_1", "rank": 1}, {"model": "model_2", "rank": 2}]}',
            "A",
            id="explained in the object",
        ),
        pytest.param("{'model_1': 2, 'model_2': 1}", "B", id="one object"),
        pytest.param("[{'model_1': 1}, {'model_2': 2}]", "A", id="names as keys"),
        pytest.param("['model_2', 'model_1']", "B", id="ordered names"),
        pytest.param("{'model': 'model_1', 'rank': 1}, {'model': 'model_2', 'rank': 2}", "A", id="without a list"),
        pytest.param(
            "```python\n[{'model': 'model_1', 'rank': 1}, {'model': 'model_2', 'rank': 2}]\n```", "A", id="code fence"
        ),
        pytest.param(
            "Both are fine, the second is exact.\n\n"
            "[{'model': 'model_2', 'rank': 1},\n {'model': 'model_1', 'rank': 2}]",
            "B",
            id="explained before",
        ),
        pytest.param("[{'name': 'model_2', 'rank': 1}, {'name': 'model_1', 'rank': 2}]", "B", id="another key"),
        pytest.param("<think>['model_1', 'model_2']</think>['model_2', 'model_1']", "B", id="reasoning"),
    ],
)
def test_ranking_is_read(text: str, side: str) -> None:
    parsed = read(text)
    assert isinstance(parsed.verdict, Winner), parsed.reason
    assert (parsed.verdict.side, parsed.verdict.preference) == (side, {"A": 0.0, "B": 1.0}[side])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("model_1", "no ranking", id="a name alone"),
        pytest.param("model_1 is better than model_2", "no ranking", id="prose"),
        pytest.param("[{'model': 'model_1', 'rank': 1}, {'model': 'model_2', 'rank': 1}]", "same rank", id="tie"),
        pytest.param("{'model_1': 1, 'model_2': 1}", "same rank", id="tie in an object"),
        pytest.param("[{'model': 'model_1', 'rank': 1}]", "each of the two", id="one alone"),
        pytest.param(
            "[{'model': 'model_1', 'rank': 1}, {'model': 'model_1', 'rank': 2}]", "each of the two", id="one twice"
        ),
        pytest.param(
            "[{'model': 'model_1', 'rank': 1}, {'model': 'model_3', 'rank': 2}]", "each of the two", id="a stranger"
        ),
        pytest.param(
            "[{'model': 'model_1', 'rank': 0}, {'model': 'model_2', 'rank': 1}]", "neither 1 nor 2", id="from zero"
        ),
        pytest.param(
            "[{'model': 'model_1', 'rank': 'first'}, {'model': 'model_2', 'rank': 2}]", "neither 1 nor 2", id="a word"
        ),
        pytest.param(
            "[{'model': 'model_1', 'rank': true}, {'model': 'model_2', 'rank': 2}]", "neither 1 nor 2", id="truth value"
        ),
        pytest.param("[{'model': 'model_1'}, {'model': 'model_2'}]", "no ranking", id="no ranks"),
        pytest.param("[{'model': 'model_1', 'rank': 1}, {'model': 'model_2', ", "ranking", id="cut"),
        pytest.param("['model_1']", "each of the two once", id="one name"),
        pytest.param("['model_1', 'model_1']", "each of the two once", id="one name twice"),
        pytest.param("['model_1', 'model_2'] ['model_2', 'model_1']", "two verdicts", id="two rankings"),
        pytest.param("The output ends with ['model_1', 'model_2'].", "within a sentence", id="told of"),
        pytest.param("<think>['model_1', 'model_2']", "reasoning", id="reasoning without end"),
    ],
)
def test_no_ranking_is_made_of_anything_else(text: str, reason: str) -> None:
    parsed = read(text)
    assert parsed.verdict is None, parsed.reason
    assert reason in parsed.reason


@pytest.mark.parametrize(
    ("text", "side"),
    [
        pytest.param("m", "A", id="alone"),
        pytest.param("M", "B", id="alone, the other"),
        pytest.param(" M\n", "B", id="spaced"),
        pytest.param("**m**", "A", id="bold"),
        pytest.param('"M".', "B", id="quoted"),
        pytest.param("Output M", "B", id="named"),
        pytest.param("Best output: m", "A", id="label"),
        pytest.param("The second one is exact.\n\nM", "B", id="last line"),
        pytest.param('{"winner": "m", "why": "M is longer"}', "A", id="JSON"),
    ],
)
def test_a_name_alone_is_read(text: str, side: str) -> None:
    parsed = read(text, NAMED)
    assert isinstance(parsed.verdict, Winner), parsed.reason
    assert parsed.verdict.side == side


@pytest.mark.parametrize(
    "text", ["", "Output", "m or M", "m\nM", "neither", "the model m is much better than M", "I'm", "M is better", "mM"]
)
def test_no_name_is_made_of_anything_else(text: str) -> None:
    assert read(text, NAMED).verdict is None


@pytest.mark.parametrize(
    ("text", "side"),
    [
        pytest.param("Output (a)", "A", id="the first"),
        pytest.param("\nOutput (b) is better than Output (a)", "B", id="the one that stands first"),
        pytest.param("neither", None, id="neither"),
    ],
)
def test_patterns_of_a_foreign_set_are_followed(text: str, side: str | None) -> None:
    form = VerdictForm("patterns", "compare", patterns=(r"(?:^|\n) ?Output \(a\)", r"(?:^|\n) ?Output \(b\)"))
    parsed = read(text, form)
    assert (parsed.verdict.side if isinstance(parsed.verdict, Winner) else None) == side
