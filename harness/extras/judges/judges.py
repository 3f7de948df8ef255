"""Which judge to choose: each judge of pairs beside people's votes on the same pairs.

With a, b the shares that two annotations give to an item's first answer, they agree by 1 − |a − b|.
The mode of several is the most frequent one: a tie if there is none, the median of weighed ones.

    human_agreement  each verdict with the mode of the votes; of people, each vote with the others'
    bias             1 − agreement of the mode of the judge's samples with the mode of the votes
    variance         1 − agreement of each sample with the mode of the others
    prefer_longer    decided verdicts for the longer answer, where lengths differ by over 30
                     characters; prefer_lists the same where only one answer has a list
    prefer_first     the share of games that goes to the answer shown first, a tie counting half
    spearman, pearson    of the models' win rates by the judge and by people
    price, seconds   for 1,000 pairs

Votes 1, 1, 0 and 0, 0; a judge says 1, 1 and 0, 1: agreement 3 / 4, bias (0 + 0.5) / 2.

`--compatible` counts and names the columns as alpaca_eval does: the first four votes and samples of
items with four votes, its tie rules, models with over 100 votes.

Source: Dubois et al. 2023 (arXiv:2305.14387), section 4; tatsu-lab/alpaca_eval.
"""

import csv
import hashlib
import io
import math
import pathlib
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness import store
from harness.errors import MissingError, UsageError
from harness.extras.judges.agreement import correlation, ranks
from harness.extras.judges.data import (
    Data,
    Item,
    Verdict,
    interval_columns,
    load,
    mean,
    named,
)
from harness.options import JudgeReport
from harness.reporting import Column, Note, Page, Table
from harness.results.estimate import Estimate, jackknife
from harness.types import QuestionId, content_hash

PEOPLE = ("people", "")
MEASURES = ("human_agreement", "bias", "variance", "prefer_longer", "prefer_lists", "prefer_first")
ALPACA_EVAL: Mapping[str, tuple[str, float]] = {
    "human_agreement": ("Human agreement", 100.0),
    "price": ("Price [$/1000 examples]", 1.0),
    "seconds": ("Time [seconds/1000 examples]", 1.0),
    "spearman": ("Spearman corr.", 1.0),
    "pearson": ("Pearson corr.", 1.0),
    "bias": ("Bias", 100.0),
    "variance": ("Variance", 100.0),
    "prefer_longer": ("Proba. prefer longer", 1.0),
    "prefer_lists": ("Proba. prefer lists", 1.0),
    "prefer_first": ("Proba. prefer 1", 1.0),
    "parsed": ("# parsed", 1.0),
}
"""What alpaca_eval calls each column, and its unit as a multiple of ours."""
SAMPLES = 4
_LIST_ITEM = re.compile(r"^\s*(?:[*•-]|\d+[.)]|[A-Za-z][.)](?=\s))\s*\w", re.MULTILINE)
_TIED = {(0.0, 1.0): 0.0, (0.5, 1.0): 0.5, (0.0, 0.5): 0.0, (0.0, 0.5, 1.0): 1.0}
"""What alpaca_eval takes of values that are as frequent: pandas' sample with seed 123."""

Name = tuple[str, str]
"""A judge and its judge set."""


class Annotation(NamedTuple):
    """One vote, or one sample of a judge, on an item; shares are the first answer's."""

    value: float | None
    to_first_shown: tuple[float, ...] = ()
    """Of each game, the share that went to the answer shown first."""
    seconds: float | None = None
    dollars: float | None = None


Said = dict[Item, list[Annotation]]


