"""Judgments and the checks of the answers judged -> does the judge see what a program sees? It takes no human vote.

    grade lost            - sum of (b - mean b)(g - mean g) / sum of (b - mean b)^2      over answers to the same turn
    at equal strength     the same, after what each model's mean explains of b and of g is taken off as well
    top grades            answers with a broken check (or none) that have a top grade / answers with one (or none)
    winner breaks more    decided pairs that the answer with more broken checks won / decided pairs that differ in b

b is how many of its turn's checks an answer breaks, g its grade. Answers are compared with answers to the same turn
only, so that a hard question does not look like a strict judge. Models that break more checks may also be worse in
what no check sees: grade lost holds both, grade lost at equal strength only what goes with the checks. Of a kind of
check, b counts that kind alone, over the turns that have it; an answer that breaks two kinds is in both.

One turn, three answers that break 0, 1 and 2 checks and have the grades 9, 8 and 4: (-1)(2) + (0)(1) + (1)(-3) = -5
over 1 + 0 + 1 = 2, so 2.5 points are lost for each broken check.

A top grade is in the upper ninth of the scale, unless another is named: 9 and 10 of 1 to 10, 5 of 1 to 5. A tie, or a
pair whose winner changes with the order, is no decided pair; ties are counted beside. Checks that are not decided
(their code was not run) count as neither kept nor broken. Answers without a grade or without decided checks, pairs
without a verdict in both games, and checks of another wording of the question are left out and counted.

    text says kept        broken (or kept) checks that the judge's text says are kept / all of them; so for broken

Of grades alone: of a text about two answers no rule knows whose limit a sentence means. It is a lexical measure with
mistakes of its own, which were counted (`checks_said.py`, docs/checks.md).

Intervals resample questions (see `bootstrap`); the means that are taken off stay as they are. Simulated with weaker
models breaking more, a true loss of 1 point and 2 to 6 models, 300 benchmarks each: at equal strength the mean estimate
is 0.98 to 1.00, where grade lost alone is 1.22 to 1.24; the 95% interval holds the true loss in 93-94% of benchmarks of
30 or 80 questions, 96% of 12.

Source: the fixed-effects ("within") estimator, e.g. Wooldridge, Econometric Analysis of Cross Section and Panel Data
(2010), section 10.5; Frisch and Waugh 1933 for taking the models' means off first.
"""

import pathlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from harness.bench import Bench, load_bench
from harness.errors import MissingError, UsageError
from harness.judgments.case import SCORE, TOTAL, winner
from harness.judgments.observations import Observations, numbered
from harness.judgments.row import judged_rows
from harness.meta_evaluation.by_question import ratio
from harness.meta_evaluation.checks_said import Limit, Says, has_words, language_of, said_of
from harness.meta_evaluation.report import Report, asked, flat, interval
from harness.records import Mode, Observation, QuestionId, Scale
from harness.results.finding import Found
from harness.results.matrix import Floats, Ints
from harness.results.measured import CheckedTurn, read_checks
from harness.results.query import Query, Words
from harness.results.statistics.bootstrap import Estimate

Bools: TypeAlias = npt.NDArray[np.bool_]
Place: TypeAlias = tuple[QuestionId, int, str, str]
"""Question, turn, model and choice."""
NO_GRADE, NO_VERDICT = "without a grade", "without a verdict in both games"
NO_CHECKS = "without decided checks"
OTHER_WORDING = "whose checks are of another wording of the question (run auto_checks again)"
NO_WORDS, NO_WORDS_OF_KIND = "of answers judged in a language without word lists", "of a kind without word lists"
_SAYS: Mapping[Says, str] = {"kept": "text says kept", "broken": "text says broken", None: "text is silent"}
_NONE = 1e-9
"""Below this, what is left of a number is rounding."""


class Broken(NamedTuple):
    """How many checks an answer's turn breaks, of those that are decided."""

    total: int
    by_kind: dict[str, int]
    """For each kind that the turn has, how many of it are broken."""
    checks: dict[str, int]
    """For each kind, how many there are."""


