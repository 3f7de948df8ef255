"""Rows of judgments, votes and measurements → columns, one reading of each file.

    {"question_id": 81, "model": "m", "score": 8, "turn": 1, …}         one entry: score 8
    {"question_id": 81, "model": "m", "label": "CORRECT", …}            one for each label: 1 or 0
    {"question_id": 81, "model": "m", "scores": {"depth": 3}, …}        one for each dimension

A row without any number, such as a label that was not read, has no verdict in every metric that the
rows of its file and judge set have. Of rows with equal keys the last good one counts.
"""

import contextlib
import functools
import itertools
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from harness import store
from harness.bench import Bench
from harness.bench import names as bench_names
from harness.errors import DataError, MissingError
from harness.judging.current import UNKNOWN, Rule, Today, in_words
from harness.results.estimate import Bools, Ints
from harness.results.facts import FACTS
from harness.results.scores import (
    CODES,
    COLUMNS,
    CONFIDENCE,
    POINTS,
    SCORE,
    VALUES,
    VOTE,
    WIN,
    Form,
    LeftOut,
    Scores,
    Source,
    combined,
    compact,
    constant,
    distinct,
    outcome,
    present,
)
from harness.types import (
    FAILED_SCORE,
    UNSTATED,
    Judgment,
    MadeFrom,
    Measurement,
    Question,
    QuestionId,
    Vote,
    Winner,
    as_question_id,
    met_share,
)

Row: TypeAlias = Judgment | Vote | Measurement
Numbers: TypeAlias = dict[str, float | None]
"""What a row says, by metric; None: no verdict."""
Games: TypeAlias = tuple[float, float]
"""Model_1's value of the game that showed it first, and of the other; NaN: no such verdict."""
NO_GAMES = math.nan, math.nan


class Light(msgspec.Struct, gc=False):
    """A judgment without its texts. One with other verdicts than grades and winners is none.

    What is the same in most rows stays undecoded.
    """

    question_id: QuestionId
    judge: msgspec.Raw = msgspec.Raw(b"")
    turn: int = 0
    judge_set: str = UNSTATED
    judge_set_version: str = ""
    scale: tuple[float, float] | None = None
    sampling: msgspec.Raw = msgspec.Raw(b"")
    score_method: str = "text"
    shown_first: Literal["model_1", "model_2"] | None = None
    sample: int = 0
    choice: int = 0
    drawn: float | None = None
    look: int | None = None
    criterion: str | None = None
    made_from: MadeFrom | None = None
    label: UnsetType = UNSET
    scores: UnsetType = UNSET
    points: UnsetType = UNSET

    @property
    def models(self) -> tuple[str, ...]:
        """As of `Judgment`."""
        raise NotImplementedError


class LightGrade(Light, kw_only=True, gc=False):
    """What most rows of grades say."""

    model: str
    score: float | None

    @property
    def models(self) -> tuple[str, ...]:
        """The model graded."""
        return (self.model,)


