"""Tiny models made on the spot: real generation and scoring in milliseconds."""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

_LINES = [
    "You are a helpful assistant. USER: ASSISTANT: user assistant system",
    "question: Is this natural? </s> response: claim: document: dialogue history: Yes No Yes No",
    "The cat sat on the mat. It rains in Budapest. Rating: [[7]] one two three four five six",
] * 20
TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}"
    "{% endif %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
)
"""A chat template without a system role."""


def save_llama(folder: pathlib.Path, template: str | None = TEMPLATE, longest: int = 256) -> str:
    """Save a Llama with random weights and its tokenizer, and return the folder."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_LINES, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.chat_template = template
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=longest,
        initializer_range=0.2,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


def save_t5(folder: pathlib.Path, *, whole_words: bool = True) -> str:
    """Save a T5 with its tokenizer; without `whole_words` every word begins with one token."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    special = ["<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=300 if whole_words else 1, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator(_LINES if whole_words else ["a b c Y e s N o"] * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        "$A </s>", special_tokens=[("</s>", 1)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(fast),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
    )
    model = T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.lm_head.weight *= 0.03  # random logits are too far apart for shares within 0 and 1
    model.save_pretrained(folder)
    return str(folder)


_DIRECTIONS: Mapping[str, Sequence[float]] = {
    "[CLS]": (0, 0, 0, 0, 0, 0, 1, -1),
    "[SEP]": (0, 0, 0, 0, 0, 0, 1, -1),
    "a": (1, -1, 0, 0, 0, 0, 0, 0),
    "b": (0, 0, 1, -1, 0, 0, 0, 0),
    "c": (1, -1, 1, -1, 0, 0, 0, 0),
}
"""The vector of each token in every layer; the cosine of c with a and with b is the root of 1/2."""


def save_bert(folder: pathlib.Path) -> str:
    """Save a BERT in which every token keeps its own vector, and return its folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", *_DIRECTIONS]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(word, vocabulary[word]) for word in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    names: dict[str, Any] = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="[CLS]", sep_token="[SEP]", **names
    )
    fast.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
    )
    model = BertModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        weights = model.embeddings.word_embeddings.weight
        for word, direction in _DIRECTIONS.items():
            weights[vocabulary[word]] = torch.tensor(direction, dtype=torch.float32)
    model.save_pretrained(folder)
    return str(folder)
