"""Numbers without a judge, computed from an answer and, for most, a reference.

    metric.py     what a metric is: a function of one turn of one answer, and its settings
    table.py      the choice among them
    setup.py      the user's options
    tokens.py     texts -> tokens, for every language; segmentation.py: Chinese into jieba's words
    ngrams.py     the n-grams that two token sequences share
    bleu.py  rouge.py  chrf.py  distinct.py  token_f1.py  exact_match.py  label_match.py      from the texts alone
    colossalai.py the same by the formulas and tokens of ColossalAI's evaluation
    bert_score.py  unieval.py     by a model (extra [models])
    checks.py     the checks of `harness.old.checks` as a metric
    questions.py  UniEval's questions: unieval.toml, or a file of the user's
    advice.py     when a number means less than it seems
    run.py        all of it together: plan_metrics, run_metrics, which write model_metric/

A metric knows no benchmark and no file; `run.py` knows no metric.
"""

METRICS = {
    "bleu": "BLEU-1 to BLEU-4",
    "rouge": "ROUGE-1, ROUGE-2, ROUGE-L",
    "chrf": "chrF",
    "token_f1": "precision, recall and F1 of tokens",
    "exact_match": "whether the answer is the reference",
    "label_match": "whether the answer names the reference's label and no other",
    "distinct": "distinct-1 to distinct-3, without a reference",
    "bert_score": "BERTScore, by a model (extra [models])",
    "unieval": "UniEval, by a model (extra [models])",
}
"""Every metric by name; a new one is one file of that name, and one line here."""
TEXT_METRICS = tuple(name for name in METRICS if name not in ("bert_score", "unieval"))