class LightPair(Light, kw_only=True, gc=False):
    """What most rows of pairs say."""

    model: None = None
    model_1: str
    model_2: str
    g1_winner: Winner | None = None
    g2_winner: Winner | None = None
    g1_preference: float | None = None
    g2_preference: float | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The two models compared."""
        return self.model_1, self.model_2


class Wordings:
    """What rows of other runs are compared with: the questions, since their answers are not here.

    The rows of a benchmark's folder are compared with `Today`.
    """

    def __init__(self, questions: Iterable[Question]) -> None:
        self._hashes = {question.question_id: question.hash for question in questions}
        self.unchecked = 0

    def rule(self, judge_set: str, version: str, criterion: str) -> Rule:
        """Return what says whether judgments of a judge set are current."""

        def changed(
            question: QuestionId, turn: int, models: tuple[str, ...], choice: int, made: MadeFrom
        ) -> str | None:
            self.unchecked += made.conversation is not None
            wording = made.question
            is_today = wording is None or self._hashes.get(question, wording) == wording
            return None if is_today else "question"

        return changed

    def changed_measurement(self, row: Measurement) -> str | None:
        """Return what has changed since a metric was computed; None: it is current."""
        if row.made_from is None:
            return None
        changed = self.rule("", "", "")
        return changed(row.question_id, row.turn, (), row.choice, row.made_from)


class _Codes(dict[Any, int]):
    """Names numbered as they come."""

    def __missing__(self, name: Any) -> int:
        return self.setdefault(name, len(self))


class _Table:
    """The columns of `Scores` while rows are read."""

    def __init__(self, questions: Iterable[Question], today: Today | Wordings) -> None:
        self.questions = list(questions)
        self.today = today
        self.codes = {question.question_id: at for at, question in enumerate(self.questions)}
        self.models, self.metrics, self.sources = _Codes(), _Codes(), _Codes()
        self._unchecked = today.unchecked
        self._unknown: list[LeftOut] = []
        self._stale: dict[int, str] = {}
        """By its number, what has changed since a row was made."""
        self.files: list[tuple[Path, int, type[Any]]] = []
        self.rows = 0
        self._rule = functools.cache(today.rule)
        self._columns = {name: array("i" if name in CODES else "d") for name in COLUMNS}
        """Those of games are empty as long as there are only grades."""
        self._whole_codes, self._whole_values = array("i"), array("d")
        """Flat: of entries of rare forms."""

    def add(
        self,
        file: str,
        rows: Sequence[Row | Light],
        *,
        only_known: bool,
        kind: str | None = None,
    ) -> None:
        """Add some rows of one file.

        Rows about other questions are left out if `only_known`, else these have no category; with
        a kind (`single`, `pair`) judgments of the other are.
        """
        start, self.rows = self.rows, self.rows + len(rows)
        if rows and isinstance(rows[0], Light):
            if kind is None or isinstance(rows[0], LightPair) == (kind == "pair"):
                numbers: Any = np.arange(start, self.rows, dtype=np.int32)
                self._add_light(numbers, cast("Sequence[Light]", rows), file, only_known)
            return
        for number, row in enumerate(cast("Sequence[Row]", rows), start):
            is_pair = isinstance(row, Judgment) and row.model is None
            if kind is None or is_pair == (kind == "pair"):
                self._add_whole(number, row, file, only_known)

    def _add_light(
        self,
        numbers: Ints,
        rows: Sequence[Light],
        file: str,
        only_known: bool,
    ) -> None:
        """Add grades or pairs: thousands of rows to columns at a time."""
        keys = [row.question_id for row in rows]
        try:
            questions = _coded(self.codes, keys)
        except KeyError:
            counts = [self._is_known(row, file, only_known) for row in rows]
            rows = list(itertools.compress(rows, counts))
            if rows:
                self._add_light(numbers[counts], rows, file, only_known)
            return
        if [row.made_from for row in rows].count(None) < len(rows):
            for number, row in zip(numbers.tolist(), rows, strict=True):
                self._note_change(number, row)
        form: Form = "grade" if isinstance(rows[0], LightGrade) else "pair"
        made_by = []
        signatures, place = _distinct(_signatures(rows))
        for at in signatures:
            source = _judge(rows[at], form, file)
            metric = self.metrics[source.criterion or (SCORE if form == "grade" else WIN)]
            made_by.append((metric, self.sources[source]))
        metrics, sources = np.array(made_by, dtype=np.int32)[place].T
        columns = {
            "row": numbers,
            "question": questions,
            "turn": np.array([row.turn or 1 for row in rows], dtype=np.int32),
            "metric": metrics,
            "source": sources,
        }
        self._add_columns(columns | (self._grades(rows) if form == "grade" else self._pairs(rows)))

    def _grades(self, rows: Sequence[Any]) -> dict[str, Any]:
        value = np.array([row.score for row in rows], dtype=np.float64)
        value[value == FAILED_SCORE] = np.nan
        return {
            "model": _coded(self.models, [row.model for row in rows]),
            "opponent": np.full(len(rows), -1, dtype=np.int32),
            "value": value,
        }

    def _pairs(self, rows: Sequence[Any]) -> dict[str, Any]:
        games = [
            (r.g1_winner, r.g1_preference, r.g2_winner, r.g2_preference, r.shown_first)
            for r in rows
        ]
        first, place = _distinct(games)
        table = np.array([_pair(*games[at]) for at in first])
        return {
            "model": _coded(self.models, [row.model_1 for row in rows]),
            "opponent": _coded(self.models, [row.model_2 for row in rows]),
            **dict(zip(VALUES, table[place].T, strict=True)),
        }

    def _add_columns(self, columns: Mapping[str, Any]) -> None:
        size = len(self._columns["row"])
        for name, values in columns.items():
            column = self._columns[name]
            column.frombytes(np.full(size - len(column), np.nan).tobytes())
            column.frombytes(values.tobytes())

    def _column(self, name: str) -> Any:
        """Return a column of all entries, which takes over its memory."""
        size, column = len(self._columns["row"]), self._columns[name]
        if name in VALUES and not column:
            return constant(np.nan, size)
        column.frombytes(np.full(size - len(column), np.nan).tobytes())
        return compact(np.frombuffer(column, np.int32 if name in CODES else np.float64))

    def read(
        self,
        path: Path,
        kind_of_row: type[Row],
        *,
        only_known: bool,
        kind: str | None = None,
        faults: list[DataError] | None = None,
    ) -> None:
        """Add the rows of a file; with `faults` those before the first fault, which goes there."""
        self.files.append((path, self.rows, kind_of_row))
        blocks: Iterable[Sequence[Any]]
        if kind_of_row is Judgment:
            blocks = store.blocks(path, _light, Judgment)
        else:
            blocks = ([place.row] for place in store.rows(path, kind_of_row))
        try:
            for block in blocks:
                self.add(path.name, block, only_known=only_known, kind=kind)
        except DataError as error:
            if faults is None:
                raise
            faults.append(error)

    def _is_known(self, row: Row | Light, file: str, only_known: bool) -> bool:
        """Return whether a row is about a known question."""
        if row.question_id in self.codes or self._add_question(row.question_id, only_known):
            return True
        models, source = _about(row, file)
        left_out = LeftOut(source, row.question_id, row.turn or 1, tuple(models), UNKNOWN)
        self._unknown.append(left_out)
        return False

    def _note_change(self, number: int, row: Judgment | Light) -> None:
        """Note what has changed since a row was made.

        One that is not current is left out later: if it is the last of its key, none counts.
        """
        if row.made_from is not None:
            rule = self._rule(row.judge_set, row.judge_set_version, row.criterion or "")
            turn, models = row.turn or 1, row.models
            cause = rule(row.question_id, turn, models, row.choice, row.made_from)
            if cause:
                self._stale[number] = cause

    def _add_question(self, key: QuestionId, only_known: bool) -> bool:
        """Add a question that is not among those given; return whether its rows count."""
        if (number := as_question_id(key)) in self.codes:
            self.codes[key] = self.codes[number]
        elif not only_known:
            self.codes[key] = len(self.questions)
            self.questions.append(Question(question_id=key, category="", turns=[]))
        return key in self.codes

    def _add_whole(self, number: int, row: Row, file: str, only_known: bool) -> None:
        """Add a row with any numbers; one without has the metric -1."""
        if not self._is_known(row, file, only_known):
            return
        if isinstance(row, Judgment):
            self._note_change(number, row)
        elif isinstance(row, Measurement) and (cause := self.today.changed_measurement(row)):
            self._stale[number] = cause
        names, source, numbers, games = _of_row(row, file)
        model, opponent = (*[self.models[name] for name in names], -1)[:2]
        item = number, self.codes[row.question_id], row.turn, model, opponent
        code, metrics = self.sources[source], self.metrics
        for metric, value in ({metrics[n]: v for n, v in numbers.items()} or {-1: None}).items():
            self._whole_codes.extend((*item, metric, code))
            self._whole_values.extend((math.nan if value is None else value, *games))

    def scores(self) -> Scores:
        """Return the entries of the rows that count."""
        codes = np.frombuffer(self._whole_codes, dtype=np.int32).reshape(-1, len(CODES)).T
        values = np.frombuffer(self._whole_values).reshape(-1, len(VALUES)).T
        if codes.size:
            self._add_columns(dict(zip(COLUMNS, (*codes, *values), strict=True)))
        columns: dict[str, Any] = {name: self._column(name) for name in COLUMNS}
        scores = Scores(
            **columns,
            questions=tuple(self.questions),
            models=tuple(self.models),
            metrics=tuple(self.metrics),
            sources=tuple(self.sources),
            not_current=self._unknown,
            unchecked=self.today.unchecked - self._unchecked,
            files=tuple(self.files),
        )
        if (scores.row[1:] < scores.row[:-1]).any():
            scores = scores.take(np.argsort(scores.row, kind="stable"))
        latest = _latest(scores)
        if self._stale:
            stale = np.isin(scores.row, list(self._stale))
            first = np.append(True, scores.row[1:] != scores.row[:-1])
            left_out = self._left_out(scores.take(first & latest & stale))
            scores = replace(scores, not_current=[*self._unknown, *left_out])
            latest &= ~stale
        return _spread(scores.take(latest), self.metrics)

    def _left_out(self, stale: Scores) -> Iterator[LeftOut]:
        """Yield the rows that are not current, of one entry each."""
        places = (stale.question, stale.turn, stale.model, stale.opponent)
        columns = (stale.row, stale.source, *places)
        for row, source, question, turn, *models in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            key = stale.questions[question].question_id
            names = tuple(stale.models[code] for code in models if code >= 0)
            yield LeftOut(stale.sources[source], key, turn, names, self._stale[row])


def _latest(scores: Scores) -> Bools:
    """Return which entries are of the last good row of those with equal keys."""
    keys = _Codes()
    source_key = np.array([keys[_key(source)] for source in scores.sources], dtype=np.int64)
    columns = source_key[scores.source], scores.question, scores.turn, *scores.ends
    starts = np.append(True, scores.row[1:] != scores.row[:-1])[: len(scores)]
    good = np.logical_or.reduceat(scores.valid, np.flatnonzero(starts)) if len(scores) else starts
    counts: Bools = store.last_good(combined(*columns)[starts], good)
    result: Bools = counts[np.cumsum(starts) - 1]
    return result


def _spread(scores: Scores, metrics: _Codes) -> Scores:
    """Give labels their 0 beside the 1, and rows without any number NaN in each metric."""
    if all(source.form in ("grade", "pair", "vote") for source in scores.sources):
        return scores
    tables: dict[tuple[str, Form, str], list[int]] = {}
    for code, source in enumerate(scores.sources):
        tables.setdefault((source.judge_set, source.form, source.file), []).append(code)
    parts = []
    for (judge_set, form, _), codes in tables.items():
        table = scores.take(np.isin(scores.source, codes))
        failed = table.take(table.metric < 0)
        names = [scores.metrics[code] for code in present(table.metric)]
        names = [name for name in names if name != CONFIDENCE]
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
    metrics = constant(metric, size, scores.metric.dtype)
    return replace(scores, metric=metrics, value=constant(value, size))


def _coded(codes: dict[Any, int], names: Sequence[Any]) -> Ints:
    """Return the code of each name."""
    return cast("Ints", np.fromiter(map(codes.__getitem__, names), np.int32, len(names)))


def _distinct(keys: Sequence[Any]) -> tuple[list[int], Any]:
    """Return where the distinct keys first are, and for each key which of them it is.

    >>> _distinct(["a", "a", "b"])
    ([0, 2], array([0, 0, 1], dtype=int32))
    """
    if keys.count(keys[0]) == len(keys):  # much faster than hashing each
        return [0], np.zeros(len(keys), dtype=np.int64)
    places = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    place = _coded(places, keys)
    return distinct(place)[0].tolist(), place


def _signatures(rows: Sequence[Light]) -> list[Any]:
    """Return for each row all that its source depends on, as far as the rows differ in it."""
    columns: tuple[list[Any], ...] = (
        [row.sampling for row in rows],
        [row.judge for row in rows],
        [row.judge_set for row in rows],
        [row.judge_set_version for row in rows],
        [row.scale for row in rows],
        [row.score_method for row in rows],
        [row.shown_first for row in rows],
        [row.sample for row in rows],
        [row.choice for row in rows],
        [row.drawn for row in rows],
        [row.look for row in rows],
        [row.criterion for row in rows],
    )
    varying = [column for column in columns if column.count(column[0]) < len(rows)]
    varying = [list(map(bytes, c)) if isinstance(c[0], msgspec.Raw) else c for c in varying]
    return list(zip(*varying, strict=True)) if varying else [()] * len(rows)


def _about(row: Row | Light, file: str) -> tuple[Sequence[str], Source]:
    """Return a row's models and its source."""
    if isinstance(row, Light):
        return row.models, _judge(row, "grade" if isinstance(row, LightGrade) else "pair", file)
    models, source, *_ = _of_row(row, file)
    return models, source


