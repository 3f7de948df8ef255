"""IFEval's instructions, counted as its published checker counts: the kind `ifeval`.

    {"kind": "ifeval", "name": "length_constraints:number_words",
     "instruction": "length_constraints:number_words",
     "arguments": {"relation": "at least", "num_words": 300}}

Ids and arguments are those of the published prompts (J. Zhou et al., arXiv:2311.07911). Where the
published checker needs NLTK's models (sentences, words in capitals), our own units stand in.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import field

from harness.extras.checks.check import Check
from harness.extras.checks.passage import PASSED, Outcome, Passage
from harness.extras.checks.units import capital_words, nearest, sentences

Test: TypeAlias = Callable[[str, Mapping[str, Any]], bool]


class IFEval(Check, frozen=True, kw_only=True, tag="ifeval"):
    """One of IFEval's instructions, with its arguments."""

    instruction: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ValueError` for an instruction or arguments that IFEval does not have."""
        super().__post_init__()
        if self.instruction not in INSTRUCTIONS:
            raise ValueError(
                f"no instruction {self.instruction!r}; {nearest(self.instruction, INSTRUCTIONS)}"
            )
        try:
            INSTRUCTIONS[self.instruction]("text", self.arguments)
        except (AttributeError, KeyError, TypeError, ValueError, re.error) as error:
            raise ValueError(f"arguments of {self.instruction}: {error!r}") from None

    def requirement(self) -> str:
        """Return the requirement in words."""
        stated = {name: value for name, value in self.arguments.items() if value is not None}
        arguments = ", ".join(f"{name} {value}" for name, value in stated.items())
        name = self.instruction.partition(":")[2].replace("_", " ")
        return f"{name} ({arguments})" if arguments else name

    def test(self, passage: Passage) -> Outcome:
        """Apply the instruction's rule."""
        passed = INSTRUCTIONS[self.instruction](passage.text, self.arguments)
        return PASSED if passed else Outcome(False, "IFEval's rule is not met")


def _related(number: int, relation: str, limit: Any) -> bool:
    """Return whether a number is "less than" or "at least" a limit."""
    if relation not in ("less than", "at least"):
        raise ValueError(f"the relation is {relation!r}")
    return number < int(limit) if relation == "less than" else number >= int(limit)


def detected(text: str) -> str | None:
    """Return langdetect's code of a text's language; None where there is nothing to go by."""
    import langdetect

    langdetect.DetectorFactory.seed = 0  # else it draws at random
    try:
        return str(langdetect.detect(text))
    except langdetect.LangDetectException:
        return None


def _split(mark: str, text: str) -> list[str]:
    """Return the parts between marks, none if one other than the first and last is blank."""
    parts = [part.strip() for part in re.split(mark, text)]
    return [] if "" in parts[1:-1] else [part for part in parts if part]


def _nth_paragraph(text: str, number: int, nth: int, word: str) -> bool:
    """The nth is counted with the empty paragraphs, their number without them, as published."""
    parts = text.split("\n\n")
    filled = sum(1 for part in parts if part.strip())
    words = parts[nth - 1].split() if nth <= filled == number else []
    first = words[0].lstrip("'").lstrip('"') if words else ""
    return bool(words) and re.split(r"[.,?!'\"]", first)[0].lower() == word.lower()


def _postscript(marker: str) -> str:
    return {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(marker, marker.lower())


def _bullets(text: str) -> int:
    stars = re.findall(r"^\s*\*[^\*].*$", text, re.MULTILINE)
    return len(stars) + len(re.findall(r"^\s*-.*$", text, re.MULTILINE))


def _highlights(text: str) -> int:
    found = re.findall(r"\*[^\n\*]*\*", text) + re.findall(r"\*\*[^\n\*]*\*\*", text)
    return sum(1 for one in found if one.strip("*").strip())


def _is_json(text: str) -> bool:
    text = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


INSTRUCTIONS: dict[str, Test] = {
    "keywords:existence": lambda text, a: all(
        re.search(word, text, re.IGNORECASE) for word in a["keywords"]
    ),
    "keywords:frequency": lambda text, a: _related(
        len(re.findall(a["keyword"].strip(), text, re.IGNORECASE)), a["relation"], a["frequency"]
    ),
    "keywords:forbidden_words": lambda text, a: (
        not any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word in a["forbidden_words"])
    ),
    "keywords:letter_frequency": lambda text, a: _related(
        text.lower().count(a["letter"].strip().lower()), a["let_relation"], a["let_frequency"]
    ),
    "language:response_language": lambda text, a: detected(text) in (a["language"], None),
    "length_constraints:number_sentences": lambda text, a: _related(
        len(sentences(text)), a["relation"], a["num_sentences"]
    ),
    "length_constraints:number_words": lambda text, a: _related(
        len(re.findall(r"\w+", text)), a["relation"], a["num_words"]
    ),
    "length_constraints:number_paragraphs": lambda text, a: (
        len(_split(r"\s?\*\*\*\s?", text)) == a["num_paragraphs"]
    ),
    "length_constraints:nth_paragraph_first_word": lambda text, a: _nth_paragraph(
        text, a["num_paragraphs"], a["nth_paragraph"], a["first_word"]
    ),
    "detectable_content:number_placeholders": lambda text, a: (
        len(re.findall(r"\[.*?\]", text)) >= int(a["num_placeholders"])
    ),
    "detectable_content:postscript": lambda text, a: bool(
        re.search(_postscript(a["postscript_marker"].strip()), text.lower())
    ),
    "detectable_format:number_bullet_lists": lambda text, a: _bullets(text) == a["num_bullets"],
    "detectable_format:constrained_response": lambda text, a: any(
        f"My answer is {answer}." in text for answer in ("yes", "no", "maybe")
    ),
    "detectable_format:number_highlighted_sections": lambda text, a: (
        _highlights(text) >= int(a["num_highlights"])
    ),
    "detectable_format:multiple_sections": lambda text, a: (
        len(re.findall(rf"{a['section_spliter'].strip()}\s?\d+", text)) >= int(a["num_sections"])
    ),
    "detectable_format:json_format": lambda text, a: _is_json(text),
    "detectable_format:title": lambda text, a: any(
        title.lstrip("<").rstrip(">").strip() for title in re.findall(r"<<[^\n]+>>", text)
    ),
    "combination:two_responses": lambda text, a: (
        len(parts := _split(r"\*{6}", text)) == 2 and parts[0] != parts[1]
    ),
    "combination:repeat_prompt": lambda text, a: (
        text.strip().lower().startswith(str(a["prompt_to_repeat"]).strip().lower())
    ),
    "startend:end_checker": lambda text, a: (
        text.strip().strip('"').lower().endswith(str(a["end_phrase"]).strip().lower())
    ),
    "startend:quotation": lambda text, a: bool(re.fullmatch(r'\s*".*"\s*', text, re.DOTALL)),
    "change_case:capital_word_frequency": lambda text, a: _related(
        len(capital_words(text)), a["capital_relation"], a["capital_frequency"]
    ),
    "change_case:english_capital": lambda text, a: (
        text.isupper() and detected(text) in ("en", None)
    ),
    "change_case:english_lowercase": lambda text, a: (
        text.islower() and detected(text) in ("en", None)
    ),
    "punctuation:no_comma": lambda text, a: "," not in text,
}
"""By id: whether a text follows an instruction with these arguments."""
