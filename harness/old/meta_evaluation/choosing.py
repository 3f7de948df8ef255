"""The report on judges: the table of `judges`, what each column means, which judge to choose, and a table that grows.

judge_judges(["human.jsonl"])                         all judges of pairs that the benchmark has
judge_judges(compatible=True, table="judges.csv")     AlpacaEval's way of counting, names and units
"""

import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from harness.old.errors import DataError, UsageError
from harness.old.jsonl import need_regular, put_table
from harness.old.judging.builtin import RULES, notices
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.annotations import PEOPLE, Items, Judge, judgment_files_of, read_items
from harness.old.meta_evaluation.judges import (
    CORRELATIONS,
    MEASURES,
    SAMPLES,
    JudgeRow,
    judge_rows,
    values_of,
    with_rules,
)
from harness.old.meta_evaluation.report import Report, columns, interval_notes, last_if_none, left_out, ratio
from harness.old.meta_evaluation.votes import TIE, Item, mode, vote_files
from harness.old.names import counted, csv_cell
from harness.old.records import content_hash
from harness.old.results.about import about
from harness.old.results.answers import home_of
from harness.old.results.common import EQUAL, few
from harness.old.results.cost import Prices
from harness.old.results.query import Query, Words
from harness.old.results.statistics.bootstrap import LEAST, Estimate
from harness.old.written import read_table, takes_only

DEFINITIONS: Mapping[str, str] = {
    "human_agreement": "1 - |difference| between each verdict and the majority of the votes on the pair, a tie "
    "counting half; for people, between each vote and the majority of the others",
    "bias": "the disagreement that remains between the majority of the judge's samples and the majority of the votes",
    "variance": "how far one sample is from the judge's other samples",
    "prefer_longer": "how often the longer answer is preferred, ties left out, in pairs over 30 characters apart",
    "prefer_lists": "how often the answer with a list is preferred, in pairs in which only one has a list",
    "prefer_first": "how often the answer shown first is preferred, in all games, a tie counting half",
    "spearman": "rank correlation of the models' win rates with the judge and with people; few votes make it smaller",
    "pearson": "Pearson correlation of the same win rates",
    "price": "dollars for 1,000 pairs at today's prices",
    "seconds": "seconds for 1,000 pairs, one after another",
    "parsed": "verdicts that could be parsed",
}
"""The meaning of each column."""
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
"""What AlpacaEval calls each column, and its unit as a multiple of ours."""
_KEY = ("judge", "judge_set")
_ENDS = ("", "_low", "_high")


@takes_only(Words.__annotations__)
def judge_judges(
    votes: Sequence[pathlib.Path | str] = (),
    *,
    compatible: bool = False,
    table: pathlib.Path | str | None = None,
    overwrite: bool = False,
    models_file: pathlib.Path | str | None = None,
    **words: Unpack[Words],
) -> Report:
    """Return how good each judge of pairs is compared with people's votes, and the models' win rates with it
    (`win_rates`).

    `votes` are files of votes (default: the benchmark's `human_judgment/`); `input_file` are files of judgments
    (default: all pairs in `model_judgment/`, of every judge, judge set and sample). `compatible` counts as AlpacaEval
    does and names the columns as it does. `table` is a CSV file: new judges are added to it,
    `overwrite` replaces those that it has, and its rows are the report's. See `Words` for the other keywords.

    Raises:
        UsageError: a file of votes contains no votes on pairs, or the table was made from other votes.
        MissingError: there are no votes.
        DataError: a line is invalid.
    """
    query = Query.of("pairwise-all", **words)
    paths = vote_files(query, votes)
    bench = home_of(query, (query.files or tuple(paths))[0])
    judged = judgment_files_of(query, bench)
    found = replace(read_items(query, paths, judged, Prices(models_file), bench), compatible=compatible)
    subject = about(query, read_judgments(paths[0]).observations, paths[0])
    voted = len(found.people)
    found = with_rules(found)
    measured = judge_rows(found)
    if not found.people:
        raise UsageError(
            f"AlpacaEval's way of counting needs pairs with {SAMPLES} votes, and none of {voted} pairs has so many; "
            "leave --compatible out"
        )
    if not any(row.parsed for row in measured[1:]):
        raise UsageError("no judge has judged a pair that people voted on, and its answers are missing")
    apart = _apart(_judged(found))
    measured[1:] = sorted(
        measured[1:],
        key=lambda row: (row.judge in apart, -last_if_none(row.measures["human_agreement"].value), row.judge),
    )
    notes = [f"votes: {', '.join(path.name for path in paths)}"]
    notes += _notes(found, measured, bench.folder / "model_answer")
    rows = [_columns(row, compatible=compatible) for row in measured]
    if table is not None:
        said = ((item, [one.value for one in own]) for item, own in found.people.items())
        votes_hash = content_hash(sorted(map(str, said)))
        rows = _grown(pathlib.Path(table), rows, votes_hash, notes, overwrite=overwrite)
    rates = [
        {**dict(zip(_KEY, row.judge, strict=True)), "model": model, "by_judge": own, "by_people": theirs}
        for row in measured[1:]
        for model, (own, theirs) in row.win_rates.items()
    ]
    judges = ", ".join(dict.fromkeys(row.judge.name for row in measured[1:]))
    return Report("judges", judges, subject.bench or bench.name, rows, {"win_rates": rates}, notes, (*paths, *judged))


