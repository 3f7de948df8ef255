"""BERTScore and UniEval on tiny models whose numbers are known."""

import math
import pathlib

import pytest

from harness.errors import DataError, UsageError
from harness.metrics import Metric, Setup, load
from harness.metrics.metric import MeasuredTurn
from harness.options import MetricOptions
from harness.types import Question
from tests.local.tiny_models import save_bert, save_t5

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Metric:
    """Return BERTScore by a model whose vectors are known."""
    folder = save_bert(tmp_path_factory.mktemp("bert"))
    return load(["bert_score"], Setup(options=MetricOptions(bert_model=folder)))[0]


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a tiny T5."""
    return save_t5(tmp_path_factory.mktemp("t5"))


@pytest.mark.parametrize(
    ("answer", "reference", "precision", "recall"),
    [
        pytest.param("a b", "b a", 1, 1, id="same tokens"),
        pytest.param("c", "a b", math.sqrt(0.5), math.sqrt(0.5), id="between"),
        pytest.param("a b", "a", 0.5, 1, id="more than needed"),
        pytest.param("", "a", 0, 0, id="empty answer"),
    ],
)
def test_bert_score_is_greedy_cosine(
    bert: Metric, answer: str, reference: str, precision: float, recall: float
) -> None:
    values = bert("?", answer, reference).values
    assert values["bert_score_precision"] == pytest.approx(precision, abs=1e-6)
    assert values["bert_score_recall"] == pytest.approx(recall, abs=1e-6)


def test_bert_score_says_what_is_missing(bert: Metric) -> None:
    assert bert("?", "a " * 40, "a").note == "read up to 16 tokens"
    with pytest.raises(UsageError, match="bert_score needs a model: --bert-model"):
        load(["bert_score"])


def unieval(place: str, tmp_path: pathlib.Path, text: str, size: int = 8) -> Metric:
    questions = tmp_path / "questions.toml"
    questions.write_text(f'name = "mine"\n[tasks.dialogue]\n{text}')
    options = MetricOptions(unieval_model=(f"dialogue={place}",), unieval_questions=questions)
    return load(["unieval"], Setup(options=options, batch_size=size))[0]


ASK = 'natural = "question: Natural? </s> response: {answer}"\n'
EACH = 'claims = "question: True? </s> claim: {sentence} </s> document: {source}"\n'


def test_unieval_asks_about_answers_and_sentences(t5: str, tmp_path: pathlib.Path) -> None:
    metric = unieval(t5, tmp_path, ASK + EACH)
    measured = metric("What?", "It rains. The cat sat.")
    assert set(measured.values) == {"dialogue_natural", "dialogue_claims"}
    assert measured.value == pytest.approx(sum(filter(None, measured.values.values())) / 2)
    first, second = (
        metric("What?", text).values["dialogue_claims"] for text in ("It rains.", "The cat sat.")
    )
    assert first is not None
    assert second is not None
    assert first != second
    assert measured.values["dialogue_claims"] == pytest.approx((first + second) / 2)
    assert 0 < first < 1


def test_unieval_does_not_depend_on_the_batch(t5: str, tmp_path: pathlib.Path) -> None:
    question = Question(question_id=1, category="c", turns=["What?"])
    items = [MeasuredTurn(question, 1, ["It rains. " * n]) for n in range(1, 6)]
    singly, batched = (
        [measured.value for measured in unieval(t5, tmp_path, ASK, size).measure(items)]
        for size in (1, 8)
    )
    assert singly == pytest.approx(batched, abs=1e-6)


def test_an_answer_cannot_end_its_own_part(t5: str, tmp_path: pathlib.Path) -> None:
    metric = unieval(t5, tmp_path, ASK)
    assert metric("?", "a </s> b").value == metric("?", "a   b").value


def test_an_answer_without_sentences_has_no_number(t5: str, tmp_path: pathlib.Path) -> None:
    note = unieval(t5, tmp_path, EACH)("What?", " ").note
    assert note == "a text that is asked about is empty (dialogue/claims)"


def test_a_model_without_tokens_for_yes_and_no_is_refused(tmp_path: pathlib.Path) -> None:
    place = save_t5(tmp_path / "letters", whole_words=False)
    with pytest.raises(UsageError, match='cannot answer "Yes" or "No"'):
        unieval(place, tmp_path, ASK)


@pytest.mark.parametrize(
    "text", ['"{anwser}"', '"question?"', '{ ask = "{answer}", sentences = "sum" }']
)
def test_a_wrong_question_is_named(t5: str, tmp_path: pathlib.Path, text: str) -> None:
    with pytest.raises(DataError, match=r"dialogue/x: must hold either \{answer\} or"):
        unieval(t5, tmp_path, f"x = {text}")
