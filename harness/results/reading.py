"""Rows of judgments, votes and measurements → columns, one reading of each file.

    {"question_id": 81, "model": "m", "score": 8, "turn": 1, …}         one entry: score 8
    {"question_id": 81, "model": "m", "label": "CORRECT", …}            one for each label: 1 or 0
    {"question_id": 81, "model": "m", "scores": {"depth": 3}, …}        one for each dimension

A row without any number, such as a label that was not read, has no verdict in every metric that the
rows of its file and judge set have. Of rows with equal keys the last good one counts.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET

from harness import store
from harness.bench import Bench
from harness.bench import names as bench_names
from harness.errors import MissingError
from harness.judging.current import Today, in_words
from harness.results.estimate import Bools, Ints
from harness.results.facts import FACTS
from harness.results.scores import (
    COLUMNS,
    CONFIDENCE,
    ONCE,
    POINTS,
    SCORE,
    VOTE,
    WIN,
    Form,
    Scores,
    Source,
    distinct,
    flip_of,
    outcome,
)
from harness.types import Judgment, Measurement, Question, Vote, met_share

Row: TypeAlias = Judgment | Vote | Measurement
Numbers: TypeAlias = dict[str, float | None]
"""What a row says, by metric; None: no verdict."""


class _Codes(dict[Any, int]):
    """Names numbered as they come."""

    def __missing__(self, name: Any) -> int:
        return self.setdefault(name, len(self))


def of_files(
    rows: Iterable[tuple[str, Row]],
    questions: Iterable[Question],
    *,
    only_known: bool = True,
    today: Today | None = None,
) -> Scores:
    """Return the scores of rows, each with its file's name; their texts are not needed.

    Rows about other questions are left out if `only_known`, else these have no category. Of rows
    with equal keys the last good one counts, and is left out if it is not of `today`, or
    at least of the same wording of its question.
    """
    by_id = {question.question_id: question for question in questions}
    hashes = {key: question.hash for key, question in by_id.items()}
    question_codes = _Codes({key: at for at, key in enumerate(by_id)})
    models, metrics, sources = _Codes(), _Codes(), _Codes()
    count = 0
    causes: dict[int, str] = {}
    left_out = Counter[str]()
    entries = array("d")  # flat: the row's number and the columns, for each (row, metric)
    for file, row in rows:
        key = row.question_id
        if only_known and key not in hashes:
            left_out["unknown question"] += 1
            continue
        if isinstance(row, Judgment | Measurement) and row.made_from is not None:
            cause = today.changed(row) if today is not None else ""
            wording = row.made_from.question
            if not cause and wording is not None and hashes.get(key, wording) != wording:
                cause = "question"
            if cause:
                causes[count] = cause
        if key not in by_id:
            by_id[key] = Question(question_id=key, category="", turns=[])
        names, source, numbers, flip = _of_row(row, file)
        model, opponent = (*[models[name] for name in names], -1)[:2]
        item = count, question_codes[key], row.turn, model, opponent
        code = sources[source]
        for metric, value in ({metrics[n]: v for n, v in numbers.items()} or {-1: None}).items():
            entries.extend((*item, metric, code, np.nan if value is None else value, flip))
        count += 1
    table = np.array(entries).reshape(-1, 1 + len(COLUMNS)).T
    columns: dict[str, Any] = dict(zip(COLUMNS, table[1:], strict=True))
    integers = {name: columns[name].astype(np.int64) for name in COLUMNS if name != "value"}
    scores = Scores(
        **columns | integers,
        questions=tuple(by_id.values()),
        models=tuple(models),
        metrics=tuple(metrics),
        sources=tuple(sources),
    )
    numbers_of_rows = table[0].astype(np.int64)
    latest = _latest(scores, numbers_of_rows)
    stale = np.isin(numbers_of_rows, list(causes))
    left_out.update(causes[row] for row in np.unique(numbers_of_rows[latest & stale]).tolist())
    return _spread(replace(scores.take(latest & ~stale), left_out=left_out), metrics)


def _latest(scores: Scores, row: Ints) -> Bools:
    """Return which entries are of the last good row of those with equal keys."""
    keys = _Codes()
    source_key = np.array([keys[_key(source)] for source in scores.sources], dtype=np.int64)
    ends = np.minimum(scores.model, scores.opponent), np.maximum(scores.model, scores.opponent)
    first, item = distinct(source_key[scores.source], scores.question, scores.turn, *ends)
    rows = int(row.max(initial=-1)) + 1
    good = np.bincount(row, scores.valid, rows) > 0
    order = good[row] * rows + row
    last = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(last, item, order)
    latest: Bools = order == last[item]
    return latest


def _spread(scores: Scores, metrics: _Codes) -> Scores:
    """Give labels their 0 beside the 1, and rows without any number NaN in each metric."""
    tables: dict[tuple[str, Form, str], list[int]] = {}
    for code, source in enumerate(scores.sources):
        tables.setdefault((source.judge_set, source.form, source.file), []).append(code)
    parts = []
    for (judge_set, form, _), codes in tables.items():
        table = scores.take(np.isin(scores.source, codes))
        failed = table.take(table.metric < 0)
        present = [scores.metrics[code] for code in np.unique(table.metric).tolist() if code >= 0]
        names = [name for name in present if name != CONFIDENCE]
        labels = [name for name in names if form == "label" and name != SCORE]
        if labels and set(labels) <= set(FACTS):  # where all are wrong, 0% are correct
            labels = list(FACTS)
        labelled = table.take(np.isin(table.metric, [metrics[name] for name in labels]))
        fallback = judge_set if form == "metric" else SCORE
        for name in dict.fromkeys([*names, *labels]) or [fallback]:
            code = metrics[name]
            if name in labels:
                parts.append(_filled(labelled.take(labelled.metric != code), code, 0.0))
            parts.append(_filled(failed, code, np.nan))
    return replace(scores.take(scores.metric >= 0).plus(*parts), metrics=tuple(metrics))


def _filled(scores: Scores, metric: int, value: float) -> Scores:
    size = len(scores)
    return replace(scores, metric=np.full(size, metric), value=np.full(size, value))


def _of_row(row: Row, file: str) -> tuple[Sequence[str], Source, Numbers, int]:
    """Return a row's models, its source, what it says, and how its games agree."""
    if isinstance(row, Judgment):
        form, numbers = _verdict(row)
        flip = flip_of(row.games) if form == "pair" else ONCE
        return row.models, _judge(row, form, file), numbers, flip
    if isinstance(row, Vote):
        source = Source(row.voter, "vote", file=file)
        return (row.model_a, row.model_b), source, {VOTE: row.value}, ONCE
    how = f"{row.variant} {row.tokenizer or ''}".strip()
    library = row.library or "turnbench"
    source = Source(library, "metric", row.metric, method=how, choice=row.choice, file=file)
    numbers = {_metric_name(row.metric, name): value for name, value in row.values.items()}
    if not numbers and row.value is not None:
        numbers = {row.metric: row.value}
    return (row.model,), source, numbers, ONCE


