"""The answers that were judged: which benchmark's they are, and their texts."""

import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from harness.old.bench import Bench, load_bench
from harness.old.errors import TurnbenchError
from harness.old.judgments.observations import Observations
from harness.old.records import Observation, QuestionId
from harness.old.results.query import Query

Found = TypeVar("Found")


def home_of(query: Query, path: pathlib.Path) -> Bench:
    """Return the benchmark whose answers were judged: for a file given without a name, the one that contains it."""
    beside = bench_beside(path) if query.files and query.bench_name is None else None
    return beside or query.bench  # which is the usual one where the file lies beside no benchmark


def bench_beside(path: pathlib.Path) -> Bench | None:
    """Return the benchmark that contains a file, if it has answers; else None."""
    folder = path.resolve().parent.parent
    if not (folder / "model_answer").is_dir():
        return None
    try:
        return load_bench(folder.name, folder.parent)
    except TurnbenchError:
        return None


def answer_texts(models: Iterable[str], bench: Bench) -> Iterator[tuple[tuple[str, QuestionId, int], str]]:
    """Yield each model's reply to each turn of each question; the answers of one model are in memory at a time."""
    for model in sorted(set(models)):
        for question, answer in bench.answers(model).items():
            for turn, text in enumerate(answer.choices[0].turns, 1):
                yield (model, question, turn), text


def of_sides(
    pairs: Sequence[Observation], bench: Bench, found: Callable[[str], Found]
) -> tuple[list[Found | None], list[Found | None]]:
    """Return for each pair what is found in the answers of its two models in its turn; None where one is not there."""
    pairs = Observations.of(pairs)
    models = {model for case in pairs.cases for model in case.models}
    known = {key: found(text) for key, text in answer_texts(models, bench)}
    one, other = [], []
    for case, asked, _ in pairs.rows():
        of_one, of_other = (known.get((model, asked.question_id, case.turn)) for model in case.models)
        one.append(of_one)
        other.append(of_other)
    return one, other
