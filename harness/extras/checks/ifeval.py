"""IFEval's instructions, counted as its published checker counts: the kind `ifeval`.

    {"kind": "ifeval", "name": "length_constraints:number_words",
     "instruction": "length_constraints:number_words",
     "arguments": {"relation": "at least", "num_words": 300}}

Ids and arguments are those of the published prompts (J. Zhou et al., arXiv:2311.07911). Where the
published checker needs NLTK's models (sentences, words in capitals), our own units stand in. With
`script_words`, for the languages of Multi-IF, a Chinese or Japanese character is a word and the
commas of other scripts are commas.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import field

from harness.extras.checks.check import Check, nearest
from harness.extras.checks.contents import detected
from harness.extras.checks.passage import PASSED, Outcome, Passage
from harness.extras.checks.units import spans_of

Test: TypeAlias = Callable[[str, Mapping[str, Any]], bool]


class IFEval(Check, frozen=True, kw_only=True, tag="ifeval"):
    """One of IFEval's instructions, with its arguments."""

    instruction: str
    arguments: dict[str, Any] = field(default_factory=dict)
    script_words: bool = False

    def __post_init__(self) -> None:
        """Raise `ValueError` for an instruction or arguments that IFEval does not have."""
        super().__post_init__()
        if self.instruction not in INSTRUCTIONS:
            raise ValueError(
                f"no instruction {self.instruction!r}; {nearest(self.instruction, INSTRUCTIONS)}"
            )
        try:
            INSTRUCTIONS[self.instruction]("text", self.arguments)
        except KeyError as error:
            raise ValueError(f"{self.instruction} needs the argument {error}") from None
        except (AttributeError, TypeError, ValueError, re.error) as error:
            raise ValueError(
                f"the arguments of {self.instruction} are not valid: {error}"
            ) from None

    def requirement(self) -> str:
        """Return the requirement in words."""
        stated = {name: value for name, value in self.arguments.items() if value is not None}
        arguments = ", ".join(f"{name} {value}" for name, value in stated.items())
        name = self.instruction.partition(":")[2].replace("_", " ")
        return f"{name} ({arguments})" if arguments else name

    def test(self, passage: Passage) -> Outcome:
        """Apply the instruction's rule."""
        rules = INSTRUCTIONS | _SCRIPTS if self.script_words else INSTRUCTIONS
        passed = rules[self.instruction](passage.text, self.arguments)
        return PASSED if passed else Outcome(False, "IFEval's rule is not met")


def _related(number: int, arguments: Mapping[str, Any], relation: str, threshold: str) -> bool:
    """Return whether a number is "less than" or "at least" what the arguments say."""
    named = arguments[relation]
    if named not in ("less than", "at least"):
        raise ValueError(f"{relation} is {named!r}")
    limit = int(arguments[threshold])
    return number < limit if named == "less than" else number >= limit


def _units(unit: str, text: str) -> int:
    return len(spans_of(unit, Passage.whole(text)))


def _is_english(text: str) -> bool:
    return detected(text) in ("en", None)


def _split(mark: str, text: str) -> list[str] | None:
    """Return the parts between marks; None if one other than the first and last is blank."""
    parts = re.split(mark, text)
    inner = [part for part in parts[1:-1] if not part.strip()]
    return None if inner else [part.strip() for part in parts if part.strip()]


def _keywords(text: str, a: Mapping[str, Any]) -> bool:
    return all(re.search(keyword, text, re.IGNORECASE) for keyword in a["keywords"])


def _frequency(text: str, a: Mapping[str, Any]) -> bool:
    found = re.findall(a["keyword"].strip(), text, re.IGNORECASE)
    return _related(len(found), a, "relation", "frequency")


def _forbidden(text: str, a: Mapping[str, Any]) -> bool:
    return not any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word in a["forbidden_words"])


def _letter(text: str, a: Mapping[str, Any]) -> bool:
    return _related(
        text.lower().count(a["letter"].strip().lower()), a, "let_relation", "let_frequency"
    )


def _language(text: str, a: Mapping[str, Any]) -> bool:
    return detected(text) in (a["language"], None)


def _sentences(text: str, a: Mapping[str, Any]) -> bool:
    return _related(_units("sentences", text), a, "relation", "num_sentences")


def _words(text: str, a: Mapping[str, Any]) -> bool:
    return _related(len(re.findall(r"\w+", text)), a, "relation", "num_words")


def _words_of_scripts(text: str, a: Mapping[str, Any]) -> bool:
    return _related(_units("words", text), a, "relation", "num_words")


