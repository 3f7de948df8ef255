"""Rows of judgments, votes and measurements → columns, one reading of each file.

    {"question_id": 81, "model": "m", "score": 8, "turn": 1, …}         one entry: score 8
    {"question_id": 81, "model": "m", "label": "CORRECT", …}            one for each label: 1 or 0
    {"question_id": 81, "model": "m", "scores": {"depth": 3}, …}        one for each dimension

A row without any number, such as a label that was not read, has no verdict in every metric that the
rows of its file and judge set have. Of rows with equal keys the last good one counts.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import UNSET

from harness import store
from harness.bench import Bench
from harness.bench import names as bench_names
from harness.errors import MissingError
from harness.results.facts import FACTS
from harness.results.scores import (
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
    outcome,
)
from harness.types import Judgment, Measurement, Question, QuestionId, Vote, met_share


class _Columns:
    """Rows as they come, each with its entries; `finish` makes the columns."""

    def __init__(self, questions: Iterable[Question], *, only_known: bool) -> None:
        self.questions = list(questions)
        self.question_code = {q.question_id: at for at, q in enumerate(self.questions)}
        self.hashes = [question.hash for question in self.questions]
        self.only_known = only_known
        self.models: dict[str, int] = {}
        self.metrics: dict[str, int] = {}
        self.sources: dict[Source, int] = {}
        self.keys: dict[tuple[Source, str | None], int] = {}
        self.origins: dict[tuple[Any, ...], tuple[int, int]] = {}
        self.outdated = 0
        self.rows = [array("q") for _ in range(6)]  # question, turn, model, opponent, source, key
        self.good = array("b")
        self.entries = array("q"), array("q"), array("d"), array("b")  # row, metric, value, flip
        self.unread: dict[int, str] = {}  # rows without any number, and what they are of
        self.labelled: dict[int, str] = {}

    def question_of(self, key: QuestionId, content: str | None) -> int | None:
        """Return the code of a question; None if its rows do not count."""
        code = self.question_code.get(key)
        if code is None:
            if self.only_known:
                self.outdated += 1
                return None
            code = self.question_code[key] = len(self.questions)
            self.questions.append(Question(question_id=key, category="", turns=[]))
            self.hashes.append("")
        if content is not None and self.hashes[code] and content != self.hashes[code]:
            self.outdated += 1
            return None
        return code

    def add(self, row: Judgment | Vote | Measurement, file: str) -> None:
        """Add a row of a file."""
        made_from = None if isinstance(row, Vote) else row.made_from
        content = None if made_from is None else made_from.question
        question = self.question_of(row.question_id, content)
        if question is None:
            return
        at, good, flip = len(self.good), True, ONCE
        if isinstance(row, Judgment):
            models, numbers = row.models, _numbers(row)
            origin = self._judged(row, file)
            good = not row.failed
            if row.model is None:
                flip = _flip(row.games)
            if isinstance(row.label, str):
                self.labelled[at] = row.label
        elif isinstance(row, Vote):
            models = (row.model_a, row.model_b)
            numbers = {VOTE: {"model_a": 1.0, "model_b": 0.0}.get(row.winner, 0.5)}
            origin = self._origin(Source(row.judge, "person", "vote", file=file))
        else:
            models, good = (row.model,), row.value is not None
            numbers = {_metric_name(row.metric, name): v for name, v in row.values.items()}
            if not numbers and row.value is not None:
                numbers = {row.metric: row.value}
            origin = self._origin(_program(row, file))
        codes = [self.models.setdefault(model, len(self.models)) for model in models]
        opponent = codes[1] if len(codes) > 1 else -1
        for column, code in zip(
            self.rows, (question, row.turn, codes[0], opponent, *origin), strict=True
        ):
            column.append(code)
        self.good.append(good)
        if not numbers and at not in self.labelled:
            self.unread[at] = row.metric if isinstance(row, Measurement) else SCORE
        for metric, value in numbers.items():
            code = self.metrics.setdefault(metric, len(self.metrics))
            self._entry(at, code, np.nan if value is None else value, flip)

    def _judged(self, row: Judgment, file: str) -> tuple[int, int]:
        """Return the codes of a judgment's source and of its key; most rows share them."""
        how = row.score_method, row.scale, row.shown_first, repr(row.sampling)
        which = row.criterion, row.sample, row.choice, _form(row), row.drawn is None, row.look
        traits = (file, row.judge, row.judge_set, row.judge_set_version, *how, *which)
        codes = self.origins.get(traits)
        if codes is None:
            codes = self.origins[traits] = self._origin(_source(row, file), row.criterion)
        return codes

    def _origin(self, source: Source, criterion: str | None = None) -> tuple[int, int]:
        """Return the codes of a source and of what distinguishes rows about the same answers."""
        same = source._replace(version="", scale=None, sampling="", drawn=False, look=None)
        if source.kind == "judge":
            same = same._replace(method="")
        key = self.keys.setdefault((same, criterion), len(self.keys))
        return self.sources.setdefault(source, len(self.sources)), key

    def _entry(self, row: int, metric: int, value: float, flip: int) -> None:
        rows, metrics, values, flips = self.entries
        rows.append(row)
        metrics.append(metric)
        values.append(value)
        flips.append(flip)

    def finish(self) -> Scores:
        """Return the columns, of equal keys the last good row."""
        self._spread()
        question, turn, model, opponent, source, key = (
            np.frombuffer(column, dtype=np.int64) if column else np.empty(0, np.int64)
            for column in self.rows
        )
        low, high = np.minimum(model, opponent), np.maximum(model, opponent)
        order = np.lexsort(
            (np.arange(len(key)), np.array(self.good), high, low, turn, question, key)
        )
        ordered = np.stack([key, question, turn, low, high])[:, order]
        last = np.ones(len(order), dtype=bool)
        last[:-1] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
        is_last = np.zeros(len(order), dtype=bool)
        is_last[order[last]] = True
        at, metric, value, flip = (np.array(column) for column in self.entries)
        at = at.astype(np.int64)
        counts = is_last[at] if len(at) else np.empty(0, dtype=bool)
        at = at[counts]
        return Scores(
            question[at],
            turn[at],
            model[at],
            opponent[at],
            metric[counts].astype(np.int64),
            source[at],
            value[counts].astype(np.float64),
            flip[counts].astype(np.int64),
            tuple(self.questions),
            tuple(self.models),
            tuple(self.metrics),
            tuple(self.sources),
            self.outdated,
        )

    def _spread(self) -> None:
        """Give labels their 1 and 0, and rows without any number their NaN in each metric."""
        sources = list(self.sources)
        group = [(source.judge_set, source.form, source.file) for source in sources]
        labels: dict[Any, dict[str, None]] = {}
        metrics_of: dict[Any, dict[int, None]] = {}
        for at, label in self.labelled.items():
            labels.setdefault(group[self.rows[4][at]], {})[label] = None
        for given in labels.values():
            if given.keys() <= set(FACTS):  # all answers wrong: 0% correct, not 100% "incorrect"
                given.update(dict.fromkeys(FACTS))
        for at, metric in zip(self.entries[0], self.entries[1], strict=True):
            if self.unread or labels:
                metrics_of.setdefault(group[self.rows[4][at]], {})[metric] = None
        numbers: list[tuple[int, int, float]] = []
        for at, label_given in self.labelled.items():
            for label in labels[group[self.rows[4][at]]]:
                metric = self.metrics.setdefault(label, len(self.metrics))
                metrics_of.setdefault(group[self.rows[4][at]], {})[metric] = None
                numbers.append((at, metric, float(label == label_given)))
        confidence = self.metrics.get(CONFIDENCE)
        for at, name in self.unread.items():
            own_metrics = metrics_of.get(group[self.rows[4][at]])
            for metric in own_metrics or [self.metrics.setdefault(name, len(self.metrics))]:
                if metric != confidence:
                    numbers.append((at, metric, np.nan))
        for at, metric, value in numbers:
            self._entry(at, metric, value, ONCE)


