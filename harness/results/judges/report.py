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
from typing import TYPE_CHECKING, Any

from harness.bench import Bench, load_bench
from harness.errors import MissingError, TurnbenchError
from harness.judging.builtin import NOTICE, is_builtin_judge
from harness.records import Comparison, Failure, Mode, QuestionId
from harness.results.judges.length import PRIOR, length_report
from harness.results.judges.position import KINDS, in_one_order, position_rows
from harness.results.judges.repeat import comparison_records, rating_records, repeat_report
from harness.results.reading.arrays import Floats, pairs
from harness.results.reading.columns import Case, Comparisons, Ratings
from harness.results.reading.read import Which
from harness.results.reading.select import about
from harness.results.reading.sources import Paths, Source, judged, judged_by, told_once
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


def judge_position(
    *,
    input_file: pathlib.Path | str | None = None,
    judge_model: str | Sequence[str] | None = None,
    judge_set: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    seed: int = 0,
) -> Report:
    """Return whether the judge goes by the place of an answer: all pairs first, then by judge, category, turn and gap.

    Args:
        input_file: a pair judgment file to read in place of the benchmark's.
        judge_model: whose judgments; several are counted together and each for itself.
        judge_set: made with which judge set; needed where there are several.
        sample: which of the judge's samples (default: the first); needed where a file holds several.
        criterion: by which criterion; needed where there are several.
        score_method: verdicts read from the `text` or weighed by `logprobs`; needed where there are both.
        bench_name: the benchmark (default mt_bench).
        data_dir: the data folder.
        seed: of the resampling.

    Raises:
        UsageError: the file mixes what is not comparable, or holds no pairs.
        MissingError: there are no judgments.
    """
    which = Which(sample, criterion, score_method)
    sources = judged("pairwise-all", paths_of(input_file), judge_model, judge_set, bench_name, data_dir, which=which)
    records = Comparisons.of([pair for source in sources for pair in source.pairs])
    once = in_one_order(records)
    subject = about(records, sources[0].path, bench_name, data_dir, given=input_file is not None)
    found = position_rows(records, categories=subject.categories or None, seed=seed)
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
    notes = told_once(sources)
    if found[0].errors:
        notes.append(f"{_pairs(found[0].errors)} without a verdict in both games left out (errors)")
    if once:
        nothing = ", which is all there are: nothing can be said of position" if once == len(records) else ""
        notes.append(f"{_pairs(once)} played in one order only skipped{nothing}")
    notes += common_notes(sources, subject.why_not, [row.first_share for row in found])
    return report_of("position", sources, subject.bench, rows, notes)


def judge_length(
    *,
    input_file: pathlib.Path | str | None = None,
    judge_model: str | None = None,
    judge_set: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    exclude: Sequence[str] = (),
    seed: int = 0,
) -> Report:
    """Return how often the longer answer wins, the slope, and (`models`) win rates at equal length.

    Lengths are characters of the answers in the benchmark's `model_answer/`; of a file given, in the folder beside
    which it lies unless `bench_name` says otherwise. `exclude` leaves out voters of a vote file; for the other
    arguments see `judge_position`.

    Raises:
        MissingError: no answer of the judged models is there.
    """
    which = Which(sample, criterion, score_method)
    sources = judged_by(
        "pairwise-all", paths_of(input_file), judge_model, judge_set, bench_name, data_dir, exclude, which=which
    )
    (source,) = sources
    bench = _home(source.path, bench_name, data_dir, given=input_file is not None)
    subject = about(source.pairs, source.path, bench_name, data_dir, given=input_file is not None)
    found = pairs(source.pairs, subject.categories or None)
    lengths = _lengths(source.pairs, bench)
    result = length_report(found, *lengths, seed=seed)
    if not result.n and result.left_out == len(source.pairs) and not _any_verdict(source.pairs):
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
    notes = told_once(sources) + notes
    notes += common_notes(sources, subject.why_not, [result.longer_wins])
    return report_of("length", sources, subject.bench or bench.name, rows, notes, models=models)


