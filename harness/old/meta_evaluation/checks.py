"""Judgments and the checks of the judged answers -> does the judge notice what a program can check? Needs no votes.

    grade lost            - sum of (b - mean b)(g - mean g) / sum of (b - mean b)^2      over answers to the same turn
    at equal strength     the same, after each model's means of b and of g are subtracted too
    top grades            answers with a broken check (or none) that have a top grade / answers with one (or none)
    winner breaks more    decided pairs that the answer with more broken checks won / decided pairs that differ in b

b is how many of its turn's checks an answer breaks, g its grade. Answers are compared with answers to the same turn
only, so that a hard question does not look like a strict judge. Models that break more checks may also be worse in
what no check measures: grade lost includes both, grade lost at equal strength only the effect of the checks. For a kind
of check, b counts only that kind, over the turns that have it; an answer that breaks two kinds counts in both.

One turn, three answers that break 0, 1 and 2 checks and have the grades 9, 8 and 4: (-1)(2) + (0)(1) + (1)(-3) = -5
over 1 + 0 + 1 = 2, so 2.5 points are lost for each broken check.

A top grade is in the upper ninth of the scale, unless another is named: 9 and 10 of 1 to 10, 5 of 1 to 5. A tie, or a
pair whose winner changes with the order, is not a decided pair; ties are counted separately. Checks that are not
decided (their code was not run) count as neither kept nor broken. Answers without a grade or without decided checks,
pairs without a verdict in both games, and checks of another wording of the question are left out and counted.

    text says kept        broken (or kept) checks that the judge's text says are kept / all of them; so for broken

Only for grades: in a text about two answers no rule knows which one a sentence is about. It is a lexical measure with
known error rates (`checks_said.py`, docs/checks.md).

Intervals resample questions (see `bootstrap`); the subtracted means are fixed. Simulated with weaker
models breaking more, a true loss of 1 point and 2 to 6 models, 300 benchmarks each: at equal strength the mean estimate
is 0.98 to 1.00, where grade lost is 1.22 to 1.24; the 95% interval contains the true loss in 93-94% of benchmarks of
30 or 80 questions, 96% of 12.

Source: the fixed-effects ("within") estimator, e.g. Wooldridge, Econometric Analysis of Cross Section and Panel Data
(2010), section 10.5; Frisch and Waugh 1933 for subtracting the models' means first.
"""

import pathlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np

from harness.old.bench import Bench, load_bench
from harness.old.errors import MissingError, UsageError
from harness.old.judgments.case import SCORE, TOTAL, winner
from harness.old.judgments.observations import Bools, Observations, numbered
from harness.old.judgments.row import judged_rows
from harness.old.meta_evaluation.checks_said import Limit, Says, has_words, language_of, said_of
from harness.old.meta_evaluation.report import Report, asked, grade_from, left_out, ratio
from harness.old.names import counted
from harness.old.records import Mode, Observation, QuestionId, Scale
from harness.old.results.matrix import Floats, Ints
from harness.old.results.measured import CheckedTurn, CheckFound, read_checks
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.written import takes_only

Place: TypeAlias = tuple[QuestionId, int, str, str]
"""Question, turn, model and choice."""
Broken: TypeAlias = Mapping[str, Sequence[bool]]
"""For each kind of check that an answer's turn has, whether each of those that are decided is broken."""
NO_GRADE, NO_VERDICT = "without a grade", "without a verdict in both games"
_SAYS: Mapping[Says, str] = {"kept": "text says kept", "broken": "text says broken", None: "text is silent"}
_NONE = 1e-9
"""Below this, what is left of a number is rounding."""


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
    broken: Sequence[Broken]
    """Of a pair that of the row's first answer."""
    other: Sequence[Broken]
    """Of a pair that of the second answer."""
    value: Floats
    """The grade, or of a pair 1, 0.5 or 0 for its first answer."""
    seed: int

    @property
    def kinds(self) -> list[str]:
        """The kinds of checks that there are, by name."""
        return sorted({kind for own in self.broken for kind in own})

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


def number_broken(broken: Sequence[Broken], kind: str | None = None) -> Floats:
    """Return how many checks of a kind (None: of all) each answer breaks; NaN where its turn has none."""
    numbers = [
        sum(map(sum, own.values())) if kind is None else sum(own[kind]) if kind in own else np.nan for own in broken
    ]
    return np.array(numbers, dtype=np.float64)


def checked_bench(query: Query, path: pathlib.Path) -> Bench:
    """Return the benchmark whose answers were checked: for a file given without a name, the one that contains it."""
    folder = path.resolve().parent.parent
    if query.files and query.bench_name is None and (folder / "model_metric").is_dir():
        return load_bench(folder.name, folder.parent)
    return query.bench