def _form(row: Judgment) -> Form:
    if row.model is None:
        return "pair"
    if row.label is not UNSET:
        return "label"
    if row.points is not UNSET:
        return "points"
    return "grade" if row.scores is UNSET else "dimensions"


def _source(row: Judgment, file: str) -> Source:
    sampling = {name: value for name, value in row.sampling.items() if name != "seed"}
    return Source(
        row.judge_model,
        "judge",
        _form(row),
        row.judge_set,
        row.judge_set_version,
        row.scale,
        json.dumps(sampling, sort_keys=True) if sampling else "",
        row.score_method if row.shown_first is None else f"{row.score_method}, one order",
        row.sample,
        row.choice,
        file,
        row.drawn is not None,
        row.look,
    )


def _program(row: Measurement, file: str) -> Source:
    how = f"{row.variant} {row.tokenizer or ''}".strip()
    library = row.library or "turnbench"
    return Source(
        library, "program", "metric", row.metric, method=how, choice=row.choice, file=file
    )


def _numbers(row: Judgment) -> dict[str, float | None]:
    """Return what a judgment says by metric; of a label only its share and the confidence."""
    if row.model is None:
        return {row.criterion or WIN: None if row.failed else outcome(row.games)}
    if row.label is not UNSET:
        numbers: dict[str, float | None] = {} if row.share is None else {SCORE: row.share}
        if row.confidence is not None and numbers:
            numbers[CONFIDENCE] = row.confidence
        return numbers
    if row.points is not UNSET:
        return checklist_shares(row.points or [])
    if row.scores is not UNSET:
        dimensions = dict(row.scores or {})
        return dimensions if row.grade is None else {SCORE: row.grade, **dimensions}
    return {row.criterion or SCORE: row.grade}


