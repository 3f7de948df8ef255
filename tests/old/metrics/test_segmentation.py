"""Chinese texts are cut exactly as jieba cuts them."""

import random
import warnings

from harness.old.metrics.segmentation import jieba_segmenter
from tests.old.metrics.texts import random_pairs, real_pairs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # jieba's expressions, on newer Pythons
    import jieba

_BESIDE = ["，", "。", " ", "\n", "\t", "\u3000", "3.5", "50%", "aB_", "é", "#+&", "😀", "c++"]


def texts() -> list[str]:
    """Return texts of the shipped benchmarks, and rows of words of the dictionary, of characters and of marks."""
    rng = random.Random(0)
    real = [text for bench in ("mt_bench_zh", "chat_zh") for text, _ in real_pairs(bench)[:60]]
    characters = "".join(real)
    jieba.initialize()
    words = list(jieba.dt.FREQ)
    made = [
        "".join(rng.choice([rng.choice(words), rng.choice(characters), rng.choice(_BESIDE)]) for _ in range(size))
        for size in rng.choices(range(25), k=1000)
    ]
    return ["", *real, *made, *(answer for answer, _ in random_pairs("zh", 200))]


def test_words_are_those_of_jieba() -> None:
    cut = jieba_segmenter().cut
    for text in texts():
        assert cut(text) == jieba.lcut(text), text


def test_what_the_dictionary_lacks_is_left_to_the_markov_model() -> None:
    assert "杭研" not in jieba.dt.FREQ
    assert jieba_segmenter().cut("他来到了网易杭研大厦") == ["他", "来到", "了", "网易", "杭研", "大厦"]
