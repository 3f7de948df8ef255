"""The files that a plan's rows of one model or judge go to: the journal, and the replies of rows not complete yet.

A run that was killed between writing a row and recording it leaves replies and batches that are no longer needed:

    row written  ── killed here ──▶  its replies still count as pending, its requests as not collected

No later run requests such a row, so leftovers of complete and current rows are removed; the planner knows
which those are. During a `--redo` they are kept: its paid replies belong to rows that are complete.
"""

import contextlib
import pathlib
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from harness.old.jsonl import Journal, holder_of
from harness.old.running.batches.ledger import Ledger, ledger_file, rows_awaited, starts_anew
from harness.old.running.pending import Pending, left_in, pending_file

Standing = Callable[[AbstractSet[str]], AbstractSet[str]]
"""Returns those of some rows that are in the output file and current."""


class Output(NamedTuple):
    """Both files, open."""

    journal: Journal
    pending: Pending


def open_output(
    stack: contextlib.ExitStack,
    path: pathlib.Path,
    state: pathlib.Path,
    standing: Standing,
    *,
    needed: bool,
    redo: bool,
) -> Output | None:
    """Open the files that belong to `path`, to be closed by the stack; None where there is nothing to do.

    Args:
        stack: closes them.
        path: where the rows go.
        state: the state folder.
        standing: whether a row is complete and current; leftovers of such rows are removed.
        needed: whether a row is to be written or moved.
        redo: whether what is done is done again.

    Raises:
        StorageError: one can't be written, or another process writes it.
    """
    if not (needed or _any_left(path, state, standing)):
        return None
    journal = stack.enter_context(Journal(path, state))
    redoing = left_in(pending_file(path, state)).redo
    if not redoing and ledger_file(path, state).exists():
        with Ledger(ledger_file(path, state)) as ledger:
            ledger.served(standing(ledger.rows))
    pending = stack.enter_context(Pending(path, state, fresh=starts_anew(path, state, redo=redo)))
    if not redoing:
        for row in standing(pending.left.rows):
            pending.complete(row)
    if redo:
        pending.redo()
    return Output(journal, pending)


def _any_left(path: pathlib.Path, state: pathlib.Path, standing: Standing) -> bool:
    """Return whether something is left for complete rows of an output file, or a file without any use."""
    kept, ledger = pending_file(path, state), ledger_file(path, state)
    left = left_in(kept)
    if holder_of(path, state) or left.redo:
        return False
    both = [rows for file, rows in ((kept, left.rows), (ledger, rows_awaited(ledger))) if file.exists()]
    return any(not rows or standing(rows) for rows in both)
