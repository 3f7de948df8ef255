"""An invented language from some sentences; then a dialect with other rules.

Up to level 3 everything is to be found from the sentences. From level 4 on the dictionary is given,
and what is to be found is the order in which sounds change, and whose plural the verb shows.
"""

import itertools
import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from turnbench_questions.template import (
    NUMBERS,
    Made,
    RedrawError,
    Result,
    Turn,
    aside,
    by_level,
    different,
    listed,
    number_in_words,
    numbered,
    redraw_if,
)

QUESTION_ID = 1080
CATEGORY = "humanities"
LEVEL = 3


class Level(NamedTuple):
    """What a level sets.

    By hand, in both turns, beside the puzzle itself: some 440 words made a generation later at
    level 8, 3,700 at 9 and 9,000 at 10, each by five rules that look at every letter.
    """

    patterns: tuple[str, ...]
    """Of the sentences on the list: plural of subject and of object, past, denial."""
    exercise: tuple[str, ...]
    """Of those to be translated."""
    sounds: int = 0
    """How many changes of sound there are; if any, the dictionary is given."""
    nouns: int = 6
    wide: float = 0
    """The share of nouns with an adjective, and of those with an owner."""
    moved: int = 0
    """How many changes of sound come last in the dialect."""
    missing: int = 0
    """How many it doesn't have."""
    replaced: int = 0
    """How many nouns of it are others."""
    aged: int = 0
    """How many of the translations are asked for as they are said later, too."""
    generations: int = 0
    """How much later."""


_LIST = ("0000", "1000", "0100", "1110", "0010", "0001", "1001", "0111", "0011")
_TASKS = ("1011", "0101", "1111", "0110")
LEVELS = by_level(
    Level(("0000", "1000", "0100", "1110", "0010", "0110"), ("1010", "1100")),
    Level(("0000", "1000", "0100", "1110", "0010", "0001", "1001"), ("1101", "0101", "0110")),
    Level(_LIST, _TASKS),  # as it was before there were levels
    Level(_LIST, _TASKS, 2),
    Level((*_LIST, "1010"), _TASKS, 3, 6, 0.2),
    Level((*_LIST, "1010", "0100"), (*_TASKS, "1010"), 4, 6, 0.3, 1),
    Level((*_LIST, *_TASKS), (*_TASKS, "1010", "0111"), 4, 7, 0.4, 1, 0, 1),
    Level((*_LIST, *_TASKS, "1010"), (*_TASKS, *_LIST[3:7]), 5, 7, 0.5, 1, 1, 1, 4, 9),
    Level((*_LIST, *_TASKS, *_LIST[1:4]), (*_TASKS, *_LIST[1:7]), 6, 8, 0.6, 1, 1, 1, 5, 60),
    Level((*_LIST, *_TASKS, *_LIST[1:6]), (*_TASKS, *_LIST[:8]), 6, 8, 0.8, 2, 1, 2, 7, 110),
)
_NOUNS = ("goat", "girl", "fisher", "river", "basket", "moon", "lamp", "sister")
_VERBS = (
    ("watch", "watches", "watched"),
    ("find", "finds", "found"),
    ("carry", "carries", "carried"),
)
_ADJECTIVES = ("old", "black", "quiet", "small")
_AGREEMENTS = ("subject", "object", "either")
"""Whose plural the verb shows."""
_IN_WORDS = {
    "subject": "of who acts",
    "object": "of what is acted on",
    "either": "of either (so also if only one of the two is plural)",
}
_TRIES = 60
"""For changes of sound, before the draw is given up."""
_MOST_FITTING = 100
"""Orders that may fit; more show that the sentences say too little."""
_VOWELS, _CONSONANTS = "aeiou", "bdfgklmnprstvz"
_SHOWN = 400
"""About how many words a worked answer shows at most on their way to later generations."""
_AGEING = 4
"""How many letters a word has at least that changes from generation to generation."""
_IN_GENERATION = (
    "First, its last letter goes to its beginning. Second, each vowel that stands right before a "
    "consonant becomes the next one in the row a, e, i, o, u (and u becomes a). Third, each "
    "consonant that stands right after a vowel becomes the next one in the row "
    f"{', '.join(_CONSONANTS)} (and z becomes b). Fourth, if its second letter comes later in the "
    "alphabet than its last but one, the whole word is turned round and read from its end. Fifth, "
    "if its first letter is a vowel, its first and its third letter change places."
)
_VOICE = dict(zip("bdgvzptkfs", "ptkfsbdgvz", strict=True))


