"""Which verdicts may stand in one table, and the mean of several judges.

    gpt-4 8, claude 6    together 7          claude has no verdict: left out for both, and counted

A panel is of one form, judge set, scale and sampling. Other combinations stand one below the other:
their numbers are not comparable. Samples, conversations and runs of one judge count as their mean.

Source: Verga et al. 2024 (arXiv:2404.18796) for the mean of several judges.
"""

import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.errors import DataError
from harness.results.estimate import Floats, Ints
from harness.results.looks import LOOKS
from harness.results.scores import (
    CONFIDENCE,
    MAIN,
    WIN,
    Form,
    Scores,
    Source,
    constant,
    distinct,
    means,
    present,
)
from harness.types import UNSTATED, clash_of


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

    def __repr__(self) -> str:
        by = f"{self.form} by {', '.join(self.judges)}"[:120]
        return f"<Panel: {by}, {len(self.scores):,} verdicts>"

    @property
    def is_judged(self) -> bool:
        """Whether it is of judgments: neither of votes nor of metrics."""
        return self.form not in ("vote", "metric")

    @property
    def versioned_set(self) -> str:
        """The judge set with its latest version."""
        return " ".join([self.judge_set, *self.versions[-1:]])

    @property
    def metrics(self) -> tuple[str, ...]:
        """What it has numbers of, the main one first."""
        names = [self.scores.metrics[code] for code in present(self.scores.metric)]
        names.sort(key=lambda name: name not in MAIN)
        return tuple(name for name in names if name != CONFIDENCE)

    @property
    def asked(self) -> tuple[str, ...]:
        """Of its metrics those that are judged apart: one of a reply that has several."""
        one_reply = self.form in ("label", "dimensions", "points")
        return self.metrics[:1] if one_reply else self.metrics

    def one_each(self, scores: Scores) -> Scores:
        """Return one entry for each judgment of some of its scores."""
        return scores.of(metric=self.asked)

    def alone(self, judge: str) -> "Panel":
        """Return a judge's verdicts alone; all of them if it gave none."""
        if judge not in self.judges:
            return self
        return replace(self, scores=self.scores.of(judges=[judge]), judges=(judge,))

    @property
    def unread(self) -> int:
        """How many judgments have no verdict."""
        return int((~self.one_each(self.scores).valid).sum())

    @functools.cached_property
    def combined(self) -> Scores:
        """The mean of the judges; NaN where one of them gave no verdict. Of votes: each of them."""
        items, _, (first, second) = self._by_item
        if len(self.judges) > 1 and self.form != "vote":
            first, second = np.broadcast_to(np.nan, (2, 1, len(items)))
        return replace(items, shown_first=first[0], shown_second=second[0])

    @functools.cached_property
    def by_judge(self) -> dict[str, Scores]:
        """Each judge alone, on what all of them gave a verdict on."""
        items, table, games = self._by_item
        alone = np.where(np.isnan(table).any(axis=0), np.nan, table)
        return {
            judge: replace(items, value=value, shown_first=first, shown_second=second)
            for judge, value, first, second in zip(self.judges, alone, *games, strict=True)
        }

    @functools.cached_property
    def _by_item(self) -> tuple[Scores, Floats, Floats]:
        """The items with the mean of the judges, and the judges' own means on them, a row each.

        Pairs have the greater code first. Third the values of the two games, of the pairs that a
        judge judged once. Several samples, conversations or runs of one judge count as their mean.
        """
        scores = self.scores
        if self.form == "vote":
            games = np.stack([scores.shown_first, scores.shown_second])
            return scores, scores.value.reshape(1, -1), games[:, None]
        scores = scores.ordered()
        columns = scores.question, scores.turn, scores.model, scores.opponent, scores.metric
        first, item = distinct(*columns)
        names = [source.judge for source in scores.sources]
        judge = np.array([self.judges.index(n) if n in self.judges else 0 for n in names])
        cell, size = judge[scores.source] * len(first) + item, len(self.judges) * len(first)
        table = means(cell, scores.value, size).reshape(len(self.judges), -1)
        of_games: Floats = np.broadcast_to(np.nan, (2, size))
        if scores.paired:
            of_games = np.full((2, size), np.nan)
            of_games[:, cell] = scores.shown_first, scores.shown_second
            several = np.bincount(cell, minlength=size) > 1  # the games of several are not one's
            of_games[:, several] = np.nan
        source = constant(scores.source[0], len(first), scores.source.dtype)
        items = replace(scores.take(first), source=source, value=table.mean(axis=0))
        return items, table, of_games.reshape(2, len(self.judges), -1)

    @property
    def drawn(self) -> float | None:
        """The share of the pairs that is judged, if all of them were drawn at random.

        None too for two models, for all pairs, and where one model played less than half as often
        as another: its opponents were not drawn like theirs.
        """
        models = len(self.scores.models_present)
        sources = self.scores.sources_present.values()
        if not (self.scores.paired and models > 2 and all(source.drawn for source in sources)):
            return None
        pairs, *_ = self._by_item
        plays = np.bincount(np.concatenate([pairs.model, pairs.opponent]))
        plays = plays[plays > 0]
        turns = len(distinct(pairs.question, pairs.turn)[0])
        share = len(pairs) / (turns * models * (models - 1) / 2)
        return share if share < 1 and plays.min() >= plays.max() / 2 else None

    @property
    def looks(self) -> Ints | None:
        """The look of each question; None: not of a run that stops when it is decided.

        A judgment that another run added counts as one of the last look.
        """
        looks = np.array([source.look for source in self.scores.sources])[self.scores.source]
        if not looks.any():
            return None
        by_question = np.zeros(len(self.scores.questions), dtype=np.int64)
        np.maximum.at(by_question, self.scores.question, np.where(looks > 0, looks, LOOKS))
        return by_question


