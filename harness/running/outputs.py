"""The files that a plan's rows of one model or judge go to: the journal, and the replies of rows not complete yet."""

import contextlib
import pathlib
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from harness.jsonl import Journal
from harness.running.batches.ledger import starts_anew
from harness.running.leftovers import any_left, take_out
from harness.running.pending import Pending


class Output(NamedTuple):
    """Both files, open."""

    journal: Journal
    pending: Pending


def open_output(
    stack: contextlib.ExitStack,
    path: pathlib.Path,
    state: pathlib.Path,
    complete: Callable[[AbstractSet[str]], AbstractSet[str]],
    *,
    needed: bool,
    redo: bool,
) -> Output | None:
    """Open the files that belong to `path`, to be closed by the stack; None where there is nothing to do.

    Args:
        stack: closes them.
        path: where the rows go.
        state: the state folder.
        complete: which rows of some are there and current; what a killed run left of these is taken out.
        needed: whether a row is to be written or moved.
        redo: whether what is done is done again.

    Raises:
        StorageError: one can't be written, or another process writes it.
    """
    if not (needed or any_left(path, state, complete)):
        return None
    journal = stack.enter_context(Journal(path, state))
    take_out(path, state, complete)
    pending = stack.enter_context(Pending(path, state, fresh=starts_anew(path, state, redo=redo)))
    if redo:
        pending.redo()
    return Output(journal, pending)
