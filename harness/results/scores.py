"""Every verdict as columns: grades, wins, labels, votes and metrics are values of one kind.

    question  turn  model      opponent  metric  source        value  flip
    81        1     claude-v1  -         score   gpt-4         8.0    -1      a grade
    81        1     claude-v1  gpt-4     win     gpt-4         0.5     1      a flipped pair: a tie
    81        1     claude-v1  -         CORRECT gpt-4.1       1.0    -1      the others are 0

One entry for each (row, metric); `value` is NaN where the judge gave no verdict. A pair is one
entry, seen from the model that its row names first; `mirrored` has it from both sides.
"""

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import UNSET

from harness import store
from harness.bench import Bench
from harness.bench import names as bench_names
from harness.errors import MissingError
from harness.results.estimate import Bools, Floats, Ints
from harness.types import UNSTATED, Judgment, Measurement, Question, QuestionId, Vote

Form: TypeAlias = Literal["grade", "pair", "label", "dimensions", "points", "vote", "metric"]
SCORE, WIN, VOTE, POINTS, CONFIDENCE = "score", "win", "vote", "points", "confidence"
ONCE, CONSISTENT, FLIPPED, ONE_SIDED = -1, 0, 1, 2
"""Of `flip`: one game; both agree; the other model won when swapped; one of two games a tie."""


class Source(NamedTuple):
    """Whose verdicts, and how they were made: what may differ between two numbers of one thing."""

    judge: str
    """A judge's model, a voter, or the package that computed a metric."""
    kind: Literal["judge", "person", "program"]
    form: Form
    judge_set: str = UNSTATED
    """Of a program: the metric."""
    version: str = ""
    scale: tuple[float, float] | None = None
    sampling: str = ""
    """What the judge was sampled with, as JSON; empty: unknown."""
    method: str = "text"
    """How the verdict was read (`text`, `logprobs`), or a metric's variant."""
    sample: int = 0
    choice: int = 0
    file: str = ""


@dataclass(frozen=True, eq=False)
class Scores:
    """Verdicts as columns of equal length: codes into the names beside them, and values."""

    question: Ints
    turn: Ints
    model: Ints
    opponent: Ints
    """-1: none."""
    metric: Ints
    source: Ints
    value: Floats
    """NaN: the judge gave no verdict. Of a pair: 1 the model won, 0.5 tie, 0 the opponent won."""
    flip: Ints
    questions: tuple[Question, ...]
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    sources: tuple[Source, ...]
    outdated: int = 0
    """Rows left out because their question has been changed since."""

    def __len__(self) -> int:
        return len(self.value)

    @property
    def paired(self) -> bool:
        """Whether these are pairs of models."""
        return bool(len(self)) and bool((self.opponent >= 0).all())

    @property
    def valid(self) -> Bools:
        """Which entries have a verdict."""
        return ~np.isnan(self.value)

    def take(self, which: Bools | Ints) -> "Scores":
        """Return some of the entries; the codes stay."""
        return replace(self, **{name: getattr(self, name)[which] for name in _COLUMNS})

    def of(
        self,
        *,
        metric: str | Collection[str] | None = None,
        models: Collection[str] | None = None,
        turns: Collection[int] | None = None,
        questions: Collection[QuestionId] | None = None,
        judges: Collection[str] | None = None,
    ) -> "Scores":
        """Return the entries of some metrics, models, turns, questions, judges; None: all.

        Of pairs with several models named both must be among them; with one, either.
        """
        keep = np.ones(len(self), dtype=bool)
        if metric is not None:
            keep &= _among(
                self.metric, self.metrics, [metric] if isinstance(metric, str) else metric
            )
        if models is not None:
            first, second = (
                _among(own, self.models, models) for own in (self.model, self.opponent)
            )
            either = len(set(models)) == 1
            keep &= (first | second) if either else first & (second | (self.opponent < 0))
        if turns is not None:
            keep &= np.isin(self.turn, list(turns))
        if questions is not None:
            ids = [question.question_id for question in self.questions]
            keep &= _among(self.question, ids, questions)
        if judges is not None:
            keep &= _among(self.source, [source.judge for source in self.sources], judges)
        return self.take(keep)

    def mirrored(self) -> "Scores":
        """Return pairs seen from both of their models; other entries once."""
        pairs = np.flatnonzero(self.opponent >= 0)
        both = np.concatenate([np.arange(len(self)), pairs])
        twice = self.take(both)
        value, model, opponent = twice.value.copy(), twice.model.copy(), twice.opponent.copy()
        value[len(self) :] = 1 - self.value[pairs]
        model[len(self) :], opponent[len(self) :] = self.opponent[pairs], self.model[pairs]
        return replace(twice, value=value, model=model, opponent=opponent)