def _of_row(row: Row, file: str) -> tuple[Sequence[str], Source, Numbers, Games]:
    """Return a row's models, its source, what it says, and its games."""
    if isinstance(row, Judgment):
        form, numbers = _verdict(row)
        games = _pair(*(getattr(row, name) for name in _GAMES))[1:] if form == "pair" else NO_GAMES
        return row.models, _judge(row, form, file), numbers, games
    if isinstance(row, Vote):
        games = math.nan if row.value is None else row.value, math.nan
        by_judge = row.template is not None or bench_names.parse_judgment_name(file) is not None
        source = Source(row.voter, "vote", file=file, by_judge=by_judge)
        return (row.model_a, row.model_b), source, {VOTE: row.value}, games
    how = f"{row.variant} {row.tokenizer or ''}".strip()
    library = row.library or "turnbench"
    source = Source(library, "metric", row.metric, method=how, choice=row.choice, file=file)
    numbers = {_metric_name(row.metric, name): value for name, value in row.values.items()}
    if not numbers and row.value is not None:
        numbers = {row.metric: row.value}
    return (row.model,), source, numbers, NO_GAMES


def _pair(
    winner_1: Winner | None,
    preference_1: float | None,
    winner_2: Winner | None,
    preference_2: float | None,
    shown_first: str | None,
) -> tuple[float, float, float]:
    """Return model_1's value of a pair, of the game that showed it first, and of the other."""
    row = Judgment(
        question_id=0,
        g1_winner=winner_1,
        g1_preference=preference_1,
        g2_winner=winner_2,
        g2_preference=preference_2,
    )
    played = iter(row.games)
    games = [None if winner is None else next(played) for winner in (winner_1, winner_2)]
    first, second = (math.nan if game is None else game for game in games)
    value = math.nan if row.failed else outcome(row.games)
    return (value, second, first) if shown_first == "model_2" else (value, first, second)


