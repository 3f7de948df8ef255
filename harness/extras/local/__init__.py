"""Models that run in this process, by transformers: chat models, and metrics by a model.

    checkpoint.py   a folder or repository of weights: found first, loaded when used
    model.py        the chat model: waiting requests are computed in batches
    generation.py   one batch: each conversation with its own sampling, seed, limit and stops
    prompts.py      a conversation as the model was trained on it
    serving.py      `--serve vllm`: a server of the weights for one run
    bert_score.py  unieval.py      metrics

All of it needs the extra [models].
"""
