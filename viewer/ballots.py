"""What a voter is asked next, and the file that the votes go to.

    human_judgment/ann.jsonl
    {"question_id": 81, "model_a": "x", "model_b": "y", "winner": "model_b", "judge": "ann"}

`model_a` is the answer that was shown as A. Order and sides follow from the voter's name, the
question and the two models alone, so they repeat, and later models change little. Every question
comes once, with one pair, before any comes again; pairs that a judge has compared come first.
"""

import hashlib
import json
import math
import time
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from harness.errors import UsageError
from harness.types import Question, QuestionId, Vote, content_hash
from viewer.data import Data
from viewer.people import check_name, write_row

CHOICES = {"a": "model_a", "b": "model_b", "tie": "tie", "bad": "tie (bothbad)"}
"""What a voter may say, and what the file calls it."""
Key = tuple[QuestionId, int, frozenset[str]]


class Ballot(NamedTuple):
    """One thing to vote on, as a voter sees it."""

    question: Question
    turn: int
    model_a: str
    model_b: str
    token: str
    """Stands for question, turn and models where no name may be seen."""

    @property
    def key(self) -> Key:
        """What is voted on, whoever is A."""
        return self.question.question_id, self.turn, frozenset((self.model_a, self.model_b))


class Voter:
    """One voter in one benchmark."""

    def __init__(self, data: Data, name: str, category: str = "") -> None:
        """Read what they voted on.

        Raises:
            UsageError: nobody can vote under that name.
        """
        self.data, self.name = data, check_name(name)
        self.path = data.bench.vote_file(self.name)
        self.votes: dict[Key, Vote] = {}
        for path in data.bench.vote_files():
            for vote in data.index.scan(path, Vote, Vote):
                if vote.voter == self.name:
                    pair = frozenset((vote.model_a, vote.model_b))
                    self.votes[vote.question_id, vote.turn, pair] = vote
        files = data.bench.answer_files()
        self._answered = {model: data.index.questions(path) for model, path in files.items()}
        scores = data.scores.take(data.scores.opponent >= 0)
        ids = scores.question_ids
        models = scores.models
        codes = (column.tolist() for column in (scores.question, scores.model, scores.opponent))
        self._judged = {
            (ids[question], frozenset((models[a], models[b])))
            for question, a, b in zip(*codes, strict=True)
        }
        self.questions = [
            question
            for question in data.bench.questions
            if category in ("", question.category) and len(self._models(question)) > 1
        ]

    @property
    def total(self) -> int:
        """How many votes there are to cast."""
        return sum(
            len(_turns(question)) * math.comb(len(self._models(question)), 2)
            for question in self.questions
        )

    def ballots(self) -> Iterator[Ballot]:
        """Yield all there is to vote on in the voter's order, the turns of a pair together."""
        models = max((len(self._models(question)) for question in self.questions), default=0)
        for number in range(math.comb(models, 2)):
            for question in sorted(self.questions, key=lambda q: self._draw(number, q.question_id)):
                pairs = self._pairs(question)
                if number < len(pairs):
                    for turn in _turns(question):
                        yield self.ballot(question, turn, *pairs[number])

    def next(self) -> Ballot | None:
        """Return what comes next; None if nothing is left."""
        return next((ballot for ballot in self.ballots() if ballot.key not in self.votes), None)

    def cast(self) -> list[Ballot]:
        """Return what was voted on, the last vote first."""
        ballots = []
        for key, turn, models in sorted(self.votes, key=lambda k: -(self.votes[k].tstamp or 0)):
            question = self.data.bench.by_id.get(key)
            if question is not None and len(models) == 2 and turn in _turns(question):
                ballots.append(self.ballot(question, turn, *sorted(models)))
        return ballots

    def by_token(self, token: str) -> Ballot | None:
        """Return the ballot that a token stands for."""
        question = self.data.question(token.partition(".")[2])
        if question is None:
            return None
        for pair in self._pairs(question):
            for turn in _turns(question):
                if (ballot := self.ballot(question, turn, *pair)).token == token:
                    return ballot
        return None

    def vote(self, ballot: Ballot, choice: str) -> None:
        """Write a vote.

        Raises:
            UsageError: there is no such choice.
            StorageError: the file cannot be written.
        """
        if choice not in CHOICES:
            raise UsageError(f"no vote {choice!r}; there are {', '.join(CHOICES)}")
        write_row(self.path, self.row(ballot, choice))

    def row(self, ballot: Ballot, choice: str) -> Vote:
        """Return the row of a vote."""
        answers = self.data.answers(ballot.question.question_id)
        models = [m for m in sorted((ballot.model_a, ballot.model_b)) if m in answers]
        turns = [answers[model].choices[0].turns[: ballot.turn] for model in models]
        return Vote(
            question_id=ballot.question.question_id,
            model_a=ballot.model_a,
            model_b=ballot.model_b,
            winner=CHOICES[choice],
            judge=self.name,
            turn=ballot.turn,
            answers=content_hash(*turns),
            tstamp=time.time(),
        )

    def choice_of(self, ballot: Ballot) -> str:
        """Return what was voted, by the sides as they are shown; "" if nothing was."""
        vote = self.votes.get(ballot.key)
        if vote is None:
            return ""
        winner = {"model_a": vote.model_a, "model_b": vote.model_b}.get(vote.winner, vote.winner)
        words = {ballot.model_a: "A is better", ballot.model_b: "B is better"}
        return words.get(winner, "both are bad" if "bad" in winner else "tie")

    def ballot(self, question: Question, turn: int, model_1: str, model_2: str) -> Ballot:
        """Return a ballot, the sides drawn at random."""
        key = question.question_id
        token = f"{self._draw(key, turn, model_1, model_2):016x}.{key}"
        if self._draw("side", key, model_1, model_2) % 2:
            model_1, model_2 = model_2, model_1
        return Ballot(question, turn, model_1, model_2, token)

    def _models(self, question: Question) -> list[str]:
        key = question.question_id
        return sorted(model for model, ids in self._answered.items() if key in ids)

    def _pairs(self, question: Question) -> list[tuple[str, str]]:
        """Return every two models that answered a question, in the voter's order."""
        key = question.question_id
        return sorted(
            combinations(self._models(question), 2),
            key=lambda pair: ((key, frozenset(pair)) not in self._judged, self._draw(key, *pair)),
        )

    def _draw(self, *what: object) -> int:
        """Return a random number, the same each time for this voter."""
        text = json.dumps([self.name, *map(str, what)])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _turns(question: Question) -> list[int]:
    """Return the turns that models wrote; a conversation with a played user is one."""
    if question.user is not None:
        return [1]
    return [n for n in range(1, len(question.turns) + 1) if question.given(n) is None]
