"""The text metrics by the formulas and the tokens of ColossalAI's evaluation, for numbers comparable with its own.

    texts       small letters; most punctuation removed; English cut at spaces ("mat." is not "mat"), Chinese by jieba
    bleu        without smoothing: 0 if one order has no match, and for every text shorter than the order
    rouge       English as rouge-score; Chinese as rouge-chinese, which counts each run once, however often it occurs
    distinct    one number: the mean of three shares in English, the share of different words in Chinese
    token_f1    by position: the share of places up to the shorter end at which both have the same token
    chrf        as nltk: beta 3, and a mean of F over the orders, those without runs included ("yes" for "yes" is 0.5)

The original's faults are part of the numbers; where it stops with an error, the value is None. Its libraries are used
only to test this. Other metrics have no such variant.
"""

import functools
import math
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence

from harness.old.errors import UsageError
from harness.old.metrics.bleu import ORDERS
from harness.old.metrics.metric import Measure, Metric, Numbers, of_pairs, of_texts
from harness.old.metrics.ngrams import f_score, longest_common, ngrams, shared_runs
from harness.old.metrics.rouge import rouge
from harness.old.metrics.setup import Setup, library_version
from harness.old.metrics.tokens import REMEMBERED, Tokens, jieba_words, whitespace

VARIANT = "colossalai"
LANGUAGES = ("en", "zh")
_KEPT = "!@#$%&()<>?|,.\"'"
_CHINESE = (
    "＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､\u3000、〃〈〉《》「」『』【】"
    "〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏﹑﹔·．！？｡。"
)
_REMOVED = dict.fromkeys(map(ord, set(string.punctuation + _CHINESE) - set(_KEPT)))
_LATIN = re.compile(r"[a-z0-9]+")
_ROUGE_CHINESE = 1e-8
"""What rouge-chinese adds below the line, so that it need not ask whether anything matched."""
_CHRF_ORDER, _CHRF_BETA, _CHRF_NOTHING = 6, 3, 1e-16
_DISTINCT = 1e-6
"""What the original adds to the number of runs, for the same reason."""


@functools.lru_cache(REMEMBERED)
def prepared(text: str) -> str:
    """Return a text as the original prepares it: small letters, most punctuation gone, single spaces."""
    return " ".join(text.lower().translate(_REMOVED).split())


def _bleu(setup: Setup) -> Metric:
    cut = _cut(setup)

    def numbers(pairs: Sequence[tuple[str, str]]) -> Iterator[Numbers]:
        tokens = [(cut(answer), cut(reference)) for answer, reference in pairs]
        for (answer, reference), common in zip(tokens, shared_runs(tokens, max(ORDERS)), strict=True):
            yield unsmoothed(common, len(answer), len(reference))

    return _metric(setup, "bleu", of_pairs(numbers, "bleu_4"))


def unsmoothed(common: Sequence[int], answer: int, reference: int) -> Numbers:
    """Return BLEU-1..4 without smoothing, of the common runs and the numbers of tokens; 0 from the first order on that
    has no match.
    """
    numbers = dict.fromkeys((f"bleu_{order}" for order in ORDERS), 0.0)
    logs = 0.0
    for order, (name, matches) in enumerate(zip(numbers, common, strict=True), 1):
        if not matches:
            break
        logs += math.log(matches / (answer - order + 1))
        numbers[name] = math.exp(min(0.0, 1 - reference / answer) + logs / order)
    return numbers


def _rouge(setup: Setup) -> Metric:
    if setup.language == "zh":
        cut = _cut(setup)
        return _metric(setup, "rouge", of_texts(lambda a, r: rouge_chinese(cut(a), cut(r)), "rouge_l"))

    def numbers(answer: str, reference: str) -> Numbers:
        said, wanted = (tuple(_LATIN.findall(prepared(text))) for text in (answer, reference))
        return rouge(said, wanted) if wanted else {"rouge_1": 0.0, "rouge_2": 0.0, "rouge_l": 0.0}

    return _metric(setup, "rouge", of_texts(numbers, "rouge_l"), tokenizer="a-z0-9")


