"""The choice among the metrics."""

from collections.abc import Iterable

from harness import registry
from harness.errors import UsageError
from harness.metrics import colossalai
from harness.metrics.metric import Metric, Setup

TEXT = ("bleu", "rouge", "chrf", "token_f1", "exact_match", "label_match", "distinct")
"""The metrics that need no model: `--metrics text`."""
_USUAL = Setup()


def load(names: Iterable[str], setup: Setup = _USUAL) -> list[Metric]:
    """Return the metrics of these names; `text` stands for all that need no model.

    Raises:
        UsageError: a name or variant is unknown, or an extra is not installed.
    """
    variant = setup.options.variant
    if variant not in ("default", colossalai.VARIANT):
        raise UsageError(f"no variant {variant!r}; there are default and {colossalai.VARIANT}")
    metrics: dict[str, Metric] = {}
    for entry in names:
        for name in TEXT if entry == "text" else (entry,):
            if variant == colossalai.VARIANT and name in colossalai.NAMES:
                metrics[name] = colossalai.metric(name, setup)
            else:
                metrics[name] = registry.find("metric", name)(setup)
    return list(metrics.values())
