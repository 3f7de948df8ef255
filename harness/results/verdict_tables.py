"""Judged answers that are no single grade -> their table: labels, dimensions, or grades by several criteria."""

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from harness.errors import UsageError
from harness.records import QuestionId, Rating
from harness.results.reading.columns import Ratings
from harness.results.reading.kinds import has_criteria, row_kind
from harness.results.reading.read import Read, Which, of_kind, one_origin, one_wording, read_judgments
from harness.results.reading.select import chosen, usual_file

if TYPE_CHECKING:  # numpy is imported only where a table is made
    from harness.results.criteria.table import CriteriaTable
    from harness.results.judges.verdict_panel import VerdictPanel
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


class OfJudge(NamedTuple):
    """What one judge of a panel said, and where."""

    judged: Judged
    path: pathlib.Path
    read: Read


def judged_by_panel(
    judges: Sequence[str],
    place: pathlib.Path | None,
    judge_set: str | None,
    bench_name: str | None,
    data_dir: pathlib.Path | str,
    which: Which,
) -> list[OfJudge]:
    """Return what each judge of a panel said; nothing if it is one grade an answer, which has tables of its own.

    Raises:
        UsageError: a judge has no such judgment, or the judges had several judge sets.
    """
    found: list[OfJudge] = []
    for judge in judges:
        path = place or usual_file("single", bench_name, data_dir, judge, judge_set, which.sample)
        if not found and row_kind(path) == "grades" and not has_criteria(path):
            return []
        read = of_kind(read_judgments(path), which, path)
        kind = verdict_kind(read, path, judge, judge_set)
        if not found and kind == "grades":
            return []
        found.append(OfJudge(judged_by(kind, read, path, judge, judge_set), path, read))
    sets = list(dict.fromkeys(own.judged.judge_set for own in found))
    if len(sets) > 1:
        raise UsageError(f"there are judgments with several judge sets, choose one with --judge-set: {', '.join(sets)}")
    if len({own.judged.kind for own in found}) > 1:
        told = ", ".join(f"{own.judged.judge}: {own.judged.kind}" for own in found)
        raise UsageError(f"the judges gave no verdicts of one kind ({told}); name one judge with --judge-model")
    one_wording(Ratings.of([rating for own in found for rating in own.judged.ratings]), found[0].path)
    return found


def verdict_panel(
    panel: Sequence[OfJudge],
    groups: Mapping[QuestionId, Any],
    wanted: Callable[[Rating], bool],
    *,
    by: str,
    sure: bool,
    seed: int,
) -> "VerdictPanel":
    """Return what the judges of a panel say, each alone and all together.

    Raises:
        UsageError: no verdict is wanted, or there is none that all of them gave.
    """
    from harness.results.judges.verdict_panel import grades_panel, labels_panel
    from harness.results.labels.read import read_label_rows
    from harness.results.reading.arrays import grades

    said: dict[str, Any] = {}
    for own in panel:
        kind, ratings, judge, _ = own.judged
        origins = set(ratings.origins())

        def of_judge(rating: Rating, origins: set[Any] = origins) -> bool:
            return rating.origin in origins and wanted(rating)

        if kind == "labels":
            said[judge] = read_label_rows(own.path, of_judge)
        else:
            by_name = _by_dimension(own.path, of_judge) if kind == "dimensions" else _by_criterion(ratings, of_judge)
            said[judge] = {name: grades(found, groups or None) for name, found in by_name.items()}
    kind = panel[0].judged.kind
    if kind == "labels":
        found = labels_panel(said, groups=groups or None, by=by, sure=sure, seed=seed)
    else:
        name: Literal["dimension", "criterion"] = "dimension" if kind == "dimensions" else "criterion"
        found = grades_panel(said, name, groups=groups or None, by=by, sure=sure, seed=seed)
    if not found.rows:
        raise UsageError("there is no verdict that all judges gave; name one judge with --judge-model")
    return found


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