def _flip(games: Sequence[float | None]) -> int:
    if len(games) < 2 or None in games:
        return ONCE
    sides = {(game > 0.5) - (game < 0.5) for game in games if game is not None}
    return CONSISTENT if len(sides) == 1 else ONE_SIDED if 0 in sides else FLIPPED


def checklist_shares(points: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the share of a checklist's weight that is met, in all and by tag."""
    groups: dict[str, list[Mapping[str, Any]]] = {POINTS: list(points)} if points else {}
    for point in points:
        if tag := point.get("tag"):
            groups.setdefault(f"{POINTS}/{tag}", []).append(point)
    return {name: met_share(members) for name, members in groups.items()}


def _metric_name(metric: str, number: str) -> str:
    """Return the name of one of a metric's numbers: bleu_1, but `checks strict`."""
    return number if number.startswith(metric.split("_")[0]) else f"{metric} {number}"


def of_rows(
    rows: Iterable[Judgment | Vote | Measurement],
    questions: Iterable[Question] = (),
    *,
    file: str = "",
) -> Scores:
    """Return the scores of rows; questions that are not given have no category."""
    columns = _Columns(questions, only_known=False)
    for row in rows:
        columns.add(row, file)
    return columns.finish()


def of_files(
    rows: Iterable[tuple[str, Judgment | Vote | Measurement]], questions: Iterable[Question]
) -> Scores:
    """Return the scores of rows, each with its file's name; rows of other questions are left out.

    The texts of the rows are not needed.
    """
    columns = _Columns(questions, only_known=True)
    for file, row in rows:
        columns.add(row, file)
    return columns.finish()


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
    columns = _Columns(questions, only_known=bool(questions) and not files)
    for path in files or (() if bench is None else _judgment_files(bench, kind)):
        if kind == "vote":
            for vote in store.rows(path, Vote):
                columns.add(vote.row, path.name)
        else:
            for place in store.rows(path, Judgment):
                if kind is None or (place.row.model is None) == (kind == "pair"):
                    columns.add(place.row, path.name)
    for path in () if bench is None else bench.metric_files():
        if bench_names.name_of(path.name.split(".jsonl")[0]) in metrics:
            for measured in store.rows(path, Measurement):
                columns.add(measured.row, path.name)
    if not columns.good:
        where = ", ".join(map(str, files)) or (bench.folder if bench is not None else "")
        if columns.outdated:
            what = f"its judgments ({columns.outdated}) are about other questions than today's"
            raise MissingError(f"{where}: {what}; run gen_judgment again")
        raise MissingError(f"{where}: no judgments; run gen_judgment first")
    return columns.finish()


def _judgment_files(bench: Bench, kind: str | None) -> Iterator[Path]:
    if kind == "vote":
        yield from bench.vote_files()
    else:
        yield from (file.path for file in bench.judgment_files())
