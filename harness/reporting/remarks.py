"""What stands around the tables: whose verdict it is, who says otherwise, what is missing.

    claude-sonnet-4-5 alone calls dpo-v2 better (p 0.011, over the 5 looked at 0.054)
    People, 16 votes: my-model-dpo is better than my-model: win rate 0.81 (0.57 to 0.93)

Other sections, single judges and turns are looked at for the two models that the first sentence is
about. Who looks at five finds one "significant" by chance in up to 23% of the cases, so one that
says otherwise is named only if it is significant by Holm's method over those looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError
from harness.options import ShowResult
from harness.reporting.outcome import Evidence, Measure, claim_of
from harness.reporting.section import MISSING, TRIAL, Caveat, Section, View, evidence_of
from harness.results import Panel, Scores, compare, panels, read
from harness.results.board import same_answer_share
from harness.results.compare import Comparison, adjust
from harness.results.scores import FLIPPED, present
from harness.results.slices import Worst, differences_of, worst_slice
from harness.words import counted, listed, p_value

SAME_ANSWER = 0.2
"""The share of answers with one text above which a model's rate says nothing."""


def repeats_itself(bench: Bench, model: str) -> bool:
    """Return whether a model gives so many questions one answer that its rate says nothing."""
    return same_answer_share(bench, model) > SAME_ANSWER


def add_caveats(sections: Sequence[Section], bench: Bench, options: ShowResult, view: View) -> None:
    """Add which models and questions are not judged, such as by a run that was stopped."""
    for_all = [
        Caveat(TRIAL, f"{model} gives mostly one and the same answer; its rate says nothing.")
        for model in view.controlled
        if repeats_itself(bench, model)
    ]
    from_elsewhere = options.common or options.select.input_file or options.select.votes
    names = {view.baseline, *(name for section in sections for name in section.ranking.names)}
    absent = [name for name in view.models or bench.answered_models() if name not in names]
    if absent and not from_elsewhere:
        for_all.append(Caveat(MISSING, f"Not judged: {listed(absent)}."))
    total = len(bench.take(options.slice))
    for section in sections:
        judged = max(evidence.questions for evidence in section.evidence)
        if judged < total and section.panel.is_judged and not from_elsewhere:
            part = f"{judged} of the {total} questions of {bench.name} are judged."
            section.caveats.insert(0, Caveat(MISSING, part))
        section.caveats += for_all


def name_judges(sections: Sequence[Section]) -> None:
    """Say in sentences whose verdicts they are, where there are several judges or judge sets."""
    judged = [section for section in sections if section.panel.is_judged]
    judges = {section.panel.judges for section in judged}
    sets = {section.panel.judge_set for section in judged}
    for section in judged:
        panel = section.panel
        by = section.evidence[0].by
        if len(judges) > 1 and not by:
            by = f"by {listed(panel.judges)}"
        if len(sets) > 1:
            by = f"{by} with judge set {panel.judge_set}".strip()
        section.evidence = [replace(item, by=by) for item in section.evidence]


def dissent(section: Section, sections: Sequence[Section]) -> str:
    """Return who says otherwise of the two models that a section's sentence is about.

    Args:
        section: whose sentence it is.
        sections: all that the page shows; those that have a sentence of their own are left out.
    """
    ranking = section.ranking
    both = ranking.complete[:2]
    elsewhere = section.evidence[0].baseline or ranking.strengths
    if len(both) < 2 or elsewhere or not section.panel.is_judged:
        return ""
    main = ranking.comparisons.between(*both)
    names, readings = [], []
    for name, reading in _readings(section, sections, both):
        if reading.own_p is not None:
            names.append(name)
            readings.append(reading)
    words = []
    for name, reading in zip(names, adjust(readings), strict=True):
        if reading.better not in (None, main.better):
            assert reading.own_p is not None
            assert reading.p is not None
            p = f"p {p_value(reading.own_p)}"
            if len(readings) > 1:
                p += f", over the {len(readings)} looked at {p_value(reading.p)}"
            words.append(f"{name} calls {reading.better} better ({p})")
    return f"{'; '.join(words)}." if words else ""


