"""Judged answers that are no single grade -> their table: labels, dimensions, or grades by several criteria."""

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from harness.errors import UsageError
from harness.records import QuestionId, Rating
from harness.results.reading.columns import Ratings
from harness.results.reading.kinds import row_kind
from harness.results.reading.read import Read, one_origin
from harness.results.reading.select import chosen

if TYPE_CHECKING:  # numpy is imported only where a table is made
    from harness.results.criteria.table import CriteriaTable
    from harness.results.labels.table import LabelTable

Table: TypeAlias = "LabelTable | CriteriaTable"
VerdictKind: TypeAlias = Literal["grades", "labels", "dimensions", "criteria"]


class Judged(NamedTuple):
    """The judgments of one judge with one judge set, which may have several criteria."""

    kind: VerdictKind
    ratings: Ratings
    """Of a label set and of dimensions, without any score."""
    judge: str
    judge_set: str


def verdict_kind(read: Read, path: pathlib.Path, judge: str | None, judge_set: str | None) -> VerdictKind:
    """Return what the judgments are; `criteria` where grades by several of them are left by the choice of a judge."""
    kind = row_kind(path)
    if kind != "grades":
        return kind
    found = {
        origin.criterion
        for origin in read.ratings.origins()
        if judge in {None, origin.judge} and judge_set in {None, origin.judge_set, origin.judge_set.rsplit(" ", 1)[0]}
    }
    return "criteria" if len(found) > 1 else "grades"


def judged_by(kind: VerdictKind, read: Read, path: pathlib.Path, judge: str | None, judge_set: str | None) -> Judged:
    """Return the judgments that go into one table, or raise `UsageError` that says what to choose."""
    if kind != "criteria":
        ratings, _, judge, judge_set = chosen(read, "single", path, judge, judge_set, ())
        return Judged(kind, ratings, judge, judge_set)
    origins = []
    for name in dict.fromkeys(case.criterion for case in read.ratings.cases):
        own = read.ratings.keep(case=lambda case, name=name: case.criterion == name)  # type: ignore[misc]
        fitting = [o for o in own.origins() if judge in {None, o.judge}]
        if fitting or judge is None:
            origins.append(one_origin(own, judge=judge, judge_set=judge_set, path=path)[0].origin)
    for flag, values in (
        ("--judge-model", {o.judge for o in origins}),
        ("--judge-set", {o.judge_set for o in origins}),
    ):
        if len(values) > 1:
            there = ", ".join(sorted(values))
            raise UsageError(f"{path} mixes judgments that are not comparable, choose one with {flag}: {there}")
    first = origins[0]
    ratings = read.ratings.keep(
        case=lambda case: case.judge_set == first.judge_set, asked=lambda asked: asked.judge == first.judge
    )
    return Judged(kind, ratings, first.judge, first.judge_set)


def verdict_table(
    judged: Judged,
    path: pathlib.Path,
    groups: Mapping[QuestionId, Any],
    wanted: Callable[[Rating], bool],
    *,
    by: str,
    sure: bool,
    seed: int,
) -> Table:
    """Return the table of the judgments that are wanted.

    Raises:
        UsageError: none of them is.
    """
    origins = set(judged.ratings.origins())

    def own(rating: Rating) -> bool:
        return rating.origin in origins and wanted(rating)

    if judged.kind == "labels":
        from harness.results.labels.read import read_label_rows
        from harness.results.labels.table import label_table

        rows = read_label_rows(path, own)
        if not rows:
            raise UsageError(f"{path} holds no such judgment: none is left by --turns and the models named")
        return label_table(rows, groups=groups or None, by=by, sure=sure, seed=seed)
    from harness.results.criteria.table import criteria_table

    found = _by_dimension(path, own) if judged.kind == "dimensions" else _by_criterion(judged.ratings, own)
    if not found:
        raise UsageError(f"{path} holds no such verdict: none is left by --turns and the models named")
    kind: Literal["dimension", "criterion"] = "dimension" if judged.kind == "dimensions" else "criterion"
    return criteria_table(found, kind, groups=groups or None, by=by, sure=sure, seed=seed)


def _by_dimension(path: pathlib.Path, wanted: Callable[[Rating], bool]) -> dict[str, Ratings]:
    from harness.results.criteria.read import read_dimensions

    return read_dimensions(path, wanted)


def _by_criterion(ratings: Ratings, wanted: Callable[[Rating], bool]) -> dict[str, Ratings]:
    found: dict[str, list[Rating]] = {}
    for rating in ratings:
        if wanted(rating):
            found.setdefault(rating.origin.criterion or "none", []).append(rating)
    return {name: Ratings.of(own) for name, own in found.items()}


def shown_models(models: Sequence[str] | None, turns: Sequence[int] | None) -> Callable[[Rating], bool]:
    """Return whether a rating is of one of the models and turns that were asked for."""
    return lambda rating: (not models or rating.model in models) and (turns is None or rating.turn in turns)
