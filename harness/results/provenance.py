"""How some judgments came about, from their rows: when, by which prompts, from which answers.

A pass of its own over the files: only the paragraph about methods needs it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.bench import Bench
from harness.results.panels import Panel
from harness.results.reading import whole_rows
from harness.types import Detail, Judgment


@dataclass
class Made:
    """What the rows of one judge, or of one model's answers, say of how they were made."""

    rows: int = 0
    first: float | None = None
    """Seconds since 1970."""
    last: float | None = None
    prompts: set[str] = field(default_factory=set)
    """Hashes of the templates."""
    endpoints: set[str] = field(default_factory=set)
    """What providers called the models that replied."""
    sampling: dict[str, list[Any]] = field(default_factory=dict)
    """The values of each parameter as it was sent; as the row states it where calls do not."""

    def add(self, time: float | None, sampling: dict[str, Any], calls: Sequence[Detail]) -> None:
        """Count a row and its calls."""
        self.rows += 1
        if time is not None:
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)
        self.endpoints.update(call.provider_model for call in calls if call.provider_model)
        sent_by_calls = [call.sampling_applied for call in calls if call.sampling_applied]
        for sent in sent_by_calls or [sampling]:
            for name, value in sent.items():
                values = self.sampling.setdefault(name, [])
                if value not in values:
                    values.append(value)


def judgments_made(panel: Panel) -> dict[str, Made]:
    """Return how the judgments of a panel were made, by judge."""
    made: dict[str, Made] = {}
    for _, row in whole_rows(panel.scores):
        if isinstance(row, Judgment):
            of_judge = made.setdefault(row.judge_model, Made())
            of_judge.add(row.tstamp, row.sampling, row.details)
            if row.made_from is not None and row.made_from.template:
                of_judge.prompts.add(row.made_from.template)
    return made


def answers_made(bench: Bench, models: Iterable[str]) -> dict[str, Made]:
    """Return how the answers of some models were made; models without a file are left out."""
    made: dict[str, Made] = {}
    for model in models:
        for answer in bench.answers(model).values():
            calls = [detail for choice in answer.choices for detail in choice.details]
            made.setdefault(model, Made()).add(answer.tstamp, answer.sampling, calls)
    return made