def _decided(turn: CheckedTurn, *, loose: bool) -> list[tuple[CheckFound, bool]]:
    """Return the checks of a turn that are decided, and whether each is met."""
    found = [(check, check.loose if loose else check.strict) for check in turn.checks]
    return [(check, met) for check, met in found if met is not None]


def _items(
    judged: Observations, turns: Mapping[Place, CheckedTurn], skipped: Counter[str], seed: int, *, loose: bool
) -> Items:
    """Return what was judged and is checked."""
    kept: list[tuple[Observation, float, list[Broken]]] = []
    for one in judged:
        value = winner(one.games) if one.opponent else one.value
        if value is None:
            skipped[NO_VERDICT if one.opponent else NO_GRADE] += 1
            continue
        places = [_place(one, model) for model in (one.model, one.opponent) if model is not None]
        own = [turns[place] for place in places if place in turns]
        broken: list[dict[str, list[bool]]] = [defaultdict(list) for _ in own]
        for turn, by_kind in zip(own, broken, strict=True):
            for check, met in _decided(turn, loose=loose):
                by_kind[check.name].append(not met)
        if len(own) < len(places) or not all(broken):
            skipped["without decided checks"] += 1
        elif not all(_same_wording(one.content, turn.content) for turn in own):
            skipped["whose checks are of another wording of the question (run auto_checks again)"] += 1
        else:
            kept.append((one, value, [*broken]))
    questions, question = numbered(one.question_id for one, _, _ in kept)
    return Items(
        question=np.array(question, dtype=np.int64),
        questions=len(questions),
        cell=np.array(numbered((one.question_id, one.turn) for one, _, _ in kept)[1], dtype=np.int64),
        model=np.array(numbered(one.model for one, _, _ in kept)[1], dtype=np.int64),
        broken=[own[0] for _, _, own in kept],
        other=[own[-1] for _, _, own in kept],
        value=np.array([value for _, value, _ in kept], dtype=np.float64),
        seed=seed,
    )