def _judge(row: Judgment | Light, form: Form, file: str) -> Source:
    judge, sampling = _decoded(row.judge, str | tuple[str, ...]), _decoded(row.sampling, dict)
    sampling = {name: value for name, value in (sampling or {}).items() if name != "seed"}
    return Source(
        judge if isinstance(judge, str) else (*(judge or ()), "")[0],
        form,
        row.judge_set,
        row.judge_set_version,
        row.scale,
        msgspec.json.encode(sampling, order="sorted").decode() if sampling else "",
        row.score_method if row.shown_first is None else f"{row.score_method}, one order",
        row.sample,
        row.choice,
        file,
        row.drawn,
        row.look or 0,
        row.criterion or "",
    )


def _decoded(value: Any, kind: Any) -> Any:
    """Return a field that a light row has as JSON; of another type it is left out, as in others."""
    if not isinstance(value, msgspec.Raw):
        return value
    with contextlib.suppress(msgspec.MsgspecError):
        return msgspec.json.decode(value, type=kind)
    return None


_LIGHT = [msgspec.json.Decoder(form).decode_lines for form in (LightGrade, LightPair)]


def _light(lines: bytes) -> Sequence[Light] | None:
    """Return the judgments in some lines, if all are grades or all are pairs, without a fault."""
    for decode in _LIGHT:
        try:
            rows: Any = decode(lines)
        except (msgspec.MsgspecError, UnicodeError):
            continue
        if decode is _LIGHT[0] or None not in [row.g1_winner or row.g2_winner for row in rows]:
            return cast("Sequence[Light]", rows)
    return None