class Sound(NamedTuple):
    """A change of sound: its words, where it happens, and what it makes of that."""

    text: str
    where: re.Pattern[str]
    makes: str | Callable[[re.Match[str]], str]


def _exchanged(match: re.Match[str]) -> str:
    """Return the letter of the other voice."""
    return _VOICE[match[0]]


_SOUNDS = tuple(
    Sound(text, re.compile(where), makes)
    for text, where, makes in (
        ("where vowels meet, only the last of them stays", "[aeiou](?=[aeiou])", ""),
        (
            "a vowel at the end of a word falls if the word has more than four letters",
            "(?<=.{4})[aeiou]$",
            "",
        ),
        (
            "b, d, g, v, z become p, t, k, f, s before one of p, t, k, f, s",
            "[bdgvz](?=[ptkfs])",
            _exchanged,
        ),
        ("n becomes m before b, p or m", "n(?=[bpm])", "m"),
        (
            "in a word of four or more vowels the second one falls",
            "^([^aeiou]*[aeiou][^aeiou]*)[aeiou](?=(?:[^aeiou]*[aeiou]){2})",
            r"\1",
        ),
        ("p, t, k between two vowels become b, d, g", "(?<=[aeiou])[ptk](?=[aeiou])", _exchanged),
        (
            "t and d become s and z before i",
            "[td](?=i)",
            lambda match: {"t": "s", "d": "z"}[match[0]],
        ),
        (
            "l or r after a consonant that is neither changes places with it",
            "([^aeioulr])([lr])",
            r"\2\1",
        ),
        ("of equal letters that meet only one stays", r"(.)(?=\1)", ""),
        ("b, d, g, v, z at the end of a word become p, t, k, f, s", "[bdgvz]$", _exchanged),
        ("after a consonant that two more follow e comes in", "[^aeiou](?=[^aeiou]{2})", r"\g<0>e"),
        ("s and z between two vowels become r", "(?<=[aeiou])[sz](?=[aeiou])", "r"),
        ("every l that another l follows later in the word becomes r", "l(?=.*l)", "r"),
    )
)


class Noun(NamedTuple):
    """A noun with what belongs to it, by index."""

    noun: int
    many: bool
    adjective: int | None = None
    owner: int | None = None
    many_owners: bool = False


class Clause(NamedTuple):
    """Who does what to whom."""

    who: Noun
    verb: int
    whom: Noun
    past: bool
    denied: bool


