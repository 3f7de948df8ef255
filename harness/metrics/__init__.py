"""Numbers without a judge, computed from an answer and, for most, a reference.

    metric.py     what a metric is: a function of one turn of one answer, and its settings
    table.py      every metric by name: one file and one line each
    setup.py      the user's options
    tokens.py     texts -> tokens, for every language; segmentation.py: Chinese into jieba's words
    ngrams.py     the n-grams that two token sequences share
    bleu.py  rouge.py  chrf.py  distinct.py  token_f1.py  exact_match.py  label_match.py      from the texts alone
    colossalai.py the same by the formulas and tokens of ColossalAI's evaluation
    bert_score.py  unieval.py     by a model (extra [models])
    checks.py     the checks of `harness.checks` as a metric
    questions.py  UniEval's questions: unieval.toml, or a file of the user's
    advice.py     when a number means less than it seems
    run.py        all of it together: plan_metrics, run_metrics, which write model_metric/

A metric knows no benchmark and no file; `run.py` knows no metric.
"""