def panels(scores: Scores, *, named: Collection[str] = ()) -> list[Panel]:
    """Return the groups of verdicts that may stand in one table, the largest first.

    Rows that do not state their judge set join those of the same judge and file that do. Unless
    they are `named`, built-in judges stand alone beside others, and so do judges that lack most of
    what another judge was asked: a panel counts what all of its members gave.

    Raises:
        DataError: a criterion or label has a name that a flat table cannot have.
    """
    sources = scores.sources_present
    builtin = {s.judge for s in sources.values() if s.judge.startswith("builtin/")} - set(named)
    real = any(s.kind == "judge" and s.judge not in builtin for s in sources.values())
    groups: dict[tuple[Any, ...], list[int]] = {}
    for code, source in sources.items():
        alone = source.judge if real and source.judge in builtin else ""
        groups.setdefault((*_traits(source, sources.values()), alone), []).append(code)
    for key, codes in list(groups.items()):
        for judge in _with_few(scores, codes, named):
            groups[*key, judge] = [code for code in codes if sources[code].judge == judge]
            groups[key] = [code for code in groups[key] if sources[code].judge != judge]
    result = []
    for (form, judge_set, scale, sampling, method, *_), codes in groups.items():
        members = scores.take(np.isin(scores.source, codes))
        judges = tuple(dict.fromkeys(sources[code].judge for code in codes))
        versions = tuple(sorted({sources[code].version for code in codes} - {""}))
        unstated = [code for code in codes if sources[code].judge_set == UNSTATED]
        unknown = int(np.isin(members.source, unstated).sum())
        panel = Panel(form, judge_set, scale, sampling, method, judges, versions, members, unknown)
        if clash := clash_of(panel.metrics):
            raise DataError(f"criteria or labels in {sources[codes[0]].file}: {clash}")
        result.append(panel)
    return sorted(result, key=lambda panel: -len(panel.scores))


def _with_few(scores: Scores, codes: Collection[int], named: Collection[str]) -> list[str]:
    """Return the judges that judged less than half of what another of them did."""
    sources = {code: scores.sources[code] for code in codes}
    judges = list(dict.fromkeys(source.judge for source in sources.values()))
    if len(judges) < 2 or any(source.kind != "judge" for source in sources.values()):
        return []
    sizes = {}
    for judge in judges:
        own = [code for code, source in sources.items() if source.judge == judge]
        rows = scores.take(np.isin(scores.source, own))
        sizes[judge] = len(distinct(rows.question, rows.turn, *rows.ends)[0])
    most = max(sizes.values())
    return [judge for judge in judges if judge not in named and sizes[judge] < most / 2]


def most_alike(panel: Panel, others: Iterable[Panel]) -> Panel:
    """Return which of some panels, at least one, is most like another."""
    return max(
        others,
        key=lambda other: (
            other.form == panel.form,
            other.judge_set == panel.judge_set,
            other.method == panel.method,
            set(other.judges) == set(panel.judges),
        ),
    )


def of_models(shown: Iterable[Panel], models: Collection[str]) -> list[Panel]:
    """Return the panels of some models alone; of several the pairs between them. None: all.

    A panel that has no verdict on them is left out.
    """
    if not models:
        return list(shown)
    parts = []
    for panel in shown:
        scores = panel.scores.of(models=models)
        parts += panels(scores, named=panel.judges)[:1] if len(scores) else []
    return parts


def baseline_of(scores: Scores) -> str | None:
    """Return the model that is in every pair of three or more models; None: there is none."""
    pairs = scores.take(scores.opponent >= 0).of(metric=WIN)
    if len(pairs.models_present) < 3:
        return None
    in_each = (name for name in pairs.models_present if len(pairs.of(models=[name])) == len(pairs))
    return next(in_each, None)


def _traits(source: Source, sources: Iterable[Source]) -> tuple[Any, ...]:
    """Return what all verdicts of a panel have in common.

    A source that does not state its judge set has the traits of those that do, if they agree.
    """
    program = source.judge if source.kind == "program" else ""
    how = source.sampling, source.method, source.by_judge
    traits = source.form, source.judge_set, source.scale, *how, program
    if source.judge_set != UNSTATED:
        return traits
    file = source.judge, source.form, source.file
    peers = [peer for peer in sources if (peer.judge, peer.form, peer.file) == file]
    stated = {_traits(peer, ()) for peer in peers if peer.judge_set != UNSTATED}
    return stated.pop() if len(stated) == 1 else traits
