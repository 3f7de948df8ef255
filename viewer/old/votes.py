"""Votes of people: on what a voter is asked next, and the files that the votes go to.

    human_judgment/ann.jsonl
    {"question_id": 81, "model_a": "x", "model_b": "y", "winner": "model_b", "judge": "ann", "turn": 1, "tstamp": 1.7e9}

`model_a` is the answer that was shown as A. What is asked, in which order and on which sides follows from the voter's
name, the question and the two models alone, so it repeats, and models or questions that come later change little: every
question comes once, with one pair of models, before any comes again; pairs that a judge has compared come first.
Of votes on the same thing the last one counts.
"""

import hashlib
import json
import pathlib
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from harness.old.bench import Bench
from harness.old.errors import DataError, StorageError, UsageError
from harness.old.jsonl import Journal, append_bytes, encode, holder_of, row_of, value_of
from harness.old.judgments.reading import read_judgments
from harness.old.judgments.row import JudgedRow, judged_row
from harness.old.names import file_stem, history_of
from harness.old.records import Answer, Observation, Question, QuestionId

CHOICES = {"a": "model_a", "b": "model_b", "tie": "tie", "bad": "tie (bothbad)"}
"""What a voter may say, and how it stands in the file."""
Key: TypeAlias = tuple[QuestionId, int, frozenset[str]]
"""What is voted on: question, turn, models."""
_NAME = re.compile(r"[^\W_](?:[\w .-]{0,58}[^\W_])?")
_PATIENCE = 3.0
"""Seconds to wait for another program that writes the same file."""
_MOST_FAULTS = 3
_locks: dict[pathlib.Path, threading.Lock] = {}
_all_locks = threading.Lock()


def check_voter(name: str) -> str:
    """Return the name under which somebody votes, or raise `UsageError` if it cannot be one."""
    plain = unicodedata.normalize("NFC", name.strip())
    if not plain:
        raise UsageError("choose a name to vote under")
    if not _NAME.fullmatch(plain):
        raise UsageError(
            f"{name!r} cannot be a voter's name: it takes up to 60 letters, digits, and . - _ or spaces between them"
        )
    if len(plain.encode()) > 120:
        raise UsageError("this name is too long; choose a shorter one")
    return plain


class Ballot(NamedTuple):
    """One thing to vote on, as a voter sees it."""

    question: Question
    turn: int
    model_a: str
    """Whose answer is shown as A."""
    model_b: str
    token: str
    """Stands for question, turn and models where no name may be seen."""

    @property
    def key(self) -> Key:
        """What is voted on."""
        return (self.question.question_id, self.turn, frozenset((self.model_a, self.model_b)))


@dataclass
class Cast:
    """The votes of one voter that are in the file: the last one on each key, in the order of the last ones."""

    winners: dict[Key, str] = field(default_factory=dict)
    """By key, the name of the model that won, or `tie`, or `tie (bothbad)`."""
    faults: list[str] = field(default_factory=list)


