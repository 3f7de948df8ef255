"""What a user may choose about metrics, and the versions of the libraries that compute them."""

import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Setup:
    """How metrics are to be computed."""

    language: str = "en"
    """The language of the texts, as `bench.toml` names it."""
    variant: str = "default"
    tokenizer: str | None = None
    """One of `tokens.TOKENIZERS`; None: what fits the language."""
    bert_model: str | None = None
    """For BERTScore: a folder, or a repository of a hub (`name` or `name@revision`)."""
    bert_layer: int | None = None
    """For BERTScore: the layer whose vectors are compared; None: as bert-score does for a model of this name."""
    unieval_models: Mapping[str, str] = field(default_factory=dict)
    """For UniEval: the checkpoint of each task, as for BERTScore; the task `*` stands for all others."""
    unieval_dimensions: tuple[str, ...] = ()
    """For UniEval: what to ask, such as `dialogue/naturalness`; empty: every dimension of the tasks with a model."""
    unieval_categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For UniEval: what to ask in each category, and nothing in all others; empty: the same in all."""
    unieval_questions: pathlib.Path | None = None
    """For UniEval: a file of questions; None: the shipped stand-ins."""
    device: str | None = None
    """Where a model runs, such as `cpu` or `cuda:0`; None: on a GPU if there is one."""
    batch_size: int = 8
    """Texts that a model reads at once."""


def library_version(name: str) -> str:
    """Return an installed library with its version, such as `sacrebleu 2.6.0`."""
    from importlib.metadata import version

    return f"{name} {version(name)}"


def by_task(given: Iterable[str]) -> dict[str, str]:
    """Return the checkpoint of each task from texts such as `dialogue=DIR_OR_REPO`; one without a task is for all."""
    pairs = (text.partition("=") for text in given)
    return {(task if equals else "*"): model if equals else task for task, equals, model in pairs}
