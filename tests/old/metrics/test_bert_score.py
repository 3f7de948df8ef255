"""BERTScore by a tiny model whose vectors are known, so that every number can be computed by hand."""

import math
import pathlib

import pytest

from harness.old import checkpoints
from harness.old.errors import UsageError
from harness.old.metrics.bert_score import LAYERS
from harness.old.metrics.metric import Item, Metric
from harness.old.metrics.setup import Setup
from harness.old.metrics.table import load_metric
from harness.old.records import Question
from tests.old.metrics.tiny_models import save_bert

pytestmark = pytest.mark.models
HALF = math.sqrt(1 / 2)


@pytest.fixture(scope="module")
def metric(bert: pathlib.Path) -> Metric:
    return load_metric("bert_score", Setup(bert_model=str(bert), device="cpu", batch_size=2))


@pytest.mark.parametrize(
    ("answer", "reference", "precision", "recall"),
    [
        pytest.param("a b", "a b", 1, 1, id="same"),
        pytest.param("a", "d", 0, 0, id="nothing in common"),
        pytest.param("a d", "a b", 1 / 2, 1 / 2, id="half"),
        pytest.param("a a a d", "a", 3 / 4, 1, id="every token counts"),
        pytest.param("c", "a", HALF, HALF, id="alike"),
        pytest.param("c d", "a b", HALF / 2, HALF, id="the greatest cosine counts"),
        pytest.param("a b", "c", HALF, HALF, id="both like one"),
    ],
)
def test_by_hand(metric: Metric, answer: str, reference: str, precision: float, recall: float) -> None:
    found = metric("q", answer, reference)
    f = 2 * precision * recall / (precision + recall) if precision else 0
    expected = {"bert_score_precision": precision, "bert_score_recall": recall, "bert_score": f}
    assert found.values == pytest.approx(expected, abs=1e-6)
    assert found.value == found.values["bert_score"]


def test_batches_change_nothing(bert: pathlib.Path) -> None:
    pairs = [("a", "a b c d"), ("a b c d a b", "c"), ("d d", "d c"), ("c", "c b a"), ("a a b", "b")]
    question = Question(1, "stem", ("?",))
    items = [Item(question, 1, (said,), wanted) for said, wanted in pairs]
    found = []
    for size in (1, 2, 8):
        each = load_metric("bert_score", Setup(bert_model=str(bert), device="cpu", batch_size=size)).measure(items)
        found.append([measured.value for measured in each])
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    assert found[0] == pytest.approx(found[2], abs=1e-6)


def test_empty_texts(metric: Metric) -> None:
    assert metric("q", " ", "a").value == 0
    empty = metric("q", "a", "")
    assert (empty.value, empty.values["bert_score"], empty.note) == (None, None, "the reference is empty")
    assert metric("q", "", "").value is None


@pytest.mark.parametrize("longest", [16, None])
def test_a_long_text_is_cut_and_the_row_says_so(tmp_path: pathlib.Path, longest: int | None) -> None:
    folder = save_bert(tmp_path, longest=longest)
    metric = load_metric("bert_score", Setup(bert_model=str(folder), device="cpu"))
    measured = metric("q", "a " * 14 + "d " * 50, "a")
    assert measured.values["bert_score_precision"] == pytest.approx(1)
    assert measured.note == "read up to 16 tokens"
    assert metric("q", "a", "a").note is None


def test_the_row_says_which_model_layer_and_library(metric: Metric, bert: pathlib.Path) -> None:
    assert metric.parameters == {"model": checkpoints.find(str(bert)).identity, "layer": 3}
    assert metric.tokenizer == str(bert)
    assert metric.library is not None
    assert metric.library.startswith("transformers ")


def test_the_layer_is_that_of_bert_score_for_models_that_it_knows(tmp_path: pathlib.Path) -> None:
    folder = save_bert(tmp_path / "distilbert-base-uncased", layers=6)
    setup = Setup(bert_model=str(folder), device="cpu")
    assert load_metric("bert_score", setup).parameters["layer"] == LAYERS["distilbert-base-uncased"] == 5


def test_another_layer_is_another_metric(bert: pathlib.Path, metric: Metric) -> None:
    second = load_metric("bert_score", Setup(bert_model=str(bert), bert_layer=2, device="cpu"))
    assert second.parameters["layer"] == 2
    assert second.content != metric.content


def test_other_weights_are_another_metric(tmp_path: pathlib.Path, metric: Metric) -> None:
    import torch
    from transformers import AutoModel

    folder = save_bert(tmp_path)
    before = checkpoints.find(str(folder)).identity
    assert before == metric.parameters["model"]
    changed = AutoModel.from_pretrained(folder)
    with torch.no_grad():
        changed.embeddings.word_embeddings.weight[3] += 1
    changed.save_pretrained(folder)
    assert checkpoints.find(str(folder)).identity != before


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        pytest.param({"bert_layer": 4}, "--bert-layer must be from 1 to 3", id="layer"),
        pytest.param({"device": "cuda:7"}, "--device cuda:7 cannot be used: ", id="device"),
        pytest.param({"device": "gpu"}, "--device gpu cannot be used: ", id="no device"),
        pytest.param({"bert_model": None}, "bert_score needs a model: --bert-model", id="no model"),
    ],
)
def test_what_cannot_work_is_one_line(bert: pathlib.Path, more: dict[str, object], reason: str) -> None:
    setup = Setup(**{"bert_model": str(bert), **more})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=reason):
        load_metric("bert_score", setup)("q", "a", "a")
