"""The choice among the metrics of the table `METRICS`."""

import importlib
from collections.abc import Iterable

from harness.old.errors import UsageError
from harness.old.metrics import METRICS, TEXT_METRICS, colossalai
from harness.old.metrics.metric import Metric
from harness.old.metrics.setup import Setup
from harness.old.metrics.tokens import TOKENIZERS
from harness.old.written import nearest

VARIANTS = ("default", colossalai.VARIANT)
_USUAL = Setup()


def load_metrics(names: Iterable[str], setup: Setup = _USUAL) -> list[Metric]:
    """Return the metrics of these names, in this order; `text` stands for all that need no model.

    Raises:
        UsageError: a name, variant or tokenizer is unknown (with the nearest one), or an extra is not installed.
    """
    every = [each for name in names for each in (TEXT_METRICS if name == "text" else (name,))]
    return [load_metric(name, setup) for name in dict.fromkeys(every)]


def load_metric(name: str, setup: Setup = _USUAL) -> Metric:
    """Return the metric of that name; see `load_metrics`."""
    if name not in METRICS:
        raise UsageError(f"no metric {name!r}; {nearest(name, ['text', *METRICS])}")
    if setup.variant not in VARIANTS:
        raise UsageError(f"no variant {setup.variant!r}; {nearest(setup.variant, list(VARIANTS))}")
    if setup.tokenizer is not None and setup.tokenizer not in TOKENIZERS:
        raise UsageError(f"no tokenizer {setup.tokenizer!r}; {nearest(setup.tokenizer, list(TOKENIZERS))}")
    if setup.variant == colossalai.VARIANT and name in colossalai.METRICS:
        return colossalai.METRICS[name](setup)
    metric: Metric = importlib.import_module(f"harness.old.metrics.{name}").metric(setup)
    return metric
