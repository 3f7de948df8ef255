"""One conversation: each turn sees the model's own earlier replies, or given ones.

Reasoning is kept in the row and not sent back, but for what a provider requires with a reply.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import msgspec

from harness.answering.sampling import with_seed
from harness.answering.users import Player
from harness.running import uncut
from harness.types import (
    Choice,
    Detail,
    Facts,
    MadeFrom,
    Message,
    Question,
    Reply,
    Request,
    Sampling,
    total_usage,
)


@dataclass(slots=True, kw_only=True)
class Todo:
    """One question for one model: how it is asked, and which conversations are missing."""

    question: Question
    sampling: Sampling
    system: str | None
    template: str
    retry_cut: float
    history: Sequence[str] = ()
    """Replies to all turns but the last, from which the model continues in place of its own."""
    reference: Sequence[str] | None = None
    """What a built-in model may reply with."""
    player: Player | None = None
    num_choices: int
    """Conversations with each sample of a played user."""
    made_from: MadeFrom | None = None
    existing: dict[int, Choice] = field(default_factory=dict)
    """Conversations that are current."""
    missing: list[int] = field(default_factory=list)

    @property
    def turns(self) -> int:
        """How many turns a conversation has, at most."""
        if self.player is not None and self.question.user is not None:
            return self.player.turns(self.question.user)
        return len(self.question.turns)

    @property
    def calls(self) -> int:
        """How many replies are missing, at most."""
        return len(self.missing) * sum(self._given(turn) is None for turn in range(self.turns))

    def _given(self, turn: int) -> str | None:
        return None if self.player is not None else self.question.given(turn + 1)

    def converse(self, index: int) -> Generator[Request, Reply, Choice]:
        """Hold conversation number `index`.

        A turn that the question answers itself is not asked. With a history each turn is asked
        after the history's replies.
        """
        messages = [Message("system", self.system)] if self.system else []
        replies, user_replies = list[Reply](), list[Reply]()
        for turn in range(self.turns):
            text = yield from self._user_text(turn, replies, user_replies, index)
            if text is None:
                break
            messages.append(Message("user", self.template.replace("{question}", text)))
            fixed = self._given(turn)
            if fixed is None:
                replies.append((yield from self._ask(messages, index, turn)))
            else:
                replies.append(Reply(text=fixed, detail=Detail(given="question")))
            text = self.history[turn] if turn < len(self.history) else replies[-1].text
            messages.append(Message("assistant", text))
        return Choice(
            index=index,
            turns=[reply.text for reply in replies],
            details=[reply.detail for reply in replies],
            history=list(self.history),
            user=[reply.text for reply in user_replies],
            user_details=[reply.detail for reply in user_replies],
        )

    def _user_text(
        self, turn: int, replies: list[Reply], user_replies: list[Reply], index: int
    ) -> Generator[Request, Reply, str | None]:
        """Return what the user says, be it a chat model; None: the conversation is over."""
        question, player, user = self.question, self.player, self.question.user
        if player is None or user is None:
            return question.turns[turn]
        if turn == 0 and question.turns != [user.goal]:
            user_replies.append(Reply(text=question.turns[0], detail=Detail(given="question")))
        else:
            before = [player.prompt.without_stop(reply.text) for reply in user_replies]
            texts = [reply.text for reply in replies]
            sample = index // self.num_choices
            user_replies.append((yield player.request(question, before, texts, sample)))
        text = user_replies[-1].text
        if turn > 0 and player.prompt.ends(text):
            return None
        return player.prompt.without_stop(text) or user.goal

    def _ask(
        self, messages: list[Message], index: int, turn: int
    ) -> Generator[Request, Reply, Reply]:
        """Return the next reply; its tokens are those of all tries."""
        reference = None if self.reference is None else list(self.reference)
        facts = Facts(self.question, turn + 1, reference)
        sampling = with_seed(self.sampling, index)
        request = Request(messages=list(messages), sampling=sampling, facts=facts)
        tries = yield from uncut(request, self.retry_cut)
        reply = tries[-1]
        if len(tries) > 1:
            usage = total_usage([attempt.detail.usage for attempt in tries])
            reply.detail = msgspec.structs.replace(reply.detail, usage=usage)
        return reply