def _columns(row: JudgeRow, *, compatible: bool) -> dict[str, Any]:
    """Return a row by column name."""
    numbers = columns({name: row.measures[name] for name in (*MEASURES, *CORRELATIONS)})
    numbers |= {"price": row.price, "seconds": row.seconds, "parsed": row.parsed}
    shown: dict[str, Any] = {"judge": row.judge.name, "judge_set": row.judge.judge_set or None}
    if not compatible:
        return shown | numbers | {"unparsed": row.unparsed, "samples": row.samples}
    for name, (theirs, unit) in ALPACA_EVAL.items():
        for end in _ENDS:
            if f"{name}{end}" in numbers:
                value = numbers[f"{name}{end}"]
                shown[f"{theirs}{end}"] = None if value is None else unit * value
    return shown


def _notes(found: Items, rows: Sequence[JudgeRow], answers: pathlib.Path) -> list[str]:
    """Return which judge to choose, what a reader must know, and what each column is."""
    votes = sum(len(own) for own in found.people.values())
    pairs, questions = counted(len(found.people), "pair"), counted(len(found.questions), "question")
    notes = [f"measured on {pairs} of answers to {questions}, with {counted(votes, 'vote')}"]
    notes += [f"advice: {line}" for line in advice(found, rows)]
    notes += _unequal(_judged(found))
    if found.compatible:
        notes.append(
            "counted as AlpacaEval 0.6.6 does: the first four votes and samples of pairs with four votes, its tie "
            "rules; agreement, bias and variance in per cent"
        )
    skipped = {
        "of pairs that nobody voted on": found.elsewhere,
        "of questions whose wording has changed": found.reworded,
    }
    notes += [*found.replaced, *left_out(skipped, "judgment")]
    if found.absent:
        notes.append(f"not shown, since no judgment of theirs counts: {', '.join(found.absent)}")
    if max((len(own) for own in found.people.values()), default=0) == 1:
        notes.append("no pair has votes of two people: how far people agree with each other is unknown")
    if lacking := len(found.people) - sum(item in found.texts for item in found.people):
        notes.append(f"{lacking} pairs without both answers in {answers}: their lengths and lists are unknown")
    if all(row.samples < 2 for row in rows[1:] if row.judge.name not in RULES):
        notes.append("bias and variance need two samples of a judge or more: gen_judgment --samples 4")
    notes += notices(row.judge.name for row in rows)
    notes += [f"{name}: {meaning}" for name, meaning in DEFINITIONS.items()]
    return notes + interval_notes(e for row in rows for e in row.measures.values())


