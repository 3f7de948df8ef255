"""The page of `--each-time`: several conversations of a question, passed every time or not."""

from harness.errors import MissingError
from harness.options import AnswerSampling, GenAnswer, ShowResult, command_line
from harness.reporting.page import Cell, Column, Note, Page, Row, Table, interval_columns
from harness.reporting.pages import PageKind, Result
from harness.reporting.selecting import read_judged
from harness.results.passed import Spread, each_time, passes, spread_of
from harness.results.spent import Cost
from harness.results.summarize import conversations
from harness.words import counted, listed, percent

MORE = 40
"""Questions, to say what more of them would do."""


def show(options: ShowResult, cost: Cost) -> Result:
    """Return how often each model passes every time, and what would narrow its interval."""
    judged = read_judged(options)
    panel = judged.panel("grade", "metric", need="--each-time needs grades, or --metric checks")
    checked = panel.judge_set == "checks" and panel.form == "metric"
    main = panel.scores.of(metric=panel.metrics[0])
    values = passes(panel.scores) if checked else conversations(main, "mean")
    rows: list[Row] = []
    spreads: dict[str, Spread] = {}
    for model in values.models_present:
        if checked:
            rows += [
                {"model": model, "times": at, "passed": Cell.of(share), "questions": share.n}
                for at, share in enumerate(each_time(values, model), 1)
            ]
        if parts := spread_of(values, model):
            spreads[model] = parts
    if not spreads:
        again = GenAnswer(bench=judged.bench.named, sampling=AnswerSampling(num_choices=4))
        then = "turnbench auto_checks" if checked else "gen_judgment --choices all"
        raise MissingError(
            f"every question of {judged.bench.name} has one conversation that counts; "
            f"have several: {command_line(again)} --model NAME, then {then}"
        )
    columns = [
        Column("model"),
        Column("times", always=True),
        *interval_columns("passed", "passed every time, %", "%"),
        Column("questions", always=True),
    ]
    title = f"{judged.bench.name}, questions passed in all of so many conversations"
    tables = [Table(title, columns, rows)] if checked else []
    parts_of = [_spread_row(model, parts) for model, parts in spreads.items()]
    repeated = any(parts.judge is not None for parts in spreads.values())
    tables.append(_spread_table(parts_of, checked, repeated))
    page = Page(
        "\n".join(_in_words(model, parts) for model, parts in list(spreads.items())[:4]),
        tables,
        notes=[Note("What narrows an interval costs calls: compare the conversations to be had.")],
        title=f"{judged.bench.name}: each time",
        facts={"bench": judged.bench.name, "judge": listed(panel.judges, 9)},
    )
    return Result(page)


EACH_TIME = PageKind(show)


def _spread_row(model: str, parts: Spread) -> Row:
    total = parts.total or 1.0
    return {
        "model": model,
        "of_question": parts.question / total,
        "of_conversation": parts.conversation / total,
        "of_judge": None if parts.judge is None else parts.judge / total,
        "more_questions": parts.narrower(questions=MORE),
        "another_conversation": parts.narrower(conversations=1),
        "another_verdict": None if parts.judge is None else parts.narrower(verdicts=1),
        "conversations_added_by_questions": round(MORE * parts.conversations),
        "conversations_added_by_another": parts.questions,
    }


def _spread_table(rows: list[Row], checked: bool, repeated: bool) -> Table:
    alone = checked or repeated
    columns = [
        Column("model"),
        Column("of_question", "question", "%", "part of the variance", always=True),
        Column(
            "of_conversation",
            "conversation" if alone else "conversation and judge together",
            "%",
            always=True,
        ),
        Column("of_judge", "judge", "%", always=True),
        Column("more_questions", f"{MORE} more questions", "%", always=True),
        Column("another_conversation", "another conversation", "%", always=True),
        Column("another_verdict", "another verdict", "%", always=True),
    ]
    title = "What verdicts vary by, and by how much more would narrow the interval, in percent"
    return Table(title, columns, rows, name="spread")


def _in_words(model: str, parts: Spread) -> str:
    questions = parts.narrower(questions=MORE)
    another = parts.narrower(conversations=1)
    if questions is None or another is None:
        return f"{model}: every conversation of every question ends alike; nothing varies."
    return (
        f"{model}: {MORE} more questions would narrow the interval by {percent(questions)} "
        f"({counted(round(MORE * parts.conversations), 'conversation')}), another conversation of "
        f"each question by {percent(another)} ({counted(parts.questions, 'conversation')})."
    )
