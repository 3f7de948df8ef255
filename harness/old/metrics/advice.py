"""When a number means less than it seems: what a user is warned of before it is computed."""

from collections.abc import Sequence

import regex

from harness.old.bench import Bench
from harness.old.chat.services import provider_of
from harness.old.importing.colossalai import MADE_BY_MODEL
from harness.old.metrics.metric import Item, Metric
from harness.old.metrics.questions import STAND_IN

OPEN_CATEGORIES = frozenset({"brainstorming", "chat", "generation", "roleplay", "writing"})
"""Categories in which good answers need have no words in common."""
SPACELESS = frozenset({"zh", "ja", "th", "lo", "km", "my"})
"""Languages that put no spaces between words."""
_STAND_IN_TOLD = (
    "unieval: the questions are stand-ins in our own words, which the published checkpoints were not trained on; fetch "
    "theirs with fetch_bench unieval_questions, and name the file with --unieval-questions"
)
_HAN = regex.compile(r"\p{Han}")


def warnings_of(metrics: Sequence[Metric], items: Sequence[Item], bench: Bench, reference: str | None) -> list[str]:
    """Return what the user should know about these metrics on these items; `reference` is the references' author."""
    overlapping = ", ".join(metric.name for metric in metrics if metric.overlap)
    stand_in = any(metric.name == "unieval" and metric.variant == STAND_IN for metric in metrics)
    found = [_STAND_IN_TOLD] if stand_in else []
    if not overlapping:
        return found
    compared = [
        item
        for item in items
        if item.reference is not None and any(m.overlap and m.applies(item.question, item.turn) for m in metrics)
    ]
    if open_ones := sorted({item.question.category for item in compared} & OPEN_CATEGORIES):
        found.append(
            f"{', '.join(open_ones)}: many different answers are good there, so overlap with one "
            f"reference ({overlapping}) says little"
        )
    if reference is not None and (count := _by_model(compared, bench, reference)):
        which = "the references are" if count == len(compared) else f"{count} of {len(compared)} references are"
        found.append(f"{which} a model's own answers ({reference}): {overlapping} measure likeness to that model")
    text = "".join((item.reference or "")[:200] for item in compared[:50])
    is_chinese = len(_HAN.findall(text)) * 2 > len("".join(text.split())) > 0
    if bench.settings.language not in SPACELESS and is_chinese:
        found.append(
            f'the references are Chinese, but the language is {bench.settings.language!r}: set language = "zh" in '
            "bench.toml, or say --language zh"
        )
    return found


def _by_model(items: Sequence[Item], bench: Bench, author: str) -> int:
    """Return how many references a model made: the author is an answered model or named like one, or a row says so."""
    if author not in bench.references() or provider_of(author) is not None:
        return len(items)
    notes = bench.reference_notes(author)
    return sum(notes.get(item.question.question_id) == MADE_BY_MODEL for item in items)