def _judge(row: Judgment, form: Form, file: str) -> Source:
    stated = {name: value for name, value in (row.sampling or {}).items() if name != "seed"}
    sampling = msgspec.json.encode(stated, order="sorted").decode() if stated else ""
    return Source(
        row.judge_model,
        form,
        row.judge_set,
        row.judge_set_version,
        row.scale,
        sampling,
        row.score_method if row.shown_first is None else f"{row.score_method}, one order",
        row.sample,
        row.choice,
        file,
        row.drawn is not None,
        row.look or 0,
        row.criterion or "",
    )


def _key(source: Source) -> Source:
    """Return what rows about the same answers have in common, of which the last one counts."""
    method = source.method if source.form == "metric" else ""
    return source._replace(version="", scale=None, sampling="", method=method, drawn=False, look=0)


def _verdict(row: Judgment) -> tuple[Form, Numbers]:
    """Return what kind of judgment a row is, and what it says by metric."""
    if row.model is None:
        return "pair", {row.criterion or WIN: None if row.failed else outcome(row.games)}
    if row.label is not UNSET:
        numbers: Numbers = {} if row.label is None else {row.label: 1.0}
        if row.share is not None:
            numbers[SCORE] = row.share
            if row.confidence is not None:
                numbers[CONFIDENCE] = row.confidence
        return "label", numbers
    if row.points is not UNSET:
        return "points", _checklist(row.points or [])
    if row.scores is not UNSET:
        total = {} if row.grade is None else {SCORE: row.grade}
        return "dimensions", total | (row.scores or {})
    return "grade", {row.criterion or SCORE: row.grade}


