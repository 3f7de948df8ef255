"""Does a judge favour the models of its own family?

    difference = (own by the judge − own by others) − (rest by the judge − rest by others)

"own" are answers of models of the judge's family, "rest" all others, each item counted where the
judge and at least one judge of another family gave a verdict; "others" is the mean of these. In
pairs an item counts if one of the two models is of the family: the share that goes to it, by the
judge less by others. It cannot tell a judge that favours its family from one that sees better what
the family is good at. Source: Panickssery et al. 2024 (arXiv:2404.13076).
"""

import re
from collections.abc import Mapping
from typing import Any

from harness.errors import UsageError
from harness.extras.judges.data import (
    Item,
    interval_columns,
    load,
    mean,
    named,
    words,
)
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table
from harness.results.estimate import Estimate
from harness.types import split_variant


def report(options: JudgeReport) -> Page:
    """Return for each judge how its own family fares under it and under the other judges."""
    known = _named_families(options)
    values: dict[str, dict[Item, float]] = {}
    for v in load(options).verdicts():
        if isinstance(v.value, int | float) and not v.voter:
            values.setdefault(v.judge, {})[v.item] = v.value
    if len(values) < 2:
        raise UsageError("it takes judges of at least two families on the same answers")
    rows, sentences = [], []
    for judge, own in sorted(values.items()):
        row, gap = _row(judge, own, values, known)
        rows.append(row)
        if gap is not None and gap.interval is not None:
            verb = "favours" if gap.value > 0 else "is stricter with"
            sure = gap.p is not None and gap.p < 0.05
            size = gap.scaled(1 if gap.value > 0 else -1)
            by = words(size, percent=False, places=2)
            chance = "" if sure else ", which chance explains"
            sentences.append(f"{judge} {verb} its own family ({row['family']}) by {by}{chance}.")
    columns = [Column("judge"), Column("family"), Column("own", "own models", optional=True)]
    for name in ("own_by_judge", "own_by_others", "rest_by_judge", "rest_by_others"):
        columns.append(Column(name, format=".2", optional=True))
    columns += [*interval_columns("difference", "difference", ".2"), Column("n"), Column("why_not")]
    text = " ".join(sentences) or "No judge judged a model of its own family beside another judge."
    return Page(text, [Table("", columns, rows)], title="self", facts={"report": "self"})


def family(name: str, known: Mapping[str, str] | None = None) -> str:
    """Return the family of a model by its name.

    >>> family("openai/gpt-4.1-mini"), family("o3-mini"), family("Llama-2-70b")
    ('gpt', 'gpt', 'llama')
    """
    model = split_variant(name)[0]
    for own in (name, model):
        if known and own in known:
            return known[own]
    base = model.rsplit("/", 1)[-1].lower()
    if re.match(r"(chatgpt|o\d)", base):
        return "gpt"
    found = re.match(r"[^\W\d_]+", base)
    return found[0] if found else base


def _named_families(options: JudgeReport) -> dict[str, str]:
    known = {}
    for text in options.family:
        model, mark, name = text.rpartition("=")
        if not mark or not model or not name:
            raise UsageError(f"--family {text}: write MODEL=FAMILY")
        known[model] = name
    return known


def _row(
    judge: str,
    own: Mapping[Item, float],
    values: Mapping[str, Mapping[Item, float]],
    known: Mapping[str, str],
) -> tuple[dict[str, Any], Estimate | None]:
    mine = family(judge, known)
    others = {name: said for name, said in values.items() if family(name, known) != mine}
    parts: dict[str, list[tuple[Item, float, float]]] = {"own": [], "rest": []}
    left_out = 0
    for item, value in own.items():
        theirs = [said[item] for said in others.values() if item in said]
        ours = [family(model, known) == mine for model in item.models]
        if not theirs or (len(ours) == 2 and sum(ours) != 1):
            left_out += 1
            continue
        mean_of_others = sum(theirs) / len(theirs)
        if len(ours) == 2 and ours[1]:
            value, mean_of_others = 1 - value, 1 - mean_of_others
        parts["own" if any(ours) else "rest"].append((item, value, mean_of_others))
    models = sorted(
        {m for item, *_ in parts["own"] for m in item.models if family(m, known) == mine}
    )
    row: dict[str, Any] = {"judge": judge, "family": mine, "own": ", ".join(models)}
    row["others"] = ", ".join(sorted(others))
    for name, own_parts in parts.items():
        by_judge = mean((item.question, own_value, 1.0) for item, own_value, _ in own_parts)
        by_others = mean((item.question, others_, 1.0) for item, _, others_ in own_parts)
        for by, number in (("judge", by_judge.value), ("others", by_others.value)):
            row[f"{name}_by_{by}"] = None if number != number else number
    paired = any(len(item.models) == 2 for item in own)
    missing = None
    if not others:
        missing = "no judge of another family"
    elif not parts["own"]:
        missing = f"no model of the family {mine} was judged"
    elif not parts["rest"] and not paired:
        missing = "no other model was judged"
    gap = None
    if missing is None:
        gaps = {n: [(i, a - b) for i, a, b in p] for n, p in parts.items()}
        gap = difference(gaps["own"], gaps["rest"])
    n = len(parts["own"]) + len(parts["rest"]) if missing is None else 0
    empty = Estimate(float("nan"), mean([]).influence)
    row |= named("difference", gap or empty)
    row |= {"n": n, "left_out": left_out if n else len(own), "why_not": missing}
    return row, gap


def difference(own: list[tuple[Item, float]], rest: list[tuple[Item, float]]) -> Estimate:
    """Return the mean of the one less the mean of the other, paired by question."""
    import numpy as np

    from harness.results.estimate import ratio

    questions = list(dict.fromkeys(item.question for item, _ in [*own, *rest]))
    place = {question: at for at, question in enumerate(questions)}

    def estimate(parts: list[tuple[Item, float]]) -> Estimate:
        sums, counts = np.zeros((2, len(questions)))
        for item, value in parts:
            sums[place[item.question]] += value
            counts[place[item.question]] += 1
        return ratio(sums, counts)

    return estimate(own) - estimate(rest) if rest else estimate(own)
