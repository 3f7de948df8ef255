"""The tab Vote: two answers without names, on sides drawn by lot, turn by turn; a vote is a click or a key.

No model's name is on the page or in the address until the voter has finished; then the judges' verdicts stand beside
the votes.
"""

from collections.abc import Sequence
from functools import partial

from harness.old.bench import Bench
from harness.old.errors import MissingError, StorageError, UsageError
from harness.old.names import counted
from harness.old.records import Answer, QuestionId, Reply, content_hash
from harness.old.rows import question_id
from viewer.old import markup
from viewer.old.agreement import voter_agreement
from viewer.old.context import Context, Fields, Tab
from viewer.old.later import NotYet
from viewer.old.markup import Html
from viewer.old.questions import said_by_user, scrolling, show_all
from viewer.old.state import State
from viewer.old.tabs.answers import given_chip
from viewer.old.text import escaped, markdown_html
from viewer.old.votes import Ballot, Booth, check_voter

_PLANS = (10, 20, 50, 100, 200)
_USUAL = 50
_BUTTONS = (
    ("a", "A is better", "a 1"),
    ("b", "B is better", "b 2"),
    ("tie", "Tie", "t 3"),
    ("bad", "Both are bad", "x 4"),
)
_LINES = (
    "Read two answers to the same question and vote for the better one. The models' names are hidden.",
    "Your votes are kept with the benchmark under your name. Come back under the same name to continue.",
    "Your agreement with the judges is shown when you have finished.",
)
_AGAIN = "vote:"
"""In the address, before what stands for a vote that is looked at again."""
_KEPT = ("voter", "category", "with", "max", "show", "page")


def tab(context: Context) -> Tab:
    """Return the tab."""

    def settle(state: State) -> State:
        """Return the view without anything that could tell whose answers these are."""
        kept = {name: state.looked_for(name) for name in _KEPT}
        bare = State("vote", state.bench, whole=state.whole, who=state.who)
        return bare.where(**kept | ({"voter": state.who} if state.who else {}))

    def act(state: State, fields: Fields) -> State:
        return _act(context, settle(state), fields)

    return Tab("vote", "Vote", partial(_show, context), settle, act)


def _show(context: Context, state: State) -> str:
    bench = context.store.bench(state.bench)
    head = markup.choices(context, state, "bench")
    if len(bench.answered_models()) < 2:
        line = markup.command(f"gen_answer --bench-name {bench.name} --model NAME NAME")
        return head + markup.notice("Voting needs answers of two models. Let them answer with:", then=line)
    if not state.looked_for("voter"):
        return head + _welcome(bench, state)
    try:
        booth = _booth(context, bench, state)
        return head + _page(context, state, booth)
    except NotYet as wait:
        return head + markup.waiting(wait)
    except UsageError as error:
        return head + markup.notice(str(error), kind="fault") + ("" if state.who else _welcome(bench, state))


def _booth(context: Context, bench: Bench, state: State) -> Booth:
    """Return the voter's booth.

    Raises:
        NotYet: an answer file is still being indexed.
        UsageError: nobody can vote under that name.
    """
    store = context.store
    voter = check_voter(state.looked_for("voter"))
    models = bench.answered_models()
    answered = {model: store.places(bench.answer_file(model)).questions() for model in models}
    only = _model_of(models, state.looked_for("with"))

    def judged(key: QuestionId) -> set[frozenset[str]]:
        return {frozenset(one.row.models) for one in store.judgments(bench, key, "pair").compared}

    return Booth(bench, voter, answered, lambda model, key: store.answer(bench, model, key), judged, only)


def _sign(model: str) -> str:
    """Return what stands for a model in the address, where no name may be seen."""
    return content_hash(model)[:8]


def _model_of(models: Sequence[str], sign: str) -> str:
    return next((model for model in models if _sign(model) == sign), "")


def _welcome(bench: Bench, state: State) -> str:
    """Return what voting is, and the form that begins it."""
    categories = list(dict.fromkeys(q.category for q in bench.questions))[:200]
    options = {"": "all", **{name: name for name in categories}}
    fields = markup.field("f.voter", "Your name", state.looked_for("voter"), hint="kept with your votes", width="15em")
    fields += markup.select("f.category", "Category", options, state.looked_for("category"))
    models = bench.answered_models()
    if len(models) > 2:
        chosen = {"": "all models", **{_sign(name): f"pairs with {name}" for name in models}}
        fields += markup.select("f.with", "Models", chosen, state.looked_for("with"))
    fields += markup.button("Begin", primary=True)
    names = {"f.voter", "f.category", "f.with"}
    form = markup.form(state.where(show=""), fields, names=names, label="Start voting")
    return f'<h2 class="tb-title">Vote</h2>{markup.notes(_LINES)}{form}'


