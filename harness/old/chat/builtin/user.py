"""`builtin/user`: plays the user of a conversation without a key: it asks, tells what it knows, and ends when content.

It uses only the question's `user`: it first tells the fact that shares most words with the assistant's last question,
and ends as soon as a reply has passed each of `needs`; without needs, when it has told all that it knows. With
another seed it tells facts in another order.
"""

import random
import re

from harness.old.errors import UsageError
from harness.old.records import Reply, Request, User

_ASK = ("Could you put all of that together for me?", "What would you suggest, with all that I have told you?")
_MORE = ("That is not quite what I need yet.", "I still miss something there; could you look again?")
_THANKS = ("Thank you, that is all I need.", "Perfect, thanks a lot.")


def user(request: Request) -> Reply:
    """Return the user's next message.

    Raises:
        UsageError: the request is about a question that has no user to play.
    """
    facts = request.facts
    played = None if facts is None else facts.question.user
    if facts is None or played is None:
        raise UsageError("builtin/user plays the user of questions that have one; it does not answer questions")
    seed = request.sampling.seed or 0
    drawn = random.Random(f"{facts.question.question_id} {seed}")
    replies = facts.answers[0] if facts.answers else ()
    return Reply(_message(played, facts.turn, replies, _said(request), facts.verdict_format, drawn))


def _said(request: Request) -> list[str]:
    return [message.content for message in request.messages if message.role == "assistant"]


def _message(
    played: User, turn: int, replies: tuple[str, ...], said: list[str], stop: str, drawn: random.Random
) -> str:
    from harness.old.checks import all_met

    if not replies:
        return "Hello. I would like some help with something, if you have a minute."
    untold = [one for one in played.knows if not any(one in message for message in said)]
    content = all_met(played.needs, replies) if played.needs else not untold
    if content:
        return f"{drawn.choice(_THANKS)} {stop}"
    if not untold:
        asked = sum(one in message for one in _ASK for message in said)
        return drawn.choice(_ASK) if not asked else drawn.choice(_MORE)
    drawn.shuffle(untold)
    asked_for = set(_words(replies[-1]))
    untold.sort(key=lambda one: -len(asked_for & set(_words(one))))
    return " ".join(untold[: 1 + drawn.randrange(2)])


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3]
