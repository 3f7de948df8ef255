"""Numbers without a judge, computed from an answer and, for most, a reference.

    metric.py      what a metric is
    tokens.py      texts to tokens, for every language
    bleu.py  chrf.py  rouge.py  token_f1.py  exact_match.py  label_match.py  distinct.py
    colossalai.py  the same as ColossalAI's evaluation computes them
    load.py        the choice among them
    run.py         from answers to rows of model_metric/
    commands.py    the plans of auto_metrics and auto_checks

A metric knows no benchmark and no file. `checks`, `bert_score` and `unieval` are in `extras/`.
"""

from harness.metrics.commands import load_metrics, plan_checks, plan_metrics
from harness.metrics.load import TEXT, load
from harness.metrics.metric import Measured, MeasuredTurn, Metric, Setup
from harness.metrics.run import MetricPlan, MetricReport, run

__all__ = [
    "TEXT",
    "Measured",
    "MeasuredTurn",
    "Metric",
    "MetricPlan",
    "MetricReport",
    "Setup",
    "load",
    "load_metrics",
    "plan_checks",
    "plan_metrics",
    "run",
]
