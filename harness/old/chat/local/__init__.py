"""Local weights: a chat model that runs in this process, by transformers; needs the extra [models].

model.py       requests that wait, taken in batches of similar length
generation.py  one batch: each conversation with its own temperature, seed, limit and stops
prompts.py     a conversation as the model was trained on it
"""