def judge_repeat(
    mode: Mode | None = None,
    *,
    input_file: Paths = None,
    judge_model: str | Sequence[str] | None = None,
    judge_set: str | None = None,
    sample: int | None = None,
    criterion: str | None = None,
    score_method: str | None = None,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    seed: int = 0,
) -> Report:
    """Return where the variance of the verdicts comes from, turn by turn; with all samples that there are.

    Several files of one judge count as its repeats, several judges as a facet of their own. A facet that the data lack
    has no variance, and a reason in `why_not`. For the arguments see `judge_position`.
    """
    which = Which(sample, criterion, score_method)
    sources = judged(
        mode, paths_of(input_file), judge_model, judge_set, bench_name, data_dir, every_sample=True, which=which
    )
    records = records_of(sources)
    subject = about(records, sources[0].path, bench_name, data_dir, given=input_file is not None)
    rows: list[dict[str, Any]] = []
    left_out, intervals = 0, []
    for turn in sorted({case.turn for case in records.cases}):
        own = records.keep(case=partial(_of_turn, turn))
        verdicts = rating_records(own) if isinstance(own, Ratings) else comparison_records(own)
        groups = [subject.categories.get(question) for question in dict.fromkeys(r.question_id for r in own)]
        result = repeat_report(verdicts, groups, seed=seed)
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
    notes = told_once(sources)
    if len(sources) > 1:
        notes.append(f"counted together: {', '.join(source.told for source in sources)}")
    if left_out:
        notes.append(f"{left_out} verdicts that are none left out")
    notes += common_notes(sources, subject.why_not, intervals)
    return report_of("repeat", sources, subject.bench, rows, notes)


def _of_turn(turn: int, case: Case) -> bool:
    return case.turn == turn


def _any_verdict(records: Comparisons) -> bool:
    return any(verdict not in Comparisons.failures for own in records.verdicts_of for verdict in own)


def _home(path: pathlib.Path, bench_name: str | None, data_dir: pathlib.Path | str, *, given: bool) -> Bench:
    """Return the benchmark whose answers were judged: of a file given without a name, the one beside which it lies."""
    folder = path.resolve().parent.parent
    if given and bench_name is None and (folder / "model_answer").is_dir():
        try:
            return load_bench(folder.name, folder.parent)
        except TurnbenchError:  # no benchmark of that name; the answers may be those of the one that is usual
            pass
    return load_bench(bench_name or "mt_bench", data_dir)


def _lengths(comparisons: Sequence[Comparison], bench: Bench) -> tuple[Floats, Floats]:
    """Return for each pair the characters of both answers in its turn; NaN where one is not there."""
    import numpy as np

    models = {model for pair in comparisons for model in (pair.model_1, pair.model_2)}
    length: dict[tuple[str, QuestionId, int], int] = {
        (model, question, turn): len(text)
        for model in sorted(models)
        for question, answer in bench.answers(model).items()
        for turn, text in enumerate(answer.choices[0].turns, 1)
    }
    found = [
        [length.get((model, pair.question_id, pair.turn)) for pair in comparisons for model in (getattr(pair, side),)]
        for side in ("model_1", "model_2")
    ]
    one, other = (np.array([np.nan if n is None else n for n in side], dtype=np.float64) for side in found)
    return one, other


def report_of(
    name: str, sources: Sequence[Source], bench: str | None, rows: list[dict[str, Any]], notes: list[str], **more: Any
) -> Report:
    """Return the report of these sources; `more` are further tables."""
    judges = ", ".join(dict.fromkeys(source.judge for source in sources))
    return Report(name, judges, bench, rows, more, notes, tuple(dict.fromkeys(source.path for source in sources)))


def common_notes(sources: Sequence[Source], why_not: str | None, intervals: Iterable[Estimate]) -> list[str]:
    """Return what is said of every report: `notice_of`, and how intervals are made."""
    methods = dict.fromkeys(estimate.method for estimate in intervals if estimate.method)
    made = [f"intervals: {COVERAGE[method]}" for method in methods] or ["too few questions for intervals"]
    return notice_of(sources, why_not) + made


def notice_of(sources: Sequence[Source], why_not: str | None) -> list[str]:
    """Return the notice of a built-in judge, and why there are no categories, as far as these apply."""
    notice = [NOTICE] if any(is_builtin_judge(source.judge) for source in sources) else []
    return notice + ([why_not] if why_not else [])


def records_of(sources: Sequence[Source]) -> Ratings | Comparisons:
    """Return all judgments of the sources as columns, which are a sequence of records."""
    if sources[0].ratings:
        return Ratings.of([record for source in sources for record in source.ratings])
    return Comparisons.of([record for source in sources for record in source.pairs])


def paths_of(given: Paths) -> list[pathlib.Path]:
    """Return the files that were named."""
    if given is None:
        return []
    return [pathlib.Path(given)] if isinstance(given, str | pathlib.Path) else [pathlib.Path(path) for path in given]


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
