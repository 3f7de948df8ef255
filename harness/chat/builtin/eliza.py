"""`builtin/eliza`: pattern replies after the idea of Weizenbaum's ELIZA (1966), in words of our own.

The keyword of the highest rank decides; what follows it is said back with the persons exchanged; what the user called
"my ..." is remembered, and taken up in later turns when nothing else fits. It understands nothing.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.chat.builtin.conversation import Conversation, close_reply, conversation
from harness.chat.builtin.tokens import sentences
from harness.records import Reply, Request

_PERSONS = {
    "i": "you",
    "i'm": "you are",
    "i've": "you have",
    "i'll": "you will",
    "i'd": "you would",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "am": "are",
    "you": "I",
    "you're": "I am",
    "you've": "I have",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "we": "you",
    "our": "your",
    "us": "you",
}
_HAN_PERSONS = {"我": "您", "我们": "你们", "你": "我", "您": "我", "你们": "我们"}
_LONGEST_ECHO = 14


@dataclass(frozen=True, slots=True)
class Rule:
    """One keyword: how much it outranks others, what it looks for, and what may be said to it."""

    rank: int
    pattern: re.Pattern[str]
    replies: tuple[str, ...]
    """Taken in turn; {} is what the pattern's group caught, said back with the persons exchanged."""


def _rule(rank: int, pattern: str, *replies: str) -> Rule:
    return Rule(rank, re.compile(pattern, re.IGNORECASE), replies)


_ENGLISH = (
    _rule(
        9,
        r"\b(?:write|compose|draft|create|design)\b (.+)",
        "What would it mean to you to have {}?",
        "If {} were already written, what would it say first?",
    ),
    _rule(
        9,
        r"\b(?:rewrite|revise|change|shorten|turn) (?:it|that|this|your|yours|the)\b(.*)",
        "So what I said is not quite it yet. What should it become?",
        "You would like it different. Which part of it bothers you?",
    ),
    _rule(
        8,
        r"\bwhy (.+)",
        "Which reason would content you if you ask why {}?",
        "And what do you suppose yourself, when you wonder why {}?",
    ),
    _rule(
        8,
        r"\b(?:how many|how much|how long|how far) (.+)",
        "Would a figure for {} settle the matter?",
        "What number do you expect?",
    ),
    _rule(
        7, r"\bhow (.+)", "Is it the way that matters to you, or that it is done: {}?", "What have you tried so far?"
    ),
    _rule(
        7,
        r"\b(?:explain|describe|tell me|show) (.+)",
        "Suppose someone asked you about {}. Where would you begin?",
        "What do you know already about {}?",
    ),
    _rule(
        7,
        r"(?:^|, |\band )(?:what|which|who|where|when) (.+\?)",
        "You ask {}. What answer would surprise you?",
        "What makes you ask that?",
    ),
    _rule(6, r"\b(?:i feel|i am|i'm) (.+)", "Since when have you been {}?", "What is it like, being {}?"),
    _rule(
        6,
        r"\b(?:i want|i need|i'd like) (.+)",
        "What would follow if you had {}?",
        "Suppose you never get {}. What then?",
    ),
    _rule(5, r"\b(?:you|your)\b(.*)", "We were speaking of you rather than of me.", "Does it matter to you what I do?"),
    _rule(4, r"\bmy (.+)", "Your {}: tell me more about that.", "Who else has to do with your {}?"),
    _rule(
        3,
        r"\b(?:always|never|every|nobody|everyone)\b(.*)",
        "Without any exception?",
        "Can you think of one case where it was not so?",
    ),
    _rule(
        2,
        r"\b(?:if|suppose|imagine)\b (.+)",
        "And do you think it likely that {}?",
        "What if it were the other way round?",
    ),
)
_CHINESE = (
    _rule(
        9,
        r"(?:请|帮我)?(?:写|编写|撰写|创作)(?:一[篇个首封段])?(.+)",
        "如果{}已经写好了，您希望它先说什么？",
        "{}对您来说意味着什么？",
    ),
    _rule(9, r"(?:改写|修改|缩短|重写)(.*)", "看来我刚才说的还不合您的意，您最想改哪一处？", "您希望它变成什么样子？"),
    _rule(8, r"为什么(.+)", "您自己觉得为什么{}？", "怎样的理由才能让您满意？"),
    _rule(8, r"(?:多少|几)(.*)", "您预计会是一个什么样的数字？", "有了这个数字，问题就解决了吗？"),
    _rule(7, r"(?:怎么|如何|怎样)(.+)", "您已经试过哪些办法来{}？", "您在意的是方法，还是结果？"),
    _rule(7, r"(?:解释|说明|介绍|描述)(.+)", "关于{}，您已经知道些什么？", "要是别人问您{}，您会从哪里说起？"),
    _rule(6, r"我(?:觉得|感到|是|想要?|需要)(.+)", "您从什么时候开始这样想：{}？", "如果{}，接下来会怎样？"),
    _rule(4, r"我的(.+)", "请多谈谈您的{}。", "还有谁和您的{}有关？"),
)
_ENGLISH_REST = (
    "Please go on.",
    "What does that bring to your mind?",
    "I am listening; say a little more.",
    "And how do you see it yourself?",
)
_CHINESE_REST = ("请继续说。", "这让您想到了什么？", "我在听，请再多说一点。", "您自己怎么看呢？")
_MEMORY = re.compile(
    r"\b(?:my|our) ([a-z'-]+(?: [a-z'-]+){0,2}?)(?=\s(?:is|are|was|were|has|have|will|and|but|to|for|"
    r"in|on|at|who|that)\b|[,.;:!?]|$)",
    re.I,
)
_HAN_MEMORY = re.compile(r"我们?的([\u4e00-\u9fff]{1,6}?)(?=[，。！？；是在有和要会]|$)")


