"""All judgments of a benchmark as columns of numbers: what can be filtered and sorted, without the texts.

A file is read once, as `show_result` reads it, and again when it has changed. Of rows with equal keys the last valid
one counts. A file with a damaged line is read line by line, and says which lines are left out.
"""

import pathlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.old.bench import Bench
from harness.old.errors import DataError
from harness.old.judgments.case import TOTAL, Case, changed, winner
from harness.old.judgments.observations import Observations
from harness.old.judgments.reading import Part, read_judgments
from harness.old.records import Form, Observation, QuestionId
from viewer.old.later import apart
from viewer.old.places import End, ends_of, stamp
from viewer.old.store import JudgmentFile

if TYPE_CHECKING:
    from harness.old.meta_evaluation.disagreement import Judged
    from harness.old.results.matrix import Floats, Ints
    from harness.old.results.pairs.games import Bools

FIRST, TIE, SECOND, NONE = 0, 1, 2, 3
"""Who won a pair, both games together."""
_MOST_FAULTS = 3
_MOST_TEXT = 300
"""Characters of a value of a question's field that are compared."""
_ONE_NUMBER: tuple[Form, ...] = ("grade", "pair")
"""Forms of which each row is one observation."""
_SIDES = {1.0: FIRST, 0.5: TIE, 0.0: SECOND, None: NONE}


@dataclass(frozen=True)
class Columns:
    """The judgments of one file."""

    file: JudgmentFile
    read: Observations
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgments:
    """The judgments of several files of one kind; every array has an entry for each judgment."""

    bench: Bench
    kind: str
    files: tuple[JudgmentFile, ...]
    cases: Sequence[Case]
    ids: Sequence[QuestionId]
    """The questions of the benchmark in their order, then those that are judged and not there."""
    models: Sequence[str]
    """By name, so that the order of their numbers is that of their names."""
    file: "Ints"
    case: "Ints"
    question: "Ints"
    """Place in `ids`."""
    turn: "Ints"
    first: "Ints"
    """Place in `models`; of a grade the one model."""
    second: "Ints"
    """Place in `models`; -1 in a grade."""
    score: "Floats"
    """NaN where there is none, and in pairs."""
    winner: "Ints"
    """FIRST, TIE, SECOND or NONE; NONE in grades."""
    changed: "Bools"
    """Whether swapping the answers changed the verdict."""
    failed: "Bools"
    """Whether there is no verdict."""
    faults: tuple[str, ...] = ()
    kept: dict[Any, Any] = field(default_factory=dict)
    """What was worked out of these judgments before."""

    def __len__(self) -> int:
        return len(self.question)

    @property
    def item(self) -> "Ints":
        """A number for what was judged: the same for the same question, turn and models, in either order."""
        return self.judged.item

    def items_of(self, questions: "Ints", turn: int, models: Sequence[int]) -> "Ints":
        """Return the numbers of the items of these questions, as `item` has them."""
        from harness.old.meta_evaluation.disagreement import item_number

        low, high = (min(models), max(models)) if len(models) > 1 else (-1, models[0])
        numbers: Ints = item_number(questions, turn, low, high, len(self.models))
        return numbers

    @cached_property
    def order(self) -> "Ints":
        """The places in the order of the questions, then of turns, models and files."""
        import numpy as np

        return np.lexsort((self.case, self.file, self.second, self.first, self.turn, self.question))

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """The additional fields of the questions that have words or numbers, with their values."""
        found: dict[str, set[str]] = {}
        for question in self.bench.questions:
            for name, value in question.extra.items():
                found.setdefault(name, set()).update(texts_of(value))
        return {name: sorted(values) for name, values in sorted(found.items()) if values}

    @cached_property
    def judged(self) -> "Judged":
        """The same columns, as the reports on judges take them."""
        import numpy as np

        from harness.old.meta_evaluation.disagreement import Judged, towards_first

        value = self.score
        if self.kind == "pair":
            outcome = np.choose(self.winner, [1.0, 0.5, 0.0, np.nan])
            value = towards_first(outcome, self.first, self.second)
        return Judged(
            self.cases, self.ids, self.models, self.case, self.question, self.turn, self.first, self.second, value
        )

    @cached_property
    def disagreed(self) -> "Bools":
        """Whether judges with the same judge set and criterion disagree: on who won, or by two points or more."""
        from harness.old.meta_evaluation.disagreement import disagreed

        return disagreed(self.judged)

    def against(self, votes: Sequence[Observation]) -> "Bools":
        """Return whether a judgment contradicts the majority of votes on the same two answers."""
        from harness.old.meta_evaluation.disagreement import against

        return against(self.judged, votes)


