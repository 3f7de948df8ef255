"""`builtin/outline`: an organised reply out of the words of the conversation, in the shape that the question asks for.

It restates what is asked, lists key terms and givens, works sums that are spelled out, obeys instructions that can be
counted, and in later turns revises or refers to its earlier reply. It knows nothing about the world and says so.
"""

import asyncio
import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.chat.builtin.arithmetic import worked_sums
from harness.chat.builtin.conversation import Conversation, close_reply, conversation
from harness.chat.builtin.instructions import Instruction
from harness.chat.builtin.shaping import clipped, shape
from harness.chat.builtin.tokens import STOP_WORDS, code_blocks, is_chinese, is_han, prose, sentences, stem
from harness.chat.builtin.wordings import instructions_in_force
from harness.records import Reply, Request

_ASKING = re.compile(
    r"\?|？|^(?:please|now|write|give|explain|describe|list|make|turn|tell|show|find|compute|draft|"
    r"answer|what|how|which|why)\b|请|吗",
    re.IGNORECASE,
)
_REVISES = re.compile(
    r"\b(?:rewrite|revise|redo|shorten|rephrase|turn (?:it|that|yours)|your (?:answer|reply|text|"
    r"previous|earlier|first)|same (?:text|answer)|"
    r"instead|again|cut it|make it|change|changes|keep)\b|改写|修改|缩短|重写|刚才|你的回答",
    re.IGNORECASE,
)
_GIVEN = re.compile(r"(?<![\w.])(?P<figure>\d+(?:[.,:]\d+)*(?:\s?(?:%|°C))?)(?: (?P<of>[A-Za-z]+))?")
_HAN_GIVEN = re.compile(r"\d+(?:\.\d+)?\s?[\u4e00-\u9fff%]{0,3}")
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")
_SIGNATURE = re.compile(r"`(\w+\([^`]*\)(?:\s*->\s*[^`]+)?)`")


class Outline:
    """Arranges what it is given."""

    name = "builtin/outline"

    async def reply(self, request: Request) -> Reply:
        """Return an organised reply to the last message, made from the whole conversation."""
        await asyncio.sleep(0)
        started = time.perf_counter()
        return close_reply(outline(conversation(request)), request, self.name, started)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def outline(talk: Conversation) -> str:
    """Return the reply to a conversation's last message."""
    wanted = instructions_in_force(talk.asked) if talk.asked else ()
    if talk.system:
        standing = instructions_in_force((talk.system,))
        subjects = {one.subject for one in wanted}
        wanted = (*(one for one in standing if one.subject not in subjects), *wanted)
    terms = key_terms(talk)
    formatted = _formatted(talk, wanted, terms)
    if formatted is not None:
        return formatted
    pool = (_chinese_pool if talk.chinese else _english_pool)(talk, terms)
    said = set(pool.sentences())
    more = (sentence for sentence in _further(terms, chinese=talk.chinese) if sentence not in said)
    if any(one.kind in ("count", "start", "open", "close", "case", "forbid") for one in wanted):
        return shape(pool.sentences(), wanted, more)
    return pool.laid_out()


class Pool:
    """The sentences of a reply, each under a heading."""

    def __init__(self) -> None:
        self.sections: list[tuple[str, list[str]]] = []

    def add(self, heading: str, *found: str) -> None:
        """Append a section unless it would be empty."""
        kept = [sentence for sentence in found if sentence]
        if kept:
            self.sections.append((heading, kept))

    def sentences(self) -> tuple[str, ...]:
        """Return every sentence, without the headings."""
        return tuple(sentence for _, found in self.sections for sentence in found)

    def laid_out(self) -> str:
        """Return the sections with their headings."""
        return "\n\n".join(f"**{heading}**\n" + "\n".join(found) for heading, found in self.sections)


def key_terms(talk: Conversation, most: int = 12) -> tuple[str, ...]:
    """Return what the user's messages are about: the current message's words first, by length and number."""
    counted: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for age, text in enumerate(reversed(talk.asked)):
        for place, word in enumerate(_term_candidates(prose(text))):
            key = stem(word.lower())
            shown.setdefault(key, word)
            counted[key] += max(1, round((min(len(word), 10) * (2 if word[0].isupper() and place else 1)) / (1 + age)))
    return tuple(shown[key] for key, _ in counted.most_common(most))