class Booth:
    """One voter in one benchmark: what was voted, what comes next."""

    def __init__(
        self,
        bench: Bench,
        voter: str,
        answered: Mapping[str, set[QuestionId]],
        answer: Callable[[str, QuestionId], Any],
        judged: Callable[[QuestionId], Collection[frozenset[str]]] = lambda key: (),
        only: str = "",
    ) -> None:
        """Enter it.

        Args:
            bench: the benchmark.
            voter: the name to vote under.
            answered: the questions that each model has answered.
            answer: returns one of the answers.
            judged: returns the pairs of models that a judge has compared on a question: they are asked about first.
            only: the model that is in every pair (default: any).
        """
        self.bench, self.voter = bench, check_voter(voter)
        self.path = vote_file(bench, self.voter)
        self.cast = read_cast(self.path, self.voter)
        self._answered = answered
        self._answer = answer
        self._judged, self._only = judged, only
        self._shuffled: dict[QuestionId, list[tuple[str, str]]] = {}

    @property
    def finished(self) -> bool:
        """Whether the voter has said that no more votes follow."""
        return self.voter in finished_voters(self.bench)

    def questions(self, category: str = "") -> list[Question]:
        """Return the questions that at least two models have answered."""
        return [q for q in self.bench.questions if (not category or q.category == category) and self._count(q)]

    def total(self, category: str = "") -> int:
        """Return how many votes there are to cast."""
        return sum(map(self._votes_on, self.questions(category)))

    def done(self, category: str = "") -> int:
        """Return how many of them are cast."""
        asked = {q.question_id for q in self.bench.questions if not category or q.category == category}
        return sum(key in asked and (not self._only or self._only in models) for key, _, models in self.cast.winners)

    def next(self, category: str = "") -> Ballot | None:
        """Return what comes next: the later turns of what was begun, then the next pair; None if nothing is left."""
        questions = self.questions(category)
        most = max(map(self._count, questions), default=0)
        for number in range(most):
            for question in sorted(questions, key=lambda q: self._number(number, q.question_id)):
                pairs = self._pairs(question)
                found = self._open_turn(question, *pairs[number]) if number < len(pairs) else None
                if found is not None:
                    return found
        return None

    def last(self) -> Ballot | None:
        """Return what was voted on last, as it was shown."""
        for (key, turn, models), _ in reversed(self.cast.winners.items()):
            question = self.bench.question(key)
            if question is not None and len(models) == 2:
                return self._ballot(question, turn, *sorted(models))
        return None

    def all_cast(self) -> list[Ballot]:
        """Return everything that was voted on, as it was shown, in the order of the votes."""
        asked = [(self.bench.question(key), turn, sorted(models)) for key, turn, models in self.cast.winners]
        return [
            self._ballot(question, turn, *models)
            for question, turn, models in asked
            if question is not None and len(models) == 2 and turn <= len(question.turns)
        ]

    def ballot(self, question_id: QuestionId, token: str) -> Ballot | None:
        """Return the ballot that a token stands for; None if there is none."""
        question = self.bench.question(question_id)
        if question is None:
            return None
        for first, second in self._pairs(question):
            for turn in range(1, len(question.turns) + 1):
                ballot = self._ballot(question, turn, first, second)
                if ballot.token == token:
                    return ballot
        return None

    def vote(self, ballot: Ballot, choice: str) -> None:
        """Write a vote; on return it is on the disk.

        Raises:
            UsageError: the voter has finished, or there is no such choice.
            StorageError: the file cannot be written.
        """
        if choice not in CHOICES:
            raise UsageError(f"no vote {choice!r}; there are: {', '.join(CHOICES)}")
        if self.finished:
            raise UsageError(f"{self.voter} has finished voting; to vote again, choose another name")
        row = {
            "question_id": ballot.question.question_id,
            "model_a": ballot.model_a,
            "model_b": ballot.model_b,
            "winner": CHOICES[choice],
            "judge": self.voter,
            "turn": ballot.turn,
            "tstamp": time.time(),
        }
        _append(self.path, state_of(self.bench), row)

    def finish(self) -> None:
        """Note that no more votes of this voter follow."""
        if not self.finished:
            row = {"judge": self.voter, "tstamp": time.time()}
            with _lock_of(_finished_file(self.bench)):
                append_bytes(_finished_file(self.bench), (encode(row) + "\n").encode())

    def _count(self, question: Question) -> int:
        """Return how many pairs of models answered a question."""
        there = sum(question.question_id in ids for ids in self._answered.values())
        if self._only:
            return max(0, there - 1) if question.question_id in self._answered.get(self._only, ()) else 0
        return there * (there - 1) // 2

    def _votes_on(self, question: Question) -> int:
        """Return how many votes there are to cast on a question: no turn that was given is voted on."""
        if not question.history and not any(map(history_of, self._answered)):
            return len(question.turns) * self._count(question)
        return sum(len(_turns(question, *pair)) for pair in self._pairs(question))

    def _pairs(self, question: Question) -> list[tuple[str, str]]:
        """Return every two models that answered a question, in the voter's order."""
        key = question.question_id
        if key not in self._shuffled:
            there = sorted(model for model, ids in self._answered.items() if key in ids)
            pairs = [pair for pair in combinations(there, 2) if not self._only or self._only in pair]
            judged = self._judged(key)
            self._shuffled[key] = sorted(pairs, key=lambda p: (frozenset(p) not in judged, self._number(key, *p)))
        return self._shuffled[key]

    def _open_turn(self, question: Question, first: str, second: str) -> Ballot | None:
        """Return the first turn of a pair without a vote, as far as both have answered."""
        both, key = frozenset((first, second)), question.question_id
        missing = [turn for turn in _turns(question, first, second) if (key, turn, both) not in self.cast.winners]
        if not missing:
            return None
        answers: list[Answer | None] = [self._answer(model, key) for model in (first, second)]
        turns = min(len(a.choices[0].replies) if a else 0 for a in answers)
        return self._ballot(question, missing[0], first, second) if missing[0] <= turns else None

    def _ballot(self, question: Question, turn: int, first: str, second: str) -> Ballot:
        swapped = self._number("side", question.question_id, first, second) % 2
        sides = (second, first) if swapped else (first, second)
        return Ballot(question, turn, *sides, token=f"{self._number(question.question_id, turn, first, second):016x}")

    def _number(self, *what: object) -> int:
        """Return a number that looks drawn by lot and is always the same for this voter and this."""
        told = json.dumps([self.voter, *map(str, what)], ensure_ascii=True)
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "big")


