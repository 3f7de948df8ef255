"""`builtin/eliza`: pattern replies after the idea of Weizenbaum's ELIZA (1966), in words of our own.

The first patterns of a list that match decide; what they catch is said back with the persons exchanged; what the user
called "my ..." is remembered, and taken up in later turns. It understands nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.chat.builtin.conversation import Conversation, conversation
from harness.records import Reply, Request

_CLAUSE_END = re.compile(r"[,.;:!?](?=\s|$)|[\"()\n，。！？；：“”（）]")
_LONGEST_ECHO = 80
"""Characters."""


@dataclass(frozen=True, slots=True)
class Script:
    """What is looked for and said in one language."""

    persons: Mapping[str, str]
    word: str
    """The pattern of what may be a person."""
    between: str
    """What stands between two words."""
    rules: Mapping[str, tuple[str, ...]]
    """Replies by pattern, the most telling pattern first; {} is what it caught."""
    mine: str
    """The pattern of what the user calls their own."""
    recall: str
    rest: tuple[str, ...]
    """What is said when nothing else fits."""


_PERSONS = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are", "i'm": "you are",
    "we": "you", "us": "you", "our": "your", "you": "I", "your": "my", "yours": "mine", "you're": "I am",
}  # fmt: skip
_ENGLISH = Script(
    persons=_PERSONS,
    word=r"[\w']+",
    between=" ",
    rules={
        r"\b(?:write|compose|draft|create|design)\b(?: me| us)? (.+)": (
            "What would it mean to you to have {}?",
            "If {} were already written, what would it say first?",
        ),
        r"\b(?:rewrite|revise|change|shorten|turn) (?:it|that|this|yours?|the)\b(.*)": (
            "You would like it different. Which part of it bothers you?",
            "So what I said is not quite it yet. What should it become?",
        ),
        r"\bwhy (.+)": ("Which reason would content you if you ask why {}?", "What do you suppose yourself?"),
        r"\bhow (?:many|much|long|far) (.+)": (
            "Would a figure for {} settle the matter?",
            "What number do you expect?",
        ),
        r"\b(?:how|explain|describe|tell me|show) (.+)": (
            "Suppose someone asked you about {}. Where would you begin?",
            "What do you know already about {}?",
        ),
        r"\b(?:what|which|who|where|when) (.+)\?": ("What answer would surprise you?", "What makes you ask that?"),
        r"\b(?:i feel|i am|i'm|i want|i need) (.+)": ("Since when: {}?", "What would follow if it were not so?"),
        r"\bmy (.+)": ("Your {}: tell me more about that.", "Who else has to do with your {}?"),
        r"\byou\b": ("We were speaking of you rather than of me.", "Does it matter to you what I do?"),
    },
    mine=r"\b(?:my|our) ([a-z'-]+(?: [a-z'-]+)?)",
    recall="Earlier you spoke of your {}; has that to do with this?",
    rest=("Please go on.", "What does that bring to your mind?", "I am listening; say a little more."),
)
_CHINESE = Script(
    persons={"我们": "你们", "你们": "我们", "我": "您", "你": "我", "您": "我"},
    word="我们|你们|[我你您]",
    between="",
    rules={
        r"(?:请|帮我)?(?:写|撰写|创作)(?:一[篇个首封段])?(.+)": ("{}对您来说意味着什么？", "您希望{}先说什么？"),
        r"(?:改写|修改|缩短|重写)(.*)": ("您最想改哪一处？", "您希望它变成什么样子？"),
        r"为什么(.+)": ("您自己觉得为什么{}？", "怎样的理由才能让您满意？"),
        r"(?:多少|几)(.*)": ("您预计会是一个什么样的数字？", "有了这个数字，问题就解决了吗？"),
        r"(?:怎么|如何|解释|说明|介绍|描述)(.+)": ("关于{}，您已经知道些什么？", "要是别人问您{}，您会从哪里说起？"),
        r"我的(.+)": ("请多谈谈您的{}。", "还有谁和您的{}有关？"),
    },
    mine=r"我们?的([\u4e00-\u9fff]{1,3})",
    recall="您先前提到您的{}，这和现在说的有关系吗？",
    rest=("请继续说。", "这让您想到了什么？", "我在听，请再多说一点。"),
)


def eliza(request: Request) -> Reply:
    """Return a pattern's reply to the last message, with what earlier ones left in memory."""
    return Reply(respond(conversation(request)))


def respond(talk: Conversation) -> str:
    """Return what ELIZA says to the last message of a conversation: at most two sentences, none that it said before."""
    script, turn = _CHINESE if talk.chinese else _ENGLISH, len(talk.asked) - 1
    matched, recalled = list(_matches(talk.asked[-1], script, turn)), list(_recalled(talk.asked[:-1], script))
    fitting = _fresh([*matched[:1], *recalled[-1:], *matched[1:]], talk) or _fresh(script.rest, talk)[:1]
    return script.between.join(fitting[:2] or script.rest[:1])


def _fresh(replies: Sequence[str], talk: Conversation) -> list[str]:
    return [reply for reply in replies if all(reply not in earlier for earlier in talk.replies)]


def _matches(text: str, script: Script, turn: int) -> Iterator[str]:
    """Yield a reply for every pattern that is found in a text; what would say back too much says nothing back."""
    for pattern, replies in script.rules.items():
        if match := re.search(pattern, text, re.IGNORECASE):
            caught = exchanged(match.group(1), script) if match.groups() else ""
            fitting = [reply for reply in replies if caught or "{}" not in reply]
            if fitting:
                yield fitting[turn % len(fitting)].replace("{}", caught)


def exchanged(text: str, script: Script) -> str:
    """Return a clause said back, first and second person exchanged; nothing if it is too long to be said back."""
    clause = _CLAUSE_END.split(text.replace("`", "").replace("\u2019", "'").strip())[0].strip()
    back = re.sub(script.word, lambda word: script.persons.get(word[0].lower(), word[0]), clause)
    return back if len(back) <= _LONGEST_ECHO else ""


def _recalled(earlier: tuple[str, ...], script: Script) -> Iterator[str]:
    """Yield a sentence about each thing that the user called their own in an earlier turn."""
    for text in earlier:
        for match in re.finditer(script.mine, text, re.IGNORECASE):
            yield script.recall.format(match.group(1))
