"""The paragraph that a paper needs: what was judged by whom, how, when, and how sure.

Everything in it is read from the rows, not from today's settings: judge, judge set and its version,
hashes of the prompts, sampling as it was sent, dates, what failed.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from harness import __version__
from harness.reporting.section import STOPPED, Section, drawn_in_words
from harness.reporting.selecting import Judged
from harness.results.provenance import Made, answers_made, judgments_made
from harness.types import UNSTATED
from harness.words import counted, listed, percent

ALL = 1_000_000
"""More names than a sentence has: a paper names each of them."""
ENDS = {
    "grades": "Student's t intervals over questions, whose turns and samples are one cluster",
    "pairs": "Wilson intervals over questions, with the effective number of questions",
    "labels": "Wilson intervals over questions, with the effective number of questions",
    "numbers": "Student's t intervals over questions, whose turns and samples are one cluster",
}
SOURCES = (
    "clustered errors: Miller 2024, arXiv:2411.00640",
    "intervals of shares: Wilson 1927; Dean and Pagano 2015",
    "several comparisons: Holm 1979",
)
PAPERS = {
    "mt_bench": "MT-Bench and its judging: Zheng et al. 2023, arXiv:2306.05685",
    "alpaca_eval": "AlpacaEval: Dubois et al. 2024, arXiv:2404.04475",
    "prometheus": "Prometheus: Kim et al. 2024, arXiv:2310.08491",
    "short_fact": "SimpleQA: Wei et al. 2024, arXiv:2411.04368",
}
"""By how a judge set's name begins, the work behind it."""


def paragraph(judged: Judged, sections: Sequence[Section]) -> str:
    """Return the paragraph about some results."""
    bench = judged.bench
    names = list(dict.fromkeys(name for s in sections for name in s.ranking.names))
    names += [judged.view.baseline] if judged.view.baseline else []
    questions = max(evidence.questions for section in sections for evidence in section.evidence)
    version = f" version {bench.settings.version}" if bench.settings.version else ""
    verb = "are compared" if len(names) > 1 else "is judged"
    sentences = [
        f"{listed(names, ALL)} {verb} on {counted(questions, 'question')} of {bench.name}{version}"
        f"{_answers(answers_made(bench, names))}."
    ]
    for section in sections:
        sentences.append(_judging(section, judgments_made(section.panel)))
    kinds = dict.fromkeys(section.kind for section in sections)
    intervals = list(dict.fromkeys(f"of {kind} {ENDS[kind]}" for kind in kinds))
    better = [
        "A model is called better where the interval of the paired difference by question, at the "
        "level of its step in Holm's method over the comparisons asked for, excludes zero",
        "; of two models in pairs, where the interval of the win rate excludes one half",
    ]
    two = any(section.evidence[0].head_to_head for section in sections)
    sentences.append(f"Intervals are 95% confidence intervals: {'; '.join(intervals)}.")
    drawn = any(section.ranking.strengths for section in sections)
    of_drawn = "; of pairs drawn at random, where that of the difference of strengths does"
    sentences.append(f"{''.join(better[: 1 + two])}{of_drawn * drawn}.")
    sets = [section.panel.judge_set for section in sections]
    papers = [paper for name, paper in PAPERS.items() if any(s.startswith(name) for s in sets)]
    sentences.append(f"Computed by turnbench {__version__} ({'; '.join([*papers, *SOURCES])}).")
    return "\n".join(sentences)


def _answers(made: dict[str, Made]) -> str:
    """Return how the answers were sampled, and when."""
    whole = Made()
    for of_model in made.values():
        for name, values in of_model.sampling.items():
            known = whole.sampling.setdefault(name, [])
            known += [value for value in values if value not in known]
        times = [t for t in (whole.first, whole.last, of_model.first, of_model.last) if t]
        whole.first, whole.last = (min(times), max(times)) if times else (None, None)
    how = ", ".join(filter(None, [sampling_in_words(whole), dates_in_words(whole)]))
    return f" (answers: {how})" if how else ""


def _judging(section: Section, made: dict[str, Made]) -> str:
    """Return by whom and how one kind of judgments was made, and what failed."""
    panel, kind = section.panel, section.kind
    total = len(panel.one_each(panel.scores))
    if panel.form == "vote":
        return f"{counted(len(panel.judges), 'person', 'people')} gave {counted(total, 'vote')}."
    if panel.form == "metric":
        return f"{listed(panel.metrics, ALL)} were computed by {listed(panel.judges, ALL)}."
    what = "compared two answers at a time" if kind == "pairs" else "judged each answer"
    if kind == "grades" and panel.scale:
        what = "graded each answer from {:g} to {:g}".format(*panel.scale)
    name = "an unknown judge set" if panel.judge_set == UNSTATED else f"judge set {panel.judge_set}"
    version = f" version {listed(panel.versions, ALL)}" if panel.versions else ""
    details = [f"{name}{version}"]
    for judge in panel.judges:
        of_judge = made.get(judge, Made())
        prompts = sorted(prompt[:12] for prompt in of_judge.prompts)
        other = sorted(of_judge.endpoints - {judge})
        parts = [
            f"served as {listed(other, ALL)}" if other else "",
            f"prompts {' '.join(prompts)}" if prompts else "",
            sampling_in_words(of_judge),
            dates_in_words(of_judge),
        ]
        said = ", ".join(filter(None, parts))
        details += [f"{judge}: {said}" if len(panel.judges) > 1 else said] if said else []
    sentence = f"{listed(panel.judges, ALL)} {what} ({'; '.join(details)})."
    if len(panel.judges) > 1:
        sentence += " Numbers are the mean of the judges."
    if kind == "pairs" and "one order" not in panel.method:
        sentence += " Each pair was judged in both orders; two different winners are a tie."
    if panel.drawn is not None:
        sentence += f" These are {drawn_in_words(panel.drawn)}; models are ranked and "
        sentence += "compared by Bradley-Terry strengths."
    if panel.looks is not None:
        sentence += f" {STOPPED}"
    if panel.method.startswith("logprobs"):
        sentence += " Verdicts are weighed by the log-probabilities of the judge's tokens."
    if not (failed := panel.unread):
        return f"{sentence} All {counted(total, 'verdict')} could be read."
    lost = f"{failed:,} ({percent(failed / total, 1)}) could not be read, and are in no mean"
    return f"{sentence} Of {counted(total, 'verdict')} {lost}."


def sampling_in_words(made: Made) -> str:
    """Return the parameters: `temperature 0`, `temperature 0 to 0.7`."""
    return ", ".join(
        f"{name.replace('_', ' ')} {_values(values)}"
        for name, values in sorted(made.sampling.items())
    )


def _values(values: Sequence[Any]) -> str:
    """Return one value, the ends of several numbers, or all other values."""
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(values) > 1 and len(numbers) == len(values):
        return f"{min(numbers):g} to {max(numbers):g}"
    return listed([f"{v:g}" if isinstance(v, int | float) else str(v) for v in values], ALL)


def dates_in_words(made: Made) -> str:
    """Return the days on which rows were made, in UTC."""
    if made.first is None or made.last is None:
        return ""
    first, last = (
        datetime.fromtimestamp(t, UTC).date().isoformat() for t in (made.first, made.last)
    )
    return first if first == last else f"{first} to {last}"
