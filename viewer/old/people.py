"""The votes that may be shown: those of people who have finished, to users who are not voting."""

import pathlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from harness.old.bench import Bench
from harness.old.names import file_stem, listed
from harness.old.records import Observation, QuestionId
from viewer.old.context import Context
from viewer.old.state import State
from viewer.old.votes import settled_files, votes_in


class People(NamedTuple):
    """Votes that may be shown."""

    votes: Sequence[Observation]
    by_question: Mapping[QuestionId, Sequence[Observation]]
    note: str
    """Whose votes are left out and why; empty if nobody's."""

    def between(self, question: QuestionId, models: Sequence[str]) -> list[Observation]:
        """Return the votes on a question's answers by two models."""
        return [v for v in self.by_question.get(question, ()) if {v.model, v.opponent} == set(models)]


def people(context: Context, state: State, bench: Bench) -> People:
    """Return the votes that the view may show; none to somebody who is logged in and still votes.

    Raises:
        NotYet: they are being read.
    """
    paths, voting = settled_files(bench, context.store.vote_files(bench))
    if state.who and file_stem(state.who) in voting:
        return People((), {}, "Votes are shown here once you have finished voting.")
    make = partial(_read, paths)
    votes, by_question = context.store.later.get(("votes", bench.folder), "reading the votes", make, of=paths)
    several = listed(voting, 5)
    note = f"The votes of {several} are left out until they have finished voting." if voting else ""
    return People(votes, by_question, note)


def _read(paths: Sequence[pathlib.Path]) -> tuple[list[Observation], dict[QuestionId, list[Observation]]]:
    votes = votes_in(paths)
    found: dict[QuestionId, list[Observation]] = {}
    for vote in votes:
        found.setdefault(vote.question_id, []).append(vote)
    return votes, found
