"""Pairs of texts to compare: random ones that share words, and real answers with their references."""

import functools
import json
import pathlib
import random
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
_ENGLISH = "the a cat dog sat on mat. Mat, ran! well-known don't 3.5 -1 (yes) no? x=1; “naïve” café i̇ ..."
_CHINESE = "今天 天气 很 好 ， 我们 去 公园 。 不 错 吧 ？ 上海 a GPU 3.5 ！ 的 的 ： 《书》 因为 所以 \u3000"
_HUNGARIAN = "az őrség vár, várőrség Árvíztűrő tükörfúrógép! és 3,5 km-re"


def random_pairs(language: str, count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield answers with references, from empty to forty words, half of them made of each other's words."""
    rng = random.Random(seed)
    words = {"en": _ENGLISH, "zh": _CHINESE, "hu": _HUNGARIAN}[language].split(" ")
    space = "" if language == "zh" else " "
    for _ in range(count):
        reference = rng.choices(words, k=rng.choice((0, 1, 2, 3, 5, 12, 40)))
        if rng.random() < 0.5:
            answer = [word for word in reference if rng.random() < 0.8]
            answer[rng.randint(0, len(answer)) :] += rng.choices(words, k=rng.randint(0, 4))
        else:
            answer = rng.choices(words, k=rng.choice((0, 1, 2, 4, 9, 30)))
        yield space.join(answer), space.join(reference)


@functools.cache
def real_pairs(bench: str) -> tuple[tuple[str, str], ...]:
    """Return texts of a shipped benchmark, every turn of a question or reference against several others."""
    texts = []
    for name in ("question.jsonl", "reference_answer/turnbench.jsonl"):
        for line in (ROOT / "data" / bench / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            texts += row["turns"] if "turns" in row else row["choices"][0]["turns"]
    shifts = range(1, 1 + 600 // len(texts) + 1)
    return tuple((text, texts[(place + shift) % len(texts)]) for shift in shifts for place, text in enumerate(texts))