_COLUMNS = ("question", "turn", "model", "opponent", "metric", "source", "value", "flip")


def _among(codes: Ints, names: Sequence[Any], wanted: Collection[Any]) -> Bools:
    known = np.array([name in wanted for name in names] + [False])  # -1 is no name
    found: Bools = known[codes]
    return found


# From rows


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
        self.criteria: dict[Any, int] = {}
        self.outdated = 0
        self.rows = [array("q") for _ in range(6)]  # question, turn, model, opponent, source, key
        self.good = array("b")
        self.entries = array("q"), array("q"), array("d"), array("b")  # row, metric, value, flip
        self.unread: list[int] = []  # rows without any number: they are missing in all metrics
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
        made = None if isinstance(row, Vote) else row.made_from
        question = self.question_of(row.question_id, None if made is None else made.question)
        if question is None:
            return
        if isinstance(row, Judgment):
            models, source, numbers = row.models, _source(row, file), _numbers(row)
            flip, good, criterion = _flip(row), not row.failed, row.criterion
            if source.form == "label" and isinstance(row.label, str):
                self.labelled[len(self.good)] = row.label
        elif isinstance(row, Vote):
            models, flip, good, criterion = (row.model_a, row.model_b), ONCE, True, None
            source = Source(row.judge, "person", "vote", file=file)
            numbers = {VOTE: {"model_a": 1.0, "model_b": 0.0}.get(row.winner, 0.5)}
        else:
            models, flip, criterion = (row.model,), ONCE, None
            good = row.value is not None
            how = f"{row.variant} {row.tokenizer or ''}".strip()
            made_by = row.library or "turnbench"
            source = Source(
                made_by, "program", "metric", row.metric, method=how, choice=row.choice, file=file
            )
            numbers = {_metric_name(row.metric, name): v for name, v in row.values.items()}
            numbers = numbers or {row.metric: row.value}
        codes = [self.models.setdefault(model, len(self.models)) for model in models]
        at = len(self.good)
        key: tuple[Any, ...] = (
            file,
            source.judge,
            source.form,
            source.sample,
            source.choice,
            criterion,
        )
        if source.kind == "program":
            key = (*key, source.judge_set, source.method)
        for column, code in zip(
            self.rows,
            (
                question,
                row.turn,
                codes[0],
                codes[1] if len(codes) > 1 else -1,
                self.sources.setdefault(source, len(self.sources)),
                self.criteria.setdefault(key, len(self.criteria)),
            ),
            strict=True,
        ):
            column.append(code)
        self.good.append(good)
        if not numbers and at not in self.labelled:
            self.unread.append(at)
        for metric, value in numbers.items():
            code = self.metrics.setdefault(metric, len(self.metrics))
            self._entry(at, code, np.nan if value is None else value, flip)

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
        kept = np.zeros(len(order), dtype=bool)
        kept[order[last]] = True
        at, metric, value, flip = (np.array(column) for column in self.entries)
        at = at.astype(np.int64)
        counts = kept[at] if len(at) else np.empty(0, dtype=bool)
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
        known: dict[Any, dict[int, None]] = {}
        for at, label in self.labelled.items():
            labels.setdefault(group[self.rows[4][at]], {})[label] = None
        for at, metric in zip(self.entries[0], self.entries[1], strict=True):
            if self.unread or labels:
                known.setdefault(group[self.rows[4][at]], {})[metric] = None
        numbers: list[tuple[int, int, float]] = []
        for at, own in self.labelled.items():
            for label in labels[group[self.rows[4][at]]]:
                metric = self.metrics.setdefault(label, len(self.metrics))
                known.setdefault(group[self.rows[4][at]], {})[metric] = None
                numbers.append((at, metric, float(label == own)))
        score = self.metrics.setdefault(SCORE, len(self.metrics)) if self.unread else 0
        confidence = self.metrics.get(CONFIDENCE)
        for at in self.unread:
            for metric in known.get(group[self.rows[4][at]]) or [score]:
                if metric != confidence:
                    numbers.append((at, metric, np.nan))
        for at, metric, value in numbers:
            self._entry(at, metric, value, ONCE)


