"""The navigation bar of a page about one question, and the question's texts."""

from collections.abc import Sequence

from harness.old.bench import Bench
from harness.old.errors import MissingError
from harness.old.records import Question
from viewer.old import markup
from viewer.old.context import Context
from viewer.old.state import State
from viewer.old.text import escaped, markdown_html


def settled(context: Context, state: State) -> State:
    """Return the view with its question named: the first of the category where the address names none."""
    if state.question:
        return state
    bench = context.store.bench(state.bench)
    found = of_category(bench, state.looked_for("category")) or bench.questions
    return state.to(question=str(found[0].question_id))


def of_category(bench: Bench, category: str) -> Sequence[Question]:
    """Return the questions of a category; all where none is named."""
    return bench.questions if not category else [q for q in bench.questions if q.category == category]


def question_bar(context: Context, state: State, question: Question) -> str:
    """Return the links to the questions before and after, within the chosen category, and the way to others."""
    bench = context.store.bench(state.bench)
    category = state.looked_for("category")
    among = of_category(bench, category)
    if category and question.category != category:
        category, among = "", bench.questions
    at = context.store.question_places(bench.name)[question.question_id]
    if category:
        at = next(place for place, q in enumerate(among) if q.question_id == question.question_id)
    before, after = (
        state.to(question=str(among[to].question_id), turn=None, whole=False) if 0 <= to < len(among) else None
        for to in (at - 1, at + 1)
    )
    steps = markup.step(before, "\u2190", key="ArrowLeft k", label="Previous question")
    steps += markup.step(after, "\u2192", key="ArrowRight j", label="Next question")
    number = markup.field("question", "Question", str(question.question_id), width="7em")
    jump = markup.form(state.to(turn=None, whole=False), number, names={"question"}, label="Go to a question")
    categories = ["", *dict.fromkeys(q.category for q in bench.questions)]
    options = {name: name or "all categories" for name in categories[:200]}
    inside = markup.select("f.category", "Category", options, category)
    leave = {"f.category"} if category == "" else {"f.category", "question"}
    choose = markup.form(state.to(question="", turn=None, whole=False), inside, names=leave, label="Category")
    told = f'<span class="tb-quiet tb-place">{at + 1:,} of {len(among):,}</span>'
    return f'<nav class="tb-bar" aria-label="Questions">{steps}{jump}{choose}{told}</nav>'


def question_title(question: Question) -> str:
    """Return the heading of a page about one question."""
    chip = markup.chip(question.category)
    key = escaped(question.question_id)
    return f'<h2 class="tb-title" data-top="{key}">Question {key} {chip}</h2>'


def no_question(context: Context, state: State, error: MissingError) -> str:
    """Return the error about the requested question, with links to others."""
    bar = question_bar(context, state, context.store.bench(state.bench).questions[0])
    return bar + markup.notice(str(error), kind="fault")


def turn_section(state: State, question: Question, turn: int, inside: str) -> str:
    """Return the part of a page about one turn; where the page opens if the address names it."""
    here = f' data-here="{escaped(question.question_id)} {turn}"' if turn == state.turn and turn > 1 else ""
    return f'<section class="tb-turn" aria-label="Turn {turn}"{here}>{inside}</section>'


def said_by_user(state: State, text: str, turn: int, *, marks: str = "") -> str:
    """Return what the user says in one turn; `marks` is HTML beside the heading."""
    return (
        f'<div class="tb-said tb-user"><h3>Turn {turn} <span class="tb-quiet">user</span> {marks}</h3>'
        f"{scrolling(markdown_html(text, whole=state.whole, more=show_all(state)), f'user-{turn}')}</div>"
    )


def scrolling(content: str, name: str) -> str:
    """Return a long text in a box that scrolls in itself; `name` is its own among those of the page."""
    return (
        f'<div class="tb-long" id="tb-long-{escaped(name)}" tabindex="0" role="group" aria-label="text">{content}</div>'
    )


def show_all(state: State) -> str:
    """Return the link that shows long texts to their end."""
    return markup.link(state.to(whole=True), "Show all")
