"""Which verdicts may stand in one table, and the mean of several judges.

    gpt-4 8, claude 6    together 7          claude has no verdict: left out for both, and counted

A panel is of one form, judge set, scale and sampling. Other combinations stand one below the other:
their numbers are not comparable. Samples, conversations and runs of one judge count as their mean.

Source: Verga et al. 2024 (arXiv:2404.18796) for the mean of several judges.
"""

import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from harness.results.estimate import Ints
from harness.results.looks import LOOKS
from harness.results.scores import CONFIDENCE, ONCE, POINTS, SCORE, VOTE, WIN, Form, Scores, Source
from harness.types import UNSTATED


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
        shown_names = [name for name in names if name != CONFIDENCE]
        return tuple(sorted(shown_names, key=lambda name: name not in first))

    @property
    def combined(self) -> Scores:
        """The mean of the judges; NaN where one of them gave no verdict."""
        return self._combined.scores

    @property
    def left_out(self) -> int:
        """How many of these only some of the judges gave a verdict on."""
        return self._combined.left_out

    @property
    def drawn(self) -> float | None:
        """The share of the pairs that is judged, if all of them were drawn at random.

        None too for two models, for all pairs, and where one model played less than half as often
        as another: its opponents were not drawn like theirs.
        """
        sources = [self.scores.sources[code] for code in np.unique(self.scores.source).tolist()]
        models = len(self.scores.models_present)
        if not (self.scores.paired and models > 2 and all(source.drawn for source in sources)):
            return None
        question, turn, *both, _ = np.unique(_items(self.scores), axis=0).T
        plays = np.unique(np.concatenate(both), return_counts=True)[1]
        turns = np.unique(np.stack([question, turn]), axis=1).shape[1]
        share = len(question) / (turns * models * (models - 1) / 2)
        return share if share < 1 and plays.min() >= plays.max() / 2 else None

    @property
    def looks(self) -> Ints | None:
        """The look of each question; None: not of a run that stops when it is decided.

        A judgment that another run added counts as one of the last look.
        """
        look_of = np.array([source.look or 0 for source in self.scores.sources])
        looks = look_of[self.scores.source]
        if not looks.any():
            return None
        by_question = np.zeros(len(self.scores.questions), dtype=np.int64)
        np.maximum.at(by_question, self.scores.question, np.where(looks > 0, looks, LOOKS))
        return by_question

    @property
    def by_judge(self) -> dict[str, Scores]:
        """Each judge alone, on the same items; with one judge, all of its items."""
        if len(self.judges) == 1 or self.form == "vote":
            return {
                judge: _mean_of_sources(self.scores.of(judges=[judge])) for judge in self.judges
            }
        return self._combined.by_judge

    @functools.cached_property
    def _combined(self) -> "_Combined":
        if len(self.judges) == 1 or self.form == "vote":
            scores = self.scores if self.form == "vote" else _mean_of_sources(self.scores)
            return _Combined(scores, 0, {})
        columns = [_mean_of_sources(self.scores.of(judges=[judge])) for judge in self.judges]
        keys = [_items(column) for column in columns]
        items, place = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
        places = np.split(place.reshape(-1), np.cumsum([len(key) for key in keys])[:-1])
        table = np.full((len(columns), len(items)), np.nan)
        for row, column, at in zip(table, columns, places, strict=True):
            row[at] = np.where(column.opponent > column.model, 1 - column.value, column.value)
        judged = ~np.isnan(table)
        common = judged.all(axis=0)
        question, turn, high, low, metric = items.T
        whole = replace(
            self.scores,
            question=question,
            turn=turn,
            model=high,
            opponent=low,
            metric=metric,
            source=np.full(len(items), self.scores.source[0]),
            value=table.mean(axis=0),
            flip=np.full(len(items), ONCE),
        )
        by_judge = {
            judge: replace(whole, value=np.where(common, row, np.nan))
            for judge, row in zip(self.judges, table, strict=True)
        }
        return _Combined(whole, int((judged.any(axis=0) & ~common).sum()), by_judge)


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
    item = scores.take(first)
    return replace(
        item,
        value=np.where(item.opponent > item.model, 1 - mean, mean),
        flip=np.where(several, ONCE, item.flip),
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
    result = []
    for (form, judge_set, scale, sampling, method, *_), codes in groups.items():
        members = scores.take(np.isin(scores.source, codes))
        judges = tuple(dict.fromkeys(sources[code].judge for code in codes))
        unstated = [code for code in codes if sources[code].judge_set == UNSTATED]
        unknown = int(np.isin(members.source, unstated).sum())
        versions = tuple(sorted({sources[code].version for code in codes} - {""}))
        result.append(
            Panel(form, judge_set, scale, sampling, method, judges, versions, members, unknown)
        )
    return sorted(result, key=lambda panel: -len(panel.scores))


def _is_builtin(source: Source) -> bool:
    return source.kind == "judge" and source.judge.startswith("builtin/")


def _traits(source: Source) -> tuple[Any, ...]:
    program = source.judge if source.kind == "program" else ""
    how = source.sampling, source.method
    return source.form, source.judge_set, source.scale, *how, program


def _stated(source: Source, peers: Iterable[Source]) -> Source:
    """Return the source, with what it does not state as those like it state it, if they agree.

    A judge set is taken from rows of the same judge and file, a scale from the same judge set.
    """
    if source.kind != "judge":
        return source
    unknown = source.judge_set == UNSTATED
    alike = [
        peer
        for peer in peers
        if peer.kind == "judge"
        and peer.judge_set != UNSTATED
        and peer.form == source.form
        and source.sampling in ("", peer.sampling)
        and source.scale in (None, peer.scale)
        and (
            (peer.judge, peer.file) == (source.judge, source.file)
            if unknown
            else peer.judge_set == source.judge_set and peer.scale is not None
        )
    ]
    if len({_traits(peer) for peer in alike}) != 1:
        return source
    return alike[0] if unknown else source._replace(scale=alike[0].scale)
