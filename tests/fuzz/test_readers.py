"""Whatever a file holds, its reader returns or raises one of our own errors, in one line.

20,000 cases by default, of which `make test` takes a tenth; `make fuzz` takes a million. A case is known by its
number: the same number is the same file, unless FUZZ_SEED asks for other files.
"""

import logging
import os
import pathlib
import random
import shutil
from collections.abc import Iterator
from itertools import pairwise

import pytest

from harness.errors import MOST_CHARACTERS, TurnbenchError
from tests.fuzz.mutations import mutated
from tests.fuzz.samples import SAMPLES, Sample

CASES = int(os.environ.get("FUZZ_CASES", "20000"))
SEED = os.environ.get("FUZZ_SEED", "")
_SHARES = sum(sample.share for sample in SAMPLES)
_BLOCK = 2000
"""Cases of one test, so that several workers share a long run."""


def _blocks() -> Iterator[object]:
    for sample in SAMPLES:
        count = max(1, CASES * sample.share // _SHARES)
        for first, end in pairwise([0, *range(max(1, count // 10), count, _BLOCK), count]):
            slow = [pytest.mark.slow] if first else []
            yield pytest.param(sample, first, end, id=f"{sample.kind} from {first}", marks=slow)


@pytest.fixture
def silent() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.kind)
def test_the_samples_are_sound(sample: Sample, tmp_path: pathlib.Path) -> None:
    """Else mutations would be turned away at the first look, and nothing behind it be tried."""
    if sample.kind not in {"record lines", "bench", "references"}:
        _put(sample, tmp_path, sample.content.encode())
        sample.read(tmp_path)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("sample", "first", "last"), list(_blocks()))
def test_only_our_own_errors_come_out(sample: Sample, first: int, last: int, tmp_path: pathlib.Path) -> None:
    for number in range(first, last):
        content = mutated(sample.content.encode(), random.Random(f"{SEED}{sample.kind} {number}"))
        _put(sample, tmp_path, content)
        try:
            told = _told(sample, tmp_path)
        except BaseException as error:
            error.add_note(f"{sample.kind} {number}: {content[:2000]!r}")
            raise
        assert "\n" not in told
        assert len(told) <= MOST_CHARACTERS + 3
        shutil.rmtree(tmp_path / "data", ignore_errors=True)


def _told(sample: Sample, folder: pathlib.Path) -> str:
    """Return what the error says; an empty text where there is none."""
    try:
        sample.read(folder)
    except TurnbenchError as error:
        return str(error)
    return ""


def _put(sample: Sample, folder: pathlib.Path, content: bytes) -> None:
    files = [*((name, text.encode()) for name, text in sample.beside), (sample.file, content)]
    for name, data in files:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
