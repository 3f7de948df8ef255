"""The pages of flags that show something else than results.

--style              strengths at equal length, headers, lists, bold
--first-turn-effect  what second turns lose because of the first
--cost, --efficiency dollars and tokens; quality beside them
--board              alpaca_eval's leaderboard with this run's rows, printed around one's own
"""

from collections.abc import Sequence
from dataclasses import asdict, replace

from harness import bench as benches
from harness.bench import Bench
from harness.errors import UsageError
from harness.judging.current import in_words
from harness.options import Board, ShowResult
from harness.reporting import Column, Note, Page, Table, interval_columns, row_of
from harness.reporting.outcome import Measure
from harness.reporting.pages import PageKind, Result
from harness.reporting.ranked import change_of
from harness.reporting.remarks import repeats_itself
from harness.reporting.results_page import results
from harness.reporting.section import View, measure_of
from harness.reporting.selecting import choose_judgments, read_judged
from harness.results import Panel, Scores, rank
from harness.results import board as boards
from harness.results.first_turn import Effect, first_turn_effect
from harness.results.spent import Cost, efficiency, spent
from harness.results.strengths import fit_style
from harness.words import counted, dollars, listed, rounded


def _show_style(options: ShowResult, cost: Cost) -> Result:
    judged = read_judged(options)
    pairs = judged.panel("pair", "vote", need="--style needs pairs")
    return Result(style_page(pairs.combined, judged.bench, options.style))


STYLE = PageKind(_show_style)


def style_page(scores: Scores, bench: Bench, features: Sequence[str]) -> Page:
    """Return strengths at equal style, and what each feature is worth."""
    fit = fit_style(scores, bench, features)
    rows = [
        row_of({"model": model}, rating=rating, as_is=fit.as_is[model], shift=fit.shift(model))
        for model, rating in fit.ratings.items()
    ]
    effects = [row_of({"feature": name}, coefficient=c) for name, c in fit.coefficients.items()]
    moved = max(rows, key=lambda row: abs(row["shift"].value))
    best = f"{rows[0]['model']} is the strongest of {len(rows)} models"
    outcome = f"At equal {listed(features)} {best} on {counted(fit.pairs, 'pair')}; "
    outcome += f"{moved['model']} moves most: {rounded(moved['shift'].value, 0)} points."
    columns = [
        Column("model"),
        *interval_columns("rating", "at equal style", ".0"),
        Column("as_is", "as it is", ".0", always=True),
        Column("shift", "moved", ".0", always=True),
    ]
    feature = Column("feature", "log odds to win by", always=True)
    effect_columns = [feature, *interval_columns("coefficient", "effect", ".2")]
    title = f"{bench.name}, Bradley-Terry strengths; 400 points are odds of 10 to 1"
    tables = [Table(title, columns, rows), Table("", effect_columns, effects, name="features")]
    left_out = f"Left out: {counted(fit.left_out, 'pair')} without both answers."
    notes = [Note(left_out)] if fit.left_out else []
    return Page(outcome, tables, notes=notes, title=title, facts={"bench": bench.name})


def _show_first_turn(options: ShowResult, cost: Cost) -> Result:
    judged = read_judged(options)
    grades = judged.panel("grade", need="--first-turn-effect needs grades")
    return Result(first_turn_page(grades, judged.bench))


FIRST_TURN_EFFECT = PageKind(_show_first_turn)


