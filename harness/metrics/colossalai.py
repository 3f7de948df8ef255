"""The text metrics of ColossalAI's chat evaluation, to the digit, by the libraries that it used.

    texts      small letters, most punctuation removed; English cut at spaces, Chinese by jieba
    bleu       nltk, no smoothing
    rouge      English by rouge-score, Chinese by rouge-chinese
    chrf       nltk: beta 3, spaces left out
    distinct   one number: English the mean of three shares, Chinese the share of different words
    token_f1   scikit-learn over places: whether both have the same token at each, up to the shorter

Its faults are part of the numbers (identical "yes" has half a chrF); where it stops with an error,
the value is None. Libraries: the extra [colossalai].
"""

import functools
import logging
import string
import warnings
from collections.abc import Callable, Mapping, Sequence

from harness.errors import UsageError
from harness.metrics.metric import Metric, Numbers, Setup, of_texts, versions

VARIANT = "colossalai"
_KEPT = "!@#$%&()<>?|,.\"'"
_CHINESE = (
    "＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､\u3000、〃〈〉《》「」『』【】"
    "〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏﹑﹔·．！？｡。"
)
"""zhon's punctuation."""
_REMOVED = dict.fromkeys(map(ord, set(string.punctuation + _CHINESE) - set(_KEPT)))
_WEIGHTS = [tuple(1 / n if k < n else 0.0 for k in range(4)) for n in (1, 2, 3, 4)]


@functools.lru_cache(4096)
def prepared(text: str) -> str:
    """Return a text in small letters, most punctuation removed, single spaces."""
    return " ".join(text.lower().translate(_REMOVED).split())


@functools.lru_cache(4096)
def _jieba(text: str) -> list[str]:
    """Return the words that jieba finds in a Chinese text, spaces left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its expressions, on newer Pythons
        import jieba
    jieba.setLogLevel(logging.WARNING)
    return " ".join(jieba.cut(text)).split()


def _bleu(answer: list[str], reference: list[str]) -> Numbers:
    from nltk.translate.bleu_score import sentence_bleu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on every order without a match
        scores = sentence_bleu([reference], answer, weights=_WEIGHTS)
    return {f"bleu_{order}": float(score) for order, score in enumerate(scores, 1)}


def _chrf(answer: list[str], reference: list[str]) -> Numbers:
    from nltk.translate.chrf_score import sentence_chrf

    return {"chrf": sentence_chrf(reference, answer)}


def _rouge(answer: list[str], reference: list[str]) -> Numbers:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    scores = scorer.score(" ".join(reference), " ".join(answer))
    return {f"rouge_{name[-1].lower()}": score.fmeasure for name, score in scores.items()}


def _rouge_chinese(answer: list[str], reference: list[str]) -> Numbers:
    from rouge_chinese import Rouge

    scores = Rouge().get_scores([" ".join(answer)], [" ".join(reference)], avg=True)
    return {f"rouge_{n}": scores[f"rouge-{n}"]["f"] for n in ("1", "2", "l")}


def _distinct(words: Sequence[str], orders: Sequence[int]) -> Numbers:
    shares = []
    for n in orders:
        runs = [tuple(words[place : place + n]) for place in range(len(words) - n + 1)]
        # It adds a millionth, so that it need not ask whether there is any.
        shares.append(len(set(runs)) / (len(runs) + 1e-6))
    return {"distinct": sum(shares) / len(shares)}


def _token_f1(answer: list[str], reference: list[str]) -> Numbers:
    from sklearn.metrics import precision_recall_fscore_support

    same = [int(token == expected) for token, expected in zip(answer, reference, strict=False)]
    numbers = precision_recall_fscore_support(
        [1] * len(same), same, average="binary", zero_division=0
    )
    names = ("token_precision", "token_recall", "token_f1")
    return dict(zip(names, map(float, numbers[:3]), strict=True))


_METRICS: Mapping[str, tuple[Callable[[list[str], list[str]], Numbers], str, tuple[str, ...]]] = {
    "bleu": (_bleu, "bleu_4", ("nltk",)),
    "rouge": (_rouge, "rouge_l", ("rouge-score", "rouge-chinese")),
    "chrf": (_chrf, "chrf", ("nltk",)),
    "distinct": (lambda answer, _: _distinct(answer, (1, 2, 3)), "distinct", ()),
    "token_f1": (_token_f1, "token_f1", ("scikit-learn",)),
}
"""Each function of tokens with the name of its main number, and its libraries."""
NAMES = tuple(_METRICS)
"""The metrics that have this variant."""


def metric(name: str, setup: Setup) -> Metric:
    """Return a metric as ColossalAI computes it.

    Raises:
        UsageError: the language is neither English nor Chinese, or the extra is missing.
    """
    language = setup.language
    if language not in ("en", "zh"):
        raise UsageError(
            f"the variant {VARIANT} of {name} is for English and Chinese, "
            f"these texts are {language!r}; leave out --variant, or say --language en or zh"
        )
    function, main, libraries = _METRICS[name]
    chinese = language == "zh"
    tokens = _jieba if chinese else str.split
    library = versions(*libraries, *(["jieba"] if chinese else [])) or None

    def measured(answer: str, reference: str) -> Numbers:
        try:
            if chinese and name == "distinct":
                return _distinct(_jieba(answer), (1,))
            score = _rouge_chinese if chinese and name == "rouge" else function
            return score(tokens(prepared(answer)), tokens(prepared(reference)))
        except (ValueError, ZeroDivisionError, IndexError):  # of an empty text
            return {main: None}

    return of_texts(
        measured,
        main,
        name=name,
        variant=VARIANT,
        tokenizer=None if name == "chrf" else "jieba" if chinese else "whitespace",
        library=library,
        needs_reference=name != "distinct",
        parameters={"language": language},
    )
