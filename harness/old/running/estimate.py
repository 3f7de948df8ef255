"""Estimates of a text's tokens from its characters, and of the cost of calls.

No tokenizer is needed, and for most models none is available. A text is split into words, numbers, symbols and letters
of scripts without spaces, and each is weighted by its average tokens in the vocabularies of a family of
models:

    "Prices rose by 12%."   3 words + the rest of a long one + 1 number + 2 runs of symbols   ≈ 7 tokens

The weights were fitted to the shipped benchmarks and most of the texts of `tests/running/token_texts.toml`, where the
counts by real tokenizers are recorded. On texts of a few hundred characters and more they are within 20%, usually
within 10; for the unpublished vocabulary of Anthropic's newest models, there is only the provider's statement.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.old.chat.price import Price
from harness.old.patterns import late_re
from harness.old.records import Message, Reply, Usage

FRAME_TOKENS = 4
"""Tokens that a message takes beyond its text."""
LONG_WORD = 6
"""Letters of a word that weigh nothing beyond the word itself."""

FEWEST = 8
"""Past replies from which a range is taken."""

_RANGES = (
    ("w", "A-Za-z"),
    ("a", "\u00aa-\u024f\u1e00-\u1eff"),
    ("d", "0-9"),
    ("n", "\n"),
    ("b", "\\s"),
    ("h", "\u3400-\u9fff\uf900-\ufaff"),
    ("k", "\u3040-\u30ff"),
    ("g", "\uac00-\ud7a3"),
    ("c", "\u0400-\u04ff"),
    ("i", "\u3000-\u303f\uff00-\uffef"),
    ("s", "!-/:-@\\[-`{-~"),
)
"""Letters, letters with accents, digits, newlines, blanks, Han, kana, hangul, Cyrillic, wide marks, symbols: a
character is of the first kind that holds it."""


_KIND = late_re("|".join(f"(?P<{letter}>[{held}])" for letter, held in _RANGES))


class _Kinds(dict[int, str]):
    """The letter of the kind of each character, for `str.translate`; `o` is any other."""

    def __missing__(self, code: int) -> str:
        found = _KIND.match(chr(code))
        kind = self[code] = (found and found.lastgroup) or "o"
        return kind


_KINDS = _Kinds()
_WORDS, _LONG_WORDS = late_re("[wa]+"), late_re(f"[wa]{{{LONG_WORD + 1},}}")
_DIGITS, _SYMBOLS = late_re("d{1,3}"), late_re("s+")
# Each looks at a run of white space once only, from its start: else a long run of blanks would take quadratic time.
_NEWLINES, _INDENTS = late_re("(?<![bn])b*n[bn]*"), late_re("(?<![bn])b{2,}(?![bn])")


class Weights(NamedTuple):
    """What each kind of piece weighs in tokens, for one family of models."""

    word: float
    long: float
    """For each letter of a word beyond `LONG_WORD`."""
    accent: float
    """For each letter with an accent: it splits its word, and marks a language that the vocabulary knows less well."""
    digits: float
    """For each three digits of a number."""
    newline: float
    indent: float
    han: float
    kana: float
    hangul: float
    cyrillic: float
    wide: float
    """For each mark of East Asian punctuation."""
    symbols: float
    """For each run of symbols."""
    more_symbols: float
    """For each symbol of a run but the first."""
    other: float
    """For each character of any other script."""


O200K = Weights(1.00, 0.15, 1.62, 1.52, 0.61, 0.82, 0.73, 0.63, 0.86, 0.33, 1.6, 0.91, 0.10, 0.75)
"""OpenAI's models from gpt-4o on."""
CL100K = Weights(0.95, 0.41, 2.23, 1.62, 0.30, 0.34, 1.19, 0.90, 1.43, 0.58, 1.4, 0.88, 0.07, 1.3)
"""OpenAI's models before."""
CLAUDE = Weights(0.92, 0.51, 2.88, 1.22, 0.95, 0.11, 1.09, 0.97, 1.56, 0.62, 1.4, 0.95, 0.03, 1.3)
"""Anthropic's models up to Opus 4.6 and Haiku 4.5."""
CLAUDE_NEW = Weights(1.24, 0.69, 3.1, 1.58, 1.20, 0.14, 1.09, 0.97, 1.56, 0.80, 1.4, 1.23, 0.04, 1.3)
"""Anthropic's models from Opus 4.7 on: by their maker's word about 30% more tokens, for Chinese hardly any."""
QWEN = Weights(0.97, 0.38, 2.08, 2.05, 0.87, 0.35, 0.60, 0.60, 1.02, 0.42, 1.0, 0.68, 0.27, 0.9)
"""Qwen's and DeepSeek's models."""
MISTRAL = Weights(1.02, 0.23, 1.40, 2.46, 1.24, 0.31, 0.93, 0.58, 0.70, 0.35, 1.0, 0.68, 0.22, 0.8)
"""Mistral's models with the vocabulary called Tekken."""
OTHERS = Weights(0.99, 0.30, 1.70, 2.10, 0.90, 0.40, 0.72, 0.60, 0.87, 0.38, 1.2, 0.75, 0.22, 0.9)
"""The middle of the newer vocabularies, for a model of which nothing is known."""

