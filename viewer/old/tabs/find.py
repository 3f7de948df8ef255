"""The tab Find: every judgment of the benchmark, filtered, sorted, a page at a time, each leading to its item."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.old.bench import Bench
from harness.old.errors import UsageError
from harness.old.records import Mode
from harness.old.showing.values import ABSENT
from viewer.old import filters, markup
from viewer.old.context import Context, Tab
from viewer.old.index import Judgments
from viewer.old.later import NotYet
from viewer.old.markup import Html
from viewer.old.people import people
from viewer.old.state import State, parse
from viewer.old.stepping import item
from viewer.old.store import Kind, kind_of, mode_of
from viewer.old.strips import score_chip, verdict_chip
from viewer.old.text import escaped

if TYPE_CHECKING:
    from harness.old.results.matrix import Ints

_KINDS: Mapping[Mode, str] = {"single": "grades", "pairwise-all": "pairs"}
_OF_KIND = ("page", "sort", "winner", "min", "max", "flag")
"""Filters that say something else, or nothing, of the other kind of judgments."""
_MOST_NAMES = 300
FLAGS: Mapping[Kind, Mapping[str, str]] = {
    "single": {
        "": "all",
        "disagree": "judges disagree",
        "humans": "against human votes",
        "failed": "unparsed or failed",
    },
    "pair": {
        "": "all",
        "changed": "changed when swapped",
        "disagree": "judges disagree",
        "humans": "against human votes",
        "failed": "unparsed or failed",
    },
}
_MEANINGS = {
    "disagree": "Judges with the same judge set name different winners, or their grades differ by two points or more.",
    "humans": "The majority of votes on the same two answers contradicts the judge.",
    "failed": "No verdict could be read from the judge's text. Such judgments are counted and left out of every mean.",
    "changed": "The judge named another winner when the two answers were in the other order; such a pair is a tie.",
}
_EVERYTHING = {"f.text", "f.category", "f.field", "f.value", "turn", "model", "judge", "set", "f.min", "f.max"}


def tab(context: Context) -> Tab:
    """Return the tab."""

    def settle(state: State) -> State:
        if state.found:  # from an item back to the list that it was found in
            state = parse(state.found).to(tab=state.tab, at=state.at, who=state.who)
        value = state.looked_for("value") if state.looked_for("field") else ""
        return state.to(mode=mode_of(kind_of(state.mode))).where(value=value)

    return Tab("find", "Find", lambda state: _show(context, state), settle)


def _show(context: Context, state: State) -> str:
    store = context.store
    bench = store.bench(state.bench)
    kind = kind_of(state.mode)
    head = markup.choices(
        context, state, "bench", more=markup.modes(context, state, _KINDS, "Judgments", leave=_OF_KIND)
    )
    files = store.judgment_files(bench, kind)
    if not files:
        return head + _nothing(bench, state)
    late = ""
    try:
        judgments = filters.judgments_of(context, bench, kind)
    except NotYet as wait:
        late = markup.waiting(wait)
        if wait.before is None:
            return head + late
        judgments = wait.before.value
    faults = "".join(markup.notice(fault, kind="fault") for fault in judgments.faults)
    form = _form(bench, judgments, state)
    try:
        found = filters.found(context, judgments, state)
        if state.looked_for("flag") == "humans" and (note := people(context, state, bench).note):
            late += markup.notice(note)
    except NotYet as wait:
        return head + form + faults + markup.waiting(wait)
    except UsageError as error:
        return head + form + faults + markup.notice(str(error), kind="fault")
    return head + form + late + faults + _table(judgments, state, found)


def _nothing(bench: Bench, state: State) -> str:
    line = markup.command(f"gen_judgment --bench-name {bench.name} --mode {state.mode} --judge-model NAME")
    what = "grades" if state.mode == "single" else "pairs"
    return markup.notice(f"There are no {what} in {bench.name} yet. Create them with:", then=line)


def _form(bench: Bench, judgments: Judgments, state: State) -> str:
    """Return the filters."""
    get = state.looked_for
    parts = [markup.field("f.text", "Text", get("text"), hint="text, or /regular expression/", kind="search")]
    categories = list(dict.fromkeys(q.category for q in bench.questions))
    parts.append(_select("f.category", "Category", "all", categories, get("category")))
    fields = judgments.fields
    if fields:
        parts.append(_select("f.field", "Field", "none", fields, get("field")))
        if get("field") in fields:
            values = fields[get("field")]
            label = f"{get('field')} is"
            if len(values) <= _MOST_NAMES:
                parts.append(_select("f.value", label, "anything", values, get("value")))
            else:
                parts.append(markup.field("f.value", f"{get('field')} contains", get("value")))
    turns = sorted({case.turn for case in judgments.cases})
    options = {"": "all", **{str(turn): str(turn) for turn in turns}}
    parts.append(markup.select("turn", "Turn", options, str(state.turn or "")))
    first, second = (*state.models, "", "")[:2]
    parts.append(_select("model", "Model", "all", judgments.models, first))
    if first:
        other = _select("model", "or" if judgments.kind == "single" else "against", "any", judgments.models, second)
        parts.append(other.replace('id="tb-model"', 'id="tb-model-2"', 1))
    parts.append(_judges(judgments, state))
    if judgments.kind == "single":
        parts.append(markup.field("f.min", "Score from", get("min"), kind="number", width="5.5em"))
        parts.append(markup.field("f.max", "to", get("max"), kind="number", width="5.5em"))
    else:
        names = {"": "anyone", "tie": "a tie", **{name: name for name in judgments.models[:_MOST_NAMES]}}
        if first:
            names = {"": "anyone", "tie": "a tie", "lost": f"not {first}"} | names
        parts.append(markup.select("f.winner", "Winner", names, get("winner")))
    parts.append(markup.select("f.flag", "Only", FLAGS[judgments.kind], get("flag")))
    names_of = {*_EVERYTHING, "f.winner", "f.flag", "f.page"}
    inside = "".join(parts)
    clear = ""
    bare = state.to(models=(), turn=None, judge="", judge_set="", filter={})
    if bare != state.where(page="", sort=""):
        clear = markup.link(bare, "Clear", key="c", label="Clear all filters (c)", kind="button")
    form = markup.form(state, inside, names=names_of, label="Filters")
    return f'<div class="tb-filters" role="search">{form}{clear}</div>'


def _select(name: str, label: str, empty: str, values: Sequence[str] | Mapping[str, Any], value: str) -> str:
    known = list(values)[:_MOST_NAMES]
    cut = f", {len(values) - len(known):,} not listed" if len(values) > len(known) else ""
    options = {"": f"{empty}{cut}", **{text: text for text in known}, **({value: value} if value else {})}
    return markup.select(name, label, options, value)


def _judges(judgments: Judgments, state: State) -> str:
    options = {"": "all"}
    chosen = ""
    for file in judgments.files:
        both = markup.judge_value(file.judge, file.judge_set)
        options[both] = file.label
        if (file.judge, file.judge_set) == (state.judge, state.judge_set):
            chosen = both
    return markup.select("judge", "Judge", options, chosen)


def _table(judgments: Judgments, state: State, found: "Ints") -> str:
    """Return what was found, a page of it."""
    told = f"{len(found):,} of {len(judgments):,} {'grades' if judgments.kind == 'single' else 'pairs'}"
    meaning = _MEANINGS.get(state.looked_for("flag"), "")
    head = f'<h2 class="tb-title">{escaped(told)}</h2>' + (f'<p class="tb-quiet">{meaning}</p>' if meaning else "")
    if not len(found):
        return head + markup.notice("Nothing matches all of these filters. Remove one, or clear them all.")
    shown = range(len(found))[markup.of_page(state, len(found))]
    rows = [_row(judgments, state, int(found[at]), item(judgments, found, at, state)) for at in shown]
    heads = {name: _sorted_by(state, name) for name in rows[0] if name in filters.SORTS}
    label = "judgments that match the filters"
    table = f'<div id="tb-found">{markup.table(rows, label=label, heads=heads)}</div>'
    return head + table + markup.pages(state, len(found))


def _sorted_by(state: State, name: str) -> Html:
    """Return a column's head, which sorts by it, and the other way round when it already does."""
    now = state.looked_for("sort")
    wanted, sign = name, ""
    if now == name:
        wanted, sign = f"-{name}", " \u2191"
    elif now == f"-{name}":
        wanted, sign = "", " \u2193"
    label = f"Sort by {name}" if not sign else f"Sorted by {name}, change"
    return Html(markup.link(state.where(sort=wanted, page=""), f"{name}{sign}", label=label))


