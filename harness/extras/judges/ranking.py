"""Does the judge rank the models as another table does, or as metrics that need no judge?

    spearman      Pearson's correlation of the ranks
    kendall tau-b (concordant − discordant) / √(untied pairs of the one · untied pairs of the other)

With --against a CSV file's scores are compared with the models' means; with --metric each metric is
correlated with the verdicts, answer by answer.
"""

import csv
import math
import pathlib
from collections.abc import Sequence

import numpy as np

from harness import store
from harness.errors import DataError, UsageError
from harness.extras.judges.agreement import correlation, ranks, tau_b
from harness.extras.judges.data import Data, Verdict, interval_columns, load, named, over_questions
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table
from harness.types import Measurement

MODELS = ("model", "name", "model_name", "generator")
SCORES = ("score", "elo", "rating", "arena_score", "average", "win_rate", "winrate", "rank")


def report(options: JudgeReport) -> Page:
    """Return how well the judge's ranking agrees with a file's, or its verdicts with metrics."""
    if (options.against is None) == (not options.metric):
        raise UsageError("name what to compare with: --against FILE.csv, or --metric NAME")
    data = load(options)
    verdicts = [v for v in data.verdicts() if isinstance(v.value, int | float)]
    if options.metric:
        return _metrics(data, verdicts)
    assert options.against is not None
    theirs, descending = read_ranking(options.against, options.model_column, options.score_column)
    ours = _means(verdicts)
    models = sorted(ours.keys() & theirs.keys())
    if len(models) < 2:
        names = ", ".join(sorted(ours))
        raise UsageError(f"{options.against} has {len(models)} of the judged models: {names}")
    sign = -1 if descending else 1
    one = np.array([ours[model][0] for model in models])
    other = np.array([sign * theirs[model] for model in models])
    values = {"spearman": correlation(ranks(one), ranks(other)), "kendall tau-b": tau_b(one, other)}
    rows = [
        {"measure": name, "value": None if value != value else value, "n": len(models)}
        for name, value in values.items()
    ]
    table = [
        {"model": model, "score": ours[model][0], "rank": rank, "other_score": theirs[model]}
        | {"other_rank": other_rank, "n": ours[model][1]}
        for model, rank, other_rank in zip(
            models, ranks(-one).tolist(), ranks(-other).tolist(), strict=True
        )
    ]
    table.sort(key=lambda row: row["rank"])
    columns = [Column("model"), Column("score", format=".2"), Column("rank"), Column("other_score")]
    columns += [Column("other_rank"), Column("n", optional=True)]
    value = rows[0]["value"]
    outcome = f"On {len(models)} models the judge's ranking and that of {options.against.name} "
    outcome += (
        "cannot be correlated." if value is None else f"have a rank correlation of {value:.2f}."
    )
    numbers = Table("", [Column("measure"), Column("value", format=".2"), Column("n")], rows)
    return Page(
        outcome,
        [numbers, Table("", columns, table, "models")],
        title="ranking",
        facts={"report": "ranking"},
    )


def read_ranking(
    path: pathlib.Path, model_column: str | None = None, score_column: str | None = None
) -> tuple[dict[str, float], bool]:
    """Return a CSV file's scores by model, and whether less is better (a column of ranks).

    Raises:
        DataError: a column is missing, or a score is not a number.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
            names = list(rows[0]) if rows else []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot be read as CSV: {error}", path) from None
    model_at = _column(path, names, model_column, MODELS)
    score_at = _column(path, [n for n in names if n != model_at], score_column, SCORES)
    found = {}
    for number, row in enumerate(rows, 2):
        text = (row[score_at] or "").strip().removesuffix("%")
        if text:
            try:
                found[row[model_at].strip()] = float(text)
            except ValueError:
                raise DataError(f"{score_at}: {text!r} is not a number", path, number) from None
    return found, score_at.lower() == "rank"


def _column(
    path: pathlib.Path, names: Sequence[str], wanted: str | None, usual: Sequence[str]
) -> str:
    plain = {name.strip().lower().replace(" ", "_"): name for name in names}
    for name in (wanted,) if wanted is not None else usual:
        if name.strip().lower().replace(" ", "_") in plain:
            return plain[name.strip().lower().replace(" ", "_")]
    if wanted is None and len(names) == 1:
        return names[0]
    sought = wanted or " or ".join(usual[:3])
    raise DataError(f"has no column {sought}; there are {', '.join(names)}", path, 1)


def _means(verdicts: Sequence[Verdict]) -> dict[str, tuple[float, int]]:
    values: dict[str, list[float]] = {}
    for v in verdicts:
        assert isinstance(v.value, int | float)
        values.setdefault(v.item.models[0], []).append(v.value)
        if len(v.item.models) == 2:
            values.setdefault(v.item.models[1], []).append(1 - v.value)
    return {model: (sum(own) / len(own), len(own)) for model, own in values.items()}


def _metrics(data: Data, verdicts: Sequence[Verdict]) -> Page:
    """Return the correlation of each metric with the verdicts, of all answers and by category."""
    if data.bench is None:
        raise UsageError("--metric needs the benchmark: --bench-name and --data-dir")
    options = data.options
    rows = []
    for metric in options.metric:
        measured = {
            (row.question_id, row.turn, row.model, row.choice): row.value
            for row in store.latest(data.bench.metric_file(metric), Measurement).values()
            if row.value is not None and options.variant in (None, row.variant)
        }
        if not measured:
            raise UsageError(
                f"there are no numbers of {metric}; run auto_metrics --metrics {metric}"
            )
        own = []
        for v in verdicts:
            keys = [(v.item.question, v.item.turn, model, v.item.choice) for model in v.item.models]
            numbers = [measured.get(key) for key in keys]
            if None not in numbers:
                number = numbers[0] if len(numbers) == 1 else (numbers[0] or 0) - (numbers[1] or 0)
                own.append((v.item.question, (number, v.value)))
        categories = dict.fromkeys(data.category(question) for question, _ in own)
        for category in (None, *(c for c in categories if c is not None)):
            part = [p for p in own if category in (None, data.category(p[0]))]
            row = {"metric": metric, "category": category, "n": len(part)}
            rows.append(row | named("spearman", over_questions(part, _rank_correlation)))
    columns = [Column("metric"), Column("category"), Column("n")]
    columns += interval_columns("spearman", "rank correlation", ".2")
    whole = [row for row in rows if row["category"] is None and row["spearman"] is not None]
    best = max(whole, key=lambda row: row["spearman"], default=None)
    outcome = "No metric varies with the verdicts."
    if best is not None:
        outcome = (
            f"{best['metric']} agrees most with the judge: rank correlation {best['spearman']:.2f}."
        )
    return Page(outcome, [Table("", columns, rows)], title="ranking", facts={"report": "ranking"})


def _rank_correlation(met: Sequence[tuple[float, float]]) -> float:
    if not met:
        return math.nan
    table = np.array(met, dtype=np.float64)
    return correlation(ranks(table[:, 0]), ranks(table[:, 1]))