def texts_of(value: Any) -> list[str]:
    """Return the texts that a field's value stands for; several if it is a list of words."""
    if isinstance(value, list):
        return [text for one in value[:50] if not isinstance(one, list) for text in texts_of(one)]
    return [str(value)[:_MOST_TEXT]] if isinstance(value, str | int | float) and str(value) else []


class Indexes:
    """The judgments of benchmarks, read when they are looked for; safe to use from several threads."""

    def __init__(self) -> None:
        self._files: dict[pathlib.Path, tuple[Any, Columns, End | None]] = {}
        self._lock = threading.Lock()

    def make(self, bench: Bench, kind: str, files: Sequence[JudgmentFile]) -> Judgments:
        """Return the judgments of the current files; of a file that grew, only the new rows are read."""
        return joined(bench, kind, [self._columns(file) for file in files])

    def _columns(self, file: JudgmentFile) -> Columns:
        mark = stamp(file.path)
        with self._lock:
            known = self._files.get(file.path)
        if known is not None and known[0] == mark:
            return known[1]
        end = ends_of([file.path]).get(file.path)
        found = None
        if known is not None and known[2] is not None and known[2].continues(file.path):
            found = _read_on(known[1], known[2].place)
        if found is None:
            found = apart(read_columns, file, of=[file.path], first=True)
        with self._lock:
            self._files[file.path] = (mark, found, end)
        return found


def _read_on(before: Columns, place: int) -> Columns | None:
    """Return the judgments of a file of which those before a place are known; None if it must be read as a whole."""
    part = Part(before.file.path, every=True)
    try:
        part.read(place, None)
    except DataError:  # the number of its line is known to who reads all lines
        return None
    added = part.finished()
    if added.form is None:
        return before
    # Of several dimensions one stands for all, and which one the whole file says.
    if (
        before.faults
        or {case.source.form for case in before.read.cases} != {added.form}
        or added.form not in _ONE_NUMBER
    ):
        return None
    return replace(before, read=Observations.joined([before.read, added.observations]).latest()[0])


def read_columns(file: JudgmentFile) -> Columns:
    """Return the judgments of a file; unreadable lines are listed as faults."""
    wrong: list[DataError] = []
    try:
        read = read_judgments(file.path, faults=wrong)
    except DataError as error:
        return Columns(file, Observations(), (str(error),))
    faults = [f"left out: {error}" for error in wrong[:_MOST_FAULTS]]
    if len(wrong) > _MOST_FAULTS:
        faults.append(f"{file.path.name}: {len(wrong) - _MOST_FAULTS:,} more lines left out")
    found = _one_each(read.observations, read.form)
    if found and found.paired != (file.kind == "pair"):
        held = "pairs" if found.paired else "grades"
        return Columns(file, Observations(), (*faults, f"{file.path.name}: holds {held}, unlike its name"))
    return Columns(file, found, tuple(faults))


def _one_each(found: Observations, form: Form | None) -> Observations:
    """Return one observation for each judgment: of several dimensions the grade of the whole, of labels any."""
    if form not in {"label", "dimensions"}:
        return found
    metrics = found.metrics()
    metric = TOTAL if TOTAL in metrics else metrics[0]
    return found.keep(lambda case: case.metric == metric)


def joined(bench: Bench, kind: str, parts: Sequence[Columns]) -> Judgments:
    """Return the judgments of several files together."""
    import numpy as np

    read = Observations.joined([part.read for part in parts])
    place = {question.question_id: at for at, question in enumerate(bench.questions)}
    places = [place.setdefault(asked.question_id, len(place)) for asked in read.asked]
    models = sorted({name for case in read.cases for name in case.models})
    code = {name: at for at, name in enumerate(models)}
    none = np.zeros(len(read), dtype=bool)
    if kind == "pair":
        games = read.said.astype(np.int64)
        won = np.array([_SIDES[winner(own)] for own in read.games])[games]
        swapped = np.array([changed(own) for own in read.games])[games]
        score = np.where(none, read.said, np.nan)
    else:
        won, swapped = np.where(none, FIRST, NONE), none
        label = read.of_cases(lambda case: case.source.form == "label")  # 0 or 1 is no grade
        score = np.where(label, np.nan, read.said)
    return Judgments(
        bench=bench,
        kind=kind,
        files=tuple(part.file for part in parts),
        cases=read.cases,
        ids=list(place),
        models=models,
        file=np.repeat(np.arange(len(parts)), [len(part.read) for part in parts]),
        case=read.case_at.astype(np.int64),
        question=np.array(places, dtype=np.int64)[read.asked_at],
        turn=read.of_cases(lambda case: case.turn),
        first=read.of_cases(lambda case: code[case.models[0]]),
        second=read.of_cases(lambda case: code[case.models[1]] if len(case.models) > 1 else -1),
        score=score,
        winner=won,
        changed=swapped,
        failed=read.failed,
        faults=tuple(fault for part in parts for fault in part.faults),
    )