def _row(judgments: Judgments, state: State, at: int, there: State) -> dict[str, object]:
    file = judgments.files[int(judgments.file[at])]
    case = judgments.cases[int(judgments.case[at])]
    place = int(judgments.question[at])
    question = judgments.bench.questions[place] if place < len(judgments.bench.questions) else None
    name = str(judgments.ids[place])
    turns = question.turns if question else ["not among the questions"]
    words = markup.snippet(turns[case.turn - 1 if case.turn <= len(turns) else 0])
    label = f"Open question {name}, turn {case.turn}"
    first = markup.link(there, name, label=label, current=there.at == state.at) if question else escaped(name)
    if there.at == state.at:
        first = f'<span data-here="{there.at}">{first}</span>'
    row: dict[str, object] = {"question": Html(f"{first} {words}")}
    if judgments.kind == "single":
        row["score"] = Html(_score(judgments, at), number=True)
    else:
        row["winner"] = Html(_winner(judgments, at))
    row |= {"turn": case.turn, "model": markup.named(case.models[0])}
    if judgments.kind == "pair":
        row["against"] = markup.named(case.models[1])
    row["category"] = question.category if question else ABSENT
    return row | {"judge": Html(_judge(file.label, case.source.judge, file.judge)), **_marks(judgments, at)}


def _judge(label: str, judge: str, of_file: str) -> str:
    return markup.named(label if judge == of_file else f"{judge} in {label}").text


def _score(judgments: Judgments, at: int) -> str:
    score = float(judgments.score[at])
    return score_chip(score) if score == score else ABSENT


def _winner(judgments: Judgments, at: int) -> str:
    won = (1.0, 0.5, 0.0, None)[int(judgments.winner[at])]
    return verdict_chip(won, judgments.cases[int(judgments.case[at])].models)


def _marks(judgments: Judgments, at: int) -> dict[str, object]:
    marks = []
    if bool(judgments.changed[at]):
        marks.append(markup.chip("changed when swapped", "warn"))
    if bool(judgments.failed[at]) and judgments.kind == "single":
        marks.append(markup.chip("unparsed or failed", "warn"))
    if bool(judgments.disagreed[at]):
        marks.append(markup.chip("judges disagree", "warn"))
    return {"marks": Html(" ".join(marks))}
