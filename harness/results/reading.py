"""Rows of judgments, votes and measurements → columns, one reading of each file.

    {"question_id": 81, "model": "m", "score": 8, "turn": 1, …}         one entry: score 8
    {"question_id": 81, "model": "m", "label": "CORRECT", …}            one for each label: 1 or 0
    {"question_id": 81, "model": "m", "scores": {"depth": 3}, …}        one for each dimension

A row without any number, such as a label that was not read, has no verdict in every metric that the
rows of its file and judge set have. Of rows with equal keys the last good one counts.
"""

from array import array
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
from harness.results.facts import FACTS
from harness.results.scores import (
    COLUMNS,
    CONFIDENCE,
    CONSISTENT,
    FLIPPED,
    ONCE,
    ONE_SIDED,
    POINTS,
    SCORE,
    VOTE,
    WIN,
    Form,
    Scores,
    Source,
    distinct,
    outcome,
)
from harness.types import Judgment, Measurement, Question, Vote, met_share

Row: TypeAlias = Judgment | Vote | Measurement
Numbers: TypeAlias = Mapping[str, float | None]
"""What a row says, by metric; None: no verdict."""
NO_NUMBER = ""
"""The metric of a row without any number, till those of its file are known."""
_ENTRY = ("row", *COLUMNS)


class _Reading:
    """Rows as they come: numbers in one flat array, `_ENTRY` for each (row, metric)."""

    def __init__(self, questions: Iterable[Question], *, only_known: bool) -> None:
        self.questions = list(questions)
        self.question_code = {q.question_id: at for at, q in enumerate(self.questions)}
        self.hashes = [question.hash for question in self.questions]
        self.only_known = only_known
        self.outdated = self.rows = 0
        self.models: dict[str, int] = {}
        self.metrics = {NO_NUMBER: -1}
        self.sources: dict[Source, int] = {}
        self.entries = array("d")

    def add(self, row: Row, file: str) -> None:
        """Add a row of a file."""
        question = self._question(row)
        if question is None:
            return
        models: Sequence[str]
        flip = ONCE
        if isinstance(row, Judgment):
            form, numbers = _verdict(row)
            models, source = row.models, _judge(row, form, file)
            flip = _flip(row) if form == "pair" else ONCE
        elif isinstance(row, Vote):
            models, source = (row.model_a, row.model_b), Source(row.judge, "vote", file=file)
            numbers = {VOTE: {"model_a": 1.0, "model_b": 0.0}.get(row.winner, 0.5)}
        else:
            models, source = (row.model,), _program(row, file)
            numbers = {_metric_name(row.metric, name): v for name, v in row.values.items()}
            if not numbers and row.value is not None:
                numbers = {row.metric: row.value}
        code = self.sources.setdefault(source, len(self.sources))
        codes = [self.models.setdefault(model, len(self.models)) for model in models]
        model, opponent = (*codes, -1)[:2]
        entry = self.rows, question, row.turn, model, opponent
        for metric, value in (numbers or {NO_NUMBER: None}).items():
            number = np.nan if value is None else value
            self.entries.extend((*entry, self._metric(metric), code, number, flip))
        self.rows += 1

    def _metric(self, name: str) -> int:
        return self.metrics.setdefault(name, len(self.metrics) - 1)

    def _question(self, row: Row) -> int | None:
        """Return the code of a row's question; None if the row does not count."""
        code = self.question_code.get(row.question_id)
        if code is None and not self.only_known:
            code = self.question_code[row.question_id] = len(self.questions)
            self.questions.append(Question(question_id=row.question_id, category="", turns=[]))
            self.hashes.append("")
        made_from = None if isinstance(row, Vote) else row.made_from
        content = made_from and made_from.question
        if code is None or (content and self.hashes[code] not in ("", content)):
            self.outdated += 1
            return None
        return code

    def finish(self) -> Scores:
        """Return the columns, of equal keys the last good row."""
        table = np.array(self.entries).reshape(-1, len(_ENTRY)).T
        columns: dict[str, Any] = {
            name: column.astype(np.float64 if name == "value" else np.int64)
            for name, column in zip(_ENTRY, table, strict=True)
        }
        row = columns.pop("row")
        scores = Scores(
            **columns,
            questions=tuple(self.questions),
            models=tuple(self.models),
            metrics=(),
            sources=tuple(self.sources),
            outdated=self.outdated,
        )
        keys: dict[Source, int] = {}
        key = [keys.setdefault(_key(source), len(keys)) for source in self.sources]
        ends = np.minimum(scores.model, scores.opponent), np.maximum(scores.model, scores.opponent)
        source_key = np.array(key, dtype=np.int64)[scores.source]
        first, item = distinct(source_key, scores.question, scores.turn, *ends)
        good = np.bincount(row, scores.valid, self.rows) > 0
        order = good[row] * self.rows + row
        last = np.zeros(len(first), dtype=np.int64)
        np.maximum.at(last, item, order)
        scores = self._spread(scores.take(order == last[item]))
        return replace(scores, metrics=tuple(self.metrics)[1:])

    def _spread(self, scores: Scores) -> Scores:
        """Give labels their 0 beside the 1, and rows without any number NaN in each metric."""
        tables: dict[tuple[str, Form, str], list[int]] = {}
        for source, code in self.sources.items():
            tables.setdefault((source.judge_set, source.form, source.file), []).append(code)
        unread = scores.metric == self.metrics[NO_NUMBER]
        parts = []
        for (judge_set, form, _), codes in tables.items():
            inside = np.isin(scores.source, codes)
            present = np.unique(scores.metric[inside & ~unread]).tolist()
            metrics = [name for name, code in self.metrics.items() if code in present]
            labels = [n for n in metrics if form == "label" and n not in (SCORE, CONFIDENCE)]
            if labels and set(labels) <= set(FACTS):  # where all are wrong, 0% are correct
                labels = list(FACTS)
            label_codes = [self._metric(name) for name in labels]
            labelled = scores.take(inside & np.isin(scores.metric, label_codes))
            failed = scores.take(inside & unread)
            fallback = judge_set if form == "metric" else SCORE
            for name in dict.fromkeys([*metrics, *labels]) or [fallback]:
                code = self._metric(name)
                if name in labels:
                    parts.append(_filled(labelled.take(labelled.metric != code), code, 0.0))
                if name != CONFIDENCE:
                    parts.append(_filled(failed, code, np.nan))
        return scores.take(~unread).plus(*parts)


