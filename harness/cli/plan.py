"""The command `plan`."""

from collections.abc import Sequence
from typing import Any

from harness import options, store
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import UsageError
from harness.results.planned import Planned, make_plan, to_toml
from harness.words import counted


def plan(model_list: Sequence[str], judge_model: Any = None, **words: Any) -> Planned:
    """Return the plan of a comparison, and write it where `out` says; no model is called.

    `words` are the options of the command.

    Raises:
        UsageError: a name is missing, or the file is there already.
        StorageError: the file cannot be written.
    """
    record = record_from(options.Plan, model_list=model_list, judge_model=judge_model, **words)
    return run(record, Console())


def run(record: options.Plan, console: Console) -> Planned:
    """Write down what is to be compared, and what it will be able to show."""
    if record.out is not None and record.out.exists():
        raise UsageError(
            f"{record.out} is there already; a plan is not changed, name another --out"
        )
    planned = make_plan(record)
    count = counted(len(planned.questions), "question")
    if planned.smallest_visible is None:
        console.warn(f"{count} are too few for any comparison; five is the least")
    else:
        unit = "points" if planned.mode == "single" else "of win rate"
        console.tell(
            f"{count}, {counted(planned.comparisons, 'comparison')}: a difference of "
            f"{planned.smallest_visible:.2g} {unit} is seen in 80% of cases (spread "
            f"{planned.spread:.2g}: {planned.spread_from})"
        )
        if planned.margin is not None and planned.margin < planned.smallest_visible:
            console.warn(
                f"the margin {planned.margin:g} is less than that: equal models will often not be "
                "shown to be within it; take more questions or a larger margin"
            )
    if record.out is None:
        console.write(to_toml(planned).rstrip())
        return planned
    store.write_file(record.out, to_toml(planned))
    console.write(str(record.out))
    console.tell(f"next: gen_answer and gen_judgment, then show_result --plan {record.out}")
    return planned