def report(options: JudgeReport) -> Page:
    """Return a row for the people and one for each judge, the one that agrees most first."""
    data = load(options)
    said, texts = _annotations(data)
    if options.compatible:
        people = said[PEOPLE]
        kept = {item for item, own in people.items() if len(_values(own)) >= SAMPLES}
        if not kept:
            raise UsageError("no pair has four votes; leave --compatible out")
        said = {
            name: {item: a[:SAMPLES] for item, a in own.items() if item in kept}
            for name, own in said.items()
        }
    rows, rates = [], []
    for name, own in said.items():
        row, by_model = _row(name, own, said[PEOPLE], texts, compatible=options.compatible)
        rows.append(row)
        rates += by_model
    if not any(row["parsed"] for row in rows[1:]):
        raise MissingError(
            "no judge has judged a pair that people voted on; run gen_judgment --votes"
        )
    rows[1:] = sorted(rows[1:], key=lambda row: -(row["human_agreement"] or 0))
    page = Page(
        _advice(said, rows),
        [Table("", _columns(), rows), _rates(rates)],
        notes=_notes(rows),
        title="judges",
        facts={"report": "judges"},
        rows=[_alpaca_row(row) for row in rows] if options.compatible else None,
    )
    if options.table is not None:
        votes = str(sorted((str(item), _values(a)) for item, a in said[PEOPLE].items()))
        digest = hashlib.sha256(votes.encode()).hexdigest()[:16]
        _extend_table(
            options.table, [dict(row) for row in page.all_rows], digest, overwrite=options.overwrite
        )
    return page


def mode(values: Sequence[float], *, compatible: bool = False) -> float:
    """Return the most frequent verdict; a tie if there is none, the median of weighed ones."""
    counts = Counter(values)
    if not counts.keys() <= {0.0, 0.5, 1.0}:
        return statistics.median(values)
    most = max(counts.values())
    often = tuple(sorted(value for value, times in counts.items() if times == most))
    if len(often) == 1:
        return often[0]
    return _TIED[often] if compatible else 0.5


def has_list(text: str) -> bool:
    """Return whether a line of a text is an item of a list."""
    return _LIST_ITEM.search(text) is not None


def _annotations(data: Data) -> tuple[dict[Name, Said], dict[Item, tuple[str, str]]]:
    """Return all annotations of the pairs that people voted on, and the texts of their answers.

    An item's first answer is the one that the first vote on it names first.
    """
    places: dict[tuple[Any, ...], Item] = {}
    said: dict[Name, Said] = {PEOPLE: {}}
    for v in data.votes():
        if len(v.item.models) == 2:
            other = next((m for m in v.item.models if m != v.named_first), v.named_first)
            item = v.item._replace(models=(v.named_first, other), choice=0)
            item = places.setdefault(v.item[:3], item)
            share = _share(v, item)
            shown = (
                () if share is None else (share if item.models[0] == v.named_first else 1 - share,)
            )
            said[PEOPLE].setdefault(item, []).append(Annotation(share, shown))
    if not said[PEOPLE]:
        raise MissingError("there are no votes on pairs; vote in the viewer, or name --votes FILE")
    price = _prices()
    for v in sorted(data.verdicts("pair"), key=lambda v: v.sample):
        judged = places.get(v.item[:3])
        if judged is None or v.voter:
            continue
        details = v.row.details if v.row is not None else []
        seconds = [detail.seconds for detail in details]
        dollars = [price(v.judge, detail) for detail in details]
        to_shown = tuple(game.value if game.first else 1 - game.value for game in v.games)
        said.setdefault((v.judge, v.judge_set), {}).setdefault(judged, []).append(
            Annotation(_share(v, judged), to_shown, _total(seconds), _total(dollars))
        )
    text = data.answers()
    texts = {}
    for item in said[PEOPLE]:
        both = [text(model, item) for model in item.models]
        if both[0] is not None and both[1] is not None:
            texts[item] = (both[0], both[1])
    _add_rules(said, texts, compatible=data.options.compatible)
    return said, texts