_GAMES = ("g1_winner", "g1_preference", "g2_winner", "g2_preference", "shown_first")


def _key(source: Source) -> Source:
    """Return what rows about the same answers have in common, of which the last one counts."""
    method = source.method if source.form == "metric" else ""
    return source._replace(version="", scale=None, sampling="", method=method, drawn=None, look=0)


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
    questions = tuple(questions)
    table = _Table(questions, Wordings(questions))
    table.add("", list(rows), only_known=False)
    return table.scores()


def read(
    bench: Bench,
    *,
    files: Sequence[Path] = (),
    kind: Literal["single", "pair", "vote"] | None = None,
    metrics: Sequence[str] = (),
    votes: Sequence[Path] | None = None,
    needed: bool = True,
    faults: list[DataError] | None = None,
) -> Scores:
    """Return the verdicts on disk: of a benchmark's folder, or of files named instead.

    Args:
        bench: gives the questions; in its folder rows about others, or about another wording, are
            left out.
        files: of judgments, votes or numbers, to read in place of all of the folder's; others than
            those are of other runs.
        kind: only grades (and labels, …), only pairs, or only people's votes; None: both judgments.
        metrics: names of metrics to read too, from `auto_metrics`.
        votes: files of votes (or judgments) to read too; none named: the folder's.
        needed: whether it is an error if there is nothing.
        faults: takes what is wrong with a file, whose rows before the fault count; of a model whose
            answers cannot be read, judgments count as if its answers were not at hand.

    Raises:
        DataError: a row is wrong; with file and line.
        MissingError: there is nothing.
    """
    today, own = Today(bench), [file.path for file in bench.judgment_files()]
    today.answers.faults = faults
    elsewhere = not {path.resolve() for path in files} <= {path.resolve() for path in own}
    table = _Table(bench.questions, Wordings(bench.questions) if elsewhere else today)
    if kind == "vote":
        for path in files or bench.vote_files():
            table.read(path, Vote, only_known=not elsewhere, faults=faults)
    else:
        for path in files or own:
            others = (Vote, Measurement) if kind is None and files else ()
            row = next((form for form in others if store.looks_like(path, form)), Judgment)
            table.read(path, row, only_known=not elsewhere, kind=kind, faults=faults)
    if votes is not None:
        already = {path.resolve() for path, *_ in table.files}
        for path in votes or bench.vote_files():
            if path.resolve() not in already:
                of_votes = store.looks_like(path, Vote)
                table.read(
                    path, Vote if of_votes else Judgment, only_known=not votes, faults=faults
                )
    for path in bench.metric_files():
        if bench_names.name_of_file(path.name) in metrics:
            table.read(path, Measurement, only_known=not elsewhere, faults=faults)
    scores = table.scores()
    today.answers.keep()
    if needed and not len(scores):
        what, nowhere = "no judgments; run gen_judgment first", "" if files else bench.nowhere
        if kind is None and bench.vote_files():
            what += f", or show people's votes: --votes {bench.vote_files()[0]}"
        if scores.left_out:
            what = f"none of its judgments is current: {'; '.join(in_words(scores.left_out))}"
        raise MissingError(f"{', '.join(map(str, files)) or bench.folder}: {what}{nowhere}")
    return scores


def whole_rows(scores: Scores) -> Iterator[tuple[int, Row]]:
    """Yield the rows behind some entries, texts included, each with its number in `Scores.row`."""
    for path, start, kind_of_row, wanted in rows_by_file(scores):
        for number, place in enumerate(store.rows(path, kind_of_row), start):
            if number in wanted:
                yield number, place.row


def rows_by_file(scores: Scores) -> Iterator[tuple[Path, int, type[Any], set[int]]]:
    """Yield the files behind some entries as in `Scores.files`, each with its entries' rows."""
    numbers = np.unique(scores.row)
    starts = [*(start for _, start, _ in scores.files), np.iinfo(np.int64).max]
    for (path, start, kind_of_row), end in zip(scores.files, starts[1:], strict=True):
        if wanted := set(numbers[(numbers >= start) & (numbers < end)].tolist()):
            yield path, start, kind_of_row, wanted