class Grammar(NamedTuple):
    """The parts that differ between languages."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    plural: str
    """An infix after the first syllable, so that it cannot be seen at the edge."""
    object_mark: str
    past: str
    no: str
    no_past: str
    agrees_with: str
    adjectives: tuple[str, ...] = ()
    owner_mark: str = ""
    sounds: tuple[Sound, ...] = ()
    """In the order in which they change."""


def make(rng: random.Random, level: int) -> Made:
    """Return a question about translations, then about those of a dialect."""
    sets = LEVELS[level]
    more = aside(rng)
    syllables = [c + v for c in "bdgklmnprstvz" for v in "aeiou"]
    rng.shuffle(syllables)
    nouns = tuple(syllables[2 * n] + syllables[2 * n + 1] for n in range(6))
    verbs = tuple(syllables[12 + n] + rng.choice("lrsn") for n in range(3))
    plural, mark, past, no, no_past = syllables[15:20]
    agrees_with = "object" if rng.random() < 0.5 else "subject"
    grammar = Grammar(nouns, verbs, plural, mark, past, no, no_past, agrees_with)
    spare = syllables[20:]
    if sets.sounds:
        grammar = _with_sounds(more, sets, grammar, spare)
    examples = [_clause(rng, more, sets, pattern) for pattern in sets.patterns]
    redraw_if({c.who.noun for c in examples} | {c.whom.noun for c in examples} != _all(sets.nouns))
    redraw_if({c.verb for c in examples} != {0, 1, 2})
    exercise = [_clause(rng, more, sets, pattern) for pattern in sets.exercise]
    redraw_if(set(exercise) & set(examples))
    if not sets.sounds:
        return _without_sounds(sets, grammar, examples, exercise)
    grammar = grammar._replace(sounds=_interacting(more, sets, grammar, exercise))
    return _puzzle(more, sets, grammar, examples, exercise, spare)


def _without_sounds(
    sets: Level, grammar: Grammar, examples: list[Clause], exercise: list[Clause]
) -> Made:
    """Return a question in which the whole grammar is to be found."""
    agrees_with = grammar.agrees_with
    other = "subject" if agrees_with == "object" else "object"
    dialect = grammar._replace(agrees_with=other)
    result, after = ([sentence(c, g) for c in exercise] for g in (grammar, dialect))
    redraw_if(len(sets.patterns) < len(_LIST) and result == after)
    regular = [sentence(c, grammar._replace(no_past=grammar.no)) for c in exercise]
    text = "\n".join(f"- {sentence(c, grammar)}: {english(c)}" for c in examples)
    tasks = "\n".join(
        f"{letter}. {english(c)}" for letter, c in zip("abcd", exercise, strict=False)
    )
    denied = any(clause.denied for clause in examples)
    traps: dict[str, Result] = {"makes the denial of the past regular": regular}
    if len(sets.patterns) < len(_LIST):
        traps = {"makes the verb agree with the other noun": after}
    denial = (
        f"; a denial begins with {grammar.no}, in the past with {grammar.no_past}, and then the "
        "verb stays without ending"
        if denied
        else ""
    )
    count = NUMBERS[len(exercise)]
    turn_1 = Turn(
        f"Sentences of an invented language, with their meaning:\n\n{text}\n\nGive its rules in at "
        f"most six lines: order, number, object, tense, {'denial, ' * denied}agreement. Then "
        f"translate:\n\n{tasks}\n\nClose with the {count} sentences as a JSON array in a code "
        "block, in small letters without full stops.",
        result=result,
        work="The order is (denial) verb, object, subject. The plural is put inside the noun after "
        f"its first syllable: {grammar.plural}. The object ends in -{grammar.object_mark}, a past "
        f"verb in -{grammar.past}{denial}. In a sentence the verb repeats {grammar.plural} before "
        f"its ending if the {agrees_with} is plural.",
        traps=traps,
        points=[
            "Finds that the past is marked in the denial, not on the verb, when denied."
            if denied
            else "Finds the order of the words and what marks the past.",
            "Finds with which noun the verb agrees.",
        ],
    )
    changed = sum(sentence(c, grammar) != sentence(c, dialect) for c in examples)
    turn_2 = Turn(
        f"Across the lake the verb agrees with the {other} instead; nothing else is different. Put "
        f"your {count} translations into the speech of the lake, and say how many of the "
        f"{NUMBERS[len(examples)]} sentences on my list would be different there. A JSON object in "
        f"a code block: `sentences` (array of {count}), `different` (integer).",
        result={"sentences": after, "different": changed},
        work=f"{different(result, after)} of the {count} translations change.",
        traps={"leaves them as they were": {"sentences": result, "different": 0}},
        points=["[state] Leaves translations alone where both nouns agree in number."],
    )
    return Made((turn_1, turn_2), f"your {count} translations", "change_premise")


def _puzzle(
    rng: random.Random,
    sets: Level,
    grammar: Grammar,
    examples: list[Clause],
    exercise: list[Clause],
    spare: list[str],
) -> Made:
    """Return a question in which the order of the changes of sound is to be found."""
    in_list = _in_list(grammar.sounds)
    letters = "abcdefgh"
    moved = rng.sample(in_list, sets.moved)
    missing = rng.sample([sound for sound in in_list if sound not in moved], sets.missing)
    other = rng.choice([one for one in _AGREEMENTS if one != grammar.agrees_with])
    nouns = list(grammar.nouns)
    new = rng.sample(range(len(nouns)), sets.replaced)
    for index in new:
        nouns[index] = spare.pop() + spare.pop() + rng.choice("dgkst")

    def dialect_of(g: Grammar) -> Grammar:
        kept = [sound for sound in g.sounds if sound not in (*moved, *missing)]
        return g._replace(nouns=tuple(nouns), agrees_with=other, sounds=(*kept, *moved))

    said = [sentence(c, grammar) for c in examples]
    result = [sentence(c, grammar) for c in exercise]
    dialect = dialect_of(grammar)
    after = [sentence(c, dialect) for c in exercise]
    changed = [n for n, c in enumerate(examples, 1) if sentence(c, dialect) != said[n - 1]]
    as_listed = [sentence(c, grammar._replace(sounds=in_list)) for c in exercise]
    unmoved = [sentence(c, dialect._replace(sounds=grammar.sounds)) for c in exercise]
    redraw_if(result == after)
    redraw_if(not 3 <= len(changed) <= len(said) - 2)
    redraw_if(sets.moved and after == unmoved)
    fits = _fitting(grammar, examples, said)
    redraw_if(len(fits) > _MOST_FITTING)
    for g in fits:
        redraw_if([sentence(c, g) for c in exercise] != result)
        own = dialect_of(g)
        redraw_if([sentence(c, own) for c in exercise] != after)
        redraw_if([sentence(c, own) for c in examples] != [sentence(c, dialect) for c in examples])

    def whole(sentences: list[str], generations: int = sets.generations) -> dict[str, list[str]]:
        last = sentences[len(sentences) - sets.aged :]
        later = [" ".join(aged(word, generations) for word in one.split()) for one in last]
        return {"sentences": sentences} | ({"later": later} if sets.aged else {})

    def shown(sentences: list[str]) -> Result:
        return whole(sentences) if sets.aged else sentences

    def ages(sentences: list[str]) -> str:
        words = " ".join(sentences[len(sentences) - sets.aged :]).split() if sets.aged else []
        every = -(-len(words) * sets.generations // _SHOWN)
        passed = [n for n in range(sets.generations) if n % every == 0] + [sets.generations]
        return "".join(f"\n{' '.join(aged(word, n) for n in passed)}" for word in words)

    for word in {word for one in (*result, *after) for word in one.split() if sets.aged}:
        forms = [aged(word, generations) for generations in range(sets.generations + 1)]
        redraw_if(len(word) >= _AGEING and len(set(forms)) < len(forms))
    count = NUMBERS[len(exercise)]
    text = numbered(f"{one}: {english(c)}" for one, c in zip(said, examples, strict=True))
    tasks = numbered(map(english, exercise))
    sounds = "; ".join(f"({x}) {s.text}" for x, s in zip(letters, in_list, strict=False))
    names = {sound: f"({x})" for x, sound in zip(letters, in_list, strict=False)}
    ageing = ""
    close = (
        f"Close with the {count} sentences as a JSON array in a code block, in small letters "
        "without full stops."
    )
    if sets.aged:
        passed = sets.generations
        later_by = number_in_words(passed)
        ageing = (
            f"And put the last {NUMBERS[sets.aged]} of them into the speech of "
            f"{later_by} generations later. From each generation to the next "
            "every word, denials too, is changed by these five rules, in this order, each by the "
            "word as the one before has left it and at all its places at the same time; a word of "
            f"fewer than four letters never changes. {_IN_GENERATION} The changes of sound above "
            "don't come over the words again. "
        )
        close = (
            "Close with a JSON object in a code block, all in small letters without full stops: "
            f"`sentences` (array of the {count} translations), `later` (array of the "
            f"{NUMBERS[sets.aged]} as they are said later)."
        )

    turn_1 = Turn(
        f"An invented language. {_dictionary(sets, grammar)} Whose plural it is that the verb "
        f"shows is not known: that {_IN_WORDS['subject']}, {_IN_WORDS['object']}, or "
        f"{_IN_WORDS['either']}. When a word has been put together, changes of sound go over it, "
        "denials too, one after another, each of them once and at all its places at the same "
        "time, always in the same order, which is not known either: "
        f"{sounds}. Vowels are a, e, i, o, u.\n\n{text}"
        f"\n\nSay in at most six lines what you find about the verb and the order. Then translate:"
        f"\n\n{tasks}\n\n{ageing}{close}",
        result=shown(result),
        work=f"The verb shows the plural {_IN_WORDS[grammar.agrees_with]}. An order that fits: "
        f"{', '.join(names[sound] for sound in grammar.sounds)}.{ages(result)}",
        traps={
            "applies the changes in the order in which they are listed": shown(as_listed),
            "shows the plural of another noun at the verb": shown(
                [sentence(c, grammar._replace(agrees_with=other)) for c in exercise]
            ),
            "leaves the sounds unchanged": shown(
                [sentence(c, grammar._replace(sounds=())) for c in exercise]
            ),
        },
        points=[
            "Finds from the sentences which change comes before which.",
            "Finds whose plural the verb shows.",
        ],
    )
    if sets.aged:
        turn_1.traps["stops a generation too early"] = whole(result, sets.generations - 1)
    changes = [f"the verb shows the plural {_IN_WORDS[other]}"]
    if moved:
        plural = len(moved) > 1
        changes.append(
            f"{' and then '.join(names[sound] for sound in moved)} come{'' if plural else 's'} "
            "after all other changes"
        )
    changes += [f"{names[sound]} doesn't happen" for sound in missing]
    changes += [f"`{nouns[n]}` is the word for {_NOUNS[n]}" for n in new]
    also_later = in_later = ""
    if sets.aged:
        last = NUMBERS[sets.aged]
        also_later = (
            f", put the last {last} of them into the speech that the lake has after as many "
            "generations, which change its words by the same five rules,"
        )
        in_later = f", `later` (array of {last})"
    turn_2 = Turn(
        f"Across the lake {listed(changes)}; nothing else is different. Put your {count} "
        f"translations into the speech of the lake{also_later or ','} and say which "
        "of the sentences on my list, by their numbers, would be different there. A JSON object "
        "in a code block: `sentences` "
        f"(array of {count}){in_later}, `different` (array of integers, ascending).",
        result={**whole(after), "different": changed},
        work=f"{different(result, after)} of the {count} translations change.{ages(after)}",
        traps={
            "leaves them as they were": {**whole(result), "different": []},
            "keeps the order and all changes of sound": {**whole(unmoved), "different": changed},
        },
        points=["[state] Goes back to the words as they are put together, not to their sounds."],
    )
    return Made((turn_1, turn_2), f"your {count} translations", "change_premise")


def _with_sounds(
    rng: random.Random, sets: Level, grammar: Grammar, syllables: list[str]
) -> Grammar:
    """Return a grammar with changes of sound, and with words on which they work."""
    ends = [rng.choice(["", "", *"bdgkltrsz"]) for _ in range(sets.nouns)]
    stems = [*grammar.nouns]
    while len(stems) < sets.nouns:
        stems.append(syllables.pop() + syllables.pop())
    marks = [rng.choice("aeiou") + rng.choice("bdgklnrstvz") for _ in range(2)]
    adjectives = tuple(
        syllables.pop() + syllables.pop() + rng.choice(["", *"dgkts"]) for _ in _ADJECTIVES
    )
    return grammar._replace(
        nouns=tuple(map("".join, zip(stems, ends, strict=True))),
        object_mark=marks[0],
        owner_mark=marks[1][::-1],
        past=rng.choice("dtzsk") + grammar.past,
        agrees_with=rng.choice(_AGREEMENTS),
        adjectives=adjectives,
    )


def _interacting(
    rng: random.Random, sets: Level, grammar: Grammar, exercise: list[Clause]
) -> tuple[Sound, ...]:
    """Return changes of sound each of which matters, and whose order does."""
    bare = [sentence(c, grammar).split() for c in exercise]

    def spoken(sounds: Sequence[Sound]) -> list[list[str]]:
        return [[changed_by(sounds, word) for word in words] for words in bare]

    for _ in range(_TRIES):
        sounds = rng.sample(_SOUNDS, sets.sounds)
        result = spoken(sounds)
        if different(result, spoken(_in_list(sounds))) * 2 < len(exercise):
            continue
        if all(spoken([one for one in sounds if one != gone]) != result for gone in sounds):
            return tuple(sounds)
    raise RedrawError


def _in_list(sounds: Sequence[Sound]) -> tuple[Sound, ...]:
    """Return changes of sound in the order of their texts, in which they are listed."""
    return tuple(sorted(sounds, key=lambda sound: sound.text))


def _fitting(grammar: Grammar, examples: list[Clause], said: list[str]) -> list[Grammar]:
    """Return the grammars that would make the same sentences of the examples."""
    fits = []
    for agrees_with in _AGREEMENTS:
        bare = grammar._replace(agrees_with=agrees_with, sounds=())
        pairs = {
            (word, sound)
            for c, one in zip(examples, said, strict=True)
            for word, sound in zip(sentence(c, bare).split(), one.split(), strict=True)
        }
        orders = [*itertools.permutations(grammar.sounds)]
        for word, sound in sorted(pairs, key=lambda pair: -len(pair[0])):
            orders = [order for order in orders if changed_by(order, word) == sound]
        fits += [bare._replace(sounds=order) for order in orders]
    return fits


def changed_by(sounds: Sequence[Sound], word: str) -> str:
    """Return what changes of sound make of a word, one after the other."""
    for sound in sounds:
        word = sound.where.sub(sound.makes, word)
    return word


def aged(word: str, generations: int) -> str:
    """Return what a word becomes in some generations, by the rules of `_IN_GENERATION`."""
    for _ in range(generations if len(word) >= _AGEING else 0):
        word = word[-1] + word[:-1]
        word = re.sub("[aeiou](?=[^aeiou])", lambda m: _next(_VOWELS, m[0]), word)
        word = re.sub("(?<=[aeiou])[^aeiou]", lambda m: _next(_CONSONANTS, m[0]), word)
        if word[1] > word[-2]:
            word = word[::-1]
        if word[0] in _VOWELS:
            word = word[2] + word[1] + word[0] + word[3:]
    return word


def _next(row: str, letter: str) -> str:
    """Return the letter that follows in a row; after the last comes the first."""
    return row[(row.index(letter) + 1) % len(row)]


def sentence(clause: Clause, g: Grammar) -> str:
    """Return a sentence in the language."""

    def in_number(word: str, many: bool) -> str:
        return word[:2] + g.plural + word[2:] if many else word

    def phrase(noun: Noun, mark: str) -> list[str]:
        words = [in_number(g.nouns[noun.noun], noun.many) + mark]
        if noun.adjective is not None:
            words.append(in_number(g.adjectives[noun.adjective], noun.many) + mark)
        if noun.owner is not None:
            words.append(in_number(g.nouns[noun.owner], noun.many_owners) + g.owner_mark)
        return words

    who, whom = clause.who.many, clause.whom.many
    many = {"subject": who, "object": whom, "either": who or whom}[g.agrees_with]
    verb = g.verbs[clause.verb] + (g.plural if many else "")
    verb += g.past if clause.past and not clause.denied else ""
    denial = [g.no_past if clause.past else g.no] if clause.denied else []
    words = [*denial, verb, *phrase(clause.whom, g.object_mark), *phrase(clause.who, "")]
    return " ".join(changed_by(g.sounds, word) for word in words)


def english(clause: Clause) -> str:
    """Return a sentence in English."""
    base, third, past = _VERBS[clause.verb]
    if clause.denied:
        verb = f"{'did' if clause.past else 'do' if clause.who.many else 'does'} not {base}"
    else:
        verb = past if clause.past else base if clause.who.many else third
    return f"{_in_english(clause.who)} {verb} {_in_english(clause.whom)}"


def _in_english(noun: Noun) -> str:
    word = f"{_NOUNS[noun.noun]}{'s' if noun.many else ''}"
    if noun.adjective is not None:
        word = f"{_ADJECTIVES[noun.adjective]} {word}"
    if noun.owner is not None:
        word = f"{_NOUNS[noun.owner]}{'s’' if noun.many_owners else '’s'} {word}"
    return f"the {word}"


def _dictionary(sets: Level, g: Grammar) -> str:
    """Return the words and how they are put together."""
    words = [f"{name} `{word}`" for name, word in zip(_NOUNS, g.nouns, strict=False)]
    words += [f"{name[0]} `{word}`" for name, word in zip(_VERBS, g.verbs, strict=True)]
    if sets.wide:
        words += [f"{name} `{word}`" for name, word in zip(_ADJECTIVES, g.adjectives, strict=True)]
    text = (
        f"Its dictionary: {', '.join(words)}. A sentence has the verb first, then what is acted "
        f"on, then who acts; a denial stands before the verb, `{g.no}`, or `{g.no_past}` in the "
        f"past. A noun in the plural takes `{g.plural}` after its first two letters, and what is "
        f"acted on takes `{g.object_mark}` at its end. A verb that shows a plural takes "
        f"`{g.plural}` at its end, and after that `{g.past}` in the past, but not where a denial "
        "shows the past."
    )
    if sets.wide:
        text += (
            " An adjective follows its noun and takes the same as the noun, in the same places. An "
            f"owner comes after both and takes, singular or plural, `{g.owner_mark}` at its end "
            "and nothing for being part of what is acted on."
        )
    return text


def _all(count: int) -> set[int]:
    return {*range(count)}


def _clause(rng: random.Random, more: random.Random, sets: Level, pattern: str) -> Clause:
    many, many_whom, past, denied = (flag == "1" for flag in pattern)
    who, whom = rng.sample(range(sets.nouns), 2)
    verb = rng.randrange(3)
    nouns = [Noun(who, many), Noun(whom, many_whom)]
    for n, noun in enumerate(nouns):
        if more.random() < sets.wide:
            nouns[n] = nouns[n]._replace(adjective=more.randrange(len(_ADJECTIVES)))
        if more.random() < sets.wide:
            owner = more.choice([one for one in range(sets.nouns) if one != noun.noun])
            nouns[n] = nouns[n]._replace(owner=owner, many_owners=more.random() < 0.5)
    return Clause(nouns[0], verb, nouns[1], past, denied)