def _source(row: Judgment, file: str) -> Source:
    form: Form = "grade"
    if row.model is None:
        form = "pair"
    elif row.label is not UNSET:
        form = "label"
    elif row.points is not UNSET:
        form = "points"
    elif row.scores is not UNSET:
        form = "dimensions"
    return Source(
        row.judge_model,
        "judge",
        form,
        row.judge_set,
        row.judge_set_version,
        row.scale,
        json.dumps(row.sampling, sort_keys=True) if row.sampling else "",
        row.score_method,
        row.sample,
        row.choice,
        file,
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
        return dimensions if row.score is UNSET else {SCORE: row.grade, **dimensions}
    return {row.criterion or SCORE: row.grade}


def outcome(games: Sequence[float | None]) -> float:
    """Return model_1's outcome of its games; as in FastChat two that differ are a tie.

    Weighed preferences count as their mean: 0.9 and 0.6 are 0.75.
    """
    played = [game for game in games if game is not None]
    if any(game not in (0.0, 0.5, 1.0) for game in played):
        return sum(played) / len(played)
    return played[0] if len(set(played)) == 1 else 0.5


def _flip(row: Judgment) -> int:
    games = row.games
    if len(games) < 2 or None in games:
        return ONCE
    sides = {(game > 0.5) - (game < 0.5) for game in games if game is not None}
    return CONSISTENT if len(sides) == 1 else ONE_SIDED if 0 in sides else FLIPPED


def checklist_shares(points: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the share of a checklist's weight that is met, in all and by tag.

    Weights met / all positive weights, at least 0, of the points that the judge decided: 2 and 1
    met of 2, 1, 1, and a fault of -1 that is there: (3 - 1) / 4 = 0.5.
    """
    if not points:
        return {}
    tags: dict[str, list[tuple[float, Any]]] = {POINTS: []}
    for point in points:
        decided = (float(point.get("weight", 1)), point.get("met"))
        tags[POINTS].append(decided)
        if tag := point.get("tag"):
            tags.setdefault(f"{POINTS}/{tag}", []).append(decided)
    return {name: _share(own) for name, own in tags.items()}


def _share(points: Sequence[tuple[float, Any]]) -> float | None:
    decided = [(weight, bool(met)) for weight, met in points if met is not None]
    total = sum(weight for weight, _ in decided if weight > 0)
    if not total:
        return None
    return max(0.0, sum(weight for weight, met in decided if met) / total)


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
    known = () if bench is None else bench.questions
    columns = _Columns(known, only_known=bool(known) and not files)
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
        where = bench.folder if bench is not None else ", ".join(map(str, files))
        raise MissingError(f"{where}: no judgments; run gen_judgment first")
    return columns.finish()


def _judgment_files(bench: Bench, kind: str | None) -> Iterator[Path]:
    if kind == "vote":
        yield from bench.vote_files()
    else:
        yield from (own.path for own in bench.judgment_files())


# Which of them belong together


@dataclass(frozen=True, eq=False)
class Panel:
    """Verdicts that may stand in one table: of one form, judge set, scale and sampling."""

    form: Form
    judge_set: str
    """Of a metric: its name."""
    scale: tuple[float, float] | None
    sampling: str
    method: str
    judges: tuple[str, ...]
    versions: tuple[str, ...]
    """Of the judge set, where rows of several stand together."""
    scores: Scores
    unknown: int = 0
    """Entries whose judge set is not stated, such as FastChat's rows."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """What it has numbers of, the main one first."""
        codes = np.unique(self.scores.metric)
        names = [self.scores.metrics[code] for code in codes.tolist()]
        first = (SCORE, WIN, VOTE, POINTS)
        named = [name for name in names if name != CONFIDENCE]
        return tuple(sorted(named, key=lambda name: name not in first))

    @property
    def combined(self) -> Scores:
        """The mean of the judges, on what all of them gave a verdict on."""
        return self._combine().scores

    @property
    def left_out(self) -> int:
        """What some of the judges gave a verdict on, and some did not."""
        return self._combine().left_out

    @property
    def by_judge(self) -> dict[str, Scores]:
        """Each judge alone, on the same items; with one judge, all of its items."""
        if len(self.judges) == 1 or self.form == "vote":
            return {
                judge: _mean_of_sources(self.scores.of(judges=[judge])) for judge in self.judges
            }
        return self._combine().by_judge

    def _combine(self) -> "_Combined":
        if len(self.judges) == 1 or self.form == "vote":
            scores = self.scores if self.form == "vote" else _mean_of_sources(self.scores)
            return _Combined(scores, 0, {})
        each = [_mean_of_sources(self.scores.of(judges=[judge])) for judge in self.judges]
        keys = [_items(own) for own in each]
        every, place = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
        table = np.full((len(each), len(every)), np.nan)
        ends = np.cumsum([0, *map(len, keys)])
        for own, judged in enumerate(each):
            swapped = judged.opponent > judged.model
            value = np.where(swapped, 1 - judged.value, judged.value)
            table[own, place.reshape(-1)[ends[own] : ends[own + 1]]] = value
        there = ~np.isnan(table)
        common, some = there.all(axis=0), there.any(axis=0)
        kept = common | ~some
        question, turn, high, low, metric = every[kept].T
        whole = replace(
            self.scores,
            question=question,
            turn=turn,
            model=high,
            opponent=low,
            metric=metric,
            source=np.zeros(len(question), dtype=np.int64),
            value=table[:, kept].mean(axis=0),
            flip=np.full(len(question), ONCE),
        )
        return _Combined(
            whole,
            int((some & ~common).sum()),
            {
                judge: replace(whole, value=np.where(common[kept], table[own][kept], np.nan))
                for own, judge in enumerate(self.judges)
            },
        )


class _Combined(NamedTuple):
    scores: Scores
    left_out: int
    by_judge: dict[str, Scores]


def _items(scores: Scores) -> Ints:
    """Return what each entry is about; a pair with the greater code first."""
    high = np.maximum(scores.model, scores.opponent)
    low = np.minimum(scores.model, scores.opponent)
    return np.stack([scores.question, scores.turn, high, low, scores.metric], axis=1)


def _mean_of_sources(scores: Scores) -> Scores:
    """Return one entry an item: of several samples, conversations or runs their mean."""
    if len(np.unique(scores.source)) < 2:
        return scores
    items, first, place = np.unique(_items(scores), axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    if len(items) == len(scores):
        return scores
    swapped = scores.opponent > scores.model
    value = np.where(swapped, 1 - scores.value, scores.value)
    good = scores.valid
    counts = np.bincount(place[good], minlength=len(items))
    sums = np.bincount(place[good], value[good], len(items))
    mean = np.divide(sums, counts, out=np.full(len(items), np.nan), where=counts > 0)
    several = np.bincount(place, minlength=len(items)) > 1
    one = scores.take(first)
    return replace(
        one,
        value=np.where(one.opponent > one.model, 1 - mean, mean),
        flip=np.where(several, ONCE, one.flip),
    )


def panels(scores: Scores, *, named: Collection[str] = ()) -> list[Panel]:
    """Return the groups of verdicts that may stand in one table, the largest first.

    Rows that do not state their judge set join those of the same judge and file that do. Built-in
    judges stand alone beside others, unless `named`.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    used = np.unique(scores.source).tolist()
    sources = {code: scores.sources[code] for code in used}
    real = any(s.kind == "judge" and not s.judge.startswith("builtin/") for s in sources.values())
    for code, source in sources.items():
        alone = source.judge if _is_builtin(source) and real and source.judge not in named else ""
        groups.setdefault((*_traits(_stated(source, sources.values())), alone), []).append(code)
    found = []
    for (form, judge_set, scale, sampling, method, _), codes in groups.items():
        own = scores.take(np.isin(scores.source, codes))
        judges = tuple(dict.fromkeys(sources[code].judge for code in codes))
        unstated = [code for code in codes if sources[code].judge_set == UNSTATED]
        unknown = int(np.isin(own.source, unstated).sum())
        versions = tuple(sorted({sources[code].version for code in codes} - {""}))
        found.append(
            Panel(form, judge_set, scale, sampling, method, judges, versions, own, unknown)
        )
    return sorted(found, key=lambda panel: -len(panel.scores))


def _is_builtin(source: Source) -> bool:
    return source.kind == "judge" and source.judge.startswith("builtin/")


def _traits(source: Source) -> tuple[Any, ...]:
    return source.form, source.judge_set, source.scale, source.sampling, source.method


def _stated(source: Source, others: Iterable[Source]) -> Source:
    """Return the source, with what it does not state as the one like it in its file states it."""
    if source.judge_set != UNSTATED or source.kind != "judge":
        return source
    alike = [
        other
        for other in others
        if other.judge_set != UNSTATED
        and (other.form, other.judge, other.file) == (source.form, source.judge, source.file)
        and source.scale in (None, other.scale)
        and source.sampling in ("", other.sampling)
    ]
    return alike[0] if len({_traits(other) for other in alike}) == 1 else source
