"""Which matches there are: questions × turns × models, or pairs of models in both orders.

Matches are yielded one by one and never held in a list: there may be a hundred thousand.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from harness.errors import UsageError
from harness.records import Match, Mode, Question


def model_groups(mode: Mode, models: Sequence[str], baseline: str | None = None) -> list[tuple[str, ...]]:
    """Return the single models or the pairs that are judged in a mode.

    Pairs stand in the order of `models`; against a baseline, the baseline is the second (`model_2`), as in FastChat.

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
    questions: Iterable[Question], groups: Sequence[tuple[str, ...]], turns: Sequence[int] | None = None
) -> Iterator[Match]:
    """Yield every match: for each question and turn each model, or each pair in both orders (game 1, then game 2).

    `turns` are the turns to judge; None judges every turn of each question.
    """
    for question in questions:
        for turn in range(1, len(question.turns) + 1):
            if turns is not None and turn not in turns:
                continue
            for group in groups:
                yield Match(question, turn, group)
                if len(group) == 2:
                    yield Match(question, turn, group[::-1], game=2)
