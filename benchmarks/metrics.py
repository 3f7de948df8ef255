"""The cost of text metrics: the variant `colossalai` compared with the libraries that ColossalAI used, called as there.

    python -m benchmarks.metrics                        10,000 pairs in English and Chinese
    python -m benchmarks.metrics --pairs 1000 --language zh

The pairs are made of sentences of the shipped benchmarks, by a seed: three to eight sentences each, half of the
answer's taken from the reference. Both sides run in this process, one after the other, loading left out; every number
is compared. Precision, recall and F1 are measured where scikit-learn is installed.
"""

import argparse
import json
import pathlib
import random
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from harness.old.bench import shipped
from harness.old.metrics.metric import Item
from harness.old.metrics.setup import Setup
from harness.old.metrics.table import load_metrics
from harness.old.records import Question

BENCHES = {"en": ("mt_bench", "short_fact_en"), "zh": ("mt_bench_zh", "short_fact_zh")}
_AT_ONCE = 512
"""As in `harness/metrics/run.py`."""


class Line(NamedTuple):
    """What was measured of one metric."""

    metric: str
    ours: float
    """Seconds, for all pairs."""
    original: float
    difference: float
    """The greatest one between any two numbers."""


def sentences(language: str) -> list[str]:
    """Return the sentences of the shipped benchmarks in a language."""
    texts: list[str] = []
    for bench in BENCHES[language]:
        for file in sorted((shipped("data") / bench).rglob("*.jsonl")):
            texts += _texts(file)
    return sorted(
        {
            found
            for text in texts
            for found in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", text)
            if len(found) > 9
        }
    )


def _texts(file: pathlib.Path) -> list[str]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        text
        for row in rows
        for text in (row["turns"] if "turns" in row else row["choices"][0]["turns"])
    ]


def pairs(language: str, count: int) -> list[tuple[str, str]]:
    """Return answers with their references."""
    rng = random.Random(0)
    known = sentences(language)
    made = []
    for _ in range(count):
        reference = rng.choices(known, k=rng.randint(3, 8))
        answer = [text for text in reference if rng.random() < 0.5] + rng.choices(
            known, k=rng.randint(2, 4)
        )
        made.append((" ".join(answer), " ".join(reference)))
    return made


def measure(language: str, compared: Sequence[tuple[str, str]], names: Sequence[str]) -> list[Line]:
    """Return what each metric costs on both sides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba

        from benchmarks.original_metrics import METRICS

    metrics = load_metrics(names, Setup(language=language, variant="colossalai"))
    for metric in metrics:  # dictionaries and libraries are loaded
        metric("?", "好 a", "好 b")
    jieba.lcut("好")
    question = Question(0, "unstated", ("?",))
    items = [Item(question, 1, (answer,), reference) for answer, reference in compared]
    ours: dict[str, list[Mapping[str, float | None]]] = {name: [] for name in names}
    seconds = dict.fromkeys(names, 0.0)
    for start in range(0, len(items), _AT_ONCE):
        for metric in metrics:
            begin = time.perf_counter()
            found = list(metric.measure(items[start : start + _AT_ONCE]))
            seconds[metric.name] += time.perf_counter() - begin
            ours[metric.name] += [one.values or {metric.name: one.value} for one in found]
    lines = []
    for name in names:
        begin = time.perf_counter()
        theirs = [METRICS[name](answer, reference, language) for answer, reference in compared]
        took = time.perf_counter() - begin
        apart = max(
            abs((own[key] or 0.0) - number)
            for own, other in zip(ours[name], theirs, strict=True)
            for key, number in other.items()
        )
        lines.append(Line(name, seconds[name], took, apart))
    return lines


def main() -> None:
    """Measure and print a table for each language."""
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument(
        "--pairs",
        type=int,
        default=10_000,
        metavar="N",
        help="pairs in each language (default: 10000)",
    )
    p.add_argument(
        "--language",
        nargs="+",
        choices=list(BENCHES),
        default=list(BENCHES),
        help="(default: both)",
    )
    args = p.parse_args()
    names = ["bleu", "rouge", "chrf", "distinct", *(["token_f1"] if find_spec("sklearn") else [])]
    print("| language | metric | ours, s | original, s | times faster | greatest difference |")
    print("| --- | --- | --- | --- | --- | --- |")
    for language in args.language:
        lines = measure(language, pairs(language, args.pairs), names)
        sums = Line(
            "all",
            sum(x.ours for x in lines),
            sum(x.original for x in lines),
            max(x.difference for x in lines),
        )
        for line in [*lines, sums]:
            faster = line.original / line.ours
            print(
                f"| {language} | {line.metric} | {line.ours:.1f} | {line.original:.1f} | {faster:.1f} | "
                f"{line.difference:.0e} |"
            )


if __name__ == "__main__":
    main()
