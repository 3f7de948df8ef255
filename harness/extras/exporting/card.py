"""What the Hugging Face Hub wants beside a benchmark: a data set's card, and models' results.

    README.md                      the data set's card: settings as YAML, what it is, the results
    .eval_results/MODEL.yaml       one entry for each kind of judgments, for the model's repository

The questions themselves are the benchmark's own files: `question.jsonl`, `bench.toml`,
`reference_answer/`. Where they came from the hub, entries name that data set and its commit; else
OWNER/BENCH stands for where you publish them.

Source: `.eval_results` as huggingface_hub 2.4.0 reads it (`parse_eval_result_entries`).
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import yaml

from harness.bench import Bench, file_stem, size_in_words
from harness.extras.exporting.export import File, Results
from harness.extras.importing import hub
from harness.reporting.formats import markdown, methods
from harness.reporting.results_page import results as results_of
from harness.reporting.section import Section
from harness.results.provenance import judgments_made
from harness.results.summarize import Summary
from harness.words import counted, listed


def card(bench: Bench, results: Results) -> Iterator[File]:
    """Yield the card of a benchmark with its results, and the entries of each model."""
    shown = results_of(results.asked, results.judged)
    yield File("README.md", _card(bench, shown.page).encode("utf-8", "replace"))
    entries: dict[str, list[dict[str, Any]]] = {}
    for section in shown.sections:
        for summary in section.ranking.models:
            if summary["model"] in results.models and summary.n:
                entry = _entry(bench, section, summary)
                entries.setdefault(summary["model"], []).append(entry)
    for model, rows in entries.items():
        text = yaml.safe_dump(rows, sort_keys=False, allow_unicode=True)
        yield File(f".eval_results/{file_stem(model)}.yaml", text.encode(), {model: len(rows)})


def _card(bench: Bench, page: Any) -> str:
    settings = bench.settings
    facts = {
        "pretty_name": settings.title or bench.name,
        "language": [settings.language],
        **({"license": settings.licence.lower()} if settings.licence else {}),
        "tags": ["evaluation", "llm-as-a-judge", "turnbench"],
        "size_categories": [_size(len(bench.questions))],
        "configs": [{"config_name": "default", "data_files": "question.jsonl"}],
    }
    categories = listed(list(dict.fromkeys(q.category for q in bench.questions)), 20)
    lines = [
        f"---\n{yaml.safe_dump(facts, sort_keys=False, allow_unicode=True)}---",
        f"# {settings.title or bench.name}",
        f"{size_in_words(bench.questions)}: {categories}.",
    ]
    if settings.canary:
        lines.append(f"Not for training. Canary: {settings.canary}")
    lines += [
        "## Use",
        f"```sh\nturnbench fetch_bench hf://datasets/{_data_set(bench)[0]}/question.jsonl\n```",
        "## Results",
        markdown(page).strip(),
        "## Method",
        methods(page).strip(),
    ]
    return "\n\n".join(lines) + "\n"


def _size(count: int) -> str:
    """Return the hub's word for a number of rows."""
    ends = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
    return next((word for end, word in ends if count < end), "100K<n<1M")


def _data_set(bench: Bench) -> tuple[str, str | None]:
    """Return the data set's name on the hub, and its commit if it came from there."""
    source = bench.settings.source or ""
    if hub.is_address(source):
        address = hub.parse(source)
        return address.repository, address.revision
    return f"OWNER/{bench.name}", None


def _entry(bench: Bench, section: Section, summary: Summary) -> dict[str, Any]:
    """Return what the hub shows of one number of a model."""
    repository, commit = _data_set(bench)
    panel, measure = section.panel, section.evidence[0].measure
    task = re.sub(r"[^\w.-]", "_", "_".join([panel.judge_set, section.kind]))
    interval, made = summary.mean.interval, judgments_made(panel)
    scale = "" if measure.scale is None else " from {:g} to {:g}".format(*measure.scale)
    within = f", 95% interval {interval.low:.3g} to {interval.high:.3g}" if interval else ""
    notes = (
        f"{section.kind}{scale} by {listed(panel.judges, 9)}, judge set {panel.judge_set} "
        f"{listed(panel.versions, 9)}, {counted(summary.questions, 'question')}{within}"
    )
    data_set: dict[str, Any] = {"id": repository, "task_id": task}
    newest = [of_judge.last for of_judge in made.values() if of_judge.last]
    entry: dict[str, Any] = {
        "dataset": data_set | ({"revision": commit} if commit else {}),
        "value": round(summary.mean.value, 6),
    }
    if newest:
        entry["date"] = datetime.fromtimestamp(max(newest), UTC).isoformat(timespec="seconds")
    return entry | {"notes": notes}
