"""An invented language from nine sentences; then a dialect with one other rule."""

import random
from typing import NamedTuple

from turnbench_questions.template import Made, Turn, different, redraw_if

QUESTION_ID = 1080
CATEGORY = "humanities"
LEVEL = 3

_NOUNS = ("goat", "girl", "fisher", "river", "basket", "moon")
_VERBS = (
    ("watch", "watches", "watched"),
    ("find", "finds", "found"),
    ("carry", "carries", "carried"),
)


class Clause(NamedTuple):
    """Who does what to whom: nouns and verb by index."""

    who: int
    many: bool
    verb: int
    whom: int
    many_whom: bool
    past: bool
    denied: bool


class Grammar(NamedTuple):
    """The parts that differ between languages."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    plural: str
    """An infix after the first letter, so that it cannot be seen at the edge."""
    object_mark: str
    past: str
    no: str
    no_past: str
    agrees_with_object: bool


def make(rng: random.Random) -> Made:
    """Return a question about translations, then about those of a dialect."""
    syllables = [c + v for c in "bdgklmnprstvz" for v in "aeiou"]
    rng.shuffle(syllables)
    nouns = tuple(syllables[2 * n] + syllables[2 * n + 1] for n in range(6))
    verbs = tuple(syllables[12 + n] + rng.choice("lrsn") for n in range(3))
    plural, mark, past, no, no_past = syllables[15:20]
    grammar = Grammar(nouns, verbs, plural, mark, past, no, no_past, rng.random() < 0.5)
    dialect = grammar._replace(agrees_with_object=not grammar.agrees_with_object)
    # Plural of the subject and of the object, past, denial; each pattern shows one thing.
    patterns = ("0000", "1000", "0100", "1110", "0010", "0001", "1001", "0111", "0011")
    examples = [_clause(rng, pattern) for pattern in patterns]
    redraw_if({c.who for c in examples} | {c.whom for c in examples} != set(range(6)))
    redraw_if({c.verb for c in examples} != {0, 1, 2})
    exercise = [_clause(rng, pattern) for pattern in ("1011", "0101", "1111", "0110")]
    redraw_if(set(exercise) & set(examples))
    result, after = ([sentence(c, g) for c in exercise] for g in (grammar, dialect))
    regular = [sentence(c, grammar._replace(no_past=no)) for c in exercise]
    text = "\n".join(f"- {sentence(c, grammar)}: {english(c)}" for c in examples)
    tasks = "\n".join(f"{letter}. {english(c)}" for letter, c in zip("abcd", exercise, strict=True))
    turn_1 = Turn(
        f"Sentences of an invented language, with their meaning:\n\n{text}\n\nGive its rules in at "
        "most six lines: order, number, object, tense, denial, agreement. Then "
        f"translate:\n\n{tasks}\n\nClose with the four sentences as a JSON array in a code block, "
        "in small letters without full stops.",
        result=result,
        work="The order is (denial) verb, object, subject. The plural is put inside the noun after "
        f"its first syllable: {plural}. The object ends in -{mark}, a past verb in -{past}; a "
        f"denial begins with {no}, in the past with {no_past}, and then the verb stays without "
        f"ending. In a sentence the verb repeats {plural} before its ending if the "
        f"{'object' if grammar.agrees_with_object else 'subject'} is plural.",
        traps={"makes the denial of the past regular": regular},
        points=[
            "Finds that the past is marked in the denial, not on the verb, when denied.",
            "Finds with which noun the verb agrees.",
        ],
    )
    changed = sum(sentence(c, grammar) != sentence(c, dialect) for c in examples)
    other = "subject" if grammar.agrees_with_object else "object"
    turn_2 = Turn(
        f"Across the lake the verb agrees with the {other} instead; nothing else is different. Put "
        "your four translations into the speech of the lake, and say how many of the nine "
        "sentences on my list would be different there. A JSON object in a code block: `sentences` "
        "(array of four), `different` (integer).",
        result={"sentences": after, "different": changed},
        work=f"{different(result, after)} of the four translations change.",
        traps={"leaves them as they were": {"sentences": result, "different": 0}},
        points=["[state] Leaves translations alone where both nouns agree in number."],
    )
    return Made((turn_1, turn_2), "your four translations", "change_premise")


def sentence(clause: Clause, g: Grammar) -> str:
    """Return a sentence in the language."""

    def noun(index: int, many: bool) -> str:
        word = g.nouns[index]
        return word[:2] + g.plural + word[2:] if many else word

    many = clause.many_whom if g.agrees_with_object else clause.many
    verb = g.verbs[clause.verb] + (g.plural if many else "")
    verb += g.past if clause.past and not clause.denied else ""
    denial = f"{g.no_past if clause.past else g.no} " if clause.denied else ""
    whom = noun(clause.whom, clause.many_whom) + g.object_mark
    return f"{denial}{verb} {whom} {noun(clause.who, clause.many)}"


def english(clause: Clause) -> str:
    """Return a sentence in English."""
    base, third, past = _VERBS[clause.verb]
    if clause.denied:
        verb = f"{'did' if clause.past else 'do' if clause.many else 'does'} not {base}"
    else:
        verb = past if clause.past else base if clause.many else third
    who, whom = _NOUNS[clause.who], _NOUNS[clause.whom]
    ends = ["s" if many else "" for many in (clause.many, clause.many_whom)]
    return f"the {who}{ends[0]} {verb} the {whom}{ends[1]}"


def _clause(rng: random.Random, pattern: str) -> Clause:
    many, many_whom, past, denied = (flag == "1" for flag in pattern)
    who, whom = rng.sample(range(6), 2)
    return Clause(who, many, rng.randrange(3), whom, many_whom, past, denied)
