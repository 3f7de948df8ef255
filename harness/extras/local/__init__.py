"""Models that run in this process, by transformers: chat models, and metrics by a model.

    checkpoint.py   a folder or repository of weights: found first, loaded when used
    model.py        the chat model: waiting requests are computed in batches
    generation.py   one batch: each conversation with its own sampling, seed, limit and stops
    prompts.py      a conversation as the model was trained on it
    serving.py      `--serve vllm`: a server of the weights for one run
    bert_score.py  unieval.py      metrics

All of it needs the extra [models].
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.extras.local.model import LocalModel
    from harness.models import Endpoint


def open(endpoint: "Endpoint") -> "LocalModel":  # noqa: A001  (the registry's word)
    """Return the chat model of local weights.

    Raises:
        UsageError: there are no such weights, they have no template, or the extra is missing.
    """
    from harness.extras.local.model import LocalModel

    return LocalModel(endpoint)