def _filled(scores: Scores, metric: int, value: float) -> Scores:
    size = len(scores)
    return replace(scores, metric=np.full(size, metric), value=np.full(size, value))


def _judge(row: Judgment, form: Form, file: str) -> Source:
    sampling = ""
    if row.sampling:
        stated = {name: value for name, value in row.sampling.items() if name != "seed"}
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


def _program(row: Measurement, file: str) -> Source:
    how = f"{row.variant} {row.tokenizer or ''}".strip()
    library = row.library or "turnbench"
    return Source(library, "metric", row.metric, method=how, choice=row.choice, file=file)


def _verdict(row: Judgment) -> tuple[Form, dict[str, float | None]]:
    """Return what kind of judgment a row is, and what it says by metric."""
    if row.model is None:
        return "pair", {row.criterion or WIN: None if row.failed else outcome(row.games)}
    if row.label is not UNSET:
        numbers: dict[str, float | None] = {} if row.label is None else {row.label: 1.0}
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


def _flip(row: Judgment) -> int:
    games = [game for game in row.games if game is not None]
    sides = {(game > 0.5) - (game < 0.5) for game in games}
    if len(games) < 2:
        return ONCE
    return CONSISTENT if len(sides) == 1 else ONE_SIDED if 0 in sides else FLIPPED


def _checklist(points: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the share of a checklist's weight that is met, in all and by tag."""
    groups: dict[str, list[Mapping[str, Any]]] = {POINTS: list(points)} if points else {}
    for point in points:
        if tag := point.get("tag"):
            groups.setdefault(f"{POINTS}/{tag}", []).append(point)
    return {name: met_share(members) for name, members in groups.items()}


def _metric_name(metric: str, number: str) -> str:
    """Return the name of one of a metric's numbers: bleu_1, but `checks strict`."""
    return number if number.startswith(metric.split("_")[0]) else f"{metric} {number}"


def of_files(
    rows: Iterable[tuple[str, Row]], questions: Iterable[Question], *, only_known: bool = True
) -> Scores:
    """Return the scores of rows, each with its file's name; their texts are not needed.

    Rows about other questions are left out if `only_known`, else these have no category.
    """
    reading = _Reading(questions, only_known=only_known)
    for file, row in rows:
        reading.add(row, file)
    return reading.finish()


def of_rows(rows: Iterable[Row], questions: Iterable[Question] = ()) -> Scores:
    """Return the scores of rows; questions that are not given have no category."""
    return of_files((("", row) for row in rows), questions, only_known=False)


def read(
    bench: Bench | None,
    *,
    files: Sequence[Path] = (),
    kind: Literal["single", "pair", "vote"] | None = None,
    metrics: Sequence[str] = (),
) -> Scores:
    """Return the verdicts on disk: of a benchmark's folder, or of files named instead.

    Args:
        bench: gives the questions; rows about others, or about another wording, are left out.
        files: judgment files to read in place of the folder's, such as other runs.
        kind: only grades (and labels, …), only pairs, or only people's votes; None: both judgments.
        metrics: names of metrics to read too, from `auto_metrics`.

    Raises:
        DataError: a row is wrong; with file and line.
        MissingError: there is nothing.
    """
    questions = () if bench is None else bench.questions
    rows = _rows(bench, files, kind, metrics)
    scores = of_files(rows, questions, only_known=bool(questions) and not files)
    if not len(scores):
        where = ", ".join(map(str, files)) or (bench.folder if bench is not None else "")
        if scores.outdated:
            what = f"its judgments ({scores.outdated}) are about other questions than today's"
            raise MissingError(f"{where}: {what}; run gen_judgment again")
        raise MissingError(f"{where}: no judgments; run gen_judgment first")
    return scores


def _rows(
    bench: Bench | None, files: Sequence[Path], kind: str | None, metrics: Sequence[str]
) -> Iterator[tuple[str, Row]]:
    paths = list(files)
    if bench is not None and not files:
        paths = bench.vote_files() if kind == "vote" else [f.path for f in bench.judgment_files()]
    for path in paths:
        if kind == "vote":
            yield from ((path.name, vote.row) for vote in store.rows(path, Vote))
            continue
        for judged in store.rows(path, Judgment):
            if kind is None or (judged.row.model is None) == (kind == "pair"):
                yield path.name, judged.row
    for path in () if bench is None else bench.metric_files():
        if bench_names.name_of(path.name.split(".jsonl")[0]) in metrics:
            yield from ((path.name, measured.row) for measured in store.rows(path, Measurement))