@dataclass(frozen=True, slots=True)
class Items:
    """What was judged, one entry for each answer's turn or pair: axis 0 of every array."""

    question: Ints
    """The place of each one's question."""
    questions: int
    """How many there are."""
    cell: Ints
    """Equal for what is about the same turn of the same question."""
    model: Ints
    broken: list[Broken]
    """Of a pair that of the row's first answer."""
    other: list[Broken]
    """Of a pair that of the second answer."""
    value: Floats
    """The grade, or of a pair 1, 0.5 or 0 for its first answer."""
    seed: int

    def ratio(self, sums: Floats, counts: Floats, bounds: Scale | None = None) -> Estimate:
        """Return the sum of `sums` over that of `counts`, both by entry, with an interval over questions."""
        return ratio(self.question, sums, counts, self.questions, seed=self.seed, bounds=bounds)

    def share(self, of: Bools, among: Bools) -> Estimate:
        """Return the share that has a property, among some of the entries."""
        return self.ratio((of & among).astype(np.float64), among.astype(np.float64), (0.0, 1.0))

    def lost(self, broken: Floats, *, with_models: bool = False) -> Estimate:
        """Return the points lost for each broken check; entries whose `broken` is NaN do not count."""
        used = ~np.isnan(broken)
        both = np.stack([broken[used], self.value[used]], axis=1)
        inside = _within(both, self.cell[used])
        if with_models:
            models = (self.model[used][:, None] == np.unique(self.model[used])).astype(np.float64)
            models = _within(models, self.cell[used])
            inside = inside - models @ np.linalg.lstsq(models, inside, rcond=None)[0]
        inside[np.abs(inside) < _NONE] = 0.0
        sums, counts = np.zeros((2, len(broken)))
        sums[used], counts[used] = -inside[:, 0] * inside[:, 1], inside[:, 0] ** 2
        return self.ratio(sums, counts)

    def varying(self, broken: Floats) -> int:
        """Return how many entries are about turns in which some answers break more than others."""
        used = ~np.isnan(broken)
        inside = _within(broken[used][:, None], self.cell[used])[:, 0]
        return int(np.isin(self.cell[used], self.cell[used][np.abs(inside) > _NONE]).sum())


def _within(values: Floats, cell: Ints) -> Floats:
    """Return values less their mean over the entries of the same cell, by column."""
    _, place = np.unique(cell, return_inverse=True)
    total = np.zeros((place.max(initial=-1) + 1, values.shape[1]))
    np.add.at(total, place, values)
    left: Floats = values - (total / np.bincount(place)[:, None])[place]
    return left


def left_out_notes(left_out: Mapping[str, int], what: str) -> list[str]:
    """Return a line for each reason for which judgments were left out."""
    return [f"{n} {what}{'' if n == 1 else 's'} {why} left out" for why, n in left_out.items()]


def broken_checks(turns: Iterable[CheckedTurn], *, loose: bool) -> dict[Place, tuple[Broken, str | None]]:
    """Return what each answer's turn breaks, and the hash of its question; turns without decided checks have none."""
    found: dict[Place, tuple[Broken, str | None]] = {}
    for turn in turns:
        by_kind: dict[str, int] = {}
        checks: dict[str, int] = {}
        for check in turn.checks:
            met = check.loose if loose else check.strict
            if met is not None:
                by_kind[check.name] = by_kind.get(check.name, 0) + (not met)
                checks[check.name] = checks.get(check.name, 0) + 1
        if checks:
            broken = Broken(sum(by_kind.values()), by_kind, checks)
            found[turn.question_id, turn.turn, turn.model, turn.choice] = broken, turn.content
    return found


def checked_bench(query: Query, path: pathlib.Path) -> Bench:
    """Return the benchmark whose answers were checked: of a file given without a name, the one beside which it lies."""
    folder = path.resolve().parent.parent
    if query.files and query.bench_name is None and (folder / "model_metric").is_dir():
        return load_bench(folder.name, folder.parent)
    return query.bench


def _items(
    judged: Observations,
    found: dict[Place, tuple[Broken, str | None]],
    left_out: Counter[str],
    seed: int,
) -> Items:
    """Return what was judged and is checked."""
    kept: list[tuple[Observation, float, list[Broken]]] = []
    for one in judged:
        value = winner(one.games) if one.opponent else one.value
        if value is None:
            left_out[NO_VERDICT if one.opponent else NO_GRADE] += 1
            continue
        models = (one.model, one.opponent) if one.opponent else (one.model,)
        own = [found.get((one.question_id, one.turn, str(model), one.source.choice)) for model in models]
        there = [both for both in own if both is not None]
        if len(there) < len(own):
            left_out[NO_CHECKS] += 1
        elif not all(_same_wording(one.content, content) for _, content in there):
            left_out[OTHER_WORDING] += 1
        else:
            kept.append((one, value, [broken for broken, _ in there]))
    questions, question = _numbered(one.question_id for one, _, _ in kept)
    return Items(
        question=question,
        questions=len(questions),
        cell=_numbered((one.question_id, one.turn) for one, _, _ in kept)[1],
        model=_numbered(one.model for one, _, _ in kept)[1],
        broken=[own[0] for _, _, own in kept],
        other=[own[-1] for _, _, own in kept],
        value=np.array([value for _, value, _ in kept], dtype=np.float64),
        seed=seed,
    )


