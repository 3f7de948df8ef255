"""Numbers without a judge: what a program computes of an answer, and of the reference beside it.

    metric.py        what a metric is: a function of one turn of one answer, and what shapes its numbers
    table.py         every metric by name: one file and one line each
    tokens.py        texts -> tokens, for every language
    bleu.py  rouge.py  chrf.py  distinct.py  token_f1.py  exact_match.py  label_match.py      from the texts alone
    colossalai.py    the same by the formulas and tokens of ColossalAI's evaluation
    bert_score.py  unieval.py    by a model, which models.py loads (extra [models])
    sentences.py     a text -> its sentences
    run.py           all of it together: plan_metrics, run_metrics, which write model_metric/

A metric knows no benchmark and no file; `run.py` knows no metric.
"""
