"""A Llama with random weights and a tokenizer trained on the spot: real generation, in milliseconds a token."""

import pathlib
from typing import Any

LINES = [
    "You are a helpful assistant. USER: ASSISTANT: [INST] [/INST] user assistant system",
    "The cat sat on the mat. It rains in Budapest. Rating: [[7]] one two three four five six seven",
] * 20
TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
)


def save_llama(
    folder: pathlib.Path, *, template: str | None = TEMPLATE, longest: int = 256, **config: Any
) -> pathlib.Path:
    """Save the model and its tokenizer, and return the folder."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(LINES, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.chat_template = template
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    settings = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": longest,
        "initializer_range": 0.2,
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
    LlamaForCausalLM(LlamaConfig(vocab_size=len(fast), **{**settings, **config})).save_pretrained(folder)
    return folder