def _page(context: Context, state: State, booth: Booth) -> str:
    """Return what the voter sees now: something to vote on, or what follows after all votes."""
    faults = "".join(markup.notice(fault, kind="fault") for fault in booth.cast.faults)
    category = state.looked_for("category")
    done, total = booth.done(category), booth.total(category)
    plan = min(total, _plan(state, total))
    if booth.finished:
        return faults + _finished(context, state, booth)
    bar = _bar(state, booth, done, plan, total)
    if state.looked_for("show") == "votes":
        return faults + bar + _votes(state, booth)
    ballot = _looked_at_again(state, booth)
    again = ballot is not None
    if ballot is None and done < plan:
        ballot = booth.next(category)
    if state.who and not booth.cast.winners:
        bar += markup.notes(_LINES)
    if ballot is None:
        return faults + bar + _enough(state, booth, done, total)
    return faults + bar + _asked(context, state, booth, ballot, again=again)


def _plan(state: State, total: int) -> int:
    text = state.looked_for("max")
    if text == "all":
        return total
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text) else _USUAL


def _bar(state: State, booth: Booth, done: int, plan: int, total: int) -> str:
    """Return the voter's name, the progress, and the way out."""
    plans = {str(n): f"{n} votes" for n in sorted({*_PLANS, plan}) if n < total} | {"all": f"all {total:,}"}
    now = "all" if plan >= total else str(plan)
    inside = markup.select("f.max", "Ask me for", plans, now)
    form = markup.form(state, inside, names={"f.max"}, label="How many votes")
    share = 100 * min(done, plan) / plan if plan else 100
    told = f"{done:,} of {plan:,}"
    meter = (
        f'<div class="tb-progress" role="progressbar" aria-label="votes" aria-valuemin="0" aria-valuemax="{plan}" '
        f'aria-valuenow="{min(done, plan)}" aria-valuetext="{told}"><span style="width: {share:.1f}%"></span></div>'
    )
    last = ""
    if booth.cast.winners:
        if state.looked_for("show") != "last":
            last = markup.link(
                state.where(show="last"), "Change my last vote", key="u", label="Change my last vote (u)"
            )
        if state.looked_for("show") == "votes":
            last += markup.link(state.where(show=""), "Go on voting", key="v", label="Continue voting (v)")
        else:
            last += markup.link(state.where(show="votes"), "My votes", key="v", label="My votes (v)")
    who = f"<span>Voting as <bdi><b>{escaped(booth.voter)}</b></bdi></span>"
    return f'<div class="tb-bar tb-voting">{who}{meter}<span class="tb-quiet">{told}</span>{form}{last}</div>'


def _asked(context: Context, state: State, booth: Booth, ballot: Ballot, *, again: bool) -> str:
    """Return a ballot: the conversation so far, both answers, and the buttons."""
    store, question = context.store, ballot.question
    answers = [store.answer(booth.bench, m, question.question_id) for m in (ballot.model_a, ballot.model_b)]
    parts = []
    for turn in range(1, ballot.turn):
        inside = _turn(state, ballot, answers, turn)
        parts.append(markup.details(f"Turn {turn}, as before", inside, name=f"tb-{ballot.token}-before-{turn}"))
    parts.append(_turn(state, ballot, answers, ballot.turn))
    title = f"Which answer to turn {ballot.turn} is better?" if len(question.turns) > 1 else "Which answer is better?"
    before = ""
    if again:
        before = markup.notice(f"You voted on this before: {_said(booth, ballot)}. A new vote replaces it.")
    buttons = "".join(
        f'<button type="submit" class="tb-button tb-vote-{name}" name="choice" value="{name}" data-key="{keys}">'
        f"{escaped(text)} <kbd>{keys[0]}</kbd></button>"
        for name, text, keys in _BUTTONS
    )
    hidden = f'<input type="hidden" name="item" value="{escaped(question.question_id)} {ballot.token}">'
    form = markup.form(state, hidden + buttons, names=(), label="Your vote", act=True)
    chip = markup.chip(question.category)
    head = f'<h2 class="tb-title">{title} {chip}</h2>'
    return (
        f'<div data-top="{ballot.token}">{before}{head}{"".join(parts)}<div class="tb-ballot">{form}</div>'
        f"{_finish(state) if booth.cast.winners else ''}</div>"
    )


def _said(booth: Booth, ballot: Ballot) -> str:
    """Return what was voted, by the sides on which the answers were shown."""
    words = {ballot.model_a: "A is better", ballot.model_b: "B is better", "tie (bothbad)": "both are bad"}
    return words.get(booth.cast.winners.get(ballot.key, ""), "tie")


