"""Observations in a file -> which benchmark they are about, and its questions' categories or another field."""

import pathlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from harness.old.bench import Bench, load_bench
from harness.old.errors import TurnbenchError, UsageError
from harness.old.judgments.case import Asked
from harness.old.judgments.observations import Observations
from harness.old.records import Question, QuestionId
from harness.old.results.query import UNGROUPED, USUAL_FIELD, Query


class Groups(dict[QuestionId, Any]):
    """For each question the value of a field."""

    fixed = False
    """Whether intervals take the mix of these values as given: questions are resampled within each."""


def is_fixed(groups: Mapping[QuestionId, Any] | None) -> bool:
    """Return whether intervals take the mix of groups as given; plain mappings only group tables."""
    return isinstance(groups, Groups) and groups.fixed


class About(NamedTuple):
    """Which questions observations are about, as far as that is known."""

    bench: str | None
    why_not: str | None = None
    """Why there is no table by category, or what is missing from it."""
    home: Bench | None = None
    """The benchmark itself, where its questions fit."""
    by: str = USUAL_FIELD
    """The field of the questions by which tables are grouped."""
    fixed_mix: bool = False
    """Whether intervals take the mix of that field as given."""
    edited: tuple[QuestionId, ...] = ()
    """Questions of the folder beside which observations lie that had another wording when they were judged."""

    @property
    def questions(self) -> Sequence[Question]:
        """The questions, where they are known."""
        return () if self.home is None else self.home.questions

    @property
    def categories(self) -> dict[QuestionId, str]:
        """The category of each question, where they are known."""
        return {question.question_id: question.category for question in self.questions}

    @property
    def groups(self) -> Groups:
        """For each question the value of the field `by`; empty where questions are not known, or by `none`.

        Raises:
            UsageError: no question has that field.
        """
        if self.by == UNGROUPED:
            return Groups()
        fields = {name for question in self.questions for name in ("category", *question.extra)}
        if self.questions and self.by not in fields:
            known = ", ".join(sorted(fields))
            raise UsageError(f"no question of {self.bench} has the field {self.by!r}; there are: {known}")
        usual = self.by == USUAL_FIELD
        found = Groups((q.question_id, q.category if usual else q.extra.get(self.by)) for q in self.questions)
        found.fixed = self.fixed_mix
        return found

    def reach(self, shown: Observations, turns: Sequence[int] | None) -> str | None:
        """Return how many of the benchmark's questions observations are about; None of all, or where that is unknown.

        Of certain `turns` only questions count that have one of them.
        """
        asked = [q for q in self.questions if turns is None or q.user is not None or len(q.turns) >= min(turns)]
        there = set(shown.questions())
        without = Counter(question.category for question in asked if question.question_id not in there)
        if not without:
            return None
        each = Counter(question.category for question in asked)
        absent = [name for name, missing in without.items() if missing == each[name]]
        none = f", none of {', '.join(absent)}" if absent else ""
        judged = len(asked) - without.total()
        verb = "is" if judged == 1 else "are"
        return f"{judged} of the {len(asked)} questions of {self.bench} {verb} judged{none}"

    def turns_reach(self, judged: Mapping[int, Collection[QuestionId]]) -> str | None:
        """Return which turns were judged on some of the judged questions only that have them; None where none were.

        Nothing is known where no question was judged on all turns: the judge set may be for some turns.
        """
        there = frozenset[QuestionId]().union(*judged.values())
        due = {q.question_id: q.written_by("") for q in self.questions if q.question_id in there and q.user is None}
        if not any(len(turns) > 1 and all(own in judged.get(turn, ()) for turn in turns) for own, turns in due.items()):
            return None
        have = {turn: [own for own, turns in due.items() if turn in turns] for turn in sorted(judged)}
        told = [
            f"turn {turn} on {count} of the {len(every)} that have it"
            for turn, every in have.items()
            if (count := sum(own in judged[turn] for own in every)) < len(every)
        ]
        return f"questions were not judged on all turns: {', '.join(told)}" if told else None


def about(query: Query, found: Observations, path: pathlib.Path) -> About:
    """Return what observations are about.

    A file that the user named belongs to the benchmark folder above its own, if that has questions or the name of a
    shipped benchmark; else to the benchmark named. The questions must match, unless the user named the benchmark:
    every id must be known, and every hash in the rows equal.
    """
    given, unknown = bool(query.files), About(None, by=query.by, fixed_mix=query.fixed_mix)
    beside = not given
    if given and query.bench_name is None:
        home = path.resolve().parent.parent
        beside = (home / "question.jsonl").is_file()
        results = path.resolve().parent.name in {"model_judgment", "human_judgment"}
        try:
            bench = load_bench(home.name, home.parent) if beside or results else None
        except TurnbenchError as error:
            bench = None
            if beside:
                return unknown._replace(why_not=f"no table by category: {error}")
        if bench is None:
            why = "no table by category: the question set is unknown (see --bench-name)"
            return unknown._replace(why_not=why)
    else:
        bench = query.bench
    fault = _misfit(found.asked, bench)
    own = unknown._replace(bench=bench.name, home=bench)
    if fault is None:
        return own
    known = {question.question_id for question in bench.questions}
    if given and query.bench_name and any(asked.question_id in known for asked in found.asked):
        return own._replace(why_not=f"the table by category uses --bench-name, although {fault}")
    edited = _edited(found.asked, bench) if beside else ()
    return unknown._replace(
        bench=None if given else bench.name, why_not=f"no table by category: {fault}", edited=edited
    )


def _edited(asked: Sequence[Asked], bench: Bench) -> tuple[QuestionId, ...]:
    """Return the questions of the benchmark that were judged with another wording than they have."""
    contents = {question.question_id: question.content for question in bench.questions}
    other = (one.question_id for one in asked if one.content not in {None, contents.get(one.question_id, one.content)})
    return tuple(dict.fromkeys(other))


def _misfit(asked: Sequence[Asked], bench: Bench) -> str | None:
    """Return why judgments are not about these questions, or None if they can be."""
    stated = any(one.content is not None for one in asked)
    contents = {q.question_id: q.content if stated else "" for q in bench.questions}
    for one in asked:
        if one.question_id not in contents:
            return f"question {one.question_id} is not in {bench.name}"
        if one.content is not None and one.content != contents[one.question_id]:
            return f"question {one.question_id} has another wording in {bench.name}"
    return None
