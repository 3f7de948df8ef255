"""ColossalAI's text metrics as it computed them: the same libraries, called in the same way, for one pair of texts.

nltk, rouge-score, rouge-chinese and jieba come with the extra [dev]; `token_f1` needs scikit-learn as well.
"""

import string
import warnings
from collections.abc import Callable, Mapping

import jieba
from nltk.translate.bleu_score import sentence_bleu
from nltk.translate.chrf_score import sentence_chrf
from rouge_chinese import Rouge
from rouge_score.rouge_scorer import RougeScorer

WEIGHTS = [
    (1.0, 0, 0, 0),
    (1 / 2, 1 / 2, 0, 0),
    (1 / 3, 1 / 3, 1 / 3, 0),
    (1 / 4, 1 / 4, 1 / 4, 1 / 4),
]
# zhon.hanzi.punctuation, by code point
_CHINESE = {
    *map(
        chr,
        [
            *range(0xFF01, 0xFF10),
            *range(0xFF1A, 0xFF21),
            *range(0xFF3B, 0xFF41),
            *range(0xFF5B, 0xFF65),
        ],
    ),
    *map(
        chr,
        [
            0x3000,
            0x3001,
            0x3003,
            *range(0x3008, 0x3012),
            *range(0x3014, 0x3020),
            0x3030,
            0x303E,
            0x303F,
        ],
    ),
    *map(
        chr,
        [0x2013, 0x2014, 0x2018, 0x2019, 0x201B, 0x201C, 0x201D, 0x201E, 0x201F, 0x2026, 0x2027],
    ),
    *map(chr, [0xFE4F, 0xFE51, 0xFE54, 0x00B7, 0x3002]),
}
_REMOVED = (set(string.punctuation) | _CHINESE) - set("!@#$%&()<>?|,.\"'")
_ROUGE = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def prepared(text: str) -> str:
    """Return a text in small letters, most punctuation removed."""
    return " ".join("".join(c for c in text.lower() if c not in _REMOVED).split())


def cut(text: str, language: str) -> list[str]:
    """Return the tokens of a text."""
    return (" ".join(jieba.cut(prepared(text))) if language == "zh" else prepared(text)).split()


def bleu(answer: str, reference: str, language: str) -> Mapping[str, float]:
    """Return BLEU-1..4, without smoothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on every order without a match
        scores = sentence_bleu([cut(reference, language)], cut(answer, language), weights=WEIGHTS)
    return {f"bleu_{order}": score for order, score in enumerate(scores, 1)}


def chrf(answer: str, reference: str, language: str) -> Mapping[str, float]:
    """Return chrF."""
    return {"chrf": sentence_chrf(cut(reference, language), cut(answer, language))}


def rouge(answer: str, reference: str, language: str) -> Mapping[str, float]:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L."""
    if language == "zh":
        said, wanted = (" ".join(cut(text, language)) for text in (answer, reference))
        found = Rouge().get_scores([said], [wanted], avg=True)
        return {
            name.replace("-", "_"): found[name]["f"] for name in ("rouge-1", "rouge-2", "rouge-l")
        }
    scores = _ROUGE.score(
        prepared(answer), prepared(reference)
    )  # the order of the two makes no difference to F
    return {
        "rouge_1": scores["rouge1"].fmeasure,
        "rouge_2": scores["rouge2"].fmeasure,
        "rouge_l": scores["rougeL"].fmeasure,
    }


def distinct(answer: str, _: str, language: str) -> Mapping[str, float]:
    """Return its one share of different words."""
    if language == "zh":
        words = " ".join(jieba.cut(answer)).split()
        return {"distinct": len(set(words)) / (len(words) + 1e-6)}
    words = prepared(answer).split()
    shares = []
    for n in (1, 2, 3):
        runs = [" ".join(words[place : place + n]) for place in range(len(words) - n + 1)]
        shares.append(len(set(runs)) / (len(runs) + 1e-6))
    return {"distinct": sum(shares) / 3}


def token_f1(answer: str, reference: str, language: str) -> Mapping[str, float]:
    """Return precision, recall and F1, for each of which it computed all three."""
    from sklearn.metrics import f1_score, precision_score, recall_score

    found: Mapping[str, float] = {}
    for _ in range(3):
        said, wanted = cut(answer, language), cut(reference, language)
        places = min(len(said), len(wanted))
        truth, same = [1] * places, [int(said[place] == wanted[place]) for place in range(places)]
        found = {
            "token_precision": precision_score(truth, same, zero_division=0),
            "token_recall": recall_score(truth, same, zero_division=0),
            "token_f1": f1_score(truth, same, zero_division=0),
        }
    return found


METRICS: Mapping[str, Callable[[str, str, str], Mapping[str, float]]] = {
    "bleu": bleu,
    "rouge": rouge,
    "chrf": chrf,
    "distinct": distinct,
    "token_f1": token_f1,
}