def advice(found: Items, rows: Sequence[JudgeRow]) -> list[str]:
    """Return which judge to choose, and what to mind, a line each; differences are paired by question."""
    people, *judges = rows
    if len(found.questions) < LEAST:
        there = counted(len(found.questions), "question")
        return [f"votes on {there} are too few to choose a judge by; vote on more"]
    apart = _apart(_judged(found))
    real = [row for row in judges if row.judge.name not in RULES and row.measures["human_agreement"].value is not None]
    real = [row for row in real if row.judge not in apart]
    if not real:
        return ["judge the same pairs with one or more chat models (gen_judgment), then run this again"]
    best, most = real[0], " most" if len(real) > 1 else ""
    lines = [f"{_named(best)} agrees with people{most}, {_share(best.measures['human_agreement'])}"]
    if most and _not_above(difference(found, best.judge, real[1].judge)):
        lines[0] += f", but not significantly more than {_named(real[1])}"
    if (among := people.measures["human_agreement"]).value is not None:
        lines[0] += f"; people agree with each other {_share(among)}"
    modes = [mode(values, compatible=found.compatible) for own in found.people.values() if (values := values_of(own))]
    if 2 * (undecided := modes.count(TIE)) >= len(modes):
        lines.append(
            f"of {len(modes)} pairs {undecided} have no winner by the votes, which are ties or contradict each other: "
            "they say little about which judge is right"
        )
    for row in sorted((row for row in real if row.price is not None), key=lambda row: row.price or 0.0):
        if best.price is None or (row.price or 0.0) >= best.price:
            break
        if _not_above(difference(found, best.judge, row.judge)):
            lines.append(
                f"{_named(row)} costs ${row.price:.2f} for 1,000 where that costs ${best.price:.2f}, and does not "
                f"agree significantly less ({_share(row.measures['human_agreement'])})"
            )
            break
    baselines = [row for row in judges if row.judge.name in RULES]
    for row in real:
        above = (rule for rule in baselines if _not_above(difference(found, row.judge, rule.judge)))
        if rule := next(above, None):
            lines.append(
                f"{_named(row)} does not agree significantly more than '{rule.judge.name}' does: do not rely on it"
            )
        lines += _habits(row, people, _to_place(found, row.judge))
    if len(found.questions) < 100:
        few = counted(len(found.questions), "question")
        lines.append(f"{few}: only large differences between judges can be detected; vote on more")
    return lines


def _judged(found: Items) -> dict[Judge, set[Item]]:
    """Return for each judge the items on which it and people have a verdict."""
    voted = {item for item, own in found.people.items() if values_of(own)}
    return {
        judge: {item for item, own in said.items() if item in voted and values_of(own)}
        for judge, said in found.said.items()
        if judge != PEOPLE
    }


def _apart(judged: Mapping[Judge, set[Item]]) -> dict[Judge, int]:
    """Return the judges that are compared with no other, having judged too few of the pairs, and how many they have.

    Rules, which say something of every pair, are no measure of how many can be judged.
    """
    most = _most(judged)
    return {judge: len(own) for judge, own in judged.items() if few(len(own), most)}


def _most(judged: Mapping[Judge, set[Item]]) -> int:
    """Return the pairs of the judge that has the most of them; of rules only where there is no other judge."""
    real = [len(own) for judge, own in judged.items() if judge.name not in RULES]
    return max(real, default=0) or max(map(len, judged.values()), default=0)


def _unequal(judged: Mapping[Judge, set[Item]]) -> list[str]:
    """Return what a reader must know of judges that have not judged the same pairs."""
    apart = _apart(judged)
    names = ", ".join(f"{judge.name} ({count} of {counted(_most(judged), 'pair')})" for judge, count in apart.items())
    notes = [f"verdicts on too few of the pairs to be compared, and last: {names}"] if apart else []
    kept = [own for judge, own in judged.items() if judge not in apart]
    most, common = max(map(len, kept)), set.intersection(*kept)
    if len(common) < EQUAL * most:
        compared = f" {len(judged) - len(apart)} that are compared" if apart else ""
        notes.append(
            f"judges are measured on different pairs: {len(common)} of {most} are common to all{compared}; the columns "
            "are over each judge's own pairs, the advice compares two judges on those that both have"
        )
    return notes


def _habits(row: JudgeRow, people: JudgeRow, place: Estimate) -> list[str]:
    """Return the judge's preferences beyond those of people; `place` is its preference for the answer shown first."""
    lines = []
    own, theirs = row.measures["prefer_longer"], people.measures["prefer_longer"].value
    if place.low is not None and place.high is not None and not place.low <= 0 <= place.high:
        where = "first" if place.low > 0 else "second"
        lines.append(
            f"{_named(row)} prefers the answer shown {where} more often than the answers deserve "
            f"(by {abs(place.value or 0):.3f}): judge both orders"
        )
    if own.low is not None and theirs is not None and own.low > theirs:
        lines.append(
            f"{_named(row)} prefers the longer answer more often ({_share(own)}) than people do ({theirs:.3f}): "
            "look at win rates at equal length (judge_report length)"
        )
    return lines


