"""Answers that can win without answering: near-constant, unrelated to their questions, imitating a prompt.

    constant    an answer whose 4-grams are to 80% in half of the model's answers or more
    unrelated   answers whose words, weighted by idf, fit their own question no better than other questions:
                share = how often own beats other, ties half; 0.5 is chance, and real models are above 0.9
    imitating   an answer that contains a line of the judge's prompt, or a marker that only prompts and verdicts have

Reported, never corrected: 400 answers with the same text are a null model whatever their win rate. The first two are
not reported for fewer than 10 answers.

Source: Zheng et al. 2024 (arXiv 2410.07137), whose constant answer won 86.5% of AlpacaEval after length control.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.old.bench import Bench
from harness.old.judging.sets import JudgeSet
from harness.old.records import QuestionId

LEAST = 10
"""With fewer answers than this, only imitation is reported."""
_RUN = 4
_HELD = 0.8
_COMMON = 0.5
_CONSTANT = 0.5
"""The share of constant answers from which a model is flagged."""
_RELATED = 0.65
"""The share below which answers are flagged as unrelated."""
_OTHERS = 10
"""Other questions that each answer is held against."""
_LONG = 24
"""Letters from which a line of a prompt is its own."""
_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|\w+")
_MARKER = re.compile(
    r"<\|(?:im_start|im_end|start_header_id|system|user|assistant)\|>|\[/?INST\]|\[\[(?:[ABC]|rating)\]\]|rating: \[\["
    r"|\[RESULT\]|\"?ordered_models\"?\s*[:=]|['\"]model['\"]\s*:\s*['\"](?:model_[12]|m|M)['\"]\s*,\s*['\"]rank['\"]"
    r"|\[The (?:Start|End) of Assistant [AB]'s|#+ *(?:Model Outputs?|Best Model|Which is best)\b",
    re.I,
)


class Gaming(NamedTuple):
    """What is conspicuous about the answers of one model."""

    model: str
    answers: int
    constant: float | None
    """The share of constant answers; None of too few."""
    related: float | None
    """How often an answer fits its own question better than another; None of too few, or where nothing is shared."""
    imitating: tuple[QuestionId, ...]
    """Questions whose answer contains text of a judge's prompt or verdict."""

    def notes(self) -> list[str]:
        """Return a line for each thing that a reader must know."""
        said = []
        if self.constant is not None and self.constant >= _CONSTANT:
            said.append(f"{self.constant:.0%} of its {self.answers} answers are nearly identical")
        if self.related is not None and self.related < _RELATED:
            said.append(f"its answers fit other questions as well as their own (better in {self.related:.0%} of tries)")
        if self.imitating:
            which = ", ".join(map(str, self.imitating[:5])) + (", ..." if len(self.imitating) > 5 else "")
            count = "1 answer holds" if len(self.imitating) == 1 else f"{len(self.imitating)} answers hold"
            said.append(f"{count} text of a judge's prompt or verdict (question {which})")
        return [f"{self.model}: {'; '.join(said)}: its win rates may not reflect its quality"] if said else []


def gaming(bench: Bench, models: Iterable[str], judge_set: JudgeSet | None = None) -> list[Gaming]:
    """Return what is conspicuous about the answers of each model; `judge_set` is the one whose prompts are known."""
    asked = {question.question_id: "\n".join(question.turns) for question in bench.questions}
    lines = _own_lines(judge_set)
    found = []
    for model in models:
        answers = {
            key: "\n".join(answer.choices[0].turns) for key, answer in bench.answers(model).items() if key in asked
        }
        held = {key: " ".join(text.split()) for key, text in answers.items()}
        imitating = [
            key
            for key, text in held.items()
            if (_MARKER.search(text) and not _MARKER.search(asked[key]))
            or any(line in text and line not in " ".join(asked[key].split()) for line in lines)
        ]
        enough = len(answers) >= LEAST
        constant = constant_share(list(answers.values())) if enough else None
        related = related_share({key: (asked[key], text) for key, text in answers.items()}) if enough else None
        found.append(Gaming(model, len(answers), constant, related, tuple(imitating)))
    return found


def constant_share(texts: Sequence[str]) -> float:
    """Return the share of the texts of which nearly all is in half of the texts or more."""
    runs = [_runs(text) for text in texts]
    held = Counter(run for own in runs for run in own)
    common = {run for run, count in held.items() if count >= _COMMON * len(texts)}
    return sum(bool(own) and len(own & common) >= _HELD * len(own) for own in runs) / len(texts)


def related_share(pairs: Mapping[QuestionId, tuple[str, str]]) -> float | None:
    """Return how often the answer of a pair (question, answer) fits that question better than another one."""
    questions = [set(_words(question)) for question, _ in pairs.values()]
    seen = Counter(word for own in questions for word in own)
    rare = {word: math.log(len(questions) / count) for word, count in seen.items()}
    better = told = 0.0
    steps = sorted({1 + k * (len(questions) - 1) // _OTHERS for k in range(_OTHERS)} - {len(questions)})
    for at, (_, answer) in enumerate(pairs.values()):
        words = set(_words(answer))
        own = _fit(words, questions[at], rare)
        for step in steps:
            other = _fit(words, questions[(at + step) % len(questions)], rare)
            if own or other:
                better += (own > other) + (own == other) / 2
                told += 1
    # Answers that share nothing with any question say nothing either way: they may be in another language.
    return better / told if told >= LEAST else None


def _fit(words: set[str], question: set[str], rare: Mapping[str, float]) -> float:
    """Return what share of a question's words, weighted by rarity, is among these."""
    total = math.fsum(rare[word] for word in question)
    return math.fsum(rare[word] for word in question & words) / total if total else 0.0


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _words(text)
    size = min(_RUN, len(words))
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if words else set()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _own_lines(judge_set: JudgeSet | None) -> list[str]:
    """Return the lines of a judge set's prompts that are long enough to be its own."""
    if judge_set is None:
        return []
    parts = [part for template in judge_set.templates.values() for part in (template.user, template.system) if part]
    texts = [literal for part in parts for literal, _ in part.pieces]
    lines = (" ".join(line.split()) for text in texts for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if len(line) >= _LONG))
