"""The choice among the metrics."""

import functools
from collections.abc import Callable, Iterable, Mapping

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
    wanted = [name for entry in names for name in (TEXT if entry == "text" else (entry,))]
    loaders = {
        name: functools.partial(load_one, name, setup)
        for name in wanted
        if name not in setup.options.without
    }
    return load_all(loaders)


def load_all(loaders: Mapping[str, Callable[[], Metric]]) -> list[Metric]:
    """Return the metrics that the functions load.

    Raises:
        UsageError: some cannot be; their causes, and the flag that goes on without them.
    """
    metrics: list[Metric] = []
    causes: dict[str, str] = {}
    for name, loader in loaders.items():
        try:
            metrics.append(loader())
        except UsageError as error:
            causes[name] = str(error)
    if not causes:
        return metrics
    text = "; ".join(dict.fromkeys(causes.values()))
    raise UsageError(f"{text}; --without {' '.join(causes)} goes on without")


def load_one(name: str, setup: Setup) -> Metric:
    """Return the metric of a name, in the variant of the set-up."""
    if setup.options.variant == colossalai.VARIANT and name in colossalai.NAMES:
        return colossalai.metric(name, setup)
    metric: Metric = registry.find("metric", name)(setup)
    return metric
