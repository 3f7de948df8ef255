"""Which matches there are: questions × turns × criteria × models, or pairs of models in both orders.

Matches are yielded one by one and never held in a list: there may be a hundred thousand.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from harness.errors import UsageError
from harness.judging.materials import Materials
from harness.judgments.judgment import Match
from harness.records import Mode, Question


def model_groups(mode: Mode, models: Sequence[str], baseline: str | None = None) -> list[tuple[str, ...]]:
    """Return the single models or the pairs that are judged in a mode.

    Pairs are in the order of `models`; against a baseline, the baseline is the second (`model_2`), as in FastChat.

    Raises:
        UsageError: too few models, or no baseline where one is needed.
    """
    names = list(dict.fromkeys(models))
    if mode == "single":
        return [(name,) for name in names]
    if mode == "pairwise-all":
        if len(names) < 2:
            raise UsageError(f"pairwise-all compares at least two models, there is {len(names)}: {', '.join(names)}")
        return [(one, other) for one, other in itertools.combinations(names, 2)]
    if baseline is None:
        raise UsageError("pairwise-baseline needs --baseline-model")
    pairs: list[tuple[str, ...]] = [(name, baseline) for name in names if name != baseline]
    if not pairs:
        raise UsageError(f"there is no model to compare with the baseline {baseline}")
    return pairs


def plan_matches(
    materials: Materials, questions: Iterable[Question], groups: Iterable[tuple[str, ...]], sample: int = 0
) -> Iterator[Match]:
    """Yield every match: for each question and turn each model, or each pair in game 1, then game 2, by all criteria.

    The criteria come last since their prompts begin alike, and a provider's cache holds a beginning for minutes. The
    options say which turns and choices are judged, the judge set which games are played. Turns that a model did not
    write are not judged, nor are questions for which a variant has no history.
    """
    judge_set, options = materials.judge_set, materials.options
    for question in questions:
        for turn in range(1, len(question.turns) + 1):
            if options.turns is not None and turn not in options.turns:
                continue
            games, criteria = judge_set.games(question, turn, sample), judge_set.criteria_of(question, turn)
            for group in groups:
                if not all(materials.wrote(model, question, turn) for model in group):
                    continue
                for choice in materials.choices(question, group) if options.every_choice else (0,):
                    for game, criterion in itertools.product((1,) if len(group) == 1 else games, criteria):
                        shown = group if game == 1 else group[::-1]
                        yield Match(question, turn, shown, game, criterion, sample, choice)
