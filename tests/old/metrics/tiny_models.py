"""Tiny models made on the spot: a T5 with 200,000 random parameters, and a BERT whose vectors are known by hand."""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

LINES = [
    "question: Is this a natural response in the dialogue? </s> response: Yes, it is. No, it is not.",
    "paragraph: claim: document: summary: reference: utterance: sentence: fact: dialogue history:",
    "The cat sat on the mat. It rains in Budapest. Yes No Yes No Yes No",
] * 20


def save_t5(folder: pathlib.Path, lines: Sequence[str] = LINES, *, whole_words: bool = True) -> pathlib.Path:
    """Save a T5 with its tokenizer and return its folder; without `whole_words` every word begins with one token."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    special = ["<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    size = 300 if whole_words else 1  # the letters alone
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(lines if whole_words else ["a b c Y e s N o"] * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=1024
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
        model.lm_head.weight *= 0.03  # random logits lie too far apart for a share that is neither 0 nor 1
    model.save_pretrained(folder)
    return folder


DIRECTIONS: Mapping[str, Sequence[float]] = {
    "[CLS]": (0, 0, 0, 0, 0, 0, 1, -1),
    "[SEP]": (0, 0, 0, 0, 0, 0, 1, -1),
    "a": (1, -1, 0, 0, 0, 0, 0, 0),
    "b": (0, 0, 1, -1, 0, 0, 0, 0),
    "c": (1, -1, 1, -1, 0, 0, 0, 0),
    "d": (0, 0, 0, 0, 1, -1, 0, 0),
}
"""The vector of each token, in every layer; the cosine of `c` with `a` and with `b` is the root of a half."""


def save_bert(folder: pathlib.Path, *, longest: int | None = 16, layers: int = 3) -> pathlib.Path:
    """Save a BERT in which every token keeps its own vector, and return its folder.

    Attention and feed-forward add nothing, and the vectors' means are 0, so normalisation keeps their directions. With
    `longest` None the tokenizer does not say how much it reads.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", *DIRECTIONS]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    more: dict[str, Any] = {} if longest is None else {"model_max_length": longest}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", **more
    )
    fast.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
    )
    model = BertModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        for word, direction in DIRECTIONS.items():
            model.embeddings.word_embeddings.weight[vocabulary[word]] = torch.tensor(direction, dtype=torch.float32)
    model.save_pretrained(folder)
    return folder