def _term_candidates(text: str) -> Iterator[str]:
    for match in _PLAIN_WORD.finditer(text):
        word = match.group(0)
        if word.lower() not in STOP_WORDS and len(word) > 3:
            # Only a capital in the middle of a sentence is the word's own.
            named = word.isupper() or re.search(r"[a-z,;] $", text[max(0, match.start() - 2) : match.start()])
            yield word if named else word.lower()
    for run in _HAN_RUN.findall(text):
        for piece in re.split("[" + "".join(sorted(word for word in STOP_WORDS if is_han(word))) + "]", run):
            for start in range(0, len(piece) - 1, 4):
                if len(piece[start : start + 4]) > 1:
                    yield piece[start : start + 4]


def givens(text: str, most: int = 6) -> tuple[str, ...]:
    """Return the figures that a text gives, each with the words beside it."""
    if is_chinese(text):
        return tuple(dict.fromkeys(match.strip() for match in _HAN_GIVEN.findall(prose(text))))[:most]
    found = (
        match["figure"] + (f" {match['of']}" if match["of"] and match["of"].lower() not in STOP_WORDS else "")
        for match in _GIVEN.finditer(prose(text))
    )
    return tuple(dict.fromkeys(found))[:most]


def directive(text: str) -> str:
    """Return the sentence that asks for something, the last such; failing that, the first sentence."""
    found = sentences(text)
    asking = [sentence for sentence in found if _ASKING.search(sentence)]
    return (asking or list(found[:1]) or [""])[-1]


def _english_pool(talk: Conversation, terms: Sequence[str]) -> Pool:
    pool = Pool()
    earlier = talk.replies[-1] if talk.replies else ""
    sums = [f"{worked}." for worked in worked_sums(talk.current)]
    if sums:
        pool.add("Worked out", *sums)
    if earlier:
        own = [sentence for sentence in sentences(earlier) if not _is_frame(sentence)]
        if _REVISES.search(talk.current):
            pool.add("My earlier reply, taken up again", *own[:8])
        else:
            pool.add("What I said before", *[f'My earlier reply said: "{clipped(own[0], 16)}"' if own else ""])
    pool.add("What is asked", f'The request is: "{clipped(_unquoted(directive(talk.current)), 24)}"')
    figures = givens(" ".join(talk.asked[-2:]))
    pool.add(
        "What is given",
        f"The figures named are {_listed(figures)}." if figures else "",
        f"The matter turns on {_listed(terms[:5])}." if terms else "",
    )
    pool.add("In order", *itertools.islice(_further(terms, chinese=False), 5))
    pool.add(
        "What is missing",
        "I only arrange the words of this conversation; whatever calls for further facts I do not know.",
    )
    return pool


def _chinese_pool(talk: Conversation, terms: Sequence[str]) -> Pool:
    pool = Pool()
    pool.add(
        "计算",
        *[
            f"{worked.expression} {worked.result.replace('is about', '约等于')}。"
            for worked in worked_sums(talk.current)
        ],
    )
    if talk.replies:
        own = [sentence for sentence in sentences(talk.replies[-1]) if not _is_frame(sentence)]
        if _REVISES.search(talk.current):
            pool.add("重提上文", *own[:8])
        elif own:
            pool.add("上文", f"我先前说过：“{clipped(own[0], 24).rstrip('。')}”。")
    pool.add("所问", f"要求是：“{clipped(directive(talk.current), 40).rstrip('。？')}”。")
    figures = givens(" ".join(talk.asked[-2:]))
    pool.add(
        "已知",
        f"给出的数字有{'、'.join(figures)}。" if figures else "",
        f"关键在于{'、'.join(terms[:5])}。" if terms else "",
    )
    pool.add("次序", *itertools.islice(_further(terms, chinese=True), 4))
    pool.add("所缺", "我只整理对话里的词句；凡需另查的事实，我并不知道。")
    return pool


def _is_frame(sentence: str) -> bool:
    """Return whether a sentence of an own reply is about the reply rather than about the matter."""
    return sentence.startswith(
        ("**", "My earlier reply", "I only arrange", "The request is", "我先前说过", "我只整理", "要求是")
    )