def _add_rules(
    said: dict[Name, Said], texts: Mapping[Item, tuple[str, str]], *, compatible: bool
) -> None:
    """Add what three simple rules say: a yardstick for judges."""
    rules: dict[str, Callable[[Item, int], float | None]] = {
        "builtin/longest": lambda item, _: _longest(texts.get(item), compatible=compatible),
        "builtin/first": lambda *_: 1.0,
        "builtin/random": lambda item, at: float(
            int(content_hash(item.question, item.turn, *item.models, at), 16) % 2
        ),
    }
    there = {name for name, _ in said}
    for name, rule in rules.items():
        if name in there:
            continue
        own: Said = {}
        for item in said[PEOPLE]:
            values = [rule(item, at) for at in range(SAMPLES)]
            if None not in values:
                own[item] = [Annotation(value, (value or 0.0,), 0.0, 0.0) for value in values]
        if own:
            said[name, ""] = own


def _longest(texts: tuple[str, str] | None, *, compatible: bool) -> float | None:
    if texts is None:
        return None
    one, other = map(len, texts)
    return 1.0 if one > other else 0.0 if one < other or compatible else 0.5


def _share(v: Verdict, item: Item) -> float | None:
    if not isinstance(v.value, int | float):
        return None
    return v.value if v.item.models[0] == item.models[0] else 1 - v.value


def _values(own: Sequence[Annotation]) -> list[float]:
    return [one.value for one in own if one.value is not None]