class Eliza:
    """Says back what it is told."""

    name = "builtin/eliza"

    async def reply(self, request: Request) -> Reply:
        """Return a pattern's reply to the last message, with what earlier ones left in memory."""
        await asyncio.sleep(0)
        started = time.perf_counter()
        return close_reply(respond(conversation(request)), request, self.name, started)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def respond(talk: Conversation) -> str:
    """Return what ELIZA says to the last message of a conversation."""
    chinese = talk.chinese
    rules, rest = (_CHINESE, _CHINESE_REST) if chinese else (_ENGLISH, _ENGLISH_REST)
    turn = len(talk.asked) - 1
    replies = list(_matches(talk.current, rules, turn))[:2]
    remembered = recalled(talk.asked[:-1], turn, chinese=chinese)
    if remembered and len(replies) < 2:
        replies.append(remembered)
    elif remembered:
        replies[-1] = remembered
    if not replies:
        replies = [rest[turn % len(rest)]]
    fresh = [reply for reply in dict.fromkeys(replies) if all(reply not in earlier for earlier in talk.replies)]
    if not fresh:
        said = "".join(talk.replies)
        fresh = [next((reply for reply in rest if reply not in said), rest[turn % len(rest)])]
    return ("" if chinese else " ").join(fresh)


def _matches(text: str, rules: Sequence[Rule], turn: int) -> list[str]:
    """Return a reply for every sentence in which a keyword stands, those of the highest rank first."""
    found: list[tuple[int, int, str]] = []
    for place, sentence in enumerate(sentences(text) or (text,)):
        for rule in rules:
            match = rule.pattern.search(sentence)
            if match:
                caught = exchanged(match.group(1) if match.groups() else "")
                fitting = [reply for reply in rule.replies if caught or "{}" not in reply]
                if fitting:
                    found.append((-rule.rank, place, fitting[turn % len(fitting)].replace("{}", caught)))
                break
    return [reply for _, _, reply in sorted(found)]


def exchanged(text: str) -> str:
    """Return a clause said back, first and second person exchanged; nothing if it is too long to be said back."""
    clause = re.split(r"[,.;:!?\"()\n，。！？；：“”（）]", text.replace("`", "").strip())[0].strip()
    if re.search(r"[\u4e00-\u9fff]", clause):
        return re.sub(r"我们|你们|我|你|您", lambda match: _HAN_PERSONS[match.group(0)], clause)[:20]
    step = clause.replace("\u2019", "'").split()
    if len(step) > _LONGEST_ECHO:
        return ""
    return " ".join(_PERSONS.get(word.lower(), word) for word in step)


def recalled(earlier: Sequence[str], turn: int, *, chinese: bool) -> str:
    """Return a sentence about something that the user called their own in an earlier turn, or nothing."""
    pattern = _HAN_MEMORY if chinese else _MEMORY
    things = list(dict.fromkeys(match.group(1).strip() for text in earlier for match in pattern.finditer(text)))
    if not things:
        return ""
    thing = things[(turn - 1) % len(things)]
    if chinese:
        return f"您先前提到您的{thing}，这和现在说的有关系吗？"
    return f"Earlier you spoke of your {thing}; has that to do with this?"