def _further(terms: Sequence[str], *, chinese: bool) -> Iterator[str]:
    """Yield sentence after sentence about the key terms; they arrange the terms and claim nothing."""
    names = list(terms) or (["问题"] if chinese else ["question"])
    patterns = (
        ("先看{a}。", "{a}和{b}要放在一起看。", "说到{a}，不能不顾{b}。", "至于{a}，留待后面与{b}比较。")
        if chinese
        else (
            "First comes the matter of {a}.",
            "With {a} goes {b}.",
            "Whoever speaks of {a} cannot leave out {b}.",
            "As for {a}, it is a matter of {b} as well.",
            "Then there is the question of {a}, which leads to {b}.",
        )
    )
    for number in range(60 * len(names)):
        a = names[number % len(names)]
        b = names[(number + 1 + number // len(names)) % len(names)]
        sentence = patterns[(number + number // len(names)) % len(patterns)].format(
            a=a, b=b if b != a else ("其余" if chinese else "the rest")
        )
        yield sentence[:1].upper() + sentence[1:]


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _unquoted(text: str) -> str:
    return re.sub(r'["\u201c\u201d*`]', "", text)


def _formatted(talk: Conversation, wanted: Sequence[Instruction], terms: Sequence[str]) -> str | None:
    """Return the reply in the data format that is asked for, or None if none is."""
    by_kind = {one.kind: one for one in wanted}
    if "json" in by_kind:
        fields = {key: _value_near(key, talk) for key in by_kind["json"].items or tuple(terms[:4])}
        array = re.search(r"\b(?:array|list)\b|数组|列表", talk.current, re.IGNORECASE)
        return f"```json\n{json.dumps([fields] if array else fields, ensure_ascii=False, indent=2)}\n```"
    if "csv" in by_kind:
        keys = by_kind["csv"].items or tuple(terms[:4])
        return f"```csv\n{','.join(keys)}\n{','.join(_value_near(key, talk) or '' for key in keys)}\n```"
    if "table" in by_kind:
        return _table(talk, wanted, terms)
    kept = bool(talk.replies and code_blocks(talk.replies[-1]))
    if "code" in by_kind or (kept and "count" not in by_kind and _REVISES.search(talk.current)):
        return _code(talk, terms)
    return None


def _value_near(key: str, talk: Conversation) -> str | None:
    """Return what the user wrote right after a key's name, or None: nothing is guessed."""
    for text in reversed(talk.asked):
        for name in (key, *key.split("_")):
            if len(name) > 2 and (
                match := re.search(rf"\b{re.escape(name)}\b\s*(?:[:=]|is|：|是)\s*([^\n,.;，。；]{{1,40}})", text, re.I)
            ):
                return match.group(1).strip(" \"'")
    return None


def _table(talk: Conversation, wanted: Sequence[Instruction], terms: Sequence[str]) -> str:
    count = next((one.least or one.most for one in wanted if one.kind == "count" and one.unit == "rows"), None) or min(
        5, len(terms)
    )
    header = ("次序", "词", "与之相关") if talk.chinese else ("no.", "term", "goes with")
    names = [*terms, *("—",) * max(0, count + 1 - len(terms))]
    found = [f"| {number + 1} | {names[number]} | {names[number + 1]} |" for number in range(count)]
    return "\n".join([f"| {' | '.join(header)} |", "| --- | --- | --- |", *found])


def _code(talk: Conversation, terms: Sequence[str]) -> str:
    """Return the skeleton of what is to be written: the signature that the question names, and an honest body."""
    signature = next((match for text in reversed(talk.asked) for match in _SIGNATURE.findall(text)), "answer()")
    signature = re.sub(r"\s*\(", "(", signature, count=1)
    summary = clipped(_unquoted(directive(talk.current)), 20).replace("\\", "")
    lead = (
        "下面只有框架；我不会写它的内容。"
        if talk.chinese
        else "Here is the frame alone; I cannot write what goes into it."
    )
    kept = next((block for reply in reversed(talk.replies) for block in code_blocks(reply)), "")
    note = ("上一版的内容保留。" if talk.chinese else "What my earlier reply gave stays as it was.") if kept else ""
    matter = ("、" if talk.chinese else ", ").join(terms[:6])
    about = f"涉及：{matter}。" if talk.chinese else f"It has to deal with {matter}."
    # The block of the reply before is carried on: this model revises what it said, and has nothing new to put into it.
    body = f'def {signature}:\n    """{summary}"""\n    raise NotImplementedError'
    return "\n\n".join(
        part for part in (note or lead, f"```{'' if kept else 'python'}\n{kept.strip() or body}\n```", about) if part
    )