def rouge_chinese(answer: Tokens, reference: Tokens) -> Numbers:
    """Return ROUGE as rouge-chinese has it: runs as sets; None where a text has no token."""
    if not answer or not reference:
        return {"rouge_1": None, "rouge_2": None, "rouge_l": None}
    shares = {}
    for n in (1, 2):
        said, wanted = set(ngrams(answer, n)), set(ngrams(reference, n))
        common = len(said & wanted)
        shares[f"rouge_{n}"] = common / max(len(said), 1), common / max(len(wanted), 1)
    length = longest_common(reference, answer)
    shares["rouge_l"] = length / len(answer), length / len(reference)
    return {name: 2.0 * ((p * r) / (p + r + _ROUGE_CHINESE)) for name, (p, r) in shares.items()}


def _chrf(setup: Setup) -> Metric:
    def numbers(pairs: Sequence[tuple[str, str]]) -> Iterator[Numbers]:
        # It leaves spaces out, so how Chinese is cut makes no difference.
        plain = [(prepared(a).replace(" ", ""), prepared(r).replace(" ", "")) for a, r in pairs]
        for (answer, reference), common in zip(plain, shared_runs(plain, _CHRF_ORDER), strict=True):
            yield {"chrf": chrf(common, len(answer), len(reference))}

    return _metric(setup, "chrf", of_pairs(numbers, "chrf"), tokenizer=None)


def chrf(common: Sequence[int], answer: int, reference: int) -> float:
    """Return chrF as nltk has it, of the common runs and the numbers of characters: beta 3, the mean of F by length."""
    total = 0.0
    for n, matches in enumerate(common, 1):
        if matches:
            precision, recall = matches / (answer - n + 1), matches / (reference - n + 1)
            total += (1 + _CHRF_BETA**2) * (precision * recall) / (_CHRF_BETA**2 * precision + recall)
        else:
            total += _CHRF_NOTHING
    return total / _CHRF_ORDER


def _distinct(setup: Setup) -> Metric:
    def numbers(answer: str, _: str) -> Numbers:
        """Return the mean share of different runs of one, two and three words; in Chinese of one, punctuation too."""
        tokens, most = (jieba_words(answer), 1) if setup.language == "zh" else (whitespace(prepared(answer)), 3)
        runs = [list(ngrams(tokens, n)) for n in range(1, most + 1)]
        return {"distinct": sum(len(set(run)) / (len(run) + _DISTINCT) for run in runs) / most}

    return _metric(setup, "distinct", of_texts(numbers, "distinct", compared=False), alone=True)


def _token_f1(setup: Setup) -> Metric:
    cut = _cut(setup)
    return _metric(setup, "token_f1", of_texts(lambda a, r: by_position(cut(a), cut(r)), "token_f1"))


def by_position(answer: Tokens, reference: Tokens) -> Numbers:
    """Return precision (1 as soon as anything matches), recall and F1 of places; None where a text has no token.

    Every place counts as wanted, so none is matched wrongly: precision is 1 or 0.
    """
    if not answer or not reference:
        return {"token_precision": None, "token_recall": None, "token_f1": None}
    places = min(len(answer), len(reference))
    same = sum(said == wanted for said, wanted in zip(answer, reference, strict=False))
    precision, recall = float(same > 0), same / places
    return {"token_precision": precision, "token_recall": recall, "token_f1": f_score(precision, recall)}


def _cut(setup: Setup) -> Callable[[str], Tokens]:
    """Return what prepares and cuts a text."""
    cut = jieba_words if setup.language == "zh" else whitespace
    return lambda text: cut(prepared(text))


def _metric(
    setup: Setup, name: str, measure: Measure, *, tokenizer: str | None = "by language", alone: bool = False
) -> Metric:
    if setup.language not in LANGUAGES:
        raise UsageError(
            f"the variant {VARIANT} of {name} is for English and Chinese, these texts are {setup.language!r}; leave "
            "out --variant, or say --language en or zh"
        )
    if setup.tokenizer is not None:
        raise UsageError(f"the variant {VARIANT} has its own tokens; leave out --tokenizer {setup.tokenizer}")
    if tokenizer == "by language":
        tokenizer = "jieba" if setup.language == "zh" else "whitespace"
    return Metric(
        name,
        measure,
        variant=VARIANT,
        tokenizer=tokenizer,
        library=library_version("jieba") if tokenizer == "jieba" else None,
        needs_reference=not alone,
        overlap=not alone,
        parameters={"language": setup.language},
    )


METRICS: Mapping[str, Callable[[Setup], Metric]] = {
    "bleu": _bleu,
    "rouge": _rouge,
    "chrf": _chrf,
    "distinct": _distinct,
    "token_f1": _token_f1,
}
