"""Judgments of answers that have been replaced since: left out of tables, and counted.

A row with `made_from` has a hash of the conversation that was judged. If the benchmark's folder now has
another answer, the judgment is about a text that no longer exists: `status` counts it as superseded, and the next
`gen_judgment` redoes it. Rows without hashes (those of other tools), and those of models without answers here,
are kept.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.old.answer_lines import StoredAnswers
from harness.old.bench import Bench
from harness.old.errors import MissingError
from harness.old.jsonl import is_there
from harness.old.judgments.case import Case
from harness.old.judgments.columns import Store
from harness.old.judgments.observations import Bools, Ints, Observations, numbered
from harness.old.names import counted_are
from harness.old.records import QuestionId
from harness.old.results.answers import bench_beside
from harness.old.results.finding import Found

NOT_CHECKED = "not checked yet: whether answers were replaced after they were judged"
Conversation: TypeAlias = tuple[str, int, int]
"""Model, turn and choice."""
_NAMED = 3
_BLOCK = 1 << 16
"""Rows that are looked at together; as numbers of Python's they take five times the memory of the columns."""


def says_what_was_judged(found: Iterable[Found]) -> bool:
    """Return whether any judgment has a hash of its conversation, so that a replaced one can be recognised."""
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
        told = folder.name == "model_judgment" and says_what_was_judged(several)
        bench = bench_beside(several[0].path) if told else None
        if bench is None:
            kept += several
            continue
        models = {model for one in several for case in one.observations.cases for model, *_ in _conversations(case)}
        with contextlib.ExitStack() as until:
            paths = {model: path for model in models if is_there(path := bench.answer_file(model))}
            stored = {model: until.enter_context(StoredAnswers(path, model)) for model, path in paths.items()}
            for one in several:
                own, store = one.observations, Store()
                for part, stale in _stale(own, bench, stored):
                    store.add(part.columns[~stale])
                    for case, count in zip(*np.unique(part.case_at[stale], return_counts=True), strict=True):
                        gone[" and ".join(part.cases[case].models)] += int(count)
                rows = store.whole()
                if len(rows) == len(own):
                    kept.append(one)
                elif len(rows):
                    kept.append(one._replace(observations=Observations(own.cases, own.asked, rows, own.games)))
    if not gone:
        return list(found)
    shown = ", ".join(f"{models} {count}" for models, count in gone.most_common(_NAMED))
    more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    what = f"{counted_are(gone.total(), 'judgment')} about answers that have been replaced since ({shown}{more})"
    if not kept:
        raise MissingError(f"{found[0].path}: all {what}; run gen_judgment again")
    notes.append(f"{what} and are left out; gen_judgment redoes them")
    return kept


def _stale(
    observed: Observations, bench: Bench, stored: Mapping[str, StoredAnswers]
) -> Iterator[tuple[Observations, Bools]]:
    """Yield the rows in chunks, and for each row whether its answers have changed.

    Comparing file times would not be enough: a file that was restored, or whose folder was renamed, keeps its old
    time.
    """
    from harness.old.judging import shown  # with it comes what reads the replies of judges

    def said_in(question: QuestionId, model: str, turn: int, choice: int) -> bytes:
        """Return the hashed form of a model's answer; nothing if it has no answer."""
        if model not in stored or question not in stored[model].questions:
            return b""
        texts = stored[model].texts(question, choice)
        return shown.said_json(model, shown.as_shown(bench, texts.so_far(turn), played=bool(texts.user)))

    conversations = [_conversations(case) for case in observed.cases]
    questions, places = numbered(asked.question_id for asked in observed.asked)
    question_of = np.array(places, dtype=np.int64)
    for part in observed.by_question(observed.lots):
        question_at, stale = question_of[part.asked_at], np.zeros(len(part), dtype=bool)
        rows = np.flatnonzero(part.judged)
        rows = rows[np.argsort(question_at[rows], kind="stable")]
        for question, own in groupby(_in_blocks(rows, question_at, part.case_at, part.judged), itemgetter(1)):
            said: dict[Conversation, bytes] = {}  # one conversation is in many pairs
            now: dict[int, int | None] = {}  # by case, the hash of what would be judged; None if an answer is not there
            for row, _, case, judged in own:
                if case not in now:
                    for each in conversations[case]:
                        if each not in said:
                            said[each] = said_in(questions[question], *each)
                    texts = [said[each] for each in conversations[case]]
                    now[case] = int(shown.hash_of_said(texts), 16) if texts and all(texts) else None
                stale[row] = now[case] not in {None, judged}
        yield part, stale


def _in_blocks(rows: Ints, *columns: npt.NDArray[Any]) -> Iterator[tuple[int, ...]]:
    """Yield the places of rows with what the columns hold there, as Python's numbers."""
    for at in range(0, len(rows), _BLOCK):
        own = rows[at : at + _BLOCK]
        yield from zip(own.tolist(), *(column[own].tolist() for column in columns), strict=True)


def _conversations(case: Case) -> list[Conversation]:
    """Return model, turn and choice of the judged conversations; none for votes and rows without them."""
    choice = case.source.choice
    said = choice.isdigit() and not case.source.voter
    return [(model, case.turn, int(choice)) for model in sorted(case.models)] if said else []
