"""The pairs of a judge -> the models' strengths at equal style, with what a reader must know about them.

result = show_style(["length", "headers"], judge_model="gpt-4")
"""

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from harness.old.errors import MissingError, UsageError
from harness.old.judging.builtin import notices
from harness.old.results.about import about
from harness.old.results.answers import home_of, of_sides
from harness.old.results.common import common_questions
from harness.old.results.finding import ask, of_models, of_turns, replaced_note
from harness.old.results.matrix import as_numbers
from harness.old.results.matrix import pairs as pair_arrays
from harness.old.results.pairs.style import FEATURES, Styled, counted, relative_difference, styled
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import COVERAGE
from harness.old.written import takes_only


@dataclass(frozen=True, slots=True)
class StyleResult:
    """Strengths at equal style, and what they are of."""

    judge: str
    judge_set: str
    bench: str
    styled: Styled
    notes: tuple[str, ...]
    path: pathlib.Path


@takes_only(Words.__annotations__)
def show_style(features: Sequence[str], *, anchors: Sequence[str] = (), **words: Unpack[Words]) -> StyleResult:
    """Return the models' strengths at equal style of their answers.

    `features` are some of `FEATURES`; `anchors` are the models that define the scale (default: all). See `Words` for
    the other keywords.

    Raises:
        UsageError: no such feature or anchor, grades instead of pairs, or there is no estimate.
        MissingError: there are no pairs, or their answers are missing.
    """
    if unknown := [name for name in features if name not in FEATURES]:
        raise UsageError(f"no feature of style {', '.join(unknown)}; there are: {', '.join(FEATURES)}")
    query = Query.of("pairwise-all", **words)
    (source,) = sources = ask(query)
    judged = of_models(of_turns(source.observations, query.turns, source.path), query.models)
    bench = home_of(query, source.path)
    sides = of_sides(judged, bench, counted)
    values = {
        name: relative_difference(*(as_numbers(None if own is None else own[name] for own in side) for side in sides))
        for name in dict.fromkeys(features)
    }
    subject = about(query, judged, source.path)
    found = pair_arrays(judged, subject.groups if subject.fixed_mix else None)
    if any(all(own is None for own in side) for side in sides):
        raise MissingError(
            f"no pair of {source.path} has both answers in {bench.folder / 'model_answer'}; "
            "name their folder with --bench-name and --data-dir"
        )
    result = styled(found, values, anchors=anchors, seed=query.seed)
    met = common_questions(judged)
    result = replace(result, rows=sorted(result.rows, key=lambda row: row.model in met.apart))
    incomplete = subject.reach(judged, query.turns), met.note(paired=True)
    notes = [*replaced_note(sources), *filter(None, incomplete), *_notes(result, features), *notices([source.judge])]
    return StyleResult(source.judge, source.judge_set, bench.name, result, tuple(notes), source.path)


def _notes(result: Styled, features: Sequence[str]) -> list[str]:
    """Return what the numbers are."""
    alike = [name for name in dict.fromkeys(features) if name not in result.coefficients]
    if result.anchors:
        scale = f"the mean of {', '.join(result.anchors)} is 1000, and no other model changes a rating"
    else:
        scale = "the mean of all models is 1000, so an added model changes all ratings (see --style-anchor)"
    told = ", ".join(f"{name} ({FEATURES[name]})" for name in result.coefficients)
    notes = [
        f"rating: Bradley-Terry with {told} as covariates, 400 points = odds of 10 to 1; {scale}",
        "as is: the same fit without covariates; shift: rating minus as is",
        "coefficient: log odds to win where one answer has the feature and the other has none of it; what counts are "
        "relative differences (a - b) / (a + b), code blocks aside",
        f"{result.n} pairs; a tie is half a win, a graded preference counts as its value",
    ]
    if alike:
        notes.append(f"no two answers differ in {', '.join(alike)}")
    if result.left_out:
        notes.append(f"{result.left_out} pairs without a verdict or without both answers left out")
    if result.among_others:
        notes.append(f"{result.among_others} pairs of two models neither of which defines the scale left out")
    methods = {row.fields["rating"].method: None for row in result.rows if row.fields["rating"].method}
    return notes + ([f"intervals: {COVERAGE[m]}" for m in methods] or ["too few questions for intervals"])