def _agreements(found: Items, judge: Judge) -> dict[Item, float]:
    """Return the mean agreement of a judge's annotations with the people on each item."""
    agreed = {}
    for item, own in found.said[judge].items():
        votes, given = values_of(found.people[item]), values_of(own)
        if votes and given:
            gold = mode(votes, compatible=found.compatible)
            agreed[item] = sum(1 - abs(value - gold) for value in given) / len(given)
    return agreed


def difference(found: Items, one: Judge, other: Judge) -> Estimate:
    """Return by how much one judge agrees with people more than another, on the items that both judged."""
    agreed, others = _agreements(found, one), _agreements(found, other)
    return _mean({item: agreed[item] - others[item] for item in agreed if item in others}, found)


def _to_place(found: Items, judge: Judge) -> Estimate:
    """Return by how much more a judge gives to the answer that it sees first than people give to that answer."""
    gained = {}
    for item, own in found.said[judge].items():
        votes = values_of(found.people[item])
        games = [game for one in own for game in one.games]
        if votes and games:
            theirs = sum(votes) / len(votes)
            gained[item] = sum(g.to_shown - (theirs if g.in_order else 1 - theirs) for g in games) / len(games)
    return _mean(gained, found)


def _mean(apart: Mapping[Item, float], found: Items) -> Estimate:
    places = [found.questions[item.question_id] for item in apart]
    values = list(apart.values())
    return ratio(places, values, 1.0, len(found.questions), seed=found.seed, bounds=(-1.0, 1.0))


def _not_above(difference: Estimate) -> bool:
    """Return whether the questions do not show that the one is better."""
    shown = difference.value if difference.low is None else difference.low
    return shown is not None and shown <= 0


def _named(row: JudgeRow) -> str:
    return f"{row.judge.name} ({row.judge.judge_set})" if row.judge.judge_set else row.judge.name


def _share(estimate: Estimate) -> str:
    ends = "" if estimate.low is None or estimate.high is None else f" ({estimate.low:.3f} to {estimate.high:.3f})"
    return f"{estimate.value:.3f}{ends}"


def _grown(
    path: pathlib.Path, rows: list[dict[str, Any]], votes: str, notes: list[str], *, overwrite: bool
) -> list[dict[str, Any]]:
    """Add these rows to the table in a file, write the file again, and return all rows.

    A judge that the file already has is kept, unless it is overwritten.
    """
    need_regular(path)
    there = _table(path, list(rows[0])) if path.exists() else []
    rows = [{name: csv_cell(value) for name, value in row.items()} for row in rows]
    others = {str(row["votes"]) for row in there if row.get("votes")} - {votes}
    if others:
        raise UsageError(f"{path} contains judges measured on other votes; name another file with --table")
    named = {tuple(row.get(name) for name in _KEY): row for row in there}
    kept = []
    for row in rows:
        key = tuple(row[name] for name in _KEY)
        if key in named and not overwrite:
            kept.append(str(row["judge"]))
        else:
            named[key] = row | {"votes": votes}
    whole = list(named.values())
    names = list(dict.fromkeys(name for row in whole for name in row))
    put_table(path, names, whole)
    if kept:
        notes.append(f"{path} had {', '.join(dict.fromkeys(kept))} already; they are kept (--overwrite replaces them)")
    return [{name: value for name, value in row.items() if name != "votes"} for row in whole]


def _table(path: pathlib.Path, wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a table in a file; AlpacaEval's own have no name over the column of judges."""
    names, given = read_table(path)
    if wanted[2] not in names:
        made = "with" if "Human agreement" in names else "without"
        why = f"has other columns: it was made {made} --compatible, or is not a table of judges"
        raise UsageError(f"{path} {why}; name another file with --table")
    rows = []
    for line, cells in given:
        row = dict(zip(names, cells, strict=True))
        judge = row.pop("", None) or row.get("judge")
        if not judge:
            raise DataError("names no judge", path=path, line=line)
        values = {name: _cell(text) for name, text in row.items() if name not in _KEY}
        rows.append({"judge": judge, "judge_set": row.get("judge_set") or None} | values)
    return rows


def _cell(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text or None
