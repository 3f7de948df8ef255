"""The tab Find: every judgment of the benchmark, filtered, sorted, a page at a time, each leading to its item."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.bench import Bench
from harness.records import Question
from harness.showing.values import ABSENT
from viewer import filters, markup
from viewer.context import Context, Tab
from viewer.index import Indexes, Judgments
from viewer.later import NotYet
from viewer.markup import Html
from viewer.state import JUDGE_AND_SET, State
from viewer.store import Kind, kind_of
from viewer.text import escaped

if TYPE_CHECKING:
    from harness.results.reading.arrays import Ints

_REFRESH = 700
_SNIPPET = 90
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
    "humans": "Most people who voted on the same two answers say otherwise.",
    "failed": "No verdict could be read from what the judge said. It counts in no mean, and is named beside it.",
    "changed": "The judge named another winner when it saw the two answers in the other order; such a pair is a tie.",
}
_EVERYTHING = {"f.text", "f.category", "f.field", "f.value", "turn", "model", "judge", "set", "f.min", "f.max"}


def tab(context: Context) -> Tab:
    """Return the tab."""
    indexes = Indexes()

    def settle(state: State) -> State:
        value = state.looked_for("value") if state.looked_for("field") else ""
        return state.to(mode="single" if state.mode == "single" else "pairwise-all").where(value=value)

    return Tab("find", "Find", lambda state: _show(context, indexes, state), settle)


def _show(context: Context, indexes: Indexes, state: State) -> str:
    store = context.store
    bench = store.bench(state.bench)
    kind = kind_of(state.mode)
    head = markup.choices(context, state, "bench", more=_kinds(context, bench, state))
    files = store.judgment_files(bench, kind)
    if not files:
        return head + _nothing(bench, state)
    key = (bench.folder, kind)
    late = ""
    try:
        what = f"indexing {len(files)} file{'s' if len(files) > 1 else ''} of judgments"
        make = partial(indexes.make, key, bench, kind, files)
        paths = [file.path for file in files]
        judgments = store.made(("index", key, bench.questions[0].question_id, len(bench.questions)), what, make, *paths)
    except NotYet as wait:
        before = indexes.latest(key)
        late = _again(wait)
        if before is None:
            return head + late
        judgments = before
    faults = "".join(markup.notice(fault, kind="fault") for fault in judgments.faults)
    form = _form(bench, judgments, state)
    try:
        found = filters.found(context, judgments, state)
    except NotYet as wait:
        return head + form + faults + _again(wait)
    return head + form + late + faults + _table(judgments, state, found)


def _again(wait: NotYet) -> str:
    return f'<div data-refresh="{_REFRESH}">{markup.notice(f"One moment: {wait} …", kind="wait")}</div>'


def _nothing(bench: Bench, state: State) -> str:
    line = markup.command(f"gen_judgment --bench-name {bench.name} --mode {state.mode} --judge-model NAME")
    what = "grades" if state.mode == "single" else "pairs"
    return markup.notice(f"There are no {what} in {bench.name} yet. Let a judge make some:", then=line)


def _kinds(context: Context, bench: Bench, state: State) -> str:
    links = []
    for mode, name in (("single", "grades"), ("pairwise-all", "pairs")):
        there = {(f.judge, f.judge_set) for f in context.store.judgment_files(bench, kind_of(mode))}  # type: ignore[arg-type]
        same = {} if (state.judge, state.judge_set) in there else {"judge": "", "judge_set": ""}
        other = state.to(mode=mode, **same).where(page="", sort="", winner="", min="", max="", flag="")
        links.append(markup.link(other, name, current=mode == state.mode))
    inside = f"<span>Judgments</span><span>{''.join(links)}</span>"
    return f'<nav class="tb-field tb-switch" aria-label="Judgments">{inside}</nav>'


def _form(bench: Bench, judgments: Judgments, state: State) -> str:
    """Return the filters."""
    get = state.looked_for
    parts = [markup.field("f.text", "Text", get("text"), hint="in question, answer or judgment", kind="search")]
    categories = list(dict.fromkeys(q.category for q in bench.questions))
    parts.append(_select("f.category", "Category", "all", categories, get("category")))
    fields = filters.fields_of(judgments)
    if fields:
        parts.append(_select("f.field", "Field", "none", fields, get("field")))
        if get("field") in fields:
            values = fields[get("field")]
            label = f"{get('field')} is"
            if len(values) <= _MOST_NAMES:
                parts.append(_select("f.value", label, "anything", values, get("value")))
            else:
                parts.append(markup.field("f.value", f"{get('field')} holds", get("value")))
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
    options = {"": empty, **{text: text for text in known}, **({value: value} if value else {})}
    return markup.select(name, label, options, value)


def _judges(judgments: Judgments, state: State) -> str:
    options = {"": "all"}
    chosen = ""
    for file in judgments.files:
        both = f"{file.judge}{JUDGE_AND_SET}{file.judge_set}" if file.judge_set else file.judge
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
        return head + markup.notice("Nothing fits all of these filters. Take one out, or clear them all.")
    rows = [_row(judgments, state, at) for at in found[markup.of_page(state, len(found))].tolist()]
    heads = {name: _sorted_by(state, name) for name in rows[0] if name in filters.SORTS}
    label = "judgments that fit the filters"
    table = f'<div id="tb-found">{markup.table(rows, label=label, heads=heads)}</div>'
    return head + table + _pages(state, len(found))


def _pages(state: State, total: int) -> str:
    bar = markup.pages(state, total)
    return bar.replace(">Previous page<", ' data-key="k ArrowLeft">Previous page<').replace(
        ">Next page<", ' data-key="j ArrowRight">Next page<'
    )


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


def _row(judgments: Judgments, state: State, at: int) -> dict[str, object]:
    file = judgments.files[int(judgments.file[at])]
    asked = judgments.asked[int(judgments.who[at])]
    case = judgments.cases[int(judgments.case[at])]
    place = int(judgments.question[at])
    question = judgments.bench.questions[place] if place < len(judgments.bench.questions) else None
    choice = "" if case.choice == "0" else case.choice
    tab_of = "answers" if judgments.kind == "single" else "compare"
    there = State(
        tab_of,
        state.bench,
        state.mode,
        file.judge,
        file.judge_set,
        str(judgments.ids[place]),
        case.turn,
        case.models,
    ).where(choice=choice)
    name = str(judgments.ids[place])
    said = _snippet(question, case.turn) if question else "not among the questions"
    words = f'<span class="tb-snippet" dir="auto">{escaped(said)}</span>'
    first = markup.link(there, name, label=f"Open question {name}, turn {case.turn}") if question else escaped(name)
    row: dict[str, object] = {
        "question": Html(f"{first} {words}"),
        "category": question.category if question else ABSENT,
        "turn": case.turn,
    }
    if judgments.kind == "single":
        row |= {"model": markup.named(case.models[0]), "judge": Html(_judge(file.label, asked.judge, file.judge))}
        return row | {"score": Html(_score(judgments, at), number=True), **_marks(judgments, at)}
    row |= {"model": markup.named(case.models[0]), "against": markup.named(case.models[1])}
    row |= {"judge": Html(_judge(file.label, asked.judge, file.judge)), "winner": Html(_winner(judgments, at))}
    return row | _marks(judgments, at)


def _judge(label: str, judge: str, of_file: str) -> str:
    return markup.named(label if judge == of_file else f"{judge} in {label}").text


def _score(judgments: Judgments, at: int) -> str:
    score = float(judgments.score[at])
    if score != score:
        return ABSENT
    return markup.chip(markup.number(score, 2 if score % 1 else 0), "score")


def _winner(judgments: Judgments, at: int) -> str:
    winner = int(judgments.winner[at])
    models = judgments.cases[int(judgments.case[at])].models
    return (
        markup.chip(f"{models[0]} wins", "win-1"),
        markup.chip("tie", "tie"),
        markup.chip(f"{models[1]} wins", "win-2"),
        markup.chip("no verdict", "warn"),
    )[winner]


def _marks(judgments: Judgments, at: int) -> dict[str, object]:
    marks = []
    if bool(judgments.changed[at]):
        marks.append(markup.chip("changed when swapped", "warn"))
    if bool(judgments.failed[at]) and judgments.kind == "single":
        marks.append(markup.chip("unparsed or failed", "warn"))
    if bool(judgments.disagreed[at]):
        marks.append(markup.chip("judges disagree", "warn"))
    return {"marks": Html(" ".join(marks))}


def _snippet(question: Question, turn: int) -> str:
    text = question.turns[turn - 1] if turn <= len(question.turns) else question.turns[0]
    plain = " ".join(text[: 4 * _SNIPPET].split())
    return plain if len(plain) <= _SNIPPET else plain[:_SNIPPET].rstrip() + "…"
