"""The page of `--renewed`: does a model know the shipped questions?"""

from msgspec.structs import replace

from harness import bench as benches
from harness.errors import MissingError, UsageError
from harness.options import ShowResult
from harness.reporting.outcome import Measure
from harness.reporting.page import Cell, Column, Note, Page, Row, Table
from harness.reporting.pages import PageKind, Result
from harness.reporting.selecting import read_judged
from harness.results import read
from harness.results.passed import passes
from harness.results.renewed import SEEDS, Known, by_place, compare_renewed
from harness.results.spent import Cost


def check(options: ShowResult) -> None:
    """Raise UsageError for too few renewed sets."""
    if len(set(options.renewed)) < SEEDS:
        raise UsageError(f"--renewed needs {SEEDS} or more benchmarks of turnbench new_questions")


def show(options: ShowResult, cost: Cost) -> Result:
    """Return whether each model does better on the shipped questions than on renewed ones."""
    judged = read_judged(replace(options, metric=("checks",)))
    shipped = passes(judged.panel("metric", need="--renewed needs checks").scores)
    others = [
        passes(read(benches.load(path.name, path.parent), metrics=["checks"]))
        for path in dict.fromkeys(options.renewed)
    ]
    of_model = {model: by_place(shipped, model) for model in shipped.models_present}
    places = sorted({place for shares in of_model.values() for place in shares})
    found: dict[str, Known] = {}
    for model, shares in of_model.items():
        one = compare_renewed(shares, [by_place(other, model) for other in others], places)
        if one.difference.n:
            found[model] = one
    if not found:
        raise MissingError(
            f"no question of {judged.bench.name} has the template and level of one of each renewed "
            "set with checked answers by the same model; gen_answer and turnbench auto_checks first"
        )
    rows: list[Row] = [
        {
            "model": model,
            "difference": Cell(one.difference.value, *(one.interval or (None, None))),
            "verdict": _verdict(one),
            "templates": one.difference.n,
        }
        for model, one in found.items()
    ]
    columns = [
        Column("model"),
        Column("difference", "shipped less renewed", ".2", always=True),
        Column("difference", "90% interval", "interval.2", "its lower end counts", draw="whisker"),
        Column("verdict", always=True),
        Column("templates", always=True),
    ]
    lines = [_in_words(model, one) for model, one in found.items()]
    notes = [Note("Training on questions of fresh seeds is not seen by this.")]
    title = f"{judged.bench.name}, passed as shipped less passed with other seeds"
    facts = {"bench": judged.bench.name}
    return Result(
        Page(
            "\n".join(lines[:4]),
            [Table(title, columns, rows)],
            notes=notes,
            title=title,
            facts=facts,
        )
    )


RENEWED = PageKind(show, check)


def _verdict(one: Known) -> str:
    return "silent" if one.silent else "better as shipped" if one.better else "not decided"


def _in_words(model: str, one: Known) -> str:
    if one.silent:
        return f"{model}: nothing can be said, as nearly all or nearly none is passed."
    measure, difference = Measure("numbers"), one.difference.value
    size = f"{'+' * (difference > 0)}{measure.value(difference)}{measure.ends(one.interval)}"
    if one.better:
        return f"{model} does better on the shipped questions than on renewed ones: {size}."
    return f"{model} is not shown to know the shipped questions: {size}."
