"""Judgments of answers that have been replaced since: left out of tables, and counted.

A row that says what it was made from holds a hash of the conversation that was judged. Where the benchmark's folder has
another answer now, the judgment is about a text that is gone: `status` counts it as superseded, and the next
`gen_judgment` makes it again. Rows that say nothing (those of other tools), and those of models without answers here,
stay.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.answer_lines import StoredAnswers
from harness.bench import Bench
from harness.errors import MissingError
from harness.jsonl import is_there
from harness.judgments.case import Case
from harness.judgments.columns import Store
from harness.judgments.observations import Bools, Ints, Observations, numbered
from harness.records import QuestionId
from harness.results.answers import bench_beside
from harness.results.finding import Found

NOT_CHECKED = "not checked yet: whether answers were replaced after they were judged"
_NAMED = 3
_NOT_YET = -1
_BLOCK = 1 << 16
"""Rows that are looked at together; as numbers of Python's they take five times the memory of the columns."""


def says_what_was_judged(found: Iterable[Found]) -> bool:
    """Return whether any judgment says which conversation it is of, so that it can be told that this was replaced."""
    return any(part.judged.any() for one in found for part in one.observations.parts())


def without_replaced(found: Sequence[Found], notes: list[str]) -> list[Found]:
    """Return what was found but for judgments of answers that have been replaced, and add a note on these.

    Raises:
        MissingError: nothing is left.
        DataError: an answer is not what it must be.
    """
    kept, gone = [], Counter[str]()
    for folder, beside in groupby(found, lambda one: one.path.resolve().parent):
        several = list(beside)
        every = [one.observations for one in several]
        told = folder.name == "model_judgment" and says_what_was_judged(several)
        bench = bench_beside(several[0].path) if told else None
        if bench is None:
            kept += several
            continue
        stores = [Store() for _ in every]
        with contextlib.ExitStack() as until:
            answers = _Answers(bench, every, until)
            lots = max(own.lots for own in every)
            for parts in zip(*(own.by_question(lots) for own in every), strict=True):
                for part, store, stale in zip(parts, stores, answers.stale(parts), strict=True):
                    store.add(part.columns[~stale])
                    for case, count in zip(*np.unique(part.case_at[stale], return_counts=True), strict=True):
                        gone[" and ".join(part.cases[case].models)] += int(count)
        for one, own, store in zip(several, every, stores, strict=True):
            rows = store.whole()
            if len(rows) == len(own):
                kept.append(one)
            elif len(rows):
                kept.append(one._replace(observations=Observations(own.cases, own.asked, rows, own.games)))
    if not gone:
        return list(found)
    shown = ", ".join(f"{models} {count}" for models, count in gone.most_common(_NAMED))
    more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    what = f"{gone.total()} judgments are of answers that have been replaced since ({shown}{more})"
    if not kept:
        raise MissingError(f"{found[0].path}: all {what}; run gen_judgment again")
    notes.append(f"{what} and are left out; gen_judgment makes them again")
    return kept


class _Answers:
    """The answers that observations are about, to one question at a time.

    That the files of answers are older than the judgments would settle nothing: a file that was put back, or whose
    folder was renamed, has kept its old time.
    """

    def __init__(self, bench: Bench, every: Sequence[Observations], until: contextlib.ExitStack) -> None:
        """Look through the files of answers that are there; they are closed with `until`."""
        from harness.judging import shown  # with it comes what reads the replies of judges

        self._bench, self._shown = bench, shown
        numbers: dict[tuple[str, int, int], int] = {}
        cases = [case for own in every for case in own.cases]
        self._firsts = [
            (sum(len(own.cases) for own in every[:at]), sum(len(own.asked) for own in every[:at]))
            for at in range(len(every))
        ]
        """Of each, where its cases and its asked begin among those of all."""
        self._parts = [[numbers.setdefault(one, len(numbers)) for one in _conversations(case)] for case in cases]
        """For each case the numbers of its conversations, in the order of the models' names."""
        self._conversations = list(numbers)
        self._questions, at = numbered(asked.question_id for own in every for asked in own.asked)
        self._question_at = np.array(at, dtype=np.int64)
        files = {model: bench.answer_file(model) for model, _, _ in numbers}
        self._stored = {
            model: until.enter_context(StoredAnswers(path, model)) for model, path in files.items() if is_there(path)
        }

    def stale(self, parts: Sequence[Observations]) -> list[Bools]:
        """Return for each row of each part (of `every`, as they were given) whether its answers are others now."""
        each = list(zip(parts, self._firsts, strict=True))
        case_at = np.concatenate([part.case_at + first for part, (first, _) in each])
        question_at = self._question_at[np.concatenate([part.asked_at + first for part, (_, first) in each])]
        judged_at = np.concatenate([part.judged for part in parts])
        stale = np.zeros(len(judged_at), dtype=bool)
        rows = np.flatnonzero(judged_at)
        rows = rows[np.argsort(question_at[rows], kind="stable")]
        asked = None
        known: list[int | None] = []
        for row, question, case, judged in _in_blocks(rows, question_at, case_at, judged_at):
            if question != asked:
                asked = question
                known = [_NOT_YET] * len(self._parts)
                self._ask(self._questions[question])
            if known[case] == _NOT_YET:
                known[case] = self._content(case)
            stale[row] = known[case] not in {None, judged}
        return np.split(stale, np.cumsum([len(part) for part in parts])[:-1])

    def _ask(self, question: QuestionId) -> None:
        """Turn to another question."""
        self._question = question
        self._said: list[bytes | None] = [None] * len(self._conversations)
        """What was said in each conversation; one is in many pairs."""

    def _content(self, case: int) -> int | None:
        """Return the hash of a case's conversations as they would be judged now; None if an answer is not there."""
        said = []
        for number in self._parts[case]:
            own = self._said[number]
            if own is None:
                own = self._said[number] = self._in_conversation(*self._conversations[number])
            if not own:
                return None
            said.append(own)
        return int(self._shown.hash_of_said(said), 16) if said else None

    def _in_conversation(self, model: str, turn: int, choice: int) -> bytes:
        """Return what a model said as it is hashed; nothing if it has no answer."""
        stored = self._stored.get(model)
        if stored is None or self._question not in stored.questions:
            return b""
        own = self._shown.chosen(stored.answer(self._question), choice)
        return self._shown.said_json(model, self._shown.shown_turns(self._bench, own, turn))


def _in_blocks(rows: Ints, *columns: npt.NDArray[Any]) -> Iterator[tuple[int, ...]]:
    """Yield the places of rows with what the columns hold there, as Python's numbers."""
    for at in range(0, len(rows), _BLOCK):
        own = rows[at : at + _BLOCK]
        yield from zip(own.tolist(), *(column[own].tolist() for column in columns), strict=True)


def _conversations(case: Case) -> list[tuple[str, int, int]]:
    """Return model, turn and choice of the conversations that were judged; none where votes, or others, do not say."""
    choice = case.source.choice
    said = choice.isdigit() and not case.source.voter
    return [(model, case.turn, int(choice)) for model in sorted(case.models)] if said else []
