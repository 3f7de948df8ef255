"""How some judgments came about, from their rows: when, by which prompts, from which answers.

A pass of its own over the files: only the paragraph about methods and the list of files need it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.bench import Bench
from harness.results.panels import Panel
from harness.results.reading import whole_rows
from harness.types import Answer, Judgment


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

    def add(self, row: Answer | Judgment) -> None:
        """Count a row and its calls."""
        time, sampling = row.tstamp, row.sampling
        if isinstance(row, Judgment):
            calls = row.details
            if row.made_from is not None and row.made_from.template:
                self.prompts.add(row.made_from.template)
        else:
            calls = [detail for choice in row.choices for detail in choice.details]
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
            made.setdefault(row.judge_model, Made()).add(row)
    return made


def answers_made(bench: Bench, models: Iterable[str]) -> dict[str, Made]:
    """Return how the answers of some models were made; models without a file are left out."""
    made: dict[str, Made] = {}
    for model in models:
        for answer in bench.answers(model).values():
            made.setdefault(model, Made()).add(answer)
    return made
