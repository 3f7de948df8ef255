"""Which matches there are: questions × turns × criteria × models, or pairs of models in both orders.

Matches are yielded one by one and never held in a list: there may be a hundred thousand.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType

from harness.errors import UsageError
from harness.judging.sets import JudgeSet
from harness.judgments.judgment import Match
from harness.records import Mode, Question, QuestionId


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
    questions: Iterable[Question],
    groups: Sequence[tuple[str, ...]],
    turns: Sequence[int] | None = None,
    *,
    judge_set: JudgeSet | None = None,
    sample: int = 0,
    choices: Callable[[Question, Sequence[str]], Iterable[int]] | None = None,
    without: Mapping[str, Set[QuestionId]] = MappingProxyType({}),
) -> Iterator[Match]:
    """Yield every match: for each question and turn each model, or each pair in game 1, then game 2, by all criteria.

    The criteria come last since their prompts begin alike, and a provider's cache holds a beginning for minutes.
    Turns that a model did not write are not judged, nor are the questions in `without` of a model.
    `turns` are the turns to judge; None judges every turn of each question. `judge_set` says which questions, turns and
    criteria there are and which games are played (None: all, without criteria, both). `choices` gives the choices that
    are judged of the answers of some models (None: the first).
    """
    for question in questions:
        for turn in range(1, len(question.turns) + 1):
            if turns is not None and turn not in turns:
                continue
            written = [group for group in groups if _wrote(group, question, turn, without)]
            games = judge_set.games(question, turn, sample) if judge_set is not None else (1, 2)
            criteria = judge_set.criteria_of(question, turn) if judge_set is not None else (None,)
            for group in written:
                for choice in (0,) if choices is None else choices(question, group):
                    for game, criterion in itertools.product((1,) if len(group) == 1 else games, criteria):
                        shown = group if game == 1 else group[::-1]
                        yield Match(question, turn, shown, game, criterion, sample, choice)


def _wrote(models: Sequence[str], question: Question, turn: int, without: Mapping[str, Set[QuestionId]]) -> bool:
    """Return whether each of these models wrote that turn."""
    return all(
        turn in question.written_by(model) and question.question_id not in without.get(model, ()) for model in models
    )