def _turns(question: Question, first: str, second: str) -> list[int]:
    """Return the turns of a question that both models wrote."""
    return [turn for turn in question.written_by(first) if turn in question.written_by(second)]


# files


def state_of(bench: Bench) -> pathlib.Path:
    """Return the folder for the locks and notes that belong to vote files."""
    return bench.state / "human_judgment"


def vote_file(bench: Bench, voter: str) -> pathlib.Path:
    """Return the file of a voter, which may not exist yet."""
    return bench.folder / "human_judgment" / f"{file_stem(voter)}.jsonl"


def read_cast(path: pathlib.Path, voter: str) -> Cast:
    """Return the votes in a voter's file; what cannot be read of it is among the faults.

    Raises:
        UsageError: the file holds votes of somebody else.
    """
    cast = Cast()
    for found in _votes(path):
        if isinstance(found, DataError):
            cast.faults.append(str(found))
            continue
        by, (model_a, model_b), winner = found.source.judge, found.models, str(found.winner)
        if by != voter:
            raise UsageError(f"{path.name} holds votes by {by}; choose another name than {voter}")
        key = (found.question_id, found.turn, frozenset(found.models))
        cast.winners.pop(key, None)
        cast.winners[key] = {"model_a": model_a, "model_b": model_b}.get(winner, winner)
    if len(cast.faults) > _MOST_FAULTS:
        cast.faults[_MOST_FAULTS:] = [f"{path.name}: {len(cast.faults) - _MOST_FAULTS} more lines left out"]
    return cast


def votes_in(paths: Sequence[pathlib.Path]) -> list[Observation]:
    """Return all votes on pairs in some files, of those on the same thing by the same voter the last one."""
    return [vote for path in paths for vote in read_judgments(path, faults=[]).observations if vote.source.voter]


def _votes(path: pathlib.Path) -> Iterator[JudgedRow | DataError]:
    """Yield the votes on pairs in a file; for damaged lines, what is wrong."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = judged_row(row_of(path, number, value_of(path, number, line)).value, path, number)
                    if len(row.models) == 1:
                        continue  # grades and labels of people are no votes on pairs
                    if not row.source.voter:
                        raise DataError("no vote (model_a, model_b, winner)", path=path, line=number)
                    yield row
                except DataError as error:
                    yield error
    except FileNotFoundError:
        return
    except OSError as error:
        yield DataError(f"cannot be read: {error.strerror or error}", path=path)


def settled_files(bench: Bench, paths: Sequence[pathlib.Path]) -> tuple[list[pathlib.Path], list[str]]:
    """Return the vote files whose voters are not voting just now, and the names of those who are.

    Who still votes must not be told how far judges agree with the votes so far.
    """
    finished = {vote_file(bench, voter) for voter in finished_voters(bench)}
    begun = {path.name for path in (state_of(bench) / "locks").glob("*.lock")}
    open_ones = [path for path in paths if f"{path.name}.lock" in begun and path not in finished]
    return [path for path in paths if path not in open_ones], [path.stem for path in open_ones]


def finished_voters(bench: Bench) -> set[str]:
    """Return the voters who have said that no more votes follow."""
    found: set[str] = set()
    try:
        lines = _finished_file(bench).read_bytes().splitlines()
    except OSError:
        return found
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("judge"), str):
            found.add(row["judge"])
    return found


def _finished_file(bench: Bench) -> pathlib.Path:
    return state_of(bench) / "finished.jsonl"


def _lock_of(path: pathlib.Path) -> threading.Lock:
    with _all_locks:
        return _locks.setdefault(path, threading.Lock())


def _append(path: pathlib.Path, state: pathlib.Path, row: dict[str, Any]) -> None:
    """Write a row; two pages of one voter take turns, and so do two viewers."""
    until = time.monotonic() + _PATIENCE
    with _lock_of(path):
        while True:
            try:
                with Journal(path, state) as journal:
                    journal.append(row)
                return
            except StorageError:
                if holder_of(path, state) is None or time.monotonic() > until:
                    raise
            time.sleep(0.05)