def _graded(items: Items, top: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of all checks and those of each kind."""
    broken, high = number_broken(items.broken), items.value >= top
    n, some, none = items.varying(broken), broken > 0, broken == 0
    rows = [
        {"measure": "grade lost", "value": items.lost(broken), "n": n},
        {"measure": "grade lost at equal strength", "value": items.lost(broken, with_models=True), "n": n},
        {"measure": "top grades, a check broken", "value": items.share(high, some), "n": int(some.sum())},
        {"measure": "top grades, none broken", "value": items.share(high, none), "n": int(none.sum())},
    ]
    kinds = []
    for kind in items.kinds:
        own = number_broken(items.broken, kind)
        checks = sum(len(one.get(kind, ())) for one in items.broken)
        counts = {"kind": kind, "checks": checks, "broken": int(np.nansum(own))}
        lost = {"grade_lost": items.lost(own), "n": items.varying(own)}
        kinds.append(counts | lost | {"top_grades": items.share(high, own > 0)})
    return rows, kinds


def _paired(items: Items, kind: str | None, measure: str) -> dict[str, Any]:
    """Return how often the winner breaks more, among decided pairs that differ, and how many these and ties are."""
    more = number_broken(items.broken, kind) - number_broken(items.other, kind)
    differ = np.abs(more) > 0
    decided = differ & (items.value != 0.5)
    won = (items.value > 0.5) == (more > 0)
    counts = {"n": int(decided.sum()), "ties": int((differ & ~decided).sum())}
    return {measure: items.share(won, decided), **counts}


@takes_only(Words.__annotations__)
def judge_checks(
    mode: Mode | None = None, *, loose: bool = False, top: float | None = None, **words: Unpack[Words]
) -> Report:
    """Return whether the judge notices broken checks: in grades, or in who wins; `kinds` has each kind of check.

    Checks are those that `auto_checks` wrote for the benchmark named.

    Args:
        mode: grades or pairs (default: what the file holds; of the benchmark's files, grades).
        loose: count a check as broken only if it fails by the loose reading too.
        top: the lowest grade that is a top grade (default: the start of the upper ninth of the scale).
        words: see `Words`.

    Raises:
        MissingError: there are no judgments, no checks, or none of the same answers.
        UsageError: the judgments are labels, or not comparable.
    """
    given = asked(Query.of(mode, **words))
    query, source = given.query, given.sources[0]
    if given.judged.cases[0].source.form == "label":
        raise UsageError(f"{source.path} contains no grades and no pairs to compare with checks")
    judged = given.verdicts
    skipped: Counter[str] = Counter()
    turns = {turn[:4]: turn for turn in read_checks(checked_bench(query, source.path))}
    items = _items(judged, turns, skipped, query.seed, loose=loose)
    if not len(items.value):
        missing = "; ".join(left_out(skipped, "judgment"))
        raise MissingError(f"no judgment of {source.path} is about an answer with decided checks: {missing}")
    how = "by the loose reading" if loose else "by the strict reading"
    notes = [f"a check is broken if the reply fails it {how}; answers to the same turn are compared"]
    more = {}
    if judged.paired:
        rows = [{"measure": "winner breaks more", **_paired(items, None, "value")}]
        kinds = [{"kind": kind, **_paired(items, kind, "winner_breaks_more")} for kind in items.kinds]
        notes.append("ties, or winners that change with the order, are counted separately")
        notes += ["--top is about grades and has no effect here"] if top is not None else []
    else:
        least = grade_from(judged.scale(), top, 8 / 9, "top grade with --top")
        rows, kinds = _graded(items, least)
        unread: Counter[str] = Counter()
        if remarks := _remarks(judged, turns, source.path, unread, loose=loose):
            said, more["said"] = _said(remarks, query.seed)
            rows += said
            notes.append("what the text says is read from keywords, with the error rates in docs/checks.md")
        notes += [f"{counted(n, 'check')} {why}: not looked for in the text" for why, n in unread.items() if n]
        notes.append(f"grade lost: points for each broken check; a top grade is {least:g} or more")
        notes.append(
            "models that break more may be worse in other things too; at equal strength model means are subtracted"
        )
    notes += left_out(skipped, "pair" if judged.paired else "answer")
    return given.report("checks", rows, notes, {"kinds": kinds} | more, lost=False)


class _Remark(NamedTuple):
    """What a judge's text says about one check of an answer."""

    question: int
    kind: str
    broken: bool
    says: Says


def _remarks(
    judged: Observations, turns: Mapping[Place, CheckedTurn], path: pathlib.Path, unread: Counter[str], *, loose: bool
) -> list[_Remark]:
    """Return what the judge's texts say about the decided checks of the graded answers."""
    wanted = {
        (*place, None if one.metric in {SCORE, TOTAL} else one.metric, one.source): turns[place]
        for one in judged
        for place in [_place(one, one.model)]
        if one.value is not None and place in turns and _same_wording(one.content, turns[place].content)
    }
    texts: dict[Any, str] = {}
    for row in judged_rows(path):
        key = (row.question_id, row.turn, row.models[0], row.source.choice, row.criterion, row.source)
        if key in wanted and row.words and row.words[0].judgment:
            texts[key] = row.words[0].judgment
    places = numbered(key[0] for key in texts)[1]
    remarks: list[_Remark] = []
    for place, (key, text) in zip(places, texts.items(), strict=True):
        decided = [
            (Limit(check.kind, check.text), check.name, met) for check, met in _decided(wanted[key], loose=loose)
        ]
        known = [own for own in decided if has_words(own[0])]
        language = language_of(text)
        unread["of a kind without word lists"] += len(decided) - len(known)
        unread["of answers judged in a language without word lists"] += len(known) * (language is None)
        says = said_of([limit for limit, _, _ in known], text, language) if language else []
        remarks += [_Remark(place, name, not met, told) for (_, name, met), told in zip(known, says, strict=False)]
    return remarks


def _place(one: Observation, model: str) -> Place:
    return one.question_id, one.turn, model, one.source.choice


def _same_wording(one: str | None, other: str | None) -> bool:
    """Return whether two hashes of a question may be the same; what other tools write has none."""
    return None in {one, other} or one == other


def _said(remarks: Iterable[_Remark], seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return how often the texts say kept, broken or nothing about broken and kept checks: all, and each kind."""
    rows, kinds = [], []
    for state in ("broken", "kept"):
        own = [one for one in remarks if one.broken == (state == "broken")]
        for says, named in _SAYS.items():
            rows.append({"measure": f"{named}, check {state}", "value": _share(own, says, seed), "n": len(own)})
        for kind in sorted({one.kind for one in own}):
            some = [one for one in own if one.kind == kind]
            shares = {named.replace(" ", "_"): _share(some, says, seed) for says, named in _SAYS.items()}
            kinds.append({"kind": kind, "check": state, "n": len(some), **shares})
    return rows, kinds


def _share(remarks: Sequence[_Remark], says: Says, seed: int) -> Estimate:
    values = [float(one.says == says) for one in remarks]
    return ratio([one.question for one in remarks], values, 1.0, seed=seed, bounds=(0.0, 1.0))
