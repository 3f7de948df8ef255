"""Numbers without a judge, computed from an answer and, for most, a reference.

    metric.py      what a metric is
    tokens.py      texts to tokens, for every language
    bleu.py  chrf.py  rouge.py  token_f1.py  exact_match.py  label_match.py  distinct.py
    colossalai.py  the same as ColossalAI's evaluation computes them
    load.py        the choice among them
    run.py         from answers to rows of model_metric/
    commands.py    auto_metrics and auto_checks

A metric knows no benchmark and no file. `checks`, `bert_score` and `unieval` are in `extras/`.
"""

from harness.metrics.commands import auto_checks, auto_metrics, plan_checks, plan_metrics
from harness.metrics.load import TEXT, load
from harness.metrics.metric import Item, Measured, Metric, Setup
from harness.metrics.run import MetricPlan, run

__all__ = [
    "TEXT",
    "Item",
    "Measured",
    "Metric",
    "MetricPlan",
    "Setup",
    "auto_checks",
    "auto_metrics",
    "load",
    "plan_checks",
    "plan_metrics",
    "run",
]