_FAMILIES = (
    (late_re(r"(?:ft:)?gpt-(?:3\.5|4(?![o.\d]))"), CL100K),
    (late_re(r"(?:ft:)?(?:chat)?gpt-|o\d(?:-|$)"), O200K),
    (late_re(r"claude-(?:3|instant|2|(?:opus|sonnet|haiku)-4(?:-[0-6](?!\d)|-\d{8}|$))"), CLAUDE),
    (late_re(r"claude-"), CLAUDE_NEW),
    (late_re(r"(?i:.*(?:qwen|qwq|deepseek))"), QWEN),
    (late_re(r"(?i:.*(?:mistral|ministral|mixtral|magistral|codestral))"), MISTRAL),
)


LONG_TEXT = 50_000
"""Characters beyond which a text is not read on."""
_KEPT = 512
"""Texts whose tokens are kept: system prompts, refusals and the prompts of repeated games come again and again."""


def weights_of(model: str) -> Weights:
    """Return the weights of a model's family, by its name."""
    return next((weights for pattern, weights in _FAMILIES if pattern.match(model)), OTHERS)


def text_tokens(text: str, weights: Weights = OTHERS) -> float:
    """Return about how many tokens a text has; a very long one is estimated from its beginning."""
    if len(text) > LONG_TEXT:
        return _tokens(text[:LONG_TEXT], weights) * len(text) / LONG_TEXT
    return _tokens(text, weights)


@functools.lru_cache(_KEPT)
def _tokens(text: str, weights: Weights) -> float:
    kinds = text.translate(_KINDS)  # a pass in C for each kind is ten times faster than a look at each word
    long_words = _LONG_WORDS.findall(kinds)
    runs = len(_SYMBOLS.findall(kinds))
    return (
        len(_WORDS.findall(kinds)) * weights.word
        + (sum(map(len, long_words)) - len(long_words) * LONG_WORD) * weights.long
        + kinds.count("a") * weights.accent
        + len(_DIGITS.findall(kinds)) * weights.digits
        + len(_NEWLINES.findall(kinds)) * weights.newline
        + len(_INDENTS.findall(kinds)) * weights.indent
        + kinds.count("h") * weights.han
        + kinds.count("k") * weights.kana
        + kinds.count("g") * weights.hangul
        + kinds.count("c") * weights.cyrillic
        + kinds.count("i") * weights.wide
        + runs * weights.symbols
        + (kinds.count("s") - runs) * weights.more_symbols
        + kinds.count("o") * weights.other
    )


def prompt_tokens(messages: Sequence[Message], weights: Weights = OTHERS) -> float:
    """Return about how many tokens the messages of a request have."""
    return sum(text_tokens(message.content, weights) + FRAME_TOKENS for message in messages)


class Span(NamedTuple):
    """The least and the most of something, as far as one can tell."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the calls to one model will take."""

    model: str
    calls: int
    """Calls, if none has to be repeated."""
    prompt_tokens: float
    """Of all prompts, including those with a reply that does not exist yet."""
    reply_tokens: Span
    """Of all replies."""
    price: Price | None
    one_reply: float = 0.0
    """Expected tokens of one reply, for the prompts that will contain it."""
    past: int = 0
    """How many replies of this model the range was taken from; 0: from the stated default up to the limit."""
    batch: bool = False
    what: str = "answers"
    """What the calls are for: answers or judgments."""
    cached: float = 0.0
    """Prompt tokens that will come from the provider's cache, by its published rules."""
    written: float = 0.0
    """Of the prompt tokens those that it will put there."""
    again: float = 0.0
    """Additional reply tokens if every reply were cut off and requested again; 0: none is."""
    mode: str | None = None
    """Of judgments the mode."""
    judge_set: str | None = None
    """Of judgments the judge set."""
    sample: int | None = None
    """Of judgments which sample of the judge's."""

    @property
    def cost_again(self) -> float | None:
        """Additional dollars if every reply were cut off and requested again."""
        return self._cost(Usage(round(self.prompt_tokens), round(self.again))) if self.again else 0.0

    @property
    def cost(self) -> Span | None:
        """Dollars; None if the price is unknown."""
        prompt, cached, written = round(self.prompt_tokens), round(self.cached), round(self.written)
        low, high = (self._cost(Usage(prompt, round(tokens), None, cached, written)) for tokens in self.reply_tokens)
        return None if low is None or high is None else Span(low, high)

    def _cost(self, usage: Usage) -> float | None:
        return None if self.price is None else self.price.cost(Reply("", usage=usage, batch=self.batch))

    def row(self) -> dict[str, object]:
        """Return the row of a table: calls, tokens and dollars."""
        cost = self.cost
        return {
            "what": self.what,
            "model": self.model,
            "mode": self.mode,
            "judge_set": self.judge_set,
            "sample": self.sample,
            "calls": self.calls,
            "prompt_tokens": round(self.prompt_tokens),
            "cached_tokens": round(self.cached),
            "reply_tokens_low": round(self.reply_tokens.low),
            "reply_tokens_high": round(self.reply_tokens.high),
            "cost_low": None if cost is None else cost.low,
            "cost_high": None if cost is None else cost.high,
        }


def reply_span(past: Sequence[float], usual: int, limit: int) -> Span:
    """Return the tokens of one reply: the interquartile range of past ones, widened to include their mean.

    With fewer than `FEWEST` past ones it is from `usual` to the limit.
    """
    if len(past) < FEWEST:
        return Span(min(usual, limit), limit)
    ordered = sorted(past)
    mean = sum(ordered) / len(ordered)
    low, high = ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]
    return Span(min(low, mean, limit), min(max(high, mean), limit))