def _looked_at_again(state: State, booth: Booth) -> Ballot | None:
    """Return the vote that the address asks to see again; None if it asks for none."""
    show = state.looked_for("show")
    if show == "last":
        return booth.last()
    token, _, key = show.removeprefix(_AGAIN).partition(" ")
    ballot = booth.ballot(question_id(key), token) if show.startswith(_AGAIN) and key else None
    return ballot if ballot and ballot.key in booth.cast.winners else None


def _votes(state: State, booth: Booth) -> str:
    """Return all votes, the last one first, each with the way to change it; no name is on the page."""
    cast = booth.all_cast()[::-1]
    rows: list[dict[str, object]] = []
    for ballot in cast[markup.of_page(state, len(cast))]:
        there = state.where(show=f"{_AGAIN}{ballot.token} {ballot.question.question_id}", page="")
        name = str(ballot.question.question_id)
        snippet = markup.snippet(ballot.question.turns[ballot.turn - 1])
        link = markup.link(there, name, label=f"Look at the vote on question {name}, turn {ballot.turn} again")
        row = {"question": Html(f"{link} {snippet}"), "turn": ballot.turn, "my vote": _said(booth, ballot)}
        rows.append(row | {"category": ballot.question.category})
    table = f'<div id="tb-found">{markup.table(rows, label="my votes")}</div>'
    return f'<h2 class="tb-title">My votes</h2>{table}{markup.pages(state, len(cast))}'


def _turn(state: State, ballot: Ballot, answers: list[Answer | None], turn: int) -> str:
    said = said_by_user(state, ballot.question.turns[turn - 1], turn)
    said = said.replace('id="tb-long-user-', f'id="tb-long-{ballot.token}-user-', 1)
    sides = []
    for side, answer in zip("AB", answers, strict=True):
        replies = answer.choices[0].replies if answer else ()
        reply = replies[turn - 1] if turn <= len(replies) else Reply("")
        if answer and answer.choices[0].user:  # a conversation with a played user is voted on as a whole
            reply = Reply(answer.choices[0].transcript)
        body = markdown_html(reply.text, whole=state.whole, more=show_all(state))
        box = scrolling(body, f"{ballot.token}-{side}-{turn}")
        number = "1" if side == "A" else "2"
        sides.append(f'<div class="tb-said tb-side-{number}"><h3>Answer {side}{given_chip(reply)}</h3>{box}</div>')
    return f'{said}<div class="tb-sides tb-two">{"".join(sides)}</div>'


def _finish(state: State) -> str:
    button = markup.button("I have finished voting", name="finish", value="1")
    form = markup.form(state, button, names=(), label="Finish", act=True)
    note = "This shows the judges' verdicts beside your votes, and ends voting under this name."
    return f'<div class="tb-finish">{form}<span class="tb-quiet">{note}</span></div>'


def _enough(state: State, booth: Booth, done: int, total: int) -> str:
    """Return the page after all requested votes are cast."""
    left = booth.next(state.looked_for("category")) is not None
    text = f"Thank you, {booth.voter}: you have cast {counted(done, 'vote')}."
    if not left:
        text += " There is nothing left to vote on here."
    more = ""
    if left:
        wanted = next((n for n in _PLANS if done < n < total), None)
        more = markup.link(state.where(max=wanted or "all"), "Vote on more", kind="button", key="g")
    return markup.notice(text, then=more) + _finish(state)


def _finished(context: Context, state: State, booth: Booth) -> str:
    """Return how far the judges agree with the voter."""
    head = f'<h2 class="tb-title">Votes by {escaped(booth.voter)}</h2>'
    told = f"{counted(len(booth.cast.winners), 'vote')} in human_judgment/{booth.path.name}"
    find = State("find", state.bench, "pairwise-all").where(flag="humans")
    links = markup.link(find, "Judgments that people's votes contradict")
    if not state.who:
        links += " \u00b7 " + markup.link(State("vote", state.bench), "Vote under another name")
    found = voter_agreement(context, booth.bench, booth.path)
    return f'{head}<p class="tb-quiet">{escaped(told)}</p>{found}<p>{links}</p>'


def _act(context: Context, state: State, fields: Fields) -> State:
    """Write a vote, or note that the voter has finished."""
    bench = context.store.bench(state.bench)
    try:
        booth = _booth(context, bench, state)
    except NotYet as wait:
        raise StorageError(f"the vote is not written yet: {wait}; vote again in a moment") from None
    if fields.get("finish"):
        booth.finish()
        return state.where(show="")
    key, _, token = fields.get("item", "").rpartition(" ")
    ballot = booth.ballot(question_id(key), token) if key else None
    if ballot is None:
        raise MissingError("the vote is not written: these two answers no longer exist; here are the next two")
    booth.vote(ballot, fields.get("choice", ""))
    return state.where(show="votes" if state.looked_for("show").startswith(_AGAIN) else "")
