"""Judgment files -> what the judge is worth: one report for each question about it, as `judge_report` prints it.

    position   does it go by the place in which it sees an answer?
    length     does it favour the longer answer?
    repeat     would it say the same again?
    self, ranking: `models_report`        agreement, corrected: `votes_report`

Reading and naming happen here; every number comes from the module of that name.
"""

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from harness.bench import Bench, load_bench
from harness.errors import MissingError, TurnbenchError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.judgments.observations import Case, Observations
from harness.meta_evaluation.length import PRIOR, length_report
from harness.meta_evaluation.repeat import records_of, repeat_report
from harness.records import Failure, Mode, Observation, QuestionId
from harness.results.matrix import Floats, pairs
from harness.results.pairs.position import KINDS, in_one_order, position_rows
from harness.results.query import Found, Query, Words, ask, replaced_note
from harness.results.statistics.bootstrap import COVERAGE, Estimate

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Report:
    """One report about a judge: rows of numbers, and what a reader must know about them."""

    name: str
    judge: str
    """The judge, or all of them."""
    bench: str | None
    """None if it is not known which questions the judgments are about."""
    rows: list[dict[str, Any]]
    """By column name, as json and csv show them; numbers unrounded. The 95% interval of `x` is `x_low` to `x_high`."""
    more: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Further tables, by name."""
    notes: list[str] = field(default_factory=list)
    paths: tuple[pathlib.Path, ...] = ()
    failures: Sequence[Failure] = ()
    """Of a report that calls a judge: the calls that failed."""

    def frame(self) -> "pandas.DataFrame":
        """Return the rows as a frame; pandas must be installed."""
        import pandas

        return pandas.DataFrame(self.rows)


def judge_position(**words: Unpack[Words]) -> Report:
    """Return whether the judge goes by the place of an answer: all pairs first, then by judge, category, turn and gap.

    Several judges are counted together and each for itself; see `Words` for what can be asked for.

    Raises:
        UsageError: the file mixes what is not comparable, or holds no pairs.
        MissingError: there are no judgments.
    """
    query = Query.of("pairwise-all", **words)
    sources = ask(query)
    records = Observations.joined([source.observations for source in sources])
    once = in_one_order(records)
    subject = query.about(records, sources[0].path)
    found = position_rows(records, categories=subject.categories or None, seed=query.seed)
    rows = []
    for row in found:
        counts: dict[str, Any] = {name: getattr(row, name) for name in ("n", "errors", *KINDS)}
        shares = [flat(f"{kind}_share", getattr(row, f"{kind}_share")) for kind in KINDS]
        first = {"first_games": row.first_games, "decided_games": row.decided_games}
        rows.append(
            {
                "by": row.by,
                "group": row.group,
                **counts,
                **_merged(shares),
                **first,
                **flat("first_share", row.first_share),
            }
        )
    notes = replaced_note(sources)
    if found[0].errors:
        notes.append(f"{_pairs(found[0].errors)} without a verdict in both games left out (errors)")
    if once:
        nothing = ", which is all there are: nothing can be said of position" if once == len(records) else ""
        notes.append(f"{_pairs(once)} played in one order only skipped{nothing}")
    notes += common_notes(sources, subject.why_not, [row.first_share for row in found])
    return report_of("position", sources, subject.bench, rows, notes)


def judge_length(**words: Unpack[Words]) -> Report:
    """Return how often the longer answer wins, the slope, and (`models`) win rates at equal length.

    Lengths are characters of the answers in the benchmark's `model_answer/`; of a file given, in the folder beside
    which it lies unless `bench_name` says otherwise. See `Words` for what can be asked for.

    Raises:
        MissingError: no answer of the judged models is there.
    """
    query = Query.of("pairwise-all", **words)
    (source,) = sources = ask(query)
    judged = source.observations
    bench = _home(query, source.path)
    subject = query.about(judged, source.path)
    found = pairs(judged, subject.categories or None)
    lengths = _lengths(judged, bench)
    result = length_report(found, *lengths, seed=query.seed)
    if not result.n and result.left_out == len(judged) and not _any_verdict(judged):
        raise MissingError(f"no pair of {source.path} has a verdict in both games")
    if not result.n:
        raise MissingError(
            f"no pair of {source.path} has both answers in {bench.folder / 'model_answer'}; "
            "say with --bench-name and --data-dir where they are"
        )
    rows = [
        {"measure": "longer wins", **interval(result.longer_wins), "n": result.decided},
        {"measure": "slope", **interval(result.slope), "n": result.n},
        {"measure": "slope with models", **interval(result.slope_with_models), "n": result.n},
    ]
    models = [
        {
            "model": row.model,
            **flat("win_rate", row.win_rate),
            **flat("equal_length", row.equal_length),
            "mean_difference": row.mean_difference,
            "n": row.n,
        }
        for row in result.rows
    ]
    notes = [
        f"longer wins: of {result.decided} pairs that are decided and of unequal length "
        f"({result.ties} ties and {result.equal} of equal length apart)"
    ]
    if result.spread is not None:
        notes.append(
            f"slope: change in the log odds to win for each {result.spread:.0f} characters that an answer is longer; "
            "with models: at equal strength of the two models"
        )
    else:
        notes.append("all answers are equally long: there is no slope")
    if result.prior:
        notes.append(f"some models won or lost everything: the fit with models has {PRIOR}")
    if absent := [model for model in found.models if not bench.answer_file(model).exists()]:
        notes.append(f"no answers of {', '.join(absent)} in {bench.folder / 'model_answer'}")
    if result.left_out:
        notes.append(f"{_pairs(result.left_out)} without a verdict or without both answers' lengths left out")
    notes = replaced_note(sources) + notes
    notes += common_notes(sources, subject.why_not, [result.longer_wins])
    return report_of("length", sources, subject.bench or bench.name, rows, notes, models=models)


def judge_repeat(mode: Mode | None = None, **words: Unpack[Words]) -> Report:
    """Return where the variance of the verdicts comes from, turn by turn; with all samples that there are.

    Several files of one judge count as its repeats, several judges as a facet of their own. A facet that the data lack
    has no variance, and a reason in `why_not`. See `Words` for what can be asked for.
    """
    query = Query.of(mode, **words)
    sources = ask(query, every_sample=True)
    records = Observations.joined([source.observations for source in sources])
    subject = query.about(records, sources[0].path)
    rows: list[dict[str, Any]] = []
    left_out, intervals = 0, []
    for turn in sorted({case.turn for case in records.cases}):
        own = records.keep(case=partial(_of_turn, turn))
        groups = [subject.categories.get(question) for question in dict.fromkeys(r.question_id for r in own)]
        result = repeat_report(records_of(own), groups, seed=query.seed)
        left_out += result.left_out
        intervals += [component.variance for component in result.components]
        for component in result.components:
            rows.append(
                {
                    "turn": turn,
                    "facet": component.facet,
                    **flat("variance", component.variance),
                    "share": component.share,
                    "levels": component.levels,
                    "why_not": None,
                }
            )
        for missing in result.missing:
            absent = dict.fromkeys(("variance", "variance_low", "variance_high", "share", "levels"))
            rows.append({"turn": turn, "facet": missing.facet, **absent, "why_not": missing.why})
    notes = replaced_note(sources)
    if len(sources) > 1:
        notes.append(f"counted together: {', '.join(source.text for source in sources)}")
    if left_out:
        notes.append(f"{left_out} verdicts that are none left out")
    notes += common_notes(sources, subject.why_not, intervals)
    return report_of("repeat", sources, subject.bench, rows, notes)


def _of_turn(turn: int, case: Case) -> bool:
    return case.turn == turn


def _any_verdict(pairs: Observations) -> bool:
    return any(
        not pairs.failed(case, code) for case, own in zip(pairs.cases, pairs.said_of, strict=True) for code in own
    )


def _home(query: Query, path: pathlib.Path) -> Bench:
    """Return the benchmark whose answers were judged: of a file given without a name, the one beside which it lies."""
    folder = path.resolve().parent.parent
    if query.files and query.bench_name is None and (folder / "model_answer").is_dir():
        try:
            return load_bench(folder.name, folder.parent)
        except TurnbenchError:  # no benchmark of that name; the answers may be those of the one that is usual
            pass
    return query.bench


def _lengths(comparisons: Sequence[Observation], bench: Bench) -> tuple[Floats, Floats]:
    """Return for each pair the characters of both answers in its turn; NaN where one is not there."""
    import numpy as np

    models = {str(model) for pair in comparisons for model in (pair.model, pair.opponent)}
    length: dict[tuple[str, QuestionId, int], int] = {
        (model, question, turn): len(text)
        for model in sorted(models)
        for question, answer in bench.answers(model).items()
        for turn, text in enumerate(answer.choices[0].turns, 1)
    }
    found = [
        [
            length.get((model, pair.question_id, pair.turn))
            for pair in comparisons
            for model in (str(getattr(pair, side)),)
        ]
        for side in ("model", "opponent")
    ]
    one, other = (np.array([np.nan if n is None else n for n in side], dtype=np.float64) for side in found)
    return one, other


def report_of(
    name: str, sources: Sequence[Found], bench: str | None, rows: list[dict[str, Any]], notes: list[str], **more: Any
) -> Report:
    """Return the report of these sources; `more` are further tables."""
    judges = ", ".join(dict.fromkeys(source.judge for source in sources))
    return Report(name, judges, bench, rows, more, notes, tuple(dict.fromkeys(source.path for source in sources)))


def common_notes(sources: Sequence[Found], why_not: str | None, intervals: Iterable[Estimate]) -> list[str]:
    """Return what is said of every report: `notice_of`, and how intervals are made."""
    methods = dict.fromkeys(estimate.method for estimate in intervals if estimate.method)
    made = [f"intervals: {COVERAGE[method]}" for method in methods] or ["too few questions for intervals"]
    return notice_of(sources, why_not) + made


def notice_of(sources: Sequence[Found], why_not: str | None) -> list[str]:
    """Return the notice of a built-in judge, and why there are no categories, as far as these apply."""
    notice = [NOTICE] if any(is_builtin_judge(source.judge) for source in sources) else []
    return notice + ([why_not] if why_not else [])


def flat(name: str, estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as three columns."""
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def interval(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as the columns `value`, `low` and `high`."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def _pairs(number: int) -> str:
    return f"{number} pair{'' if number == 1 else 's'}"