def first_turn_page(panel: Panel, bench: Bench) -> Page:
    """Return what second turns lose because of the model's own first turn."""
    effects = first_turn_effect(panel.combined.of(metric=panel.metrics[0]))
    measure, rows, lines = measure_of(panel), [], []
    for effect in effects:
        names = {"model": effect.model, "history": effect.history, "first_turn": None}
        if effect.first == "all":
            lines.append(_effect_in_words(effect, measure))
        else:
            names["first_turn"] = effect.first
        numbers = {"own_history": effect.own_history, "given_history": effect.given_history}
        row = row_of(names, **numbers)
        row["difference"] = change_of(effect.difference)
        rows.append(row | {"p_holm": effect.difference.p, "questions": effect.difference.questions})
    columns = [
        Column("model"),
        Column("first_turn", "own first turn", always=True),
        Column("own_history", "after own", measure.form, always=True),
        Column("given_history", "after given", measure.form, always=True),
        *interval_columns("difference", "", measure.form),
        Column("questions", always=True, optional=True),
    ]
    table = Table(f"{bench.name}, turn 2 graded by {listed(panel.judges)}", columns, rows)
    note = Note("A first turn is good from the median grade of all first turns on.")
    facts = {"bench": bench.name, "judge": ", ".join(panel.judges)}
    return Page("\n".join(lines[:3]), [table], notes=[note], title=table.title, facts=facts)


def _effect_in_words(effect: Effect, measure: Measure) -> str:
    pair = effect.difference
    on, ends = f"on {counted(pair.questions, 'question')}", measure.ends(pair.interval, 0)
    if pair.better is None:
        size = f"{measure.gap(pair.difference.value)}{ends}"
        model = f"{effect.model}'s second turns"
        return f"Whether {model} depend on its first is not decided {on}: {size}."
    less = "lose" if pair.difference.value > 0 else "gain"
    gap = measure.gap(abs(pair.difference.value))
    if ends and pair.difference.value < 0:
        ends = measure.ends(pair.swapped().interval, 0)
    return f"{effect.model}'s second turns {less} {gap}{ends} by its own first turns {on}."


def _show_cost(options: ShowResult, cost: Cost) -> Result:
    bench = benches.load_named(options.bench.first)
    return Result(cost_page(bench, cost, options))


COST = PageKind(_show_cost)


def cost_page(bench: Bench, cost: Cost, options: ShowResult) -> Page:
    """Return what the answers and judgments that the flags choose cost, by model."""
    judged = choose_judgments(options, bench)
    took = spent(bench, judged, cost, options.slice)
    rows = [asdict(row) for row in took]
    unknown = [row["model"] for row in rows if row["dollars"] is None]
    for row in rows:
        price = row.pop("dollars")
        row["cost"] = None if row["calls"] == row["unstated"] else price
    priced = [row["cost"] for row in rows if row["cost"] is not None]
    total = dollars(sum(priced)) if priced else "an unknown sum"
    models, judges = options.slice.model_list, options.select.judge_model
    whose = f"answers and judgments of {bench.name}"
    if models or judges:
        by = f" of {listed(judges)}" if judges else ""
        whose = f"answers of {listed(models) or bench.name} and judgments{by}"
    outcome = f"The {whose} cost {total}"
    outcome += f", without {listed(unknown)}, whose price is unknown." if unknown else "."
    names = ("what", "model", "calls", "prompt_tokens", "reply_tokens")
    columns = [*(Column(name, always=True) for name in names), Column("cost", "", "$", always=True)]
    if any(row["unstated"] for row in rows):
        columns.append(Column("unstated", "without tokens", always=True))
    notes = [Note("Calls that failed, and rows that newer ones replaced, are not counted.")]
    notes += [Note(f"Not counted: {cause}") for cause in in_words(judged.left_out)]
    facts = {"total": sum(priced) if priced else None}
    return Page(outcome, [Table("", columns, rows)], notes=notes, facts=facts)


def _show_efficiency(options: ShowResult, cost: Cost) -> Result:
    judged = read_judged(options)
    models = options.slice.model_list
    return Result(efficiency_page(judged.groups[0], judged.bench, cost, models))


EFFICIENCY = PageKind(_show_efficiency)