def _readings(
    section: Section, sections: Sequence[Section], both: Sequence[str]
) -> Iterator[tuple[str, Comparison]]:
    """Yield what single judges, single turns and other sections say of two models."""
    panel, metric = section.panel, section.panel.metrics[0]
    if len(panel.judges) > 1:
        for judge, scores in panel.by_judge.items():
            yield f"{judge} alone", compare(scores.of(metric=metric), both).pairs[0]
    column = panel.combined.of(metric=metric)
    turns = present(column.turn)
    for turn in turns if len(turns) > 1 else []:
        yield f"turn {turn} alone", compare(column.of(turns=[turn]), both).pairs[0]
    for other in sections:
        judged = other.panel.is_judged and len(other.evidence) == 1
        if other is section or not judged or not set(both) <= set(other.ranking.complete):
            continue
        if other.panel.form != panel.form and other.panel.judges == panel.judges:
            continue  # has a sentence of its own
        kind = f"{other.kind} by {listed(other.panel.judges)}"
        if other.panel.judge_set != panel.judge_set:
            kind += f" with judge set {other.panel.judge_set}"
        yield f"the table of {kind}", other.ranking.comparisons.between(*both)


def people(
    bench: Bench,
    options: ShowResult,
    view: View,
    models: Sequence[str],
    votes: Scores | None = None,
) -> str:
    """Return what people's votes say of the models of the page; empty: there are none.

    Args:
        bench: whose votes they are.
        options: the flags.
        view: how judgments are shown.
        models: those of the page.
        votes: the votes (default: those on disk).
    """
    chosen = options.select.votes or options.select.input_file or options.metric
    if chosen or view.baseline is not None or not bench.vote_files():
        return ""
    questions = [question.question_id for question in bench.take(options.slice)]
    try:
        votes = read(bench, kind="vote") if votes is None else votes
        votes = votes.by("person").of(models=models, questions=questions)
    except MissingError:
        return ""
    except TurnbenchError as error:
        return f"People's votes are left out: {error}"
    if len(models) < 2 or not len(votes):
        return ""
    panel = panels(votes)[0]
    claim = claim_of(evidence_of(panel, view, panel.combined))
    numbers = f": {claim.numbers}" if claim.numbers else ""
    return f"People, {counted(len(votes), 'vote')}: {claim.words}{numbers}."


def reason(evidence: Evidence, panel: Panel, bench: Bench) -> str:
    """Return why two models are exactly alike, if they are."""
    both = evidence.ranking.complete
    if len(both) != 2:
        return ""
    pair = evidence.ranking.comparisons.between(*both)
    values = panel.combined.of(metric=panel.metrics[0], models=both)
    values = values.take(values.valid)
    if pair.better or pair.difference.value or not len(values):
        return ""
    first, second = (bench.answers(model) for model in both)
    common = first.keys() & second.keys()
    if common and all(first[q].choices[0].turns == second[q].choices[0].turns for q in common):
        return "Their answers are the same."
    if len(set(values.value.tolist())) == 1 and not (values.flip == FLIPPED).any():
        kind = evidence.measure.kind
        value = "ties" if kind == "pairs" else evidence.measure.value(float(values.value[0]))
        count = counted(len(values), kind.removesuffix("s"))
        return f"All {count} are {value}: these questions do not separate them."
    return ""


def where_worse(section: Section, bench: Bench) -> str:
    """Return in which part of the questions the second model is worse than elsewhere, if in any."""
    evidence, panel = section.evidence[0], section.panel
    both = evidence.ranking.complete[:2]
    if len(both) < 2 or evidence.baseline or not panel.is_judged:
        return ""
    column = panel.combined.of(metric=panel.metrics[0])
    differences = differences_of(column, both[1], both[0])
    worst = worst_slice(differences, bench.by_id) if differences else None
    if worst is None:
        return ""
    return slice_in_words(both[1], worst, evidence.measure, f", against {both[0]}")


def slice_in_words(model: str, worst: Worst, measure: Measure, against: str = "") -> str:
    """Return the sentence about the slice that stands out, or that none does."""
    if not worst.stands_out:
        return f"{model}{against}: no slice of {worst.slices} looked at stands out."
    gap, ends = measure.gap(worst.less), measure.ends(worst.interval, 0)
    return f"{model} is worse in {worst.slice} than elsewhere by {gap}{ends}{against}."
