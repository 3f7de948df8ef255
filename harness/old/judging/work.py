"""A plan of judgments at work: its files open, its jobs ready for an engine."""

import contextlib
import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Self

from harness.old.chat import ChatModel, open_pool
from harness.old.chat.structured import NoLogprobsError
from harness.old.judging.builtin_model import BuiltinJudge
from harness.old.judging.files import JudgmentSink
from harness.old.judging.judge import judging_job
from harness.old.judging.planned import JudgePlan, JudgmentPlan
from harness.old.judgments.judgment import Match
from harness.old.judgments.row import is_good_judgment, row_key
from harness.old.records import Answer
from harness.old.running.cache import Cache
from harness.old.running.jobs import Course
from harness.old.running.outputs import open_output


class JudgmentWork:
    """The files of all judges of a plan, and the jobs that write to them; a context manager."""

    def __init__(self, plan: JudgmentPlan, cache: Cache) -> None:
        self.plan = plan
        self.superseded = 0
        """Older rows moved to `.turnbench/superseded/`, once the files are closed."""
        self._cache = cache
        self._stack = contextlib.ExitStack()
        self._sinks: list[tuple[JudgePlan, JudgmentSink]] = []
        self._questions = {question.question_id: question for question in plan.questions}
        self._later = {(model, key) for model, keys in plan.awaited.items() for key in keys}
        """Answers awaited at the start: their matches are `about`'s, even if the answers have arrived since."""

    def __enter__(self) -> Self:
        """Open the files.

        Raises:
            StorageError: one can't be written, or another process writes it.
        """
        state = self.plan.bench.judgment_state
        with contextlib.ExitStack() as stack:
            for judge in self.plan.judges:
                standing = functools.partial(self._standing, judge)
                needed = bool(judge.rows or judge.untidy)
                output = open_output(stack, judge.path, state, standing, needed=needed, redo=self.plan.redo)
                if output is not None:
                    self._sinks.append((judge, JudgmentSink(*output, one_order=self.plan.one_order)))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        """Move the rows that newer ones replace, and close the files."""
        try:
            for _, sink in self._sinks:
                self.superseded += sink.journal.retire_older(row_key, is_good_judgment)
        finally:
            self._stack.__exit__(*error)
        if isinstance(error[1], NoLogprobsError):
            raise error[1].about(self.plan.judge_set.name) from None

    @property
    def written(self) -> int:
        """Rows written."""
        return sum(sink.written for _, sink in self._sinks)

    @property
    def unparsed(self) -> Counter[str]:
        """Of these, the rows in which the judge gave no verdict, counted by reason."""
        return sum((sink.reasons for _, sink in self._sinks), Counter[str]())

    @property
    def lost(self) -> int:
        """Rows that another program took out of the files, once they are closed."""
        return sum(sink.journal.lost for _, sink in self._sinks)

    def models(self) -> dict[str, tuple[ChatModel, ...]]:
        """Return the chat models that are needed, by the judge's name."""
        return {judge.judge: _opened(judge) for judge, _ in self._sinks if judge.rows}

    def courses(self) -> Iterator[Course[Any]]:
        """Yield the jobs whose answers are there, one by one: there may be a hundred thousand."""
        for judge, sink in self._sinks:
            for match in self.plan.matches(judge):
                if not any((model, match.question.question_id) in self._later for model in match.models):
                    yield self._course(judge, sink, match)

    def about(self, answer: Answer) -> Iterable[Course[Any]]:
        """Yield the jobs that an answer makes possible: all about it whose other answer, if any, exists."""
        plan, question = self.plan, self._questions.get(answer.question_id)
        groups = [group for group in plan.groups if answer.model in group]
        if question is None or not groups:
            return
        plan.materials.add(answer)
        plan.awaited[answer.model].discard(answer.question_id)
        for judge, sink in self._sinks:
            for match in plan.every_match(judge.sample, questions=[question], groups=groups):
                if plan.open(match, judge):
                    yield self._course(judge, sink, match)

    def sync(self) -> None:
        """Bring what was written to the disk."""
        for _, sink in self._sinks:
            sink.sync()

    def _standing(self, judge: JudgePlan, rows: AbstractSet[str]) -> AbstractSet[str]:
        """Return which of these rows are judged and current."""
        standing = set()
        for match in self.plan.every_match(judge.sample) if rows else ():
            row = judging_job(match, judge.judge, self.plan.materials_of(judge)).row
            if row in rows and not self.plan.awaits(match) and not self.plan.open(match, judge):
                standing.add(row)
        return standing

    def _course(self, judge: JudgePlan, sink: JudgmentSink, match: Match) -> Course[Any]:
        shelf = self._cache.shelf(judge.endpoint, fresh=self.plan.redo or self.plan.redo_failed)
        return Course(judging_job(match, judge.judge, self.plan.materials_of(judge)), sink.put, sink.pending, shelf)


def _opened(judge: JudgePlan) -> tuple[ChatModel, ...]:
    return (BuiltinJudge(judge.judge),) if judge.endpoint is None else open_pool(judge.endpoint)