def _paragraphs(text: str, a: Mapping[str, Any]) -> bool:
    parts = _split(r"\s?\*\*\*\s?", text)
    return parts is not None and len(parts) == a["num_paragraphs"]


def _nth_paragraph(text: str, a: Mapping[str, Any]) -> bool:
    """The nth is counted with the empty paragraphs, their number without them, as published."""
    parts = text.split("\n\n")
    number = sum(1 for part in parts if part.strip())
    if a["nth_paragraph"] > number or number != a["num_paragraphs"]:
        return False
    words = parts[a["nth_paragraph"] - 1].split()
    first = words[0].lstrip("'").lstrip('"') if words else ""
    return bool(words) and re.split(r"[.,?!'\"]", first)[0].lower() == a["first_word"].lower()


def _placeholders(text: str, a: Mapping[str, Any]) -> bool:
    return len(re.findall(r"\[.*?\]", text)) >= int(a["num_placeholders"])


def _postscript(text: str, a: Mapping[str, Any]) -> bool:
    marker = a["postscript_marker"].strip()
    pattern = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(marker, marker.lower())
    return re.search(pattern, text.lower()) is not None


def _bullets(text: str, a: Mapping[str, Any]) -> bool:
    stars = re.findall(r"^\s*\*[^\*].*$", text, re.MULTILINE)
    return len(stars) + len(re.findall(r"^\s*-.*$", text, re.MULTILINE)) == int(a["num_bullets"])


def _constrained(text: str, a: Mapping[str, Any]) -> bool:
    return any(f"My answer is {answer}." in text for answer in ("yes", "no", "maybe"))


def _highlights(text: str, a: Mapping[str, Any]) -> bool:
    found = re.findall(r"\*[^\n\*]*\*", text) + re.findall(r"\*\*[^\n\*]*\*\*", text)
    return sum(1 for one in found if one.strip("*").strip()) >= int(a["num_highlights"])


def _sections(text: str, a: Mapping[str, Any]) -> bool:
    return len(re.findall(rf"{a['section_spliter'].strip()}\s?\d+", text)) >= int(a["num_sections"])


def _json(text: str, a: Mapping[str, Any]) -> bool:
    text = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _title(text: str, a: Mapping[str, Any]) -> bool:
    return any(title.lstrip("<").rstrip(">").strip() for title in re.findall(r"<<[^\n]+>>", text))


def _two_responses(text: str, a: Mapping[str, Any]) -> bool:
    parts = _split(r"\*{6}", text)
    return parts is not None and len(parts) == 2 and parts[0] != parts[1]


def _repeat_prompt(text: str, a: Mapping[str, Any]) -> bool:
    return text.strip().lower().startswith(str(a["prompt_to_repeat"]).strip().lower())


def _end(text: str, a: Mapping[str, Any]) -> bool:
    return text.strip().strip('"').lower().endswith(str(a["end_phrase"]).strip().lower())


def _quotation(text: str, a: Mapping[str, Any]) -> bool:
    text = text.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def _capital_words(text: str, a: Mapping[str, Any]) -> bool:
    return _related(_units("capital_words", text), a, "capital_relation", "capital_frequency")


def _upper(text: str, a: Mapping[str, Any]) -> bool:
    return text.isupper() and _is_english(text)


def _lower(text: str, a: Mapping[str, Any]) -> bool:
    return text.islower() and _is_english(text)


def _no_comma(text: str, a: Mapping[str, Any]) -> bool:
    return "," not in text


INSTRUCTIONS: dict[str, Test] = {
    "keywords:existence": _keywords,
    "keywords:frequency": _frequency,
    "keywords:forbidden_words": _forbidden,
    "keywords:letter_frequency": _letter,
    "language:response_language": _language,
    "length_constraints:number_sentences": _sentences,
    "length_constraints:number_words": _words,
    "length_constraints:number_paragraphs": _paragraphs,
    "length_constraints:nth_paragraph_first_word": _nth_paragraph,
    "detectable_content:number_placeholders": _placeholders,
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:constrained_response": _constrained,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _json,
    "detectable_format:title": _title,
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": _repeat_prompt,
    "startend:end_checker": _end,
    "startend:quotation": _quotation,
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": _upper,
    "change_case:english_lowercase": _lower,
    "punctuation:no_comma": _no_comma,
}
_SCRIPTS: dict[str, Test] = {
    "length_constraints:number_words": _words_of_scripts,
    "punctuation:no_comma": lambda text, a: not re.search("[,，、،]", text),
}