def _total(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None


def _row(
    name: Name, own: Said, people: Said, texts: Mapping[Item, tuple[str, str]], *, compatible: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    values = {item: given for item, said in own.items() if (given := _values(said))}
    votes = {item: given for item, said in people.items() if (given := _values(said))}
    gold = {item: mode(given, compatible=compatible) for item, given in votes.items()}
    several = {item: given for item, given in values.items() if len(given) > 1}
    apart = [
        (item, abs(value - mode([*given[:at], *given[at + 1 :]], compatible=compatible)))
        for item, given in several.items()
        for at, value in enumerate(given)
    ]
    known = [item for item in values if item in gold]
    agree = [(item, 1 - abs(value - gold[item])) for item in known for value in values[item]]
    bias = [
        (item, abs(mode(several[item], compatible=compatible) - gold[item]))
        for item in known
        if item in several
    ]
    if name == PEOPLE:
        agree = [(item, 1 - distance) for item, distance in apart]
        bias = bias if compatible else []
    first = [
        (item, share) for item, said in own.items() for a in said for share in a.to_first_shown
    ]
    if compatible:
        first = [(item, value) for item, given in values.items() for value in given]
    longer = list(_preferring(values, texts, _longer, compatible=compatible))
    lists = list(_preferring(values, texts, _with_list, compatible=compatible))
    row: dict[str, Any] = {"judge": name[0], "judge_set": name[1] or None}
    for measure, parts in zip(MEASURES, (agree, bias, apart, longer, lists, first), strict=True):
        estimate = mean(((item.question, value, 1.0) for item, value in parts), share=True)
        row |= named(measure, estimate)
    correlations, rates = _correlations(name, values, votes, compatible=compatible)
    row |= correlations
    every = [a for said in own.values() for a in said]
    row["price"] = _per_thousand([a.dollars for a in every])
    row["seconds"] = _per_thousand([a.seconds for a in every])
    row["parsed"] = sum(map(len, values.values()))
    row["unparsed"] = len(every) - row["parsed"]
    row["samples"] = max(map(len, values.values()), default=0)
    return row, rates


def _per_thousand(spent: Sequence[float | None]) -> float | None:
    known = [one for one in spent if one is not None]
    return 1000 * sum(known) / len(known) if known else None


def _preferring(
    values: Mapping[Item, Sequence[float]],
    texts: Mapping[Item, tuple[str, str]],
    which: Callable[[str, str], int | None],
    *,
    compatible: bool,
) -> Iterator[tuple[Item, float]]:
    """Yield whether the answer that `which` names (0 or 1; None: neither) is preferred."""
    for item, given in values.items():
        wanted = which(*texts[item]) if item in texts else None
        for value in given[:1] if compatible else given:
            if wanted is not None and value != 0.5:
                yield item, float((value < 0.5) == (wanted == 1))


def _longer(one: str, other: str) -> int | None:
    apart = len(one) - len(other)
    return None if abs(apart) <= 30 else int(apart < 0)


def _with_list(one: str, other: str) -> int | None:
    found = has_list(one), has_list(other)
    return None if found[0] == found[1] else int(found[1])


def _correlations(
    name: Name,
    values: Mapping[Item, Sequence[float]],
    votes: Mapping[Item, Sequence[float]],
    *,
    compatible: bool,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the correlations of the models' win rates by this judge and by people, and the rates.

    A model that is in every pair, as a baseline is, has no place in a ranking.
    """
    items = [item for item in values if item in votes]
    often = Counter(model for item in items for model in item.models)
    models = [model for model in sorted(often) if often[model] < len(items)]
    if compatible:
        cast: Counter[str] = Counter()
        for item in items:
            cast.update(dict.fromkeys(item.models, len(votes[item])))
        models = [model for model in models if cast[model] > 100]

    questions = list(dict.fromkeys(item.question for item in items))
    tables = np.zeros((len(questions), 2, 2, len(models)))
    """By question: what the judge, then what people gave each model, and of how many verdicts."""
    for item in items:
        at = questions.index(item.question)
        for side, given in enumerate((values[item], votes[item])):
            shares = (sum(given), len(given) - sum(given))
            for model, share in zip(item.models, shares, strict=True):
                if model in models:
                    tables[at, side, :, models.index(model)] += (share, len(given))

    def rates(mask: Any) -> tuple[Any, Any]:
        sums = np.tensordot(mask.astype(float), tables, axes=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return sums[0, 0] / sums[0, 1], sums[1, 0] / sums[1, 1]

    found: dict[str, Any] = {}
    every = np.ones(len(questions), dtype=bool)
    usable = len(models) >= 3 and (name != PEOPLE or compatible)
    for measure in ("spearman", "pearson"):

        def statistic(mask: Any, measure: str = measure) -> float:
            one, other = (np.round(rate, 12) for rate in rates(mask))
            if np.isnan(one).any() or np.isnan(other).any():
                return math.nan
            if measure == "spearman":
                one, other = ranks(one), ranks(other)
            return correlation(one, other)

        found |= named(measure, jackknife(statistic, every) if usable else mean(()))
    by_judge, by_people = rates(every)
    about = {"judge": name[0], "judge_set": name[1]}
    table = [
        about | {"model": model, "by_judge": one, "by_people": other}
        for model, one, other in zip(models, by_judge.tolist(), by_people.tolist(), strict=True)
        if name != PEOPLE
    ]
    return found, table


def _agreement_by_question(own: Said, people: Said) -> dict[QuestionId, list[float]]:
    found: dict[QuestionId, list[float]] = {}
    for item, said in own.items():
        votes, given = _values(people.get(item, [])), _values(said)
        if votes and given:
            gold = mode(votes)
            agreed = sum(1 - abs(value - gold) for value in given) / len(given)
            found.setdefault(item.question, []).append(agreed)
    return found


def _difference(said: Mapping[Name, Said], one: Name, other: Name) -> Estimate:
    """Return by how much one judge agrees with people more than another, paired by question."""
    first, second = (_agreement_by_question(said[name], said[PEOPLE]) for name in (one, other))
    parts = []
    for question in first.keys() & second.keys():
        gap = statistics.fmean(first[question]) - statistics.fmean(second[question])
        parts.append((question, gap, 1.0))
    return mean(parts)


def _advice(said: Mapping[Name, Said], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return which judge to choose."""
    people, *judges = rows
    real = [row for row in judges if not str(row["judge"]).startswith("builtin/")]
    among = people["human_agreement"]
    beside = f" People agree with each other {100 * among:.0f}%." if among is not None else ""
    if not real:
        return (
            f"Only simple rules have judged these pairs; judge them with a model to choose.{beside}"
        )
    best = real[0]
    text = f"{_name(best)} agrees with people {_percent(best)} of the time"
    if len(real) > 1:
        second = real[1]
        gap = _difference(said, _key(best), _key(second))
        sure = gap.p is not None and gap.p < 0.05
        text += (
            f", more than {_name(second)} ({_percent(second)})"
            if sure
            else f"; {_name(second)} ({_percent(second)}) is too close to call"
        )
    rule = max(
        (r for r in judges if r not in real), key=lambda r: r["human_agreement"] or 0, default=None
    )
    if rule is not None:
        gap = _difference(said, _key(best), _key(rule))
        if gap.p is None or gap.p >= 0.05 or gap.value <= 0:
            text += f". It does not agree more than the rule {_name(rule)}: do not rely on it"
    return f"{text}.{beside}"


def _key(row: Mapping[str, Any]) -> Name:
    return row["judge"], row["judge_set"] or ""


def _name(row: Mapping[str, Any]) -> str:
    plain = (row["judge_set"] or "").split(" ")[0] in ("", "unstated", "mt_bench")
    return str(row["judge"]) if plain else f"{row['judge']} ({row['judge_set']})"


def _percent(row: Mapping[str, Any]) -> str:
    low, high = row["human_agreement_low"], row["human_agreement_high"]
    ends = "" if low is None else f" ({100 * low:.0f} to {100 * high:.0f})"
    return f"{100 * row['human_agreement']:.0f}%{ends}"


def _notes(rows: Sequence[Mapping[str, Any]]) -> list[Note]:
    if all(row["samples"] < 2 for row in rows[1:] if not row["judge"].startswith("builtin/")):
        return [Note("Bias and variance need two samples or more", "gen_judgment --samples 4")]
    return []


def _columns() -> list[Column]:
    columns = [Column("judge"), Column("judge_set", optional=True)]
    columns += interval_columns("human_agreement", "agrees with people %", "%")
    for name, title in (
        ("prefer_longer", "longer %"),
        ("prefer_first", "first %"),
        ("prefer_lists", "lists %"),
        ("bias", "bias %"),
        ("variance", "variance %"),
    ):
        columns.append(Column(name, title, format="%", optional=True))
    columns += [Column(name, format=".2", optional=True) for name in ("spearman", "pearson")]
    columns += [
        Column("price", "$ / 1000", format=".2"),
        Column("seconds", "s / 1000", format=".0", optional=True),
    ]
    return [
        *columns,
        Column("parsed", "verdicts", optional=True),
        Column("unparsed", "none", optional=True),
    ]


def _rates(rows: Sequence[dict[str, Any]]) -> Table:
    columns = [Column("judge"), Column("judge_set"), Column("model")]
    columns += [Column("by_judge", format=".2"), Column("by_people", format=".2")]
    return Table("win rates", columns, rows, "win_rates", only="json")


def _alpaca_row(row: Mapping[str, Any]) -> dict[str, Any]:
    renamed: dict[str, Any] = {"judge": row["judge"], "judge_set": row["judge_set"]}
    for name, (theirs, unit) in ALPACA_EVAL.items():
        for end in ("", "_low", "_high"):
            if f"{name}{end}" in row:
                value = row[f"{name}{end}"]
                renamed[f"{theirs}{end}"] = None if value is None else unit * value
    return renamed


def _extend_table(
    path: pathlib.Path, rows: list[dict[str, Any]], votes: str, *, overwrite: bool
) -> None:
    """Add judges to a CSV file; those that it has are kept, or replaced with `overwrite`.

    Raises:
        UsageError: its judges were measured on other votes.
    """
    there: list[dict[str, Any]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            there = list(csv.DictReader(file))
        if {row.get("votes") for row in there} - {votes}:
            raise UsageError(f"{path} has judges measured on other votes; name another --table")
    table = {(row["judge"], row["judge_set"] or ""): row for row in there}
    for row in rows:
        key = (row["judge"], row["judge_set"] or "")
        if overwrite or key not in table:
            table[key] = row | {"votes": votes}
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0], "votes"], extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows(table.values())
    store.write_file(path, text.getvalue())


def _prices() -> Callable[[str, Any], float | None]:
    """Return the dollars of a judge's reply at today's prices, where they are known."""
    return lambda judge, detail: 0.0 if judge.startswith("builtin/") else None