def _numbered(values: Iterable[Hashable]) -> tuple[list[Any], Ints]:
    names, places = numbered(values)
    return names, np.array(places, dtype=np.int64)


def _of_kind(broken: Sequence[Broken], kind: str | None) -> Floats:
    """Return how many checks of a kind (None: of all) each answer breaks; NaN where its turn has none."""
    numbers = [own.total if kind is None else own.by_kind.get(kind, np.nan) for own in broken]
    return np.array(numbers, dtype=np.float64)


def _graded(items: Items, top: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Estimate]]:
    """Return the rows of all checks and those of each kind, and the estimates in them."""
    broken, high = _of_kind(items.broken, None), items.value >= top
    lost = [items.lost(broken), items.lost(broken, with_models=True)]
    shares = [items.share(high, some) for some in (broken > 0, broken == 0)]
    n = items.varying(broken)
    rows = [
        {"measure": "grade lost", **interval(lost[0]), "n": n},
        {"measure": "grade lost at equal strength", **interval(lost[1]), "n": n},
        {"measure": "top grades, a check broken", **interval(shares[0]), "n": int((broken > 0).sum())},
        {"measure": "top grades, none broken", **interval(shares[1]), "n": int((broken == 0).sum())},
    ]
    kinds = []
    for kind in _kinds(items.broken):
        own = _of_kind(items.broken, kind)
        kinds.append(
            {
                "kind": kind,
                "checks": sum(one.checks.get(kind, 0) for one in items.broken),
                "broken": int(np.nansum(own)),
                **flat("grade_lost", items.lost(own)),
                "n": items.varying(own),
                **flat("top_grades", items.share(high, own > 0)),
            }
        )
    return rows, kinds, [*lost, *shares]


def _paired(items: Items) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Estimate]]:
    """Return the same of pairs."""
    whole, measured = _of_pairs(items, None)
    rows = [{"measure": "winner breaks more", **interval(measured), "n": whole["n"], "ties": whole["ties"]}]
    kinds = []
    for kind in _kinds(items.broken):
        counts, share = _of_pairs(items, kind)
        kinds.append({"kind": kind, **flat("winner_breaks_more", share), **counts})
    return rows, kinds, [measured]


def _of_pairs(items: Items, kind: str | None) -> tuple[dict[str, int], Estimate]:
    """Return how often the winner breaks more, among decided pairs that differ, and how many these and ties are."""
    more = _of_kind(items.broken, kind) - _of_kind(items.other, kind)
    differ = np.abs(more) > 0
    decided = differ & (items.value != 0.5)
    won = (items.value > 0.5) == (more > 0)
    return {"n": int(decided.sum()), "ties": int((differ & ~decided).sum())}, items.share(won, decided)


def _kinds(broken: Iterable[Broken]) -> list[str]:
    return sorted({kind for own in broken for kind in own.checks})


def _top(scale: Scale | None, named: float | None) -> float:
    """Return the least grade that is a top grade."""
    if named is not None:
        return named
    if scale is None:
        raise UsageError("the scale of these grades is not known; name the least top grade with --top")
    return scale[1] - (scale[1] - scale[0]) / 9


def judge_checks(
    mode: Mode | None = None, *, loose: bool = False, top: float | None = None, **words: Unpack[Words]
) -> Report:
    """Return whether the judge sees broken checks: in grades, or in who wins; `kinds` says so of each kind of check.

    Checks are those that `auto_checks` wrote for the benchmark named.

    Args:
        mode: grades or pairs (default: what the file holds; of the benchmark's files, grades).
        loose: count as broken only what breaks a check however leniently it is read.
        top: the least grade that is a top grade (default: where the upper ninth of the scale begins).
        words: see `Words`.

    Raises:
        MissingError: there are no judgments, no checks, or none of the same answers.
        UsageError: the judgments are labels, or not comparable.
    """
    given = asked(mode, words)
    query, source = given.query, given.sources[0]
    judged = _countable(source)
    left_out: Counter[str] = Counter()
    turns = read_checks(checked_bench(query, source.path))
    found = broken_checks(turns, loose=loose)
    items = _items(judged, found, left_out, query.seed)
    if not len(items.value):
        missing = "; ".join(left_out_notes(left_out, "judgment"))
        raise MissingError(f"no judgment of {source.path} is of an answer with decided checks: {missing}")
    how = "however leniently it is read" if loose else "read strictly"
    notes = [f"a check is broken if the reply does not meet it, {how}; answers to the same turn are compared"]
    more = {}
    if judged.paired:
        rows, kinds, measured = _paired(items)
        notes.append("ties, or winners that change with the order, are counted apart")
        notes += ["--top is about grades and changes nothing here"] if top is not None else []
    else:
        least = _top(judged.scale(), top)
        rows, kinds, measured = _graded(items, least)
        unread: Counter[str] = Counter()
        if remarks := _remarks(judged, turns, source.path, unread, loose=loose):
            said, more["said"], shares = _said(remarks, query.seed)
            rows, measured = [*rows, *said], [*measured, *shares]
            notes.append("what the text says is read by its words, with mistakes that were counted: see docs/checks.md")
        notes += [
            f"{n} check{'' if n == 1 else 's'} {why}: not looked for in the text" for why, n in unread.items() if n
        ]
        notes.append(f"grade lost: points for each broken check; a top grade is {least:g} or more")
        notes.append(
            "models that break more may be worse in other things too; at equal strength the models' means are taken off"
        )
    notes += left_out_notes(left_out, "pair" if judged.paired else "answer")
    return given.report("checks", rows, notes, measured, kinds=kinds, **more)