def _checklist(points: Sequence[Mapping[str, Any]]) -> Numbers:
    """Return the share of a checklist's weight that is met, in all and by tag."""
    tags = dict.fromkeys(tag for point in points if (tag := point.get("tag")))
    numbers = {POINTS: met_share(points)} if points else {}
    for tag in tags:
        numbers[f"{POINTS}/{tag}"] = met_share([p for p in points if p.get("tag") == tag])
    return numbers


def _metric_name(metric: str, number: str) -> str:
    """Return the name of one of a metric's numbers: bleu_1, but `checks strict`."""
    return number if number.startswith(metric.split("_")[0]) else f"{metric} {number}"


def of_rows(rows: Iterable[Row], questions: Iterable[Question] = ()) -> Scores:
    """Return the scores of rows; questions that are not given have no category."""
    return of_files((("", row) for row in rows), questions, only_known=False)


def read(
    bench: Bench,
    *,
    files: Sequence[Path] = (),
    kind: Literal["single", "pair", "vote"] | None = None,
    metrics: Sequence[str] = (),
) -> Scores:
    """Return the verdicts on disk: of a benchmark's folder, or of files named instead.

    Args:
        bench: gives the questions; in its folder rows about others, or about another wording, are
            left out.
        files: judgment files to read in place of the folder's, such as other runs.
        kind: only grades (and labels, …), only pairs, or only people's votes; None: both judgments.
        metrics: names of metrics to read too, from `auto_metrics`.

    Raises:
        DataError: a row is wrong; with file and line.
        MissingError: there is nothing.
    """
    rows = _rows(bench, files, kind, metrics)
    today = None if files else Today(bench)
    scores = of_files(rows, bench.questions, only_known=not files, today=today)
    if today is not None:
        today.answers.keep()
    if not len(scores):
        what = "no judgments; run gen_judgment first"
        if kind is None and bench.vote_files():
            what += f", or show people's votes: --votes {bench.vote_files()[0]}"
        if scores.left_out:
            what = f"none of its judgments is current: {'; '.join(in_words(scores.left_out))}"
        raise MissingError(f"{', '.join(map(str, files)) or bench.folder}: {what}")
    return scores


def _rows(
    bench: Bench, files: Sequence[Path], kind: str | None, metrics: Sequence[str]
) -> Iterator[tuple[str, Row]]:
    if kind == "vote":
        for path in files or bench.vote_files():
            yield from ((path.name, vote.row) for vote in store.rows(path, Vote))
    else:
        for path in files or [file.path for file in bench.judgment_files()]:
            for judged in store.rows(path, Judgment):
                if kind is None or (judged.row.model is None) == (kind == "pair"):
                    yield path.name, judged.row
    for path in bench.metric_files():
        if bench_names.name_of(path.name.split(".jsonl")[0]) in metrics:
            yield from ((path.name, measured.row) for measured in store.rows(path, Measurement))