def efficiency_page(panel: Panel, bench: Bench, cost: Cost, models: Sequence[str]) -> Page:
    """Return quality beside cost, tokens, seconds and length."""
    ranking = rank(panel.combined.of(metric=panel.metrics[0]), models=models or None)
    means = {summary["model"]: summary.mean for summary in ranking.models}
    rows, best = [], []
    for model in efficiency(bench, means, cost):
        row = row_of(vars(model), score=model.score)
        row["cost"] = row.pop("dollars")
        rows.append(row)
        best += [model.model] if model.frontier else []
    outcome = f"On the frontier of {len(rows)} models: {listed(best)}. No other is at least as "
    outcome += "good for at most the same money."
    outcome = outcome if best else "Prices are unknown, so no frontier is said."
    columns = [
        Column("model"),
        Column("score", format=measure_of(panel).form, always=True),
        Column("cost", "$ / 1,000", "$", help="for a thousand turns", always=True),
        Column("frontier", always=True),
        Column("seconds", format=".1", help="the median call", always=True),
        Column("reply_tokens", "tokens", ".0", help="of a reply, with reasoning", always=True),
        Column("characters", format=".0", always=True, optional=True),
        Column("reasoning_share", "reasoning", "%", optional=True),
        Column("cut", format="%", always=True, optional=True),
        Column("refused", format="%", optional=True),
    ]
    title = f"{bench.name}, quality by {listed(panel.judges)}, shares in percent"
    facts = {"bench": bench.name, "judge": ", ".join(panel.judges)}
    return Page(outcome, [Table(title, columns, rows)], title=title, facts=facts)


def _show_board(options: ShowResult, cost: Cost) -> Result:
    judged = read_judged(options)
    shown = results(options, judged, cost.configs)
    pairs = judged.panel("pair", need="--board needs pairs")
    return Result(board_page(options.board, judged.bench, pairs, shown.view, shown.page))


BOARD = PageKind(_show_board)


def board_page(options: Board, bench: Bench, panel: Panel, view: View, page: Page) -> Page:
    """Write the board; return the results' page with the rows around one's own as its table.

    Raises:
        UsageError: there is no baseline, or the board is of another judge, judge set or baseline.
    """
    path, judge_set = options.board, panel.versioned_set
    assert path is not None
    if view.baseline is None:
        raise UsageError("--board is for pairs with a baseline: --mode pairwise-baseline")
    origin = boards.Origin(", ".join(panel.judges), judge_set, view.baseline)
    new_rows = boards.board_rows(panel.combined, bench, origin, list(view.controlled.values()))
    models = [row["model"] for row in new_rows]
    sort, allow = options.sort, options.allow
    board = boards.check_board(
        path, origin, models, overwrite=options.overwrite, sort=sort, allow=allow
    )
    board = boards.add_rows(board, new_rows, sort)
    boards.write_board(path, board)
    numbers = [
        Column(boards.LENGTH_CONTROLLED, "LC win rate", ".1"),
        Column("lc_standard_error", "se", ".1"),
        Column("win_rate", "", ".1", always=True),
        Column("avg_length", "characters", ".0", always=True),
    ]
    rows, places = [], []
    about = "se is alpaca_eval's; it leaves out that the fit at equal length is estimated."
    for place in boards.around(board, models):
        mark = " (baseline)" if place.model == view.baseline else ""
        if not mark and repeats_itself(bench, place.model):
            mark, about = " *", "* gives mostly one and the same answer; its rate says nothing."
        places += [place] if place.chosen else []
        names = {"place": f"{'>' if place.chosen else ' '} {place.place:3}"}
        names["model"] = f"{place.model}{mark}"
        rows.append(names | {column.key: place.number(column.key) for column in numbers})
    columns = [Column("place", always=True), Column("model", always=True), *numbers]
    count = f"{path} has {counted(len(board.rows), 'row')}, {len(models)} of them from here."
    size = counted(len(board.rows), "model")
    ranks = f"It is number {places[0].place} of {size} on this board." if len(places) == 1 else ""
    if len(places) > 1:
        where = listed([f"{place.model} is number {place.place}" for place in places])
        ranks = f"On this board of {size} {where}."
    table = Table(page.tables[0].title, columns, rows, only="text")
    results = [replace(part, only="html") for part in page.tables if part.only != "text"]
    return replace(
        page,
        outcome=f"{page.outcome}\n{ranks}",
        tables=[table, *results],
        notes=[Note(about), Note(count)],
        rows=boards.values(board),
        facts={**page.facts, "results": page.all_rows},
    )
