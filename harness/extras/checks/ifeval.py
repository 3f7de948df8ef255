"""IFEval's instructions, counted as its published checker counts: the kind `ifeval`.

    {"kind": "ifeval", "name": "length_constraints:number_words",
     "instruction": "length_constraints:number_words",
     "arguments": {"relation": "at least", "num_words": 300}}

Ids and arguments are those of the published prompts (J. Zhou et al., arXiv:2311.07911). Where the
published checker needs NLTK's models (sentences, words in capitals), our own units stand in.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import field

from harness.errors import require
from harness.extras.checks.check import Check
from harness.extras.checks.passage import Outcome, Passage
from harness.extras.checks.units import sentences, words

_BY_LANGUAGE = (
    "language:response_language",
    "change_case:english_capital",
    "change_case:english_lowercase",
)
"""The instructions that detect the language of the reply."""


class IFEval(Check, frozen=True, kw_only=True, tag="ifeval"):
    """One of IFEval's instructions, with its arguments."""

    instruction: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ValueError` for an instruction or arguments that IFEval does not have.

        `MissingError` if it is about the language of the reply, and langdetect is missing.
        """
        super().__post_init__()
        if self.instruction in _BY_LANGUAGE:
            require("ifeval", "langdetect")
        try:
            follows("text", self.instruction, self.arguments)
        except (AttributeError, KeyError, TypeError, ValueError, re.error) as error:
            raise ValueError(f"{self.instruction}: {error!r}") from None

    def requirement(self) -> str:
        """Return the requirement in words."""
        arguments = ", ".join(f"{name} {value}" for name, value in self.arguments.items())
        name = self.instruction.partition(":")[2].replace("_", " ")
        return f"{name} ({arguments})" if arguments else name

    def test(self, passage: Passage) -> Outcome:
        """Apply the instruction's rule."""
        passed = follows(passage.text, self.instruction, self.arguments)
        return Outcome(passed, "IFEval's rule is not met")


def follows(text: str, instruction: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a text follows an instruction with these arguments."""
    a, lower = arguments, text.strip().lower()
    match instruction:
        case "keywords:existence":
            return all(re.search(word, text, re.IGNORECASE) for word in a["keywords"])
        case "keywords:frequency":
            matches = re.findall(a["keyword"].strip(), text, re.IGNORECASE)
            return _related(len(matches), a["relation"], a["frequency"])
        case "keywords:forbidden_words":
            banned = [rf"\b{word}\b" for word in a["forbidden_words"]]
            return not any(re.search(word, text, re.IGNORECASE) for word in banned)
        case "keywords:letter_frequency":
            number = lower.count(a["letter"].strip().lower())
            return _related(number, a["let_relation"], a["let_frequency"])
        case "language:response_language":
            return detected(text) in (a["language"], None)
        case "length_constraints:number_sentences":
            return _related(len(sentences(text)), a["relation"], a["num_sentences"])
        case "length_constraints:number_words":
            return _related(len(re.findall(r"\w+", text)), a["relation"], a["num_words"])
        case "length_constraints:number_paragraphs":
            return len(_split(r"\s?\*\*\*\s?", text)) == int(a["num_paragraphs"])
        case "length_constraints:nth_paragraph_first_word":
            first = _first_word(text, a["num_paragraphs"], a["nth_paragraph"])
            return first == str(a["first_word"]).lower()
        case "detectable_content:number_placeholders":
            return len(re.findall(r"\[.*?\]", text)) >= int(a["num_placeholders"])
        case "detectable_content:postscript":
            marker = a["postscript_marker"].strip()
            published = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
            return bool(re.search(published.get(marker, marker.lower()), lower))
        case "detectable_format:number_bullet_lists":
            stars = re.findall(r"^\s*\*[^\*].*$", text, re.MULTILINE)
            dashes = re.findall(r"^\s*-.*$", text, re.MULTILINE)
            return len(stars) + len(dashes) == int(a["num_bullets"])
        case "detectable_format:constrained_response":
            return any(f"My answer is {answer}." in text for answer in ("yes", "no", "maybe"))
        case "detectable_format:number_highlighted_sections":
            marked = re.findall(r"\*[^\n\*]*\*", text) + re.findall(r"\*\*[^\n\*]*\*\*", text)
            return sum(1 for text in marked if text.strip("*").strip()) >= int(a["num_highlights"])
        case "detectable_format:multiple_sections":
            sections = re.findall(rf"{a['section_spliter'].strip()}\s?\d+", text)
            return len(sections) >= int(a["num_sections"])
        case "detectable_format:json_format":
            return _is_json(text.strip())
        case "detectable_format:title":
            return bool(re.search(r"<<[^\n]*[^\n<>\s][^\n]*>>", text))
        case "combination:two_responses":
            responses = _split(r"\*{6}", text)
            return len(responses) == 2 and responses[0] != responses[1]
        case "combination:repeat_prompt":
            return lower.startswith(str(a["prompt_to_repeat"]).strip().lower())
        case "startend:end_checker":
            return lower.strip('"').endswith(str(a["end_phrase"]).strip().lower())
        case "startend:quotation":
            return bool(re.fullmatch(r'\s*".*"\s*', text, re.DOTALL))
        case "change_case:capital_word_frequency":
            number = sum(1 for word in words(text) if word.isupper())
            return _related(number, a["capital_relation"], a["capital_frequency"])
        case "change_case:english_capital":
            return text.isupper() and detected(text) in ("en", None)
        case "change_case:english_lowercase":
            return text.islower() and detected(text) in ("en", None)
        case "punctuation:no_comma":
            return "," not in text
        case _:
            raise ValueError("there is no such instruction")


def detected(text: str) -> str | None:
    """Return langdetect's code of a text's language; None where there is nothing to go by."""
    import langdetect

    langdetect.DetectorFactory.seed = 0  # else it draws at random
    try:
        return str(langdetect.detect(text))
    except langdetect.LangDetectException:
        return None


def _related(number: int, relation: str, limit: Any) -> bool:
    """Return whether a number is "less than" or "at least" a limit."""
    if relation not in ("less than", "at least"):
        raise ValueError(f"the relation is {relation!r}")
    return number < int(limit) if relation == "less than" else number >= int(limit)


def _split(mark: str, text: str) -> list[str]:
    """Return the parts between marks, none if one other than the first and last is blank."""
    parts = [part.strip() for part in re.split(mark, text)]
    return [] if "" in parts[1:-1] else [part for part in parts if part]


def _first_word(text: str, number: int, nth: int) -> str:
    """The nth is counted with the empty paragraphs, their number without them, as published."""
    parts = text.split("\n\n")
    filled = sum(1 for part in parts if part.strip())
    words = parts[nth - 1].split() if nth <= filled == number else []
    return re.split(r"[.,?!'\"]", words[0].lstrip("'").lstrip('"'))[0].lower() if words else ""


def _is_json(text: str) -> bool:
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True