class _Remark(NamedTuple):
    """What a judge's text says of one check of an answer."""

    question: int
    kind: str
    broken: bool
    says: Says


def _remarks(
    judged: Observations, turns: Iterable[CheckedTurn], path: pathlib.Path, left_out: Counter[str], *, loose: bool
) -> list[_Remark]:
    """Return what the judge's texts say of the decided checks of the answers graded."""
    found = {(turn.question_id, turn.turn, turn.model, turn.choice): turn for turn in turns}
    wanted = {
        (*_place(one), None if one.metric in {SCORE, TOTAL} else one.metric, one.source): found[_place(one)]
        for one in judged
        if one.value is not None and _place(one) in found and _same_wording(one.content, found[_place(one)].content)
    }
    texts: dict[Any, str] = {}
    for row in judged_rows(path):
        key = (row.question_id, row.turn, row.models[0], row.source.choice, row.criterion, row.source)
        if key in wanted and row.words and row.words[0].judgment:
            texts[key] = row.words[0].judgment
    places, remarks = {key: at for at, key in enumerate(dict.fromkeys(key[0] for key in texts))}, []
    for key, text in texts.items():
        decided = [(check, check.loose if loose else check.strict) for check in wanted[key].checks]
        limits = [(Limit(check.kind, check.text), check.name, met) for check, met in decided if met is not None]
        known = [own for own in limits if has_words(own[0])]
        language = language_of(text)
        left_out[NO_WORDS_OF_KIND] += len(limits) - len(known)
        left_out[NO_WORDS] += len(known) * (language is None)
        says = said_of([limit for limit, _, _ in known], text, language) if language else []
        remarks += [
            _Remark(places[key[0]], name, not met, told) for (_, name, met), told in zip(known, says, strict=False)
        ]
    return remarks


def _place(one: Observation) -> Place:
    return one.question_id, one.turn, one.model, one.source.choice


def _same_wording(one: str | None, other: str | None) -> bool:
    """Return whether two hashes of a question may be the same; what other tools write has none."""
    return None in {one, other} or one == other


def _said(remarks: Sequence[_Remark], seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Estimate]]:
    """Return how often the texts say what of broken and of kept checks: of all, and of each kind; and the estimates."""
    rows, kinds, measured = [], [], []
    for state in ("broken", "kept"):
        own = [one for one in remarks if one.broken == (state == "broken")]
        for says, named in _SAYS.items():
            share = _share(own, says, seed)
            rows.append({"measure": f"{named}, check {state}", **interval(share), "n": len(own)})
            measured.append(share)
        for kind in sorted({one.kind for one in own}):
            some = [one for one in own if one.kind == kind]
            shares = [flat(named.replace(" ", "_"), _share(some, says, seed)) for says, named in _SAYS.items()]
            kinds.append({"kind": kind, "check": state, "n": len(some), **shares[0], **shares[1], **shares[2]})
    return rows, kinds, measured


def _share(remarks: Sequence[_Remark], says: Says, seed: int) -> Estimate:
    values = [float(one.says == says) for one in remarks]
    return ratio([one.question for one in remarks], values, 1.0, seed=seed, bounds=(0.0, 1.0))


def _countable(source: Found) -> Observations:
    """Return the grades or pairs, of several dimensions the grade of the whole."""
    judged = source.observations
    form = judged.cases[0].source.form
    if form == "dimensions":
        judged = judged.keep(lambda case: case.metric == TOTAL)
    if form == "label" or not judged:
        raise UsageError(f"{source.path} holds no grades and no pairs, so nothing is lost for a broken check")
    return judged
